"""Impulses of all contacts of a step: sweeps with momentum until their laws hold.

A single contact needs one visit; a few contacts are solved as far as the arithmetic allows, many to a tolerance. Where
sweeps do not get on, as in heaps at rest, Newton's method takes over from time to time (``rigid_newton``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from klapper.machine_code import njit
from klapper.schemes.kernels.rigid_drift import drifts, follow, new_watch
from klapper.schemes.kernels.rigid_momentum import Momentum, begin_step, carry_on, end_step, stop
from klapper.schemes.kernels.rigid_sweep import refresh, residual, sweep, velocity_scale

_FEW = 12  # contacts up to which sweeps go on to round-off
_ROUND_OFF = 4.5e-16
_STAGNATION = 20  # sweeps within which the residual of few contacts must have halved
_NEAR = 4.0  # times the goal: change of a sweep from which on the residual is worth its time
_GROWTH = 1.1  # of |g|² from which on the momentum is lost
_DRIFTING = 200  # contacts up to which a drift is looked for: in larger heaps it never becomes steady
_SWEEPS_PER_REFRESH = 100
# Sweeps before Newton's method is tried, and how much later each time again: they take about as long as it does, so
# that a heap that sweeps can solve is never solved much later, and one that they cannot not much later either.
_FIRST_NEWTON, _LATER = 300, 4
_NEWTON_STEPS = 100


@njit(cache=True, error_model="numpy")
def solve_alone(
    body: np.ndarray, contact: np.ndarray, link: np.ndarray, impulse: np.ndarray, count: int
) -> float:
    """The exact impulses of contacts that share no body, above all of a single one; returns the residual."""
    for i in range(count):
        for c in range(3):
            impulse[i, c] = 0.0
    refresh(body, contact, link, impulse, count)
    sweep(body, contact, link, impulse, count)
    scale = velocity_scale(body, contact, link, impulse, count, _ROUND_OFF)
    return residual(body, contact, link, impulse, count) / scale


@njit(cache=True, error_model="numpy")
def solve(
    body: np.ndarray,
    contact: np.ndarray,
    link: np.ndarray,
    impulse: np.ndarray,
    count: int,
    tolerance: float,
    max_sweeps: int,
    momentum: Momentum,
    newton: Any,
) -> float:
    """Sweep from the given impulses until the residual is at most ``tolerance``; returns the residual.

    ``newton``  ``rigid_newton.drift_implicitly`` by its address
    """
    refresh(body, contact, link, impulse, count)
    scale = velocity_scale(body, contact, link, impulse, count, tolerance)
    reached = residual(body, contact, link, impulse, count) / scale
    goal = tolerance if count > _FEW else min(tolerance, _ROUND_OFF)
    if reached <= goal:
        return reached
    best, best_sweep, next_look, size, watch = reached, 0, 0, 0.0, new_watch()
    next_newton = _FIRST_NEWTON
    stop(momentum, count)
    for sweeps in range(1, max_sweeps + 1):
        begin_step(momentum, body, impulse, count)
        change = sweep(body, contact, link, impulse, count) / scale
        if change != change:
            return math.nan
        if (change <= _NEAR * goal and sweeps >= next_look) or count <= _FEW or sweeps == max_sweeps:
            next_look = sweeps + 1 + sweeps // 16
            reached = residual(body, contact, link, impulse, count) / scale
            if reached <= goal or sweeps == max_sweeps or change <= _ROUND_OFF:
                refresh(body, contact, link, impulse, count)
                scale = velocity_scale(body, contact, link, impulse, count, tolerance)
                reached = residual(body, contact, link, impulse, count) / scale
                if reached <= goal or sweeps == max_sweeps or change <= _ROUND_OFF:
                    break
            if reached < 0.5 * best:
                best, best_sweep = reached, sweeps
            elif reached <= tolerance and sweeps >= best_sweep + _STAGNATION:
                break
        if sweeps == next_newton and count > _FEW:
            next_newton *= _LATER
            reached = newton(body, contact, link, impulse, count, tolerance, _NEWTON_STEPS)
            if not reached > goal:  # nan, too, ends the loop
                break
            refresh(body, contact, link, impulse, count)
            stop(momentum, count)
            size = 0.0
            continue
        before, size = size, end_step(momentum, contact, impulse, count)
        if count <= _DRIFTING and drifts(watch, size, sweeps):
            leap = follow(watch, momentum, contact, impulse, count, sweeps)
            if leap > 0.0:
                for i in range(count):
                    for c in range(3):
                        impulse[i, c] += leap * momentum.step[i, c]
                refresh(body, contact, link, impulse, count)
            size = 0.0
        elif size <= _GROWTH * before:
            carry_on(momentum, body, impulse, count, min(size / before, 1.0))
        else:
            stop(momentum, count)
        if sweeps % _SWEEPS_PER_REFRESH == 0:
            refresh(body, contact, link, impulse, count)
    return reached
