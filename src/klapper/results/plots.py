"""Figures of a run, labelled with units and without global state.

Each takes a figure or axes to draw on, or makes a figure, and returns the figure. A drawing for a report is a function
of a figure whose docstring is its caption; so are these: ``figures={"gaps": run.plot.gaps}``. Long series are thinned
to a few thousand points that keep all extremes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from klapper.contact_states import IMPACT, OPEN, SLIP, STICK
from klapper.results.drawing import (
    BARS,
    axes_of,
    boxes,
    colours,
    columns,
    draw_lines,
    figure_of,
    include_zero,
    is_figure,
    legend,
    stretches,
    tell_apart,
)
from klapper.results.errors import ResultsError
from klapper.results.ledger import TITLES
from klapper.results.thinning import thinned, thinned_curve, thinned_together

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from klapper.results.run import ContactHistory, Run

    Canvas = Figure | SubFigure | Axes | None

COLOURS = {OPEN: "#E2E2E2", STICK: "#0072B2", SLIP: "#E69F00", IMPACT: "#111111"}
ENERGY_COLOURS = {
    "potential": "#56B4E9",
    "kinetic": "#0072B2",
    "damping": "#009E73",
    "friction": "#E69F00",
    "impact": "#D55E00",
    "numerical": "#CC79A7",
}
_ROW_LABELS = 30


@dataclass(frozen=True, eq=False)
class Plots:
    """The figures of one run; ``onto`` is a figure or axes, ``names`` and ``contacts`` choose what is drawn."""

    run: Run

    def positions(self, onto: Canvas = None, *, names: Sequence[str] | None = None) -> Figure:
        """Positions over time."""
        axes = axes_of(onto)
        lines = columns(self.run.position, self.run.layout.coordinates, names, "coordinate")
        draw_lines(axes, self.run.time, lines, "position", "m or rad")
        return figure_of(axes)

    def velocities(self, onto: Canvas = None, *, names: Sequence[str] | None = None) -> Figure:
        """Velocities over time."""
        axes = axes_of(onto)
        lines = columns(self.run.velocity, self.run.layout.velocities, names, "velocity")
        draw_lines(axes, self.run.time, lines, "velocity", "m/s or rad/s")
        return figure_of(axes)

    def phase(self, name: str, onto: Canvas = None, *, velocity: str | None = None) -> Figure:
        """Velocity over position."""
        x, y = self.run.coordinate(name), self.run.speed(velocity or name)
        axes = axes_of(onto)
        points = thinned_curve(x, y)
        axes.plot(x[points], y[points], linewidth=1.0)
        if len(x):
            axes.plot(x[0], y[0], "o", markersize=5, color="#009E73", label="start")
            axes.plot(x[-1], y[-1], "s", markersize=5, color="#D55E00", label="end")
            legend(axes)
        axes.set(xlabel=f"{name} / m or rad", ylabel=f"velocity of {velocity or name} / m/s or rad/s")
        return figure_of(axes)

    def gaps(self, onto: Canvas = None, *, contacts: Sequence[str | int] | None = None) -> Figure:
        """Gaps of the contacts over time."""
        axes = axes_of(onto)
        if self.run.samples.loaded is not None and contacts is None:
            lines = [("nearest loaded contact", self._smallest_gap())]
        else:
            lines = [(history.name, history.gap) for history in self._histories(contacts)]
        axes.axhline(0.0, color="#444444", linewidth=0.8)
        draw_lines(axes, self.run.time, lines, "gap", "m")
        return figure_of(axes)

    def forces(self, onto: Canvas = None, *, contacts: Sequence[str | int] | None = None) -> Figure:
        """Contact forces (lines, left scale) and impulses of impacts (stems, right scale) over time."""
        directions = self.run.layout.directions if is_figure(onto) else ("normal",)
        if self.run.samples.loaded is not None and contacts is None:
            histories, directions = [self._sum_of_loaded()], ("normal",)
        else:
            histories = self._histories(contacts)
        panels = axes_of(onto, len(directions), height=0.8 + 2.4 * len(directions))
        for number, (axes, direction) in enumerate(zip(panels, directions, strict=True)):
            _draw_forces(axes, histories, number, direction)
            if axes is not panels[-1]:
                axes.set_xlabel("")
        tell_apart(panels, len(histories))
        return figure_of(panels[0])

    def states(self, onto: Canvas = None, *, contacts: Sequence[str | int] | None = None) -> Figure:
        """States of the contacts over time."""
        if self.run.samples.loaded is not None and contacts is None:
            axes = axes_of(onto)
            self._draw_counts(axes)
            return figure_of(axes)
        histories = self._histories(contacts)
        axes = axes_of(onto, height=1.3 + 0.35 * min(max(len(histories), 1), 20))
        self._draw_bars(axes, histories)
        return figure_of(axes)

    def ledger(self, onto: Canvas = None) -> Figure:
        """Where the energy is (areas); their sum has to meet the energy at the start plus the work of the loads."""
        panels = axes_of(onto, 2, ratios=(4.0, 1.0), height=4.6) if is_figure(onto) else [axes_of(onto)]
        self._draw_stack(panels[0])
        if len(panels) == 2:
            residual = self.run.ledger.residual
            points = thinned(residual)
            panels[1].plot(self.run.time[points], residual[points], color="#444444", linewidth=1.0)
            panels[1].set_ylabel("error / J")
            panels[1].ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
        panels[-1].set_xlabel("time / s")
        return figure_of(panels[0])

    def _histories(self, contacts: Sequence[str | int] | None) -> list[ContactHistory]:
        chosen: Sequence[str | int] = self.run.layout.contacts if contacts is None else contacts
        if isinstance(chosen, str):
            chosen = [chosen]
        if not len(chosen):
            raise ResultsError("There are no contacts to draw in this run.")
        return [self.run.contact(contact) for contact in chosen]

    def _smallest_gap(self) -> np.ndarray:
        loaded = self.run.samples.loaded
        assert loaded is not None
        smallest = np.full(len(self.run), np.nan)
        np.fmin.at(smallest, loaded.sample, loaded.gap)
        return smallest

    def _sum_of_loaded(self) -> ContactHistory:
        """All loaded contacts as one: the sums of their normal forces, and of the normal impulses of the impacts."""
        from klapper.results.run import ContactHistory, mean_force

        run, loaded = self.run, self.run.samples.loaded
        assert loaded is not None
        hit = loaded.state == IMPACT
        pressed, struck = (
            np.bincount(loaded.sample[part], weights=loaded.impulse[part, 0], minlength=len(run))[:, None]
            for part in (~hit, hit)
        )
        state = np.full(len(run), OPEN, dtype=np.int8)
        state[loaded.sample[hit]] = IMPACT
        force = mean_force(pressed, run.log_time, np.zeros(len(run), dtype=bool))
        return ContactHistory("sum of all contacts", run.time, self._smallest_gap(), struck, force, state)

    def _draw_bars(self, axes: Axes, histories: list[ContactHistory]) -> None:
        from matplotlib.collections import PolyCollection

        time = self.run.time
        for row, history in enumerate(histories):
            left, right, state = stretches(time, history.state)
            for code in np.unique(state):
                chosen = state == code
                axes.add_collection(
                    PolyCollection(
                        boxes(left[chosen], right[chosen], row), facecolor=COLOURS[self._shown(code)]
                    )
                )
            hit = time[history.state == IMPACT]
            hit = hit[thinned(hit, BARS)]
            axes.vlines(hit, row - 0.4, row + 0.4, color=COLOURS[IMPACT], linewidth=1.0)
        step = -(-len(histories) // _ROW_LABELS)
        axes.set_yticks(range(0, len(histories), step), [history.name for history in histories[::step]])
        span = (time[0], time[-1]) if len(time) and time[-1] > time[0] else (0.0, 1.0)
        axes.set(xlim=span, ylim=(len(histories) - 0.5, -0.5), xlabel="time / s")
        axes.grid(False)
        self._state_legend(axes)

    def _draw_counts(self, axes: Axes) -> None:
        """How many contacts are in each state, stacked."""
        loaded = self.run.samples.loaded
        assert loaded is not None
        codes = [STICK, SLIP, IMPACT]
        state = np.array([self._shown(code) for code in (OPEN, STICK, SLIP, IMPACT)])[loaded.state]
        counts = [np.bincount(loaded.sample[state == code], minlength=len(self.run)) for code in codes]
        edges = np.cumsum([np.zeros(len(self.run)), *counts], axis=0)
        points = thinned_together(edges.T)
        for low, high, code in zip(edges[:-1], edges[1:], codes, strict=True):
            axes.fill_between(
                self.run.time[points], low[points], high[points], color=COLOURS[code], linewidth=0.0
            )
        axes.set(xlabel="time / s", ylabel="loaded contacts")
        axes.margins(x=0.0)
        axes.set_ylim(bottom=0.0)
        self._state_legend(axes, OPEN)

    def _shown(self, code: int) -> int:
        """Without tangential directions there is one state of closed contacts."""
        return STICK if code == SLIP and not self.run.layout.tangential else int(code)

    def _state_legend(self, axes: Axes, *left_out: int) -> None:
        from matplotlib.patches import Patch

        names = {OPEN: "open", STICK: "stick", SLIP: "slip", IMPACT: "impact"}
        if not self.run.layout.tangential:
            names = {OPEN: "open", STICK: "closed", IMPACT: "impact"}
        shown = {code: name for code, name in names.items() if code not in left_out}
        legend(axes, [Patch(facecolor=COLOURS[code], label=name) for code, name in shown.items()])

    def _draw_stack(self, axes: Axes) -> None:
        ledger = self.run.ledger
        lowest = np.nanmin(ledger.potential) if len(self.run) else 0.0
        parts = {name: getattr(ledger, name) for name in ENERGY_COLOURS}
        parts["potential"] = ledger.potential - lowest
        edges = np.cumsum([np.zeros(len(self.run)), *parts.values()], axis=0)
        target = ledger.total[:1] - lowest + ledger.loads
        points = thinned_together(np.vstack([edges, target]).T)
        time = self.run.time[points]
        for low, high, name in zip(edges[:-1], edges[1:], parts, strict=True):
            if np.max(np.abs(parts[name]), initial=0.0) > 1e-6 * ledger.scale:  # else the area is invisible
                label = TITLES[name] + (" above its lowest" if name == "potential" and lowest else "")
                colour = ENERGY_COLOURS[name]
                axes.fill_between(time, low[points], high[points], color=colour, linewidth=0.0, label=label)
        label = "start + work of the loads" if np.any(ledger.loads) else "energy at the start"
        axes.plot(time, target[points], color="#111111", linewidth=1.4, linestyle="--", label=label)
        axes.set_ylabel("energy / J")
        axes.margins(x=0.0)
        legend(axes, columns=2)


def _draw_forces(axes: Axes, histories: list[ContactHistory], number: int, direction: str) -> None:
    forces = [(history.name, history.force[:, number]) for history in histories]
    draw_lines(axes, histories[0].time, forces, f"{direction} force", "N", steps=True, named=False)
    hits = [history.impacts for history in histories]
    if not any(len(hit) for hit in hits):
        include_zero(axes)
        return
    stems = axes.twinx()
    stems.grid(False)
    stems.spines["right"].set_visible(True)
    for hit, colour in zip(hits, colours(len(hits)), strict=True):
        impulse = hit.impulse[:, number]
        chosen = thinned(impulse)
        stems.vlines(hit.time[chosen], 0.0, impulse[chosen], color=colour, linewidth=1.2, alpha=0.7)
        stems.plot(hit.time[chosen], impulse[chosen], "o", color=colour, markersize=3.5)
    stems.set_ylabel("impulse / N s")
    include_zero(axes, stems)
