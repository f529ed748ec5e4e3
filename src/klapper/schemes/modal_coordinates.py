"""Coordinates in which a linear system falls into single oscillators.

    q = Φ y,   Φᵀ M Φ = 1,   Φᵀ K Φ = diag(ω²),   Φᵀ D Φ = diag(2 ζ ω)

The last holds for proportional damping, e.g. D = α M + β K. Then M̂ is diagonal and a time step of a system of n
coordinates needs no product with a full matrix; contact directions become full instead, Φᵀ J.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse

from klapper.complementarity.dense import dense
from klapper.mechanics.linear_system import LinearSystem

_COUPLED = 1e-12  # of the terms of an entry of Φᵀ D Φ: below it, it is rounding


@dataclass(frozen=True, eq=False)
class DiagonalMatrices:
    """The matrices of single oscillators, sparse, under the names that they have in a linear system."""

    mass_matrix: Any
    damping: Any
    stiffness: Any
    circulatory = None

    @property
    def rate_matrix(self) -> Any:
        return self.damping

    @property
    def position_matrix(self) -> Any:
        return self.stiffness


@dataclass(frozen=True, eq=False)
class ModalCoordinates:
    """``shapes`` Φ (n, n), ``reading`` Φ⁻¹ = Φᵀ M (n, n), and the ``matrices`` of the oscillators."""

    shapes: np.ndarray
    reading: np.ndarray
    matrices: DiagonalMatrices

    def into(self, position: np.ndarray) -> np.ndarray:
        """y (n,) of q (n,); the same for velocities."""
        return self.reading @ position


def decoupled(system: LinearSystem) -> ModalCoordinates | None:
    """The modal coordinates of a system without gyroscopic and circulatory terms, or None if damping couples them."""
    n = system.size
    mass = dense(system.mass_matrix)
    stiffness = np.zeros((n, n)) if system.stiffness is None else dense(system.stiffness)
    squares, shapes = scipy.linalg.eigh(stiffness, mass)
    rates = np.zeros(n)
    if system.damping is not None:
        damping = dense(system.damping)
        seen = shapes.T @ damping @ shapes
        rates = np.diag(seen).copy()
        size = np.sqrt(np.einsum("ij,ij->j", np.abs(shapes), np.abs(damping) @ np.abs(shapes)))
        seen[np.arange(n), np.arange(n)] = 0.0
        if np.any(np.abs(seen) > _COUPLED * np.outer(size, size)):
            return None
    matrices = DiagonalMatrices(_diagonal(np.ones(n)), _diagonal(rates), _diagonal(squares))
    return ModalCoordinates(shapes, shapes.T @ mass, matrices)


def _diagonal(entries: np.ndarray) -> Any:
    return sparse.diags_array(entries).tocsr()
