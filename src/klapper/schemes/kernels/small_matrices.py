"""Linear algebra of a few rows, without calls to large libraries: eigenvectors by rotations, elimination, copies."""

from __future__ import annotations

import math

import numpy as np

from klapper.machine_code import njit

_SWEEPS = 30


@njit(cache=True)
def copy(source: np.ndarray, target: np.ndarray) -> None:
    """target (n,) becomes source (n,)."""
    for i in range(source.size):
        target[i] = source[i]


@njit(cache=True)
def symmetric_eigen(matrix: np.ndarray, vector: np.ndarray) -> None:
    """Jacobi's rotations: ``matrix`` (n, n) becomes diagonal, the columns of ``vector`` (n, n) its eigenvectors."""
    n = matrix.shape[0]
    for i in range(n):
        for j in range(n):
            vector[i, j] = 1.0 if i == j else 0.0
    for _ in range(_SWEEPS):
        off, size = 0.0, 0.0
        for i in range(n):
            size = max(size, abs(matrix[i, i]))
            for j in range(i):
                off = max(off, abs(matrix[i, j]))
        if off <= 1e-17 * size:
            return
        for p in range(n):
            for r in range(p + 1, n):
                if matrix[p, r] != 0.0:
                    _rotate(matrix, vector, p, r)


@njit(cache=True)
def _rotate(matrix: np.ndarray, vector: np.ndarray, p: int, r: int) -> None:
    """One rotation that makes the entry (p, r) zero."""
    ratio = (matrix[r, r] - matrix[p, p]) / (2.0 * matrix[p, r])
    t = math.copysign(1.0, ratio) / (abs(ratio) + math.sqrt(ratio * ratio + 1.0))
    c = 1.0 / math.sqrt(t * t + 1.0)
    s = t * c
    for k in range(matrix.shape[0]):
        one, two = matrix[k, p], matrix[k, r]
        matrix[k, p], matrix[k, r] = c * one - s * two, s * one + c * two
        one, two = vector[k, p], vector[k, r]
        vector[k, p], vector[k, r] = c * one - s * two, s * one + c * two
    for k in range(matrix.shape[0]):
        one, two = matrix[p, k], matrix[r, k]
        matrix[p, k], matrix[r, k] = c * one - s * two, s * one + c * two
    matrix[p, r] = matrix[r, p] = 0.0


@njit(cache=True)
def eliminate(matrix: np.ndarray, right: np.ndarray) -> None:
    """``right`` (n, k) becomes matrix⁻¹ right; ``matrix`` (n, n) is used up."""
    n = matrix.shape[0]
    for p in range(n):
        best = p
        for i in range(p + 1, n):
            if abs(matrix[i, p]) > abs(matrix[best, p]):
                best = i
        if best != p:
            for j in range(n):
                matrix[p, j], matrix[best, j] = matrix[best, j], matrix[p, j]
            for j in range(right.shape[1]):
                right[p, j], right[best, j] = right[best, j], right[p, j]
        for i in range(p + 1, n):
            part = matrix[i, p] / matrix[p, p]
            for j in range(p, n):
                matrix[i, j] -= part * matrix[p, j]
            for j in range(right.shape[1]):
                right[i, j] -= part * right[p, j]
    for i in range(n - 1, -1, -1):
        for j in range(right.shape[1]):
            total = right[i, j]
            for k in range(i + 1, n):
                total -= matrix[i, k] * right[k, j]
            right[i, j] = total / matrix[i, i]
