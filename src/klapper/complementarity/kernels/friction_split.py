"""How a friction force splits between contacts that share one direction: case tables for two, water filling for n.

Both minimise z = k S² + 2 w S + c of the sum S = Σ T_i within the friction limits, and among the minimisers choose
the one with the smallest Σ (T_i − start_i)² / weight_i. Seiwald 5.4, Tables C.1-C.4, (C.19)-(C.22).
"""

from __future__ import annotations

import numpy as np

from klapper.machine_code import njit

LABELS = (
    *(f"{normal}{state}" for normal in "123" for state in "abcd"),
    *("4a", "4b", "4c", "4d-i", "4d-ii"),
)
"""Names of the 17 cases by their number: normal forces 1 none, 2 only B, 3 only A, 4 both; a both slide, b A sticks,
c B sticks, d both stick; i: the optimum can be reached, ii: it cannot."""


@njit(cache=True)
def _clip(x: float, limit: float) -> float:
    return min(max(x, -limit), limit)


@njit(cache=True)
def _sign(x: float) -> float:
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)


@njit(cache=True)
def case_minimum(
    k: float,
    w: float,
    normal_a: float,
    normal_b: float,
    limit_a: float,
    limit_b: float,
    slip_a: float,
    slip_b: float,
) -> tuple[float, float, int]:
    """μ_A, μ_B of the constrained minimum and the number of its case in ``LABELS``.

    ``normal_…`` ≥ 0 [N], ``limit_…`` the coefficients μ₀, ``slip_…`` sliding velocities [m/s], zero where a contact
    sticks.
    """
    sticks_a, sticks_b = slip_a == 0.0, slip_b == 0.0
    state = 3 if sticks_a and sticks_b else (1 if sticks_a else (2 if sticks_b else 0))
    mu_a = 0.0 if sticks_a else -_sign(slip_a) * limit_a
    mu_b = 0.0 if sticks_b else -_sign(slip_b) * limit_b
    if normal_a <= 0.0 and normal_b <= 0.0:
        return mu_a, mu_b, state
    if normal_a <= 0.0:
        return mu_a, _clip(-w / (k * normal_b), limit_b) if sticks_b else mu_b, 4 + state
    if normal_b <= 0.0:
        return _clip(-w / (k * normal_a), limit_a) if sticks_a else mu_a, mu_b, 8 + state
    if state == 1:  # (C.19)
        mu_a = _clip(-(normal_b * mu_b + w / k) / normal_a, limit_a)
    elif state == 2:
        mu_b = _clip(-(normal_a * mu_a + w / k) / normal_b, limit_b)
    elif state == 3:
        return _both_stick(k, w, normal_a, normal_b, limit_a, limit_b)
    return mu_a, mu_b, 12 + state


@njit(cache=True)
def _both_stick(
    k: float, w: float, normal_a: float, normal_b: float, limit_a: float, limit_b: float
) -> tuple[float, float, int]:
    """Case 4d: the optimum is the line η_1 + η_2 = −w/k in the plane of η_i = μ_i λ_Ni."""
    at_top = -(normal_b * limit_b + w / k) / normal_a  # (C.21), μ_A where the line meets μ_B = +μ_B0
    at_left = (normal_a * limit_a - w / k) / normal_b  # (C.22), μ_B where it meets μ_A = −μ_A0
    if not (-limit_a <= at_top <= limit_a or -limit_b <= at_left <= limit_b):
        return -_sign(w) * limit_a, -_sign(w) * limit_b, 16
    half = -w / (2.0 * k)  # (C.20)
    if abs(half) > limit_a * normal_a:
        mu_a = _sign(half) * limit_a
        return mu_a, -(mu_a * normal_a + w / k) / normal_b, 15
    if abs(half) > limit_b * normal_b:
        mu_b = _sign(half) * limit_b
        return -(mu_b * normal_b + w / k) / normal_a, mu_b, 15
    return half / normal_a, half / normal_b, 15


@njit(cache=True)
def case_minima(
    k: np.ndarray, w: np.ndarray, normal: np.ndarray, limit: np.ndarray, slip: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """μ (n, 2) and case numbers (n,) of many problems; the arrays (n,) and (n, 2) are those of ``case_minimum``."""
    mu, case = np.empty((k.size, 2)), np.empty(k.size, np.int64)
    for i in range(k.size):
        mu[i, 0], mu[i, 1], case[i] = case_minimum(
            k[i], w[i], normal[i, 0], normal[i, 1], limit[i, 0], limit[i, 1], slip[i, 0], slip[i, 1]
        )
    return mu, case


@njit(cache=True)
def water_fill(
    total: float, lower: np.ndarray, upper: np.ndarray, start: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """T_i = clip(start_i + s weight_i, lower_i, upper_i) with the level s for which Σ T_i = total, all (n,).

    A total beyond the bounds gives the nearest bounds. Σ T_i rises with s piece by piece: the piece is found by
    halving the list of its ends, and solved exactly.
    """
    n = lower.size
    least, most = 0.0, 0.0
    for i in range(n):
        least += lower[i]
        most += upper[i]
    force = np.empty(n)
    if total <= least or total >= most:
        for i in range(n):
            force[i] = lower[i] if total <= least else upper[i]
        return force
    ends = np.empty(2 * n)
    for i in range(n):
        ends[2 * i] = (lower[i] - start[i]) / weight[i]
        ends[2 * i + 1] = (upper[i] - start[i]) / weight[i]
    _sort(ends)
    low, high = 0, 2 * n - 1
    while high - low > 1:
        middle = (low + high) // 2
        if _filled(ends[middle], lower, upper, start, weight) <= total:
            low = middle
        else:
            high = middle
    inside = 0.5 * (ends[low] + ends[high])
    rest, free = total, 0.0
    for i in range(n):
        level = start[i] + inside * weight[i]
        if level <= lower[i]:
            force[i] = lower[i]
        elif level >= upper[i]:
            force[i] = upper[i]
        else:
            force[i] = np.nan
            rest -= start[i]
            free += weight[i]
            continue
        rest -= force[i]
    for i in range(n):
        if np.isnan(force[i]):
            force[i] = min(max(start[i] + rest / free * weight[i], lower[i]), upper[i])
    return force


@njit(cache=True)
def _sort(values: np.ndarray) -> None:
    """By insertion: there are few."""
    for i in range(1, values.size):
        value, k = values[i], i
        while k > 0 and values[k - 1] > value:
            values[k] = values[k - 1]
            k -= 1
        values[k] = value


@njit(cache=True)
def _filled(
    level: float, lower: np.ndarray, upper: np.ndarray, start: np.ndarray, weight: np.ndarray
) -> float:
    total = 0.0
    for i in range(lower.size):
        total += min(max(start[i] + level * weight[i], lower[i]), upper[i])
    return total
