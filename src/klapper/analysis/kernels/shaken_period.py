"""One period of a mass on a shaken incline, phase after phase, with the derivative of its end by its start.

The derivative needs no differences: slip carries a disturbance of the velocity unchanged, stick by its closed form.
Where the force is continuous (spring, damper) a switch does not change it; a reversal under Coulomb's law multiplies it
by the ratio of the accelerations after and before, and Coulomb's stick wipes it out.
"""

from __future__ import annotations

from math import asin, exp, pi, sin
from typing import NamedTuple

import numpy as np

from klapper.analysis.kernels.shaken_arctan import smooth_motion
from klapper.analysis.kernels.shaken_model import ARCTAN, DAMPER, NONE, STICK, Model
from klapper.analysis.kernels.shaken_slip import slip_distance, slip_end, slip_velocity
from klapper.analysis.kernels.shaken_stick import free_motion, stick_end, stick_state
from klapper.machine_code import njit

PERIOD = 2.0 * pi
_MOST_PHASES = 100_000
_ROUND_OFF = 1e-14


class State(NamedTuple):
    """``phase`` +1, −1 (slip) or 0 (stick), velocity ``v`` and stretch ``z`` of the spring."""

    phase: int
    v: float
    z: float


class Passage(NamedTuple):
    """What happens until the end of a period.

    ``distance`` covered; ``vv``, ``vz``, ``zv``, ``zz`` derivatives of the end's v and z by the start's; how many
    slips forwards and backwards and sticks begin; the largest ``jump`` of the force |Δρ| at the end of a slip;
    ``phases`` in all (for the arctan law: steps of the integration).
    """

    state: State
    distance: float
    vv: float
    vz: float
    zv: float
    zz: float
    forwards: int
    backwards: int
    sticks: int
    jump: float
    phases: int


class Log(NamedTuple):
    """Begin of each phase: instant, phase, velocity, stretch, position; arrays (k,), k = 0 for no log."""

    time: np.ndarray
    phase: np.ndarray
    v: np.ndarray
    z: np.ndarray
    x: np.ndarray


@njit(cache=True)
def state_of(m: Model, t: float, v: float, z: float) -> State:
    """The phase of a mass that has the velocity v at t."""
    if m.kind == NONE and v == 0.0:
        load = m.pull + m.shaking * sin(t)
        return State(STICK if abs(load) <= 1.0 else (1 if load > 0.0 else -1), 0.0, 0.0)
    if m.kind == ARCTAN or (m.kind == DAMPER and abs(v) * m.damping < 1.0):
        return State(STICK, v, 0.0)
    if v == 0.0:
        return State(STICK, 0.0, z)
    return State(1 if v > 0.0 else -1, v, 0.0)


@njit(cache=True)
def coulomb_stick_end(m: Model, start: float, until: float) -> tuple[float, int]:
    """The instant at which A + B sin τ leaves [−1, 1], and the side."""
    best, side = until, 0
    for s in (1, -1):
        if m.shaking > 0.0 and m.shaking > abs(1.0 - s * m.pull):
            angle = asin((1.0 - s * m.pull) / m.shaking)
            release = angle if s == 1 else pi + angle
            if release < 0.0:
                release += PERIOD
            if start <= release + _ROUND_OFF and release < best:
                best, side = max(release, start), s
    return best, side


@njit(cache=True)
def pass_period(m: Model, start: float, state: State, log: Log) -> Passage:
    """The motion from ``start`` in [0, 2π) to 2π."""
    if m.kind == ARCTAN:
        nothing = np.empty(0)
        v, x, derivative, steps = smooth_motion(m, start, state.v, PERIOD, nothing, nothing, nothing)
        return Passage(State(STICK, v, 0.0), x, derivative, 0.0, 0.0, 0.0, 0, 0, 0, 0.0, steps)
    t, x, jump = start, 0.0, 0.0
    phase, v, z = state.phase, state.v, state.z
    forwards = backwards = sticks = phases = 0
    vv, vz, zv, zz = 1.0, 0.0, 0.0, 1.0
    level = 1.0 / m.damping if m.kind == DAMPER else 0.0
    if phase != STICK or m.kind == NONE or m.kind == DAMPER:
        zz = 0.0
    while t < PERIOD and phases < _MOST_PHASES:
        if phases < log.time.size:
            log.time[phases], log.phase[phases], log.x[phases] = t, phase, x
            log.v[phases], log.z[phases] = v, z
        phases += 1
        if phase != STICK:
            end, stops = slip_end(m, phase, t, v, level, PERIOD)
            x += slip_distance(m, phase, t, v, end)
            v = slip_velocity(m, phase, t, v, end)
            t = end
            if not stops:
                break
            zv, zz = 0.0, 0.0
            load = m.pull + m.shaking * sin(t)
            jump = max(jump, abs(phase - min(max(load, -1.0), 1.0)))
            if m.kind != NONE:
                v, z = phase * level, (phase / m.stiffness if m.kind != DAMPER else 0.0)
                phase = STICK
                sticks += 1
                continue
            v = 0.0
            if phase * load < -1.0:
                ratio = (load + phase) / (load - phase)
                vv, vz = vv * ratio, vz * ratio
                phase = -phase
                forwards, backwards = forwards + (phase == 1), backwards + (phase == -1)
            else:
                vv, vz = 0.0, 0.0
                phase = STICK
                sticks += 1
        else:
            if m.kind == NONE:
                end, side = coulomb_stick_end(m, t, PERIOD)
                vv, vz = 0.0, 0.0
            else:
                end, side = stick_end(m, t, v, z, PERIOD)
                v_new, z_new = stick_state(m, t, v, z, end)
                x += z_new - z
                vv, vz, zv, zz = _carried(m, end - t, vv, vz, zv, zz)
                v, z = v_new, z_new
            t = end
            if side == 0:
                break
            phase = side
            v = side * level if m.kind == DAMPER else side * max(side * v, 0.0)
            zv, zz = 0.0, 0.0
            forwards, backwards = forwards + (phase == 1), backwards + (phase == -1)
    return Passage(State(phase, v, z), x, vv, vz, zv, zz, forwards, backwards, sticks, jump, phases)


@njit(cache=True)
def _carried(
    m: Model, d: float, vv: float, vz: float, zv: float, zz: float
) -> tuple[float, float, float, float]:
    """The derivatives after a stick of the duration d."""
    if m.kind == DAMPER:
        decay = exp(-m.damping * d)
        return decay * vv, decay * vz, 0.0, 0.0
    c, s = free_motion(m, d)
    half = 0.5 * m.damping
    by_v, by_z = c - half * s, -m.stiffness * s
    return (
        by_v * vv + by_z * zv,
        by_v * vz + by_z * zz,
        s * vv + (c + half * s) * zv,
        s * vz + (c + half * s) * zz,
    )
