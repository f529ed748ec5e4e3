"""Two-sided constraints as springs, alone or with multipliers that are carried over.

V = ½ ε |Φ|²                                                                            Hesch (3.2)
λ ← λ − ε Φ(q₁), step by step of an outer iteration                                      (3.11)-(3.13)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.arguments import number
from klapper.mechanics.system import System
from klapper.schemes.constraint_between import ConstraintsBetween, ConstraintStep


@dataclass(frozen=True)
class Penalty:
    """A spring for each constraint, which holds to about force/ε.                         Hesch (3.2)

        V = ½ ε Φ²

    ``stiffness``  ε [N/m]

    A weight of 10 N let go on a spring of 10⁴ N/m swings between 0 and 2 mm; h ω = 2 is a quarter of a turn per step.

    >>> from klapper.mechanics import Constraint, LinearSystem
    >>> from klapper.schemes import EnergyMomentum, Penalty
    >>> from klapper.simulation import simulate
    >>> hung = LinearSystem([1.0], force=[-10.0], constraints=[Constraint("rope", [1.0])])
    >>> run = simulate(hung, 0.08, EnergyMomentum(0.02, enforcement=Penalty(1e4)))
    >>> (-1000.0 * run.position[1:4, 0]).round(6)
    array([1., 2., 1.])
    """

    stiffness: float

    def __post_init__(self) -> None:
        number(self.stiffness, "stiffness", "numbers above 0, in N/m", above=0.0)

    def energy(self, system: System, t: float, q: np.ndarray) -> float:
        """V [J]."""
        value = system.constraint_residuals(t, q)
        return 0.5 * self.stiffness * float(value @ value)


@dataclass(frozen=True)
class AugmentedLagrange:
    """A penalty whose forces are carried over until constraints hold.                     Hesch (3.11)-(3.13)

        λ ← λ − ε Φ(q₁),   until |Φ| ≤ tolerance

    ``stiffness``  ε [N/m]
    ``tolerance``  [m]
    ``most``       number of rounds

    >>> from klapper.mechanics import Constraint, LinearSystem
    >>> from klapper.schemes import AugmentedLagrange, EnergyMomentum
    >>> from klapper.simulation import simulate
    >>> hung = LinearSystem([1.0], force=[-10.0], constraints=[Constraint("rope", [1.0])])
    >>> scheme = EnergyMomentum(0.02, enforcement=AugmentedLagrange(1e4, tolerance=1e-6))
    >>> bool(abs(simulate(hung, 0.08, scheme).position).max() <= 1e-6)
    True
    """

    stiffness: float
    tolerance: float = 1e-10
    most: int = 200

    def __post_init__(self) -> None:
        number(self.stiffness, "stiffness", "numbers above 0, in N/m", above=0.0)
        number(self.tolerance, "tolerance", "numbers above 0, in m", above=0.0)


class ConstraintSprings:
    """The springs of all constraints of a step; ``offset`` (p,) [N] are forces carried over."""

    def __init__(self, rule: Penalty | AugmentedLagrange, constraints: ConstraintStep, middle: float) -> None:
        self.rule, self.constraints, self.middle = rule, constraints, middle
        self.offset = np.zeros(constraints.count)

    def multipliers(self, q1: np.ndarray) -> np.ndarray:
        """λ (p,) [N], positive along ∇Φ."""
        return self.offset - self.rule.stiffness * self._value(q1)

    def force(self, q1: np.ndarray) -> np.ndarray:
        """∇̄Φ λ (n,) [N]."""
        return self.constraints.at(q1).push @ self.multipliers(q1)

    def slope(self, q1: np.ndarray) -> Any:
        """Its derivative (n, n) by q₁."""
        found = self.constraints.at(q1)
        total = -self.rule.stiffness * _outer(found.push, self._value_slope(q1, found))
        curved = self.constraints.curvature(q1, self.multipliers(q1))
        return total if curved is None else total + curved

    def _value(self, q1: np.ndarray) -> np.ndarray:
        """Φ whose spring acts: the mean of both ends with exact forces, that of the middle with midpoint forces."""
        held = self.constraints
        if isinstance(self.rule, AugmentedLagrange):
            return held.at(q1).value
        if held.how == "discrete" or held.affine:
            return 0.5 * (held.value_at_start + held.at(q1).value)
        return held.system.constraint_residuals(self.middle, 0.5 * (held.before + q1))

    def _value_slope(self, q1: np.ndarray, found: ConstraintsBetween) -> Any:
        held = self.constraints
        if isinstance(self.rule, AugmentedLagrange):
            return found.slope
        if held.how == "discrete" or held.affine:
            return 0.5 * found.slope
        return 0.5 * held.system.constraint_directions(self.middle, 0.5 * (held.before + q1))[0]


def _outer(push: Any, slope: Any) -> Any:
    """Σ_k push_k ⊗ slope_k (n, n), sparse where both are."""
    if sparse.issparse(push) or sparse.issparse(slope):
        return sparse.csr_array(push) @ sparse.csr_array(slope).T
    return push @ slope.T
