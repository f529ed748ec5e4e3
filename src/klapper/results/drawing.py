"""Strokes of the figures of a run: lines over time, bars, scales, legends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.results.errors import ResultsError, place
from klapper.results.thinning import LIMIT, thinned
from klapper.shown import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMED_LINES, BARS = 7, 2000


def draw_lines(
    axes: Axes,
    time: np.ndarray,
    lines: Sequence[tuple[str, np.ndarray]],
    quantity: str,
    unit: str,
    *,
    steps: bool = False,
    named: bool = True,
) -> None:
    """Lines over time; ``steps`` draws values that hold since the sample before."""
    if not lines:
        raise ResultsError(f"There is no {quantity} to draw in this run.")
    for (name, values), colour in zip(lines, colours(len(lines)), strict=True):
        points = thinned(values)
        style = "steps-pre" if steps and len(points) == len(values) else "default"
        (line,) = axes.plot(time[points], values[points], label=name, color=colour, drawstyle=style)
        if len(lines) > NAMED_LINES:
            line.set_linewidth(0.8)
    axes.set(xlabel="time / s", ylabel=f"{quantity} / {unit}")
    if len(time) and time[-1] > time[0]:
        axes.set_xlim(time[0], time[-1])
    if named:
        tell_apart([axes], len(lines))


def tell_apart(panels: Sequence[Axes], count: int) -> None:
    """Say which line is which: few in a legend above the first panel, many by a scale of colours."""
    if count <= NAMED_LINES:
        legend(panels[0])
        return
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    scale = ScalarMappable(Normalize(0, count - 1), "viridis")
    panels[0].figure.colorbar(scale, ax=list(panels), label="number", pad=0.02)


def colours(count: int) -> list[Any]:
    import matplotlib

    if count > NAMED_LINES:
        return list(matplotlib.colormaps["viridis"](np.linspace(0.0, 1.0, count)))
    cycle = matplotlib.rcParams["axes.prop_cycle"].by_key().get("color", ["C0"])
    return [cycle[number % len(cycle)] for number in range(count)]


def columns(
    values: np.ndarray, all_names: tuple[str, ...], names: Sequence[str] | None, what: str
) -> list[tuple[str, np.ndarray]]:
    chosen = all_names if names is None else (names,) if isinstance(names, str) else tuple(names)
    return [(name, values[:, place(name, all_names, what)]) for name in chosen]


def stretches(time: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Beginning, end and state of stretches of equal state; in bins of many samples impacts prevail, then slip."""
    if len(time) < 2:
        return np.zeros(0), np.zeros(0), np.zeros(0, dtype=int)
    edges = time
    codes = state[1:].astype(int)
    if len(codes) > LIMIT:
        begin = np.unique(np.linspace(0, len(codes), BARS, endpoint=False).astype(int))
        codes = np.maximum.reduceat(codes, begin)
        edges = np.append(time[begin], time[-1])
    change = np.flatnonzero(np.diff(codes)) + 1
    first, last = np.r_[0, change], np.r_[change, len(codes)]
    return edges[first], edges[last], codes[first]


def boxes(left: np.ndarray, right: np.ndarray, row: int) -> list[np.ndarray]:
    """Corners (4, 2) of bars in a row."""
    low, high = np.full(len(left), row - 0.4), np.full(len(left), row + 0.4)
    corners = ((left, low), (right, low), (right, high), (left, high))
    return list(np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1))


def include_zero(*scales: Axes) -> None:
    """Let the scales of the same panel reach zero, at the same place."""
    spans = []
    for axes in scales:
        low, high = axes.dataLim.intervaly
        known = np.isfinite([low, high]).all()
        low, high = (min(low, 0.0), max(high, 0.0)) if known else (0.0, 0.0)
        spans.append((low, high) if high > low else (0.0, 1.0))
    below = max(-low / (high - low) for low, high in spans)
    above = max(high / (high - low) for low, high in spans)
    for axes, (low, high) in zip(scales, spans, strict=True):
        size = 1.06 * max(-low / below if below else 0.0, high / above if above else 0.0)
        axes.set_ylim(-(below or 0.03) * size, (above or 0.03) * size)


def legend(axes: Axes, handles: Sequence[Any] | None = None, *, columns: int = 4) -> None:
    """A legend above the axes, where it hides nothing."""
    where: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.3}
    if handles is None:
        handles, _ = axes.get_legend_handles_labels()
    axes.legend(handles=handles, ncols=columns, frameon=False, columnspacing=1.2, handlelength=1.4, **where)


def is_figure(onto: Any) -> bool:
    return onto is None or hasattr(onto, "subplots")


def axes_of(
    onto: Any, rows: int | None = None, *, ratios: Sequence[float] | None = None, height: float | None = None
) -> Any:
    """The axes to draw on; with ``rows`` a list of axes below each other.

    A figure of the usual size gets the ``height`` in inches.
    """
    if not is_figure(onto):
        return onto if rows is None else [onto]
    import matplotlib
    from matplotlib.figure import Figure

    if onto is None:
        onto = drawing()
    usual = matplotlib.rcParams["figure.figsize"]
    if height is not None and isinstance(onto, Figure) and tuple(onto.get_size_inches()) == tuple(usual):
        onto.set_figheight(height)
    if rows is None:
        return onto.subplots()
    return list(onto.subplots(rows, 1, sharex=True, squeeze=False, height_ratios=ratios)[:, 0])


def figure_of(axes: Axes) -> Any:
    return axes.figure
