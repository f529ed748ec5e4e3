"""Factors of the matrices of implicit steps: dense, SuperLU, or PARDISO where pypardiso is installed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse

_SMALL = 160  # rows up to which dense factors are faster
_LARGE = 5000  # rows from which on PARDISO pays for its start

Solve = Callable[[np.ndarray], np.ndarray]


class SingularMatrix(ArithmeticError):
    """A matrix without an inverse."""


def factorised(matrix: Any) -> Solve:
    """x = A⁻¹ b for vectors (n,) or columns (n, k); raises :class:`SingularMatrix`."""
    if matrix.shape[0] <= _SMALL:
        return _dense(matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix))
    rows = sparse.csr_array(matrix)
    if matrix.shape[0] >= _LARGE and _pardiso() is not None:
        return _by_pardiso(rows)
    from scipy.sparse.linalg import splu

    try:
        return splu(rows.tocsc()).solve
    except RuntimeError as error:
        raise SingularMatrix(str(error)) from error


def _dense(matrix: np.ndarray) -> Solve:
    if not np.all(np.isfinite(matrix)):
        raise SingularMatrix("the matrix is not finite")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", scipy.linalg.LinAlgWarning)
        factors, pivots = scipy.linalg.lu_factor(matrix, check_finite=False)
    if not np.all(np.diag(factors)):
        raise SingularMatrix("the matrix is singular")
    return lambda right: scipy.linalg.lu_solve((factors, pivots), right, check_finite=False)


@cache
def _pardiso() -> Any:
    try:
        import pypardiso
    except Exception:  # not installed, or without its libraries
        return None
    return pypardiso


def _by_pardiso(rows: sparse.csr_array) -> Solve:
    package = _pardiso()
    matrix = sparse.csr_matrix(rows)
    solver = package.PyPardisoSolver()
    solver.factorize(matrix)
    return lambda right: solver.solve(matrix, np.ascontiguousarray(right))
