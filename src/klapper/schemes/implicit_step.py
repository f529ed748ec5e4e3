"""The equations of an implicit step, with constraints and closed contacts held by multipliers.

    r(q₁) − w Σ λ ∇̄Φ(q₀, q₁) = 0,   Φ(q₁) = 0                                              Hesch (3.14), (3.35)

r is a balance: momentum over the step, or forces at its end. Everything that holds offers the same: its value, the
slope of that, the direction of its force, and how the direction turns (:class:`Holding`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sparse

from klapper.schemes.constraint_between import ConstraintsBetween
from klapper.schemes.newton import Residual
from klapper.schemes.saddle_point import Reduction, saddle_point
from klapper.schemes.sparse_factor import Solve

# Of derivative times position: the least size that a residual is measured in. With Newton's tolerance of 1e-10 this is
# the rounding of the positions. Larger: small motions are solved less exactly; smaller: bodies at rest are not solved.
LEAST = 1e-5


def least_size(matrix: Any, q: np.ndarray) -> float:
    """Least size that a residual with the derivative ``matrix`` (n, n) is measured in, at positions q (n,)."""
    return LEAST * float(np.abs(matrix.diagonal()).max(initial=0.0)) * float(np.abs(q).max(initial=0.0))


class Balanced(NamedTuple):
    """``value`` r (n,), and the ``size`` of the largest of the terms that it is the sum of."""

    value: np.ndarray
    size: float


class Balance(Protocol):
    """What a step balances: r at q₁ (n,), its derivative (n, n), and the ``weight`` w of constraint forces in it."""

    weight: float

    def residual(self, q1: np.ndarray) -> Balanced: ...

    def matrix(self, q1: np.ndarray) -> Any: ...


class Holding(Protocol):
    """``count`` conditions over a step, with their forces."""

    count: int

    def at(self, after: np.ndarray) -> ConstraintsBetween: ...

    def curvature(self, after: np.ndarray, multipliers: np.ndarray) -> Any: ...


class ImplicitStep:
    """Unknowns x = (q₁, λ) for Newton's method."""

    def __init__(self, balance: Balance, holding: Sequence[Holding], reduction: Reduction = "saddle") -> None:
        self.balance, self.reduction = balance, reduction
        self.holding = [part for part in holding if part.count]
        self.cuts = np.cumsum([part.count for part in self.holding])
        self._last: tuple[np.ndarray, ConstraintsBetween] | None = None

    def residual(self, x: np.ndarray) -> Residual:
        q1, multipliers = self.split(x)
        value, size = self.balance.residual(q1)
        if not self.holding:
            return Residual(value, np.full(len(q1), size))
        found = self._at(q1)
        held = self.balance.weight * (found.push @ multipliers)
        size = max(size, float(np.abs(held).max(initial=0.0)))
        reach = max(float(np.abs(q1).max(initial=0.0)), 1e-300)
        return Residual(
            np.concatenate([value - held, np.where(found.active, found.value, multipliers)]),
            np.concatenate([np.full(len(q1), size), np.where(found.active, reach, 1.0)]),
        )

    def inverse(self, x: np.ndarray) -> Solve:
        q1, multipliers = self.split(x)
        matrix, weight = self.balance.matrix(q1), self.balance.weight
        for part, mine in zip(self.holding, self._parts(multipliers), strict=True):
            curved = part.curvature(q1, mine)
            if curved is not None:
                matrix = matrix - weight * curved
        found = self._at(q1)
        return saddle_point(matrix, -weight * found.push, found.slope, found.active, self.reduction)

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q₁ and λ."""
        count = int(self.cuts[-1]) if self.holding else 0
        return x[: len(x) - count], x[len(x) - count :]

    def _parts(self, multipliers: np.ndarray) -> list[np.ndarray]:
        return np.split(multipliers, self.cuts[:-1]) if self.holding else []

    def _at(self, q1: np.ndarray) -> ConstraintsBetween:
        """Values and directions at q₁; those of the last position are kept, since Newton's method asks twice."""
        if self._last is None or not np.array_equal(self._last[0], q1):
            self._last = q1.copy(), self._joined(q1)
        return self._last[1]

    def _joined(self, q1: np.ndarray) -> ConstraintsBetween:
        found = [part.at(q1) for part in self.holding]
        if len(found) == 1:
            return found[0]
        empty = sparse.csc_array((len(q1), 0))
        return ConstraintsBetween(
            np.concatenate([np.zeros(0), *(each.value for each in found)]),
            sparse.hstack([empty, *(sparse.csc_array(each.slope) for each in found)], format="csc"),
            sparse.hstack([empty, *(sparse.csc_array(each.push) for each in found)], format="csc"),
            np.concatenate([np.zeros(0, dtype=bool), *(each.active for each in found)]),
        )
