"""A linear system with constant contact directions as arrays, and its products. Contacts have w = 1 + d rows each,
normal first.

The arrays are few and packed: every array that a compiled function takes costs time when it is compiled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klapper.machine_code import njit
from klapper.schemes.form_kernels.compiling import bare

MASS, RATE, POSITION, DAMPING, STIFFNESS, CIRCULATORY = range(6)
"""Which matrix: M, D + G, K + N, D, K, N."""
NORMAL, RESTITUTION, FRICTION, LIMIT, SOFT = range(5)
"""Rows of the table of laws: whether there is a normal direction, ε, μ, limit [N], whether the compliance counts."""
OFFSET, RATE_OF_GAP, TURNING = range(3)
"""Of given motion: g₀ [m], its rate a_N [m/s], h |g̈| [m/s]."""


class LinearForm(NamedTuple):
    """n coordinates, m contacts with w rows each.

    ``start`` (6, n + 1), ``column``, ``value``   the matrices MASS … CIRCULATORY by rows, sparse
    ``factors``      factors L D Lᵀ (b + 1, n) of a ``banded`` M̂, else M̂⁻¹ (n, n)
    ``first``, ``place``, ``entry``   J by columns (m w), sparse, and
    ``dense``        Jᵀ (m w, n) where most entries are there, else (0, 0)
    ``response``     (m w, n) M̂⁻¹ J
    ``delassus``     (m w, m w), on position level with C/h² between the normal rows
    ``compliance``   C (m, m) [m/N], or (0, 0)
    ``laws``         (5, m) NORMAL … SOFT
    ``dead``         (n,) constant load, which has a potential
    ``on_position``  whether gaps are held at the end of the step (θ = 1), or velocities
    """

    start: np.ndarray
    column: np.ndarray
    value: np.ndarray
    factors: np.ndarray
    first: np.ndarray
    place: np.ndarray
    entry: np.ndarray
    dense: np.ndarray
    response: np.ndarray
    delassus: np.ndarray
    compliance: np.ndarray
    laws: np.ndarray
    dead: np.ndarray
    width: int
    banded: bool
    on_position: bool
    theta: float
    step: float


class Course(NamedTuple):
    """Given functions of time over the steps of one call: one row per step, or a single row for constants.

    ``load`` (c, n) at t + θ h; ``gap`` (3, c, m) OFFSET … TURNING of the given motion and ``tangential_rate`` (c, m d)
    at t + (1 − θ) h; ``sample_offset`` (s, m) at the samples.
    """

    load: np.ndarray
    gap: np.ndarray
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


@bare
def multiply(
    start: np.ndarray, column: np.ndarray, value: np.ndarray, x: np.ndarray, out: np.ndarray
) -> None:
    """out = A x for a sparse matrix by rows."""
    for i in range(out.size):
        total = 0.0
        for k in range(start[i], start[i + 1]):
            total += value[k] * x[column[k]]
        out[i] = total


@bare
def form(start: np.ndarray, column: np.ndarray, value: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """yᵀ A x for a sparse matrix by rows."""
    total = 0.0
    for i in range(y.size):
        for k in range(start[i], start[i + 1]):
            total += y[i] * value[k] * x[column[k]]
    return total


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def along_row(rows: np.ndarray, j: int, x: np.ndarray) -> float:
    """Row j of a dense matrix times x."""
    total = 0.0
    for i in range(x.size):
        total += rows[j, i] * x[i]
    return total


@bare
def along(
    first: np.ndarray, place: np.ndarray, entry: np.ndarray, dense: np.ndarray, j: int, x: np.ndarray
) -> float:
    """Contact direction j times x."""
    if dense.shape[0] > 0:
        return along_row(dense, j, x)
    total = 0.0
    for k in range(first[j], first[j + 1]):
        total += entry[k] * x[place[k]]
    return total


@bare
def apply_inverse(factors: np.ndarray, banded: bool, x: np.ndarray, out: np.ndarray) -> None:
    """out = M̂⁻¹ x from the factors of a banded matrix, or from the inverse."""
    n = x.size
    if not banded:
        for i in range(n):
            out[i] = along_row(factors, i, x)
        return
    width = factors.shape[0] - 1
    for i in range(n):
        total = x[i]
        for k in range(max(i - width, 0), i):
            total -= factors[i - k, k] * out[k]
        out[i] = total
    for i in range(n):
        out[i] /= factors[0, i]
    for i in range(n - 1, -1, -1):
        total = out[i]
        for k in range(i + 1, min(i + width + 1, n)):
            total -= factors[k - i, i] * out[k]
        out[i] = total


@bare
def spring_energy(compliance: np.ndarray, impulse: np.ndarray, step: float) -> float:
    """½ λᵀ C λ [J] of the forces λ = Λ/h at the end of a step with impulses Λ (m, w)."""
    total = 0.0
    for i in range(compliance.shape[0]):
        if impulse[i, 0] != 0.0:
            for j in range(compliance.shape[0]):
                total += impulse[i, 0] * compliance[i, j] * impulse[j, 0]
    return 0.5 * total / (step * step)
