"""Checks of what a user hands in: each returns clean data or says in one sentence what is wrong."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

TOLERANCE = 1e-9  # default relative tolerance of every membership test of this room


def frozen_array(
    name: str, value: ArrayLike, shape: tuple[int | None, ...], allow_infinite: bool = False
) -> Array:
    """Read-only float copy of ``value``, whose shape must match (None: any length)."""
    array = np.array(value, dtype=float)
    if array.ndim != len(shape) or any(
        want not in (None, got) for want, got in zip(shape, array.shape, strict=False)
    ):
        wanted = "(" + ", ".join("any" if want is None else str(want) for want in shape) + ")"
        raise ValueError(f"{name} has shape {array.shape}, it must have shape {wanted}")
    if np.isnan(array).any() or not (allow_infinite or np.isfinite(array).all()):
        raise ValueError(f"{name} contains NaN or an infinite number, it must be finite")
    array.setflags(write=False)
    return array


def stack_of_points(name: str, value: ArrayLike, dimension: int) -> Array:
    """Float array of shape (..., dimension) with finite entries."""
    points = np.asarray(value, dtype=float)
    if points.ndim == 0 or points.shape[-1] != dimension:
        raise ValueError(f"{name} has shape {points.shape}, its last axis must have length {dimension}")
    if not np.isfinite(points).all():
        raise ValueError(f"{name} contains NaN or an infinite number, it must be finite")
    return points


def number(name: str, value: Any, least: float = -np.inf, strictly: bool = False) -> float:
    """Finite float not below ``least`` (or above it, if ``strictly``)."""
    given = float(value)
    if not np.isfinite(given) or given < least or (strictly and given == least):
        limit = "" if least == -np.inf else f" {'>' if strictly else '>='} {least:g}"
        raise ValueError(f"{name} is {given:g}, it must be a finite number{limit}")
    return given


def whole_number(name: str, value: Any, least: int) -> int:
    """Integer not below ``least``."""
    if isinstance(value, bool) or int(value) != value or value < least:
        raise ValueError(f"{name} is {value!r}, it must be a whole number >= {least}")
    return int(value)


def positive_definite(name: str, value: ArrayLike, dimension: int) -> Array:
    """Symmetric positive definite matrix of shape (dimension, dimension)."""
    matrix = frozen_array(name, value, (dimension, dimension))
    if np.abs(matrix - matrix.T).max() > 1e-10 * np.abs(matrix).max():
        raise ValueError(f"{name} is not symmetric, it must be a symmetric positive definite matrix")
    smallest, largest = np.linalg.eigvalsh(matrix)[[0, -1]]
    if smallest <= 1e-15 * largest:
        raise ValueError(
            f"{name} has smallest eigenvalue {smallest:g}, it must be a symmetric positive definite matrix"
        )
    return matrix


def plain(result: NDArray[Any]) -> Any:
    """A Python number or bool for a single point, the array itself for a stack."""
    return result.item() if result.ndim == 0 else result
