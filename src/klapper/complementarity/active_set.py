"""Active sets for frictionless contact: symmetric positive semidefinite matrices.

0 ≤ x ⟂ A x + b ≥ 0 is then the convex program min ½ xᵀA x + bᵀx over x ≥ 0. Fast, warm-started by the contacts of the
last step, finite also when contacts are redundant (rank-deficient A), and able to prove that nothing can carry the
load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.complementarity.convert import as_linear, is_linear
from klapper.complementarity.dense import dense
from klapper.complementarity.errors import IterationLimit, NoSolution, NotApplicable
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.polish import recovered
from klapper.complementarity.solver import Answer, solver
from klapper.counting import counted

SYMMETRY = 1e-12


@solver
@dataclass(frozen=True)
class ActiveSet:
    """Block principal pivoting, then Keller's symmetric principal pivoting where that does not settle.

    For min ½ xᵀA x + bᵀx over x ≥ 0 with symmetric A; needs no options. Two stops that push each other's contact open,
    2 x₁ − x₂ = 3 and −x₁ + 2 x₂ = 0:

    >>> from klapper.complementarity import LinearComplementarity, solve
    >>> solve(LinearComplementarity([[2.0, -1.0], [-1.0, 2.0]], [-3.0, 0.0]), ActiveSet()).x.round(12).tolist()
    [2.0, 1.0]
    """

    name = "active-set"

    def obstacle(self, problem: Any) -> str:
        if not is_linear(problem):
            return f"The active-set solver takes frictionless problems; this is a {problem.kind}."
        rough = isinstance(problem, FrictionalContact) and bool(problem.holding.any())
        if rough or not is_symmetric(as_linear(problem).problem.matrix):
            return 'The active-set solver needs a symmetric matrix (frictionless contact); use "lemke".'
        return ""

    def attempt(self, problem: Any, start: np.ndarray | None, tolerance: float) -> Answer:
        from klapper.complementarity.kernels.active_set import NOT_SEMIDEFINITE, RAY, solve_by_active_set
        from klapper.complementarity.kernels.lemke import LIMIT

        conversion = as_linear(problem)
        linear = conversion.problem
        start = None if start is None else conversion.lift(start)
        n = linear.size
        x = np.empty(n)
        chosen = np.zeros(n, dtype=bool) if start is None else start > 0
        status, steps, residual = solve_by_active_set(
            dense(linear.matrix), linear.offset, chosen, tolerance, x
        )
        if status == RAY:
            raise NoSolution(no_support_text(linear, x))
        if status == NOT_SEMIDEFINITE:
            raise NotApplicable('The matrix is not positive semidefinite; use "lemke".')
        if status == LIMIT or not np.isfinite(residual):
            raise IterationLimit(f"The active set did not settle within {counted(steps, 'exchange')}.")
        return Answer(recovered(conversion, problem, x), steps)


def is_symmetric(matrix: Any) -> bool:
    """Whether a dense or sparse matrix is symmetric to round-off of its rows and columns."""
    if matrix.shape[0] == 0:
        return True
    difference, size = abs(matrix - matrix.T), abs(matrix)
    return bool(difference.max() <= SYMMETRY * size.max()) and bool(
        ((difference > SYMMETRY * (size + size.T)).sum()) == 0
    )


def no_support_text(problem: Any, ray: np.ndarray) -> str:
    """Why a load cannot be carried: forces d ≥ 0 with A d = 0 and bᵀd < 0 push without any effect."""
    names = [problem.names[i] for i in np.flatnonzero(ray > 1e-9 * ray.max())]
    shown = ", ".join(names[:6]) + (" and others" if len(names) > 6 else "")
    return (
        f"There is no solution: forces in {shown} push against each other without moving anything, while the model "
        "demands that these contacts separate. Their prescribed motions contradict each other (moving walls, or a "
        "jammed part)."
    )
