"""Penetration and drift taken out of a position, in the metric of the mass.

    q ← q + M⁻¹ (J_N ν_N + J_B ν_B),   0 ≤ ν_N ⟂ g ≥ 0,   Φ = 0

Velocities stay; what this does to the potential energy is a numerical entry of the ledger.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse

from klapper.complementarity import FrictionalContact, solve
from klapper.mechanics.system import System
from klapper.schemes.mobility import Held, Inverse

_ROUNDS = 8


def project_position(
    system: System,
    t: float,
    q: np.ndarray,
    lasting: np.ndarray | None = None,
    allowed: np.ndarray | None = None,
    *,
    penetration: bool = True,
    tolerance: float = 1e-12,
) -> np.ndarray:
    """The nearest position (nq,) without penetration and with the two-sided constraints met to ``tolerance`` [m].

    Contacts with the numbers (l,) ``lasting`` may keep the penetrations (l,) [m] ``allowed``; without ``penetration``
    all contacts keep theirs.
    """
    for _ in range(_ROUNDS):
        near = system.near(t, q) if penetration else np.zeros(0, dtype=np.int64)
        gaps = system.gaps(t, q, near)
        if lasting is not None and allowed is not None and len(lasting):
            _, mine, theirs = np.intersect1d(near, lasting, return_indices=True)
            gaps[mine] += allowed[theirs]
        closed = near[gaps < 0.0]
        depth = gaps[gaps < 0.0]
        residual = system.constraint_residuals(t, q)
        worst = max(-depth.min(initial=0.0), np.abs(residual).max(initial=0.0))
        if worst <= tolerance:
            break
        q = system.advance(q, _correction(system, t, q, closed, depth, residual))
    return q


def _correction(
    system: System, t: float, q: np.ndarray, closed: np.ndarray, depth: np.ndarray, residual: np.ndarray
) -> np.ndarray:
    inverse = Inverse(system.mass(q))
    bilateral, _ = system.constraint_directions(t, q)
    held = Held(inverse, bilateral, system.constraints)
    move = held.push(held.impulses(residual)) if system.constraints else np.zeros(len(system.velocities))
    if len(closed) == 0:
        return move
    normal = system.directions(t, q, closed).normal
    response = held.respond(normal)
    delassus = normal.T @ response
    delassus = delassus.toarray() if sparse.issparse(delassus) else delassus
    problem = FrictionalContact(0.5 * (delassus + delassus.T), depth + normal.T @ move, dimension=1)
    return move + np.asarray(response @ solve(problem, tolerance=1e-8).x)
