"""Impulses of all contacts of a step: sweeps, accelerated by nonsmooth nonlinear conjugate gradients.

With G the Gauss–Seidel sweep and g_k = G(x_k) − x_k,

    x_{k+1} = G(x_k) + β p_k,   p_{k+1} = β p_k + g_k,   β = min(|g_k|² / |g_{k−1}|², 1)   in the metric of energy

and p = 0 when |g| has grown. Silcowitz-Hansen, Niebe and Erleben, The Visual Computer 26 (2010) 893-901. In wedged heaps
sweeps drift along nearly indeterminate forces until a contact slips or opens; there |g| stays the same and the momentum
grows (with β = 0 at equal |g|, as published, they would crawl). A single contact needs one visit; a few contacts are
solved as far as the arithmetic allows, many to a tolerance.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from klapper.schemes.kernels.rigid_drift import leap, next_event, unsteadiness
from klapper.schemes.kernels.rigid_sweep import refresh, residual, sweep, velocity_scale
from klapper.schemes.kernels.rigid_tables import OWN, VELOCITY

_fast = {"contract"}
_FEW = 12  # contacts up to which sweeps go on to round-off
_ROUND_OFF = 4.5e-16
_STAGNATION = 20  # sweeps within which the residual of few contacts must have fallen
_NEAR = 4.0  # times the goal: change of a sweep from which on the residual is worth its time
_GROWTH = 1.1  # of |g|² from which on the momentum is lost
_SWEEPS_PER_REFRESH = 100
_PATIENCE = 200  # sweeps within which |g| must have halved before it is looked for a steady drift
_SHORTEST_QUIET, _LONGEST_QUIET = 20, 150  # sweeps without momentum that a drift may take to become steady
_RESTLESS, _STEADY = 1e-2, 1e-3  # part of g that changes from sweep to sweep
_REACH, _LEAST_LEAP = 0.3, 300.0  # change of g that a leap may cause, and the shortest that is worth it


class Momentum(NamedTuple):
    """x before the sweep and the direction p, for impulses (k, 3) and for the velocities (nb + 1, 6) they cause."""

    origin: np.ndarray
    direction: np.ndarray
    body_origin: np.ndarray
    body_direction: np.ndarray


@njit(cache=True)
def new_momentum(contacts: int, bodies: int) -> Momentum:
    """Room for the momentum of so many contacts and rows of bodies."""
    return Momentum(
        np.zeros((contacts, 3)), np.zeros((contacts, 3)), np.zeros((bodies, 6)), np.zeros((bodies, 6))
    )


@njit(cache=True)
def _remember(momentum: Momentum, body: np.ndarray, impulse: np.ndarray, count: int) -> None:
    origin, body_origin = momentum.origin, momentum.body_origin
    for i in range(count):
        for c in range(3):
            origin[i, c] = impulse[i, c]
    for b in range(body.shape[0]):
        for c in range(6):
            body_origin[b, c] = body[b, VELOCITY + c]


@njit(cache=True)
def _stop(momentum: Momentum, count: int) -> None:
    direction, body_direction = momentum.direction, momentum.body_direction
    for i in range(count):
        for c in range(3):
            direction[i, c] = 0.0
    for b in range(body_direction.shape[0]):
        for c in range(6):
            body_direction[b, c] = 0.0


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _moved(momentum: Momentum, contact: np.ndarray, impulse: np.ndarray, count: int) -> float:
    """|g|²; leaves g in the place of the origin."""
    origin, total = momentum.origin, 0.0
    for i in range(count):
        d0, d1, d2 = impulse[i, 0] - origin[i, 0], impulse[i, 1] - origin[i, 1], impulse[i, 2] - origin[i, 2]
        weight = max(contact[i, OWN + 3], contact[i, OWN + 5])
        total += contact[i, OWN] * d0 * d0 + weight * (d1 * d1 + d2 * d2)
        origin[i, 0], origin[i, 1], origin[i, 2] = d0, d1, d2
    return total


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _carry_on(momentum: Momentum, body: np.ndarray, impulse: np.ndarray, count: int, beta: float) -> None:
    """x ← x + β p and p ← β p + g, with the velocities that belong to them."""
    step, direction = momentum.origin, momentum.direction
    body_origin, body_direction = momentum.body_origin, momentum.body_direction
    for i in range(count):
        for c in range(3):
            carried = beta * direction[i, c]
            impulse[i, c] += carried
            direction[i, c] = carried + step[i, c]
    for b in range(body.shape[0]):
        for c in range(6):
            carried = beta * body_direction[b, c]
            gained = body[b, VELOCITY + c] - body_origin[b, c]
            body[b, VELOCITY + c] += carried
            body_direction[b, c] = carried + gained


@njit(cache=True, error_model="numpy")
def solve_one(body: np.ndarray, contact: np.ndarray, link: np.ndarray, impulse: np.ndarray) -> float:
    """The exact impulses of a single contact; returns the residual."""
    impulse[0, 0], impulse[0, 1], impulse[0, 2] = 0.0, 0.0, 0.0
    refresh(body, contact, link, impulse, 1)
    sweep(body, contact, link, impulse, 1)
    scale = velocity_scale(body, contact, link, impulse, 1)
    return residual(body, contact, link, impulse, 1) / scale


@njit(cache=True)
def _compare_next(momentum: Momentum, count: int) -> None:
    """Keep g in the place of p, for the next comparison."""
    step, direction = momentum.origin, momentum.direction
    for i in range(count):
        for c in range(3):
            direction[i, c] = step[i, c]


@njit(cache=True, error_model="numpy")
def _leap_distance(
    momentum: Momentum,
    contact: np.ndarray,
    impulse: np.ndarray,
    count: int,
    unsteady: float,
    last_unsteady: float,
) -> float:
    """How many steps g to leap over: to the next event if g stays the same until then; 0 for none yet."""
    if unsteady > _STEADY:
        return 0.0
    distance = (1.0 + 1e-7) * next_event(impulse, momentum.origin, contact, count)
    reach = _REACH / max(unsteady, 1e-15)
    if distance <= reach:
        return distance
    still_settling = unsteady < 0.5 * last_unsteady
    return 0.0 if still_settling or reach < _LEAST_LEAP else min(reach, distance)


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
) -> float:
    """Sweep from the given impulses until the residual is at most ``tolerance``; returns the residual."""
    refresh(body, contact, link, impulse, count)
    scale = velocity_scale(body, contact, link, impulse, count)
    reached = residual(body, contact, link, impulse, count) / scale
    goal = tolerance if count > _FEW else min(tolerance, _ROUND_OFF)
    best, best_sweep, next_look, size, sweeps = reached, 0, 0, 0.0, 0
    smallest, progress, patience = math.inf, 0, _PATIENCE
    quiet, unsteady = 0, math.inf
    while not reached <= goal and sweeps < max_sweeps:
        _remember(momentum, body, impulse, count)
        change = sweep(body, contact, link, impulse, count) / scale
        sweeps += 1
        if change != change:
            return math.nan
        if (change <= _NEAR * goal and sweeps >= next_look) or count <= _FEW or sweeps == max_sweeps:
            next_look = sweeps + 1 + sweeps // 16
            reached = residual(body, contact, link, impulse, count) / scale
            if reached <= goal or sweeps == max_sweeps or change <= _ROUND_OFF:
                refresh(body, contact, link, impulse, count)
                scale = velocity_scale(body, contact, link, impulse, count)
                reached = residual(body, contact, link, impulse, count) / scale
                if reached <= goal or change <= _ROUND_OFF:
                    break
            if reached < 0.5 * best:
                best, best_sweep = reached, sweeps
            elif reached <= tolerance and sweeps >= best_sweep + _STAGNATION:
                break
        before = size
        size = _moved(momentum, contact, impulse, count)
        if quiet > 0:
            quiet += 1
            unsteady, last_unsteady = unsteadiness(momentum.origin, momentum.direction, contact, count), unsteady
            distance = _leap_distance(momentum, contact, impulse, count, unsteady, last_unsteady)
            if distance > 0.0:
                leap(impulse, momentum.origin, count, distance)
                refresh(body, contact, link, impulse, count)
                quiet, unsteady = 1, math.inf
            elif quiet > _LONGEST_QUIET or (quiet > _SHORTEST_QUIET and unsteady > _RESTLESS):
                quiet, patience, size = 0, 2 * patience, 0.0
                smallest, progress = math.inf, sweeps
            if quiet > 0:
                _compare_next(momentum, count)
            else:
                _stop(momentum, count)
            continue
        if size < 0.25 * smallest:
            smallest, progress = size, sweeps
        elif sweeps >= progress + patience:
            quiet, unsteady = 1, math.inf
            _stop(momentum, count)
            continue
        if size <= _GROWTH * before:
            _carry_on(momentum, body, impulse, count, min(size / before, 1.0))
        else:
            _stop(momentum, count)
        if sweeps % _SWEEPS_PER_REFRESH == 0:
            refresh(body, contact, link, impulse, count)
    return reached
