"""What a round of the search for the states of contacts tries, and how that passes to other partners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.contact_states import OPEN, STICK
from klapper.schemes.contact_pairing import ContactPairing

_EASED = 1e-3  # of the extent of the model: the last easing of a gap


@dataclass(frozen=True, eq=False)
class Trial:
    """What is tried: states (k,), forces (k,) [N] to start from, ``plain`` (k,) where gaps are held as they were, and
    ``ease`` (k,) [m], not above zero, by which gaps may still be violated."""

    pairing: ContactPairing
    states: np.ndarray
    normal: np.ndarray
    tangential: np.ndarray
    plain: np.ndarray
    ease: np.ndarray

    def carried(self, pairing: ContactPairing, length: float) -> Trial:
        """The same with other partners, a little less eased."""
        states, normal, tangential, plain, ease = (
            carried_over(self.pairing, pairing, part)
            for part in (self.states, self.normal, self.tangential, self.plain, 0.5 * self.ease)
        )
        states = np.where(pairing.held & (states == OPEN), STICK, states).astype(np.int8)
        ease = np.where(ease < -_EASED * length, ease, 0.0)
        return Trial(pairing, states, normal, tangential, plain, ease)

    def key(self) -> bytes:
        return self.states.tobytes() + self.pairing.key


def carried_over(old: ContactPairing, new: ContactPairing, values: np.ndarray) -> np.ndarray:
    """Values (k,) of contacts of one pairing at those of another; zero for contacts that are new."""
    found = np.zeros(len(new.which), dtype=values.dtype)
    place = np.searchsorted(old.which, new.which)
    there = place < len(old.which)
    there[there] = old.which[place[there]] == new.which[there]
    found[there] = values[place[there]]
    return found
