"""Contacts that are held by two partners at once, where each alone would let them pass through the other.

A gap g = min(g_A, g_B) has a kink where its partners change: at the open end of a surface, whose last average covers
more or less of it, or in a re-entrant corner. If the solution with partner A lies where B counts, and that with B where
A counts, it is neither: it lies on the kink, with a force in the directions between those of both,

    g_A = g_B = 0,   λ_A ∇g_A + λ_B ∇g_B,   λ_A, λ_B ≥ 0              (generalised gradient, Clarke 1983)

so that 0 ≤ λ ⟂ g ≥ 0 holds for either partner. Friction is that of one contact: it is limited by μ (λ_A + λ_B).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.contact_states import OPEN, STICK
from klapper.schemes.contact_pairing import ContactPairing

_OWN, _CORNER = 0, 1  # numbers of partners, in units of the number of all contacts; from 2 on they are joined


class JoinedContacts:
    """All contacts of a ``first`` pairing, and the ``chosen`` (m,) ones of a ``second``, over ``count`` contacts.

    Numbers of the chosen ones are those of their contacts plus a multiple of ``count``, above all others.
    """

    def __init__(self, first: ContactPairing, second: ContactPairing, chosen: np.ndarray, count: int) -> None:
        self.first, self.second, self.chosen = first, second, chosen
        above = max(int(first.which.max(initial=0)) // count, _CORNER) + 1
        self.which = np.concatenate([first.which, second.which[chosen] + above * count])
        self.friction = np.concatenate([first.friction, second.friction[chosen]])
        self.rate = np.concatenate([first.rate, second.rate[chosen]])
        self.held = np.concatenate([first.held, second.held[chosen]])
        self.key = b"&".join([first.key, second.key, chosen.tobytes()])

    def same(self, other: Any) -> bool:
        return self.key == other.key

    def gaps(self, q: np.ndarray) -> np.ndarray:
        return np.concatenate([self.first.gaps(q), self.second.gaps(q)[self.chosen]])

    def slope(self, q: np.ndarray) -> Any:
        return self._beside(self.first.slope(q), self.second.slope(q))

    def hessian(self, q: np.ndarray, force: np.ndarray) -> Any:
        own, other = self._forces(force)
        return self.first.hessian(q, own) + self.second.hessian(q, other)

    def push(self, before: np.ndarray, after: np.ndarray, start: np.ndarray) -> Any:
        own, other = self._starts(before, start)
        return self._beside(self.first.push(before, after, own), self.second.push(before, after, other))

    def push_slope(self, before: np.ndarray, after: np.ndarray, force: np.ndarray, start: np.ndarray) -> Any:
        (own, other), (begin, second) = self._forces(force), self._starts(before, start)
        return self.first.push_slope(before, after, own, begin) + self.second.push_slope(
            before, after, other, second
        )

    def slipped(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        return np.concatenate(
            [self.first.slipped(before, after), self.second.slipped(before, after)[self.chosen]]
        )

    def slip_slope(self, before: np.ndarray, after: np.ndarray) -> Any:
        return self._beside(self.first.slip_slope(before, after), self.second.slip_slope(before, after))

    def slip_hessian(self, before: np.ndarray, after: np.ndarray, force: np.ndarray) -> Any:
        own, other = self._forces(force)
        return self.first.slip_hessian(before, after, own) + self.second.slip_hessian(before, after, other)

    def slip_push(self, before: np.ndarray, after: np.ndarray) -> Any:
        return self._beside(self.first.slip_push(before, after), self.second.slip_push(before, after))

    def slip_push_slope(self, before: np.ndarray, after: np.ndarray, force: np.ndarray) -> Any:
        own, other = self._forces(force)
        return self.first.slip_push_slope(before, after, own) + self.second.slip_push_slope(
            before, after, other
        )

    def _beside(self, own: Any, other: Any) -> sparse.csc_array:
        return sparse.hstack([own, other[:, self.chosen]], format="csc")

    def _forces(self, force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Those of both pairings; contacts that are not chosen have none."""
        k = len(self.first.which)
        other = np.zeros(len(self.second.which))
        other[self.chosen] = force[k:]
        return force[:k], other

    def _starts(self, before: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        k = len(self.first.which)
        other = self.second.gaps(before)
        other[self.chosen] = start[k:]
        return start[:k], other


class Groups:
    """Which contacts (k,) of a pairing are one: they have the same number but for multiples of ``count``.

    ``number``  (k,) of the contacts in the system
    """

    def __init__(self, pairing: ContactPairing, count: int) -> None:
        self.number, self.partner = pairing.which % max(count, 1), pairing.which // max(count, 1)
        self.single = bool(np.all(self.partner == _OWN))

    def leads(self, states: np.ndarray) -> np.ndarray:
        """(k,): the first closed contact of each group, whose friction is that of joined ones; else itself."""
        lead = np.arange(len(states))
        closed = np.flatnonzero(states != OPEN)
        _, first, group = np.unique(self.number[closed], return_index=True, return_inverse=True)
        lead[closed] = np.where(self.partner[closed] > _CORNER, closed[first[group]], closed)
        return lead

    def in_step(self, states: np.ndarray) -> np.ndarray:
        """States (k,) with joined contacts that are closed sticking or sliding as the first of their group."""
        return states if self.single else states[self.leads(states)]

    def smooth(self, states: np.ndarray) -> np.ndarray | None:
        """Where (k,) friction is none: nodes held by both sides of a corner cannot slide, and where one contact of a
        group sticks, those joined to it do as well."""
        if self.single:
            return None
        closed = (states != OPEN) & (self.partner <= _CORNER)
        wedged = closed & (np.bincount(self.number, closed)[self.number] > 1)
        lead = self.leads(states)
        return wedged | wedged[lead] | ((lead != np.arange(len(states))) & (states[lead] == STICK))

    def borne(self, states: np.ndarray, normal: np.ndarray) -> np.ndarray:
        """(k,) [N] that limits friction: where a contact sticks, the forces of those joined to it as well."""
        if self.single:
            return normal
        lead = self.leads(states)
        follows = (lead != np.arange(len(states))) & (states[lead] == STICK)
        return normal + np.bincount(lead[follows], normal[follows], minlength=len(normal))

    def opposed(self, held: np.ndarray, normal: np.ndarray, tolerance: float) -> bool:
        """Whether surfaces that never part, ``held`` (k,), pull at one partner and push at another by more than a
        ``tolerance`` [N]: no direction between both."""
        if self.single:
            return False
        pull = np.bincount(self.number, held & (normal < -tolerance))
        push = np.bincount(self.number, held & (normal > tolerance))
        return bool(np.any((pull > 0) & (push > 0)))


def missed_gaps(pairing: ContactPairing, fresh: ContactPairing, q: np.ndarray, count: int) -> np.ndarray:
    """How far (k,) [m] contacts of a ``pairing`` overlap with the partners that are ``fresh`` at q; of surfaces that
    never part, how far gaps are from what the pairing holds them at."""
    gaps = fresh.gaps(q)
    if not np.any(fresh.held):
        return -gaps
    near, number = np.abs(gaps), Groups(pairing, count).number
    place = np.minimum(np.searchsorted(fresh.which, number), len(gaps) - 1)
    there = fresh.which[place] == number
    np.minimum.at(near, place[there], np.abs(pairing.gaps(q)[there] - gaps[place[there]]))
    return np.where(fresh.held, near, -gaps)
