"""One compiled call for one or many small dense linear problems: active set if symmetric, else Lemke, then the
check."""

import numpy as np
from numba import njit

from klapper.complementarity.kernels.active_set import (
    block_pivoting,
    solve_by_active_set,
    solve_by_keller,
    workspace,
)
from klapper.complementarity.kernels.lemke import RAY, SOLVED, solve_by_lemke

ACTIVE_SET, LEMKE = 0, 1


@njit(cache=True)
def symmetric(matrices: np.ndarray, m: int) -> bool:
    """Whether matrix m of the stack is symmetric to round-off with a non-negative diagonal."""
    n = matrices.shape[1]
    for i in range(n):
        if not matrices[m, i, i] >= 0.0:
            return False
        for j in range(i):
            a, b = matrices[m, i, j], matrices[m, j, i]
            if abs(a - b) > 1e-12 * (abs(a) + abs(b)):
                return False
    return True


@njit(cache=True)
def solve_one(
    matrix: np.ndarray, offset: np.ndarray, start: np.ndarray, tolerance: float, x: np.ndarray
) -> tuple[int, int, int, float]:
    """Returns (status, method, iterations, residual); ``x`` (n,) is the solution if status is SOLVED."""
    n = offset.size
    if symmetric(matrix.reshape((1, n, n)), 0):
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
    warm: bool,
    tolerance: float,
    points: np.ndarray,
    status: np.ndarray,
    iterations: np.ndarray,
    residual: np.ndarray,
) -> None:
    """:func:`solve_one` for stacks (k, n, n) and (k, n); a single matrix (1, n, n) serves all offsets."""
    n = offsets.shape[1]
    shared = matrices.shape[0] == 1
    factor, index, inverse, rhs, active = workspace(n)
    is_symmetric = False
    for k in range(offsets.shape[0]):
        m = 0 if shared else k
        if k == 0 or not shared:
            is_symmetric = symmetric(matrices, m)
        if is_symmetric:
            residual[k], iterations[k] = block_pivoting(
                matrices, offsets, starts, warm, points, m, k, factor, index, inverse, rhs, active
            )
            if residual[k] <= tolerance:
                status[k] = SOLVED
                continue
            status[k], iterations[k], residual[k] = solve_by_keller(
                matrices[m], offsets[k], tolerance, points[k], factor, index, rhs, active
            )
            if status[k] in (SOLVED, RAY):
                continue
        status[k], iterations[k], residual[k] = solve_by_lemke(
            matrices[m], offsets[k], np.ones(n), starts[k], 50 * n + 100, tolerance, points[k]
        )
