"""Factors of the matrices of implicit steps: dense, SuperLU, or PARDISO where pypardiso is installed.

Stiffness and mass have a symmetric structure and no zero on their diagonal, even where their values are not symmetric.
Then pivots are taken from the diagonal, in an order found for A + Aᵀ, and every solution is checked,

    |b − A x| ≤ ε (|A| |x| + |b|)

If one fails, rows are exchanged as for all other matrices. Multipliers leave zeros on the diagonal: large matrices get
a small number there while factors are found, and solutions are refined with the matrix itself, so that it is not in
them (static pivoting, Li & Demmel 1998). That takes half the time, as rows keep their order.

That a matrix is singular, which PARDISO does not tell, is seen when a solution leaves much of b. What is kept between
calls depends on structures only: the last few of them, and one analysis of PARDISO that no living factor uses. So
answers do not depend on what was solved before, and threads may factorise at the same time.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse

from klapper.effort import ALGEBRA, part, report

_SMALL = 160  # rows up to which dense factors are faster
_LARGE = 5000  # rows from which on PARDISO pays for its start
_ACCURATE, _ROUNDED = 1e-12, 1e-15  # ε, and what rounding leaves of it, to which solutions are refined
_TINY = float(np.finfo(float).tiny)
_USELESS = 1e-2  # of the right-hand side that a solution leaves
_FILLED = 1e-7  # of the largest entry of the diagonal: what stands in place of its zeros
_REFINED = 3  # refinements of a solution at most
_PIVOT = 0.01  # of the largest entry of its column, from which on the diagonal is taken

Solve = Callable[[np.ndarray], np.ndarray]


class SingularMatrix(ArithmeticError):
    """A matrix without an inverse."""


def factorised(matrix: Any) -> Solve:
    """x = A⁻¹ b for vectors (n,) or columns (n, k); raises :class:`SingularMatrix`."""
    report("factorisations")
    with part(ALGEBRA):
        return _factorised(matrix)


def _factorised(matrix: Any) -> Solve:
    if matrix.shape[0] <= _SMALL:
        return _dense(matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix))
    rows = sparse.csr_array(matrix)
    rows.sum_duplicates()
    large = rows.shape[0] >= _LARGE
    filled = _without_zeros(rows) if large else rows
    structure = _structure_of(filled)
    if large and _pardiso() is not None:
        from klapper.schemes.pardiso_factor import PardisoFactor

        def solver(diagonal: bool) -> Solve:
            return PardisoFactor(filled, structure) if diagonal else PardisoFactor(rows, None)
    else:

        def solver(diagonal: bool) -> Solve:
            return _superlu(filled, _PIVOT if filled is rows else 0.0) if diagonal else _superlu(rows)

    diagonal = structure.symmetric and bool(np.all(filled.diagonal()))
    return _Checked(rows, solver, diagonal, refined=filled is not rows)


def _without_zeros(rows: sparse.csr_array) -> sparse.csr_array:
    """The matrix with small numbers in place of zeros on its diagonal; itself where there are none, or too many.

    Their sign is opposite to that of the conditions as a whole, so that A − B C/δ is not less definite than A.
    """
    diagonal = rows.diagonal()
    empty = diagonal == 0.0
    if not np.any(empty) or 2 * np.count_nonzero(empty) > len(diagonal):
        return rows
    here = np.flatnonzero(empty)
    product = float(rows[:, here].multiply(rows[here].T).sum())
    give = -np.sign(product or 1.0) * _FILLED * float(np.abs(diagonal).max())
    return sparse.csr_array(rows + sparse.diags_array(np.where(empty, give, 0.0), format="csr"))


@dataclass(frozen=True, eq=False)
class Structure:
    """Where the entries of a matrix are: compressed rows, and whether every entry has one opposite."""

    indptr: np.ndarray
    indices: np.ndarray
    symmetric: bool

    def is_that_of(self, rows: sparse.csr_array) -> bool:
        return np.array_equal(self.indptr, rows.indptr) and np.array_equal(self.indices, rows.indices)


class _Checked:
    """A⁻¹ by pivots from the ``diagonal``, by exchanged rows where that is not wanted or was not accurate."""

    def __init__(
        self, rows: sparse.csr_array, solver: Callable[[bool], Solve], diagonal: bool, refined: bool = False
    ) -> None:
        self._rows, self._solver, self._diagonal, self._refined = rows, solver, diagonal, refined
        self._norm = float(abs(rows).sum(axis=1).max())
        self._solve = solver(diagonal)

    def __call__(self, right: np.ndarray) -> np.ndarray:
        found = self._solve(right)
        left = right - self._rows @ found
        if self._diagonal:
            for _ in range(_REFINED if self._refined else 0):
                found = found + self._solve(left)
                left = right - self._rows @ found
                if self._share(found, left, right) <= _ROUNDED:
                    break
            if not self._share(found, left, right) <= _ACCURATE:  # also where it is not a number
                self._solve, self._diagonal = self._solver(False), False
                found = self._solve(right)
                left = right - self._rows @ found
        if _largest(left) > _USELESS * _largest(right):
            raise SingularMatrix("the matrix is singular to the accuracy of numbers")
        return found

    def _share(self, found: np.ndarray, left: np.ndarray, right: np.ndarray) -> float:
        """What is left of the equations, in units of their terms."""
        return _largest(left) / max(self._norm * _largest(found) + _largest(right), _TINY)


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0))


_lock = Lock()
_structures: deque[Structure] = deque(maxlen=4)


def _structure_of(rows: sparse.csr_array) -> Structure:
    """Found once for matrices of the same structure, as long as there are not many others in between."""
    with _lock:
        known = list(_structures)
    for structure in known:
        if structure.is_that_of(rows):
            return structure
    ones = sparse.csr_array((np.ones(rows.nnz, dtype=bool), rows.indices, rows.indptr), shape=rows.shape)
    turned = sparse.csr_array(ones.T)
    symmetric = np.array_equal(turned.indptr, rows.indptr) and np.array_equal(turned.indices, rows.indices)
    structure = Structure(rows.indptr.copy(), rows.indices.copy(), symmetric)
    with _lock:
        _structures.appendleft(structure)
    return structure


def _superlu(rows: sparse.csr_array, pivot: float | None = None) -> Solve:
    """``pivot``: of the largest entry of its column, from which on the diagonal is taken; None: rows are exchanged."""
    from scipy.sparse.linalg import splu

    how: dict[str, Any] = {}
    if pivot is not None:
        how = {
            "permc_spec": "MMD_AT_PLUS_A",
            "diag_pivot_thresh": pivot,
            "options": {"SymmetricMode": True},
        }
    try:
        return splu(rows.tocsc(), **how).solve
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
