"""Event-driven integration: smooth motion by a method of high order, cut exactly at every event.

    ẏ = (B v, v̇(t, q, v))                                                        Waltersberger (4.58), (4.59)

The acceleration-level problem decides which contacts press, stick and slide; in that mode the equations are smooth and
integrated with error control and dense output. The first event in a step (contact, stop of sliding, release, onset of
sliding: Definition 4.1) ends it, to round-off. The integrators are those of Hairer, Nørsett and Wanner.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from klapper.mechanics.compiled_form import NotCompiled
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem
from klapper.mechanics.system import System
from klapper.schemes.base import registered
from klapper.schemes.compiled_phases import CompiledFlow, compiled_phase
from klapper.schemes.event_stretch import EventStretch, event_stretch
from klapper.schemes.exact_flow import exact_flow, stiff
from klapper.schemes.phase_equations import PhaseEquations
from klapper.schemes.phase_flow import Flow, Integrals
from klapper.schemes.phases import Phased
from klapper.schemes.smooth_step import METHODS, SmoothStep, smooth_step
from klapper.schemes.work import Work

_PAST_THE_EVENT = 1.01  # length of the step that is done again for an event, relative to the time up to it
_DIFFERENCE = (
    1e-4  # of a step: offset of central differences, which err by its square and by round-off over it
)
_EXPLICIT_REACH = 5.0  # rate times step size up to which an explicit method is stable
_OF_IMPULSES = 1e-7  # of force times step size: allowed error of an impulse over a step
_UNCONTROLLED = 1e8  # absolute tolerance of integrals that follow the motion without being part of its error

_PARTS_OF_A_STEP = ("step", "flow", "run", "sharpened", "collide", "decide", "equations", "inverse")


@registered
@dataclass(frozen=True)
class EventDriven(Phased):
    """Events located to round-off, smooth motion to ``tolerance``.

        ẏ = (B v, v̇(t, q, v)) between events                                         Waltersberger (4.58), (4.59)

    ``method``  "dop853" (order 8), "rk45" (order 5), or "radau" (order 5, for stiff motion). Where sliding in space is
                so slow that friction turns it faster than an explicit method can follow, "radau" takes the step.
                Stiff phases of a :class:`~klapper.mechanics.LinearSystem` are followed in closed form, as by
                ``PiecewiseExact``, unless "radau" is asked for

    The other options are those of :class:`~klapper.schemes.phases.Phased`.

    A ball dropped from 1.25 m under 10 m/s² hits the floor after √(2 · 1.25 / 10) s:

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> floor = Contact("floor", normal=[1.0], restitution=0.6)
    >>> ball = LinearSystem([1.0], force=[-10.0], position=[1.25], contacts=[floor])
    >>> simulate(ball, 1.0, EventDriven()).impacts().time.round(12)
    array([0.5])
    """

    method: str = "dop853"
    name = "event-driven"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise InvalidModel(f"method is {self.method!r}; allowed are {', '.join(METHODS)}.")

    def refined(self, factor: float) -> EventDriven:
        return replace(self, tolerance=self.tolerance / factor)

    @property
    def settings(self) -> dict[str, Any]:
        return {"method": self.method, **super().settings}

    @property
    def citations(self) -> tuple[str, ...]:
        return (*super().citations, "hairer1996" if self.method == "radau" else "hairer1993")

    def stretch(self, system: System) -> EventStretch:
        """The compiled loop from event to event; a stiff linear system is followed in closed form instead, and a class
        that does a part of the step in its own way has none."""
        for part in _PARTS_OF_A_STEP:
            if getattr(type(self), part) is not getattr(EventDriven, part):
                raise NotCompiled(f"{self.name} does a part of the step in its own way ({part})")
        return event_stretch(self, system)

    def run(
        self,
        equations: PhaseEquations,
        t: float,
        q: np.ndarray,
        v: np.ndarray,
        until: float,
        size: float,
        work: Work,
    ) -> CompiledFlow | None:
        if self.method != "dop853" or self.selection is not None or not t < until:
            return None
        if self._exact(equations, work):
            return None
        phase = compiled_phase(equations, work)
        if phase is None:
            return None
        flow = phase.run(t, q, v, until, size, self.tolerance, self.slip_speed)
        if flow is not None:
            equations.determined = flow.unique
        return flow

    def flow(
        self,
        equations: PhaseEquations,
        t: float,
        q: np.ndarray,
        v: np.ndarray,
        until: float,
        size: float,
        work: Work,
    ) -> Flow:
        if self._exact(equations, work):
            return exact_flow(equations, t, q, v, until, self.tolerance, self.slip_speed, work)
        y = np.concatenate([q, v, np.zeros(equations.size + 3)])
        motion = len(q) + len(v)
        tolerance = self.tolerance * np.sqrt(motion / len(y))  # scipy takes the mean over all of y
        absolute = self._allowed(equations, t, y, size)
        absolute[:motion] = tolerance
        stiff = size > 0.0 and size * equations.turning_rate(t, q, v, size) > _EXPLICIT_REACH
        step = smooth_step(
            "radau" if stiff else self.method,  # type: ignore[arg-type]
            equations.derivative,
            t,
            y,
            until=until,
            size=size,
            relative=tolerance,
            absolute=absolute,
        )
        return _IntegratedFlow(equations, step, max(step.next_size, size if step.end >= until else 0.0))

    def _exact(self, equations: PhaseEquations, work: Work) -> bool:
        """Whether the phase is taken in closed form: a stiff linear one, unless an implicit method is asked for."""
        system = equations.system
        if self.method == "radau" or not isinstance(system, LinearSystem):
            return False
        return work.kept("stiff", (system,), lambda: stiff(system))

    def _allowed(self, equations: PhaseEquations, t: float, y: np.ndarray, size: float) -> np.ndarray:
        """Errors (n,) of the integrals that a step of about ``size`` [s] may have.

        Where contacts are at rest, only forces that change with time keep the steps short. Where they slide, forces
        are part of the motion. The first step is short anyway.
        """
        motion = len(y) - equations.size - 3
        allowed = np.full(len(y), _UNCONTROLLED)
        if equations.size and size > 0.0 and len(equations.sliding) == 0:
            forces = equations.instant(
                t, y[: len(equations.system.coordinates)], y[len(equations.system.coordinates) : motion]
            ).forces
            largest = float(np.abs(forces).max(initial=0.0))
            if largest > 0.0:
                allowed[motion:-3] = _OF_IMPULSES * largest * size
        return allowed

    def sharpened(
        self, equations: PhaseEquations, t: float, q: np.ndarray, v: np.ndarray, event: float, work: Work
    ) -> Flow | None:
        """A step that ends just past the event: at its end the dense output is as accurate as the step itself."""
        if self._exact(equations, work):
            return None
        size = _PAST_THE_EVENT * (event - t)
        flow = self.flow(equations, t, q, v, t + size, size, work)
        return flow if flow.end > event else None


class _IntegratedFlow:
    """One step of the integrator."""

    pieces, drifts = 1, True

    def __init__(self, equations: PhaseEquations, step: SmoothStep, next_size: float) -> None:
        self.equations, self.step = equations, step
        self.start, self.end = step.start, step.end
        self.next_size = next_size
        self._last: tuple[np.ndarray, np.ndarray] | None = None
        self.nq, self.nv = len(equations.system.coordinates), len(equations.system.velocities)

    def _dense(self, times: np.ndarray) -> np.ndarray:
        """y (k, n); states and reactions are asked for the same times one after the other."""
        if self._last is None or self._last[0] is not times:
            y = self.step.dense(times)
            y[times == self.end] = self.step.after
            self._last = (times, y)
        return self._last[1]

    def states(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = self._dense(times)
        return y[:, : self.nq], y[:, self.nq : self.nq + self.nv]

    def reactions(self, times: np.ndarray) -> np.ndarray:
        return self.equations.many(times, *self.states(times))

    def forces(self, times: np.ndarray) -> np.ndarray:
        """Rates of the integrated impulses by differences: a reaction of its own costs as much as a right-hand side."""
        offset = _DIFFERENCE * (self.end - self.start)
        middle = np.clip(times, self.start + offset, self.end - offset)
        sums = self.step.dense(np.concatenate([middle - offset, middle, middle + offset]))
        before, here, after = np.split(sums[:, self.nq + self.nv : -3], 3)
        place = ((times - middle) / offset)[:, None]
        return (0.5 * (after - before) + place * (after - 2.0 * here + before)) / offset

    def integrals(self, times: np.ndarray) -> Integrals:
        sums = self._dense(times)[:, self.nq + self.nv :]
        return Integrals(sums[:, :-3], sums[:, -3], sums[:, -2], sums[:, -1])
