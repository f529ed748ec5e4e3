"""Small convex programs over polyhedral and disc constraints, by a barrier method.

    min ½ tᵀH t + gᵀt   subject to   a_i = G_i t + h_i ≥ 0,   u_j = r_jᵀt + ρ_j ≥ |w_j|,   w_j = P_j t + p_j

Newton's method follows the minimisers of τ f − Σ log a_i − Σ log(u_j² − |w_j|²) for growing τ; at their end f is off
by at most (number of rows + 2 discs)/τ. A box far away keeps the path finite; an answer near it has no bound. Where
minimisers of a linear function form a set without bounds, a slight pull towards t = 0 keeps them away from the box. The
start is a point inside all constraints, found in the same way as the one with the largest margin.
"""

import numpy as np

from klapper.complementarity.kernels.cone_limits import Limits
from klapper.machine_code import njit

FOUND, UNBOUNDED, THIN = 0, 1, 2
FAR = 1e6
"""Half width of the box, in the unit of the problem."""
_GROWTH = 12.0
_NEWTON, _STAGES = 60, 40
_SETTLED = 1e-8
_PULL = 1e-12
"""Curvature of linear functions, in their unit slope: a bound is off by half of it times |t|², and a minimiser of a
function with a bound lies within about 1/√(accuracy τ) instead of at the box."""


@njit(cache=True)
def slack(
    limits: Limits,
    t: np.ndarray,
) -> float:
    """The least of all a_i and u_j − |w_j|, and of the distances from the box."""
    rows, offsets, disc_rows, centre, slope, radius = limits
    least = np.inf
    for i in range(offsets.size):
        a = offsets[i]
        for k in range(t.size):
            a += rows[i, k] * t[k]
        least = min(least, a)
    for j in range(radius.size):
        u, first, second = radius[j], centre[j, 0], centre[j, 1]
        for k in range(t.size):
            u += slope[j, k] * t[k]
            first += disc_rows[j, 0, k] * t[k]
            second += disc_rows[j, 1, k] * t[k]
        least = min(least, u - np.sqrt(first**2 + second**2))
    for k in range(t.size):
        least = min(least, FAR - abs(t[k]))
    return least


@njit(cache=True)
def merit(
    tau: float,
    hessian: np.ndarray,
    gradient: np.ndarray,
    limits: Limits,
    t: np.ndarray,
    first_order: np.ndarray,
    second_order: np.ndarray,
    derivatives: bool,
) -> float:
    """τ f + barrier at a t inside all constraints, with gradient (k,) and Hessian (k, k) if they are wanted."""
    rows, offsets, disc_rows, centre, slope, radius = limits
    n = t.size
    value = 0.0
    for k in range(n):
        pull = gradient[k]
        for i in range(n):
            pull += 0.5 * hessian[k, i] * t[i]
        value += tau * pull * t[k]
        value -= np.log(FAR - t[k]) + np.log(FAR + t[k])
    if derivatives:
        for k in range(n):
            pull = gradient[k]
            for i in range(n):
                pull += hessian[k, i] * t[i]
                second_order[k, i] = tau * hessian[k, i]
            first_order[k] = tau * pull + 1.0 / (FAR - t[k]) - 1.0 / (FAR + t[k])
            second_order[k, k] += 1.0 / (FAR - t[k]) ** 2 + 1.0 / (FAR + t[k]) ** 2
    for i in range(offsets.size):
        a = offsets[i]
        for k in range(n):
            a += rows[i, k] * t[k]
        value -= np.log(a)
        if derivatives:
            for k in range(n):
                first_order[k] -= rows[i, k] / a
                for other in range(n):
                    second_order[k, other] += rows[i, k] * rows[i, other] / a**2
    turn = np.empty(n)
    for j in range(radius.size):
        u, first, second = radius[j], centre[j, 0], centre[j, 1]
        for k in range(n):
            u += slope[j, k] * t[k]
            first += disc_rows[j, 0, k] * t[k]
            second += disc_rows[j, 1, k] * t[k]
        reach = np.sqrt(first**2 + second**2)
        inside = (u - reach) * (u + reach)
        value -= np.log(inside)
        if derivatives:
            for k in range(n):
                turn[k] = 2.0 * (u * slope[j, k] - first * disc_rows[j, 0, k] - second * disc_rows[j, 1, k])
                first_order[k] -= turn[k] / inside
            for k in range(n):
                for i in range(n):
                    bent = slope[j, k] * slope[j, i]
                    bent -= disc_rows[j, 0, k] * disc_rows[j, 0, i] + disc_rows[j, 1, k] * disc_rows[j, 1, i]
                    second_order[k, i] += turn[k] * turn[i] / inside**2 - 2.0 * bent / inside
    return value


@njit(cache=True)
def solve_definite(matrix: np.ndarray, right: np.ndarray, x: np.ndarray) -> bool:
    """x = A⁻¹ b by Cholesky with the diagonal scaled to one; False if A is not positive definite."""
    n = right.size
    scale = np.empty(n)
    factor = np.zeros((n, n))
    for i in range(n):
        if not matrix[i, i] > 0.0:
            return False
        scale[i] = 1.0 / np.sqrt(matrix[i, i])
    for j in range(n):
        for i in range(j, n):
            total = matrix[i, j] * scale[i] * scale[j]
            if i == j:
                total += 1e-15
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            if i == j:
                if not total > 0.0:
                    return False
                factor[j, j] = np.sqrt(total)
            else:
                factor[i, j] = total / factor[j, j]
    for i in range(n):
        total = right[i] * scale[i]
        for k in range(i):
            total -= factor[i, k] * x[k]
        x[i] = total / factor[i, i]
    for i in range(n - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, n):
            total -= factor[k, i] * x[k]
        x[i] = total / factor[i, i]
    for i in range(n):
        x[i] *= scale[i]
    return True


@njit(cache=True)
def follow(
    hessian: np.ndarray,
    gradient: np.ndarray,
    limits: Limits,
    accuracy: float,
    t: np.ndarray,
) -> float:
    """Bring ``t`` (k,), which lies inside, to the minimum; f is then off by about ``accuracy``. Returns the last τ."""
    n = t.size
    count = limits.offsets.size + 2 * limits.radius.size
    first, second, step, other = np.empty(n), np.empty((n, n)), np.empty(n), np.empty(n)
    size = 0.0
    for k in range(n):
        pull = gradient[k]
        for i in range(n):
            pull += hessian[k, i] * t[i]
        size = max(size, abs(pull))
    tau = 1.0 / max(size, 1e-12)
    last = count / accuracy
    for _ in range(_STAGES):
        tau = min(tau, last)
        for _ in range(_NEWTON):
            value = merit(
                tau,
                hessian,
                gradient,
                limits,
                t,
                first,
                second,
                True,
            )
            if not solve_definite(second, -first, step):
                return tau
            decrement = 0.0
            for k in range(n):
                decrement -= first[k] * step[k]
            if decrement <= _SETTLED:
                break
            length = 1.0 if decrement < 0.06 else 1.0 / (1.0 + np.sqrt(decrement))
            moved = False
            longest = 1.0
            for _ in range(60):
                for k in range(n):
                    other[k] = t[k] + longest * step[k]
                if slack(limits, other) > 0.0:
                    there = merit(
                        tau,
                        hessian,
                        gradient,
                        limits,
                        other,
                        first,
                        second,
                        False,
                    )
                    if there <= value - 0.1 * longest * decrement:
                        moved = True
                        break
                longest *= 0.6
                if longest < length * 0.1:
                    break
            if not moved:  # the damped step stays inside, by self-concordance
                for k in range(n):
                    other[k] = t[k] + length * step[k]
                if not slack(limits, other) > 0.0:
                    return tau
                if decrement <= 1e-4:
                    t[:] = other
                    break
            t[:] = other
        if tau >= last:
            break
        tau *= _GROWTH
    return tau


@njit(cache=True)
def inside(
    limits: Limits,
    lengths: np.ndarray,
    accuracy: float,
    pull: float,
    t: np.ndarray,
) -> float:
    """``t`` (k,) gets a point with the largest margin s: a_i ≥ s / lengths_i, u_j − |w_j| ≥ s, s ≤ 1. Returns s.

    With a ``pull``, s − ½ pull |t|² is largest: a margin that is not the largest, at a point that is not far away.
    """
    rows, offsets, disc_rows, centre, slope, radius = limits
    m, n = rows.shape
    s = radius.size
    wide, moved = np.zeros((m + 1, n + 1)), np.zeros(m + 1)
    for i in range(m):
        wide[i, :n] = rows[i]
        wide[i, n] = -1.0 / lengths[i]
        moved[i] = offsets[i]
    wide[m, n], moved[m] = -1.0, 1.0
    wide_discs, wide_slope = np.zeros((s, 2, n + 1)), np.zeros((s, n + 1))
    for j in range(s):
        wide_discs[j, :, :n] = disc_rows[j]
        wide_slope[j, :n] = slope[j]
        wide_slope[j, n] = -1.0
    point = np.zeros(n + 1)
    point[:n] = t
    worst = 1.0
    for i in range(m):
        a = offsets[i]
        for k in range(n):
            a += rows[i, k] * t[k]
        worst = min(worst, a * lengths[i])
    for j in range(s):
        u, first, second = radius[j], centre[j, 0], centre[j, 1]
        for k in range(n):
            u += slope[j, k] * t[k]
            first += disc_rows[j, 0, k] * t[k]
            second += disc_rows[j, 1, k] * t[k]
        worst = min(worst, u - np.sqrt(first**2 + second**2))
    point[n] = worst - 1.0
    objective = np.zeros(n + 1)
    objective[n] = -1.0
    near = np.zeros((n + 1, n + 1))
    for k in range(n):
        near[k, k] = pull
    follow(
        near,
        objective,
        Limits(wide, moved, wide_discs, centre, wide_slope, radius),
        accuracy,
        point,
    )
    t[:] = point[:n]
    return float(point[n])


@njit(cache=True)
def least_linear(
    objectives: np.ndarray,
    limits: Limits,
    start: np.ndarray,
    accuracy: float,
    t: np.ndarray,
    status: np.ndarray,
) -> None:
    """``t`` (f, k) gets a minimiser of every function c (f, k) from a ``start`` (k,) inside; FOUND or UNBOUNDED."""
    n = start.size
    flat = _PULL * np.eye(n)
    for f in range(len(objectives)):
        t[f] = start
        follow(flat, objectives[f], limits, accuracy, t[f])
        status[f] = FOUND
        for k in range(n):
            if abs(t[f, k]) > 0.1 * FAR:
                status[f] = UNBOUNDED
