"""Eigenvalues of many small problems of one size, shared among threads.

    (M s² + D s + K) q̂ = 0

In coordinates with M = 1, x = Lᵀ q and M = L Lᵀ, this is an ordinary eigenvalue problem of size 2n; without damping one
of size n for s², so that real parts of stable motions vanish exactly.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

_BATCH = 2**21  # numbers held by the matrices of one batch


def real_eigenvalues(matrices: np.ndarray) -> np.ndarray:
    """Eigenvalues (k, n) complex of real matrices (k, n, n), on one core."""
    from klapper.analysis.kernels.real_eigenvalues import eigenvalues as compiled

    values = np.empty(matrices.shape[:2], dtype=complex)
    if compiled(matrices.copy(), values):
        lost = ~np.isfinite(values).all(axis=1)
        values[lost] = np.linalg.eigvals(matrices[lost])
    return values


def quadratic_eigenvalues(mass: np.ndarray, damping: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """s (k, 2n) complex [1/s] of matrices (k, n, n); the masses symmetric and positive definite."""
    count, n = mass.shape[:2]
    if count == 0 or n == 0:
        return np.zeros((count, 2 * n), dtype=complex)
    pieces = np.array_split(np.arange(count), max(1, -(-count * 4 * n * n // _BATCH), min(8, count // 16)))
    return np.concatenate(shared(lambda part: _some(mass[part], damping[part], stiffness[part]), pieces))


def in_mass_units(mass: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """L⁻¹ A L⁻ᵀ (k, n, n) of matrices A (k, n, n) with M = L Lᵀ."""
    return _in_units_of(np.linalg.cholesky(mass), matrix)


def shared(work: Callable[[np.ndarray], np.ndarray], pieces: Sequence[np.ndarray]) -> list[np.ndarray]:
    """What ``work`` makes of every piece, in their order, on all cores."""
    if len(pieces) == 1:
        return [work(pieces[0])]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, pieces))


def _some(mass: np.ndarray, damping: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    factor = np.linalg.cholesky(mass)
    rates, elastic = (_in_units_of(factor, matrix) for matrix in (damping, stiffness))
    values = np.empty((len(mass), 2 * mass.shape[1]), dtype=complex)
    still = ~damping.any(axis=(1, 2))
    values[still] = _oscillations(elastic[still])
    values[~still] = _first_order(rates[~still], elastic[~still])
    return values


def _in_units_of(factor: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    half = np.linalg.solve(factor, matrix)
    return np.linalg.solve(factor, half.swapaxes(1, 2)).swapaxes(1, 2)


def _oscillations(elastic: np.ndarray) -> np.ndarray:
    """±√(−κ) of the eigenvalues κ of the elastic matrices; a positive κ has no real part, not even of round-off."""
    squares = real_eigenvalues(elastic)
    pure = (squares.imag == 0.0) & (squares.real >= 0.0)
    roots = np.where(pure, 1j * np.sqrt(np.abs(squares)), np.sqrt(-squares))
    return np.concatenate([roots, -roots], axis=1)


def _first_order(rates: np.ndarray, elastic: np.ndarray) -> np.ndarray:
    """Of the first-order form, its time scaled so that both blocks are of size one."""
    count, n = elastic.shape[:2]
    unit = np.maximum(
        np.sqrt(np.abs(elastic).max(axis=(1, 2), initial=0.0)), np.abs(rates).max(axis=(1, 2), initial=0.0)
    )[:, None, None]
    matrix = np.zeros((count, 2 * n, 2 * n))
    matrix[:, np.arange(n), n + np.arange(n)] = 1.0
    matrix[:, n:, :n] = -elastic / unit**2
    matrix[:, n:, n:] = -rates / unit
    return unit[..., 0] * real_eigenvalues(matrix)
