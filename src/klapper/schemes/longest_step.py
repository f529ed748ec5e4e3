"""The largest step with which an explicit scheme is stable: h < 2/ω, ω the highest frequency of the system.

    K x = ω² M x,   K = −∂f/∂q + ε Σ J_N J_Nᵀ,   x along the constraints

By Arnoldi's iteration: a few products with K, no factor of it. Contacts count as closed if they are near.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.system import System, difference_tangents
from klapper.schemes.consistent_start import present
from klapper.schemes.penalty_contact import PenaltyContact
from klapper.schemes.saddle_point import saddle_point

_SMALL = 60  # coordinates up to which all frequencies are computed


def stable_step(
    system: System, *, contact: PenaltyContact | None = None, position: np.ndarray | None = None
) -> float:
    """The largest step 2/ω [s] with which explicit schemes are stable; inf where nothing vibrates.

        K x = ω² M x,   K = −∂f/∂q + ε Σ J_N J_Nᵀ

    ``system``    whose mass matrix and stiffness are looked at
    ``contact``   springs ε of near contacts, which count as closed
    ``position``  (n,) [m, rad], the start if not given

    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import stable_step
    >>> stable_step(LinearSystem([1.0], stiffness=[4.0]))  # ω = 2 rad/s
    1.0
    """
    start = system.start
    q = start.position if position is None else position
    mass = system.mass(q)
    directions = system.constraint_directions(start.time, q)[0]
    solve = saddle_point(mass, -directions, directions, present(directions))
    stiffness, n = _stiffness(system, q, contact), len(q)

    def response(x: np.ndarray) -> np.ndarray:
        """M⁻¹ K x with the constraints held."""
        return solve(np.concatenate([stiffness @ x, np.zeros(directions.shape[1])]))[:n]

    square = _largest(response, n)
    return 2.0 / float(np.sqrt(square)) if square > 0.0 else np.inf


def _stiffness(system: System, q: np.ndarray, contact: PenaltyContact | None) -> Any:
    start = system.start
    tangents = system.tangents(start.time, q, start.velocity)
    if not tangents.complete:
        tangents = difference_tangents(system.force, system.advance, start.time, q, start.velocity)
    slope = sparse.csr_array((len(q), len(q))) if tangents.position is None else tangents.position
    stiffness = -0.5 * (slope + slope.T)
    if contact is not None:
        near = system.near(start.time, q)
        normal = sparse.csr_array(system.directions(start.time, q, near).normal)
        stiffness = stiffness + contact.stiffness * (normal @ normal.T)
    return stiffness


def _largest(response: Any, n: int) -> float:
    """ω², from below within about a thousandth."""
    from scipy.sparse.linalg import LinearOperator, eigs

    if n <= _SMALL:
        matrix = np.column_stack([response(unit) for unit in np.eye(n)])
        return float(np.linalg.eigvals(matrix).real.max(initial=0.0))
    operator = LinearOperator((n, n), matvec=response, dtype=float)
    begin = np.random.default_rng(0).standard_normal(n)
    found = eigs(operator, k=1, which="LR", v0=begin, tol=1e-4, return_eigenvectors=False)
    return float(found.real.max())
