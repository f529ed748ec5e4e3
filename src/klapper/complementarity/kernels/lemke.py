"""Lemke's complementary pivoting on a condensed dictionary, with lexicographic anti-cycling.

y = A x + b + d x₀ with covering vector d > 0. The dictionary T expresses the n basic variables by the n + 1 nonbasic
ones. Ties in the ratio test are broken by the rows of the basis inverse, which the dictionary contains as the
columns of the original y.
Cottle, Pang & Stone, The Linear Complementarity Problem, section 4.4 and 4.9.
"""

import numpy as np
from numba import njit

from klapper.complementarity.kernels.linear import (
    active_point,
    active_point_with_care,
    equilibrate,
    natural_residual,
)

SOLVED, RAY, LIMIT, UNVERIFIED = 0, 1, 2, 3
PIVOT_FLOOR = 1e-11
TIE = 1e-12
DELAY = 16


@njit(cache=True)
def lemke(
    matrix: np.ndarray,
    offset: np.ndarray,
    covering: np.ndarray,
    max_pivots: int,
    active: np.ndarray,
) -> tuple[int, int]:
    """Run Lemke's algorithm; ``active`` (n,) tells on return which x are basic. Returns (status, pivots).

    Variables are numbered: x_i is i, y_i is n + i, the covering variable is 2 n. An exchange of basic row r and
    nonbasic column c is the rank-one update T ← T − (T e_c + e_r)(e_rᵀ T − e_cᵀ) / T_rc. Up to DELAY of them are
    kept aside (``left``, ``right``) and applied together, so that the dictionary passes through the cache once per
    DELAY pivots.
    """
    n = offset.size
    active[:] = False
    worst = 0
    for i in range(n):
        # Ties: with the perturbation (ε, ε², …) the most negative row is the one with the largest index.
        if offset[i] * covering[worst] <= offset[worst] * covering[i]:
            worst = i
    if n == 0 or offset[worst] >= 0.0:
        return SOLVED, 0
    table = np.empty((n, n + 1))
    table[:, :n] = matrix
    table[:, n] = covering
    rhs = offset.copy()
    basic = np.arange(n, 2 * n)
    nonbasic = np.arange(n + 1)
    nonbasic[n] = 2 * n
    column_of = np.arange(2 * n + 1)  # where a nonbasic variable stands
    column_of[2 * n] = n
    left = np.empty((DELAY, n))
    right = np.empty((DELAY, n + 1))
    entering_column = np.empty(n)
    pending = 0
    entering = 2 * n
    row = worst
    for pivots in range(1, max_pivots + 1):
        column = column_of[entering]
        for i in range(n):
            entering_column[i] = table[i, column]
        for p in range(pending):
            factor = right[p, column]
            if factor != 0.0:
                for i in range(n):
                    entering_column[i] -= left[p, i] * factor
        if pivots > 1:
            row, ties = ratio_test(entering_column, rhs, basic, n)
            if row < 0:
                return RAY, pivots
            if ties:
                apply_updates(table, left, right, pending)
                pending = 0
                row = lexicographic_row(table, rhs, entering_column, basic, nonbasic, row)
        leaving = basic[row]
        if leaving == 2 * n:
            basic[row] = entering
            for i in range(n):
                if basic[i] < n:
                    active[basic[i]] = True
            return SOLVED, pivots
        pivot_row = right[pending]
        for j in range(n + 1):
            pivot_row[j] = table[row, j]
        for p in range(pending):
            factor = left[p, row]
            if factor != 0.0:
                for j in range(n + 1):
                    pivot_row[j] -= factor * right[p, j]
        inverse = 1.0 / entering_column[row]
        blocked = rhs[row]
        pivot_row[column] -= 1.0
        entering_column[row] += 1.0
        for i in range(n):
            left[pending, i] = entering_column[i] * inverse
            rhs[i] -= left[pending, i] * blocked
        pending += 1
        if pending == DELAY:
            apply_updates(table, left, right, pending)
            pending = 0
        basic[row], nonbasic[column] = entering, leaving
        column_of[leaving] = column
        entering = leaving - n if leaving >= n else leaving + n
    return LIMIT, max_pivots


@njit(cache=True)
def apply_updates(table: np.ndarray, left: np.ndarray, right: np.ndarray, pending: int) -> None:
    """T ← T − leftᵀ right for the pending exchanges."""
    n, width = table.shape
    for i in range(n):
        target = table[i]
        for p in range(pending):
            factor = left[p, i]
            if factor != 0.0:
                source = right[p]
                for j in range(width):
                    target[j] -= factor * source[j]


@njit(cache=True)
def ratio_test(entering_column: np.ndarray, rhs: np.ndarray, basic: np.ndarray, n: int) -> tuple[int, bool]:
    """Row that blocks the increase of the entering variable, and whether others tie; row -1 on a ray.

    The covering variable is preferred among ties, since its leaving ends the run.
    """
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(entering_column[i]))
    floor = PIVOT_FLOOR * largest
    best = np.inf
    row = -1
    for i in range(n):
        slope = -entering_column[i]
        if slope > floor and rhs[i] < best * slope:
            best = max(rhs[i], 0.0) / slope
            row = i
    if row < 0:
        return row, False
    bound = best * (1.0 + TIE)
    ties = 0
    for i in range(n):
        slope = -entering_column[i]
        if slope > floor and rhs[i] <= bound * slope:
            if basic[i] == 2 * n:
                return i, False
            ties += 1
    return row, ties > 1


@njit(cache=True)
def lexicographic_row(
    table: np.ndarray,
    rhs: np.ndarray,
    entering_column: np.ndarray,
    basic: np.ndarray,
    nonbasic: np.ndarray,
    blocking: int,
) -> int:
    """Among the rows that tie with ``blocking``, the one whose scaled row of the basis inverse is
    lexicographically least.

    The column of the basis inverse for an original y is its negative dictionary column, or a unit column if y is basic.
    """
    n = rhs.size
    where = np.empty(n, np.int64)  # column of a nonbasic y, or -1 - row of a basic one
    for j in range(n + 1):
        if n <= nonbasic[j] < 2 * n:
            where[nonbasic[j] - n] = j
    for i in range(n):
        if n <= basic[i] < 2 * n:
            where[basic[i] - n] = -1 - i
    floor = PIVOT_FLOOR * np.abs(entering_column).max()
    bound = max(rhs[blocking], 0.0) / -entering_column[blocking] * (1.0 + TIE)
    tied = np.empty(n, np.int64)
    value = np.empty(n)
    count = 0
    for i in range(n):
        slope = -entering_column[i]
        if slope > floor and rhs[i] <= bound * slope:
            tied[count] = i
            count += 1
    for k in range(n):
        smallest = np.inf
        for t in range(count):
            i = tied[t]
            entry = -table[i, where[k]] if where[k] >= 0 else (1.0 if where[k] == -1 - i else 0.0)
            value[t] = entry / -entering_column[i]
            smallest = min(smallest, value[t])
        bound = smallest + TIE * (1.0 + abs(smallest))
        kept = 0
        for t in range(count):
            if value[t] <= bound:
                tied[kept] = tied[t]
                kept += 1
        count = kept
        if count == 1:
            break
    return tied[0]


@njit(cache=True)
def principal_transform(matrix: np.ndarray, offset: np.ndarray, active: np.ndarray) -> bool:
    """Exchange x_i and y_i for all active i, in place; False if the active block is singular.

    Afterwards (A, b) describe the same problem with the roles of the active pairs swapped, so that Lemke started from
    this basis is plain Lemke on the transformed problem.
    """
    n = offset.size
    done = np.zeros(n, np.bool_)
    todo = 0
    largest = 0.0
    for i in range(n):
        if active[i]:
            todo += 1
        for j in range(n):
            largest = max(largest, abs(matrix[i, j]))
    for _ in range(todo):
        # Diagonal pivots first; they exist whenever a principal block is positive definite.
        row = -1
        size = PIVOT_FLOOR * largest
        for i in range(n):
            if active[i] and not done[i] and abs(matrix[i, i]) > size:
                size = abs(matrix[i, i])
                row = i
        if row < 0:
            return False
        done[row] = True
        inverse = 1.0 / matrix[row, row]
        for j in range(n):
            matrix[row, j] *= -inverse
        matrix[row, row] = inverse
        offset[row] *= -inverse
        for i in range(n):
            factor = matrix[i, row]
            if i == row or factor == 0.0:
                continue
            for j in range(n):
                matrix[i, j] += factor * matrix[row, j]
            matrix[i, row] = factor * inverse
            offset[i] += factor * offset[row]
    return True


@njit(cache=True)
def solve_by_lemke(
    matrix: np.ndarray,
    offset: np.ndarray,
    covering: np.ndarray,
    start: np.ndarray,
    max_pivots: int,
    tolerance: float,
    x: np.ndarray,
) -> tuple[int, int, float]:
    """Scale, pivot from a start basis, recompute x from the final basis, and measure it on the original data.

    ``start`` (n,) booleans: which x are positive in the start basis. Returns (status, pivots, residual).
    """
    n = offset.size
    row = np.empty(n)
    column = np.empty(n)
    beta = equilibrate(matrix, offset, row, column)
    scaled = np.empty((n, n))
    rhs = np.empty(n)
    for i in range(n):
        rhs[i] = row[i] * offset[i] * beta
        for j in range(n):
            scaled[i, j] = row[i] * matrix[i, j] * column[j]
    active = np.zeros(n, np.bool_)
    warm = False
    for i in range(n):
        warm = warm or start[i]
    if warm:
        shifted = scaled.copy()
        moved = rhs.copy()
        warm = principal_transform(shifted, moved, start)
        if warm:
            scaled = shifted
            rhs = moved
    status, pivots = lemke(scaled, rhs, covering, max_pivots, active)
    if status != SOLVED:
        return status, pivots, np.inf
    if warm:
        for i in range(n):
            active[i] = active[i] != start[i]
    status, residual = finish(matrix, offset, active, tolerance, x)
    return status, pivots, residual


@njit(cache=True)
def finish(
    matrix: np.ndarray, offset: np.ndarray, active: np.ndarray, tolerance: float, x: np.ndarray
) -> tuple[int, float]:
    """The point that belongs to a basis, computed with more care if its first evaluation does not verify."""
    if active_point(matrix, offset, active, x):
        residual = natural_residual(matrix, offset, x, tolerance)
        if residual <= tolerance:
            return SOLVED, residual
    if not active_point_with_care(matrix, offset, active, x):
        return UNVERIFIED, np.inf
    residual = natural_residual(matrix, offset, x, tolerance)
    return (SOLVED if residual <= tolerance else UNVERIFIED), residual
