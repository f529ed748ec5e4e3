"""Figures of a study: maps, slices, bifurcation diagrams, parallel coordinates, boundaries.

Each takes a figure or axes to draw on, or makes a figure in the style of the house, and returns the figure. Only points
that are done are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.results.drawing import axes_of, colours, legend
from klapper.studies.columns import chosen, done, label
from klapper.studies.errors import StudyError
from klapper.studies.map_figure import draw_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from klapper.studies.study import Study

    Canvas = Figure | SubFigure | Axes | None

_MOST_LINES = 7  # lines with a name of their own
_MOST_MARKS = 25  # points of a line, each with a mark


def _in_style(draw: Callable[..., Any]) -> Callable[..., Any]:
    """In the style of the house, unless the caller brings a canvas with a style of its own."""

    @wraps(draw)
    def drawn(*arguments: Any, onto: Canvas = None, **options: Any) -> Any:
        import matplotlib

        from klapper.report.figures import STYLE

        with matplotlib.rc_context(fname=STYLE) if onto is None else nullcontext():
            return draw(*arguments, onto, **options)

    return drawn


@dataclass(frozen=True)
class Figures:
    """The figures of one study. ``at`` chooses the points that have given values of other parameters."""

    study: Study

    def map(
        self,
        x: str,
        y: str,
        value: str,
        *,
        by: str | None = None,
        at: Mapping[str, Any] | None = None,
        log: bool = False,
        onto: Canvas = None,
    ) -> Any:
        """An output over two axes of the grid: shades of a number, or one colour per text; ``by`` a third, in panels.

        ``log`` shows the logarithm of the size.
        """
        return _in_style(draw_map)(self.study, x, y, value, by=by, at=at or {}, log=log, onto=onto)

    def slices(
        self,
        x: str,
        value: str,
        *,
        by: str | None = None,
        at: Mapping[str, Any] | None = None,
        log: str = "",
        onto: Canvas = None,
    ) -> Any:
        """An output over one parameter, one line for each value of another; ``log`` is "x", "y" or "xy"."""
        return _slices(self.study, x, value, by, at or {}, log, onto=onto)

    def bifurcation(
        self, x: str, value: str, *, at: Mapping[str, Any] | None = None, onto: Canvas = None
    ) -> Any:
        """All entries of a list over one parameter: where the list has several, the motion needs several periods."""
        return _bifurcation(self.study, x, value, at or {}, onto=onto)

    def parallel(self, colour: str, names: Sequence[str] | None = None, *, onto: Canvas = None) -> Any:
        """One line per point through its parameters and outputs side by side, coloured by one of them."""
        return _parallel(self.study, colour, names, onto=onto)

    def boundaries(self, x: str, y: str, *, onto: Canvas = None) -> Any:
        """Refined boundaries between regimes over two axes."""
        return _boundaries(self.study, x, y, onto=onto)


@_in_style
def _slices(
    study: Study, x: str, value: str, by: str | None, at: Mapping[str, Any], log: str, onto: Canvas
) -> Any:
    axes = axes_of(onto)
    base = chosen(study, at, x, value, *([by] if by else []))
    groups = [None] if by is None else list(np.unique(base[by]))
    for group, colour in zip(groups, colours(len(groups)), strict=True):
        own = np.ones(len(base[x]), dtype=bool) if by is None else base[by] == group
        order = np.argsort(base[x][own], kind="stable")
        name = f"{by} = {group:.4g}" if isinstance(group, float) else str(group)
        axes.plot(
            base[x][own][order], base[value][own][order], color=colour, label=name, **_marks(len(order))
        )
    axes.set(xlabel=label(study, x), ylabel=label(study, value))
    for letter in log:
        axes.set(**{f"{letter}scale": "log"})
    if by and (len(groups) <= _MOST_LINES or base[by].dtype.kind in "UO"):
        legend(axes, columns=3)
    elif by:
        _scale(axes, np.asarray(groups, dtype=float), label(study, by))
    return axes.figure


@_in_style
def _bifurcation(study: Study, x: str, value: str, at: Mapping[str, Any], onto: Canvas) -> Any:
    axes = axes_of(onto)
    base = chosen(study, at, x, value)
    places, entries = [], []
    for place, listed in zip(base[x], base[value], strict=True):
        several = np.atleast_1d(np.asarray(listed if listed is not None else [], dtype=float))
        places.append(np.full(len(several), place))
        entries.append(several)
    axes.plot(
        np.concatenate(places), np.concatenate(entries), ".", markersize=1.5, color="#222222", rasterized=True
    )
    axes.set(xlabel=label(study, x), ylabel=label(study, value))
    return axes.figure


@_in_style
def _parallel(study: Study, colour: str, names: Sequence[str] | None, onto: Canvas) -> Any:
    axes = axes_of(onto)
    wanted = list(names) if names else [*study.design.columns, *study.outputs]
    base = done(study, *wanted, colour)
    numbers = [name for name in wanted if base[name].dtype.kind in "fiu"]
    if len(numbers) < 2:
        raise StudyError(
            f"parallel coordinates need two numbers at least, not {', '.join(numbers) or 'none'}."
        )
    columns = np.column_stack([base[name].astype(float) for name in numbers])
    whole = np.isfinite(columns).all(axis=1) & np.isfinite(base[colour].astype(float))
    columns, shade = columns[whole], base[colour].astype(float)[whole]
    low, high = columns.min(axis=0), columns.max(axis=0)
    heights = (columns - low) / np.where(high > low, high - low, 1.0)
    _draw_parallel(axes, heights, shade, label(study, colour))
    axes.set_xticks(range(len(numbers)), [label(study, name) for name in numbers])
    axes.set(yticks=[], xlim=(-0.2, len(numbers) - 0.8), ylim=(-0.12, 1.12))
    for place, (bottom, top) in enumerate(zip(low, high, strict=True)):
        axes.text(place, -0.03, f"{bottom:.3g}", ha="center", va="top", fontsize=9)
        axes.text(place, 1.03, f"{top:.3g}", ha="center", va="bottom", fontsize=9)
    return axes.figure


def _draw_parallel(axes: Axes, heights: np.ndarray, shade: np.ndarray, name: str) -> None:
    from matplotlib.collections import LineCollection

    places = np.broadcast_to(np.arange(heights.shape[1]), heights.shape)
    lines = LineCollection(list(np.stack([places, heights], axis=-1)), array=shade, linewidths=0.8, alpha=0.7)
    axes.add_collection(lines)
    axes.figure.colorbar(lines, ax=axes, label=name)


@_in_style
def _boundaries(study: Study, x: str, y: str, onto: Canvas) -> Any:
    axes = axes_of(onto)
    found = study.boundaries()
    if axes.get_legend() is not None:  # on a map, which names the regimes
        axes.plot(found[x], found[y], ".", markersize=3, color="#222222")
        return axes.figure
    pairs = sorted({(str(a), str(b)) for a, b in zip(found["below"], found["above"], strict=True)})
    for pair, colour in zip(pairs, colours(len(pairs)), strict=True):
        own = (found["below"].astype(str) == pair[0]) & (found["above"].astype(str) == pair[1])
        name = f"{pair[0]} | {pair[1]}"
        axes.plot(found[x][own], found[y][own], ".", markersize=4, color=colour, label=name)
    axes.set(xlabel=label(study, x), ylabel=label(study, y))
    legend(axes, columns=5)
    return axes.figure


def _marks(count: int) -> dict[str, Any]:
    """Few points are marked, so that they can be told from the lines between them."""
    return {"marker": "o", "markersize": 4} if count <= _MOST_MARKS else {}


def _scale(axes: Axes, values: np.ndarray, name: str) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    axes.figure.colorbar(
        ScalarMappable(Normalize(values.min(), values.max()), "viridis"), ax=axes, label=name
    )
