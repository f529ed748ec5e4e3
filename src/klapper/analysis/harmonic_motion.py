"""Harmonic motion of a linear system that keeps its contact state.

    (K + i ω (D + D_R) − ω² M) q̂ − F λ̂ = f̂,   Wᵀ q̂ = 0                             Waltersberger & Wauer (7), (10)

Small systems are solved in minimal coordinates, many frequencies at once:

    Lᵀ (K + i ω (D + D_R) − ω² M) B ẑ = Lᵀ f̂,   q̂ = B ẑ

The right-hand side of the printed (10) lacks Bᵀ. Large systems are solved as they stand, by sparse factors of one
frequency after the other, the forces scaled so that both rows are of one size.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
from scipy.sparse.linalg import splu

from klapper.analysis.held_directions import HeldDirections
from klapper.analysis.minimal_coordinates import MinimalCoordinates
from klapper.progress import Silent, Tally

_BATCH = 2**22  # numbers held by the matrices of one batch
_UNSOLVED = 1e-6  # of the load: what a solution may leave unbalanced


def reduced_motion(
    reduced: MinimalCoordinates, load: np.ndarray, omega: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """q̂ (k, n) and the independent λ̂ (k, r) under loads (k, n) at angular frequencies (k,) [rad/s].

    Infinite where the load meets a resonance without damping.
    """
    system = reduced.system
    amplitude = np.empty((len(omega), reduced.size), dtype=complex)
    right = reduced.load(load)
    for part in np.array_split(np.arange(len(omega)), max(1, len(omega) * reduced.size**2 // _BATCH)):
        w = omega[part, None, None]
        matrices = reduced.stiffness + 1j * w * reduced.damping - w**2 * reduced.mass
        amplitude[part] = _solved(matrices, right[part])
    with np.errstate(invalid="ignore"):
        position = amplitude @ reduced.basis.T
        inertia = (system.mass_matrix @ position.T).T
        rates = _times(system.rate_matrix, position) + _times(reduced.state.turning, position)
        w = omega[:, None]
        unbalanced = _times(system.position_matrix, position) + 1j * w * rates - w**2 * inertia - load
        forces = unbalanced @ reduced.reaction.T
    lost = ~np.isfinite(amplitude).all(axis=1)
    position[lost], forces[lost] = np.inf, np.inf
    return position, forces


def sparse_motion(
    held: HeldDirections, load: np.ndarray, omega: np.ndarray, progress: Tally | Silent
) -> tuple[np.ndarray, np.ndarray]:
    """The same by sparse factors, without minimal coordinates."""
    system, rank = held.state.system, len(held.independent)
    stiffness, mass = _sparse(system.position_matrix, system.size), _sparse(system.mass_matrix, system.size)
    rates = _sparse(system.rate_matrix, system.size) + held.state.turning
    unit = abs(stiffness).max() or abs(mass).max()
    position = np.empty((len(omega), system.size), dtype=complex)
    forces = np.empty((len(omega), rank), dtype=complex)
    for k, w in enumerate(omega):
        dynamic = stiffness + 1j * w * rates - w**2 * mass
        matrix = sparse.block_array(
            [[dynamic, -unit * held.forces], [unit * held.directions.T, sparse.csc_array((rank, rank))]],
            format="csc",
        )
        answer = _sparse_solved(matrix, np.concatenate([load[k], np.zeros(rank)]))
        position[k], forces[k] = answer[: system.size], unit * answer[system.size :]
        progress.count(k + 1)
    return position, forces


def _solved(matrices: np.ndarray, loads: np.ndarray) -> np.ndarray:
    """Amplitudes (k, z) of matrices (k, z, z) under loads (k, z); infinite exactly in a resonance."""
    try:
        return np.linalg.solve(matrices, loads[..., None])[..., 0]
    except np.linalg.LinAlgError:
        pass
    answers = np.full(loads.shape, np.inf, dtype=complex)
    for i, (matrix, load) in enumerate(zip(matrices, loads, strict=True)):
        found = scipy.linalg.lstsq(matrix, load)[0]
        if np.abs(matrix @ found - load).max() <= _UNSOLVED * np.abs(load).max(initial=0.0):
            answers[i] = found
    return answers


def _sparse_solved(matrix: sparse.csc_array, right: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            answer = splu(matrix).solve(right)
        except RuntimeError:
            return np.full(len(right), np.inf, dtype=complex)
    small = np.abs(matrix @ answer - right).max() <= _UNSOLVED * np.abs(right).max(initial=0.0)
    return answer if small else np.full(len(right), np.inf, dtype=complex)


def _times(matrix: Any, positions: np.ndarray) -> np.ndarray:
    """A q (k, n) of positions (k, n)."""
    return np.zeros_like(positions) if matrix is None else (matrix @ positions.T).T


def _sparse(matrix: Any, size: int) -> sparse.csc_array:
    return sparse.csc_array((size, size)) if matrix is None else sparse.csc_array(matrix)
