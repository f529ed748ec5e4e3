"""Small dense linear algebra and residuals for linear complementarity problems.

0 ≤ x ⟂ A x + b ≥ 0. Everything works on preallocated arrays so that batches do not allocate per problem.
"""

import numpy as np
from numba import njit

from klapper.complementarity.residuals import AMPLIFICATION

EPS = np.finfo(np.float64).eps


@njit(cache=True, fastmath={"nnan", "nsz"})
def spread(matrix: np.ndarray, offset: np.ndarray) -> float:
    """Ratio of the largest to the smallest row maximum of (A | b), or of its column maxima if that is larger."""
    n = offset.size
    column = np.zeros(n)
    highest, lowest = 0.0, np.inf
    for i in range(n):
        source = matrix[i]
        largest = abs(offset[i])
        for j in range(n):
            largest = max(largest, abs(source[j]))
        for j in range(n):
            column[j] = max(column[j], abs(source[j]))
        if largest > 0.0:
            highest = max(highest, largest)
            lowest = min(lowest, largest)
    ratio = highest / lowest
    highest, lowest = np.abs(offset).max(), np.inf
    for j in range(n):
        if column[j] > 0.0:
            highest = max(highest, column[j])
            lowest = min(lowest, column[j])
    return max(ratio, highest / lowest)


@njit(cache=True)
def equilibrate(matrix: np.ndarray, offset: np.ndarray, row: np.ndarray, column: np.ndarray) -> float:
    """Scales (n,) that balance the entries of (D A E | D b β) around one; returns β.

    Alternating geometric means, rounded to powers of two so that scaling is exact. Problems whose rows
    and columns differ by less than 1e4 keep scales of one. Unknowns of the scaled problem are β x / E.
    """
    n = offset.size
    row[:] = 1.0
    column[:] = 1.0
    if n == 0 or spread(matrix, offset) < 1e4:
        return 1.0
    exponent = np.empty((n, n + 1))
    present = np.zeros((n, n + 1), np.bool_)
    for i in range(n):
        for j in range(n + 1):
            size = abs(matrix[i, j]) if j < n else abs(offset[i])
            present[i, j] = size > 0.0
            exponent[i, j] = np.log2(size) if size > 0.0 else 0.0
    left = np.zeros(n)
    right = np.zeros(n + 1)
    for _ in range(30):
        change = 0.0
        for i in range(n):
            total, count = 0.0, 0
            for j in range(n + 1):
                if present[i, j]:
                    total += exponent[i, j] + right[j]
                    count += 1
            new = -total / max(count, 1)
            change = max(change, abs(new - left[i]))
            left[i] = new
        for j in range(n + 1):
            total, count = 0.0, 0
            for i in range(n):
                if present[i, j]:
                    total += exponent[i, j] + left[i]
                    count += 1
            new = -total / max(count, 1)
            change = max(change, abs(new - right[j]))
            right[j] = new
        if change < 0.5:
            break
    for i in range(n):
        row[i] = 2.0 ** np.round(left[i])
        column[i] = 2.0 ** np.round(right[i])
    return 2.0 ** np.round(right[n])


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
        if not np.isfinite(x[i]) or x[i] < 0.0:
            return np.inf
        y[i] = y[i] / scale[i] if scale[i] > 0.0 else 0.0
        bound = max(bound, abs(y[i]) if x[i] > 0.0 else -y[i])
    if bound <= enough:
        return bound
    worst = 0.0
    for j in range(n):
        reach = 0.0
        if y[j] > worst and x[j] > 0.0:
            for i in range(n):
                if scale[i] > 0.0:
                    reach = max(reach, abs(matrix[i, j]) / scale[i])
            reach = x[j] * reach if reach > 0.0 else 1.0
        worst = max(worst, -y[j], min(reach, y[j]))
    return worst


@njit(cache=True)
def pair_residuals(
    matrix: np.ndarray, offset: np.ndarray, x: np.ndarray, free: np.ndarray
) -> tuple[float, float, float]:
    """(complementarity, natural map, feasibility) of ``problem.linear_residuals`` for a dense matrix."""
    n = offset.size
    y = np.empty(n)
    scale = np.empty(n)
    if not images(matrix, offset, x, y, scale):
        limit_to_load(matrix, offset, scale)
    product, natural, violated = 0.0, 0.0, 0.0
    for j in range(n):
        if not np.isfinite(x[j]):
            return np.nan, np.nan, np.nan
        answer = y[j] / scale[j] if scale[j] > 0.0 else 0.0
        if free[j]:
            natural = max(natural, abs(answer))
            violated = max(violated, abs(answer))
            continue
        reach = 0.0
        if x[j] != 0.0:
            for i in range(n):
                if scale[i] > 0.0:
                    reach = max(reach, abs(matrix[i, j]) / scale[i])
            reach = x[j] * reach if reach > 0.0 else np.sign(x[j])
        product = max(product, min(abs(reach), 1.0) * min(abs(answer), 1.0))
        natural = max(natural, abs(min(reach, answer)))
        violated = max(violated, -min(reach, answer))
    return product, natural, violated


@njit(cache=True)
def limit_to_load(matrix: np.ndarray, offset: np.ndarray, scale: np.ndarray) -> None:
    """Let the row scales count at most as AMPLIFICATION times the load in balanced units."""
    n = offset.size
    row = np.empty(n)
    column = np.empty(n)
    equilibrate(matrix, offset, row, column)
    load = 0.0
    for i in range(n):
        load = max(load, abs(row[i] * offset[i]))
    for i in range(n):
        scale[i] = min(scale[i], AMPLIFICATION * load / row[i])


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
    for r in range(count):
        rhs[r] *= row[r] * beta
        for c in range(count):
            block[r, c] *= row[r] * column[c]
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
