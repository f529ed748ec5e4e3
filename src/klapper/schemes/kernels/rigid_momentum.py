"""Momentum of a contact iteration: nonsmooth nonlinear conjugate gradients.

With G the Gauss–Seidel sweep and g_k = G(x_k) − x_k,

    x_{k+1} = G(x_k) + β p_k,   p_{k+1} = β p_k + g_k,   β = min(|g_k|² / |g_{k−1}|², 1)   in the metric of energy

and p = 0 when |g| has grown. Silcowitz-Hansen, Niebe and Erleben, The Visual Computer 26 (2010) 893-901. Unlike there
a little growth is allowed: heaps of bodies have nearly indeterminate forces, along which |g| hardly changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klapper.machine_code import njit
from klapper.schemes.kernels.rigid_tables import OWN, VELOCITY

_fast = {"contract"}


class Momentum(NamedTuple):
    """x before a sweep, then the step g; and the direction p: for impulses (k, 3) and velocities (nb + 1, 6)."""

    step: np.ndarray
    direction: np.ndarray
    body_step: np.ndarray
    body_direction: np.ndarray


@njit(cache=True)
def new_momentum(contacts: int, bodies: int) -> Momentum:
    """Room for so many contacts and rows of bodies."""
    return Momentum(
        np.zeros((contacts, 3)), np.zeros((contacts, 3)), np.zeros((bodies, 6)), np.zeros((bodies, 6))
    )


@njit(cache=True)
def begin_step(momentum: Momentum, body: np.ndarray, impulse: np.ndarray, count: int) -> None:
    """Remember x and its velocities before a sweep."""
    step, body_step = momentum.step, momentum.body_step
    for i in range(count):
        for c in range(3):
            step[i, c] = impulse[i, c]
    for b in range(body.shape[0]):
        for c in range(6):
            body_step[b, c] = body[b, VELOCITY + c]


@njit(cache=True, fastmath=_fast, error_model="numpy")
def end_step(momentum: Momentum, contact: np.ndarray, impulse: np.ndarray, count: int) -> float:
    """Take the step g of a sweep; returns |g|²."""
    step, total = momentum.step, 0.0
    for i in range(count):
        d0, d1, d2 = impulse[i, 0] - step[i, 0], impulse[i, 1] - step[i, 1], impulse[i, 2] - step[i, 2]
        weight = max(contact[i, OWN + 3], contact[i, OWN + 5])
        total += contact[i, OWN] * d0 * d0 + weight * (d1 * d1 + d2 * d2)
        step[i, 0], step[i, 1], step[i, 2] = d0, d1, d2
    return total


@njit(cache=True)
def stop(momentum: Momentum, count: int) -> None:
    """p = 0."""
    direction, body_direction = momentum.direction, momentum.body_direction
    for i in range(count):
        for c in range(3):
            direction[i, c] = 0.0
    for b in range(body_direction.shape[0]):
        for c in range(6):
            body_direction[b, c] = 0.0


@njit(cache=True, fastmath=_fast, error_model="numpy")
def carry_on(momentum: Momentum, body: np.ndarray, impulse: np.ndarray, count: int, beta: float) -> None:
    """x ← x + β p and p ← β p + g, with the velocities that belong to them."""
    step, direction = momentum.step, momentum.direction
    body_step, body_direction = momentum.body_step, momentum.body_direction
    for i in range(count):
        for c in range(3):
            carried = beta * direction[i, c]
            impulse[i, c] += carried
            direction[i, c] = carried + step[i, c]
    for b in range(body.shape[0]):
        for c in range(6):
            carried = beta * body_direction[b, c]
            gained = body[b, VELOCITY + c] - body_step[b, c]
            body[b, VELOCITY + c] += carried
            body_direction[b, c] = carried + gained
