"""Contacts of a step whose states are given: closed ones hold like constraints, open ones are left out.

    closed   g(q₁) = target,   force λ_N ∇̄g,   ∇̄g · Δq = g(q₁) − start
    stick    slip + rate h = 0,   force λ_T ∇̄s
    slip     λ_T = −σ μ λ_N, σ the sign of the slip

The work of a contact over a step is λ_N (target − start) − friction. With start = target it is none, whatever the step:

``none``        target 0, start g(q₀): gaps close, and what a closing gap takes along is lost or gained
``consistent``  target = start = g(q₀) while that is not negative: what comes close stays apart by what it was apart;
                else target = start = 0                                                     Hesch (3.59), (3.63)
``gradient``    target = start = 0: gaps close without work                                 Hesch (3.63)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sparse

from klapper.contact_states import OPEN, STICK
from klapper.schemes.constraint_between import ConstraintsBetween
from klapper.schemes.contact_pairing import ContactPairing

FORWARD, BACKWARD = 2, 3
"""Besides OPEN and STICK: contacts that slip do so with σ = +1 or −1."""

EnergyOption = Literal["none", "consistent", "gradient", "momentum-update"]
Where = Literal["between", "middle", "end"]


@dataclass(frozen=True, eq=False)
class GapTargets:
    """What closed gaps are held at, and what their work is measured from, (k,) [m]."""

    target: np.ndarray
    start: np.ndarray

    @classmethod
    def of(cls, option: EnergyOption, before: np.ndarray, plain: np.ndarray, shut: np.ndarray) -> GapTargets:
        """For gaps ``before`` (k,) at the beginning of the step; ``plain`` (k,) falls back from (3.63) to (3.59), gaps
        that are ``shut`` (k,) for good do not stay open."""
        zero = np.zeros(len(before))
        if option == "consistent":
            kept = np.where(plain, before, np.where(shut, 0.0, np.maximum(before, 0.0)))
            return cls(kept, kept)
        if option == "gradient":
            kept = np.where(plain, before, 0.0)
            return cls(kept, kept)
        return cls(zero, before)


class HeldContacts:
    """Contacts of a ``pairing`` in given ``states`` (k,) over a step from q₀ of h [s].

    ``where``   directions of forces: discrete gradients "between" both ends, those of the "middle" or of the "end"
    ``wedged``  (k,) where a node is held by both sides of a corner: it cannot slide, and has no friction
    """

    def __init__(
        self,
        pairing: ContactPairing,
        states: np.ndarray,
        targets: GapTargets,
        before: np.ndarray,
        h: float,
        where: Where,
        wedged: np.ndarray | None = None,
    ) -> None:
        self.pairing, self.states, self.targets = pairing, states, targets
        self.before, self.h, self.where = before, h, where
        self.friction = pairing.friction if wedged is None else np.where(wedged, 0.0, pairing.friction)
        self.closed = np.flatnonzero(states != OPEN)
        self.stick = np.flatnonzero((states == STICK) & (self.friction > 0.0))
        sign = np.where(states == FORWARD, 1.0, np.where(states == BACKWARD, -1.0, 0.0))
        self.drag = -sign * self.friction  # λ_T/λ_N of sliding contacts (k,)
        self.rough = bool(np.any(self.friction[self.closed] > 0.0))
        self.count = len(self.closed) + len(self.stick)

    def forces(self, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """λ_N and λ_T (k,) [N] of all contacts of the pairing."""
        normal, tangential = np.zeros(len(self.states)), np.zeros(len(self.states))
        normal[self.closed] = multipliers[: len(self.closed)]
        tangential[:] = self.drag * normal
        tangential[self.stick] = multipliers[len(self.closed) :]
        return normal, tangential

    def multipliers(self, normal: np.ndarray, tangential: np.ndarray) -> np.ndarray:
        """The unknowns that belong to forces λ_N and λ_T (k,) [N]."""
        return np.concatenate([normal[self.closed], tangential[self.stick]])

    def slip(self, after: np.ndarray) -> np.ndarray:
        """(k,) [m], with what moving surfaces add."""
        return self.pairing.slipped(self.before, after) + self.h * self.pairing.rate

    def at(self, after: np.ndarray) -> ConstraintsBetween:
        gaps = self.pairing.gaps(after)[self.closed] - self.targets.target[self.closed]
        slope, push = self.pairing.slope(after)[:, self.closed], self._push(after)[:, self.closed]
        if not self.rough:
            return ConstraintsBetween(gaps, slope, push, np.ones(self.count, dtype=bool))
        along = self._slip_push(after)
        push = push + along[:, self.closed] @ sparse.diags_array(self.drag[self.closed])
        return ConstraintsBetween(
            np.concatenate([gaps, self.slip(after)[self.stick]]),
            sparse.hstack([slope, self.pairing.slip_slope(self.before, after)[:, self.stick]], format="csc"),
            sparse.hstack([push, along[:, self.stick]], format="csc"),
            np.ones(self.count, dtype=bool),
        )

    def curvature(self, after: np.ndarray, multipliers: np.ndarray) -> Any:
        """Σ λ ∂(direction)/∂q₁ (n, n)."""
        if not self.count:
            return None
        normal, tangential = self.forces(multipliers)
        pairing, before, middle = self.pairing, self.before, 0.5 * (self.before + after)
        if self.where == "between":
            total = pairing.push_slope(before, after, normal, self.targets.start)
        elif self.where == "middle":
            total = 0.5 * pairing.hessian(middle, normal)
        else:
            total = pairing.hessian(after, normal)
        if not self.rough:
            return total
        if self.where == "end":
            return total + pairing.slip_hessian(before, after, tangential)
        return total + pairing.slip_push_slope(before, after, tangential)

    def _push(self, after: np.ndarray) -> Any:
        if self.where == "between":
            return self.pairing.push(self.before, after, self.targets.start)
        return self.pairing.slope(0.5 * (self.before + after) if self.where == "middle" else after)

    def _slip_push(self, after: np.ndarray) -> Any:
        if self.where == "end":
            return self.pairing.slip_slope(self.before, after)
        return self.pairing.slip_push(self.before, after)
