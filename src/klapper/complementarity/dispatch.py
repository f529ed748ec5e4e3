"""``solve``: one call for every problem, with a check that no answer escapes.

``auto`` orders the solvers by the problem's structure and size and goes on to the next one when one fails. Whatever
claims success is measured against the problem; only a point that passes is returned.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import LinearOperator

from klapper.complementarity.active_set import ActiveSet
from klapper.complementarity.admm import Admm
from klapper.complementarity.checking import as_vector, require_tolerance
from klapper.complementarity.convert import DENSE_SIZE, Conversion, as_linear, driven_parts, is_linear
from klapper.complementarity.enumeration import Enumeration, count_combinations
from klapper.complementarity.errors import (
    ComplementarityError,
    InvalidProblem,
    NoSolution,
    NotApplicable,
    NotDecided,
    Unverified,
)
from klapper.complementarity.feasibility import contradiction
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.gauss_seidel import GaussSeidel
from klapper.complementarity.interior_point import InteriorPoint
from klapper.complementarity.lemke import Lemke
from klapper.complementarity.newton import SemismoothNewton
from klapper.complementarity.problem import LinearComplementarity, Problem
from klapper.complementarity.prox import Prox
from klapper.complementarity.solution import Attempt, Solution
from klapper.complementarity.solver import SOLVERS, Solver
from klapper.effort import CONTACT, part, report

P = TypeVar("P", bound=Problem)

COMPILED_SIZE = 1500  # above this a dense pivoting method is not the first choice
PIVOTED_CONTACTS = 40  # rows of planar contacts above which pivoting is not the first choice
FEW_COMBINATIONS = 1 << 12
FEW_PIVOTS = 3  # per unknown: Lemke needs one or two; after far more another covering vector is better
NEARBY = 1e-3  # residuals that are worth to be told
SWEPT_ENTRIES = (
    3_000_000  # entries of W in so many sweeps that they take no longer than the interior-point method
)
NEAR = 100.0  # times the tolerance: answers so near are worth another attempt from there


def solve(
    problem: P, solver: str | Solver = "auto", *, tolerance: float = 1e-9, start: Any = None
) -> Solution[P]:
    """Solve a complementarity or contact problem and verify the answer.

    ``solver``     "auto", a solver's name, or a solver object with options, e.g. ``Lemke(covering=d)``
    ``tolerance``  allowed size of every residual, dimensionless
    ``start``      guess of x (n,), e.g. the last step's forces

    Returns a verified :class:`Solution`; raises a :class:`ComplementarityError` otherwise: :class:`NoSolution` if it is
    proved that there is none, :class:`NotDecided` if every applicable solver gave up.

    >>> solve(LinearComplementarity([[2.0, 1.0], [1.0, 2.0]], [-1.0, 1.0])).x.round(12).tolist()
    [0.5, 0.0]
    """
    report("contact_problems")
    quiet = np.errstate(all="ignore") if is_linear(problem) else nullcontext()  # overflow ends in a residual
    with part(CONTACT), quiet:
        solution = _solved(problem, solver, tolerance, start)
    report("contact_iterations", sum(int(attempt.iterations) for attempt in solution.attempts))
    return solution


def _solved(problem: P, solver: str | Solver, tolerance: float, start: Any) -> Solution[P]:
    guess = None if start is None else as_vector(start, "start", problem.size)
    require_tolerance(tolerance)
    if solver == "auto":
        if type(problem) is LinearComplementarity:
            quick = _compiled(problem, guess, tolerance)
            if quick is not None:
                return quick
        return _solve_in_turn(problem, _reduced(problem), guess, tolerance)
    chosen = _named(solver)
    reduced = _reduced(problem)
    if obstacle := chosen.obstacle(reduced.problem):
        raise NotApplicable(obstacle)
    return _solve_by(problem, reduced, chosen, guess, tolerance, ())


def _reduced(problem: Any) -> Conversion[Any]:
    """What the solvers get: contacts without those that stay without force."""
    if isinstance(problem, FrictionalContact):
        return driven_parts(problem)
    return Conversion(problem, lambda x: x, lambda x: x)


def _compiled(problem: Any, guess: np.ndarray | None, tolerance: float) -> Solution[Any] | None:
    """The short way for small dense linear problems: choice of method, pivots and check in one compiled call."""
    from klapper.complementarity.kernels.batch import solve_one

    n = problem.size
    if n > COMPILED_SIZE or not isinstance(problem.matrix, np.ndarray):
        return None
    x = np.empty(n)
    chosen = np.zeros(n, dtype=np.bool_) if guess is None else guess > 0
    status, method, iterations, _ = solve_one(problem.matrix, problem.offset, chosen, tolerance, x)
    if status != 0:
        return None
    return Solution(problem, x, (Attempt("lemke" if method else "active-set", "solved", iterations),))


def _solve_by(
    problem: P,
    reduced: Conversion[P],
    solver: Solver,
    guess: np.ndarray | None,
    tolerance: float,
    attempts: tuple[Attempt, ...],
) -> Solution[P]:
    """The answer of a solver that can treat the reduced problem, measured against the problem itself."""
    if reduced.problem.size == 0:
        forces = reduced.recover(np.empty(0))
        return Solution(problem, forces, (*attempts, Attempt(solver.name, "solved"))).verify(tolerance)
    start, aim, iterations = None if guess is None else reduced.lift(guess), tolerance, 0
    while True:
        try:
            answer = solver.attempt(reduced.problem, start, aim)
        except ComplementarityError as error:
            error.attempts = (*attempts, Attempt(solver.name, str(error), iterations))
            error.closest = None if error.closest is None else reduced.recover(error.closest)
            raise
        iterations += answer.iterations
        done = Attempt(solver.name, "solved", iterations)
        solution = Solution(problem, reduced.recover(answer.x), (*attempts, done))
        try:
            return solution.verify(tolerance)
        except Unverified as error:
            worst = solution.residuals.worst
            if aim < tolerance or not worst < NEAR * tolerance:
                error.attempts = (*attempts, Attempt(solver.name, str(error), iterations))
                error.closest = solution.x
                raise
            start, aim = answer.x, 0.5 * tolerance**2 / worst  # the units of the reduced problem are others


def _solve_in_turn(
    problem: P, reduced: Conversion[P], guess: np.ndarray | None, tolerance: float
) -> Solution[P]:
    attempts: tuple[Attempt, ...] = ()
    least, closest = np.inf, None
    for solver in _candidates(reduced.problem):
        if solver.obstacle(reduced.problem):
            continue
        try:
            return _solve_by(problem, reduced, solver, guess, tolerance, attempts)
        except NoSolution:
            raise
        except ComplementarityError as error:
            attempts = error.attempts or (*attempts, Attempt(solver.name, str(error)))
            if error.closest is not None and (residual := problem.residuals(error.closest).worst) < least:
                least, closest = residual, error.closest
    reason = contradiction(problem)
    if reason:
        raise NoSolution(reason, attempts)
    tried = "; ".join(str(attempt) for attempt in attempts)
    near = (
        f" The closest answer has a residual of {least:.1e}, allowed {tolerance:.1e}."
        if least < NEARBY
        else ""
    )
    raise NotDecided(
        f"No solver found a solution of the {problem.kind}, and it is not proved that there is none.{near}"
        f"{_about_friction(problem)} Tried: {tried}",
        attempts,
        closest,
    )


def _about_friction(problem: Any) -> str:
    if not isinstance(problem, FrictionalContact) or not problem.holding.any():
        return ""
    return " With friction a rigid model may have no solution (Painlevé) or several."


def _candidates(problem: Any) -> Iterator[Solver]:
    """Solvers in the order in which they are worth trying, those among them that cannot treat the problem too."""
    if isinstance(problem, FrictionalContact) and isinstance(problem.delassus, LinearOperator):
        yield Prox()
        return
    if isinstance(problem, FrictionalContact) and not is_linear(problem):
        yield GaussSeidel(max_sweeps=_few_sweeps(problem))
        if problem.size <= DENSE_SIZE:
            yield SemismoothNewton(starts=1)  # compiled, hence faster than the next
        yield InteriorPoint()
        yield SemismoothNewton()
        yield GaussSeidel(max_sweeps=50_000)
        yield Admm()
        yield Prox()
        return
    if not is_linear(problem):
        yield SemismoothNewton()
        return
    if isinstance(problem, FrictionalContact) and problem.polygon is None and problem.size > PIVOTED_CONTACTS:
        yield GaussSeidel(max_sweeps=_few_sweeps(problem))
        yield InteriorPoint()
        yield SemismoothNewton()
    if problem.size <= COMPILED_SIZE:
        yield ActiveSet()
        few = FEW_PIVOTS * _linear_unknowns(problem) + 100
        yield Lemke(max_pivots=few)
        combinations = count_combinations(problem) or np.inf
        if combinations <= FEW_COMBINATIONS:
            yield Enumeration()
            yield SemismoothNewton()
            return
        for covering in _other_coverings(as_linear(problem).problem.size):
            yield Lemke(covering=covering, max_pivots=few)
        yield SemismoothNewton()
        yield Enumeration()
        yield Lemke()
    else:
        yield GaussSeidel(max_sweeps=500)
        yield SemismoothNewton()
        yield Lemke()


def _linear_unknowns(problem: Any) -> int:
    """About how many unknowns :func:`as_linear` has, without writing it."""
    if not isinstance(problem, FrictionalContact):
        return int(problem.size)
    corners = problem.polygon or 2
    return problem.contacts + (corners + 1) * len(problem.tangential) + len(problem.bilateral)


def _few_sweeps(problem: FrictionalContact) -> int:
    """Sweeps that take no longer than the interior-point method, but some hundred."""
    matrix = problem.delassus
    entries = matrix.nnz if sparse.issparse(matrix) else matrix.size
    return int(np.clip(SWEPT_ENTRIES // max(entries, 1), 500, 10_000))


def _other_coverings(n: int) -> Iterator[np.ndarray]:
    """A few covering vectors that differ from all ones, the same in every run."""
    generator = np.random.default_rng(n)
    yield np.linspace(1.0, 2.0, n)
    yield np.linspace(2.0, 1.0, n)
    for _ in range(4):
        yield np.exp(generator.uniform(-2.0, 2.0, n))


def require_solver(given: Any) -> None:
    """Refuse what :func:`solve` does not take as a solver: names of none, classes, and other things."""
    if not isinstance(given, str) and not isinstance(given, type) and not hasattr(given, "attempt"):
        raise InvalidProblem(
            f"solver is {given!r}; allowed are auto, {', '.join(SOLVERS)}, or a solver with options, e.g. Lemke()."
        )
    if given != "auto":
        _named(given)


def _named(solver: str | Solver) -> Solver:
    if isinstance(solver, type):
        raise InvalidProblem(
            f"solver is the class {solver.__name__}; give its name or an object, {solver.__name__}()."
        )
    if not isinstance(solver, str):
        return solver
    if solver not in SOLVERS:
        near = difflib.get_close_matches(solver, SOLVERS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InvalidProblem(f"There is no solver {solver!r}; allowed are auto, {', '.join(SOLVERS)}.{hint}")
    chosen: Solver = SOLVERS[solver]()
    return chosen
