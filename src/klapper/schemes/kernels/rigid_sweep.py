"""Gauss–Seidel over contacts without a Delassus matrix: every impulse moves its two bodies at once.

    v = Jᵀ u + ε v⁻,   q = v − W_ii λ_i,   λ_i ← exact local answer to q,   u ← u + M⁻¹ J_i Δλ_i

Jourdan, Alart and Jean, CMAME 155 (1998) 31-47.
"""

from __future__ import annotations

import math

import numpy as np

from klapper.complementarity.kernels.contact_local import solve_contact
from klapper.complementarity.problem import AMPLIFICATION
from klapper.machine_code import njit
from klapper.schemes.kernels.rigid_contacts import contact_velocity
from klapper.schemes.kernels.rigid_tables import (
    APPLIED,
    APPROACH,
    ARM_A,
    ARM_B,
    BEFORE,
    BODY_A,
    BODY_B,
    BOUNCE,
    FRICTION,
    INVERSE_INERTIA,
    INVERSE_MASS,
    KAPPA,
    NORMAL,
    OWN,
    PLAIN,
    SCHUR,
    SHOVE,
    SPIN,
    TANGENT_1,
    TANGENT_2,
    VELOCITY,
)

_fast = {"contract"}


@njit(cache=True, inline="always", fastmath=_fast, error_model="numpy")
def push(
    body: np.ndarray, b: int, contact: np.ndarray, i: int, arm: int, x: float, y: float, z: float
) -> None:
    """Change the velocities of body b by an impulse (x, y, z) at the contact point."""
    light = body[b, INVERSE_MASS]
    r1, r2, r3 = contact[i, arm], contact[i, arm + 1], contact[i, arm + 2]
    m1, m2, m3 = r2 * z - r3 * y, r3 * x - r1 * z, r1 * y - r2 * x
    t = INVERSE_INERTIA
    xx, yy, zz = body[b, t], body[b, t + 1], body[b, t + 2]
    xy, xz, yz = body[b, t + 3], body[b, t + 4], body[b, t + 5]
    body[b, VELOCITY] += light * x
    body[b, VELOCITY + 1] += light * y
    body[b, VELOCITY + 2] += light * z
    body[b, SPIN] += xx * m1 + xy * m2 + xz * m3
    body[b, SPIN + 1] += xy * m1 + yy * m2 + yz * m3
    body[b, SPIN + 2] += xz * m1 + yz * m2 + zz * m3


@njit(cache=True, inline="always", fastmath=_fast, error_model="numpy")
def push_both(
    body: np.ndarray, a: int, b: int, contact: np.ndarray, i: int, d0: float, d1: float, d2: float
) -> None:
    """Change the velocities of both bodies by the impulses (normal, tangential 1, 2) of contact i."""
    n, t, u = NORMAL, TANGENT_1, TANGENT_2
    x = contact[i, n] * d0 + contact[i, t] * d1 + contact[i, u] * d2
    y = contact[i, n + 1] * d0 + contact[i, t + 1] * d1 + contact[i, u + 1] * d2
    z = contact[i, n + 2] * d0 + contact[i, t + 2] * d1 + contact[i, u + 2] * d2
    push(body, a, contact, i, ARM_A, x, y, z)
    push(body, b, contact, i, ARM_B, -x, -y, -z)


@njit(cache=True, fastmath=_fast, error_model="numpy")
def plain_answer(
    f: tuple[float, float, float], v: tuple[float, float, float], heavy: float, rough: float, mu: float
) -> tuple[float, float, float]:
    """Impulses of a contact with W = diag(1/heavy, 1/rough, 1/rough), from its impulses f and velocities v."""
    n0 = f[0] - v[0] * heavy
    if n0 <= 0.0:
        return 0.0, 0.0, 0.0
    n1, n2 = f[1] - v[1] * rough, f[2] - v[2] * rough
    radius, square = mu * n0, n1 * n1 + n2 * n2
    if square > radius * radius:
        shrink = radius / math.sqrt(square)
        n1, n2 = shrink * n1, shrink * n2
    return n0, n1, n2


@njit(cache=True, fastmath=_fast, error_model="numpy")
def coupled_answer(
    f: tuple[float, float, float],
    v: tuple[float, float, float],
    normal: tuple[float, float, float],
    tangential: tuple[float, float, float],
    schur: tuple[float, float, float, float],
    mu: float,
    kappa: float,
) -> tuple[float, float, float, float]:
    """Impulses and κ of any contact, from its impulses f, velocities v and own W: (nn, n1, n2), (11, 12, 22)."""
    w0, w1, w2 = normal
    w11, w12, w22 = tangential
    qn = v[0] - w0 * f[0] - w1 * f[1] - w2 * f[2]
    q1 = v[1] - w1 * f[0] - w11 * f[1] - w12 * f[2]
    q2 = v[2] - w2 * f[0] - w12 * f[1] - w22 * f[2]
    return solve_contact((qn, q1, q2), normal, schur, schur, mu, 0.0, kappa)


@njit(cache=True, fastmath=_fast, error_model="numpy")
def sweep(body: np.ndarray, contact: np.ndarray, link: np.ndarray, impulse: np.ndarray, count: int) -> float:
    """One pass over all contacts in place; returns the largest change, as velocity at its own contact [m/s]."""
    largest = 0.0
    for i in range(count):
        a, b = link[i, BODY_A], link[i, BODY_B]
        vn, v1, v2 = contact_velocity(body, VELOCITY, contact, i, a, b)
        v = (vn + contact[i, BOUNCE], v1, v2)
        f = (impulse[i, 0], impulse[i, 1], impulse[i, 2])
        if v[0] >= 0.0 and f[0] == 0.0 and f[1] == 0.0 and f[2] == 0.0:
            continue
        s0, s1 = contact[i, SCHUR], contact[i, SCHUR + 1]
        w0, w11, w22, mu = contact[i, OWN], contact[i, OWN + 3], contact[i, OWN + 5], contact[i, FRICTION]
        if contact[i, PLAIN] != 0.0:
            n0, n1, n2 = plain_answer(f, v, s0, s1, mu)
        else:
            n0, n1, n2, contact[i, KAPPA] = coupled_answer(
                f,
                v,
                (w0, contact[i, OWN + 1], contact[i, OWN + 2]),
                (w11, contact[i, OWN + 4], w22),
                (s0, s1, contact[i, SCHUR + 2], contact[i, SCHUR + 3]),
                mu,
                contact[i, KAPPA],
            )
        d0, d1, d2 = n0 - f[0], n1 - f[1], n2 - f[2]
        change = abs(d0) * w0 + (abs(d1) + abs(d2)) * max(w11, w22)
        if not change > 0.0:
            if change != change:
                return math.nan
            continue
        largest = max(largest, change)
        impulse[i, 0], impulse[i, 1], impulse[i, 2] = n0, n1, n2
        push_both(body, a, b, contact, i, d0, d1, d2)
    return largest


@njit(cache=True, fastmath=_fast, error_model="numpy")
def refresh(body: np.ndarray, contact: np.ndarray, link: np.ndarray, impulse: np.ndarray, count: int) -> None:
    """Velocities u = u_free + M⁻¹ J λ of all bodies without accumulated round-off."""
    for b in range(body.shape[0] - 1):
        for a in range(6):
            body[b, VELOCITY + a] = body[b, BEFORE + a] + body[b, APPLIED + a]
    for i in range(count):
        f0, f1, f2 = impulse[i, 0], impulse[i, 1], impulse[i, 2]
        if f0 != 0.0 or f1 != 0.0 or f2 != 0.0:
            push_both(body, link[i, BODY_A], link[i, BODY_B], contact, i, f0, f1, f2)


@njit(cache=True, fastmath=_fast, error_model="numpy")
def velocity_scale(
    body: np.ndarray,
    contact: np.ndarray,
    link: np.ndarray,
    impulse: np.ndarray,
    count: int,
    tolerance: float,
) -> float:
    """The largest velocity term of any contact [m/s], which is the unit of the residual.

    A contact's terms are its free velocity and what all impulses on its two bodies would add if they acted together.
    As in ``FrictionalContact.residuals`` they count at most as ``AMPLIFICATION`` times the largest free velocity, and
    so little that a residual of ``tolerance`` is a tenth of that velocity: enormous impulses are no answer.
    """
    for i in range(count):
        body[link[i, BODY_A], SHOVE] = 0.0
        body[link[i, BODY_B], SHOVE] = 0.0
    for i in range(count):
        f0, f1, f2 = impulse[i, 0], impulse[i, 1], impulse[i, 2]
        if f0 != 0.0:
            a, b = link[i, BODY_A], link[i, BODY_B]
            light, lighter = body[a, INVERSE_MASS], body[b, INVERSE_MASS]
            size = math.sqrt(f0 * f0 + f1 * f1 + f2 * f2) * contact[i, OWN] / (light + lighter)
            body[a, SHOVE] += size * light
            body[b, SHOVE] += size * lighter
    scale, load = 0.0, 0.0
    for i in range(count):
        a, b = link[i, BODY_A], link[i, BODY_B]
        pn, p1, p2 = contact_velocity(body, APPLIED, contact, i, a, b)
        vn, v1, v2 = contact[i, APPROACH], contact[i, APPROACH + 1], contact[i, APPROACH + 2]
        free = max(abs(vn + pn + contact[i, BOUNCE]), abs(v1 + p1), abs(v2 + p2))
        load, scale = max(load, free), max(scale, free + body[a, SHOVE] + body[b, SHOVE])
    if load > 0.0:
        scale = min(scale, min(AMPLIFICATION, 0.1 / tolerance) * load)
    return scale if scale > 0.0 else 1.0


@njit(cache=True, fastmath=_fast, error_model="numpy")
def natural_map(
    f: tuple[float, float, float], v: tuple[float, float, float], normal: float, weight: float, mu: float
) -> tuple[float, bool]:
    """Distance [m/s] of a contact from λ = prox(λ − v) in velocity units, and whether it slips.

    ``normal`` and ``weight`` turn normal and tangential impulses into velocities.
    """
    worst = abs(min(f[0] * normal, v[0]))
    f1, f2 = f[1] * weight, f[2] * weight
    radius = mu * f[0] * weight
    z1, z2 = f1 - v[1], f2 - v[2]
    size = math.sqrt(z1 * z1 + z2 * z2)
    slips = size > radius
    shrink = radius / size if slips else 1.0
    d1, d2 = f1 - shrink * z1, f2 - shrink * z2
    return max(worst, math.sqrt(d1 * d1 + d2 * d2)), slips


@njit(cache=True, fastmath=_fast, error_model="numpy")
def residual(
    body: np.ndarray, contact: np.ndarray, link: np.ndarray, impulse: np.ndarray, count: int
) -> float:
    """The largest distance [m/s] of any contact from its law."""
    worst = 0.0
    for i in range(count):
        vn, v1, v2 = contact_velocity(body, VELOCITY, contact, i, link[i, BODY_A], link[i, BODY_B])
        f = (impulse[i, 0], impulse[i, 1], impulse[i, 2])
        v = (vn + contact[i, BOUNCE], v1, v2)
        weight = max(contact[i, OWN + 3], contact[i, OWN + 5])
        worst = max(worst, natural_map(f, v, contact[i, OWN], weight, contact[i, FRICTION])[0])
    return worst
