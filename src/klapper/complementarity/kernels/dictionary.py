"""The dictionary of Lemke's method: pending exchanges, its error, sizes of its terms, and the same from the data."""

import numpy as np

from klapper.complementarity.kernels.linear import factorise, substitute
from klapper.machine_code import njit


@njit(cache=True)
def drift(
    matrix: np.ndarray, offset: np.ndarray, covering: np.ndarray, basic: np.ndarray, rhs: np.ndarray
) -> float:
    """Error of y = A x + b + d x₀ for the basic variables, relative to the terms of each row; the largest."""
    n = offset.size
    value = np.zeros(2 * n + 1)
    for i in range(n):
        value[basic[i]] = rhs[i]
    worst = 0.0
    for i in range(n):
        error = offset[i] + covering[i] * value[2 * n] - value[n + i]
        size = abs(offset[i]) + abs(covering[i] * value[2 * n]) + abs(value[n + i])
        for j in range(n):
            term = matrix[i, j] * value[j]
            error += term
            size += abs(term)
        if abs(error) > worst * size:
            worst = abs(error) / size
    return worst


@njit(cache=True)
def terms_of_basis(
    table: np.ndarray, given: np.ndarray, basic: np.ndarray, nonbasic: np.ndarray, size: np.ndarray
) -> None:
    """Size (n,) of the terms B⁻¹ b of the basic variables, from the sizes ``given`` (n,) of b.

    The column of B⁻¹ for an original y is its negative dictionary column, or a unit column if y is basic.
    """
    n = size.size
    for i in range(n):
        size[i] = given[basic[i] - n] if n <= basic[i] < 2 * n else 0.0
        for j in range(n + 1):
            if n <= nonbasic[j] < 2 * n:
                size[i] += abs(table[i, j]) * given[nonbasic[j] - n]


@njit(cache=True)
def refresh(
    matrix: np.ndarray,
    offset: np.ndarray,
    covering: np.ndarray,
    basic: np.ndarray,
    nonbasic: np.ndarray,
    table: np.ndarray,
    rhs: np.ndarray,
) -> None:
    """The dictionary of the present basis from the original data; as it was if the basis is singular to round-off."""
    n = offset.size
    columns = np.zeros((n, 2 * n + 1))  # of −y, A x + d x₀
    for i in range(n):
        for j in range(n):
            columns[i, j] = matrix[i, j]
        columns[i, n + i] = -1.0
        columns[i, 2 * n] = covering[i]
    lu = np.empty((n, n))
    order = np.empty(n, np.int64)
    for i in range(n):
        for j in range(n):
            lu[i, j] = columns[i, basic[j]]
    if not factorise(lu, order):
        return
    right = np.empty(n)
    solution = np.empty(n)
    for k in range(n + 2):
        for i in range(n):
            right[i] = -offset[i] if k == n + 1 else -columns[i, nonbasic[k]]
        substitute(lu, order, right, solution)
        for i in range(n):
            if k == n + 1:
                rhs[i] = solution[i]
            else:
                table[i, k] = solution[i]


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
