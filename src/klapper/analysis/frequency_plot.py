"""The figure of a frequency response: what holds is drawn solid, what does not hold dashed on a shaded ground."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.results.drawing import axes_of, colours, figure_of, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from klapper.analysis.frequency_response import FrequencyResponse

_MOST = 3  # coordinates drawn if no rows are given
_SHADE = "#EFEFEF"
_AT_REST = 1e-12  # part of the largest amplitude up to which one is round-off


def draw_response(response: FrequencyResponse, onto: Any, rows: Mapping[str, Any] | None) -> Any:
    """Amplitudes and, below, the limit of the load over frequency; see :meth:`FrequencyResponse.plot`."""
    upper, lower = axes_of(onto, 2, ratios=(3, 2), height=5.4)
    f = response.frequencies
    lines = {name: np.abs(response.along(row)) for name, row in (rows or _largest(response)).items()}
    least = _AT_REST * max(float(size.max(initial=0.0, where=np.isfinite(size))) for size in lines.values())
    for (name, size), colour in zip(lines.items(), colours(len(lines)), strict=True):
        moved = np.where(size > least, size, np.nan)
        words = name if np.isfinite(moved).any() else f"{name} (at rest)"
        draw_held(upper, f, moved, response.valid, colour, words)
    shade_invalid(upper, f, response.valid)
    upper.set(ylabel="amplitude / m", yscale="log")
    legend(upper)
    draw_limit(lower, response)
    lower.set(xlabel="frequency / Hz", xlim=(f[0], f[-1]))
    return figure_of(upper)


def draw_held(
    axes: Axes, x: np.ndarray, values: np.ndarray, valid: np.ndarray, colour: Any, name: str
) -> None:
    """A line, solid where it is valid (k,) and thin and dashed where it is not."""
    shown = np.where(np.isfinite(values), values, np.nan)
    axes.plot(x, np.where(valid, shown, np.nan), color=colour, linewidth=1.8, label=name)
    beside = ~valid
    beside[1:] |= ~valid[:-1]
    beside[:-1] |= ~valid[1:]
    if not valid.all():
        axes.plot(
            x, np.where(beside, shown, np.nan), color=colour, linewidth=1.0, linestyle=(0, (3, 2)), alpha=0.8
        )


def shade_invalid(axes: Axes, x: np.ndarray, valid: np.ndarray) -> None:
    """A grey ground where the linear answer does not hold."""
    if valid.all():
        return
    middles = np.r_[x[0], 0.5 * (x[1:] + x[:-1]), x[-1]]
    first = True
    for begin, end in _stretches(~valid):
        axes.axvspan(
            middles[begin],
            middles[end],
            color=_SHADE,
            zorder=0,
            label="does not hold: a contact changes" if first else None,
        )
        first = False


def draw_limit(axes: Axes, response: FrequencyResponse) -> None:
    """The factor of the load at which the first contact leaves its state, coloured by contact and change."""
    f, limit = response.frequencies, response.limit
    factor = np.where(np.isfinite(limit.factor) & (limit.factor > 0.0), limit.factor, np.nan)
    words = np.array(
        [f"{contact} {change}".strip() for contact, change in zip(limit.contact, limit.change, strict=True)]
    )
    names = [name for name in dict.fromkeys(words.tolist()) if name]
    for name, colour in zip(names, colours(len(names)), strict=True):
        own = words == name
        wide = own.copy()
        wide[:-1] |= own[1:]
        axes.plot(f, np.where(wide, factor, np.nan), color=colour, linewidth=1.8, label=name)
    shade_invalid(axes, f, response.valid)
    axes.axhline(1.0, color="0.25", linewidth=1.0, linestyle=":")
    axes.annotate(
        "given load", (0.995, 1.0), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=8
    )
    axes.set(ylabel="limit / given load", yscale="log")
    if names:
        handles, _ = axes.get_legend_handles_labels()
        chosen = [handle for handle in handles if handle.get_label() in names]
        axes.legend(handles=chosen, fontsize=8, frameon=False, loc="best")


def _largest(response: FrequencyResponse) -> dict[str, np.ndarray]:
    size = np.abs(np.where(np.isfinite(response.position), response.position, 0.0)).max(axis=0)
    chosen = np.sort(np.argsort(-size, kind="stable")[:_MOST])
    return {response.rest.system.coordinates[i]: _unit(len(size), i) for i in chosen}


def _unit(size: int, place: int) -> np.ndarray:
    row = np.zeros(size)
    row[place] = 1.0
    return row


def _stretches(mask: np.ndarray) -> list[tuple[int, int]]:
    """Beginnings and ends, exclusive, of runs of True."""
    steps = np.diff(np.r_[0, mask.astype(int), 0])
    return list(zip(np.flatnonzero(steps == 1).tolist(), np.flatnonzero(steps == -1).tolist(), strict=True))
