"""Vectors (3,) and rotations (9,), row by row, as tuples, and the poses and motions of bodies in space.

Formulas are those of :mod:`klapper.bodies.rotations`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from klapper.bodies.kernels.slots import BODIES, BODY, BODY_SIZE
from klapper.mechanics.kernels.signatures import form_function

Vector = tuple[float, float, float]
Rotation = tuple[float, float, float, float, float, float, float, float, float]
Quaternion = tuple[float, float, float, float]


@njit(cache=True, error_model="numpy")
def dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True, error_model="numpy")
def cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(cache=True, error_model="numpy")
def plus(a: Vector, b: Vector) -> Vector:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@njit(cache=True, error_model="numpy")
def minus(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@njit(cache=True, error_model="numpy")
def times(factor: float, a: Vector) -> Vector:
    return factor * a[0], factor * a[1], factor * a[2]


@njit(cache=True, error_model="numpy")
def vector(data: np.ndarray, at: int) -> Vector:
    return data[at], data[at + 1], data[at + 2]


@njit(cache=True, error_model="numpy")
def turn(r: Rotation, a: Vector) -> Vector:
    """R a."""
    return (
        r[0] * a[0] + r[1] * a[1] + r[2] * a[2],
        r[3] * a[0] + r[4] * a[1] + r[5] * a[2],
        r[6] * a[0] + r[7] * a[1] + r[8] * a[2],
    )


@njit(cache=True, error_model="numpy")
def turn_back(r: Rotation, a: Vector) -> Vector:
    """Rᵀ a."""
    return (
        r[0] * a[0] + r[3] * a[1] + r[6] * a[2],
        r[1] * a[0] + r[4] * a[1] + r[7] * a[2],
        r[2] * a[0] + r[5] * a[1] + r[8] * a[2],
    )


@njit(cache=True, error_model="numpy")
def centre(index: np.ndarray, q: np.ndarray, body: int) -> Vector:
    at = index[BODY] + BODY_SIZE * body
    if index[at + 2] == 0:
        return 0.0, 0.0, 0.0
    return vector(q, index[at])


@njit(cache=True, error_model="numpy")
def quaternion(index: np.ndarray, q: np.ndarray, body: int) -> Quaternion:
    at = index[BODY] + BODY_SIZE * body
    if index[at + 2] < 6:
        return 1.0, 0.0, 0.0, 0.0
    place = index[at] + 3
    return q[place], q[place + 1], q[place + 2], q[place + 3]


@njit(cache=True, error_model="numpy")
def rotation(index: np.ndarray, q: np.ndarray, body: int) -> Rotation:
    at = index[BODY] + BODY_SIZE * body
    if index[at + 2] < 6:
        return 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
    place = index[at] + 3
    w, i, j, k = q[place], q[place + 1], q[place + 2], q[place + 3]
    scale = 2.0 / (w * w + i * i + j * j + k * k)
    return (
        1.0 - scale * (j * j + k * k),
        scale * (i * j - w * k),
        scale * (i * k + w * j),
        scale * (i * j + w * k),
        1.0 - scale * (i * i + k * k),
        scale * (j * k - w * i),
        scale * (i * k - w * j),
        scale * (j * k + w * i),
        1.0 - scale * (i * i + j * j),
    )


@njit(cache=True, error_model="numpy")
def speed(index: np.ndarray, v: np.ndarray, body: int) -> Vector:
    """ẋ of a body."""
    at = index[BODY] + BODY_SIZE * body
    if index[at + 2] == 0:
        return 0.0, 0.0, 0.0
    return vector(v, index[at + 1])


@njit(cache=True, error_model="numpy")
def spin(index: np.ndarray, v: np.ndarray, body: int) -> Vector:
    """ω of a body in its own axes."""
    at = index[BODY] + BODY_SIZE * body
    if index[at + 2] < 6:
        return 0.0, 0.0, 0.0
    return vector(v, index[at + 1] + 3)


@njit(cache=True, error_model="numpy")
def product(p: Quaternion, q: Quaternion) -> Quaternion:
    """p ∘ q."""
    return (
        p[0] * q[0] - (p[1] * q[1] + p[2] * q[2] + p[3] * q[3]),
        p[0] * q[1] + q[0] * p[1] + (p[2] * q[3] - p[3] * q[2]),
        p[0] * q[2] + q[0] * p[2] + (p[3] * q[1] - p[1] * q[3]),
        p[0] * q[3] + q[0] * p[3] + (p[1] * q[2] - p[2] * q[1]),
    )


@njit(cache=True, error_model="numpy")
def put_wrench(
    index: np.ndarray, row: np.ndarray, at: int, body: int, r: Rotation, force: Vector, moment: Vector
) -> int:
    """A force and a moment, in world axes, on a body, into a row (w,) from ``at`` on; returns where the next begins."""
    count = index[index[BODY] + BODY_SIZE * body + 2]
    if count > 0:
        row[at], row[at + 1], row[at + 2] = force
        if count == 6:
            row[at + 3], row[at + 4], row[at + 5] = turn_back(r, moment)
    return at + count


@form_function("advance")
def advance(
    index: np.ndarray, data: np.ndarray, q: np.ndarray, displacement: np.ndarray, out: np.ndarray
) -> None:
    """Centres move along, quaternions by the exponential map."""
    at = index[BODY]
    for _ in range(index[BODIES]):
        place, row, count = index[at], index[at + 1], index[at + 2]
        at += BODY_SIZE
        for k in range(3):
            out[place + k] = q[place + k] + displacement[row + k]
        if count == 6:
            x, y, z = vector(displacement, row + 3)
            half = 0.5 * math.sqrt(x * x + y * y + z * z)
            share = 0.5 * (math.sin(half) / half if half != 0.0 else 1.0)
            old = q[place + 3], q[place + 4], q[place + 5], q[place + 6]
            new = product(old, (math.cos(half), share * x, share * y, share * z))
            length = math.sqrt(new[0] * new[0] + new[1] * new[1] + new[2] * new[2] + new[3] * new[3])
            out[place + 3], out[place + 4] = new[0] / length, new[1] / length
            out[place + 5], out[place + 6] = new[2] / length, new[3] / length
