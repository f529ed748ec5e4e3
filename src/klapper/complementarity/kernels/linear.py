"""Small dense linear algebra and residuals for linear complementarity problems.

0 ≤ x ⟂ A x + b ≥ 0. Everything works on preallocated arrays so that batches do not allocate per problem.
"""

import numpy as np

from klapper.complementarity.kernels.scaling import EPS, equilibrate, scaled_problem, surroundings
from klapper.complementarity.residuals import AMPLIFICATION
from klapper.machine_code import njit

ROUND_OFF = 8.0 * EPS  # per unknown: what the solution of n equations leaves of terms of size one


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def factorise(a: np.ndarray, order: np.ndarray) -> bool:
    """LU factorisation in place with partial pivoting; False if a pivot is zero to round-off."""
    n = a.shape[0]
    largest = 0.0
    for i in range(n):
        order[i] = i
        for j in range(n):
            largest = max(largest, abs(a[i, j]))
    floor = n * EPS * largest
    pivot_row = np.empty(n)  # a buffer, so that the compiler knows that rows do not overlap
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if not abs(a[p, k]) > floor:
            return False
        if p != k:
            for j in range(n):
                a[k, j], a[p, j] = a[p, j], a[k, j]
            order[k], order[p] = order[p], order[k]
        for j in range(k, n):
            pivot_row[j] = a[k, j]
        inverse = 1.0 / pivot_row[k]
        for i in range(k + 1, n):
            row = a[i]
            factor = row[k] * inverse
            if factor != 0.0:
                for j in range(k + 1, n):
                    row[j] -= factor * pivot_row[j]
            row[k] = factor
    return True


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def substitute(lu: np.ndarray, order: np.ndarray, rhs: np.ndarray, out: np.ndarray) -> None:
    """Solve with the factors of :func:`factorise`."""
    n = lu.shape[0]
    for i in range(n):
        value = rhs[order[i]]
        for j in range(i):
            value -= lu[i, j] * out[j]
        out[i] = value
    for i in range(n - 1, -1, -1):
        value = out[i]
        for j in range(i + 1, n):
            value -= lu[i, j] * out[j]
        out[i] = value / lu[i, i]


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def images(matrix: np.ndarray, offset: np.ndarray, x: np.ndarray, y: np.ndarray, scale: np.ndarray) -> bool:
    """y = A x + b and the scale |b| + |A||x| of its rows; whether no row is amplified far above the smallest load."""
    n = offset.size
    largest, least = 0.0, np.inf
    for i in range(n):
        row = matrix[i]
        value = 0.0
        total = 0.0
        for j in range(n):
            term = row[j] * x[j]
            value += term
            total += abs(term)
        load = abs(offset[i])
        if load > 0.0:
            least = min(least, load)
        y[i] = value + offset[i]
        scale[i] = total + load
        largest = max(largest, scale[i])
    return least == np.inf or largest <= AMPLIFICATION * least


@njit(cache=True)
def natural_residual(matrix: np.ndarray, offset: np.ndarray, x: np.ndarray, enough: float) -> float:
    """The natural residual of ``problem.linear_residuals``; an upper bound of it where that is below ``enough``."""
    n = offset.size
    y = np.empty(n)
    scale = np.empty(n)
    if not images(matrix, offset, x, y, scale):
        limit_to_load(matrix, offset, scale)
    bound = 0.0
    for i in range(n):
        if not np.isfinite(x[i]) or x[i] < 0.0 or np.isnan(y[i]):
            return np.inf
        value = y[i] / scale[i] if scale[i] > 0.0 else 0.0
        bound = max(bound, abs(value) if x[i] > 0.0 else -value)
    if bound <= enough:
        return bound
    return pair_residuals(matrix, offset, x, np.zeros(n, np.bool_))[1]


@njit(cache=True)
def pair_residuals(
    matrix: np.ndarray, offset: np.ndarray, x: np.ndarray, free: np.ndarray
) -> tuple[float, float, float]:
    """(complementarity, natural map, feasibility) of ``problem.linear_residuals`` for a dense matrix."""
    n = offset.size
    y = np.empty(n)
    scale = np.empty(n)
    reach = np.zeros(n)
    if not images(matrix, offset, x, y, scale):
        limit_to_load(matrix, offset, scale)
    for j in range(n):
        if not np.isfinite(x[j]) or np.isnan(y[j]):
            return np.nan, np.nan, np.nan
        if free[j] or x[j] == 0.0:
            continue
        for i in range(n):
            if scale[i] > 0.0:
                reach[j] = max(reach[j], abs(matrix[i, j]) / scale[i])
        reach[j] = x[j] * reach[j] if reach[j] > 0.0 else np.sign(x[j])
    answer = np.where(scale > 0.0, y / np.where(scale > 0.0, scale, 1.0), 0.0)
    found = worst_pairs(reach, answer, free)
    if found[1] <= ROUND_OFF * n:
        return found
    around_unknown = np.empty(n)
    around_row = np.empty(n)
    surroundings(matrix, offset, scale, around_unknown, around_row)
    forgive_round_off(x, around_unknown, reach)
    forgive_round_off(y, around_row, answer)
    return worst_pairs(reach, answer, free)


@njit(cache=True)
def forgive_round_off(value: np.ndarray, around: np.ndarray, relative: np.ndarray) -> None:
    """Measure values (n,) that are round-off of the terms around them against these terms, unless they overflow."""
    for i in range(value.size):
        if around[i] < np.inf and abs(value[i]) <= ROUND_OFF * value.size * around[i]:
            relative[i] = value[i] / around[i] if around[i] > 0.0 else 0.0


@njit(cache=True)
def worst_pairs(reach: np.ndarray, answer: np.ndarray, free: np.ndarray) -> tuple[float, float, float]:
    """(complementarity, natural map, feasibility) of dimensionless pairs."""
    product, natural, violated = 0.0, 0.0, 0.0
    for j in range(reach.size):
        if free[j]:
            natural = max(natural, abs(answer[j]))
            violated = max(violated, abs(answer[j]))
            continue
        product = max(product, min(abs(reach[j]), 1.0) * min(abs(answer[j]), 1.0))
        natural = max(natural, abs(min(reach[j], answer[j])))
        violated = max(violated, -min(reach[j], answer[j]))
    return product, natural, violated


@njit(cache=True)
def limit_to_load(matrix: np.ndarray, offset: np.ndarray, scale: np.ndarray) -> None:
    """Let the row scales count at most as AMPLIFICATION times the load in balanced units."""
    n = offset.size
    row = np.empty(n)
    column = np.empty(n)
    beta = equilibrate(matrix, offset, row, column)
    load = 0.0
    for i in range(n):
        load = max(load, abs(offset[i] * beta * row[i]))
    for i in range(n):
        scale[i] = min(scale[i], AMPLIFICATION * load / row[i] / beta)


@njit(cache=True)
def active_point(matrix: np.ndarray, offset: np.ndarray, active: np.ndarray, x: np.ndarray) -> bool:
    """x with (A x + b)_i = 0 for active i and x_i = 0 else, negative round-off clipped; False if singular."""
    index = np.flatnonzero(active)
    count = index.size
    x[:] = 0.0
    lu = np.empty((count, count))
    rhs = np.empty(count)
    solution = np.empty(count)
    order = np.empty(count, np.int64)
    for r in range(count):
        rhs[r] = -offset[index[r]]
        for c in range(count):
            lu[r, c] = matrix[index[r], index[c]]
    if not factorise(lu, order):
        return False
    substitute(lu, order, rhs, solution)
    for r in range(count):
        x[index[r]] = max(solution[r], 0.0)
    return True


@njit(cache=True)
def active_point_with_care(matrix: np.ndarray, offset: np.ndarray, active: np.ndarray, x: np.ndarray) -> bool:
    """The same with scaling, one step of refinement, and unknowns that are zero to round-off set to exactly zero.

    For badly scaled and degenerate bases, where an x of 1e-17 in place of 0 would spoil a row that has nothing else.
    """
    index = np.flatnonzero(active)
    count = index.size
    x[:] = 0.0
    block = np.empty((count, count))
    for r in range(count):
        for c in range(count):
            block[r, c] = matrix[index[r], index[c]]
    row = np.empty(count)
    column = np.empty(count)
    rhs = np.empty(count)
    for r in range(count):
        rhs[r] = -offset[index[r]]
    beta = equilibrate(block, rhs, row, column)
    block, rhs = scaled_problem(block, rhs, row, column, beta)
    lu = block.copy()
    order = np.empty(count, np.int64)
    if not factorise(lu, order):
        return False
    solution = np.empty(count)
    residual = np.empty(count)
    change = np.empty(count)
    scale = np.empty(count)
    substitute(lu, order, rhs, solution)
    for r in range(count):
        residual[r] = rhs[r]
        scale[r] = abs(rhs[r])
        for c in range(count):
            term = block[r, c] * solution[c]
            residual[r] -= term
            scale[r] += abs(term)
    substitute(lu, order, residual, change)
    noise = np.zeros(count)
    unit = np.zeros(count)
    for c in range(count):
        unit[c] = 1.0
        substitute(lu, order, unit, residual)
        unit[c] = 0.0
        for r in range(count):
            noise[r] += abs(residual[r]) * scale[c]
    for r in range(count):
        solution[r] += change[r]
        if solution[r] > 8.0 * count * EPS * noise[r]:
            x[index[r]] = solution[r] * column[r] / beta
    return True
