"""Energies of rigid bodies and what a step takes from them, every entry from its own terms.

½ v⁺ᵀ M v⁺ − ½ vᵀ M v = v_m · h f̂ + Σ λ · Jᵀ v_m,      v_m = (v + v⁺)/2
"""

from __future__ import annotations

import numpy as np

from klapper.machine_code import njit
from klapper.schemes.kernels.rigid_contacts import contact_velocity
from klapper.schemes.kernels.rigid_tables import (
    APPLIED,
    APPLIED_SPIN,
    APPROACH,
    BODY_A,
    BODY_B,
    LASTING,
    MASS,
    MOMENT,
    VELOCITY,
)

_fast = {"contract"}


@njit(cache=True, inline="always", fastmath=_fast, error_model="numpy")
def kinetic_energy(dimension: int, body: np.ndarray, v: np.ndarray) -> float:
    """½ Σ m ẋ² + ½ Σ ω · I ω."""
    total = 0.0
    for b in range(body.shape[0] - 1):
        if dimension == 2:
            x, y, w = v[3 * b], v[3 * b + 1], v[3 * b + 2]
            total += body[b, MASS] * (x * x + y * y) + body[b, MOMENT + 2] * w * w
        else:
            for a in range(3):
                x, w = v[6 * b + a], v[6 * b + 3 + a]
                total += body[b, MASS] * x * x + body[b, MOMENT + a] * w * w
    return 0.5 * total


@njit(cache=True, inline="always", fastmath=_fast, error_model="numpy")
def potential_energy(dimension: int, gravity: np.ndarray, body: np.ndarray, q: np.ndarray) -> float:
    """−Σ m g · x."""
    total = 0.0
    stride = 3 if dimension == 2 else 7
    for b in range(body.shape[0] - 1):
        for a in range(dimension):
            total -= body[b, MASS] * gravity[a] * q[stride * b + a]
    return total


@njit(cache=True, fastmath=_fast, error_model="numpy")
def numerical_loss(
    dimension: int,
    gravity: np.ndarray,
    body: np.ndarray,
    q: np.ndarray,
    q_after: np.ndarray,
    v: np.ndarray,
    v_after: np.ndarray,
) -> float:
    """−(v_m · h f̂ + ΔV): the work of the applied impulses at the mean velocity against the potential."""
    gained = 0.0
    width, stride = (3, 3) if dimension == 2 else (6, 7)
    for b in range(body.shape[0] - 1):
        for a in range(dimension):
            middle = 0.5 * (v[width * b + a] + v_after[width * b + a])
            moved = q_after[stride * b + a] - q[stride * b + a]
            gained += body[b, MASS] * (middle * body[b, APPLIED + a] - gravity[a] * moved)
        if dimension == 3:
            for a in range(3):
                middle = 0.5 * (v[6 * b + 3 + a] + v_after[6 * b + 3 + a])
                gained += middle * body[b, MOMENT + a] * body[b, APPLIED_SPIN + a]
    return -gained


@njit(cache=True, fastmath=_fast, error_model="numpy")
def contact_losses(
    body: np.ndarray, contact: np.ndarray, link: np.ndarray, impulse: np.ndarray, count: int
) -> tuple[float, float, float]:
    """Energies [J] that friction, normal impulses and turning take: −½ λ · (v⁺ + v⁻), Waltersberger (3.118).

    Normal impulses of contacts that last do no work but that of the turning.
    """
    friction, impact, turned = 0.0, 0.0, 0.0
    for i in range(count):
        if impulse[i, 0] != 0.0:
            vn, v1, v2 = contact_velocity(body, VELOCITY, contact, i, link[i, BODY_A], link[i, BODY_B])
            taken = -0.5 * impulse[i, 0] * (vn + contact[i, APPROACH])
            if contact[i, LASTING] != 0.0:
                turned += taken
            else:
                impact += taken
            friction -= 0.5 * impulse[i, 1] * (v1 + contact[i, APPROACH + 1])
            friction -= 0.5 * impulse[i, 2] * (v2 + contact[i, APPROACH + 2])
    return friction, impact, turned
