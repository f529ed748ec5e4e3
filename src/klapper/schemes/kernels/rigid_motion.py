"""Motion of rigid bodies over a step: positions, rotations, velocities without contacts and with them.

    advance    x + u,   q ⊗ exp(½ u_ω)                   u_ω: rotation vector in the body's axes
    free       f = m g,  −ω × I ω at the middle: Δ₁ = h I⁻¹ f(ω),  f̂ = f(ω + θ Δ₁)
    after      v⁺ = v + h M⁻¹ f̂ + M⁻¹ J λ

Where only the rounding of the terms is left of v⁺ it is set to zero: what sticks does not creep. Impulses count with
their largest component, since their rounding goes into all directions.
"""

from __future__ import annotations

import math

import numpy as np

from klapper.machine_code import njit
from klapper.schemes.kernels.rigid_tables import (
    APPLIED,
    APPLIED_SPIN,
    ARM_A,
    ARM_B,
    BEFORE,
    BODY_A,
    BODY_B,
    CHANGE,
    CHANGE_TERMS,
    INVERSE_INERTIA,
    INVERSE_MASS,
    INVERSE_MOMENT,
    MOMENT,
    NORMAL,
    PLACE,
    ROTATION,
    SPIN,
    TURNS,
    VELOCITY,
)

_fast = {"contract"}
_ROUND_OFF = 8.0 * 2.220446049250313e-16


@njit(cache=True, fastmath=_fast, error_model="numpy")
def turned(
    w: float, i: float, j: float, k: float, a: float, b: float, c: float
) -> tuple[float, float, float, float]:
    """The unit quaternion (w, i, j, k) after a rotation by the vector (a, b, c) in the body's axes."""
    square = a * a + b * b + c * c
    if square == 0.0:
        return w, i, j, k
    angle = math.sqrt(square)
    s, e = math.sin(0.5 * angle) / angle, math.cos(0.5 * angle)
    a, b, c = s * a, s * b, s * c
    nw = w * e - i * a - j * b - k * c
    ni = w * a + i * e + j * c - k * b
    nj = w * b - i * c + j * e + k * a
    nk = w * c + i * b - j * a + k * e
    length = 1.0 / math.sqrt(nw * nw + ni * ni + nj * nj + nk * nk)
    return nw * length, ni * length, nj * length, nk * length


@njit(cache=True, fastmath=_fast, error_model="numpy")
def set_rotation(body: np.ndarray, b: int, w: float, i: float, j: float, k: float) -> None:
    """Rotation matrix of a unit quaternion."""
    r = ROTATION
    body[b, r], body[b, r + 1], body[b, r + 2] = (
        1.0 - 2.0 * (j * j + k * k),
        2.0 * (i * j - w * k),
        2.0 * (i * k + w * j),
    )
    body[b, r + 3], body[b, r + 4], body[b, r + 5] = (
        2.0 * (i * j + w * k),
        1.0 - 2.0 * (i * i + k * k),
        2.0 * (j * k - w * i),
    )
    body[b, r + 6], body[b, r + 7], body[b, r + 8] = (
        2.0 * (i * k - w * j),
        2.0 * (j * k + w * i),
        1.0 - 2.0 * (i * i + j * j),
    )


@njit(cache=True, fastmath=_fast, error_model="numpy")
def set_place(dimension: int, body: np.ndarray, q: np.ndarray, v: np.ndarray, duration: float) -> None:
    """Places and rotations of all bodies at ``advance(q, duration · v)``."""
    for b in range(body.shape[0] - 1):
        if dimension == 2:
            body[b, PLACE] = q[3 * b] + duration * v[3 * b]
            body[b, PLACE + 1] = q[3 * b + 1] + duration * v[3 * b + 1]
            if body[b, TURNS] != 0.0:
                angle = q[3 * b + 2] + duration * v[3 * b + 2]
                cos, sin = math.cos(angle), math.sin(angle)
                body[b, ROTATION], body[b, ROTATION + 1] = cos, -sin
                body[b, ROTATION + 3], body[b, ROTATION + 4] = sin, cos
        else:
            p, u = 7 * b, 6 * b
            for a in range(3):
                body[b, PLACE + a] = q[p + a] + duration * v[u + a]
            w, i, j, k = turned(
                q[p + 3],
                q[p + 4],
                q[p + 5],
                q[p + 6],
                duration * v[u + 3],
                duration * v[u + 4],
                duration * v[u + 5],
            )
            set_rotation(body, b, w, i, j, k)


@njit(cache=True, fastmath=_fast, error_model="numpy")
def advance(
    dimension: int,
    q: np.ndarray,
    v: np.ndarray,
    v_after: np.ndarray,
    step: float,
    theta: float,
    q_after: np.ndarray,
) -> None:
    """q⁺ = advance(q, h ((1 − θ) v + θ v⁺)), Waltersberger (4.15)."""
    old, new = (1.0 - theta) * step, theta * step
    if dimension == 2:
        for a in range(q.size):
            q_after[a] = q[a] + (old * v[a] + new * v_after[a])
        return
    for b in range(q.size // 7):
        p, u = 7 * b, 6 * b
        for a in range(3):
            q_after[p + a] = q[p + a] + (old * v[u + a] + new * v_after[u + a])
        q_after[p + 3], q_after[p + 4], q_after[p + 5], q_after[p + 6] = turned(
            q[p + 3],
            q[p + 4],
            q[p + 5],
            q[p + 6],
            old * v[u + 3] + new * v_after[u + 3],
            old * v[u + 4] + new * v_after[u + 4],
            old * v[u + 5] + new * v_after[u + 5],
        )


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _gyroscopic(body: np.ndarray, b: int, a: float, c: float, e: float) -> tuple[float, float, float]:
    """−I⁻¹ (ω × I ω) for ω = (a, c, e)."""
    i1, i2, i3 = body[b, MOMENT], body[b, MOMENT + 1], body[b, MOMENT + 2]
    return (
        (i2 - i3) * c * e * body[b, INVERSE_MOMENT],
        (i3 - i1) * e * a * body[b, INVERSE_MOMENT + 1],
        (i1 - i2) * a * c * body[b, INVERSE_MOMENT + 2],
    )


@njit(cache=True, fastmath=_fast, error_model="numpy")
def set_free(
    dimension: int, gravity: np.ndarray, body: np.ndarray, v: np.ndarray, step: float, theta: float
) -> None:
    """Velocities at the start and what the applied forces add to them, in world axes at the place of the step."""
    for b in range(body.shape[0] - 1):
        for a in range(3):
            body[b, APPLIED + a] = step * gravity[a]
        if dimension == 2:
            body[b, BEFORE], body[b, BEFORE + 1], body[b, BEFORE + 5] = v[3 * b], v[3 * b + 1], v[3 * b + 2]
            body[b, INVERSE_INERTIA + 2] = body[b, INVERSE_MOMENT + 2]
            continue
        u = 6 * b
        w1, w2, w3 = v[u + 3], v[u + 4], v[u + 5]
        d1, d2, d3 = _gyroscopic(body, b, w1, w2, w3)
        half = theta * step
        d1, d2, d3 = _gyroscopic(body, b, w1 + half * d1, w2 + half * d2, w3 + half * d3)
        d1, d2, d3 = step * d1, step * d2, step * d3
        body[b, APPLIED_SPIN], body[b, APPLIED_SPIN + 1], body[b, APPLIED_SPIN + 2] = d1, d2, d3
        for a in range(3):
            r = ROTATION + 3 * a
            body[b, BEFORE + a] = v[u + a]
            body[b, BEFORE + 3 + a] = body[b, r] * w1 + body[b, r + 1] * w2 + body[b, r + 2] * w3
            body[b, APPLIED + 3 + a] = body[b, r] * d1 + body[b, r + 1] * d2 + body[b, r + 2] * d3
        _set_inverse_inertia(body, b)


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _set_inverse_inertia(body: np.ndarray, b: int) -> None:
    """R diag(1/I) Rᵀ."""
    i1, i2, i3 = body[b, INVERSE_MOMENT], body[b, INVERSE_MOMENT + 1], body[b, INVERSE_MOMENT + 2]
    out = INVERSE_INERTIA
    if i1 == i2 and i2 == i3:
        body[b, out], body[b, out + 1], body[b, out + 2] = i1, i1, i1
        body[b, out + 3], body[b, out + 4], body[b, out + 5] = 0.0, 0.0, 0.0
        return
    r = ROTATION
    for entry in range(6):
        p = r + 3 * (entry if entry < 3 else (0 if entry < 5 else 1))
        s = r + 3 * (entry if entry < 3 else (1 if entry == 3 else 2))
        body[b, out + entry] = (
            body[b, p] * i1 * body[b, s]
            + body[b, p + 1] * i2 * body[b, s + 1]
            + body[b, p + 2] * i3 * body[b, s + 2]
        )


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _add_change(
    body: np.ndarray, b: int, contact: np.ndarray, i: int, direction: int, arm: int, amount: float
) -> None:
    """Add M⁻¹ J λ of one direction of one contact to a body's change of velocity."""
    mass = amount * body[b, INVERSE_MASS]
    n1, n2, n3 = contact[i, direction], contact[i, direction + 1], contact[i, direction + 2]
    r1, r2, r3 = contact[i, arm], contact[i, arm + 1], contact[i, arm + 2]
    m1, m2, m3 = r2 * n3 - r3 * n2, r3 * n1 - r1 * n3, r1 * n2 - r2 * n1
    for a in range(3):
        part = mass * contact[i, direction + a]
        body[b, CHANGE + a] += part
        body[b, CHANGE_TERMS + a] += abs(part)
        r = ROTATION + a
        part = body[b, r] * m1 + body[b, r + 3] * m2 + body[b, r + 6] * m3
        part *= amount * body[b, INVERSE_MOMENT + a]
        body[b, CHANGE + 3 + a] += part
        body[b, CHANGE_TERMS + 3 + a] += abs(part)


@njit(cache=True, fastmath=_fast, error_model="numpy")
def set_change(
    body: np.ndarray, contact: np.ndarray, link: np.ndarray, impulse: np.ndarray, count: int
) -> None:
    """M⁻¹ J λ of all bodies, in the axes of their velocities, and the magnitudes of its terms."""
    ground = body.shape[0] - 1
    for b in range(ground):
        for a in range(12):
            body[b, CHANGE + a] = 0.0
    for i in range(count):
        for row in range(3):
            amount = impulse[i, row]
            if amount != 0.0:
                if link[i, BODY_A] != ground:
                    _add_change(body, link[i, BODY_A], contact, i, NORMAL + 3 * row, ARM_A, amount)
                if link[i, BODY_B] != ground:
                    _add_change(body, link[i, BODY_B], contact, i, NORMAL + 3 * row, ARM_B, -amount)


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _flushed(before: float, applied: float, change: float, terms: float) -> float:
    after = before + applied + change
    return 0.0 if abs(after) <= _ROUND_OFF * (abs(before) + abs(applied) + terms) else after


@njit(cache=True)
def _largest(body: np.ndarray, b: int, column: int) -> float:
    return max(body[b, column], body[b, column + 1], body[b, column + 2])


@njit(cache=True, fastmath=_fast, error_model="numpy")
def set_after(dimension: int, body: np.ndarray, v: np.ndarray, v_after: np.ndarray) -> None:
    """v⁺ = v + h M⁻¹ f̂ + M⁻¹ J λ, also in world axes into the columns VELOCITY and SPIN."""
    for b in range(body.shape[0] - 1):
        shoved, twisted = _largest(body, b, CHANGE_TERMS), _largest(body, b, CHANGE_TERMS + 3)
        if dimension == 2:
            u = 3 * b
            for a in range(2):
                v_after[u + a] = _flushed(v[u + a], body[b, APPLIED + a], body[b, CHANGE + a], shoved)
                body[b, VELOCITY + a] = v_after[u + a]
            v_after[u + 2] = _flushed(v[u + 2], 0.0, body[b, CHANGE + 5], twisted)
            body[b, SPIN + 2] = v_after[u + 2]
            continue
        u = 6 * b
        for a in range(3):
            v_after[u + a] = _flushed(v[u + a], body[b, APPLIED + a], body[b, CHANGE + a], shoved)
            body[b, VELOCITY + a] = v_after[u + a]
            v_after[u + 3 + a] = _flushed(
                v[u + 3 + a], body[b, APPLIED_SPIN + a], body[b, CHANGE + 3 + a], twisted
            )
        for a in range(3):
            r = ROTATION + 3 * a
            body[b, SPIN + a] = (
                body[b, r] * v_after[u + 3]
                + body[b, r + 1] * v_after[u + 4]
                + body[b, r + 2] * v_after[u + 5]
            )
