"""Symmetric tensors as vectors.

Strain-like ones double their shear, π = (C₁₁, C₂₂, 2 C₁₂) in the plane and (C₁₁, C₂₂, C₃₃, 2 C₁₂, 2 C₂₃, 2 C₁₃) in
space, stress-like ones do not; then 2 ∂W/∂π are the entries of S as they are.            Hesch (2.191)
"""

from __future__ import annotations

import numpy as np

PAIRS = {2: ((0, 0), (1, 1), (0, 1)), 3: ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))}
IN_PLANE = (0, 1, 3)
"""Places of a plane tensor in a spatial one."""


def dimension_of(components: np.ndarray) -> int:
    return 2 if components.shape[-1] == 3 else 3


def strain_like(matrix: np.ndarray) -> np.ndarray:
    """(…, v) of symmetric matrices (…, d, d), shear doubled."""
    return np.stack(
        [matrix[..., i, j] * (1.0 if i == j else 2.0) for i, j in PAIRS[matrix.shape[-1]]], axis=-1
    )


def from_strain_like(components: np.ndarray) -> np.ndarray:
    """Symmetric matrices (…, d, d) of components whose shear is doubled."""
    d = dimension_of(components)
    matrix = np.empty((*components.shape[:-1], d, d))
    for a, (i, j) in enumerate(PAIRS[d]):
        matrix[..., i, j] = matrix[..., j, i] = components[..., a] * (1.0 if i == j else 0.5)
    return matrix


def from_stress_like(components: np.ndarray) -> np.ndarray:
    """Symmetric matrices (…, d, d) of components."""
    d = dimension_of(components)
    matrix = np.empty((*components.shape[:-1], d, d))
    for a, (i, j) in enumerate(PAIRS[d]):
        matrix[..., i, j] = matrix[..., j, i] = components[..., a]
    return matrix


def embedded(plane: np.ndarray, thickness: np.ndarray | float = 1.0) -> np.ndarray:
    """C of a plane deformation (…, 3) as one in space (…, 6), with C₃₃ = ``thickness``."""
    full = np.zeros((*plane.shape[:-1], 6))
    full[..., IN_PLANE] = plane
    full[..., 2] = thickness
    return full
