"""Semismooth Newton methods with globalisation, dense and sparse.

    linear, mixed, nonlinear:  Φ_i = φ(x_i, F_i(x)), φ(a, b) = 0 ⇔ 0 ≤ a ⟂ b ≥ 0;  free rows Φ_i = F_i
    frictional contact:        the Alart–Curnier function of ``alart_curnier``

The iteration is in ``semismooth``. Problems that resist are approached along the smooth path a b = τ², τ → 0 of
``fischer_burmeister``, contacts by proximal regularisation. Small dense problems run in compiled kernels.
Waltersberger sections 4.1.1 and 4.1.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import LinearOperator

from klapper.complementarity.alart_curnier import AlartCurnier
from klapper.complementarity.checking import Matrix
from klapper.complementarity.errors import InvalidProblem, IterationLimit
from klapper.complementarity.exact_disc import exact_disc_forces, exact_disc_problem
from klapper.complementarity.fischer_burmeister import FischerBurmeister, smooth_path
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.newton_directions import DAMPED_SIZE
from klapper.complementarity.problem import (
    LinearComplementarity,
    MixedComplementarity,
    NonlinearComplementarity,
)
from klapper.complementarity.semismooth import SemismoothMap, damped_newton, largest_entry, polished
from klapper.complementarity.solver import Answer, solver
from klapper.counting import counted

COMPILED_SIZE = 120  # up to here the compiled kernels beat LAPACK called step by step


@solver
@dataclass(frozen=True)
class SemismoothNewton:
    """Semismooth Newton: fast near a solution, globalised by line search, damping and several starts.

    ``max_iterations``  steps from each start
    ``starts``          how many starts are tried: the given one, then fixed ones

    Linear, mixed and nonlinear problems use the Fischer–Burmeister function, contacts with the exact disc the
    Alart–Curnier function. Sparse data stay sparse. It does not prove that a problem has no solution.
    2 x₁ − 1 = 0 with x₂ = 0, since x₁ + 1 > 0:

    >>> problem = LinearComplementarity([[2.0, 1.0], [1.0, 2.0]], [-1.0, 1.0])
    >>> SemismoothNewton().attempt(problem, None, 1e-9).x.tolist()
    [0.5, 0.0]
    """

    max_iterations: int = 100
    starts: int = 8
    name = "newton"

    def obstacle(self, problem: Any) -> str:
        if isinstance(problem, FrictionalContact):
            if problem.polygon is not None:
                return (
                    "Newton treats the exact friction disc, not a polygon; "
                    'convert the problem with polygonal and use "lemke".'
                )
            if isinstance(problem.delassus, LinearOperator):
                return 'Newton factorises the Delassus matrix, but this one is known only as an operator; use "prox".'
            return ""
        if isinstance(problem, (LinearComplementarity, MixedComplementarity, NonlinearComplementarity)):
            return ""
        return f"Newton does not know problems of type {type(problem).__name__}."

    def attempt(self, problem: Any, start: np.ndarray | None, tolerance: float) -> Answer:
        start = _usable_start(problem, start)
        if isinstance(problem, FrictionalContact):
            mapping = AlartCurnier(problem)
            answer = _compiled_contact(mapping, start, tolerance, self.max_iterations)
            if answer is not None:
                return answer
            scaled = _scaled_contact(mapping, start, tolerance, self.max_iterations)
        elif isinstance(problem, NonlinearComplementarity):
            scaled = _scaled_nonlinear(problem)
        else:
            answer = _compiled_linear(problem, start, tolerance, self.max_iterations)
            if answer is not None:
                return answer
            scaled = _scaled_linear(problem)
        return self._from_several_starts(problem, scaled, start, tolerance)

    def _from_several_starts(
        self, problem: Any, scaled: Scaled, start: np.ndarray | None, tolerance: float
    ) -> Answer:
        def measure(x: np.ndarray) -> float:
            return problem.residuals(x * scaled.unit).worst

        iterations, least, best = 0, np.inf, None
        guesses = scaled.guesses()
        for count in range(self.starts):
            given = count == 0 and start is not None
            candidate = (start / scaled.unit, 0) if given else next(guesses, None)
            if candidate is None:
                break
            guess, spent = candidate
            path = damped_newton(scaled.mapping, guess, measure, tolerance, self.max_iterations)
            iterations += spent + path.iterations
            if path.residual <= tolerance:
                exact = polished(scaled.mapping, path, measure)
                return Answer(exact.x * scaled.unit, iterations)
            if path.residual < least:
                least, best = path.residual, path.x * scaled.unit
        raise IterationLimit(_failure(problem, least, iterations, tolerance), closest=best)


@dataclass(frozen=True)
class Scaled:
    """A problem in dimensionless unknowns x / unit; ``guesses`` yields starts and the steps spent on each."""

    mapping: SemismoothMap
    unit: np.ndarray
    guesses: Callable[[], Iterator[tuple[np.ndarray, int]]]


def _usable_start(problem: Any, start: np.ndarray | None) -> np.ndarray | None:
    if start is None:
        return None
    start = np.asarray(start, dtype=float)
    return start if start.shape == (problem.size,) and np.all(np.isfinite(start)) else None


def proximal_newton(
    mapping: AlartCurnier,
    x: np.ndarray,
    measure: Callable[[np.ndarray], float],
    tolerance: float,
    max_iterations: int,
) -> tuple[np.ndarray, int]:
    """Proximal point iteration with Newton inside; the best point and the Newton steps taken.

    Each inner problem is regular even if the contacts are redundant. The regularisation falls while the inner
    iteration converges easily and grows where it fails.
    """
    regularisation, iterations = 0.1, 0
    residual = least = measure(x)
    best = x
    while residual > tolerance and iterations < max_iterations:
        inner = mapping.proximal(regularisation, x)
        wanted = max(0.1 * residual * min(1.0, 10.0 * regularisation), 1e-15)
        path = damped_newton(inner, x, largest_entry(inner), wanted, 15)
        iterations += max(path.iterations, 1)
        if path.residual > wanted:
            regularisation = min(5.0 * regularisation, 1.0)
            continue
        x, residual = path.x, measure(path.x)
        if path.iterations < 8:
            regularisation *= 0.3
        if residual < least:
            best, least = x, residual
    return best, iterations


def _pair_starts(mapping: FischerBurmeister) -> Iterator[tuple[np.ndarray, int]]:
    """Zero, then the ends of smooth paths from equal and from reproducible scattered points."""
    size = mapping.free.size
    yield np.zeros(size), 0
    yield smooth_path(mapping, np.ones(size), 1.0, 0.3)
    yield smooth_path(mapping, np.full(size, 10.0), 10.0, 0.5)
    generator = np.random.default_rng(0)
    while True:
        yield smooth_path(mapping, np.exp(generator.standard_normal(size)), 1.0, 0.3)


def _scaled_linear(problem: LinearComplementarity | MixedComplementarity) -> Scaled:
    row, column = equilibrating_scales(problem.matrix)
    offset = row * problem.offset
    size = float(np.abs(offset).max(initial=0.0)) or 1.0
    offset = offset / size
    if sparse.issparse(problem.matrix):
        matrix = sparse.csr_array(sparse.diags_array(row) @ problem.matrix @ sparse.diags_array(column))
    else:
        matrix = row[:, None] * problem.matrix * column
    mapping = FischerBurmeister(lambda x: matrix @ x + offset, lambda x: matrix, _free(problem))
    return Scaled(mapping, column * size, lambda: _pair_starts(mapping))


def _scaled_nonlinear(problem: NonlinearComplementarity) -> Scaled:
    unit, scale = problem.unknown_scale, problem.scale

    def jacobian(x: np.ndarray) -> Matrix:
        matrix = problem.jacobian(x * unit)
        if sparse.issparse(matrix):
            return sparse.csr_array(sparse.diags_array(1.0 / scale) @ matrix @ sparse.diags_array(unit))
        return np.asarray(matrix, dtype=float) * unit / scale[:, None]

    mapping = FischerBurmeister(lambda x: problem.image(x * unit) / scale, jacobian, problem.free)
    return Scaled(mapping, unit, lambda: _pair_starts(mapping))


def _scaled_contact(
    mapping: AlartCurnier, start: np.ndarray | None, tolerance: float, max_iterations: int
) -> Scaled:
    """Proximal points follow from the given ``start`` (n,), where there is one."""
    contact = mapping.contact

    def measure(x: np.ndarray) -> float:
        return contact.residuals(x * mapping.force_unit).worst

    def guesses() -> Iterator[tuple[np.ndarray, int]]:
        zero = np.zeros(contact.size)
        near = None if start is None else start / mapping.force_unit
        if near is None:
            near = mapping.projected_gradient(zero, 60)
            yield near, 0
        yield proximal_newton(mapping, near, measure, tolerance, 6 * max_iterations)
        yield zero, 0
        if sparse.issparse(mapping.matrix) and contact.size > DAMPED_SIZE:
            return
        try:
            disc = _scaled_nonlinear(exact_disc_problem(contact))
        except InvalidProblem:  # scales overflow
            return
        for point, iterations in disc.guesses():
            yield exact_disc_forces(contact, point * disc.unit) / mapping.force_unit, iterations

    return Scaled(mapping, mapping.force_unit, guesses)


def _free(problem: LinearComplementarity | MixedComplementarity) -> np.ndarray:
    return problem.free if isinstance(problem, MixedComplementarity) else np.zeros(problem.size, dtype=bool)


def equilibrating_scales(matrix: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Row and column scales (n,) that bring the largest entries of all rows and columns near one (Ruiz)."""
    scaled = abs(matrix)
    row = np.ones(matrix.shape[0])
    column = np.ones(matrix.shape[0])
    for _ in range(12):
        if sparse.issparse(scaled):
            largest = [scaled.max(axis=axis).toarray().ravel() for axis in (1, 0)]
        else:
            largest = [scaled.max(axis=axis, initial=0.0) for axis in (1, 0)]
        by_row, by_column = (1.0 / np.sqrt(np.where(size > 0, size, 1.0)) for size in largest)
        row *= by_row
        column *= by_column
        if max(np.abs(np.log(by_row)).max(initial=0.0), np.abs(np.log(by_column)).max(initial=0.0)) < 0.5:
            break
        if sparse.issparse(scaled):
            scaled = sparse.csr_array(sparse.diags_array(by_row) @ scaled @ sparse.diags_array(by_column))
        else:
            scaled = by_row[:, None] * scaled * by_column
    return row, column


def _compiled_linear(
    problem: LinearComplementarity | MixedComplementarity,
    start: np.ndarray | None,
    tolerance: float,
    max_iterations: int,
) -> Answer | None:
    """A first try of small dense problems with the compiled kernel; None if it does not converge."""
    if sparse.issparse(problem.matrix) or problem.size > COMPILED_SIZE:
        return None
    from klapper.complementarity.kernels.fischer_burmeister import fischer_burmeister

    guess = np.zeros(problem.size) if start is None else start
    x, iterations, converged = fischer_burmeister(
        problem.matrix, problem.offset, _free(problem), guess, tolerance, max_iterations
    )
    if converged and problem.residuals(x).worst <= tolerance:
        return Answer(x, iterations)
    return None


def _compiled_contact(
    mapping: AlartCurnier, start: np.ndarray | None, tolerance: float, max_iterations: int
) -> Answer | None:
    """The same for contact problems."""
    contact = mapping.contact
    if sparse.issparse(mapping.matrix) or contact.size > COMPILED_SIZE:
        return None
    from klapper.complementarity.kernels.alart_curnier import alart_curnier

    x, iterations, converged = alart_curnier(
        mapping.matrix,
        mapping.offset,
        mapping.normal,
        mapping.tangential,
        *mapping.compressed_friction,
        mapping.limit,
        np.zeros(contact.size) if start is None else start / mapping.force_unit,
        0.1 * tolerance,
        max_iterations,
        True,
    )
    force = x * mapping.force_unit
    if converged and contact.residuals(force).worst <= tolerance:
        return Answer(force, iterations)
    return None


def _failure(problem: Any, residual: float, iterations: int, tolerance: float) -> str:
    text = (
        f"Newton: residual {residual:.1e} after {counted(iterations, 'iteration')}, wanted {tolerance:.0e}; "
    )
    if isinstance(problem, FrictionalContact):
        return text + (
            "the contact forces do not settle. Large friction with coupled normal and tangential motion may "
            "leave no solution (Painlevé) or several, redundant contacts leave forces undetermined: try "
            '"gauss-seidel" or "prox", a smaller step, or the forces of the last step as start.'
        )
    if isinstance(problem, NonlinearComplementarity):
        return text + (
            "give a start near the solution (the last step's answer) and typical magnitudes of equations and "
            "unknowns as scale and unknown_scale."
        )
    return text + (
        "if constraints contradict each other there is no solution at all, which lemke can tell. "
        "Check the signs of gaps and directions, and constraints that repeat each other."
    )
