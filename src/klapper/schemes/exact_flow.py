"""Smooth motion of a linear system in closed form, for every method that goes from event to event.

A flow is as long as its search for an event is exact: a motion that grows loses the digits that its first event needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klapper.complementarity.dense import dense
from klapper.mechanics.contacts import Contact
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem
from klapper.schemes.linear_flow import Held, LinearFlow, LinearModel, LinearPhase, time_functions
from klapper.schemes.linear_phase_equations import LinearPhaseEquations
from klapper.schemes.phase_equations import PhaseEquations
from klapper.schemes.phase_watch import PhaseWatch
from klapper.schemes.work import Work

_SPREAD = (
    100.0  # of the fastest over the slowest rate: from here on explicit steps are shorter than they must be
)
_AT_REST = 1e-6  # of the fastest rate: free motion of a body, not a slow vibration
_MOST_COORDINATES = 120  # beyond, dense exponentials cost more than steps
_MOST_PHASES = 512  # kept in memory
_LONGEST, _SLOWEST = (
    1e5,
    1e-3,
)  # half oscillations in one flow; share of the fastest rate below which none is slower
_GROWS = 1e3  # a motion that becomes so many times larger has lost the digits that its first event needs


def exact_flow(
    equations: PhaseEquations,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    until: float,
    tolerance: float,
    slip_speed: float,
    work: Work,
) -> LinearFlow:
    """The motion from a state, not past ``until`` [s]; ``tolerance`` [m] and ``slip_speed`` [m/s] of its events."""
    assert isinstance(equations, LinearPhaseEquations)
    phase = _phase(equations, work)
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
    event = PhaseWatch(equations, flow, tolerance, slip_speed).first()
    if event is None or not t < event[0] < flow.end:
        return flow
    largest = max(_GROWS * _size(flow, *np.linspace(t, event[0], 9)), tolerance)
    beyond = flow.end - event[0]
    while _size(flow, event[0] + beyond) > largest and beyond > _SLOWEST * (event[0] - t):
        beyond *= 0.5
    return to(min(flow.end, event[0] + beyond))


def _phase(equations: LinearPhaseEquations, work: Work) -> LinearPhase:
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


def stiff(system: LinearSystem) -> bool:
    """Whether the rates of the free motion and of what is given spread so far that explicit steps are mostly wasted,
    and all phases have a closed form."""
    if system.size > _MOST_COORDINATES or not _has_closed_form(system):
        return False
    frequencies = time_functions(system).frequencies
    n, inverse = system.size, np.linalg.inv(dense(system.mass_matrix))
    matrix = np.zeros((2 * n, 2 * n))
    matrix[:n, n:] = np.eye(n)
    for block, part in ((slice(0, n), system.position_matrix), (slice(n, 2 * n), system.rate_matrix)):
        if part is not None:
            matrix[n:, block] = -inverse @ dense(part)
    rates = np.concatenate([np.abs(np.linalg.eigvals(matrix)), frequencies])
    fastest = rates.max(initial=0.0)
    moving = rates[rates > _AT_REST * fastest]
    return bool(moving.size and fastest > _SPREAD * moving.min())


def _has_closed_form(system: LinearSystem) -> bool:
    for part in system.contacts.parts:
        if isinstance(part, Contact) and not part.friction.constant:
            return False
        if part.tangents is not None and len(part.tangents) == 2 and part.rough:
            return False
    try:
        time_functions(system)
    except InvalidModel:
        return False
    return True
