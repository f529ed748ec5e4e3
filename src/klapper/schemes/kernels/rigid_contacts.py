"""The contacts that take part in a step as rows of the contact table."""

from __future__ import annotations

import numpy as np

from klapper.machine_code import njit
from klapper.schemes.kernels.rigid_geometry import set_arms, set_frame, set_own
from klapper.schemes.kernels.rigid_tables import (
    APPROACH,
    ARM_A,
    ARM_B,
    BALL,
    BEFORE,
    BODY_A,
    BODY_B,
    BOUNCE,
    FRICTION,
    KAPPA,
    KIND,
    LASTING,
    NORMAL,
    NUMBER,
    OTHER,
    TANGENT_1,
    TANGENT_2,
    WITH_PLANE,
)

_fast = {"contract"}


@njit(cache=True, fastmath=_fast, error_model="numpy")
def contact_velocity(
    body: np.ndarray, motion: int, contact: np.ndarray, i: int, a: int, b: int
) -> tuple[float, float, float]:
    """Jᵀ v (normal, tangential 1, 2) of the velocities in the columns ``motion`` of the bodies a and b."""
    r1, r2, r3 = contact[i, ARM_A], contact[i, ARM_A + 1], contact[i, ARM_A + 2]
    p1, p2, p3 = contact[i, ARM_B], contact[i, ARM_B + 1], contact[i, ARM_B + 2]
    w1, w2, w3 = body[a, motion + 3], body[a, motion + 4], body[a, motion + 5]
    s1, s2, s3 = body[b, motion + 3], body[b, motion + 4], body[b, motion + 5]
    x = body[a, motion] - body[b, motion] + (w2 * r3 - w3 * r2) - (s2 * p3 - s3 * p2)
    y = body[a, motion + 1] - body[b, motion + 1] + (w3 * r1 - w1 * r3) - (s3 * p1 - s1 * p3)
    z = body[a, motion + 2] - body[b, motion + 2] + (w1 * r2 - w2 * r1) - (s1 * p2 - s2 * p1)
    n, t, u = NORMAL, TANGENT_1, TANGENT_2
    return (
        contact[i, n] * x + contact[i, n + 1] * y + contact[i, n + 2] * z,
        contact[i, t] * x + contact[i, t + 1] * y + contact[i, t + 2] * z,
        contact[i, u] * x + contact[i, u + 1] * y + contact[i, u + 2] * z,
    )


@njit(cache=True, fastmath=_fast, error_model="numpy")
def set_contact(
    dimension: int,
    pair: np.ndarray,
    k: int,
    centre: np.ndarray,
    ball: np.ndarray,
    ball_body: np.ndarray,
    plane: np.ndarray,
    body: np.ndarray,
    contact: np.ndarray,
    link: np.ndarray,
    i: int,
    friction: float,
    restitution: float,
) -> None:
    """Row i of the contact table and its links, from the k-th pair of a list."""
    a, b = ball_body[pair[k, BALL]], body.shape[0] - 1
    if pair[k, KIND] != WITH_PLANE:
        b = ball_body[pair[k, OTHER]]
    link[i, NUMBER], link[i, BODY_A], link[i, BODY_B] = pair[k, NUMBER], a, b
    set_frame(dimension, pair, k, centre, ball, plane, contact, i)
    set_arms(pair, k, centre, ball, body, a, b, contact, i)
    set_own(dimension, body, a, b, contact, i)
    vn, v1, v2 = contact_velocity(body, BEFORE, contact, i, a, b)
    contact[i, APPROACH], contact[i, APPROACH + 1], contact[i, APPROACH + 2] = vn, v1, v2
    contact[i, FRICTION] = friction
    contact[i, BOUNCE] = restitution * vn
    contact[i, KAPPA] = 0.0
    contact[i, LASTING] = 0.0


@njit(cache=True)
def set_lasting(contact: np.ndarray, i: int, shift: float) -> None:
    """Let contact i obey the law of those that last, unless its shift is nan."""
    if not np.isnan(shift):
        contact[i, LASTING], contact[i, BOUNCE] = 1.0, shift


@njit(cache=True)
def warm_start(
    link: np.ndarray,
    impulse: np.ndarray,
    count: int,
    old_number: np.ndarray,
    old_impulse: np.ndarray,
    old_count: int,
) -> None:
    """Impulses of the last step for the contacts that are still there, zero for the others."""
    j = 0
    for i in range(count):
        number = link[i, NUMBER]
        while j < old_count and old_number[j] < number:
            j += 1
        same = j < old_count and old_number[j] == number
        for c in range(3):
            impulse[i, c] = old_impulse[j, c] if same else 0.0
