"""Triangular factors of a square matrix, dense or sparse, with the sign and the size of its determinant.

P A Q = L U,      det A = det P det Q ∏ u_ii

Solutions with large sparse matrices are refined once with the matrix itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
import scipy.sparse.linalg

SMALL = 160  # rows up to which dense factors are faster than sparse ones


class Singular(ArithmeticError):
    """A matrix with a pivot of zero: no factors solve with it."""


@dataclass(frozen=True, eq=False)
class Factors:
    """What solves with a matrix A and with Aᵀ; det A = ``sign`` · exp(``log``)."""

    solve: Callable[[np.ndarray], np.ndarray]
    transposed: Callable[[np.ndarray], np.ndarray]
    sign: float
    log: float


def factors(matrix: Any) -> Factors:
    """Of a square matrix, dense or sparse; raises :class:`Singular`.

    >>> found = factors(np.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> found.sign, found.solve(np.array([2.0, 3.0])).tolist()
    (-1.0, [3.0, 1.0])
    """
    if not sparse.issparse(matrix):
        return _dense(np.asarray(matrix, dtype=float))
    return _dense(matrix.toarray()) if matrix.shape[0] <= SMALL else _sparse(sparse.csc_array(matrix))


def _dense(matrix: np.ndarray) -> Factors:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", scipy.linalg.LinAlgWarning)
        lu = scipy.linalg.lu_factor(matrix, check_finite=False)
    swaps = np.count_nonzero(lu[1] != np.arange(len(matrix)))
    return Factors(
        lambda right: scipy.linalg.lu_solve(lu, right, check_finite=False),
        lambda right: scipy.linalg.lu_solve(lu, right, trans=1, check_finite=False),
        *_determinant(np.diag(lu[0]), (-1.0) ** swaps),
    )


def _sparse(matrix: sparse.csc_array) -> Factors:
    try:
        lu = scipy.sparse.linalg.splu(matrix)
    except RuntimeError as error:
        raise Singular(str(error)) from None

    def solve(right: np.ndarray) -> np.ndarray:
        x = lu.solve(right)
        return x + lu.solve(right - matrix @ x)

    return Factors(
        solve,
        lambda right: lu.solve(right, trans="T"),
        *_determinant(lu.U.diagonal(), _parity(lu.perm_r) * _parity(lu.perm_c)),
    )


def _determinant(pivots: np.ndarray, parity: float) -> tuple[float, float]:
    if np.any(pivots == 0.0) or not np.all(np.isfinite(pivots)):
        raise Singular("a pivot is zero")
    return float(np.prod(np.sign(pivots)) * parity), float(np.sum(np.log(np.abs(pivots))))


def _parity(order: np.ndarray) -> float:
    """+1 for an even permutation, −1 for an odd one."""
    seen, cycles = np.zeros(len(order), dtype=bool), 0
    for first in range(len(order)):
        if not seen[first]:
            cycles += 1
            place = first
            while not seen[place]:
                seen[place] = True
                place = order[place]
    return -1.0 if (len(order) - cycles) % 2 else 1.0
