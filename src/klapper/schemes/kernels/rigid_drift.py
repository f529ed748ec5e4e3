"""Steady drift of a contact iteration, and how far it can go on.

Forces of wedged bodies are nearly indeterminate: they can grow along a line between two sticking contacts and move
nothing. Where the velocities asked for contradict each other a little (restitution does that), every sweep adds the same
small step g to such forces until a contact slips or opens, which may take a million sweeps. Between such events

    x(τ) = x + τ g,   λ_N(τ) = 0  or  |λ_T(τ)| = μ λ_N(τ)

gives the next one, and the iteration leaps to it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from klapper.schemes.kernels.rigid_tables import FRICTION, OWN

_fast = {"contract"}
_INSIDE = 1e-9  # relative distance from the edge of the cone below which a contact slips already


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


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _slipping_time(
    f: tuple[float, float, float], g: tuple[float, float, float], mu: float
) -> float:
    """Smallest τ > 0 at which f + τ g leaves the friction cone from inside; infinite if it never does."""
    inside = f[1] * f[1] + f[2] * f[2] - mu * mu * f[0] * f[0]
    if inside >= -_INSIDE * mu * mu * f[0] * f[0]:
        return math.inf
    half = f[1] * g[1] + f[2] * g[2] - mu * mu * f[0] * g[0]
    square = g[1] * g[1] + g[2] * g[2] - mu * mu * g[0] * g[0]
    root = half * half - square * inside
    if square <= 0.0 and (half <= 0.0 or root < 0.0):
        return math.inf
    return -inside / (half + math.sqrt(root))


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
            nearest = min(nearest, _slipping_time(f, g, contact[i, FRICTION]))
    return nearest


@njit(cache=True, fastmath=_fast, error_model="numpy")
def leap(impulse: np.ndarray, step: np.ndarray, count: int, distance: float) -> None:
    """x ← x + τ g."""
    for i in range(count):
        for c in range(3):
            impulse[i, c] += distance * step[i, c]
