"""Where a state goes in a given time, through all its events, and where its neighbours go.

    x(t + T) = φ_T(t, x),     ∂φ_T/∂x = Φ_k S_k … Φ_1 S_1 Φ_0

Φ are fundamental matrices of phases, S saltation matrices of the switches between them: exact, no differences of
motions. For a periodic motion this is its monodromy matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.analysis.periodic.events import MotionEvent, events_of
from klapper.analysis.periodic.passage import pass_through
from klapper.analysis.periodic.switch import switches_of
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import State, System, require_system
from klapper.schemes.event_driven import EventDriven
from klapper.schemes.phase_map import PhaseMaps
from klapper.schemes.phase_record import record_phases
from klapper.schemes.phases import Phased
from klapper.schemes.piecewise_exact import PiecewiseExact

_TOLERANCE = 1e-12  # of the integration where there is no closed form


@dataclass(frozen=True, eq=False)
class FlowMap:
    """A stretch of a motion and its derivative by the start.

    ``start``, ``end``  states (q₀, v₀) and (q, v)
    ``derivative``      ∂(q, v)/∂(q₀, v₀) (2n, 2n) [1, s, 1/s, 1 by blocks]
    ``events``          on the way

    A start that the contacts hold (closed, or sticking) has neighbours only that they hold as well: the derivative
    takes any difference for the nearest one that is allowed.

    Free flight for 3 s: q = q₀ + 3 v₀, v = v₀.

    >>> from klapper.analysis import flow_map
    >>> from klapper.mechanics import LinearSystem
    >>> flow_map(LinearSystem([1.0], velocity=[2.0]), 3.0).derivative.round(9).tolist()
    [[1.0, 3.0], [0.0, 1.0]]
    """

    start: State
    end: State
    derivative: np.ndarray
    events: tuple[MotionEvent, ...]


def flow_map(
    system: System, duration: float, *, start: State | None = None, scheme: Phased | None = None
) -> FlowMap:
    """The motion over ``duration`` [s] from ``start`` (default: the system's), and its derivative.

    ``scheme``  :class:`~klapper.schemes.PiecewiseExact` or :class:`~klapper.schemes.EventDriven` with Newton's law of
                impact; default: the first one if it can treat the system

    >>> from klapper.analysis import flow_map
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> floor = Contact("floor", normal=[1.0], restitution=0.5)
    >>> ball = LinearSystem([1.0], force=[-2.0], position=[1.0], contacts=[floor])
    >>> flow_map(ball, 1.5).derivative.round(12) + 0.0
    array([[0.25, 0.  ],
           [1.5 , 1.  ]])
    """
    require_system(system)
    duration = number(duration, "duration", "numbers above 0, in s", above=0.0)
    scheme = scheme_for(system) if scheme is None else require_phased(scheme)
    if not (start is None or isinstance(start, State)):
        raise InvalidModel(f"start is {start!r}; give a State, or nothing for the start of the system.")
    begin = system.start if start is None else start
    phases = record_phases(system, scheme, begin, begin.time + duration)
    maps = PhaseMaps(system)
    switches = switches_of(maps, phases)
    times = np.array([phase.begin for phase in phases] + [begin.time + duration])
    passage = pass_through(maps, phases[0].modes, switches, phases[0].before, times)
    n = len(system.velocities)
    last = phases[-1].after
    return FlowMap(begin, State(float(times[-1]), last[:n], last[n:]), passage.monodromy, events_of(passage))


def scheme_for(system: System) -> Phased:
    """Piecewise exact if every phase of the system has a closed form, else event-driven."""
    exact = PiecewiseExact()
    try:
        exact.init(system)
    except InvalidModel:
        return EventDriven(_TOLERANCE)
    return exact


def require_phased(scheme: object) -> Phased:
    """Refuse schemes without phases, and impact laws without a derivative."""
    if not isinstance(scheme, Phased) or scheme.impact is not None:
        raise InvalidModel(
            f"scheme is {scheme!r}; periodic motions need PiecewiseExact or EventDriven with Newton's law of impact."
        )
    return scheme
