"""One compiled call for one or many small dense linear problems: active set if symmetric, else Lemke, then the check."""

import numpy as np
from numba import njit

from klapper.complementarity.kernels.active_set import solve_by_active_set
from klapper.complementarity.kernels.lemke import RAY, SOLVED, solve_by_lemke

ACTIVE_SET, LEMKE = 0, 1


@njit(cache=True)
def symmetric(matrix: np.ndarray) -> bool:
    n = matrix.shape[0]
    for i in range(n):
        if not matrix[i, i] >= 0.0:
            return False
        for j in range(i):
            a, b = matrix[i, j], matrix[j, i]
            if abs(a - b) > 1e-12 * (abs(a) + abs(b)):
                return False
    return True


@njit(cache=True)
def solve_one(
    matrix: np.ndarray, offset: np.ndarray, start: np.ndarray, tolerance: float, x: np.ndarray
) -> tuple[int, int, int, float]:
    """Returns (status, method, iterations, residual); ``x`` (n,) is the solution if status is SOLVED."""
    n = offset.size
    steps = 0
    if symmetric(matrix):
        status, steps, residual = solve_by_active_set(matrix, offset, start, tolerance, x)
        if status in (SOLVED, RAY):
            return status, ACTIVE_SET, steps, residual
    status, pivots, residual = solve_by_lemke(matrix, offset, np.ones(n), start, 50 * n + 100, tolerance, x)
    return status, LEMKE, pivots, residual


@njit(cache=True)
def solve_many(
    matrices: np.ndarray,
    offsets: np.ndarray,
    starts: np.ndarray,
    tolerance: float,
    x: np.ndarray,
    status: np.ndarray,
    iterations: np.ndarray,
    residual: np.ndarray,
) -> None:
    """:func:`solve_one` for stacks (k, n, n) and (k, n); a single matrix (1, n, n) serves all offsets."""
    shared = matrices.shape[0] == 1
    for k in range(offsets.shape[0]):
        matrix = matrices[0] if shared else matrices[k]
        status[k], _, iterations[k], residual[k] = solve_one(matrix, offsets[k], starts[k], tolerance, x[k])
