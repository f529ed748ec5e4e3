"""Figures of a response in harmonics, and of a curve of them over frequency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.analysis.harmonic.outputs import labelled
from klapper.contact_states import OPEN, SLIP, STICK
from klapper.results.drawing import axes_of, boxes, colours, legend, stretches
from klapper.results.plots import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from klapper.analysis.harmonic.curve import HarmonicCurve
    from klapper.analysis.harmonic.response import HarmonicResponse

_MOST = 3  # coordinates drawn if none are chosen
_MOST_CONTACTS = 6
_DIRECTIONS = ("normal", "tangential", "second tangential")
_STYLES = ("-", "--", ":")


def draw_response(response: HarmonicResponse, onto: Any) -> Any:
    """Displacements, contact forces and contact states over one period."""
    panels = axes_of(onto, 3, ratios=(3, 3, 1.2), height=7.0)
    time = np.append(response.time, response.period)
    names = _largest(response.amplitudes, response.system.coordinates)
    for name, colour in zip(names, colours(len(names)), strict=True):
        panels[0].plot(time, _closed(response.displacement(name)), color=colour, label=name)
    panels[0].set_ylabel("displacement / m")
    legend(panels[0])
    _draw_forces(panels[1], response, time)
    _draw_states(panels[2], response, time)
    panels[2].set(xlabel="time / s", xlim=(0.0, response.period))
    return panels[0].figure


def draw_curve(curve: HarmonicCurve, what: Any, onto: Any) -> Any:
    """Amplitudes over frequency and, below, the parts of the period in which contacts slip or are open."""
    upper, lower = axes_of(onto, 2, ratios=(3, 2), height=5.4)
    responses = [curve[i] for i in range(len(curve))]
    lines = _chosen(what, responses)
    for (name, row), colour in zip(lines.items(), colours(len(lines)), strict=True):
        upper.plot(curve.frequencies, [one.amplitude(row) for one in responses], color=colour, label=name)
    for fold in curve.folds:
        for row in lines.values():
            upper.plot(fold.frequency, fold.amplitude(row), "o", color="0.2", markersize=4)
    upper.set(ylabel="amplitude / m", yscale="log")
    legend(upper)
    shares = np.array([one.shares for one in responses])
    parts = curve.balance.directions.parts[:_MOST_CONTACTS]
    for part, colour in zip(parts, colours(len(parts)), strict=True):
        for state, style, word in ((2, "-", "slips"), (0, "--", "open")):
            if np.any(shares[:, part.contact, state] > 0.0):
                values = shares[:, part.contact, state]
                lower.plot(curve.frequencies, values, style, color=colour, label=f"{part.name} {word}")
    lower.set(xlabel="frequency / Hz", ylabel="part of the period", ylim=(-0.03, 1.03))
    if lower.lines:
        legend(lower)
    return upper.figure


def _draw_forces(axes: Axes, response: HarmonicResponse, time: np.ndarray) -> None:
    """Contact forces as the laws give them."""
    force = response.force
    parts = response.balance.directions.parts[:_MOST_CONTACTS]
    for part, colour in zip(parts, colours(len(parts)), strict=True):
        for direction in range(force.shape[2]):
            values = force[:, part.contact, direction]
            if np.any(values):
                name = f"{part.name}, {_DIRECTIONS[direction]}"
                axes.plot(time, _closed(values), _STYLES[direction], color=colour, label=name)
    axes.set_ylabel("contact force / N")
    if axes.lines:
        legend(axes, columns=2)


def _draw_states(axes: Axes, response: HarmonicResponse, time: np.ndarray) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    parts = response.balance.directions.parts[:_MOST_CONTACTS]
    states = np.vstack([response.state[:1], response.state])
    for row, part in enumerate(parts):
        left, right, codes = stretches(time, states[:, part.contact])
        for code in np.unique(codes):
            chosen = codes == code
            axes.add_collection(
                PolyCollection(boxes(left[chosen], right[chosen], row), facecolor=COLOURS[int(code)])
            )
    axes.set_yticks(range(len(parts)), [part.name for part in parts])
    axes.set_ylim(len(parts) - 0.5, -0.5)
    axes.grid(False)
    names = {OPEN: "open", STICK: "sticks or closed", SLIP: "slips"}
    legend(axes, [Patch(facecolor=COLOURS[code], label=name) for code, name in names.items()])


def _closed(values: np.ndarray) -> np.ndarray:
    """Samples of a period with its end."""
    return np.append(values, values[0])


def _largest(amplitudes: np.ndarray, names: tuple[str, ...]) -> list[str]:
    """The coordinates that move most."""
    size = np.linalg.norm(amplitudes[1:], axis=0)
    return [names[i] for i in sorted(np.argsort(-size, kind="stable")[:_MOST])]


def _chosen(what: Any, responses: list[HarmonicResponse]) -> Mapping[str, Any]:
    if what is None:
        peak = max(responses, key=lambda one: float(np.abs(one.amplitudes[1:]).max()))
        return {name: name for name in _largest(peak.amplitudes, peak.system.coordinates)}
    return labelled(what)
