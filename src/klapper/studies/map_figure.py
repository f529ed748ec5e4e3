"""Maps of a study: an output over two axes of its grid, one panel for each value of a third.

Numbers are shades on one scale for all panels, texts and truth values one colour each, named in a legend. Axes of
texts are drawn in the order of their values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.results.drawing import is_figure, legend
from klapper.shown import drawing
from klapper.studies.columns import done, label
from klapper.studies.errors import StudyError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from klapper.studies.study import Study

_SHADES = ("#E3E3E3", "#9DC9E6", "#F4B183", "#8FD3B6", "#E3A9C6", "#F7DC8A", "#B9E2F5", "#A6A6A6")
_ACROSS = 3  # panels side by side
_PANEL = (3.6, 3.1)  # inches


@dataclass(frozen=True)
class Plane:
    """A map: values (rows up, columns across) at ``across`` and ``up``; ``title`` of its panel."""

    across: Sequence[Any]
    up: Sequence[Any]
    values: np.ndarray
    title: str


def draw_map(
    study: Study,
    x: str,
    y: str,
    value: str,
    onto: Any,
    *,
    by: str | None,
    at: Mapping[str, Any],
    log: bool,
) -> Any:
    """Draw on a figure, or on axes if there is one panel only; the figure."""
    planes = _planes(study, x, y, value, by, at)
    panels = _panels(onto, len(planes))
    texts = planes[0].values.dtype.kind in "UOb"
    draw = _draw_regimes if texts else _draw_numbers
    draw(panels, planes, label(study, value), log)
    for panel, plane in zip(panels, planes, strict=True):
        if plane.title:
            panel.set_title(plane.title, fontsize="medium")
        _tick(panel.xaxis, plane.across)
        _tick(panel.yaxis, plane.up)
        panel.set(xlabel=label(study, x), ylabel=label(study, y))
        panel.label_outer()
        panel.grid(False)
    return panels[0].figure


def _planes(study: Study, x: str, y: str, value: str, by: str | None, at: Mapping[str, Any]) -> list[Plane]:
    axes = study.design.axes
    if study.options.replicates > 1 or not {x, y} <= {*axes} or x == y:
        raise StudyError(f"a map over {x} and {y} needs a grid of these two axes, each point once.")
    extra = [name for name in axes if name not in {x, y, by, *at}]
    if extra or (by is not None and by not in axes) or not {*at} <= {*axes} - {x, y, by}:
        raise StudyError(
            f"a map over {x} and {y} of a grid of {', '.join(axes)} needs a panel for each value of one other axis "
            "(by) and a value of every further one (at)."
        )
    values = done(study, value)[value].reshape([len(axis) for axis in axes.values()])
    names = list(axes)
    for name, wanted in at.items():
        if wanted not in axes[name]:
            raise StudyError(f"{name} = {wanted!r} is not on the grid: {', '.join(map(str, axes[name]))}.")
        values = np.take(values, list(axes[name]).index(wanted), axis=names.index(name))
        names.remove(name)
    order = [names.index(name) for name in ([by] if by else []) + [y, x]]
    turned = values.transpose(order)
    if by is None:
        return [Plane(axes[x], axes[y], turned, "")]
    return [
        Plane(axes[x], axes[y], plane, f"{label(study, by)} = {_short(entry)}")
        for entry, plane in zip(axes[by], turned, strict=True)
    ]


def _panels(onto: Any, count: int) -> list[Axes]:
    if not is_figure(onto):
        if count > 1:
            raise StudyError(f"a map of {count} panels needs a figure to draw on, not axes.")
        return [onto]
    from matplotlib.figure import Figure

    figure = drawing() if onto is None else onto
    if count == 1:
        return [figure.subplots()]
    across = min(count, _ACROSS) if count != 4 else 2
    rows = -(-count // across)
    if isinstance(figure, Figure):
        figure.set_size_inches(_PANEL[0] * across + 0.8, _PANEL[1] * rows + 0.4)
    panels = figure.subplots(rows, across, sharex=True, sharey=True, squeeze=False).ravel()
    for empty in panels[count:]:
        empty.set_axis_off()
    return list(panels[:count])


def _draw_numbers(panels: Sequence[Axes], planes: Sequence[Plane], name: str, log: bool) -> None:
    shown = [_shades(plane.values.astype(float), log) for plane in planes]
    finite = np.concatenate([each.compressed() for each in shown])
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    for panel, plane, shades in zip(panels, planes, shown, strict=True):
        image = panel.pcolormesh(
            _places(plane.across),
            _places(plane.up),
            shades,
            vmin=low,
            vmax=high,
            shading="nearest",
            rasterized=True,
        )
    panels[0].figure.colorbar(image, ax=list(panels), label=f"log₁₀ of {name}" if log else name)


def _draw_regimes(panels: Sequence[Axes], planes: Sequence[Plane], name: str, log: bool) -> None:
    """One colour per regime, each named in a legend."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    names = sorted({str(entry) for plane in planes for entry in plane.values.flat} - {""})
    shades = [_SHADES[k % len(_SHADES)] for k in range(len(names))]
    for panel, plane in zip(panels, planes, strict=True):
        told = plane.values.astype(str)
        numbers = np.ma.masked_where(told == "", np.searchsorted(names, told))
        panel.pcolormesh(
            _places(plane.across),
            _places(plane.up),
            numbers,
            cmap=ListedColormap(shades),
            vmin=-0.5,
            vmax=len(names) - 0.5,
            shading="nearest",
            rasterized=True,
        )
    handles = [Patch(color=shade, label=each) for shade, each in zip(shades, names, strict=True)]
    if len(panels) == 1:
        legend(panels[0], handles, columns=6)
    else:
        panels[0].figure.legend(handles=handles, loc="outside upper left", ncols=6)


def _shades(values: np.ndarray, log: bool) -> Any:
    """Values, or logarithms of their sizes, without those that are none."""
    if not log:
        return np.ma.masked_invalid(values)
    size = np.abs(values)
    return np.ma.masked_invalid(np.log10(np.where(size > 0.0, size, np.nan)))


def _places(values: Sequence[Any]) -> np.ndarray:
    """Numbers as they are, others in a row."""
    if any(isinstance(value, str | bool | list | tuple) for value in values):
        return np.arange(len(values), dtype=float)
    return np.array(values, dtype=float)


def _tick(axis: Any, values: Sequence[Any]) -> None:
    places = _places(values)
    if any(isinstance(value, str | bool | list | tuple) for value in values):
        axis.set_ticks(places, [str(value) for value in values])
    elif len(places) > 3 and places.min() > 0.0 and np.allclose(np.diff(np.log(places), 2), 0.0, atol=1e-9):
        axis.axes.set(**{f"{axis.axis_name}scale": "log"})


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
