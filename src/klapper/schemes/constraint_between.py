"""Two-sided constraints over a step: their value at its end, and the direction of their force in between.

    Φ(q₁) = 0,   force −λ ∇̄Φ(q₀, q₁)                                                        Hesch (3.35), (3.45)

``midpoint``   ∇Φ at the middle: the constraint is met, energy is not kept
``discrete``   the discrete gradient: ∇̄Φ · Δ = Φ₁ − Φ₀, so that a constraint that is met does no work
``end``        ∇Φ at the end: for steps without inertia
``modified``   ∇Φ at the middle, but Φ(q₁) = 0 gives way to ∇Φ · Δ = 0: no work, and drift          (3.38)

Discrete gradients are formed over invariants where a system gives them (``constraint_parts``, see
:class:`klapper.mechanics.Constraint`), so that momenta are kept, else over the coordinates that a constraint touches.
A constraint with a loss D has ∇̄Φ · Δ = Φ₁ − Φ₀ − D h, so that its force takes energy, (3.60), (3.61). Curvatures come
from differences, unless the system says ``affine_constraints``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sparse

from klapper.complementarity.dense import dense
from klapper.mechanics.discrete_gradient import discrete_gradient, discrete_gradient_slope
from klapper.mechanics.system import System

ConstraintForce = Literal["discrete", "midpoint", "modified", "end"]

_DIFFERENCE = 6.0e-6


@dataclass(frozen=True, eq=False)
class ConstraintsBetween:
    """p constraints of a step to a position q₁.

    ``value``   what must vanish (p,); ``slope`` its derivative (n, p)
    ``push``    ∇̄Φ (n, p), directions of the forces
    ``active``  (p,) False where a constraint is let go: it has no direction
    """

    value: np.ndarray
    slope: Any
    push: Any
    active: np.ndarray


class ConstraintStep:
    """The constraints of a system over one step from (t₀, q₀) to t₁."""

    def __init__(
        self, system: System, t0: float, t1: float, before: np.ndarray, how: ConstraintForce
    ) -> None:
        self.system, self.t0, self.t1, self.before, self.how = system, t0, t1, before, how
        self.count = len(system.constraints)
        self.affine = system.affine_constraints or self.count == 0
        self.value_at_start = system.constraint_residuals(t1, before)
        parts: Any = getattr(system, "constraint_parts", (None,) * self.count)
        self._invariants = [getattr(part, "invariants", None) for part in parts]
        self._surplus = (t1 - t0) * np.array([getattr(part, "loss", 0.0) for part in parts])

    def at(self, after: np.ndarray) -> ConstraintsBetween:
        """Values and directions at q₁ = ``after`` (n,)."""
        value = self.system.constraint_residuals(self.t1, after)
        slope = self._directions(after)
        if self.affine or self.how == "end":
            return ConstraintsBetween(value, slope, slope, _present(slope))
        middle = dense(self._directions(0.5 * (self.before + after)))
        change = after - self.before
        if self.how == "modified":
            curved = 0.5 * self._curved(0.5 * (self.before + after), change)
            return ConstraintsBetween(middle.T @ change, middle + curved, middle, _present(middle))
        if self.how == "midpoint":
            return ConstraintsBetween(value, slope, middle, _present(slope))
        push = np.zeros_like(middle)
        for k, invariants in enumerate(self._invariants):
            if invariants is not None:
                push[:, k] = invariants.between(self.before, after, self._surplus[k])
                continue
            on = middle[:, k] != 0.0
            start = self.value_at_start[k] + self._surplus[k]
            push[on, k] = discrete_gradient(
                start, value[k], middle[on, k], change[on], self._reach(after, on)
            )
        return ConstraintsBetween(value, slope, push, _present(slope))

    def curvature(self, after: np.ndarray, multipliers: np.ndarray) -> Any:
        """Σ λ ∂∇̄Φ/∂q₁ (n, n); None if it vanishes."""
        if self.affine or not np.any(multipliers):
            return None
        if self.how == "end":
            return self._hessian(after, multipliers)
        place = 0.5 * (self.before + after)
        if self.how != "discrete":
            return 0.5 * self._hessian(place, multipliers)
        change, value = after - self.before, self.system.constraint_residuals(self.t1, after)
        middle, end = dense(self._directions(place)), dense(self._directions(after))
        total = np.zeros((len(after), len(after)))
        for k in np.flatnonzero(multipliers):
            invariants = self._invariants[k]
            if invariants is not None:
                total += multipliers[k] * invariants.between_slope(self.before, after, self._surplus[k])
                continue
            on = np.flatnonzero(middle[:, k] != 0.0)
            full = self._hessian(place, np.eye(self.count)[k])[np.ix_(on, on)]
            total[np.ix_(on, on)] += multipliers[k] * discrete_gradient_slope(
                self.value_at_start[k] + self._surplus[k],
                value[k],
                middle[on, k],
                end[on, k],
                full,
                change[on],
                self._reach(after, on),
            )
        return total

    def _directions(self, place: np.ndarray) -> Any:
        return self.system.constraint_directions(self.t1, place)[0]

    def _reach(self, after: np.ndarray, on: np.ndarray) -> float:
        return float(np.abs(after[on]).max(initial=0.0)) + float(np.abs(self.before[on]).max(initial=0.0))

    def _hessian(self, place: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """Σ λ ∂²Φ/∂q² (n, n), by differences of the directions."""
        n = len(place)
        found = np.empty((n, n))
        for j in range(n):
            d = np.zeros(n)
            d[j] = _DIFFERENCE * max(abs(place[j]), 1.0)
            ahead, behind = dense(self._directions(place + d)), dense(self._directions(place - d))
            found[:, j] = (ahead - behind) @ multipliers / (2.0 * d[j])
        return 0.5 * (found + found.T)

    def _curved(self, place: np.ndarray, along: np.ndarray) -> np.ndarray:
        """∂²Φ/∂q² along (n, p)."""
        return np.column_stack([self._hessian(place, unit) @ along for unit in np.eye(self.count)])


def _present(directions: Any) -> np.ndarray:
    """Which columns (p,) are not all zero."""
    if sparse.issparse(directions):
        return np.asarray(abs(directions).sum(axis=0)).ravel() > 0.0
    return np.any(directions != 0.0, axis=0)
