"""Directions of Newton-type methods, dense and sparse, None where the matrix is singular.

Newton:                V d = −Φ
Levenberg–Marquardt:   (VᵀV + ν I) d = −VᵀΦ
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse
from scipy.linalg.lapack import dgesv, dposv
from scipy.sparse.csgraph import structural_rank
from scipy.sparse.linalg import splu

from klapper.complementarity.checking import Matrix

DAMPED_SIZE = 2000  # beyond, the fill-in of sparse Levenberg–Marquardt steps costs more than another start


def newton_direction(jacobian: Matrix, value: np.ndarray) -> np.ndarray | None:
    """d with V d = −Φ, None if V is singular. Rows with nothing but a diagonal entry are eliminated first."""
    diagonal = jacobian.diagonal()
    if sparse.issparse(jacobian):
        lone = (np.diff(jacobian.indptr) == 1) & (diagonal != 0.0)
    else:
        lone = (np.count_nonzero(jacobian, axis=1) == 1) & (diagonal != 0.0)
    step = np.zeros(value.size)
    step[lone] = -value[lone] / diagonal[lone]
    rest = np.flatnonzero(~lone)
    if rest.size == 0:
        return step
    if rest.size < value.size:
        rows = jacobian[rest]
        right = -value[rest] - rows @ step
        solved = _solve(rows[:, rest], right)
    else:
        solved = _solve(jacobian, -value)
    if solved is None:
        return None
    step[rest] = solved
    return step


def _solve(matrix: Matrix, right: np.ndarray) -> np.ndarray | None:
    """matrix⁻¹ right by LU factors, None where the matrix is singular."""
    if sparse.issparse(matrix):
        return _solve_sparse(sparse.csc_array(matrix), right)
    _, _, solution, info = dgesv(matrix, right)
    return solution if info == 0 and np.all(np.isfinite(solution)) else None


def _solve_sparse(matrix: sparse.csc_array, right: np.ndarray) -> np.ndarray | None:
    """First with pivots near the diagonal, which fills contact matrices least; if inexact, freely.

    Structurally singular matrices never reach SuperLU, which overwrites memory on some of them.
    """
    matrix.eliminate_zeros()
    if structural_rank(matrix) < matrix.shape[0]:
        return None
    near_diagonal = {
        "permc_spec": "MMD_AT_PLUS_A",
        "diag_pivot_thresh": 0.01,
        "options": {"SymmetricMode": True},
    }
    allowed = 1e-10 * float(np.abs(right).max(initial=0.0))
    solution = None
    for options in (near_diagonal, {}):
        try:
            factors = splu(matrix, **options)
        except RuntimeError:
            continue
        solution = factors.solve(right)
        solution += factors.solve(right - matrix @ solution)
        if float(np.abs(matrix @ solution - right).max(initial=0.0)) <= allowed:
            return solution
    return solution if solution is not None and np.all(np.isfinite(solution)) else None


def damped_direction(
    jacobian: Matrix, value: np.ndarray, gradient: np.ndarray, damping: float
) -> np.ndarray | None:
    """Levenberg–Marquardt step −(VᵀV + νI)⁻¹ VᵀΦ; for sparse V by the sparse augmented system."""
    if sparse.issparse(jacobian):
        size = value.size
        if size > DAMPED_SIZE:
            return None
        unity = sparse.eye_array(size)
        augmented = sparse.block_array([[unity, jacobian], [jacobian.T, -damping * unity]])
        solution = _solve(augmented, np.concatenate([-value, np.zeros(size)]))
        return None if solution is None else solution[size:]
    normal = jacobian.T @ jacobian
    normal[np.diag_indices_from(normal)] += damping
    _, solution, info = dposv(normal, -gradient)
    return solution if info == 0 and np.all(np.isfinite(solution)) else None


def least_squares_direction(jacobian: Matrix, value: np.ndarray) -> np.ndarray | None:
    """The shortest step that minimises ‖V d + Φ‖ (sparse: up to a damping of 1e-12)."""
    if sparse.issparse(jacobian):
        return damped_direction(jacobian, value, jacobian.T @ value, 1e-12)
    if value.size == 0:
        return np.zeros(0)
    return np.linalg.lstsq(jacobian, -value)[0]
