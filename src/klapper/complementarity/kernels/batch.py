"""One compiled call for one or many small dense linear problems: active set if symmetric, else Lemke, then the
check."""

import numpy as np

from klapper.complementarity.kernels.active_set import UNSETTLED, block_pivoting, settle, solve_by_active_set
from klapper.complementarity.kernels.lemke import LIMIT, RAY, SOLVED, solve_by_lemke
from klapper.machine_code import njit

ACTIVE_SET, LEMKE = 0, 1


@njit(cache=True)
def mark_unsymmetric(matrices: np.ndarray, residual: np.ndarray) -> None:
    """Set ``residual`` (k,) to UNSETTLED where the matrix is not symmetric to round-off with a non-negative
    diagonal."""
    n = matrices.shape[1]
    for m in range(matrices.shape[0]):
        fits = True
        for i in range(n):
            fits = fits and matrices[m, i, i] >= 0.0
            for j in range(i):
                a, b = matrices[m, i, j], matrices[m, j, i]
                fits = fits and abs(a - b) <= 1e-12 * (abs(a) + abs(b))
            if not fits:
                break
        if not fits and matrices.shape[0] == residual.size:
            residual[m] = UNSETTLED
        elif not fits:
            residual[:] = UNSETTLED


@njit(cache=True)
def solve_one(
    matrix: np.ndarray, offset: np.ndarray, start: np.ndarray, tolerance: float, x: np.ndarray
) -> tuple[int, int, int, float]:
    """Returns (status, method, iterations, residual); ``x`` (n,) is the solution if status is SOLVED."""
    n = offset.size
    unfit = np.zeros(1)
    mark_unsymmetric(matrix.reshape((1, n, n)), unfit)
    if unfit[0] == 0.0:
        status, steps, residual = solve_by_active_set(matrix, offset, start, tolerance, x)
        if status in (SOLVED, RAY):
            return status, ACTIVE_SET, steps, residual
    status, pivots, residual = by_short_paths(matrix, offset, start, tolerance, x)
    return status, LEMKE, pivots, residual


@njit(cache=True)
def by_short_paths(
    matrix: np.ndarray, offset: np.ndarray, start: np.ndarray, tolerance: float, x: np.ndarray
) -> tuple[int, int, float]:
    """Lemke with the usual covering vector; on a path that is unusually long (Murty 1978) with two others."""
    n = offset.size
    spent = 0
    status, residual = LIMIT, np.inf
    for slope in (0.0, 1.0, -0.5):
        covering = 1.0 + slope * np.arange(n) / max(n - 1, 1)
        status, pivots, residual = solve_by_lemke(matrix, offset, covering, start, 2 * n + 50, tolerance, x)
        spent += pivots
        if status != LIMIT:
            break
    return status, spent, residual


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
    shared = matrices.shape[0] == 1
    for k in range(offsets.shape[0]):
        status[k] = SOLVED
        iterations[k] = 0
        residual[k] = 0.0
    mark_unsymmetric(matrices, residual)
    block_pivoting(matrices, offsets, starts, warm, points, residual, iterations)
    for k in range(offsets.shape[0]):
        if residual[k] <= tolerance:
            continue
        matrix = matrices[0 if shared else k]
        if iterations[k] > 0:
            status[k], pivots, reached = settle(matrix, offsets[k], residual[k], tolerance, points[k])
            iterations[k] += pivots
            residual[k] = reached
            if status[k] in (SOLVED, RAY):
                continue
        status[k], iterations[k], residual[k] = by_short_paths(
            matrix, offsets[k], starts[k], tolerance, points[k]
        )
