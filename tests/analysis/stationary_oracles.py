"""Stationary states by other means: least-distance programs, all combinations of contacts, the plain conditions."""

from __future__ import annotations

from itertools import product

import numpy as np
import scipy.sparse as sparse
from scipy.linalg import null_space, solve_triangular
from scipy.optimize import nnls

from klapper.mechanics import Contact, LinearSystem


def dense(matrix: object) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix, dtype=float)


def parts(system: LinearSystem) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """K, f, J, g₀ of a system."""
    stiffness = np.zeros((system.size, system.size))
    if system.position_matrix is not None:
        stiffness = dense(system.position_matrix)
    return stiffness, system.load.value(0.0), dense(system.normal_directions), system.gap_offsets(0.0)


def least_energy(system: LinearSystem) -> np.ndarray:
    """min ½ qᵀK q − fᵀq under Jᵀq + g₀ ≥ 0 and two-sided constraints: a least-distance program (Lawson & Hanson, 23).

    u = R q − R⁻ᵀf, K = RᵀR, turns it into min |u| under G u ≥ h, whose dual are non-negative least squares.
    """
    stiffness, load, normal, gap = parts(system)
    fixed = dense(system.constraint_matrix)
    free = null_space(fixed.T) if fixed.shape[1] else np.eye(system.size)
    held = np.linalg.lstsq(fixed.T, -system.constraint_residuals(0.0, np.zeros(system.size)), rcond=None)[0]
    root = np.linalg.cholesky(free.T @ stiffness @ free).T
    lift = solve_triangular(root, free.T @ (load - stiffness @ held), trans="T")
    rows = solve_triangular(root, free.T @ normal, trans="T").T
    least = -gap - normal.T @ held - rows @ lift
    unit = np.abs(least).max() / np.linalg.norm(rows, axis=1).max()
    tall, goal = np.vstack([rows.T, least / unit]), np.append(np.zeros(len(lift)), 1.0)
    rest = tall @ nnls(tall, goal)[0] - goal
    return held + free @ solve_triangular(root, lift - rest[:-1] / rest[-1] * unit)


def all_states(system: LinearSystem) -> list[tuple[np.ndarray, np.ndarray]]:
    """Positions and forces of all states with regular equations: every combination of closed contacts."""
    stiffness, load, normal, gap = parts(system)
    n, found = system.size, []
    for choice in product((False, True), repeat=len(gap)):
        closed = np.array(choice, dtype=bool)
        directions = normal[:, closed]
        a = directions.shape[1]
        matrix = np.block([[stiffness, -directions], [directions.T, np.zeros((a, a))]])
        if np.linalg.cond(matrix) > 1e12:
            continue
        solved = np.linalg.solve(matrix, np.concatenate([load, -gap[closed]]))
        forces = np.zeros(len(gap))
        forces[closed] = solved[n:]
        if np.all(forces >= 0.0) and np.all((normal.T @ solved[:n] + gap)[~closed] >= 0.0):
            found.append((solved[:n], forces))
    return found


def violation(system: LinearSystem, position: np.ndarray, forces: np.ndarray) -> float:
    """The complementarity problem (3) with A = Jᵀ K⁻¹ J, relative: 0 ≤ λ ⟂ A λ + b ≥ 0, and the position it gives."""
    stiffness, load, normal, gap = parts(system)
    moved = np.linalg.solve(stiffness, load + normal @ forces)
    opening = normal.T @ moved + gap
    terms = np.abs(normal).T @ np.abs(moved) + np.abs(gap)
    pairs = np.minimum(forces / max(np.abs(forces).max(), 1e-300), opening / terms.max())
    return float(max(np.abs(pairs).max(), np.abs(moved - position).max() / np.abs(moved).max()))


def random_family(seed: int, size: int = 20, contacts: int = 10, circulatory: float = 0.0):
    """K − s² with a load that grows with s, all else random; and the critical values of s."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((size, size))
    stiffness = root @ root.T / size + np.diag(np.arange(1.0, size + 1.0))
    skew = rng.standard_normal((size, size))
    directions, load = rng.standard_normal((size, contacts)), 3.0 * rng.standard_normal(size)
    stops = [Contact(f"stop {i + 1}", 0.3, directions[:, i]) for i in range(contacts)]

    def family(speed: float) -> LinearSystem:
        return LinearSystem(
            np.eye(size),
            stiffness=stiffness - speed**2 * np.eye(size),
            circulatory=circulatory * (skew - skew.T) if circulatory else None,
            force=(1.0 + 0.2 * speed) * load,
            contacts=stops,
        )

    return family, np.sqrt(np.linalg.eigvalsh(stiffness))
