"""Piecewise exact integration: linear systems between events in closed form, events as bracketed roots.

Every phase of a linear system with fixed contact modes has a closed-form solution, see
:mod:`klapper.schemes.linear_flow`; only the times at which contacts hit, release, stick or slide are roots of
transcendental equations. There is no step size: a step goes from event to event. Vielsack 1996, section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.mechanics.contacts import Contact
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem
from klapper.mechanics.system import System
from klapper.schemes.base import Snapshot, registered
from klapper.schemes.linear_flow import Held, LinearFlow, LinearModel, LinearPhase, time_functions
from klapper.schemes.linear_phase_equations import LinearPhaseEquations
from klapper.schemes.phase_equations import PhaseEquations
from klapper.schemes.phase_flow import Flow
from klapper.schemes.phase_watch import PhaseWatch
from klapper.schemes.phases import Phased
from klapper.schemes.work import Work

_MOST_PHASES = 512  # kept in memory
_LONGEST, _SLOWEST = (
    1e5,
    1e-3,
)  # half oscillations in one flow; share of the fastest rate below which none is slower
_GROWS = 1e3  # a motion that becomes so many times larger has lost the digits that its first event needs


@registered
@dataclass(frozen=True)
class PiecewiseExact(Phased):
    """Closed-form motion from event to event, for :class:`~klapper.mechanics.LinearSystem`.

    The options are those of :class:`~klapper.schemes.phases.Phased`. The motion is exact to round-off whatever the
    ``tolerance`` [m], which only says what counts as a closed gap. With ``sample`` [s] a step also ends at each of its
    multiples.

    Half a period of q = cos 2t in one step:

    >>> import numpy as np
    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import PiecewiseExact
    >>> from klapper.simulate import simulate
    >>> oscillator = LinearSystem([1.0], stiffness=[4.0], position=[1.0])
    >>> simulate(oscillator, np.pi / 2.0, PiecewiseExact(), every=1).position[:, 0].round(12)
    array([ 1., -1.])
    """

    name = "exact"

    def init(self, system: System) -> Snapshot:
        time_functions(_treatable(system))
        return super().init(system)

    def refined(self, factor: float) -> None:
        """There is no parameter of the error."""

    @property
    def citations(self) -> tuple[str, ...]:
        return (*super().citations, "vielsack1996")

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
        assert isinstance(equations, LinearPhaseEquations)
        phase = self._phase(equations, work)
        equations.determined = phase.determined
        fastest = max(phase.fastest, _SLOWEST / phase.exponential.step)
        longest = min(until, t + _LONGEST * np.pi / fastest)

        def to(end: float) -> LinearFlow:
            return LinearFlow(phase, equations, t, q, v, end)

        flow = to(longest)
        while not np.isfinite(_size(flow, flow.end)):
            flow = to(0.5 * (t + flow.end))
        if _size(flow, flow.end) <= _GROWS * _size(flow, t):
            return flow
        event = PhaseWatch(equations, flow, self.tolerance, self.slip_speed).first()
        if event is None or not t < event[0] < flow.end:
            return flow
        largest = max(_GROWS * _size(flow, *np.linspace(t, event[0], 9)), self.tolerance)
        beyond = flow.end - event[0]
        while _size(flow, event[0] + beyond) > largest and beyond > _SLOWEST * (event[0] - t):
            beyond *= 0.5
        return to(min(flow.end, event[0] + beyond))

    def _phase(self, equations: LinearPhaseEquations, work: Work) -> LinearPhase:
        """The phase of these modes, kept from its last visit."""
        system = equations.system
        model = work.kept("model", (system,), lambda: LinearModel(system))
        phases: dict[Any, LinearPhase] = work.kept("phases", (model,), dict)
        modes = equations.modes
        key = modes.key
        found = phases.get(key)
        if found is not None and not found.determined:
            key = (*key, modes.reference.tobytes())
            found = phases.get(key)
        if found is None:
            if len(phases) >= _MOST_PHASES:
                phases.clear()
            found = phases[key] = LinearPhase(model, Held.of(model, equations))
        return found


def _size(flow: LinearFlow, *times: float) -> float:
    """Largest coordinate [m] at some times."""
    return float(np.abs(flow.states(np.array(times))[0]).max(initial=0.0))


def _treatable(system: System) -> LinearSystem:
    """The system, if all its phases have a closed form."""
    if not isinstance(system, LinearSystem):
        raise InvalidModel(
            f"'{system.name}' is a {type(system).__name__}, whose motion between events has no closed form: "
            f"PiecewiseExact needs a LinearSystem; use EventDriven."
        )
    for part in system.contacts.parts:
        if isinstance(part, Contact) and not part.friction.constant:
            raise InvalidModel(
                f"{part.called} has friction that depends on the sliding speed, so that sliding has no closed form: "
                f"PiecewiseExact needs a constant coefficient; use EventDriven."
            )
        if part.tangents is not None and len(part.tangents) == 2 and part.rough:
            raise InvalidModel(
                f"{part.called} can slide in two directions, and the turning of its friction has no closed form: "
                f"PiecewiseExact needs one tangential direction; use EventDriven."
            )
    return system
