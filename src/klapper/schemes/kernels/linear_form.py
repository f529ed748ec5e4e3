"""A linear system with constant contact directions as arrays, and its products. Contacts have w = 1 + d rows each,
normal first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


class Rows(NamedTuple):
    """A sparse matrix by rows."""

    start: np.ndarray
    column: np.ndarray
    value: np.ndarray


class LinearForm(NamedTuple):
    """n coordinates, m contacts with w rows each.

    ``mass``, ``rate`` D + G, ``position`` K + N, ``damping`` D, ``stiffness`` K, ``circulatory`` N   sparse rows
    ``band``         (b + 1, n) factors L D Lᵀ of a banded M̂, or (0, 0)
    ``inverse``      M̂⁻¹ (n, n) for any other, or (0, 0)
    ``columns``      J by columns (m w), sparse, and
    ``dense``        Jᵀ (m w, n) where most entries are there, else (0, 0)
    ``response``     (m w, n) M̂⁻¹ J
    ``delassus``     (m w, m w), on position level with C/h² between the normal rows
    ``compliance``   C (m, m) [m/N], or (0, 0)
    ``soft``         (m,) contacts whose compliance counts
    ``dead``         (n,) constant load, which has a potential
    ``on_position``  whether gaps are held at the end of the step (θ = 1), or velocities
    """

    mass: Rows
    rate: Rows
    position: Rows
    damping: Rows
    stiffness: Rows
    circulatory: Rows
    band: np.ndarray
    inverse: np.ndarray
    columns: Rows
    dense: np.ndarray
    response: np.ndarray
    delassus: np.ndarray
    compliance: np.ndarray
    soft: np.ndarray
    has_normal: np.ndarray
    restitution: np.ndarray
    friction: np.ndarray
    limit: np.ndarray
    dead: np.ndarray
    width: int
    symmetric: bool
    on_position: bool
    theta: float
    step: float


class Course(NamedTuple):
    """Given functions of time over the steps of one call: one row per step, or a single row for constants.

    ``load`` (c, n) at t + θ h; ``offset`` (c, m), ``normal_rate`` (c, m), ``turning`` h |g̈| (c, m) [m/s] of the given
    motion and ``tangential_rate`` (c, m d) at t + (1 − θ) h; ``sample_offset`` (s, m) at the samples.
    """

    load: np.ndarray
    offset: np.ndarray
    normal_rate: np.ndarray
    turning: np.ndarray
    tangential_rate: np.ndarray
    sample_offset: np.ndarray


class Saved(NamedTuple):
    """Arrays that the loop fills, s samples."""

    position: np.ndarray
    velocity: np.ndarray
    gap: np.ndarray
    impulse: np.ndarray
    state: np.ndarray
    energy: np.ndarray
    residual: np.ndarray


@njit(cache=True, inline="always")
def multiply(
    start: np.ndarray, column: np.ndarray, value: np.ndarray, x: np.ndarray, out: np.ndarray
) -> None:
    """out = A x for a sparse matrix by rows."""
    for i in range(out.size):
        total = 0.0
        for k in range(start[i], start[i + 1]):
            total += value[k] * x[column[k]]
        out[i] = total


@njit(cache=True, inline="always")
def form(start: np.ndarray, column: np.ndarray, value: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """yᵀ A x for a sparse matrix by rows."""
    total = 0.0
    for i in range(y.size):
        for k in range(start[i], start[i + 1]):
            total += y[i] * value[k] * x[column[k]]
    return total


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def along_row(rows: np.ndarray, j: int, x: np.ndarray) -> float:
    """Row j of a dense matrix times x."""
    total = 0.0
    for i in range(x.size):
        total += rows[j, i] * x[i]
    return total


@njit(cache=True, inline="always")
def along(columns: Rows, dense: np.ndarray, j: int, x: np.ndarray) -> float:
    """Contact direction j times x."""
    if dense.shape[0] > 0:
        return along_row(dense, j, x)
    total = 0.0
    for k in range(columns.start[j], columns.start[j + 1]):
        total += columns.value[k] * x[columns.column[k]]
    return total


@njit(cache=True, inline="always")
def apply_inverse(band: np.ndarray, inverse: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    """out = M̂⁻¹ x from the factors of a banded matrix, or from the inverse if there are none."""
    n = x.size
    if band.size == 0:
        for i in range(n):
            out[i] = along_row(inverse, i, x)
        return
    width = band.shape[0] - 1
    for i in range(n):
        total = x[i]
        for k in range(max(i - width, 0), i):
            total -= band[i - k, k] * out[k]
        out[i] = total
    for i in range(n):
        out[i] /= band[0, i]
    for i in range(n - 1, -1, -1):
        total = out[i]
        for k in range(i + 1, min(i + width + 1, n)):
            total -= band[k - i, i] * out[k]
        out[i] = total


@njit(cache=True)
def spring_energy(compliance: np.ndarray, impulse: np.ndarray, step: float) -> float:
    """½ λᵀ C λ [J] of the forces λ = Λ/h at the end of a step with impulses Λ (m, w)."""
    total = 0.0
    for i in range(compliance.shape[0]):
        if impulse[i, 0] != 0.0:
            for j in range(compliance.shape[0]):
                total += impulse[i, 0] * compliance[i, j] * impulse[j, 0]
    return 0.5 * total / (step * step)
