"""Reading of user arrays: one clear sentence when they do not fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sparse

from klapper.complementarity.errors import InvalidProblem

Matrix: TypeAlias = Any
"""A dense array or a scipy ``csr_array``, shape (n, n)."""


def as_vector(value: Any, argument: str, size: int | None = None) -> np.ndarray:
    """An own copy as a finite float vector; a scalar is repeated when ``size`` is known."""
    vector = _real(value, argument)
    if size is not None and vector.ndim == 0:
        vector = np.full(size, float(vector))
    if vector.ndim != 1 or (size is not None and vector.size != size):
        expected = "one axis" if size is None else f"shape ({size},)"
        raise InvalidProblem(f"{argument} has shape {vector.shape}, expected {expected}.")
    require_finite(vector, argument)
    return vector


def as_square_matrix(value: Any, argument: str) -> Matrix:
    """An own copy of a finite square matrix: dense and C-contiguous, or compressed sparse rows."""
    matrix = as_sparse(value, argument) if sparse.issparse(value) else _real(value, argument)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidProblem(f"{argument} has shape {matrix.shape}, expected a square matrix.")
    if not sparse.issparse(matrix):
        require_finite(matrix, argument)
    return matrix


def as_sparse(value: Any, argument: str) -> sparse.csr_array:
    """An own copy as compressed sparse rows with finite entries."""
    if np.iscomplexobj(value):
        raise InvalidProblem(f"{argument} is complex; all entries must be real numbers.")
    matrix = sparse.csr_array(value, dtype=float, copy=True)
    matrix.sum_duplicates()
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if bad.size:
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        column = int(matrix.indices[bad[0]])
        raise InvalidProblem(
            f"{argument}[{row}, {column}] is {matrix.data[bad[0]]}; all entries must be finite numbers."
        )
    return matrix


def _real(value: Any, argument: str) -> np.ndarray:
    if np.iscomplexobj(value):
        raise InvalidProblem(f"{argument} is complex; all entries must be real numbers.")
    return np.array(value, dtype=float, order="C")


def require_finite(array: np.ndarray, argument: str) -> None:
    """Raise with the first offending index. A sum is a cheap first test; it may overflow, hence the second one."""
    if math.isfinite(np.add.reduce(array, axis=None)):
        return
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        index = tuple(int(i) for i in bad[0])
        where = str(index[0]) if len(index) == 1 else ", ".join(map(str, index))
        raise InvalidProblem(f"{argument}[{where}] is {array[index]}; all entries must be finite numbers.")


def require_tolerance(tolerance: float) -> None:
    if not 0 < tolerance < 1:
        raise InvalidProblem(f"tolerance is {tolerance}; allowed are numbers between 0 and 1, e.g. 1e-9.")


def as_names(names: Sequence[str] | None, count: int, default: str) -> tuple[str, ...]:
    """The user's names, or ``default`` followed by the index."""
    if names is None:
        return tuple(f"{default}{i}" for i in range(count))
    if len(names) != count:
        raise InvalidProblem(f"names has {len(names)} entries, expected {count}.")
    return tuple(str(name) for name in names)
