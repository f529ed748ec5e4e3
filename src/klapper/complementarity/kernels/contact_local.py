"""The exact answer of one contact: forces from the velocities q that all other forces give it.

    v = W λ + q,   0 ≤ λ_N ⟂ v_N ≥ 0,   −v_T ∈ N_D(λ_T),   |D| = ρ = limit + μ λ_N

With the Schur complement S = W_TT − W_TN W_NT / W_NN and c = q_T − W_TN q_N / W_NN a closed contact slips
with v_T = −κ λ_T, that is λ_T(κ) = −(S + κ I)⁻¹ c, and κ > 0 solves one scalar equation ρ(κ) / ‖λ_T(κ)‖ = 1,
which is nearly linear in κ (as in Moré and Sorensen's trust-region step). κ = 0 is sticking. S enters by its
eigenvalues and the angle of its eigenvectors. All functions take and return plain numbers: (normal,
tangential 1, tangential 2).
"""

from __future__ import annotations

import math

from klapper.machine_code import njit

_ROUND_OFF = 4.0e-16
_SINGULAR = 1.0e-15
_fast = {"contract"}


@njit(cache=True, error_model="numpy")
def eigen_2x2(a: float, b: float, d: float, scale: float) -> tuple[float, float, float, float]:
    """Eigenvalues σ1 ≥ σ2 ≥ 0 and the direction (cos, sin) of the first, of [[a, b], [b, d]].

    ``scale`` is the size of the numbers that a, b, d come from; eigenvalues below its round-off are zero.
    """
    mean, half = 0.5 * (a + d), 0.5 * (a - d)
    radius = math.sqrt(half * half + b * b)
    large = mean + radius
    if large <= _SINGULAR * scale:
        return 0.0, 0.0, 1.0, 0.0
    if radius <= _SINGULAR * scale:
        return mean, mean, 1.0, 0.0
    small = (a * d - b * b) / large
    if small <= _SINGULAR * scale:
        small = 0.0
    angle = 0.5 * math.atan2(b, half)
    return large, small, math.cos(angle), math.sin(angle)


@njit(cache=True, fastmath=_fast, error_model="numpy")
def slip_multiplier(
    c1: float,
    c2: float,
    s1: float,
    s2: float,
    a1: float,
    a2: float,
    slope: float,
    radius: float,
    guess: float,
) -> float:
    """κ > 0 with ‖t‖ = radius − slope · (a·t), t_k = −c_k / (s_k + κ); the equation at κ = 0 has ‖t‖ larger.

    ``radius`` > 0 is the friction limit at t = 0; c and the coupling a = W_NT are in the eigenbasis of S;
    ``guess`` is a first κ or 0. Newton on ρ/‖t‖ − 1 in a bracket; the equation is linear if S is isotropic.
    """
    if s1 == s2 or c2 == 0.0:
        return max((math.sqrt(c1 * c1 + c2 * c2) - slope * (a1 * c1 + a2 * c2)) / radius - s1, 0.0)
    low, high = 0.0, math.inf
    kappa = guess if guess > 0.0 else math.sqrt(c1 * c1 + c2 * c2) / radius
    for _ in range(200):
        t1, t2 = -c1 / (s1 + kappa), -c2 / (s2 + kappa)
        length = math.sqrt(t1 * t1 + t2 * t2)
        if length == 0.0 or kappa <= _ROUND_OFF * s2:
            return kappa
        limit = radius - slope * (a1 * t1 + a2 * t2)
        value = limit / length - 1.0
        if value > 0.0:
            high = kappa
        else:
            low = kappa
        d1, d2 = -t1 / (s1 + kappa), -t2 / (s2 + kappa)
        derivative = (-slope * (a1 * d1 + a2 * d2) - limit * (t1 * d1 + t2 * d2) / (length * length)) / length
        step = -value / derivative if derivative != 0.0 else math.inf
        trial = kappa + step
        if not low < trial < high:
            if high == math.inf:
                trial = 8.0 * kappa
            elif low == 0.0:
                trial = 0.125 * high
            else:
                trial = math.sqrt(low) * math.sqrt(high)
        if abs(trial - kappa) <= _ROUND_OFF * kappa or high - low <= _ROUND_OFF * low:
            return trial
        kappa = trial
    return kappa


@njit(cache=True, fastmath=_fast, error_model="numpy")
def solve_disc(
    q1: float, q2: float, s1: float, s2: float, cos: float, sin: float, radius: float, guess: float
) -> tuple[float, float, float]:
    """Tangential force in a disc of given radius, −(W_TT λ_T + q_T) ∈ N_D(λ_T), and κ (0: sticking)."""
    if radius <= 0.0:
        return 0.0, 0.0, 0.0
    c1, c2 = cos * q1 + sin * q2, cos * q2 - sin * q1
    floor = _SINGULAR * (abs(q1) + abs(q2))
    kappa = 0.0
    t1, t2, sticks = _stick(c1, c2, s1, s2, floor)
    if not sticks or math.sqrt(t1 * t1 + t2 * t2) > radius:
        kappa = slip_multiplier(c1, c2, s1, s2, 0.0, 0.0, 0.0, radius, guess)
        t1, t2 = _force(c1, s1 + kappa), _force(c2, s2 + kappa)
    return cos * t1 - sin * t2, sin * t1 + cos * t2, kappa


@njit(cache=True, error_model="numpy")
def _force(c: float, mobility: float) -> float:
    """−c / mobility; zero where a force has no effect at all."""
    return -c / mobility if mobility > 0.0 else 0.0


@njit(cache=True, error_model="numpy")
def _stick(c1: float, c2: float, s1: float, s2: float, floor: float) -> tuple[float, float, bool]:
    """t = −S⁻¹ c in the eigenbasis; not possible if S is singular in a direction in which c is not zero."""
    sticks = True
    t1, t2 = 0.0, 0.0
    if s1 > 0.0:
        t1 = -c1 / s1
    elif abs(c1) > floor:
        sticks = False
    if s2 > 0.0:
        t2 = -c2 / s2
    elif abs(c2) > floor:
        sticks = False
    return t1, t2, sticks


@njit(cache=True, fastmath=_fast, error_model="numpy")
def solve_contact(
    q: tuple[float, float, float],
    coupling: tuple[float, float, float],
    schur: tuple[float, float, float, float],
    tangent: tuple[float, float, float, float],
    mu: float,
    limit: float,
    guess: float,
) -> tuple[float, float, float, float]:
    """Forces (λ_N, λ_T1, λ_T2) and κ of one contact with the exact disc.

    ``coupling`` is the first row (W_NN, W_NT) of the contact's own W; ``schur`` and ``tangent`` hold the
    eigenvalues and first eigenvector (cos, sin) of S and of W_TT; ``guess`` is κ of a similar solve or 0.
    """
    qn, q1, q2 = q
    wnn = coupling[0]
    if limit == 0.0:
        if qn >= 0.0:
            return 0.0, 0.0, 0.0, 0.0
        if mu == 0.0:
            return -qn / wnn, 0.0, 0.0, 0.0
        return _closed(q, coupling, schur, mu, 0.0, guess)
    f1, f2, kappa = solve_disc(q1, q2, tangent[0], tangent[1], tangent[2], tangent[3], limit, guess)
    if qn + coupling[1] * f1 + coupling[2] * f2 >= 0.0:
        return 0.0, f1, f2, kappa
    fn, f1, f2, kappa = _closed(q, coupling, schur, mu, limit, guess)
    if fn >= 0.0:
        return fn, f1, f2, kappa
    return _closed_by_bisection(q, coupling, tangent, mu, limit)


@njit(cache=True, fastmath=_fast, error_model="numpy")
def _closed(
    q: tuple[float, float, float],
    coupling: tuple[float, float, float],
    schur: tuple[float, float, float, float],
    mu: float,
    limit: float,
    guess: float,
) -> tuple[float, float, float, float]:
    """Sticking or slipping with v_N = 0; a negative normal force says that no such state was found."""
    qn = q[0]
    wnn, w1, w2 = coupling
    s1, s2, cos, sin = schur
    lift = qn / wnn
    b1, b2 = q[1] - w1 * lift, q[2] - w2 * lift
    floor = _SINGULAR * (abs(q[1]) + abs(q[2]) + (abs(w1) + abs(w2)) * abs(lift))
    c1, c2 = cos * b1 + sin * b2, cos * b2 - sin * b1
    a1, a2 = cos * w1 + sin * w2, cos * w2 - sin * w1
    kappa = 0.0
    t1, t2, sticks = _stick(c1, c2, s1, s2, floor)
    fn = -lift - (a1 * t1 + a2 * t2) / wnn
    radius = limit + mu * fn
    if not sticks or radius < 0.0 or math.sqrt(t1 * t1 + t2 * t2) > radius:
        radius = limit - mu * lift
        if radius <= 0.0:
            return -1.0, 0.0, 0.0, 0.0
        kappa = slip_multiplier(c1, c2, s1, s2, a1, a2, mu / wnn, radius, guess)
        t1, t2 = _force(c1, s1 + kappa), _force(c2, s2 + kappa)
        fn = -lift - (a1 * t1 + a2 * t2) / wnn
    return fn, cos * t1 - sin * t2, sin * t1 + cos * t2, kappa


@njit(cache=True, error_model="numpy")
def _closed_by_bisection(
    q: tuple[float, float, float],
    coupling: tuple[float, float, float],
    tangent: tuple[float, float, float, float],
    mu: float,
    limit: float,
) -> tuple[float, float, float, float]:
    """λ_N > 0 with v_N = 0, where λ_T follows λ_N through its disc; v_N < 0 at λ_N = 0, positive at last."""
    low, high = 0.0, (abs(q[0]) + limit * (abs(coupling[1]) + abs(coupling[2]))) / coupling[0]
    while _approach(high, q, coupling, tangent, mu, limit)[0] < 0.0:
        low, high = high, 2.0 * high
    while high - low > _ROUND_OFF * high:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if _approach(middle, q, coupling, tangent, mu, limit)[0] < 0.0:
            low = middle
        else:
            high = middle
    _, f1, f2, kappa = _approach(high, q, coupling, tangent, mu, limit)
    return high, f1, f2, kappa


@njit(cache=True, error_model="numpy")
def _approach(
    fn: float,
    q: tuple[float, float, float],
    coupling: tuple[float, float, float],
    tangent: tuple[float, float, float, float],
    mu: float,
    limit: float,
) -> tuple[float, float, float, float]:
    """Normal velocity, tangential force and κ for a given normal force."""
    wnn, w1, w2 = coupling
    s1, s2, cos, sin = tangent
    f1, f2, kappa = solve_disc(q[1] + w1 * fn, q[2] + w2 * fn, s1, s2, cos, sin, limit + mu * fn, 0.0)
    return q[0] + wnn * fn + w1 * f1 + w2 * f2, f1, f2, kappa
