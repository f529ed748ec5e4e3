"""Steady drift of a contact iteration, and a leap to where it ends.

Forces of wedged bodies are nearly indeterminate: they can grow along a line between two sticking contacts and move
nothing. Where the velocities asked for contradict each other a little (restitution does that), every sweep adds the
same small step g to such forces until a contact slips or opens, which may take a million sweeps. Between such events

    x(τ) = x + τ g,   λ_N(τ) = 0  or  |λ_T(τ)| = μ λ_N(τ)

gives the next one. When sweeps make no progress they go on without momentum until g is steady, and leap.
"""

from __future__ import annotations

import math

import numpy as np

from klapper.machine_code import njit
from klapper.schemes.kernels.rigid_momentum import Momentum
from klapper.schemes.kernels.rigid_tables import FRICTION, OWN

_fast = {"contract"}
_PATIENCE = 200.0  # sweeps within which |g| must have halved
_SHORTEST, _LONGEST = 20.0, 300.0  # sweeps without momentum that a drift may take to become steady
_RESTLESS, _STEADY = 1e-2, 1e-3  # part of g that changes from sweep to sweep
_SETTLING, _SETTLED = 10, 0.9  # sweeps in which a drift that still settles becomes steadier by this factor
_REACH, _LEAST_LEAP = 0.3, 300.0  # part of g that may have changed after a leap, and the shortest worth it
_BEYOND = 1.0 + 1e-7
_INSIDE = 1e-9  # relative distance from the edge of the cone below which a contact slips already

# What is watched: the smallest |g|² and the sweep it was reached in, sweeps to wait, sweeps without momentum (0: not in
# that phase), unsteadiness some sweeps ago, leaps in this phase.
_SMALLEST, _PROGRESS, _WAIT, _QUIET, _UNSTEADY, _LEAPS = range(6)


@njit(cache=True)
def new_watch() -> np.ndarray:
    """What is watched of an iteration, at its begin."""
    return np.array([math.inf, 0.0, _PATIENCE, 0.0, math.inf, 0.0])


@njit(cache=True)
def drifts(watch: np.ndarray, size: float, sweeps: int) -> bool:
    """Whether |g|² = ``size`` has not fallen for long, so that it is time to go on without momentum."""
    if watch[_QUIET] > 0.0:
        return True
    if size < 0.25 * watch[_SMALLEST]:
        watch[_SMALLEST], watch[_PROGRESS] = size, sweeps
    elif sweeps >= watch[_PROGRESS] + watch[_WAIT]:
        watch[_QUIET], watch[_UNSTEADY], watch[_LEAPS] = 1.0, math.inf, 0.0
        return True
    return False


@njit(cache=True, error_model="numpy")
def follow(
    watch: np.ndarray, momentum: Momentum, contact: np.ndarray, impulse: np.ndarray, count: int, sweeps: int
) -> float:
    """Number of steps g to leap over after this sweep, or 0. Uses the momentum's direction for the last g."""
    watch[_QUIET] += 1.0
    unsteady = unsteadiness(momentum.step, momentum.direction, contact, count)
    settled = False
    if watch[_QUIET] % _SETTLING == 0.0:
        settled, watch[_UNSTEADY] = unsteady > _SETTLED * watch[_UNSTEADY], unsteady
    distance = _distance(momentum.step, contact, impulse, count, unsteady, settled)
    if distance > 0.0:
        watch[_WAIT], watch[_QUIET], watch[_UNSTEADY] = _PATIENCE, 1.0, math.inf
        watch[_LEAPS] += 1.0
    elif watch[_QUIET] > _LONGEST or (
        watch[_QUIET] > _SHORTEST and watch[_LEAPS] == 0.0 and unsteady > _RESTLESS
    ):
        watch[_WAIT], watch[_QUIET] = 2.0 * watch[_WAIT], 0.0
        watch[_SMALLEST], watch[_PROGRESS] = math.inf, sweeps
    quiet = 1.0 if watch[_QUIET] > 0.0 else 0.0
    step, last_step = momentum.step, momentum.direction
    for i in range(count):
        for c in range(3):
            last_step[i, c] = quiet * step[i, c]
    return distance


@njit(cache=True, fastmath=_fast, error_model="numpy")
def unsteadiness(step: np.ndarray, last_step: np.ndarray, contact: np.ndarray, count: int) -> float:
    """|g − g_last| / |g| in the metric of energy."""
    difference, size = 0.0, 0.0
    for i in range(count):
        normal, weight = contact[i, OWN], max(contact[i, OWN + 3], contact[i, OWN + 5])
        for c in range(3):
            w, d = normal if c == 0 else weight, step[i, c] - last_step[i, c]
            difference += w * d * d
            size += w * step[i, c] * step[i, c]
    return math.sqrt(difference / size) if size > 0.0 else 0.0


@njit(cache=True, error_model="numpy")
def _distance(
    step: np.ndarray, contact: np.ndarray, impulse: np.ndarray, count: int, unsteady: float, settled: bool
) -> float:
    """How far to leap: to the next event if g stays the same until then, 0 if that is not known yet.

    If g changes steadily, as where the direction of slip turns, a settled drift is followed as far as that allows.
    """
    if unsteady > _STEADY:
        return 0.0
    distance = _BEYOND * next_event(impulse, step, contact, count)
    reach = _REACH / max(unsteady, 1e-15)
    if distance <= reach:
        return distance
    return reach if settled and reach >= _LEAST_LEAP else 0.0


@njit(cache=True, fastmath=_fast, error_model="numpy")
def next_event(impulse: np.ndarray, step: np.ndarray, contact: np.ndarray, count: int) -> float:
    """Number τ of steps after which the first contact opens or begins to slip."""
    nearest = math.inf
    for i in range(count):
        f = (impulse[i, 0], impulse[i, 1], impulse[i, 2])
        g = (step[i, 0], step[i, 1], step[i, 2])
        if f[0] > 0.0:
            if g[0] < 0.0:
                nearest = min(nearest, -f[0] / g[0])
            nearest = min(nearest, slipping_time(f, g, contact[i, FRICTION]))
    return nearest


@njit(cache=True, fastmath=_fast, error_model="numpy")
def slipping_time(f: tuple[float, float, float], g: tuple[float, float, float], mu: float) -> float:
    """Smallest τ > 0 at which f + τ g leaves the friction cone from inside; infinite if it never does."""
    inside = f[1] * f[1] + f[2] * f[2] - mu * mu * f[0] * f[0]
    if inside >= -_INSIDE * mu * mu * f[0] * f[0]:
        return math.inf
    half = f[1] * g[1] + f[2] * g[2] - mu * mu * f[0] * g[0]
    square = g[1] * g[1] + g[2] * g[2] - mu * mu * g[0] * g[0]
    if square <= 0.0 and half <= 0.0:
        return math.inf
    return -inside / (half + math.sqrt(max(half * half - square * inside, 0.0)))
