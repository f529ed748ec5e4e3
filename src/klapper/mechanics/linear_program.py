"""The extremes of a linear function over A x = b, C x ≤ d: linear programs whose status is told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of A x = b or A x ≤ b."""

    matrix: np.ndarray
    right: np.ndarray

    @classmethod
    def none(cls, size: int) -> Rows:
        return cls(np.zeros((0, size)), np.zeros(0))

    def add(self, row: np.ndarray, right: float) -> Rows:
        return Rows(np.vstack([self.matrix, row]), np.append(self.right, right))

    def and_(self, other: Rows) -> Rows:
        return Rows(np.vstack([self.matrix, other.matrix]), np.concatenate([self.right, other.right]))

    def scaled(self) -> Rows:
        """The same rows with largest entries of one."""
        size = np.maximum(np.abs(self.matrix).max(axis=1, initial=0.0), np.abs(self.right))
        size = np.where(size > 0.0, size, 1.0)
        return Rows(self.matrix / size[:, None], self.right / size)


def _program(objective: np.ndarray, equations: Rows, inequalities: Rows, bounds: list[Any]) -> Any:
    from scipy.optimize import linprog

    return linprog(
        objective,
        A_ub=inequalities.matrix if len(inequalities.right) else None,
        b_ub=inequalities.right if len(inequalities.right) else None,
        A_eq=equations.matrix if len(equations.right) else None,
        b_eq=equations.right if len(equations.right) else None,
        bounds=bounds,
        method="highs-ds",
        options=_EXACT,
    )


def least(objective: np.ndarray, equations: Rows, inequalities: Rows, bounds: list[Any]) -> float | None:
    """The least value of a linear function, −inf without a bound, None if nothing is feasible."""
    found = _program(objective, equations, inequalities, bounds)
    if found.status in (0, 2):
        return float(found.fun) if found.status == 0 else None
    unbounded = found.status == 3 or feasible_point(equations, inequalities, bounds) is not None
    return -np.inf if unbounded else None


def feasible_point(equations: Rows, inequalities: Rows, bounds: list[Any]) -> np.ndarray | None:
    """Some point that meets all rows within the bounds, None if there is none."""
    found = _program(np.zeros(len(bounds)), equations, inequalities, bounds)
    return np.asarray(found.x) if found.status == 0 else None
