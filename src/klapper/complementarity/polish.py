"""A point of a mixed problem computed again from its own equations.

    A_BB x_B = −b_B,  B: free unknowns and those that are positive

An answer that came through the elimination of the free unknowns carries the round-off of that elimination. With the
same basis the original equations give it to the accuracy of the data: rows and columns balanced, refined with
residuals of extended precision.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.linalg

from klapper.complementarity.convert import Conversion
from klapper.complementarity.dense import dense
from klapper.complementarity.problem import LinearComplementarity, MixedComplementarity, equilibration

REFINEMENTS = 3
EXCHANGES = 20  # of bases; they begin beside a solution


def recovered(conversion: Conversion[LinearComplementarity], problem: Any, x: np.ndarray) -> np.ndarray:
    """The unknowns (n,) of ``problem`` from those (k,) of its linear form; of a mixed problem polished."""
    point = conversion.recover(x)
    return polished(problem, point) if isinstance(problem, MixedComplementarity) else point


def polished(problem: MixedComplementarity, x: np.ndarray) -> np.ndarray:
    """The point (n,) of the basis of x (n,), or of one near it; x itself if none has a smaller residual.

    A pair that the exact equations find on the wrong side is exchanged, and the equations are solved again.
    """
    enough = problem.size * np.finfo(float).eps
    best, least = x, problem.residuals(x).worst
    if not np.isfinite(x).all():
        return x
    basis = problem.free | (x > 0)
    with np.errstate(all="ignore"):
        matrix = dense(problem.matrix)
        for _ in range(EXCHANGES):
            if least <= enough:
                break
            point = _of_basis(matrix, problem.offset, basis)
            if point is None:
                break
            clipped = np.where(problem.free, point, np.maximum(point, 0.0))
            reached = problem.residuals(clipped).worst
            if reached < least:
                best, least = clipped, reached
            image = matrix @ point + problem.offset
            terms = np.abs(problem.offset) + np.abs(matrix) @ np.abs(point)
            after = problem.free | np.where(basis, point > 0.0, image < -enough * terms)
            if np.array_equal(after, basis):
                break
            basis = after
    return best


def _of_basis(matrix: np.ndarray, offset: np.ndarray, basis: np.ndarray) -> np.ndarray | None:
    """x (n,) with A_BB x_B = −b_B and zero elsewhere; None if that is singular to round-off."""
    block, right = matrix[np.ix_(basis, basis)], -offset[basis]
    row, column, beta = equilibration(block, right)
    block = block * np.multiply.outer(row, column)
    right = (right * beta * row).astype(np.longdouble)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", scipy.linalg.LinAlgWarning)  # singular: told by the diagonal
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
