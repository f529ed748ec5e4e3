"""Event-driven integration against time stepping at equal error, for 1, 10 and 100 contacts."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.methods.models import row_of_stops
from klapper.results import Run
from klapper.schemes import EventDriven, Moreau, PiecewiseExact
from klapper.simulation import simulate

UNTIL, SAMPLES = 5.0, 5
STEPS = (4e-3, 1e-3, 2.5e-4, 6.25e-5, 1.5625e-5)
TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)


@dataclass(frozen=True, eq=False)
class Curve:
    """Errors (k,) [m], root mean squares at common times, and seconds (k,) of one method on one model."""

    method: str
    contacts: int
    events: int
    errors: np.ndarray
    seconds: np.ndarray

    def seconds_at(self, error: float) -> tuple[float, bool]:
        """Seconds for an error [m], and whether they are beyond what was measured, by the slope of the last points."""
        good = self.errors <= error
        if good.any():
            return float(self.seconds[good].min()), False
        errors, seconds = np.log(self.errors[-3:]), np.log(self.seconds[-3:])
        slope, offset = np.polyfit(errors, seconds, 1)
        return float(np.exp(offset + slope * np.log(error))), True


def measure(*, quick: bool) -> list[Curve]:
    """Both methods on every model, against a reference that is tighter by far."""
    times = np.linspace(0.0, UNTIL, SAMPLES + 1)[1:]
    curves = []
    for count in (1, 10) if quick else (1, 10, 100):
        system = row_of_stops(count)
        reference = _reference(system, count)
        exact, events = reference.position_at(times), len(reference.changes.sample)
        for method, schemes in (
            ("time stepping", [Moreau(step) for step in STEPS]),
            ("event-driven", [EventDriven(tolerance, sample=UNTIL / SAMPLES) for tolerance in TOLERANCES]),
        ):
            runs = [_timed(system, scheme) for scheme in schemes]
            errors = [float(np.sqrt(np.mean((run.position_at(times) - exact) ** 2))) for run, _ in runs]
            seconds = np.array([taken for _, taken in runs])
            curves.append(Curve(method, count, events, np.array(errors), seconds))
    return curves


def _reference(system: Any, count: int) -> Run:
    scheme = (
        PiecewiseExact(sample=UNTIL / SAMPLES) if count <= 10 else EventDriven(1e-12, sample=UNTIL / SAMPLES)
    )
    return simulate(system, UNTIL, scheme)


def _timed(system: Any, scheme: Any) -> tuple[Run, float]:
    """The run, and the best time of up to three."""
    best, run = np.inf, None
    for _ in range(3):
        start = perf_counter()
        run = simulate(system, UNTIL, scheme)
        taken = perf_counter() - start
        best = min(best, taken)
        if taken > 2.0:
            break
    assert run is not None
    return run, best


def draw(curves: list[Curve], figure: Any) -> None:
    """Error over computing time, one panel for every number of contacts."""
    counts = sorted({curve.contacts for curve in curves})
    panels = figure.subplots(1, len(counts), sharey=True, squeeze=False)[0]
    for axes, count in zip(panels, counts, strict=True):
        for curve, style in zip((c for c in curves if c.contacts == count), ("o-", "s-"), strict=True):
            axes.loglog(curve.seconds, curve.errors, style, label=curve.method)
            events = curve.events
        plural = "contact" if count == 1 else "contacts"
        axes.set(xlabel="computing time / s", title=f"{count} {plural}, {events} events")
    panels[0].set_ylabel("rms error of the positions / m")
    panels[0].legend(frameon=False)
