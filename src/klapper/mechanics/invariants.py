"""Constraints by invariants of rigid motions, whose discrete gradients keep momentum and angular momentum.

    Φ(q) = φ(π(q)),   ∇̄Φ = ∂π/∂q(q_m) ∇̄φ(π₀, π₁)                                        Hesch (3.44)-(3.46)

π are squared distances, scalar products or areas of points: at most quadratic in q and the same after a rigid motion.
Then ∇̄Φ · Δq = Φ₁ − Φ₀ exactly, and ∇̄Φ has neither a resultant nor a moment about any point in the middle of the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from klapper.mechanics.discrete_gradient import discrete_gradient, discrete_gradient_slope

_DIFFERENCE = 6.0e-6


@dataclass(frozen=True, eq=False)
class Invariants:
    """How a constraint depends on invariants.

    ``value``     π(q) (r,), squares of lengths [m²] say
    ``slope``     ∂π/∂q (n, r) [m], linear in q
    ``function``  φ(π), in the unit of the constraint
    ``gradient``  ∂φ/∂π (r,), in the unit of φ per that of π

    A rod of length 5 between the origin and a point (x, y): π = x² + y², φ = (π − 25)/2. Between two states of the rod
    the gradient is the middle position, which is perpendicular to the step:

    >>> rod = Invariants(lambda q: [q @ q], lambda q: 2.0 * q[:, None], lambda p: (p[0] - 25.0) / 2.0, lambda p: [0.5])
    >>> rod.between(np.array([3.0, 4.0]), np.array([4.0, 3.0])).round(9).tolist()
    [3.5, 3.5]
    """

    value: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]
    function: Callable[[np.ndarray], float]
    gradient: Callable[[np.ndarray], np.ndarray]

    def between(self, before: np.ndarray, after: np.ndarray, surplus: float = 0.0) -> np.ndarray:
        """∇̄Φ (n,) with ∇̄Φ · Δq = Φ₁ − Φ₀ − ``surplus``."""
        gradient, _ = self._over_invariants(before, after, surplus)
        return self._slope(0.5 * (before + after)) @ gradient

    def between_slope(self, before: np.ndarray, after: np.ndarray, surplus: float = 0.0) -> np.ndarray:
        """∂∇̄Φ/∂q₁ (n, n), not symmetric.                                             Hesch (B.18)-(B.20), corrected"""
        gradient, turn = self._over_invariants(before, after, surplus)
        middle = self._slope(0.5 * (before + after))
        curved = np.column_stack(
            [0.5 * (self._slope(unit) - self._slope(0.0 * unit)) @ gradient for unit in np.eye(len(after))]
        )
        return middle @ turn @ self._slope(after).T + curved

    def _over_invariants(
        self, before: np.ndarray, after: np.ndarray, surplus: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """∇̄φ (r,) and ∂∇̄φ/∂π₁ (r, r)."""
        first, second = self._value(before), self._value(after)
        mean, change = 0.5 * (first + second), second - first
        size = float(np.linalg.norm(first) + np.linalg.norm(second))
        ends = np.asarray(self.function(first) + surplus), np.asarray(self.function(second))
        slope = self._gradient(mean)
        return (
            discrete_gradient(*ends, slope, change, size),
            discrete_gradient_slope(
                *ends, slope, self._gradient(second), self._curvature(mean), change, size
            ),
        )

    def _curvature(self, invariants: np.ndarray) -> np.ndarray:
        """∂²φ/∂π² (r, r), by differences."""
        columns = []
        for unit in np.eye(len(invariants)):
            d = _DIFFERENCE * max(float(np.abs(invariants).max()), 1e-300) * unit
            columns.append(
                (self._gradient(invariants + d) - self._gradient(invariants - d)) / (2.0 * d.max())
            )
        found = np.column_stack(columns)
        return 0.5 * (found + found.T)

    def _value(self, q: np.ndarray) -> np.ndarray:
        return np.asarray(self.value(q), dtype=float)

    def _slope(self, q: np.ndarray) -> np.ndarray:
        return np.asarray(self.slope(q), dtype=float)

    def _gradient(self, invariants: np.ndarray) -> np.ndarray:
        return np.asarray(self.gradient(invariants), dtype=float)
