"""Scales of linear complementarity problems: balanced rows and columns, loads of uncoupled parts, surroundings.

Scales are powers of two, so that scaling is exact. Those of rows and columns come from A alone: an entry of b that is
only round-off must not change them. Parts that no entry of A couples have loads of their own; each part is
scaled so that its largest load is one, and no load is lost beside that of another part.
"""

import numpy as np

from klapper.machine_code import njit

EPS = np.finfo(np.float64).eps
FAR = 1000.0  # largest binary exponent of a scale: its inverse is still a normal number


@njit(cache=True)
def power_of_two(exponent: float) -> float:
    """2 to the rounded exponent, within the range of normal numbers."""
    return 2.0 ** min(max(np.round(exponent), -FAR), FAR)


@njit(cache=True, fastmath={"nnan", "nsz"})
def spread(matrix: np.ndarray) -> tuple[float, float]:
    """(largest entry of A, ratio of the largest to the smallest row maximum, or of column maxima if larger)."""
    n = matrix.shape[0]
    column = np.zeros(n)
    highest, lowest, lowest_column = 0.0, np.inf, np.inf
    for i in range(n):
        source = matrix[i]
        largest = 0.0
        for j in range(n):
            largest = max(largest, abs(source[j]))
            column[j] = max(column[j], abs(source[j]))
        if largest > 0.0:
            highest = max(highest, largest)
            lowest = min(lowest, largest)
    for j in range(n):
        if column[j] > 0.0:
            lowest_column = min(lowest_column, column[j])
    return highest, highest / min(lowest, lowest_column)


@njit(cache=True)
def balance(matrix: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
    """Binary exponents (n,) of rows and columns that bring the largest entry of each of them near one.

    Ruiz (2001): square roots of the largest entries in turn. Entries that are only round-off have no influence.
    """
    n = matrix.shape[0]
    left[:] = 0.0
    right[:] = 0.0
    exponent = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            exponent[i, j] = np.log2(abs(matrix[i, j])) if matrix[i, j] != 0.0 else -np.inf
    high_row = np.empty(n)
    high_column = np.empty(n)
    for _ in range(20):
        high_row[:] = -np.inf
        high_column[:] = -np.inf
        for i in range(n):
            for j in range(n):
                value = exponent[i, j] + left[i] + right[j]
                high_row[i] = max(high_row[i], value)
                high_column[j] = max(high_column[j], value)
        change = 0.0
        for i in range(n):
            if high_row[i] > -np.inf:
                left[i] -= 0.5 * high_row[i]
                change = max(change, abs(high_row[i]))
            if high_column[i] > -np.inf:
                right[i] -= 0.5 * high_column[i]
                change = max(change, abs(high_column[i]))
        if change < 0.5:
            break


@njit(cache=True)
def part_numbers(matrix: np.ndarray, part: np.ndarray) -> None:
    """The number of the part (n,) that each unknown belongs to: its smallest index; entries of A couple."""
    n = matrix.shape[0]
    queue = np.empty(n, np.int64)
    part[:] = -1
    for first in range(n):
        if part[first] >= 0:
            continue
        part[first] = first
        queue[0] = first
        filled, taken = 1, 0
        while taken < filled:
            i = queue[taken]
            taken += 1
            for j in range(n):
                if part[j] < 0 and (matrix[i, j] != 0.0 or matrix[j, i] != 0.0):
                    part[j] = first
                    queue[filled] = j
                    filled += 1


@njit(cache=True)
def equilibrate(matrix: np.ndarray, offset: np.ndarray, row: np.ndarray, column: np.ndarray) -> float:
    """Scales (n,) that bring the rows and columns of D A E and the largest load of every part to one; returns β.

    The scaled problem is (D A E, D b β), its unknowns are β x / E. Rows and columns of A that differ by less than 1e4
    are left as they are beside each other.
    """
    n = offset.size
    row[:] = 1.0
    column[:] = 1.0
    if n == 0:
        return 1.0
    largest, ratio = spread(matrix)
    left = np.zeros(n)
    right = np.zeros(n)
    if ratio >= 1e4:
        balance(matrix, left, right)
    elif largest > 0.0:
        left[:] = -np.round(np.log2(largest))
    part = np.empty(n, np.int64)
    part_numbers(matrix, part)
    load = np.full(n, -np.inf)  # binary exponent of the largest load of each part
    for i in range(n):
        if offset[i] != 0.0:
            load[part[i]] = max(load[part[i]], np.log2(abs(offset[i])) + np.round(left[i]))
    highest = load.max()
    if highest == -np.inf:
        highest = 0.0
    for i in range(n):
        behind = load[part[i]] - highest
        behind = np.round(behind) if behind > -np.inf else 0.0
        row[i] = power_of_two(np.round(left[i]) - behind)
        column[i] = power_of_two(np.round(right[i]) + behind)
    return power_of_two(-highest)


@njit(cache=True)
def scaled_problem(
    matrix: np.ndarray, offset: np.ndarray, row: np.ndarray, column: np.ndarray, beta: float
) -> tuple[np.ndarray, np.ndarray]:
    """(D A E, D b β), with the two scales of an entry multiplied first, since their product is near its inverse."""
    n = offset.size
    scaled = np.empty((n, n))
    rhs = np.empty(n)
    for i in range(n):
        rhs[i] = offset[i] * beta * row[i]
        for j in range(n):
            scaled[i, j] = matrix[i, j] * (row[i] * column[j])
    return scaled, rhs


@njit(cache=True)
def surroundings(
    matrix: np.ndarray,
    offset: np.ndarray,
    scale: np.ndarray,
    around_unknown: np.ndarray,
    around_row: np.ndarray,
) -> None:
    """How large the unknowns and the terms of the rows are around each one, as far as A couples them; all (n,).

    ``scale`` of the rows on entry, limited by the load, so that enormous x forgive nothing. With largest entries of
    one a coupling a_ij passes on its share:
    X_j ≥ a_ij S_i and S_i ≥ a_ij X_j, so that weakly coupled rows stay apart. Round-off of the computation of x is of
    the order ε X_j and ε S_i, also where the true values vanish. A part without any load or terms has no scale of its
    own and takes that of the largest load.
    """
    n = offset.size
    part = np.empty(n, np.int64)
    part_numbers(matrix, part)
    row = np.empty(n)
    column = np.empty(n)
    left = np.empty(n)
    right = np.empty(n)
    balance(matrix, left, right)
    loaded = np.zeros(n, np.bool_)
    load = 0.0
    for i in range(n):
        row[i] = power_of_two(left[i])
        column[i] = power_of_two(right[i])
        around_row[i] = row[i] * scale[i]
        around_unknown[i] = 0.0
        loaded[part[i]] = loaded[part[i]] or offset[i] != 0.0
        load = max(load, abs(offset[i]) * row[i])
    for i in range(n):
        if not loaded[part[i]]:
            around_row[i] = max(around_row[i], load)
    for _ in range(n):
        changed = False
        for i in range(n):
            for j in range(n):
                if matrix[i, j] == 0.0:
                    continue
                share = min(abs(matrix[i, j]) * (row[i] * column[j]), 1.0)
                if share * around_row[i] > around_unknown[j]:
                    around_unknown[j] = share * around_row[i]
                    changed = True
                if share * around_unknown[j] > around_row[i]:
                    around_row[i] = share * around_unknown[j]
                    changed = True
        if not changed:
            break
    for i in range(n):
        around_row[i] /= row[i]
        around_unknown[i] *= column[i]
