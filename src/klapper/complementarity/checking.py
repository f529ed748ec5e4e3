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
    """A finite float vector, contiguous; a scalar is repeated when ``size`` is known."""
    vector = np.asarray(value, dtype=float, order="C")
    if size is not None and vector.ndim == 0:
        vector = np.full(size, float(vector))
    if vector.ndim != 1 or (size is not None and vector.size != size):
        expected = "one axis" if size is None else f"shape ({size},)"
        raise InvalidProblem(f"{argument} has shape {vector.shape}, expected {expected}.")
    require_finite(vector, argument)
    return vector


def as_square_matrix(value: Any, argument: str) -> Matrix:
    """A finite square matrix: dense and C-contiguous, or compressed sparse rows."""
    matrix: Matrix
    if sparse.issparse(value):
        matrix = sparse.csr_array(value, dtype=float)
        matrix.sum_duplicates()
        require_finite(matrix.data, argument)
    else:
        matrix = np.ascontiguousarray(value, dtype=float)
        if matrix.ndim == 2:
            require_finite(matrix, argument)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidProblem(f"{argument} has shape {matrix.shape}, expected a square matrix.")
    return matrix


def require_finite(array: np.ndarray, argument: str) -> None:
    """Raise with the first offending index. A sum is a cheap first test; it may overflow, hence the second one."""
    if math.isfinite(np.add.reduce(array, axis=None)):
        return
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        index = tuple(int(i) for i in bad[0])
        where = str(index[0]) if len(index) == 1 else ", ".join(map(str, index))
        raise InvalidProblem(f"{argument}[{where}] is {array[index]}; all entries must be finite numbers.")


def as_names(names: Sequence[str] | None, count: int, default: str) -> tuple[str, ...]:
    """The user's names, or ``default`` followed by the index."""
    if names is None:
        return tuple(f"{default}{i}" for i in range(count))
    if len(names) != count:
        raise InvalidProblem(f"names has {len(names)} entries, expected {count}.")
    return tuple(str(name) for name in names)
