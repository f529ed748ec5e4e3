"""Velocities and accelerations at the start that agree with constraints, for schemes that remember accelerations.

    J_Bᵀ v + a_B = 0,   M q̈ = f + J_B λ,   J_Bᵀ q̈ + b_B = 0

A velocity that contradicts the constraints, e.g. of a body at rest whose support sets out with a jump, is corrected by
impulses of the constraints.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System
from klapper.schemes.base import Snapshot, snapshot_at_start
from klapper.schemes.penalty_contact import PenaltyContact
from klapper.schemes.saddle_point import saddle_point


@dataclass(frozen=True, eq=False)
class ConsistentStart:
    """Snapshot at the start, ``acceleration`` (n,) [m/s²] and ``multipliers`` (p,) [N]."""

    snapshot: Snapshot
    acceleration: np.ndarray
    multipliers: np.ndarray


def consistent_start(system: System, contact: PenaltyContact | None) -> ConsistentStart:
    """The start of a system, with contacts as springs or without."""
    start = snapshot_at_start(system)
    t, q, v = start.time, start.position, start.velocity
    n = len(v)
    directions, rate = system.constraint_directions(t, q)
    solve = saddle_point(system.mass(q), -directions, directions, present(directions))
    v = v + solve(np.concatenate([np.zeros(n), -(directions.T @ v + rate)]))[:n]
    force = np.asarray(system.force(t, q, v), dtype=float)
    if contact is not None:
        force = force + contact.force(system, t, q)
    curvature = system.constraint_curvature(t, q, v) if system.constraints else np.zeros(0)
    found = solve(np.concatenate([force, -curvature]))
    return ConsistentStart(replace(start, velocity=v), found[:n], found[n:])


def require_constant_mass(system: System, name: str) -> None:
    """Refuse systems whose mass matrix changes, or whose velocities are not the rates of their coordinates."""
    start = system.start
    if len(system.coordinates) != len(system.velocities):
        raise InvalidModel(
            f"'{system.name}' has coordinates that are no integrals of its velocities, which {name} steps need; use "
            f"Moreau."
        )
    aside = system.advance(start.position, np.full(len(start.velocity), 1e-3))
    mass, other = system.mass(start.position), system.mass(aside)
    if mass is not other and abs(mass - other).max() > 1e-12 * abs(mass).max():
        raise InvalidModel(
            f"the mass matrix of '{system.name}' depends on its position, but {name} steps need a constant one; use "
            f"Moreau."
        )


def present(directions: Any) -> np.ndarray:
    """Which columns (p,) are not all zero: others belong to constraints that are let go."""
    if sparse.issparse(directions):
        return np.asarray(abs(directions).sum(axis=0)).ravel() > 0.0
    return np.any(directions != 0.0, axis=0)


def require_pressed_contacts(system: System, scheme: str) -> None:
    """Refuse friction without a normal force, where friction is found only at contacts that press."""
    alone = np.flatnonzero(~system.contacts.laws(np.arange(system.contacts.count)).normal)
    if alone.size:
        raise InvalidModel(
            f"'{system.contacts.name(int(alone[0]))}' is a friction element, which {scheme} steps do not treat; use "
            f"Moreau."
        )
