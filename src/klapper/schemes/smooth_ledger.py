"""What a step without impacts and friction adds to the energy ledger.

    numerical = loads − damping − Δ(kinetic + potential + springs of contacts)

What moving supports and moving stops do counts as load. Loads are taken in the middle of the step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klapper.mechanics.system import System
from klapper.schemes.base import kinetic_energy
from klapper.schemes.penalty_contact import PenaltyContact


class End(NamedTuple):
    """Time [s], position (n,) and velocity (n,) where a step begins or ends."""

    time: float
    position: np.ndarray
    velocity: np.ndarray


def step_sums(
    system: System, before: End, after: End, constraint_impulse: np.ndarray, contact: PenaltyContact | None
) -> np.ndarray:
    """loads, damping, friction, impact, numerical (5,) [J] of a step with ``constraint_impulse`` (p,) [N s]."""
    h = after.time - before.time
    t, middle = 0.5 * (before.time + after.time), 0.5 * (before.position + after.position)
    load, damping = system.powers(t, middle, (after.position - before.position) / h)
    loads = h * load
    if len(constraint_impulse):
        loads -= float(constraint_impulse @ system.constraint_directions(t, middle)[1])
    if contact is not None:
        loads += 0.5 * h * sum(contact.power(system, end.time, end.position) for end in (before, after))
    gained = _energy(system, after, contact) - _energy(system, before, contact)
    return np.array([loads, h * damping, 0.0, 0.0, loads - h * damping - gained])


def _energy(system: System, end: End, contact: PenaltyContact | None) -> float:
    springs = 0.0 if contact is None else contact.energy(system, end.time, end.position)
    return kinetic_energy(system, end.position, end.velocity) + system.potential(end.position) + springs
