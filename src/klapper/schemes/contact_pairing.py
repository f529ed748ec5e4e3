"""What implicit steps ask of one-sided contacts: gaps and slips as functions of position, partners frozen.

A system with contacts between deforming surfaces says itself which parts meet (``pair``, see
:class:`klapper.continuum.contact.Pairing`). For all others the contacts near a position are taken one by one, with the
directions that the system gives and their discrete gradients over the coordinates that each one touches.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.discrete_gradient import discrete_gradient
from klapper.mechanics.system import System
from klapper.schemes.direction_slope import direction_slope


class ContactPairing(Protocol):
    """k contacts whose partners do not change."""

    @property
    def which(self) -> np.ndarray:
        """Numbers (k,), rising."""
        ...

    @property
    def friction(self) -> np.ndarray:
        """μ (k,)."""
        ...

    @property
    def rate(self) -> np.ndarray:
        """Given part (k,) [m/s] of the sliding velocities."""
        ...

    @property
    def held(self) -> np.ndarray:
        """Where (k,) surfaces never part."""
        ...

    @property
    def key(self) -> bytes:
        """Says which parts meet: pairings with equal keys have the same gaps."""
        ...

    def same(self, other: Any) -> bool:
        """Whether the same parts meet."""
        ...

    def gaps(self, q: np.ndarray) -> np.ndarray: ...

    def slope(self, q: np.ndarray) -> Any:
        """∂g/∂q (n, k)."""
        ...

    def hessian(self, q: np.ndarray, force: np.ndarray) -> Any:
        """Σ force_k ∂²g_k/∂q² (n, n)."""
        ...

    def push(self, before: np.ndarray, after: np.ndarray, start: np.ndarray) -> Any:
        """∇̄g (n, k) with ∇̄g · Δq = g(after) − start."""
        ...

    def push_slope(
        self, before: np.ndarray, after: np.ndarray, force: np.ndarray, start: np.ndarray
    ) -> Any: ...

    def slipped(self, before: np.ndarray, after: np.ndarray) -> np.ndarray: ...

    def slip_slope(self, before: np.ndarray, after: np.ndarray) -> Any:
        """∂(slip from before to after)/∂after (n, k)."""
        ...

    def slip_hessian(self, before: np.ndarray, after: np.ndarray, force: np.ndarray) -> Any: ...

    def slip_push(self, before: np.ndarray, after: np.ndarray) -> Any:
        """(n, k) with (·) · Δq = the slip."""
        ...

    def slip_push_slope(self, before: np.ndarray, after: np.ndarray, force: np.ndarray) -> Any: ...


def pairing_of(
    system: System, t: float, q: np.ndarray, travel: float, start: np.ndarray, *, corners: bool = False
) -> ContactPairing:
    """Who meets whom at a position q (n,), nothing having moved farther than ``travel`` [m] since ``start`` (n,); with
    ``corners`` some have a second partner, whose number is that of the contact plus the number of all contacts."""
    own = getattr(system, "pair", None)
    if own is not None:
        return own(t, q, travel, start, corners=corners)
    return ListedContacts(system, t, system.near(t, q))


class ListedContacts:
    """Contacts of any system: gaps and directions as it gives them, at one time."""

    def __init__(self, system: System, t: float, which: np.ndarray) -> None:
        laws = system.contacts.laws(which)
        self.system, self.t, self.which = system, t, which[laws.normal]
        self.friction = laws.own_friction[laws.normal]
        self.held = np.zeros(len(self.which), dtype=bool)

    @cached_property
    def rate(self) -> np.ndarray:
        rate = self.system.directions(self.t, self.system.start.position, self.which).tangential_rate
        return rate if len(rate) else np.zeros(len(self.which))

    @property
    def key(self) -> bytes:
        return self.which.tobytes()

    def same(self, other: Any) -> bool:
        return self.key == other.key

    def gaps(self, q: np.ndarray) -> np.ndarray:
        return self.system.gaps(self.t, q, self.which)

    def slope(self, q: np.ndarray) -> Any:
        return _sparse(self.system.directions(self.t, q, self.which).normal)

    def hessian(self, q: np.ndarray, force: np.ndarray) -> Any:
        if getattr(self.system.contacts, "affine", False):
            return sparse.csr_array((len(q), len(q)))
        return direction_slope(lambda at: self.system.directions(self.t, at, self.which).normal, q, force)

    def push(self, before: np.ndarray, after: np.ndarray, start: np.ndarray) -> Any:
        middle = self.slope(0.5 * (before + after)).toarray()
        change, end = after - before, self.gaps(after)
        for k in range(middle.shape[1]):
            on = middle[:, k] != 0.0
            reach = float(np.abs(after[on]).max(initial=1e-300))
            middle[on, k] = discrete_gradient(start[k], end[k], middle[on, k], change[on], reach)
        return _sparse(middle)

    def push_slope(self, before: np.ndarray, after: np.ndarray, force: np.ndarray, start: np.ndarray) -> Any:
        return 0.5 * self.hessian(0.5 * (before + after), force)

    def slipped(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        found = self.slip_push(before, after).T @ (after - before)
        return found if len(found) else np.zeros(len(self.which))

    def slip_slope(self, before: np.ndarray, after: np.ndarray) -> Any:
        return self.slip_push(before, after)

    def slip_hessian(self, before: np.ndarray, after: np.ndarray, force: np.ndarray) -> Any:
        return self.slip_push_slope(before, after, force)

    def slip_push(self, before: np.ndarray, after: np.ndarray) -> Any:
        return _sparse(self.system.directions(self.t, 0.5 * (before + after), self.which).tangential)

    def slip_push_slope(self, before: np.ndarray, after: np.ndarray, force: np.ndarray) -> Any:
        if getattr(self.system.contacts, "affine", False):
            return sparse.csr_array((len(after), len(after)))
        middle = 0.5 * (before + after)
        return 0.5 * direction_slope(
            lambda at: self.system.directions(self.t, at, self.which).tangential, middle, force
        )


def _sparse(matrix: Any) -> sparse.csc_array:
    return sparse.csc_array(matrix)


class _NoContacts:
    """The pairing of a step without contacts."""

    which = np.zeros(0, dtype=np.int64)
    friction = rate = np.zeros(0)
    held = np.zeros(0, dtype=bool)
    key = b""

    def same(self, other: Any) -> bool:
        return True

    def gaps(self, q: np.ndarray) -> np.ndarray:
        return np.zeros(0)

    def slipped(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        return np.zeros(0)

    def slope(self, q: np.ndarray) -> Any:
        return sparse.csc_array((len(q), 0))


NO_CONTACTS: Any = _NoContacts()
