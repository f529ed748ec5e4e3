"""Lemke's complementary pivoting for linear and mixed problems.

The workhorse for small dense problems of any sign structure: it needs no symmetry, follows a path of exchanged contacts
from a covering vector d > 0, and ends in a solution or on a ray. A ray proves that there is no solution only for
special matrices (copositive plus, e.g. positive semidefinite); otherwise another covering vector or start basis
may succeed. Cottle, Pang & Stone, The Linear Complementarity Problem, chapter 4; Waltersberger App. B; start bases
after Waltersberger & Wauer (2005).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.complementarity.checking import as_vector
from klapper.complementarity.convert import as_linear, is_linear
from klapper.complementarity.dense import dense
from klapper.complementarity.errors import InvalidProblem, IterationLimit, RayTermination
from klapper.complementarity.polish import recovered
from klapper.complementarity.problem import LinearComplementarity
from klapper.complementarity.solver import Answer, solver
from klapper.counting import counted

MAX_SIZE = 5000


@solver
@dataclass(frozen=True)
class Lemke:
    """Lemke's method, lexicographic, so that it cannot cycle.

    ``covering``    covering vector d (n,) > 0, default all ones (in equilibrated units)
    ``basis``       indices of the unknowns that are positive in the start basis; overrides the start value's
    (both count the unknowns of the linear problem, see ``convert.as_linear``)
    ``max_pivots``  of each path, default 50 n + 100
    ``paths``       how many are tried: the given one, then others from random bases, the same in every run

    0 ≤ x ⟂ A x + b + d z ≥ 0, followed from a large z to z = 0. The matrix need not be symmetric:

    >>> from klapper.complementarity import solve
    >>> problem = LinearComplementarity([[1.0, 2.0], [0.0, 1.0]], [-3.0, -1.0])  # x₂ = 1, x₁ = 3 − 2
    >>> solve(problem, Lemke(covering=[1.0, 2.0])).x.round(12).tolist()
    [1.0, 1.0]
    """

    covering: Any = None
    basis: Any = None
    max_pivots: int | None = None
    paths: int = 1
    name = "lemke"

    def obstacle(self, problem: Any) -> str:
        if is_linear(problem) and problem.size <= MAX_SIZE:
            return ""
        if is_linear(problem):
            return f"Lemke works on a dense table of at most {MAX_SIZE} unknowns; the problem has {problem.size}."
        return f"Lemke solves linear problems, and planar or polygonal friction; this is a {problem.kind}."

    def attempt(self, problem: Any, start: np.ndarray | None, tolerance: float) -> Answer:
        from klapper.complementarity.kernels.lemke import LIMIT, RAY, SOLVED, solve_by_lemke

        conversion = as_linear(problem)
        linear = conversion.problem
        start = None if start is None else conversion.lift(start)
        n = linear.size
        covering = np.ones(n) if self.covering is None else as_vector(self.covering, "covering", n)
        if n and covering.min() <= 0:
            raise InvalidProblem(
                f"the least entry of covering is {covering.min()}; allowed are numbers above 0."
            )
        pivot_limit = 50 * n + 100 if self.max_pivots is None else self.max_pivots
        x = np.empty(n)
        status, pivots, residual = solve_by_lemke(
            dense(linear.matrix), linear.offset, covering, self._basis(n, start), pivot_limit, tolerance, x
        )
        for other_basis, other_covering in _scattered(n, self.paths - 1):
            if status == SOLVED:
                break
            status, more, residual = solve_by_lemke(
                dense(linear.matrix), linear.offset, other_covering, other_basis, pivot_limit, tolerance, x
            )
            pivots += more
        if status == RAY:
            raise RayTermination(
                f"Lemke ended on a ray after {counted(pivots, 'pivot')}: {meaning_of_ray(linear)}"
            )
        if status == LIMIT:
            raise IterationLimit(
                f"Lemke stopped after {counted(pivots, 'pivot')} without reaching a solution."
            )
        if status != SOLVED and not np.isfinite(residual):
            raise IterationLimit(
                f"Lemke ended after {counted(pivots, 'pivot')} in a basis that is singular to round-off; "
                "the matrix is badly "
                "conditioned."
            )
        return Answer(recovered(conversion, problem, x), pivots)

    def _basis(self, n: int, start: np.ndarray | None) -> np.ndarray:
        chosen = np.zeros(n, dtype=bool)
        if self.basis is not None:
            basis = np.asarray(self.basis)
            if basis.dtype == bool and basis.shape != (n,):
                raise InvalidProblem(f"basis has shape {basis.shape}, expected ({n},).")
            basis = basis if basis.dtype == bool else basis.astype(int)
            outside = basis[(basis < 0) | (basis >= n)] if basis.dtype != bool else basis[:0]
            if outside.size:
                raise InvalidProblem(f"basis names unknown {outside[0]}, but there are only {n} unknowns.")
            chosen[basis] = True
        elif start is not None:
            chosen = start > 0
        return chosen


def _scattered(n: int, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """So many start bases (n,), between a fifth and half of the unknowns, with covering vectors (n,)."""
    generator = np.random.default_rng(n)
    for _ in range(count):
        basis = generator.random(n) < generator.uniform(0.2, 0.5)
        yield basis, np.exp(generator.uniform(-2.0, 2.0, n))


def meaning_of_ray(problem: LinearComplementarity) -> str:
    """What a ray says about existence: a proof for semidefinite matrices, little if the matrix is not copositive.

    A matrix is not copositive if xᵀA x < 0 for some x ≥ 0, here looked for with one or two forces.
    """
    matrix, names = dense(problem.matrix), problem.names
    symmetric = matrix + matrix.T
    diagonal = np.diag(symmetric)
    alone = np.flatnonzero(diagonal < 0)
    rest = np.sqrt(np.maximum(diagonal, 0.0))
    pairs = np.argwhere(np.triu(symmetric < -np.outer(rest, rest) * (1 + 1e-12) - 1e-300, 1))
    if alone.size or pairs.size:
        culprits = names[alone[0]] if alone.size else " and ".join(names[i] for i in pairs[0])
        return (
            f"no solution on the path of this covering vector. The matrix is not copositive (a force in {culprits} "
            "moves its contact further in), so that another covering vector or start basis may find one."
        )
    return (
        "no solution on the path of this covering vector. For a positive semidefinite matrix there is none at all (the "
        "contacts cannot carry the load); otherwise another covering vector or start basis may find one."
    )
