"""An implicit step whose contacts obey their laws: what it loaded, and the work of friction and of moving surfaces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.contact_states import SLIP, STICK as STICKS
from klapper.schemes.held_contacts import BACKWARD, FORWARD, HeldContacts
from klapper.schemes.implicit_step import ImplicitStep


@dataclass(frozen=True, eq=False)
class Settled:
    """A step whose contacts obey their laws.

    ``x``         unknowns of the ``equations``; ``contacts`` in their final states
    ``numbers``   (k,) of the contacts in the system; a node in a corner may have two with one number
    ``normal``, ``tangential``  forces (k,) [N] of the contacts of the pairing
    ``rounds``    of Newton's method in all; ``residual`` relative, of equations and laws
    """

    x: np.ndarray
    equations: ImplicitStep
    contacts: HeldContacts
    numbers: np.ndarray
    normal: np.ndarray
    tangential: np.ndarray
    rounds: int
    residual: float
    notes: dict[str, str]

    def loaded(self, directions: int, duration: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Closed contacts by number, impulses (k, 1 + directions) [N s] over a duration [s], and states."""
        k = self.contacts.closed
        contact, owner = np.unique(self.numbers[k], return_inverse=True)
        impulse = np.zeros((len(contact), 1 + directions))
        np.add.at(impulse[:, 0], owner, duration * self.normal[k])
        if directions:
            np.add.at(impulse[:, 1], owner, duration * self.tangential[k])
        smooth = self.contacts.friction[k] == 0.0
        slides = np.isin(self.contacts.states[k], (FORWARD, BACKWARD)) | smooth
        sticks = np.bincount(owner[~slides], minlength=len(contact)) > 0
        return contact, impulse, np.where(sticks, STICKS, SLIP).astype(np.int8)

    def friction(self, q1: np.ndarray) -> float:
        """Energy [J] that friction took."""
        return -float(self.tangential @ self.contacts.slip(q1))

    def belts(self) -> float:
        """Work [J] of surfaces that move by themselves."""
        return -self.contacts.h * float(self.tangential @ self.contacts.pairing.rate)
