"""Arrays of sets of forces, read: one clear sentence where they do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from klapper.complementarity.checking import as_square_matrix, as_vector, require_finite
from klapper.complementarity.errors import InvalidProblem


def as_rows(value: Any, argument: str, columns: int) -> np.ndarray:
    """An own copy as a finite matrix (any, ``columns``)."""
    matrix = np.array(value, dtype=float, ndmin=2)
    if matrix.ndim != 2 or matrix.shape[1] != columns:
        raise InvalidProblem(f"{argument} has shape {matrix.shape}, expected (any number, {columns}).")
    require_finite(matrix, argument)
    return matrix


def as_inequalities(value: Any, argument: str, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """(G (k, ``columns``), h (k,))."""
    if not (isinstance(value, tuple | list) and len(value) == 2):
        raise InvalidProblem(f"{argument} is {value!r}; expected a pair of a matrix and a vector.")
    rows = as_rows(value[0], argument, columns)
    return rows, as_vector(np.atleast_1d(value[1]), f"the vector of {argument}", len(rows))


def as_matrix(value: Any, argument: str, size: int) -> np.ndarray:
    """An own copy as a finite matrix (``size``, ``size``)."""
    matrix = as_square_matrix(value, argument)
    if matrix.shape != (size, size):
        raise InvalidProblem(f"{argument} has shape {matrix.shape}, expected ({size}, {size}).")
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


def as_coefficients(friction: Any, patches: int, contacts: int) -> np.ndarray:
    """μ (patches, contacts) from one number, one per patch, or the matrix itself; none below zero."""
    values = np.asarray(friction, dtype=float)
    if values.ndim == 2:
        if values.shape != (patches, contacts):
            raise InvalidProblem(f"friction has shape {values.shape}, expected ({patches}, {contacts}).")
        require_finite(values, "friction")
        return not_negative(values.copy(), "friction")
    coefficient = not_negative(as_vector(friction, "friction", patches), "friction")
    if np.any(coefficient) and patches != contacts:
        raise InvalidProblem(
            f"friction is one number per patch, but there are {patches} patches and {contacts} normal forces; give the "
            f"matrix ({patches}, {contacts})."
        )
    return np.diag(coefficient) if patches == contacts else np.zeros((patches, contacts))


def not_negative(values: np.ndarray, argument: str) -> np.ndarray:
    """The same array; refused with an entry below zero."""
    if np.any(values < 0.0):
        raise InvalidProblem(
            f"{argument} has {values.min():g} as its smallest entry; allowed are numbers from 0 on."
        )
    return values


def require_coordinate(coordinate: Any, size: int | None = None) -> None:
    """Refuse what is no number of a coordinate, or of none of ``size`` coordinates."""
    whole = isinstance(coordinate, int | np.integer) and not isinstance(coordinate, bool)
    if not whole or coordinate < 0 or (size is not None and coordinate >= size):
        upto = "on" if size is None else f"to {size - 1}"
        raise InvalidProblem(f"coordinate is {coordinate!r}; allowed are whole numbers from 0 {upto}.")


def as_previous(previous: Any, size: int) -> np.ndarray:
    """Forces (``size``,) of the last moment."""
    return as_vector(previous, "previous", size)
