"""Lemke's complementary pivoting on a condensed dictionary, with lexicographic anti-cycling.

y = A x + b + d x₀ with covering vector d > 0. The dictionary T expresses the n basic variables by the n + 1 nonbasic
ones. Ties in the ratio test are broken by the rows of the basis inverse, which the dictionary contains as the
columns of the original y. Rows tie if one of them keeps no more than round-off of the basic variables when another
one blocks; in degenerate problems the blocking ratio itself is zero and no measure for that.
Cottle, Pang & Stone, The Linear Complementarity Problem, section 4.4 and 4.9; tolerant ratios after Harris (1973).
"""

import numpy as np

from klapper.complementarity.kernels.dictionary import apply_updates, drift, refresh, terms_of_basis
from klapper.complementarity.kernels.linear import active_point, active_point_with_care, natural_residual
from klapper.complementarity.kernels.scaling import equilibrate, scaled_problem
from klapper.machine_code import njit

SOLVED, RAY, LIMIT, UNVERIFIED = 0, 1, 2, 3
PIVOT_FLOOR = 1e-11
TIES = (
    1e-12,
    1e-13,
    1e-14,
    1e-15,
)  # round-off, relative to the terms of a basic variable; for one run after another
DELAY = 16
DRIFT = (
    1e-13  # error of the basic variables, relative to their terms, at which the dictionary is computed anew
)


@njit(cache=True)
def lemke(
    matrix: np.ndarray,
    offset: np.ndarray,
    size: np.ndarray,
    tie: float,
    covering: np.ndarray,
    max_pivots: int,
    active: np.ndarray,
) -> tuple[int, int]:
    """Run Lemke's algorithm; ``active`` (n,) tells on return which x are basic. Returns (status, pivots).

    ``size`` (n,) of the terms that b is made of, follows the basic variables: their round-off is relative to it.

    Variables are numbered: x_i is i, y_i is n + i, the covering variable is 2 n. An exchange of basic row r and
    nonbasic column c is the rank-one update T ← T − (T e_c + e_r)(e_rᵀ T − e_cᵀ) / T_rc. Up to DELAY of them are
    kept aside (``left``, ``right``) and applied together, so that the dictionary passes through the cache once per
    DELAY pivots; then the basic variables are compared with the original equations, and the dictionary is computed
    anew if they drifted.
    """
    n = offset.size
    active[:] = False
    row = first_row(offset, covering, tie)
    if n == 0 or offset[row] >= 0.0:
        return SOLVED, 0
    table = np.empty((n, n + 1))
    table[:, :n] = matrix
    table[:, n] = covering
    rhs, size, given = offset.copy(), size.copy(), size.copy()
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
            row, ties = ratio_test(entering_column, rhs, size, basic, tie)
            if row < 0:
                return RAY, pivots
            if ties:
                apply_updates(table, left, right, pending)
                pending = 0
                terms_of_basis(table, given, basic, nonbasic, size)
                row = lexicographic_row(table, rhs, size, entering_column, basic, nonbasic, tie)
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
        blocked = rhs[row] if pivots == 1 else max(rhs[row], 0.0)
        carried = size[row] * abs(inverse)
        pivot_row[column] -= 1.0
        entering_column[row] += 1.0
        for i in range(n):
            left[pending, i] = entering_column[i] * inverse
            rhs[i] -= left[pending, i] * blocked
            size[i] = carried if i == row else max(size[i], abs(entering_column[i]) * carried)
            if abs(rhs[i]) <= tie * size[i]:
                rhs[i] = 0.0
        pending += 1
        basic[row], nonbasic[column] = entering, leaving
        column_of[leaving] = column
        if pending == DELAY:
            apply_updates(table, left, right, pending)
            pending = 0
            if drift(matrix, offset, covering, basic, rhs) > DRIFT:
                refresh(matrix, offset, covering, basic, nonbasic, table, rhs)
            terms_of_basis(table, given, basic, nonbasic, size)
        entering = leaving - n if leaving >= n else leaving + n
    return LIMIT, max_pivots


@njit(cache=True)
def first_row(offset: np.ndarray, covering: np.ndarray, tie: float) -> int:
    """The row that blocks the covering variable when that comes down from infinity.

    Ties: with the perturbation (ε, ε², …) the most negative row is the one with the largest index.
    """
    lowest = 0.0
    for i in range(offset.size):
        lowest = min(lowest, offset[i] / covering[i])
    row = 0
    for i in range(offset.size):
        if offset[i] < 0.0 and offset[i] / covering[i] <= lowest * (1.0 - tie):
            row = i
    return row


@njit(cache=True)
def blocking_bound(
    entering_column: np.ndarray, rhs: np.ndarray, size: np.ndarray, tie: float
) -> tuple[float, float]:
    """(bound of the ratios that tie, least slope of a row that may block); the bound is infinite on a ray.

    Harris: no row may fall below round-off of the basic variables.
    """
    largest = 0.0
    for i in range(rhs.size):
        largest = max(largest, abs(entering_column[i]))
    floor = PIVOT_FLOOR * largest
    bound = np.inf
    for i in range(rhs.size):
        slope = -entering_column[i]
        if slope > floor:
            bound = min(bound, (max(rhs[i], 0.0) + tie * size[i]) / slope)
    return bound, floor


@njit(cache=True)
def ratio_test(
    entering_column: np.ndarray, rhs: np.ndarray, size: np.ndarray, basic: np.ndarray, tie: float
) -> tuple[int, bool]:
    """Row that blocks the increase of the entering variable, and whether others tie; row -1 on a ray.

    The covering variable is preferred among ties, since its leaving ends the run.
    """
    n = rhs.size
    bound, floor = blocking_bound(entering_column, rhs, size, tie)
    row = -1
    ties = 0
    for i in range(n):
        slope = -entering_column[i]
        if slope > floor and rhs[i] <= bound * slope:
            if basic[i] == 2 * n:
                return i, False
            row = i
            ties += 1
    return row, ties > 1


@njit(cache=True)
def lexicographic_row(
    table: np.ndarray,
    rhs: np.ndarray,
    size: np.ndarray,
    entering_column: np.ndarray,
    basic: np.ndarray,
    nonbasic: np.ndarray,
    tie: float,
) -> int:
    """Among the rows that tie, the one whose scaled row of the basis inverse is lexicographically least.

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
    bound, floor = blocking_bound(entering_column, rhs, size, tie)
    tied = np.empty(n, np.int64)
    entry = np.empty(n)
    count = 0
    for i in range(n):
        slope = -entering_column[i]
        if slope > floor and rhs[i] <= bound * slope:
            tied[count] = i
            count += 1
    for k in range(n):
        largest = 0.0
        for t in range(count):
            i = tied[t]
            entry[t] = -table[i, where[k]] if where[k] >= 0 else (1.0 if where[k] == -1 - i else 0.0)
            largest = max(largest, abs(entry[t]))
        bound = np.inf
        for t in range(count):
            bound = min(bound, (entry[t] + tie * max(largest, 1.0)) / -entering_column[tied[t]])
        kept = 0
        for t in range(count):
            if entry[t] <= bound * -entering_column[tied[t]]:
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
    basic = np.where(active, np.arange(n), np.arange(n, 2 * n))
    nonbasic = np.empty(n + 1, np.int64)
    nonbasic[:n] = np.where(active, np.arange(n, 2 * n), np.arange(n))
    nonbasic[n] = 2 * n
    table = np.full((n, n + 1), np.nan)
    rhs = np.empty(n)
    refresh(matrix, offset, np.ones(n), basic, nonbasic, table, rhs)
    if not np.isfinite(table).all():
        return False
    matrix[:] = table[:, :n]
    offset[:] = rhs
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

    ``start`` (n,) booleans: which x are positive in the start basis. A final basis whose point does not verify, since
    differences were taken for round-off, is the start basis of another run with narrower ties.
    Returns (status, pivots, residual).
    """
    n = offset.size
    row = np.empty(n)
    column = np.empty(n)
    beta = equilibrate(matrix, offset, row, column)
    scaled, rhs = scaled_problem(matrix, offset, row, column, beta)
    basis = start.copy()
    active = np.empty(n, np.bool_)
    pivots = 0
    status, residual = UNVERIFIED, np.inf
    for tie in TIES:
        shifted, moved = scaled.copy(), rhs.copy()
        if basis.any() and not principal_transform(shifted, moved, basis):
            shifted, moved = scaled.copy(), rhs.copy()
            basis[:] = False
        size = np.abs(rhs)
        for i in range(n):
            size[i] = 0.0 if basis[i] else size[i]
            for j in range(n):
                if basis[j]:
                    size[i] += abs(shifted[i, j] * rhs[j])
        outcome, more = lemke(shifted, moved, size, tie, covering, max_pivots - pivots, active)
        pivots += more
        if outcome != SOLVED:
            return (outcome if residual == np.inf else status), pivots, residual
        active = active != basis
        status, residual = finish(matrix, offset, active, tolerance, x)
        if status == SOLVED:
            break
        basis = active.copy()
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
