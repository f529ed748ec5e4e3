"""M⁻¹ of a mass matrix, factorised once: symmetric and positive definite, or refused.

    dense:  M = L Lᵀ (Cholesky);   sparse:  M = L U without pivoting

Both factorisations tell whether the matrix is positive definite: all their pivots are positive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
from scipy.sparse.linalg import splu

from klapper.complementarity.checking import require_finite
from klapper.mechanics.errors import InvalidModel


def mass_solver(mass: Any, n: int) -> Callable[[np.ndarray], np.ndarray]:
    """v ↦ M⁻¹ v of a symmetric positive definite matrix."""
    given = sparse.csc_array(mass, dtype=float) if sparse.issparse(mass) else np.array(mass, dtype=float)
    if given.shape != (n, n):
        raise InvalidModel(f"mass has shape {given.shape}, expected ({n}, {n}) to fit force.")
    if not sparse.issparse(given):
        require_finite(given, "mass")
    if abs(given - given.T).max() > 1e-9 * abs(given).max():
        raise InvalidModel("mass is not symmetric; it must be a symmetric positive definite matrix.")
    if sparse.issparse(given):
        return _sparse_solver(given)
    try:
        factor = scipy.linalg.cho_factor(given)
    except scipy.linalg.LinAlgError:
        raise InvalidModel(
            "mass is not positive definite: some direction has no inertia. Remove that coordinate, or give it a mass."
        ) from None

    def solve_dense(right: np.ndarray) -> np.ndarray:
        return scipy.linalg.cho_solve(factor, right)

    return solve_dense


def _sparse_solver(mass: Any) -> Callable[[np.ndarray], np.ndarray]:
    """Symmetric elimination without pivoting: positive pivots prove that the matrix is positive definite."""
    try:
        factor = splu(
            mass, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    except RuntimeError:
        factor = None
    if factor is None or np.any(factor.perm_r != factor.perm_c) or np.any(factor.U.diagonal() <= 0.0):
        raise InvalidModel(
            "mass is not positive definite: some direction has no inertia. Remove that coordinate, or give it a mass."
        )

    def solve_sparse(right: np.ndarray) -> np.ndarray:
        return factor.solve(np.ascontiguousarray(right)) if right.size else np.zeros_like(right)

    return solve_sparse
