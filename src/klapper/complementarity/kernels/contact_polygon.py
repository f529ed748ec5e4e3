"""The exact answer of one friction patch whose disc is replaced by a regular polygon.

    v = S t + c,   t in the polygon of radius ρ = radius − slope · (a·t),   −v in its normal cone at t

The answer is inside (sticking), on a side or at a vertex; each of them is a linear equation, so all are tried
and the one with the least violation is kept. Vertices at the angles 2πk/vertices, Waltersberger
(3.61)-(3.63).
"""

from __future__ import annotations

import math

from klapper.machine_code import njit

_fast = {"contract"}


@njit(cache=True, fastmath=_fast, error_model="numpy")
def solve_polygon(
    c1: float,
    c2: float,
    s11: float,
    s12: float,
    s22: float,
    a1: float,
    a2: float,
    slope: float,
    radius: float,
    vertices: int,
) -> tuple[float, float, float]:
    """Tangential force (t1, t2) and its violation, relative to the forces and velocities (inf: none)."""
    best1, best2, least = 0.0, 0.0, math.inf
    velocity = abs(c1) + abs(c2)
    if velocity == 0.0:
        return 0.0, 0.0, 0.0 if radius >= 0.0 else math.inf
    determinant = s11 * s22 - s12 * s12
    if determinant > 1e-15 * (s11 + s22) ** 2:
        t1, t2 = (s12 * c2 - s22 * c1) / determinant, (s12 * c1 - s11 * c2) / determinant
        rho = radius - slope * (a1 * t1 + a2 * t2)
        outside = _support(t1, t2, vertices) - rho
        violation = max(outside, 0.0) / (abs(t1) + abs(t2) + 1e-300)
        if violation < 1e-15:
            return t1, t2, violation
        best1, best2, least = t1, t2, violation
    half = math.pi / vertices
    for k in range(2 * vertices):  # even: vertices, odd: sides, both at the angle k π / vertices
        n1, n2 = math.cos(k * half), math.sin(k * half)
        if k % 2 == 0:
            t1, t2, violation = _at_vertex(n1, n2, half, c1, c2, s11, s12, s22, a1, a2, slope, radius)
        else:
            t1, t2, violation = _on_side(n1, n2, half, c1, c2, s11, s12, s22, a1, a2, slope, radius)
        if violation < least:
            best1, best2, least = t1, t2, violation
    return best1, best2, least


@njit(cache=True, fastmath=_fast, error_model="numpy")
def solve_polygon_contact(
    q: tuple[float, float, float],
    coupling: tuple[float, float, float],
    tangent: tuple[float, float, float],
    mu: float,
    limit: float,
    vertices: int,
) -> tuple[float, float, float]:
    """Forces (λ_N, λ_T1, λ_T2) of one contact for velocities q; W by (W_NN, W_NT) and (W_11, W_12, W_22)."""
    qn, q1, q2 = q
    wnn, w1, w2 = coupling
    w11, w12, w22 = tangent
    if limit > 0.0:
        t1, t2, _ = solve_polygon(q1, q2, w11, w12, w22, 0.0, 0.0, 0.0, limit, vertices)
        if qn + w1 * t1 + w2 * t2 >= 0.0:
            return 0.0, t1, t2
    elif qn >= 0.0:
        return 0.0, 0.0, 0.0
    lift = qn / wnn
    t1, t2 = 0.0, 0.0
    if mu > 0.0 or limit > 0.0:
        a, b = w1 / wnn, w2 / wnn
        t1, t2, _ = solve_polygon(
            q1 - a * qn,
            q2 - b * qn,
            w11 - a * w1,
            w12 - a * w2,
            w22 - b * w2,
            w1,
            w2,
            mu / wnn,
            limit - mu * lift,
            vertices,
        )
    return max(-lift - (w1 * t1 + w2 * t2) / wnn, 0.0), t1, t2


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _support(t1: float, t2: float, vertices: int) -> float:
    """Radius of the smallest polygon that contains t."""
    half = math.pi / vertices
    sector = math.floor(math.atan2(t2, t1) / (2.0 * half))
    angle = (2.0 * sector + 1.0) * half
    return (math.cos(angle) * t1 + math.sin(angle) * t2) / math.cos(half)


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _at_vertex(
    n1: float,
    n2: float,
    half: float,
    c1: float,
    c2: float,
    s11: float,
    s12: float,
    s22: float,
    a1: float,
    a2: float,
    slope: float,
    radius: float,
) -> tuple[float, float, float]:
    """t = ρ n; −v must not lean further than half an angle step from n."""
    factor = 1.0 + slope * (a1 * n1 + a2 * n2)
    rho = radius / factor
    if not (factor > 0.0 and rho >= 0.0):
        return 0.0, 0.0, math.inf
    t1, t2 = rho * n1, rho * n2
    v1, v2 = s11 * t1 + s12 * t2 + c1, s12 * t1 + s22 * t2 + c2
    against, across = -(v1 * n1 + v2 * n2), abs(v2 * n1 - v1 * n2)
    lean = across * math.cos(half) - against * math.sin(half)
    return t1, t2, max(lean, -against, 0.0) / (abs(c1) + abs(c2))


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _on_side(
    n1: float,
    n2: float,
    half: float,
    c1: float,
    c2: float,
    s11: float,
    s12: float,
    s22: float,
    a1: float,
    a2: float,
    slope: float,
    radius: float,
) -> tuple[float, float, float]:
    """t = ρ cos(half) n + τ d with d along the side; v·d = 0, v·n ≤ 0 and |τ| ≤ ρ sin(half)."""
    d1, d2 = -n2, n1
    apothem = math.cos(half)
    sn = s11 * n1 * d1 + s12 * (n1 * d2 + n2 * d1) + s22 * n2 * d2
    sd = s11 * d1 * d1 + 2.0 * s12 * d1 * d2 + s22 * d2 * d2
    p, q = 1.0 + slope * apothem * (a1 * n1 + a2 * n2), slope * (a1 * d1 + a2 * d2)
    c = c1 * d1 + c2 * d2
    determinant = p * sd - q * apothem * sn
    if determinant == 0.0:
        return 0.0, 0.0, math.inf
    rho = (radius * sd + q * c) / determinant
    tau = -(p * c + apothem * sn * radius) / determinant
    if not rho >= 0.0:
        return 0.0, 0.0, math.inf
    t1, t2 = rho * apothem * n1 + tau * d1, rho * apothem * n2 + tau * d2
    v1, v2 = s11 * t1 + s12 * t2 + c1, s12 * t1 + s22 * t2 + c2
    beyond = (abs(tau) - rho * math.sin(half)) / (rho + 1e-300)
    return t1, t2, max(beyond, (v1 * n1 + v2 * n2) / (abs(c1) + abs(c2)), 0.0)
