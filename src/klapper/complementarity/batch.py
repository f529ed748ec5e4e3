"""Many small dense linear complementarity problems in one compiled call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.complementarity.checking import require_finite, require_tolerance
from klapper.complementarity.dispatch import solve
from klapper.complementarity.errors import ComplementarityError, InvalidProblem
from klapper.complementarity.problem import LinearComplementarity


@dataclass(frozen=True)
class BatchSolution:
    """Solutions of k problems: ``x`` (k, n), nan in the rows of problems without a verified solution.

    ``x`` is in the unit of the unknowns, [N] or [N s] at contacts; ``solved`` (k,) booleans, ``residual`` (k,) natural
    residuals, dimensionless, ``iterations`` (k,) of each problem, and ``failures`` with the reason for each unsolved
    problem.

    Two problems with A = 0, of which the first, 0 · x − 1 ≥ 0, has no solution:

    >>> batch = solve_batch([[0.0]], [[-1.0], [2.0]])
    >>> batch.solved.tolist(), batch.x.tolist(), type(batch.failures[0]).__name__
    ([False, True], [[nan], [0.0]], 'NoSolution')
    """

    x: np.ndarray
    solved: np.ndarray
    residual: np.ndarray
    iterations: np.ndarray
    failures: dict[int, ComplementarityError]


def solve_batch(matrices: Any, offsets: Any, *, tolerance: float = 1e-9, start: Any = None) -> BatchSolution:
    """Solve 0 ≤ x ⟂ A x + b ≥ 0 for k problems of one size.

    ``matrices`` (k, n, n), or (n, n) when all problems share it; ``offsets`` (k, n); ``start`` (k, n) guesses of x;
    ``tolerance`` is the allowed natural residual, dimensionless. Problems on which the compiled path fails go through
    :func:`solve` one by one.

    >>> batch = solve_batch(np.eye(2), [[-1.0, 1.0], [2.0, -3.0]])
    >>> batch.x.tolist()
    [[1.0, 0.0], [0.0, 3.0]]
    """
    from klapper.complementarity.kernels.batch import solve_many
    from klapper.complementarity.kernels.lemke import SOLVED

    require_tolerance(tolerance)
    offsets = np.ascontiguousarray(offsets, dtype=float)
    matrices = np.ascontiguousarray(matrices, dtype=float)
    if offsets.ndim != 2:
        raise InvalidProblem(f"offsets has shape {offsets.shape}, expected (k, n).")
    if matrices.ndim == 2:
        matrices = matrices[None]
    count, n = offsets.shape
    if matrices.shape[1:] != (n, n) or matrices.shape[0] not in (1, count):
        raise InvalidProblem(
            f"matrices has shape {matrices.shape}, expected ({count}, {n}, {n}) or ({n}, {n}) to fit offsets."
        )
    require_finite(matrices, "matrices")
    require_finite(offsets, "offsets")
    starts = np.zeros((count, n), dtype=bool) if start is None else np.asarray(start, dtype=float) > 0
    if starts.shape != (count, n):
        raise InvalidProblem(f"start has shape {starts.shape}, expected ({count}, {n}).")
    x = np.empty((count, n))
    status = np.empty(count, dtype=np.int64)
    iterations = np.empty(count, dtype=np.int64)
    residual = np.empty(count)
    solve_many(matrices, offsets, starts, start is not None, tolerance, x, status, iterations, residual)
    failures: dict[int, ComplementarityError] = {}
    for k in np.flatnonzero(status != SOLVED):
        matrix = matrices[0 if len(matrices) == 1 else k]
        try:
            solution = solve(LinearComplementarity(matrix, offsets[k]), tolerance=tolerance)
        except ComplementarityError as error:
            x[k], residual[k] = np.nan, np.nan
            failures[int(k)] = error
        else:
            x[k], iterations[k] = solution.x, solution.iterations
            residual[k] = solution.residuals.natural_map
    solved = np.ones(count, dtype=bool)
    solved[list(failures)] = False
    return BatchSolution(x, solved, residual, iterations, failures)
