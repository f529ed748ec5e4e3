"""Which contacts are closed and which stick, and a state put back where closed and sticking contacts belong.

    γ = 1  if g ≤ g_TOL                                                                        Seiwald (D.2)
    κ = 1  if γ = 1 and (|v_T| ≤ tolerance or v_T has changed its sign within the step)        (D.3)
    projection: g = 0 for closed contacts (D.4); no sliding and no turning if all of them stick (D.5)

Projections go the shortest way in the metric of the mass.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klapper.complementarity.dense import dense
from klapper.mechanics.system import Directions, System
from klapper.schemes.mobility import Inverse

_ROUNDS = 8
_RANK = 1e-10
_ROUND_OFF = 1e-12  # of the largest velocity


def sticking(closed: np.ndarray, slip: np.ndarray, slip_before: np.ndarray, tolerance: Any) -> np.ndarray:
    """κ (k,) from the sliding velocities (k,) [m/s] at both ends of a step."""
    reversed_ = slip * slip_before < 0.0
    return closed & ((np.abs(slip) <= tolerance) | reversed_)


def sliding_mobility(delassus: np.ndarray, count: int) -> np.ndarray:
    """1/m (k,) [1/kg] against sliding of each contact with all ``count`` normal directions held.

    ``delassus`` (2 k, 2 k) with the normal rows first
    """
    normal, across = delassus[:count, :count], delassus[:count, count:]
    held = across.T @ np.linalg.pinv(normal, rcond=_RANK) @ across
    return np.maximum(np.diag(delassus[count:, count:] - held), 0.0)


def onto_contacts(system: System, t: float, q: np.ndarray, contact: np.ndarray) -> np.ndarray:
    """The position next to q (nq,) at which the gaps of the contacts (k,) are zero, (D.4)."""
    for _ in range(_ROUNDS):
        gap = system.gaps(t, q, contact)
        if np.abs(gap).max() <= 1e-16:
            break
        normal = dense(system.directions(t, q, contact).normal)
        q = system.advance(q, -_toward(system, q, normal) @ gap)
    return q


def without_sliding(system: System, q: np.ndarray, v: np.ndarray, directions: Directions) -> np.ndarray:
    """v (nv,) without sliding velocities and without differences of the normal velocities of the contacts, (D.5)."""
    normal, tangential = dense(directions.normal), dense(directions.tangential)
    rows = np.hstack([tangential, normal - normal.mean(axis=1, keepdims=True)])
    left = v - _toward(system, q, rows) @ (rows.T @ v)
    left[np.abs(left) <= _ROUND_OFF * np.abs(v).max(initial=0.0)] = (
        0.0  # what sticks has no direction of sliding
    )
    return left


def _toward(system: System, q: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """M⁻¹ J (Jᵀ M⁻¹ J)⁺ for directions J (nv, r)."""
    reach = Inverse(system.mass(q))(rows)
    return reach @ np.linalg.pinv(rows.T @ reach, rcond=_RANK, hermitian=True)
