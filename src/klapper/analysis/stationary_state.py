"""A state of rest under contact: where a system may stay, and the forces that keep it there.

    K q = f + J_N λ_N + J_T λ_T + J_B λ_B,   0 ≤ g ⟂ λ_N ≥ 0,   |λ_T| ≤ μ λ_N

K holds all that depends on the position: elastic, centrifugal and circulatory terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from klapper.contact_states import OPEN, SLIP, STICK
from klapper.mechanics.linear_system import LinearSystem

_WORDS = {STICK: "sticks", SLIP: "presses"}


class NoStationaryState(RuntimeError):
    """No verified state of rest can be returned; the text says why, and what to do.

    >>> from klapper.analysis import stationary_state
    >>> from klapper.mechanics import LinearSystem
    >>> stationary_state(LinearSystem([1.0], force=[1.0]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    klapper.analysis.stationary_state.NoStationaryState: 'linear system' has no state of rest: the load pushes it ...
    """


@dataclass(frozen=True, eq=False)
class StationaryState:
    """A stationary state of a linear system.

    ``position``    (n,) [m]
    ``forces``      (m, 1 + d) [N], normal and tangential, by contact
    ``gaps``        (m,) [m], not a number for friction elements
    ``states``      (m,) one of the numbers OPEN (without force), STICK or SLIP; a loaded smooth contact is SLIP
    ``touching``    (m,) whether a contact is closed, loaded or not
    ``constraint``  (p,) [N], forces of two-sided constraints
    ``residual``    of the equations and the contact laws, relative to the forces and gaps that occur
    ``convex``      whether its problem is convex: there is no other state; None if that was not asked
    ``negative``    number of directions in which the stiffness is negative while the loaded contacts stay closed; a
                    conservative system is not stable with one. None if that was not asked
    ``isolated``    whether no other stationary state lies next to it; None if that was not asked
    ``lower``, ``upper``  (m, 1 + d) [N], bounds of the forces that keep this position; None if they are unique

    A spring of 100 N/m carries 10 N − 4 N of a weight, a floor 0.06 m below the other 4 N:

    >>> from klapper.analysis import stationary_state
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> floor = Contact("floor", normal=[1.0], gap=0.06)
    >>> rest = stationary_state(LinearSystem([1.0], stiffness=[100.0], force=[-10.0], contacts=[floor]))
    >>> rest.position.round(9), rest.forces[0].round(9), rest.convex
    (array([-0.06]), array([4.]), True)
    """

    system: LinearSystem
    position: np.ndarray
    forces: np.ndarray
    gaps: np.ndarray
    states: np.ndarray
    touching: np.ndarray
    constraint: np.ndarray
    residual: float
    convex: bool | None = None
    negative: int | None = None
    isolated: bool | None = None
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None

    @cached_property
    def loaded(self) -> np.ndarray:
        """Numbers of the contacts that carry a force."""
        return np.flatnonzero((self.states == STICK) | (self.states == SLIP))

    @cached_property
    def open(self) -> np.ndarray:
        """Numbers of the contacts that do not touch."""
        return np.flatnonzero((self.states == OPEN) & ~self.touching)

    @cached_property
    def undetermined(self) -> tuple[str, ...]:
        """Names of the contacts whose forces are not unique."""
        if self.lower is None or self.upper is None:
            return ()
        return tuple(
            self.system.contacts.name(int(i)) for i in np.flatnonzero(np.any(self.lower < self.upper, axis=1))
        )

    def __str__(self) -> str:
        contacts = self.system.contacts
        lines = [f"State of rest, residual {self.residual:.1e}{self._judgement()}"]
        width = max((len(name) for name in contacts.names), default=0)
        for i, name in enumerate(contacts.names):
            lines.append(f"  {name:<{width}}  {self._words(i)}")
        return "\n".join(lines)

    def _judgement(self) -> str:
        if self.convex is None:
            return ""
        if not self.convex:
            return ", the problem is not convex"
        return ", one of many: nothing holds it in place" if self.isolated is False else ", the only one"

    def _words(self, contact: int) -> str:
        normal, *tangential = self.forces[contact]
        state = int(self.states[contact])
        if state != OPEN:
            words = f"{_WORDS[state]} with {normal:.6g} N"
        elif self.touching[contact]:
            words = "carries nothing"
        else:
            return f"open by {self.gaps[contact]:.6g} m"
        if any(tangential):
            words += ", friction " + ", ".join(f"{part:.6g}" for part in tangential) + " N"
        if self.lower is not None and self.upper is not None:
            low, high = self.lower[contact, 0], self.upper[contact, 0]
            words += f" (anything from {low:.6g} to {high:.6g} N)" if low < high else ""
        return words
