"""One model under several methods: how far apart, how dear, where the energy went.

Runs are compared at common times, in the coordinates of the model; the distance of two positions is the largest
difference of a coordinate. The observed order is the slope of the error over the parameter that a method refines
(step size, tolerance, contact compliance), fitted on a logarithmic scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.results.drawing import colours, figure_of, is_figure
from klapper.results.errors import ResultsError, place
from klapper.results.run import Run
from klapper.results.tables import aligned, number
from klapper.shown import Card, Shown, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROUND_OFF = 1e-11  # of the range of the motion: errors below it are not those of a method
_SATURATED = 0.1  # of the range of the motion: runs farther apart have nothing in common


@dataclass(frozen=True, eq=False)
class Refinement:
    """Errors of one method against the reference under refinement.

    ``factors``  (k,) by which its parameter was refined, dimensionless
    ``errors``   (k,) [m, rad], root mean squares over the common times
    ``seconds``  (k,) [s] of computing

    A quarter of the error with half the step is second order: error ∝ hᵖ, p = 2.

    >>> import numpy as np
    >>> from klapper.results import Refinement
    >>> halved = Refinement(np.array([1.0, 2.0]), errors=np.array([4e-4, 1e-4]), seconds=np.array([0.1, 0.2]))
    >>> round(halved.order(scale=1.0), 9)
    2.0
    """

    factors: np.ndarray
    errors: np.ndarray
    seconds: np.ndarray

    def order(self, scale: float) -> float:
        """Slope of log error over log parameter; nan unless two errors lie between round-off and the motion itself,
        whose size is ``scale``."""
        kept = (self.errors > _ROUND_OFF * scale) & (self.errors < _SATURATED * scale)
        if np.count_nonzero(kept) < 2:
            return float("nan")
        return float(-np.polyfit(np.log(self.factors[kept]), np.log(self.errors[kept]), 1)[0])


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """The same motion by several methods.

    ``runs``         by the name of the method, in the order given
    ``reference``    the name of the method that the others are measured against
    ``times``        (k,) [s] at which runs are compared
    ``seconds``      computing time [s] by method, the best of repeated runs if they were short
    ``refused``      methods that cannot treat the model, and why
    ``failed``       methods that began and did not reach the end, and why
    ``refinements``  errors under refinement, by method

    One is made by :func:`klapper.compare`. Moreau's step with θ = ½ makes q = cos t late by h² t/12:

    >>> import numpy as np
    >>> from klapper.comparison import compare
    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import Moreau, PiecewiseExact
    >>> oscillator = LinearSystem([1.0], stiffness=[1.0], position=[1.0])
    >>> methods = {"exact": PiecewiseExact(), "steps": Moreau(0.1, compiled=False)}
    >>> comparison = compare(oscillator, 1.0, methods, samples=10)
    >>> late = 0.1**2 / 12.0  # s, at t = 1 s
    >>> bool(abs(comparison.distance("steps")[-1] - late * np.sin(1.0)) < 0.01 * late)
    True
    """

    runs: Mapping[str, Run]
    reference: str
    times: np.ndarray
    seconds: Mapping[str, float]
    refused: Mapping[str, str] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    refinements: Mapping[str, Refinement] = field(default_factory=dict)

    @cached_property
    def positions(self) -> dict[str, np.ndarray]:
        """(k, nq) at the common times, by method."""
        return {name: run.position_at(self.times) for name, run in self.runs.items()}

    @cached_property
    def range(self) -> float:
        """Largest range of a coordinate in the reference [m, rad]."""
        return float(np.ptp(self.positions[self.reference], axis=0).max(initial=0.0))

    def distance(self, name: str, other: str | None = None) -> np.ndarray:
        """(k,) distance of a method to another one, or to the reference, at the common times [m, rad]."""
        one, two = (self._positions(method) for method in (name, other or self.reference))
        return np.abs(one - two).max(axis=1, initial=0.0)

    def disagreement(self) -> np.ndarray:
        """(r, r) largest distance between each two of the r methods, in the order of ``runs`` [m, rad]."""
        names = list(self.runs)
        return np.array([[self.distance(a, b).max() for b in names] for a in names])

    def order(self, name: str) -> float:
        """Observed order of a method; nan if it was not refined, or its error is that of the whole motion."""
        self._require(name)
        refinement = self.refinements.get(name)
        return float("nan") if refinement is None else refinement.order(self.range)

    @property
    def table(self) -> list[dict[str, Any]]:
        """One row per method: costs, distances to the reference, order, penetration, energies lost [J]."""
        rows = []
        for name, run in self.runs.items():
            apart, ledger = self.distance(name), run.ledger
            rows.append(
                {
                    "method": name,
                    "seconds": self.seconds[name],
                    "steps": int(run.about.get("steps", len(run) - 1)),
                    "largest distance": float(apart.max(initial=0.0)),
                    "mean distance": float(np.sqrt(np.mean(apart**2))),
                    "order": self.order(name),
                    "penetration": abs(float(np.nanmin(run.gap, initial=0.0))),
                    **{key: float(getattr(ledger, key)[-1]) for key in _LOST},
                }
            )
        return rows

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.runs)}; reference {self.reference})"

    def __str__(self) -> str:
        table = self.table
        lost = [key for key in _LOST if any(row[key] for row in table)]
        header = ["method", "time / s", "steps", "largest", "rms", "order", "penetration"]
        rows = []
        for row in table:
            mark = " *" if row["method"] == self.reference else ""
            cells = [f"{row['method']}{mark}", f"{row['seconds']:.3g}", str(row["steps"])]
            cells += (
                ["–", "–"] if mark else [f"{row[key]:.2e}" for key in ("largest distance", "mean distance")]
            )
            cells += [
                "–" if row["order"] != row["order"] else f"{row['order']:.2f}",
                f"{row['penetration']:.1e}",
            ]
            rows.append([*cells, *(number(row[key]) for key in lost)])
        header += [f"{key} / J" for key in lost]
        lines = aligned(header, rows)
        lines.append(f"* reference; distances to it in m or rad at {len(self.times)} times")
        lines += [f"{name} cannot apply: {reason}" for name, reason in self.refused.items()]
        lines += [f"{name} did not finish: {reason}" for name, reason in self.failed.items()]
        return "\n".join(lines)

    def _card(self) -> Card:
        return Card(repr(self), text=str(self), draw=self._draw_overview)

    def _draw_overview(self, figure: Figure) -> None:
        """One coordinate by every method, and the distances to the reference."""
        motion, apart = figure.subplots(1, 2)
        hues = dict(zip(self.runs, colours(len(self.runs)), strict=True))
        self._draw_motion(motion, None, hues)
        self._draw_distances(apart, hues)

    def plot(self, onto: Figure | None = None, *, coordinate: str | None = None) -> Figure:
        """One coordinate by every method, their distances to the reference, their costs, and the energies they lost."""
        if not is_figure(onto):
            raise ResultsError("A comparison has four panels: give a figure to draw on, not axes.")
        figure = drawing(figsize=(9.0, 7.0)) if onto is None else onto
        (motion, costs), (apart, energy) = figure.subplots(2, 2, width_ratios=(3, 2))
        hues = dict(zip(self.runs, colours(len(self.runs)), strict=True))
        self._draw_motion(motion, coordinate, hues)
        self._draw_distances(apart, hues)
        self._draw_costs(costs, hues)
        self._draw_energies(energy, hues)
        handles, _ = motion.get_legend_handles_labels()
        figure.legend(handles=handles, loc="outside upper left", ncols=3, frameon=False)
        return figure_of(motion)

    def _draw_motion(self, axes: Axes, coordinate: str | None, hues: Mapping[str, str]) -> None:
        names = self.runs[self.reference].layout.coordinates
        number = 0 if coordinate is None else place(coordinate, names, "coordinate")
        for rank, (name, position) in enumerate(self.positions.items()):
            style = ("-", "--", "-.", ":")[rank % 4]
            axes.plot(self.times, position[:, number], style, color=hues[name], label=name)
        axes.set(
            xlabel="time / s", ylabel=f"{names[number]} / m or rad", xlim=(self.times[0], self.times[-1])
        )

    def _draw_distances(self, axes: Axes, hues: Mapping[str, str]) -> None:
        for name in self.runs:
            if name != self.reference:
                apart = self.distance(name)
                axes.semilogy(self.times, np.where(apart > 0.0, apart, np.nan), color=hues[name], label=name)
        axes.set(
            xlabel="time / s",
            ylabel="distance to the reference / m or rad",
            xlim=(self.times[0], self.times[-1]),
        )

    def _draw_costs(self, axes: Axes, hues: Mapping[str, str]) -> None:
        """Error over cost, refined runs joined by a line; the cost of the reference is dotted."""
        for name in self.runs:
            if name == self.reference:
                axes.axvline(self.seconds[name], color=hues[name], linestyle=":")
                continue
            seconds, errors = [self.seconds[name]], [float(np.sqrt(np.mean(self.distance(name) ** 2)))]
            if name in self.refinements:
                refined = self.refinements[name]
                seconds, errors = list(refined.seconds), list(refined.errors)
            axes.loglog(seconds, [max(value, 1e-16) for value in errors], marker="o", color=hues[name])
        axes.set(xlabel="computing time / s", ylabel="rms distance / m or rad")

    def _draw_energies(self, axes: Axes, hues: Mapping[str, str]) -> None:
        rows = self.table
        shown = [key for key in _LOST if any(row[key] for row in rows)] or list(_LOST)
        width = 0.8 / len(rows)
        for rank, row in enumerate(rows):
            places = np.arange(len(shown)) + (rank - 0.5 * (len(rows) - 1)) * width
            axes.bar(places, [row[key] for key in shown], width, color=hues[row["method"]])
        axes.set_xticks(np.arange(len(shown)), shown)
        axes.axhline(0.0, color="0.4", linewidth=0.8)
        axes.set(ylabel="energy in or lost / J")

    def _positions(self, name: str) -> np.ndarray:
        self._require(name)
        return self.positions[name]

    def _require(self, name: str) -> None:
        if name not in self.runs:
            why = self.refused.get(name) or self.failed.get(name)
            reason = f" ({why})" if why else ""
            raise ResultsError(f"there is no run by '{name}'{reason}; methods are {', '.join(self.runs)}.")


_LOST = ("loads", "damping", "friction", "impact", "numerical")
