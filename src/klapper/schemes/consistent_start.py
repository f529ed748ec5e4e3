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

from klapper.mechanics.contacts import unused_restitution
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System
from klapper.schemes.base import Snapshot, StepFailed, snapshot_at_start
from klapper.schemes.penalty_contact import PenaltyContact
from klapper.schemes.saddle_point import saddle_point

_ASIDE = (1e-3, 0.3)  # [m, rad] of the displacements at which the mass is looked at: small and large ones
_SAME = 1e-12  # of the largest entry: differences of mass matrices that are rounding


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
    require_plain_velocities(system, name)
    start = system.start
    mass = system.mass(start.position)
    for size in _ASIDE:
        other = system.mass(system.advance(start.position, size * _uneven(len(start.velocity))))
        if mass is not other and abs(mass - other).max() > _SAME * abs(mass).max():
            raise InvalidModel(
                f"the mass matrix of '{system.name}' depends on its position, but {name} steps need a constant one; "
                f"use Moreau."
            )


def require_no_restitution(system: System, scheme: Any) -> None:
    """Refuse contacts with a restitution that the steps of ``scheme`` do not use."""
    told = unused_restitution(system.contacts, scheme.rebound)
    if told:
        raise InvalidModel(
            f"{told[0].upper()}{told[1:]} in {scheme.name} steps; set it to 0, or use Moreau or EventDriven."
        )


def require_plain_velocities(system: System, name: str) -> None:
    """Refuse systems whose velocities are not the rates of their coordinates, q' = B(q) v with B ≠ 1."""
    start, v = system.start, _uneven(len(system.velocities))
    if len(system.coordinates) != len(v) or not np.allclose(
        system.rate(start.position, v), v, rtol=_SAME, atol=0.0
    ):
        raise InvalidModel(
            f"'{system.name}' has coordinates that are no integrals of its velocities, which {name} steps need; use "
            f"Moreau."
        )


def require_same_mass(system: System, mass: Any, t: float, q: np.ndarray, name: str) -> None:
    """Stop a run whose mass matrix was constant around the start and has changed since, at the time t [s]."""
    now = system.mass(q)
    if now is not mass and abs(now - mass).max() > _SAME * abs(mass).max():
        raise StepFailed(
            f"At {t:.6g} s the mass matrix of '{system.name}' has changed with its position, but {name} steps need a "
            f"constant one; use Moreau."
        )


def _uneven(count: int) -> np.ndarray:
    """Numbers (count,) between ½ and 1½, no two alike: a mass may depend on differences of coordinates only."""
    return 0.5 + np.mod(np.arange(1, count + 1) * 0.6180339887498949, 1.0)


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
