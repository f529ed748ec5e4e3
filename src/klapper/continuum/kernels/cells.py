"""Deformation, forces and stiffness of cells, from a first one to before a last one, so that threads can share them.

    F = Σ_A q_A ⊗ ∇N_A,   C = Fᵀ F                                                     Hesch (2.125), (2.126)
    f_A = Σ_g w  F S ∇N_A                                                              (2.132)
    K_AB = Σ_g w [ share (∇N_A · S ∇N_B) 1 + B_A(F)ᵀ 𝔻 B_B(F') ]

F and F' are the same for forces of one configuration. For forces between two of them F belongs to their mean, F' to
the second, and share = ½; then K is not symmetric.
"""

from __future__ import annotations

import numpy as np

from klapper.machine_code import njit


@njit(cache=True, nogil=True)
def deformation(
    begin: int, end: int, cells: np.ndarray, gradients: np.ndarray, position: np.ndarray, found: np.ndarray
) -> None:
    """F (e, g, d, d) of positions (n, d); gradients ∇N (e, g, k, d)."""
    _, points, size, d = gradients.shape
    for e in range(begin, end):
        found[e] = 0.0
        for g in range(points):
            for a in range(size):
                node = cells[e, a]
                for i in range(d):
                    for j in range(d):
                        found[e, g, i, j] += position[node, i] * gradients[e, g, a, j]


@njit(cache=True, nogil=True)
def metric(begin: int, end: int, gradient: np.ndarray, found: np.ndarray) -> None:
    """π (e, g, v) of F (e, g, d, d)."""
    _, points, d, _ = gradient.shape
    for e in range(begin, end):
        for g in range(points):
            f = gradient[e, g]
            for i in range(d):
                total = 0.0
                for k in range(d):
                    total += f[k, i] * f[k, i]
                found[e, g, i] = total
            for i in range(found.shape[2] - d):
                first, second = _shear(i, d)
                total = 0.0
                for k in range(d):
                    total += f[k, first] * f[k, second]
                found[e, g, d + i] = 2.0 * total


@njit(cache=True, inline="always")
def _shear(number: int, d: int) -> tuple[int, int]:
    """Directions of a shear component: 12 in the plane; 12, 23, 13 in space."""
    if number == 0:
        return 0, 1
    if number == 1:
        return 1, 2
    return 0, 2


@njit(cache=True, nogil=True)
def forces(
    begin: int,
    end: int,
    gradient: np.ndarray,
    stress: np.ndarray,
    gradients: np.ndarray,
    weights: np.ndarray,
    found: np.ndarray,
) -> None:
    """f (e, k, d) of stresses S (e, g, v)."""
    _, points, size, d = gradients.shape
    push = np.empty((d, d))
    for e in range(begin, end):
        found[e] = 0.0
        for g in range(points):
            _first_piola(gradient[e, g], stress[e, g], weights[e, g], push)
            for a in range(size):
                for i in range(d):
                    for j in range(d):
                        found[e, a, i] += push[i, j] * gradients[e, g, a, j]


@njit(cache=True)
def _first_piola(gradient: np.ndarray, stress: np.ndarray, weight: float, out: np.ndarray) -> None:
    """w F S (d, d)."""
    d = gradient.shape[0]
    for i in range(d):
        for j in range(d):
            out[i, j] = weight * gradient[i, j] * stress[j]
        for k in range(stress.size - d):
            first, second = _shear(k, d)
            out[i, second] += weight * gradient[i, first] * stress[d + k]
            out[i, first] += weight * gradient[i, second] * stress[d + k]


@njit(cache=True, nogil=True)
def stiffness(
    begin: int,
    end: int,
    left: np.ndarray,
    right: np.ndarray,
    stress: np.ndarray,
    tangent: np.ndarray,
    gradients: np.ndarray,
    weights: np.ndarray,
    share: float,
    found: np.ndarray,
) -> None:
    """K (e, k d, k d) with F = ``left``, F' = ``right`` (e, g, d, d) and 𝔻 = ``tangent`` (e, g, v, v)."""
    _, points, size, d = gradients.shape
    v = stress.shape[2]
    b_left, b_right = np.empty((v, size * d)), np.empty((v, size * d))
    carried, pulled = np.empty((v, size * d)), np.empty((size, d))
    for e in range(begin, end):
        found[e] = 0.0
        for g in range(points):
            weight = weights[e, g]
            _strain_rows(left[e, g], gradients[e, g], b_left)
            _strain_rows(right[e, g], gradients[e, g], b_right)
            for x in range(v):
                for b in range(size * d):
                    total = 0.0
                    for y in range(v):
                        total += tangent[e, g, x, y] * b_right[y, b]
                    carried[x, b] = weight * total
            for a in range(size * d):
                for x in range(v):
                    factor = b_left[x, a]
                    for b in range(size * d):
                        found[e, a, b] += factor * carried[x, b]
            _pulled(stress[e, g], gradients[e, g], share * weight, pulled)
            for a in range(size):
                for b in range(size):
                    total = 0.0
                    for j in range(d):
                        total += pulled[a, j] * gradients[e, g, b, j]
                    for i in range(d):
                        found[e, a * d + i, b * d + i] += total


@njit(cache=True)
def _strain_rows(gradient: np.ndarray, shape: np.ndarray, out: np.ndarray) -> None:
    """B (v, k d): change of E, shear doubled, with the nodal positions."""
    size, d = shape.shape
    for a in range(size):
        for i in range(d):
            for j in range(d):
                out[j, a * d + i] = gradient[i, j] * shape[a, j]
            for k in range(out.shape[0] - d):
                first, second = _shear(k, d)
                out[d + k, a * d + i] = (
                    gradient[i, first] * shape[a, second] + gradient[i, second] * shape[a, first]
                )


@njit(cache=True)
def _pulled(stress: np.ndarray, shape: np.ndarray, weight: float, out: np.ndarray) -> None:
    """w S ∇N_A (k, d)."""
    size, d = shape.shape
    for a in range(size):
        for j in range(d):
            out[a, j] = weight * stress[j] * shape[a, j]
        for k in range(stress.size - d):
            first, second = _shear(k, d)
            out[a, first] += weight * stress[d + k] * shape[a, second]
            out[a, second] += weight * stress[d + k] * shape[a, first]
