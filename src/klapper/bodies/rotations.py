"""Rotations as unit quaternions (w, i, j, k) that turn body into world directions, and products of rows of vectors.

    R(q) a = q ∘ a ∘ q̄,   q' = ½ q ∘ ω  with ω in body axes,   q(t + h) = q ∘ exp(½ h ω)

Every function takes rows: quaternions (…, 4), vectors (…, 3).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klapper.bodies.quantities import number, unit_vector


def turned(axis: Any, angle: float) -> tuple[float, float, float, float]:
    """The quaternion (w, i, j, k) of a turn by ``angle`` [rad] about ``axis`` (3,), of any length but zero.

    (cos α/2, sin α/2 n); half a turn about the third axis is (0, 0, 0, 1):

    >>> turned((0.0, 0.0, 2.0), np.pi)[3]
    1.0
    """
    half = 0.5 * number("turned", "angle", angle)
    i, j, k = np.sin(half) * unit_vector("turned", "axis", axis, 3)
    return float(np.cos(half)), float(i), float(j), float(k)


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a × b, row by row."""
    a1, a2, a3 = a[..., 0], a[..., 1], a[..., 2]
    b1, b2, b3 = b[..., 0], b[..., 1], b[..., 2]
    rows = np.empty((*a1.shape, 3))
    rows[..., 0], rows[..., 1], rows[..., 2] = a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1
    return rows


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a · b, row by row."""
    return np.einsum("...i,...i->...", a, b)


def skew(a: np.ndarray) -> np.ndarray:
    """ã (…, 3, 3) with ã b = a × b."""
    matrix = np.zeros((*a.shape[:-1], 3, 3))
    matrix[..., 2, 1], matrix[..., 0, 2], matrix[..., 1, 0] = a[..., 0], a[..., 1], a[..., 2]
    matrix[..., 1, 2], matrix[..., 2, 0], matrix[..., 0, 1] = -a[..., 0], -a[..., 1], -a[..., 2]
    return matrix


def turn(rotation: np.ndarray, a: np.ndarray) -> np.ndarray:
    """R a, row by row."""
    return np.einsum("...ij,...j->...i", rotation, a)


def turn_back(rotation: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Rᵀ a, row by row."""
    return np.einsum("...ji,...j->...i", rotation, a)


def planar_matrices(angle: np.ndarray) -> np.ndarray:
    """R (…, 3, 3) of a turn about the third axis."""
    matrix = np.zeros((*angle.shape, 3, 3))
    matrix[..., 0, 0] = matrix[..., 1, 1] = np.cos(angle)
    matrix[..., 1, 0] = np.sin(angle)
    matrix[..., 0, 1] = -matrix[..., 1, 0]
    matrix[..., 2, 2] = 1.0
    return matrix


def matrices(quaternion: np.ndarray) -> np.ndarray:
    """R (…, 3, 3); a quaternion of another length counts as its direction."""
    scale = 2.0 / dot(quaternion, quaternion)
    w, i, j, k = np.moveaxis(quaternion, -1, 0)
    matrix = np.empty((*quaternion.shape[:-1], 3, 3))
    matrix[..., 0, 0] = 1.0 - scale * (j * j + k * k)
    matrix[..., 1, 1] = 1.0 - scale * (i * i + k * k)
    matrix[..., 2, 2] = 1.0 - scale * (i * i + j * j)
    matrix[..., 0, 1], matrix[..., 1, 0] = scale * (i * j - w * k), scale * (i * j + w * k)
    matrix[..., 0, 2], matrix[..., 2, 0] = scale * (i * k + w * j), scale * (i * k - w * j)
    matrix[..., 1, 2], matrix[..., 2, 1] = scale * (j * k - w * i), scale * (j * k + w * i)
    return matrix


def product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """p ∘ q: first the turn q, then p."""
    p0, q0, pv, qv = p[..., :1], q[..., :1], p[..., 1:], q[..., 1:]
    scalar = p0 * q0 - dot(pv, qv)[..., None]
    return np.concatenate((scalar, p0 * qv + q0 * pv + cross(pv, qv)), axis=-1)


def conjugate(q: np.ndarray) -> np.ndarray:
    """q̄: the turn back."""
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def exponential(vector: np.ndarray) -> np.ndarray:
    """The quaternion of a turn by the rotation vector (…, 3) [rad]."""
    half = 0.5 * np.sqrt(dot(vector, vector))[..., None]
    return np.concatenate((np.cos(half), 0.5 * np.sinc(half / np.pi) * vector), axis=-1)


def normalised(q: np.ndarray) -> np.ndarray:
    return q / np.sqrt(dot(q, q))[..., None]
