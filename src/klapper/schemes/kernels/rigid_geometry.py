"""Gaps and contact frames of balls against half-spaces and balls.

    ball–plane   g = n · (c − p) − r             contact point c − r n
    ball–ball    g = |c_A − c_B| − r_A − r_B     n = (c_A − c_B)/|…|, contact points c_A − r_A n and c_B + r_B n

Tangents: in the plane (n_y, −n_x); in space t₁ = e × n / |e × n|, t₂ = n × t₁, with e the axis of
the smallest |n_i| + i/10.
"""

from __future__ import annotations

import math

import numpy as np

from klapper.complementarity.kernels.contact_local import eigen_2x2
from klapper.machine_code import njit
from klapper.schemes.kernels.rigid_tables import (
    ARM_A,
    ARM_B,
    BALL,
    INVERSE_INERTIA,
    INVERSE_MASS,
    KIND,
    NORMAL,
    OTHER,
    OWN,
    PLACE,
    PLAIN,
    ROTATION,
    SCHUR,
    TANGENT_1,
    TANGENT_2,
    TURNS,
    WITH_PLANE,
)

_fast = {"contract"}
_COUPLED = 1e-15  # part of the mobility below which a coupling is rounding


@njit(cache=True, fastmath=_fast, error_model="numpy")
def set_centres(body: np.ndarray, ball: np.ndarray, ball_body: np.ndarray, centre: np.ndarray) -> None:
    """Centres c = x + R o of all balls in the world."""
    for s in range(ball.shape[0]):
        b = ball_body[s]
        for a in range(3):
            centre[s, a] = body[b, PLACE + a]
        if body[b, TURNS] != 0.0:
            for a in range(3):
                r = ROTATION + 3 * a
                centre[s, a] += (
                    body[b, r] * ball[s, 0] + body[b, r + 1] * ball[s, 1] + body[b, r + 2] * ball[s, 2]
                )


@njit(cache=True, fastmath=_fast, error_model="numpy")
def gap_to_plane(centre: np.ndarray, s: int, radius: float, plane: np.ndarray, p: int) -> float:
    return (
        (centre[s, 0] - plane[p, 0]) * plane[p, 3]
        + (centre[s, 1] - plane[p, 1]) * plane[p, 4]
        + (centre[s, 2] - plane[p, 2]) * plane[p, 5]
    ) - radius


@njit(cache=True, fastmath=_fast, error_model="numpy")
def gap_to_ball(centre: np.ndarray, s: int, other: int, reach: float) -> float:
    x, y, z = (
        centre[s, 0] - centre[other, 0],
        centre[s, 1] - centre[other, 1],
        centre[s, 2] - centre[other, 2],
    )
    return math.sqrt(x * x + y * y + z * z) - reach


@njit(cache=True, inline="always", fastmath=_fast, error_model="numpy")
def gap_of(pair: np.ndarray, k: int, centre: np.ndarray, ball: np.ndarray, plane: np.ndarray) -> float:
    """Gap of the k-th pair of a list."""
    s, other = pair[k, BALL], pair[k, OTHER]
    if pair[k, KIND] == WITH_PLANE:
        gap = gap_to_plane(centre, s, ball[s, 3], plane, other)
    else:
        gap = gap_to_ball(centre, s, other, ball[s, 3] + ball[other, 3])
    return gap


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _first_tangent(x: float, y: float, z: float) -> tuple[float, float, float]:
    """e × n / |e × n| with e the axis of the smallest |n_i| + i/10, i = 0, 1, 2."""
    ax, ay, az = abs(x), abs(y) + 0.1, abs(z) + 0.2
    if ax <= ay and ax <= az:
        length = 1.0 / math.sqrt(y * y + z * z)
        return 0.0, -z * length, y * length
    if ay <= az:
        length = 1.0 / math.sqrt(x * x + z * z)
        return z * length, 0.0, -x * length
    length = 1.0 / math.sqrt(x * x + y * y)
    return -y * length, x * length, 0.0


@njit(cache=True, inline="always", fastmath=_fast, error_model="numpy")
def set_frame(
    dimension: int,
    pair: np.ndarray,
    k: int,
    centre: np.ndarray,
    ball: np.ndarray,
    plane: np.ndarray,
    contact: np.ndarray,
    i: int,
) -> None:
    """Normal and tangents of contact i, which is the k-th pair of the list."""
    s, other = pair[k, BALL], pair[k, OTHER]
    if pair[k, KIND] == WITH_PLANE:
        x, y, z = plane[other, 3], plane[other, 4], plane[other, 5]
    else:
        x, y, z = (
            centre[s, 0] - centre[other, 0],
            centre[s, 1] - centre[other, 1],
            centre[s, 2] - centre[other, 2],
        )
        length = math.sqrt(x * x + y * y + z * z)
        if length > 0.0:
            x, y, z = x / length, y / length, z / length
        else:
            x, y, z = 1.0, 0.0, 0.0
    contact[i, NORMAL], contact[i, NORMAL + 1], contact[i, NORMAL + 2] = x, y, z
    p, q, r = (y, -x, 0.0) if dimension == 2 else _first_tangent(x, y, z)
    t = TANGENT_1
    contact[i, t], contact[i, t + 1], contact[i, t + 2] = p, q, r
    t = TANGENT_2
    space = 1.0 if dimension == 3 else 0.0
    contact[i, t], contact[i, t + 1] = space * (y * r - z * q), space * (z * p - x * r)
    contact[i, t + 2] = space * (x * q - y * p)


@njit(cache=True, inline="always", fastmath=_fast, error_model="numpy")
def set_arms(
    pair: np.ndarray,
    k: int,
    centre: np.ndarray,
    ball: np.ndarray,
    body: np.ndarray,
    a: int,
    b: int,
    contact: np.ndarray,
    i: int,
) -> None:
    """Arms from the centres of the bodies a and b to the contact points."""
    s, other = pair[k, BALL], pair[k, OTHER]
    with_plane = pair[k, KIND] == WITH_PLANE
    radius, other_radius = ball[s, 3], 0.0 if with_plane else ball[other, 3]
    for c in range(3):
        normal = contact[i, NORMAL + c]
        contact[i, ARM_A + c] = centre[s, c] - body[a, PLACE + c] - radius * normal
        to_other = 0.0 if with_plane else centre[other, c] - body[b, PLACE + c]
        contact[i, ARM_B + c] = to_other + other_radius * normal


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _moment(contact: np.ndarray, i: int, arm: int, direction: int) -> tuple[float, float, float]:
    """arm × direction."""
    r1, r2, r3 = contact[i, arm], contact[i, arm + 1], contact[i, arm + 2]
    n1, n2, n3 = contact[i, direction], contact[i, direction + 1], contact[i, direction + 2]
    return r2 * n3 - r3 * n2, r3 * n1 - r1 * n3, r1 * n2 - r2 * n1


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _turn(body: np.ndarray, b: int, m: tuple[float, float, float]) -> tuple[float, float, float]:
    """I⁻¹ m in world axes."""
    out = INVERSE_INERTIA
    xx, yy, zz = body[b, out], body[b, out + 1], body[b, out + 2]
    xy, xz, yz = body[b, out + 3], body[b, out + 4], body[b, out + 5]
    return (
        xx * m[0] + xy * m[1] + xz * m[2],
        xy * m[0] + yy * m[1] + yz * m[2],
        xz * m[0] + yz * m[1] + zz * m[2],
    )


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _dot(a: tuple[float, float, float], b: tuple[float, float, float]) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True, inline="always", fastmath=_fast, error_model="numpy")
def set_own(dimension: int, body: np.ndarray, a: int, b: int, contact: np.ndarray, i: int) -> None:
    """The contact's own W = Jᵀ M⁻¹ J from its two bodies, and the spectrum of its Schur complement."""
    light = body[a, INVERSE_MASS] + body[b, INVERSE_MASS]
    nn, n1, n2, w11, w12, w22 = light, 0.0, 0.0, light, 0.0, light if dimension == 3 else 0.0
    for side in range(2):
        row, arm = (a, ARM_A) if side == 0 else (b, ARM_B)
        if body[row, INVERSE_MASS] == 0.0:
            continue
        m0, m1 = _moment(contact, i, arm, NORMAL), _moment(contact, i, arm, TANGENT_1)
        a0, a1 = _turn(body, row, m0), _turn(body, row, m1)
        nn += _dot(m0, a0)
        n1 += _dot(m1, a0)
        w11 += _dot(m1, a1)
        if dimension == 3:
            m2 = _moment(contact, i, arm, TANGENT_2)
            n2 += _dot(m2, a0)
            w12 += _dot(m2, a1)
            w22 += _dot(m2, _turn(body, row, m2))
    out = OWN
    contact[i, out], contact[i, out + 1], contact[i, out + 2] = nn, n1, n2
    contact[i, out + 3], contact[i, out + 4], contact[i, out + 5] = w11, w12, w22
    size = _COUPLED * (nn + w11 + w22)
    plain = abs(n1) + abs(n2) <= size and (dimension == 2 or abs(w12) + abs(w11 - w22) <= size)
    contact[i, PLAIN] = 1.0 if plain else 0.0
    if plain:
        contact[i, SCHUR], contact[i, SCHUR + 1] = 1.0 / nn, 1.0 / w11
    else:
        p, q = n1 / nn, n2 / nn
        s1, s2, cos, sin = eigen_2x2(w11 - p * n1, w12 - p * n2, w22 - q * n2, w11 + w22)
        contact[i, SCHUR], contact[i, SCHUR + 1] = s1, s2
        contact[i, SCHUR + 2], contact[i, SCHUR + 3] = cos, sin
