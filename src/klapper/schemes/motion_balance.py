"""Momentum over one implicit step.

r = 2/h M (q₁ − q₀) − 2 M v₀ − h (f̄(q₀, q₁) + springs)                                  Hesch (2.145)
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from klapper.mechanics.system import System
from klapper.schemes.constraint_springs import ConstraintSprings
from klapper.schemes.force_between import mean_force
from klapper.schemes.implicit_step import Balanced, least_size
from klapper.schemes.krylov import inverse
from klapper.schemes.penalty_contact import PenaltyContact
from klapper.schemes.sparse_factor import Solve


class MotionBalance:
    """From (q₀, v₀) over h [s], with the ``middle`` of the step at that time [s]; ``exact``: forces do exact work."""

    def __init__(
        self,
        system: System,
        before: np.ndarray,
        velocity: np.ndarray,
        middle: float,
        h: float,
        *,
        exact: bool,
        springs: ConstraintSprings | None = None,
        contact: PenaltyContact | None = None,
    ) -> None:
        self.system, self.before, self.middle, self.weight = system, before, middle, h
        self.exact, self.springs, self.contact = exact, springs, contact
        self.mass = system.mass(before)
        self.velocity = velocity
        self.least = 0.0  # known with the first derivative
        self.momentum = 2.0 * (self.mass @ velocity)

    @cached_property
    def mobility(self) -> Solve:
        """M⁻¹."""
        return inverse(self.mass)

    def residual(self, q1: np.ndarray) -> Balanced:
        h = self.weight
        inertia = self.mass @ ((2.0 / h) * (q1 - self.before) - 2.0 * self.velocity)
        parts = [h * mean_force(self.system, self.middle, self.before, q1, h, exact=self.exact).force]
        if self.springs is not None:
            parts.append(h * self.springs.force(q1))
        if self.contact is not None:
            parts.append(h * self.contact.force(self.system, self.middle, 0.5 * (self.before + q1)))
        size = max(float(np.abs(term).max(initial=0.0)) for term in (inertia, self.momentum, *parts))
        return Balanced(inertia - sum(parts), max(size, self.least))

    def matrix(self, q1: np.ndarray) -> Any:
        h = self.weight
        slope = mean_force(self.system, self.middle, self.before, q1, h, exact=self.exact, slope=True).slope
        matrix = (2.0 / h) * self.mass - h * slope
        if self.springs is not None:
            matrix = matrix - h * self.springs.slope(q1)
        if self.contact is not None:
            pressed = self.contact.tangent(self.system, self.middle, 0.5 * (self.before + q1))
            if pressed is not None:
                matrix = matrix - 0.5 * h * pressed
        self.least = least_size(matrix, q1)
        return matrix
