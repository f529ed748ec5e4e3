"""A solved problem: the point, how it was found, and how well it satisfies the problem.

Residuals are computed from the problem alone, never taken from a solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Generic, TypeVar

import numpy as np

from klapper.complementarity.errors import Unverified
from klapper.complementarity.problem import Problem
from klapper.complementarity.residuals import Residuals
from klapper.counting import counted
from klapper.shown import Shown

P = TypeVar("P", bound=Problem)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One solver's try: the name of the ``solver``, its ``outcome``, "solved" or why it stopped, and ``iterations``.

    >>> from klapper.complementarity import LinearComplementarity, solve
    >>> [str(attempt) for attempt in solve(LinearComplementarity([[2.0]], [-4.0])).attempts]
    ['active-set: solved (1 iteration)']
    """

    solver: str
    outcome: str
    iterations: int = 0

    def __str__(self) -> str:
        return f"{self.solver}: {self.outcome} ({counted(self.iterations, 'iteration')})"


@lru_cache(maxsize=1024)
def solved_by(solver: str, iterations: int) -> tuple[Attempt, ...]:
    """The attempts where the first one succeeded; shared, since calls that take microseconds have few of them."""
    return (Attempt(solver, "solved", iterations),)


class Solution(Shown, Generic[P]):
    """A point ``x`` (n,) of ``problem`` with its residuals, as :func:`solve` returns it.

    ``x``          forces [N] or impulses [N s]
    ``y``          (n,) the complementary quantity: A x + b, velocities [m/s] or accelerations [m/s²]
    ``residuals``  how well x satisfies the problem, dimensionless
    ``attempts``   every solver that was tried, the successful one last: ``solver``, ``iterations``, ``status``

    ``verify(tolerance)`` raises :class:`Unverified` unless all residuals are below the tolerance.

    >>> from klapper.complementarity import LinearComplementarity, solve
    >>> solution = solve(LinearComplementarity([[2.0]], [-4.0]))  # 0 ≤ x ⟂ 2 x − 4 ≥ 0
    >>> solution.x.tolist(), solution.y.tolist(), solution.residuals.worst
    ([2.0], [0.0], 0.0)
    """

    def __init__(self, problem: P, x: np.ndarray, attempts: tuple[Attempt, ...]) -> None:
        self.problem = problem
        self.x = x
        self.attempts = attempts

    @property
    def solver(self) -> str:
        return self.attempts[-1].solver

    @property
    def iterations(self) -> int:
        return self.attempts[-1].iterations

    @property
    def status(self) -> str:
        return self.attempts[-1].outcome

    @cached_property
    def y(self) -> np.ndarray:
        return self.problem.image(self.x)

    @cached_property
    def residuals(self) -> Residuals:
        return self.problem.residuals(self.x)

    def verify(self, tolerance: float = 1e-9) -> Solution[P]:
        worst = self.residuals.worst
        if not worst <= tolerance:
            raise Unverified(
                f"The answer of {self.solver} does not satisfy the {self.problem.kind}: {self.residuals.worst_name} "
                f"{worst:.1e}, allowed {tolerance:.1e}.",
                self.attempts,
            )
        return self

    def __str__(self) -> str:
        lines = [
            f"{self.problem!r} solved by {self.solver}, {counted(self.iterations, 'iteration')}, "
            f"residual {self.residuals.worst:.1e}"
        ]
        shown = min(self.problem.size, 12)
        width = max((len(name) for name in self.problem.names[:shown]), default=0)
        for name, force, answer in zip(self.problem.names[:shown], self.x, self.y, strict=False):
            lines.append(f"  {name:<{width}}  {force:>13.6g}   ⟂ {answer:>13.6g}")
        if self.problem.size > shown:
            lines.append(f"  … and {self.problem.size - shown} more")
        return "\n".join(lines)
