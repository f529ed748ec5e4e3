"""Stationary motion of a mass on a shaken incline: from any start to the period that repeats itself.

A period maps the state at its begin to that at its end. Under Coulomb's law, with a damper and with the arctan law the
state is the velocity alone and the map p rises with a slope p' ≤ 1: v is below the stationary velocity exactly if
p(v) > v, so Newton's method for p(v) = v runs inside a shrinking bracket. With a spring the state has two entries and a
Newton step counts only if it reduces the residual; otherwise the motion goes on by itself. A period that Newton's
method finds but from which disturbances grow is left again.
"""

from __future__ import annotations

from math import inf, nan, sin, sqrt
from typing import NamedTuple

import numpy as np

from klapper.analysis.kernels.shaken_arctan import smooth_force, smooth_motion
from klapper.analysis.kernels.shaken_model import ARCTAN, NONE, SPRING, STICK, Model
from klapper.analysis.kernels.shaken_period import (
    PERIOD,
    Log,
    Passage,
    State,
    pass_period,
    state_of,
)
from klapper.analysis.kernels.shaken_slip import slip_distance, slip_velocity
from klapper.analysis.kernels.shaken_stick import force_wave, stick_force, stick_state, wave
from klapper.machine_code import njit

REST, ACCELERATING, ONE_WAY, TWO_PAUSES, ONE_PAUSE, NO_PAUSE = 1, 2, 3, 4, 5, 6
_TIGHT = 4e-15
_ROUNDING = 1e-12  # residuals below this that no longer shrink are round-off
_AVERAGED = 840  # periods
_LONGEST_CYCLE = 8
_REPEATED = 1e-11


class Stationary(NamedTuple):
    """The stationary period: ``state`` at its begin (τ = 0), what happens in it, and how it was found.

    ``residual`` is the distance between the states that should be equal; ``periods`` counts the evaluated and the
    skipped ones; ``cycle`` is the number of periods after which the motion repeats itself, 0 if it was not found to.
    """

    state: State
    passage: Passage
    drift: float
    residual: float
    periods: int
    cycle: int


@njit(cache=True)
def no_log() -> Log:
    return Log(np.empty(0), np.empty(0, dtype=np.int64), np.empty(0), np.empty(0), np.empty(0))


@njit(cache=True)
def stationary(m: Model, v: float, start: float, most: int) -> Stationary:
    """The stationary motion for |A| < 1, reached from the velocity v at ``start`` in [0, 2π)."""
    log = no_log()
    if m.kind == SPRING and shakes_down(m):
        p, q = wave(m)
        state = State(STICK, p, m.pull / m.stiffness + q)
        return Stationary(state, pass_period(m, 0.0, state, log), 0.0, 0.0, 0, 1)
    state = pass_period(m, start, state_of(m, start, v, 0.0), log).state
    if m.stiffness > 0.0:
        return _settle_plane(m, state, most, log)
    return _settle_line(m, state, most, log)


@njit(cache=True)
def shakes_down(m: Model) -> bool:
    """Whether the spring can follow the shaking without slip; then the sum of all slips is finite (Melan, Ceradini)."""
    s, c = force_wave(m)
    return abs(m.pull) + sqrt(s * s + c * c) < 1.0


@njit(cache=True)
def _skipped(m: Model, state: State) -> int:
    """Whole periods of a fast slip that certainly see no switch."""
    if state.phase == STICK or m.kind == ARCTAN:
        return 0
    loss = PERIOD * (1.0 - state.phase * m.pull)
    spare = abs(state.v) - 2.0 * (m.shaking + PERIOD) - 1.0
    return int(min(spare / loss, 1e15)) if spare > 0.0 else 0


@njit(cache=True)
def _settle_line(m: Model, state: State, most: int, log: Log) -> Stationary:
    """The stationary motion where the velocity alone is the state."""
    low, high, last, slow = -inf, inf, inf, 0
    scale = 1.0 + m.shaking
    periods = 1
    while True:
        skipped = _skipped(m, state)
        if skipped > 0:
            periods += skipped
            state = State(state.phase, state.v + skipped * PERIOD * (m.pull - state.phase), 0.0)
        passage = pass_period(m, 0.0, state, log)
        periods += 1
        change = passage.state.v - state.v
        slow = slow + 1 if abs(change) < _ROUNDING * scale and abs(change) >= 0.5 * last else 0
        if abs(change) <= _TIGHT * scale or slow >= 3:
            return Stationary(state, passage, passage.distance / PERIOD, abs(change), periods, 1)
        if periods - skipped >= most:
            return _several(m, passage.state, periods, log)
        last = abs(change)
        if change > 0.0:
            low = state.v
        else:
            high = state.v
        v = passage.state.v
        if passage.vv < 1.0:
            newton = state.v + change / (1.0 - passage.vv)
            if low < newton < high and abs(newton - v) < 10.0 * scale:
                v = newton
        state = state_of(m, 0.0, v, 0.0)


@njit(cache=True)
def _settle_plane(m: Model, state: State, most: int, log: Log) -> Stationary:
    """The stationary motion where velocity and stretch are the state."""
    last, slow, periods, newton = inf, 0, 2, True
    scale = 1.0 + m.shaking
    passage = pass_period(m, 0.0, state, log)
    while True:
        skipped = _skipped(m, passage.state)
        residual = _distance(m, state, passage.state)
        slow = slow + 1 if residual < _ROUNDING * scale and residual >= 0.5 * last else 0
        if residual <= _TIGHT * scale or slow >= 3:
            if not newton or _attracts(passage):
                return Stationary(state, passage, passage.distance / PERIOD, residual, periods, 1)
            newton = False  # the motion would leave this period again: follow it
            state = State(state.phase, state.v * (1.0 + 1e-6), state.z)
            passage = pass_period(m, 0.0, state, log)
            continue
        if periods >= most:
            return _several(m, passage.state, periods, log)
        last = residual
        if skipped > 0:
            most += skipped
            periods += skipped
            end = passage.state
            state = State(end.phase, end.v + skipped * PERIOD * (m.pull - end.phase), 0.0)
            passage = pass_period(m, 0.0, state, log)
            continue
        if newton and periods > 4 and residual < 0.1 * scale:
            guess, admissible = _newton(m, state, passage)
            if admissible:
                trial = pass_period(m, 0.0, guess, log)
                periods += 1
                if _distance(m, guess, trial.state) < residual:
                    state, passage = guess, trial
                    continue
        state = passage.state
        passage = pass_period(m, 0.0, state, log)
        periods += 1


@njit(cache=True)
def _distance(m: Model, a: State, b: State) -> float:
    """How far two states are apart, as a velocity."""
    if a.phase != b.phase:
        return inf
    stretch = sqrt(m.stiffness) * abs(a.z - b.z) if a.phase == STICK else 0.0
    return max(abs(a.v - b.v), stretch)


@njit(cache=True)
def _newton(m: Model, state: State, passage: Passage) -> tuple[State, bool]:
    """The state that the linearised period would repeat, and whether its phase admits it."""
    end = passage.state
    if end.phase != state.phase:
        return state, False
    if state.phase != STICK:
        if passage.vv == 1.0:
            return state, False
        v = state.v + (end.v - state.v) / (1.0 - passage.vv)
        return State(state.phase, v, 0.0), state.phase * v > 0.0
    a, b, c, d = 1.0 - passage.vv, -passage.vz, -passage.zv, 1.0 - passage.zz
    determinant = a * d - b * c
    if determinant == 0.0:
        return state, False
    dv, dz = end.v - state.v, end.z - state.z
    v = state.v + (d * dv - b * dz) / determinant
    z = state.z + (a * dz - c * dv) / determinant
    return State(STICK, v, z), abs(stick_force(m, v, z)) < 1.0


@njit(cache=True)
def _attracts(passage: Passage) -> bool:
    """Whether disturbances do not grow from period to period."""
    half, determinant = 0.5 * (passage.vv + passage.zz), passage.vv * passage.zz - passage.vz * passage.zv
    square = half * half - determinant
    radius = abs(half) + sqrt(square) if square > 0.0 else sqrt(determinant)
    return radius <= 1.0 + 1e-9


@njit(cache=True)
def _several(m: Model, state: State, periods: int, log: Log) -> Stationary:
    """The motion that repeats itself after some periods, or else the mean drift."""
    states = [state]
    distances = np.empty(_AVERAGED)
    passage = pass_period(m, 0.0, state, log)
    for k in range(_AVERAGED):
        passage = pass_period(m, 0.0, states[-1], log)
        distances[k] = passage.distance
        states.append(passage.state)
    periods += _AVERAGED
    for cycle in range(1, _LONGEST_CYCLE + 1):
        residual = _distance(m, states[-1 - cycle], states[-1])
        if residual <= _REPEATED * (1.0 + m.shaking):
            drift = distances[-cycle:].sum() / (cycle * PERIOD)
            return Stationary(states[-2], passage, drift, residual, periods, cycle)
    residual = _distance(m, states[-2], states[-1])
    return Stationary(states[-2], passage, distances.sum() / (_AVERAGED * PERIOD), residual, periods, 0)


@njit(cache=True)
def coulomb_type(m: Model, passage: Passage) -> int:
    """Type of a stationary motion under Coulomb's law by the phases that begin in a period."""
    if passage.forwards + passage.backwards == 0:
        return REST
    if passage.forwards == 0 or passage.backwards == 0:
        return ONE_WAY
    if passage.sticks == 0:
        return NO_PAUSE
    return ONE_PAUSE if passage.sticks == 1 else TWO_PAUSES


@njit(cache=True)
def motion_type(pull: float, shaking: float) -> int:
    """Type I to VI (1 to 6) of the motion under Coulomb's law."""
    if abs(pull) + shaking <= 1.0:
        return REST
    if abs(pull) >= 1.0:
        return ACCELERATING
    m = Model(pull, shaking, NONE, 0.0, 0.0)
    return coulomb_type(m, stationary(m, 0.0, 0.0, 10_000).passage)


@njit(cache=True, nogil=True)
def stationary_many(
    points: np.ndarray,
    kind: int,
    first: int,
    last: int,
    most: int,
    drift: np.ndarray,
    types: np.ndarray,
    jump: np.ndarray,
    residual: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Points ``first`` to ``last`` of ``points`` (k, 6): A, B, κ, c, velocity and phase at the start.

    ``counts`` (k, 3): periods until the motion was stationary; phases (arctan: steps) in its period; its cycle.
    """
    for i in range(first, last):
        m = Model(points[i, 0], points[i, 1], kind, points[i, 2], points[i, 3])
        if abs(m.pull) >= 1.0 and abs(m.pull) + m.shaking > 1.0:
            drift[i] = nan if abs(m.pull) == 1.0 else (inf if m.pull > 0.0 else -inf)
            types[i], jump[i], residual[i] = ACCELERATING, 0.0, 0.0
            counts[i] = 0
            continue
        found = stationary(m, points[i, 4], points[i, 5], most)
        drift[i], residual[i] = found.drift, found.residual
        jump[i] = found.passage.jump
        counts[i, 0], counts[i, 1], counts[i, 2] = found.periods, found.passage.phases, found.cycle
        types[i] = coulomb_type(m, found.passage) if kind == NONE else motion_type(m.pull, m.shaking)


@njit(cache=True)
def sample_phase(
    m: Model, log: Log, now: int, times: np.ndarray, x: np.ndarray, v: np.ndarray, force: np.ndarray
) -> None:
    """Position, velocity and force at ``times`` (k,) in the phase number ``now`` of a logged period."""
    start, s, v_0, z_0, x_0 = log.time[now], log.phase[now], log.v[now], log.z[now], log.x[now]
    for k in range(times.size):
        t = times[k]
        if s != STICK:
            x[k] = x_0 + slip_distance(m, s, start, v_0, t)
            v[k] = slip_velocity(m, s, start, v_0, t)
            force[k] = s
        elif m.kind == NONE:
            x[k], v[k], force[k] = x_0, 0.0, m.pull + m.shaking * sin(t)
        else:
            v[k], z = stick_state(m, start, v_0, z_0, t)
            x[k], force[k] = x_0 + (z - z_0), stick_force(m, v[k], z)


@njit(cache=True)
def sample_smooth(
    m: Model, start: float, v_start: float, times: np.ndarray, x: np.ndarray, v: np.ndarray, force: np.ndarray
) -> tuple[float, float, int]:
    """Position, velocity and force under the arctan law at ``times`` (k,); velocity and distance at 2π, steps."""
    v_end, distance, _, steps = smooth_motion(m, start, v_start, PERIOD, times, v, x)
    for k in range(times.size):
        force[k] = smooth_force(m, v[k])
    return v_end, distance, steps
