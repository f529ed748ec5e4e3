"""A point of a mixed problem computed again from its own equations.

    A_BB x_B = −b_B,  B: free unknowns and those that are positive

An answer that came through the elimination of the free unknowns carries the round-off of that elimination. With the
same basis the original equations give it to the accuracy of the data: rows and columns balanced, refined with
residuals of extended precision.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from klapper.complementarity.dense import dense
from klapper.complementarity.problem import MixedComplementarity, equilibration

REFINEMENTS = 3


def polished(problem: MixedComplementarity, x: np.ndarray) -> np.ndarray:
    """The point (n,) of the basis of x (n,), or x itself if it has the smaller residual."""
    before = problem.residuals(x).worst
    if before <= problem.size * np.finfo(float).eps or not np.isfinite(x).all():
        return x
    basis = problem.free | (x > 0)
    with np.errstate(all="ignore"):
        point = _of_basis(dense(problem.matrix), problem.offset, basis)
        if point is None:
            return x
        point = np.where(problem.free, point, np.maximum(point, 0.0))
        return point if problem.residuals(point).worst < before else x


def _of_basis(matrix: np.ndarray, offset: np.ndarray, basis: np.ndarray) -> np.ndarray | None:
    """x (n,) with A_BB x_B = −b_B and zero elsewhere; None if that is singular to round-off."""
    block, right = matrix[np.ix_(basis, basis)], -offset[basis]
    row, column, beta = equilibration(block, right)
    block = block * np.multiply.outer(row, column)
    right = (right * beta * row).astype(np.longdouble)
    factors, order = scipy.linalg.lu_factor(block, check_finite=False)
    diagonal = np.abs(np.diag(factors))
    if not np.isfinite(factors).all() or not diagonal.min(initial=np.inf) > 0.0:
        return None
    solution = np.zeros(len(right), dtype=np.longdouble)
    exact = block.astype(np.longdouble)
    for _ in range(1 + REFINEMENTS):
        defect = (right - exact @ solution).astype(float)
        solution = solution + scipy.linalg.lu_solve((factors, order), defect, check_finite=False)
    point = np.zeros(len(offset))
    point[basis] = (solution * column / beta).astype(float)
    return point
