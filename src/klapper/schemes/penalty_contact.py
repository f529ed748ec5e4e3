"""Contacts as springs that act while a gap is negative, for schemes that know no one-sided constraints.

    V = ½ ε Σ ⟨−g⟩²,   f = ε Σ ⟨−g⟩ J_N,   ∂f/∂q = −ε Σ_closed J_N J_Nᵀ + ε Σ ⟨−g⟩ ∂²g/∂q²          Hesch (3.2), (3.3)

Penetration is of the size force/ε. Without friction; restitution is what the springs make of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

from klapper.contact_states import SLIP
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System
from klapper.schemes.direction_slope import direction_slope


class Pressed(NamedTuple):
    """Contacts (k,) with a negative gap, in rising order, and their normal forces (k,) [N]."""

    contact: np.ndarray
    force: np.ndarray


class Loaded(NamedTuple):
    """Contacts (k,) loaded in a step, impulses (k, 1 + d) [N s], states (k,)."""

    contact: np.ndarray
    impulse: np.ndarray
    state: np.ndarray


@dataclass(frozen=True)
class PenaltyContact:
    """A spring for each closed contact, frictionless.                                     Hesch (3.2), (3.3)

        V = ½ ε ⟨−g⟩²,   λ_N = ε ⟨−g⟩

    ``stiffness``  ε [N/m]

    A gap of −1 mm and 10⁴ N/m press with 10 N:

    >>> import numpy as np
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.schemes import PenaltyContact
    >>> ball = LinearSystem([1.0], contacts=[Contact("floor", normal=[1.0])])
    >>> PenaltyContact(1e4).force(ball, 0.0, np.array([-0.001]))
    array([10.])
    """

    stiffness: float

    def __post_init__(self) -> None:
        number(self.stiffness, "stiffness", "numbers above 0, in N/m", above=0.0)

    def require(self, system: System) -> None:
        """Refuse friction, by the name of the contact."""
        which = np.arange(system.contacts.count)
        laws = system.contacts.laws(which)
        rough = laws.rough | ~laws.normal
        if np.any(rough):
            name = system.contacts.name(int(np.argmax(rough)))
            raise InvalidModel(
                f"contact '{name}' has friction, which PenaltyContact does not have: set it to 0, or use Moreau."
            )

    def pressed(self, system: System, t: float, q: np.ndarray) -> Pressed:
        """The springs that act at a time [s] and position (n,)."""
        which = system.near(t, q)
        gaps = system.gaps(t, q, which)
        closed = gaps < 0.0
        return Pressed(which[closed], -self.stiffness * gaps[closed])

    def energy(self, system: System, t: float, q: np.ndarray) -> float:
        """V [J]."""
        force = self.pressed(system, t, q).force
        return 0.5 * float(force @ force) / self.stiffness

    def force(self, system: System, t: float, q: np.ndarray) -> np.ndarray:
        """−∂V/∂q (n,) [N]."""
        pressed = self.pressed(system, t, q)
        if len(pressed.contact) == 0:
            return np.zeros(len(q))
        return np.asarray(system.directions(t, q, pressed.contact).normal @ pressed.force)

    def tangent(self, system: System, t: float, q: np.ndarray) -> Any:
        """∂f/∂q (n, n) [N/m], sparse; None where no contact is closed."""
        pressed = self.pressed(system, t, q)
        if len(pressed.contact) == 0:
            return None
        normal = sparse.csr_array(system.directions(t, q, pressed.contact).normal)
        return _turning(system, t, q, pressed) - self.stiffness * (normal @ normal.T)

    def impulses(
        self, system: System, ends: Sequence[tuple[float, np.ndarray]], weights: Sequence[float]
    ) -> Loaded:
        """Contacts closed at any of several times [s] and positions (n,), with the weighted sum [s] of their forces."""
        parts = [self.pressed(system, t, q) for t, q in ends]
        contact = np.unique(np.concatenate([part.contact for part in parts])).astype(np.int64)
        impulse = np.zeros((len(contact), 1 + system.contacts.tangential))
        for part, weight in zip(parts, weights, strict=True):
            impulse[np.searchsorted(contact, part.contact), 0] += weight * part.force
        return Loaded(contact, impulse, np.full(len(contact), SLIP, dtype=np.int8))

    def power(self, system: System, t: float, q: np.ndarray) -> float:
        """Power [W] that moving contacts put in, −λ ∂g/∂t."""
        pressed = self.pressed(system, t, q)
        if len(pressed.contact) == 0:
            return 0.0
        return -float(pressed.force @ system.directions(t, q, pressed.contact).normal_rate)


def loaded_contacts(
    contact: PenaltyContact | None,
    system: System,
    ends: Sequence[tuple[float, np.ndarray]],
    weights: Sequence[float],
) -> Loaded:
    """:meth:`PenaltyContact.impulses`, none without contacts."""
    if contact is not None:
        return contact.impulses(system, ends, weights)
    none = np.zeros(0, dtype=np.int64)
    return Loaded(none, np.zeros((0, 1 + system.contacts.tangential)), none.astype(np.int8))


def _turning(system: System, t: float, q: np.ndarray, pressed: Pressed) -> Any:
    """Σ λ ∂²g/∂q² (n, n), from the system where it has it."""
    if getattr(system.contacts, "affine", False):
        return sparse.csr_array((len(q), len(q)))
    own = getattr(system, "contact_hessian", None)
    if own is not None:
        return own(t, q, pressed.contact, pressed.force)
    return direction_slope(lambda at: system.directions(t, at, pressed.contact).normal, q, pressed.force)
