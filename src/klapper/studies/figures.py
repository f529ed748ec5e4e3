"""Figures of a study: maps, slices, bifurcation diagrams, parallel coordinates, boundaries.

Each takes a figure or axes to draw on, or makes a figure in the style of the house, and returns the figure. Only points
that are done are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.results.drawing import axes_of, colours, legend
from klapper.studies.errors import StudyError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from klapper.studies.study import Study

    Canvas = Figure | SubFigure | Axes | None

_SHADES = ("#E3E3E3", "#CFE3F1", "#FBE2CF", "#CDEBDF", "#F3DCE8", "#FBEFC9", "#D5EEF9", "#C4C4C4")
_MOST_LINES = 7  # lines with a name of their own


def _in_style(draw: Callable[..., Any]) -> Callable[..., Any]:
    """In the style of the house, unless the caller brings a canvas with a style of its own."""

    @wraps(draw)
    def drawn(*arguments: Any, onto: Canvas = None, **options: Any) -> Any:
        import matplotlib

        from klapper.report.figures import STYLE

        with matplotlib.rc_context(fname=STYLE) if onto is None else nullcontext():
            axes = axes_of(onto)
            draw(*arguments, axes, **options)
            return axes.figure

    return drawn


@dataclass(frozen=True)
class Figures:
    """The figures of one study."""

    study: Study

    def map(self, x: str, y: str, value: str, *, log: bool = False, onto: Canvas = None) -> Any:
        """An output over two axes of the grid: shades of a number, or one colour per text."""
        return _map(self.study, x, y, value, log=log, onto=onto)

    def slices(self, x: str, value: str, *, by: str | None = None, onto: Canvas = None) -> Any:
        """An output over one parameter, one line for each value of another."""
        return _slices(self.study, x, value, by, onto=onto)

    def bifurcation(self, x: str, value: str, *, onto: Canvas = None) -> Any:
        """All entries of a list over one parameter: where the list has several, the motion needs several periods."""
        return _bifurcation(self.study, x, value, onto=onto)

    def parallel(self, colour: str, names: Sequence[str] | None = None, *, onto: Canvas = None) -> Any:
        """One line per point through its parameters and outputs side by side, coloured by one of them."""
        return _parallel(self.study, colour, names, onto=onto)

    def boundaries(self, x: str, y: str, *, onto: Canvas = None) -> Any:
        """Refined boundaries between regimes over two axes."""
        return _boundaries(self.study, x, y, onto=onto)


@_in_style
def _map(study: Study, x: str, y: str, value: str, axes: Axes, *, log: bool) -> None:
    if set(study.design.axes) != {x, y} or study.options.replicates > 1:
        raise StudyError(f"a map over {x} and {y} needs a grid of these two axes, each point once.")
    base = _done(study, value)
    shape = [len(axis) for axis in study.design.axes.values()]
    values = base[value].reshape(shape)
    if list(study.design.axes) == [x, y]:
        values = values.T
    across, up = (np.array(study.design.axes[name], dtype=float) for name in (x, y))
    if values.dtype.kind in "UO":
        _draw_regimes(axes, across, up, values)
    else:
        shown = np.ma.masked_invalid(
            np.log10(np.where(values > 0.0, values, np.nan)) if log else values.astype(float)
        )
        image = axes.pcolormesh(across, up, shown, shading="nearest", rasterized=True)
        name = _label(study, value)
        axes.figure.colorbar(image, ax=axes, label=f"log₁₀ of {name}" if log else name)
    axes.set(xlabel=_label(study, x), ylabel=_label(study, y))
    axes.grid(False)


def _draw_regimes(axes: Axes, across: np.ndarray, up: np.ndarray, regimes: np.ndarray) -> None:
    """One colour per regime, each named in a legend."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    names = [name for name in np.unique(regimes) if name != ""]
    numbers = np.ma.masked_equal(np.searchsorted(names, regimes) + np.where(regimes == "", 10**6, 0), 10**6)
    numbers = np.ma.masked_greater(numbers, len(names))
    shades = [_SHADES[k % len(_SHADES)] for k in range(len(names))]
    axes.pcolormesh(
        across,
        up,
        numbers,
        cmap=ListedColormap(shades),
        vmin=-0.5,
        vmax=len(names) - 0.5,
        shading="nearest",
        rasterized=True,
    )
    legend(
        axes,
        [Patch(color=shade, label=str(name)) for shade, name in zip(shades, names, strict=True)],
        columns=6,
    )


@_in_style
def _slices(study: Study, x: str, value: str, by: str | None, axes: Axes) -> None:
    base = _done(study, x, value, *([by] if by else []))
    groups = [None] if by is None else list(np.unique(base[by]))
    for group, colour in zip(groups, colours(len(groups)), strict=True):
        chosen = np.ones(len(base[x]), dtype=bool) if by is None else base[by] == group
        order = np.argsort(base[x][chosen], kind="stable")
        label = f"{by} = {group:.4g}" if isinstance(group, float) else f"{by} = {group}"
        axes.plot(base[x][chosen][order], base[value][chosen][order], color=colour, label=label)
    axes.set(xlabel=_label(study, x), ylabel=_label(study, value))
    if by and len(groups) <= _MOST_LINES:
        legend(axes, columns=3)
    elif by:
        _scale(axes, np.asarray(groups, dtype=float), _label(study, by))


@_in_style
def _bifurcation(study: Study, x: str, value: str, axes: Axes) -> None:
    base = _done(study, x, value)
    places, entries = [], []
    for place, listed in zip(base[x], base[value], strict=True):
        several = np.atleast_1d(np.asarray(listed if listed is not None else [], dtype=float))
        places.append(np.full(len(several), place))
        entries.append(several)
    axes.plot(
        np.concatenate(places), np.concatenate(entries), ".", markersize=1.5, color="#222222", rasterized=True
    )
    axes.set(xlabel=_label(study, x), ylabel=_label(study, value))


@_in_style
def _parallel(study: Study, colour: str, names: Sequence[str] | None, axes: Axes) -> None:
    chosen = list(names) if names else [*study.design.columns, *study.outputs]
    base = _done(study, *chosen, colour)
    numbers = [name for name in chosen if base[name].dtype.kind in "fiu"]
    if len(numbers) < 2:
        raise StudyError(
            f"parallel coordinates need two numbers at least, not {', '.join(numbers) or 'none'}."
        )
    columns = np.column_stack([base[name].astype(float) for name in numbers])
    whole = np.isfinite(columns).all(axis=1) & np.isfinite(base[colour].astype(float))
    columns, shade = columns[whole], base[colour].astype(float)[whole]
    low, high = columns.min(axis=0), columns.max(axis=0)
    heights = (columns - low) / np.where(high > low, high - low, 1.0)
    _draw_parallel(axes, heights, shade, _label(study, colour))
    axes.set_xticks(range(len(numbers)), [_label(study, name) for name in numbers])
    axes.set(yticks=[], xlim=(-0.2, len(numbers) - 0.8), ylim=(-0.12, 1.12))
    for place, (bottom, top) in enumerate(zip(low, high, strict=True)):
        axes.text(place, -0.03, f"{bottom:.3g}", ha="center", va="top", fontsize=9)
        axes.text(place, 1.03, f"{top:.3g}", ha="center", va="bottom", fontsize=9)


def _draw_parallel(axes: Axes, heights: np.ndarray, shade: np.ndarray, label: str) -> None:
    from matplotlib.collections import LineCollection

    places = np.broadcast_to(np.arange(heights.shape[1]), heights.shape)
    lines = LineCollection(list(np.stack([places, heights], axis=-1)), array=shade, linewidths=0.8, alpha=0.7)
    axes.add_collection(lines)
    axes.figure.colorbar(lines, ax=axes, label=label)


@_in_style
def _boundaries(study: Study, x: str, y: str, axes: Axes) -> None:
    found = study.boundaries()
    pairs = sorted({(str(a), str(b)) for a, b in zip(found["below"], found["above"], strict=True)})
    for pair, colour in zip(pairs, colours(len(pairs)), strict=True):
        chosen = (found["below"].astype(str) == pair[0]) & (found["above"].astype(str) == pair[1])
        axes.plot(
            found[x][chosen],
            found[y][chosen],
            ".",
            markersize=3,
            color=colour,
            label=f"{pair[0]} | {pair[1]}",
        )
    axes.set(xlabel=_label(study, x), ylabel=_label(study, y))
    legend(axes, columns=5)


def _done(study: Study, *names: str) -> dict[str, np.ndarray]:
    """The wanted columns of the grid or list; outputs of points that are not done are nan or empty."""
    base = study.table()
    count = len(study.design) * study.options.replicates
    for name in names:
        if name not in base:
            raise StudyError(f"the study has no column '{name}'; it has {', '.join(base)}.")
    return {name: base[name][:count] for name in names}


def _scale(axes: Axes, values: np.ndarray, label: str) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    axes.figure.colorbar(
        ScalarMappable(Normalize(values.min(), values.max()), "viridis"), ax=axes, label=label
    )


def _label(study: Study, name: str) -> str:
    unit = study.units().get(name, "")
    return f"{name} / {unit}" if unit else name
