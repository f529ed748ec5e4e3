"""``solve``: one call for every problem, with a check that no answer escapes.

``auto`` orders the solvers by the problem's structure and size and goes on to the next one when one fails. Whatever
claims success is measured against the problem; only a point that passes is returned.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import LinearOperator

from klapper.complementarity.active_set import ActiveSet
from klapper.complementarity.admm import Admm
from klapper.complementarity.checking import as_vector, require_tolerance
from klapper.complementarity.convert import (
    Conversion,
    as_linear,
    driven_parts,
    is_linear,
    restricted,
)
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
from klapper.complementarity.gauss_seidel import GaussSeidel, stopped_sweeps
from klapper.complementarity.interior_point import InteriorPoint
from klapper.complementarity.lemke import Lemke
from klapper.complementarity.newton import SemismoothNewton
from klapper.complementarity.problem import LinearComplementarity, Problem
from klapper.complementarity.prox import Prox
from klapper.complementarity.solution import Attempt, Solution, solved_by
from klapper.complementarity.solver import SOLVERS, Solver
from klapper.complementarity.work_limits import (
    LEAST_SWEEPS,
    MOST_SWEEPS,
    PIVOTED_ROWS,
    STEPPED_ROWS,
    SWEPT_ENTRIES,
    WARM,
)
from klapper.counting import counted
from klapper.effort import CONTACT, measured, report

P = TypeVar("P", bound=Problem)

COMPILED_SIZE = 1500  # above this a dense pivoting method is not the first choice
FEW_COMBINATIONS = 1 << 12
FEW_PIVOTS = 3  # per unknown: Lemke needs one or two; after far more another covering vector is better
SCATTERED_ENTRIES, MOST_PATHS = 2_000_000_000, 40  # of the tables that pivots from scattered bases change
LONG_SWEPT_ENTRIES = 100_000_000  # the same before the methods that take about a second
SPLIT_ENTRIES = 16_000_000_000  # the same of the factors in the iterations of alternating directions,
FILL, CALL_ENTRIES = (
    20,
    300_000,
)  # entries of the factors for each of W, and those that take as long as a call
NEAR_STEPS = 10  # of Newton's method from the closest point: enough near a solution,
NEAR_NEWTON = (
    1e-7  # which large problems must be before they take some: each costs as much as a hundred sweeps
)
NEWTON_SIZE = 600  # rows up to which Newton steps from many starts take no more than some seconds
MANY_PARTS = 8  # above, parts are tried together before each one gets solvers of its own
NEAR = 100.0  # times the tolerance: answers so near are worth another attempt from there
_NO_GUESS = np.empty(0)


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
    effort = measured()
    if effort is None:
        return _solved(problem, solver, tolerance, start)
    report("contact_problems")
    with effort.timed(CONTACT):
        solution = _solved(problem, solver, tolerance, start)
    report("contact_iterations", sum(int(attempt.iterations) for attempt in solution.attempts))
    return solution


def _solved(problem: P, solver: str | Solver, tolerance: float, start: Any) -> Solution[P]:
    guess = None if start is None else as_vector(start, "start", problem.size)
    require_tolerance(tolerance)
    if solver == "auto":
        return _chosen(problem, guess, tolerance)
    chosen = _named(solver)
    with _quiet(problem):
        reduced = _reduced(problem)
        if obstacle := chosen.obstacle(reduced.problem):
            raise NotApplicable(obstacle)
        return _solve_by(problem, reduced, chosen, guess, tolerance, ())


def _quiet(problem: Any) -> AbstractContextManager[Any]:
    """No warnings from data of ours: overflow ends in a residual."""
    ours = isinstance(problem, FrictionalContact) or is_linear(problem)
    return np.errstate(all="ignore") if ours else nullcontext()


def _chosen(
    problem: P, guess: np.ndarray | None, tolerance: float, reached: np.ndarray | None = None
) -> Solution[P]:
    """The answer in one compiled call, where that finds one, else of one solver after the other.

    ``reached`` (n,) is a point that the solvers of a larger problem have come to.
    """
    begun: Solution[Any] | _Begun | None = None
    given: Any = problem
    if isinstance(problem, FrictionalContact):
        begun = _rough_contacts(given, guess, tolerance)
    elif type(problem) is LinearComplementarity:
        begun = _small_linear(given, guess, tolerance)
    if isinstance(begun, Solution):
        return begun
    with _quiet(problem):
        return _solve_in_turn(problem, _reduced(problem), guess, tolerance, reached, begun or _Begun())


def _reduced(problem: Any) -> Conversion[Any]:
    """What the solvers get: contacts without those that stay without force."""
    if isinstance(problem, FrictionalContact):
        return driven_parts(problem)
    return Conversion(problem, lambda x: x, lambda x: x)


@dataclass(frozen=True, slots=True)
class _Begun:
    """What a compiled call that found no answer has tried, and the point ``x`` (n,) that it has come to."""

    attempts: tuple[Attempt, ...] = ()
    x: np.ndarray | None = None


def _small_linear(
    problem: LinearComplementarity, guess: np.ndarray | None, tolerance: float
) -> Solution[Any] | None:
    """The short way for small dense linear problems: choice of method, pivots and check in one compiled call."""
    n = problem.size
    if n > COMPILED_SIZE or not isinstance(problem.matrix, np.ndarray):
        return None
    x = np.empty(n)
    chosen = np.zeros(n, dtype=np.bool_) if guess is None else guess > 0
    status, method, iterations, _ = _kernels().solve_one(problem.matrix, problem.offset, chosen, tolerance, x)
    if status != 0:
        return None
    return Solution(problem, x, solved_by("lemke" if method else "active-set", iterations))


def _rough_contacts(
    problem: FrictionalContact, guess: np.ndarray | None, tolerance: float
) -> Solution[Any] | _Begun | None:
    """The short way for contacts with friction: sweeps, Newton steps for few of them, and the check in one call."""
    if not problem.rough_discs:
        return None
    kernels = _kernels()
    x = np.empty(problem.free_velocity.size)
    places, numbers = problem.form
    method, sweeps, steps, ended, residual = kernels.solve_contacts(
        places, numbers, problem.free_velocity, _NO_GUESS if guess is None else guess, tolerance, x
    )
    if residual <= tolerance:
        return Solution(
            problem, x, solved_by("newton", steps) if method else solved_by("gauss-seidel", sweeps)
        )
    attempts = []
    if sweeps:
        attempts.append(Attempt("gauss-seidel", stopped_sweeps(sweeps, ended, tolerance), sweeps))
    if steps:
        attempts.append(Attempt("newton", f"Newton: no answer within {counted(steps, 'step')}", steps))
    return _Begun(tuple(attempts), None if _pivoted(problem) else x)


@cache
def _kernels() -> SimpleNamespace:
    """The compiled calls; loaded with the first problem that needs one."""
    from klapper.complementarity.kernels.batch import solve_one
    from klapper.complementarity.kernels.contact_call import solve_contacts

    return SimpleNamespace(solve_one=solve_one, solve_contacts=solve_contacts)


def _solve_by(
    problem: P,
    reduced: Conversion[P],
    solver: Solver,
    guess: np.ndarray | None,
    tolerance: float,
    attempts: tuple[Attempt, ...],
) -> Solution[P]:
    """The answer of a solver that can treat the reduced problem, measured against the problem itself.

    ``guess`` (n,) in the unknowns of the problem.
    """
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


class _Closest:
    """The point (n,) with the smallest residual so far, and the ``tolerance`` that it has not met."""

    def __init__(self, problem: Any, guess: np.ndarray | None, tolerance: float) -> None:
        self.problem, self.tolerance = problem, tolerance
        self.x: np.ndarray | None = None
        self.residual = np.inf
        self.see(guess)

    @property
    def near(self) -> bool:
        """Whether the method that came here will soon be there."""
        return self.residual <= NEAR * self.tolerance

    def see(self, x: np.ndarray | None) -> None:
        if x is None:
            return
        with np.errstate(all="ignore"):
            residual = self.problem.residuals(x).worst
        if residual < self.residual:
            self.x, self.residual = x, residual


def _solve_in_turn(
    problem: P,
    reduced: Conversion[P],
    guess: np.ndarray | None,
    tolerance: float,
    reached: np.ndarray | None,
    begun: _Begun,
) -> Solution[P]:
    """The verified answer of the first solver that finds one; each starts from the guess, or from a point near by that
    those before have ``reached`` (n,)."""
    attempts = begun.attempts
    closest = _Closest(problem, guess, tolerance)
    closest.see(reached)
    closest.see(begun.x)
    parts = None if begun.x is None else _parts(reduced.problem)
    if parts is not None and closest.x is not None:
        return _solve_parts(problem, reduced, parts, guess, closest.x, tolerance, attempts)
    for solver in _candidates(reduced.problem, closest):
        if solver.obstacle(reduced.problem):
            continue
        start = closest.x if closest.residual <= WARM else guess
        try:
            return _solve_by(problem, reduced, solver, start, tolerance, attempts)
        except NoSolution:
            raise
        except ComplementarityError as error:
            attempts = error.attempts or (*attempts, Attempt(solver.name, str(error)))
            closest.see(error.closest)
    reason = contradiction(problem)
    if reason:
        raise NoSolution(reason, attempts)
    tried = "; ".join(str(attempt) for attempt in attempts)
    near = "" if closest.x is None else f" The closest point has a residual of {closest.residual:.1e}."
    raise NotDecided(
        f"No solver found a solution of the {problem.kind}, and it is not proved that there is none."
        f"{_about_friction(problem)}{near} Tried: {tried}",
        attempts,
        closest.x,
    )


def _parts(problem: Any) -> np.ndarray | None:
    """Number of the uncoupled part (n,) of each row where each is worth a choice of solver of its own, else None."""
    if not isinstance(problem, FrictionalContact) or not _swept_first(problem):
        return None
    return problem.uncoupled


def _solve_parts(
    problem: P,
    reduced: Conversion[P],
    parts: np.ndarray,
    guess: np.ndarray | None,
    forces: np.ndarray,
    tolerance: float,
    attempts: tuple[Attempt, ...],
) -> Solution[P]:
    """The uncoupled parts that ``forces`` (n,) leave unsolved, each for itself."""
    whole: Any = reduced.problem
    x = reduced.lift(forces)
    undecided: NotDecided | None = None
    left = _unsolved(whole, parts, x, tolerance)
    if len(left) > MANY_PARTS:
        together = restricted(whole, np.flatnonzero(np.isin(parts, left)))
        joint: np.ndarray | None
        try:
            claim = InteriorPoint().attempt(together.problem, None, tolerance)
            joint, outcome, count = claim.x, "solved", claim.iterations
        except ComplementarityError as error:
            joint, outcome, count = error.closest, str(error), 0
        attempts = _together(attempts, (Attempt("interior-point", outcome, count),))
        if joint is not None:
            x = np.where(np.isin(parts, left), together.recover(joint), x)
            left = _unsolved(whole, parts, x, tolerance)
    answer: np.ndarray | None
    for number in left:
        part = restricted(whole, np.flatnonzero(parts == number))
        begin = None if guess is None else part.lift(reduced.lift(guess))
        try:
            found = _chosen(part.problem, begin, tolerance, part.lift(x))
            answer, tried = found.x, found.attempts
        except NotDecided as error:
            undecided, answer, tried = error, error.closest, error.attempts
        if answer is not None:
            x = np.where(parts == number, part.recover(answer), x)
        attempts = _together(attempts, tried)
    solution = Solution(problem, reduced.recover(x), attempts)
    try:
        return solution.verify(tolerance)
    except Unverified as error:
        if undecided is None:
            raise
        raise NotDecided(str(undecided), attempts, solution.x) from error


def _unsolved(problem: Any, parts: np.ndarray, x: np.ndarray, tolerance: float) -> np.ndarray:
    """Numbers (k,) of the ``parts`` (n,) that x (n,) leaves unsolved."""
    return np.unique(parts[~(problem.violations(x) <= 0.5 * tolerance)])


def _together(attempts: tuple[Attempt, ...], more: tuple[Attempt, ...]) -> tuple[Attempt, ...]:
    """One attempt for each solver that failed and that solved, with all its iterations; what solved comes last."""
    last: dict[tuple[bool, str], Attempt] = {}
    for attempt in (*attempts, *more):
        key = attempt.outcome == "solved", attempt.solver
        before = last[key].iterations if key in last else 0
        last[key] = Attempt(attempt.solver, attempt.outcome, before + attempt.iterations)
    return tuple(last[key] for key in sorted(last, key=lambda key: key[0]))


def _about_friction(problem: Any) -> str:
    if not isinstance(problem, FrictionalContact) or not problem.holding.any():
        return ""
    return " With friction a rigid model may have no solution (Painlevé) or several."


def _candidates(problem: Any, closest: _Closest) -> Iterator[Solver]:
    """Solvers in the order in which they are worth trying, those among them that cannot treat the problem too."""
    if isinstance(problem, FrictionalContact) and isinstance(problem.delassus, LinearOperator):
        yield Prox()
        return
    if isinstance(problem, FrictionalContact) and not is_linear(problem):
        yield from _for_discs(problem, closest)
        return
    if not is_linear(problem):
        yield SemismoothNewton()
        return
    if _swept_first(problem):
        if closest.near:
            yield GaussSeidel(max_sweeps=_sweeps(problem, SWEPT_ENTRIES, LEAST_SWEEPS))
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
        if isinstance(problem, FrictionalContact):
            yield SemismoothNewton(starts=1)
        for covering in _other_coverings(as_linear(problem).problem.size):
            yield Lemke(covering=covering, max_pivots=few)
        yield Lemke(max_pivots=few, paths=_paths(_linear_unknowns(problem)))
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


def _swept_first(problem: Any) -> bool:
    """Contacts with exact discs, and those in the plane that are too many for pivoting."""
    if not isinstance(problem, FrictionalContact):
        return False
    return not is_linear(problem) or (problem.polygon is None and not _pivoted(problem))


def _pivoted(problem: FrictionalContact) -> bool:
    """Whether contacts in the plane are so few that pivoting finds their answer to round-off."""
    return problem.tangential.shape[1] == 1 and problem.size <= PIVOTED_ROWS


def _for_discs(problem: FrictionalContact, closest: _Closest) -> Iterator[Solver]:
    """Cheap methods first, each for about as long as the next one takes; ``closest`` is what those before reached.

    The compiled call that comes before has made as many sweeps, but for few rows, where Newton steps followed some.
    """
    n = problem.size
    sweeps = GaussSeidel(max_sweeps=_sweeps(problem, SWEPT_ENTRIES, LEAST_SWEEPS))
    if n <= STEPPED_ROWS:
        yield sweeps
    if closest.near:
        yield sweeps
    yield InteriorPoint()
    if n <= NEWTON_SIZE or closest.residual <= NEAR_NEWTON:
        yield SemismoothNewton(starts=1, max_iterations=NEAR_STEPS)
    yield Admm(max_iterations=_splittings(problem))
    if n <= NEWTON_SIZE or closest.residual <= NEAR_NEWTON:
        yield SemismoothNewton(starts=8 if n <= NEWTON_SIZE else 1)
    yield GaussSeidel(max_sweeps=_sweeps(problem, LONG_SWEPT_ENTRIES, 1000))
    if n <= NEWTON_SIZE:
        yield Prox()


def _splittings(problem: FrictionalContact) -> int:
    """Iterations of alternating directions, each with one solution by factors of W."""
    matrix = problem.delassus
    entries = FILL * matrix.nnz if sparse.issparse(matrix) else matrix.size
    return int(np.clip(SPLIT_ENTRIES // (entries + CALL_ENTRIES), 500, 20_000))


def _sweeps(problem: FrictionalContact, entries: int, least: int) -> int:
    """Sweeps that read so many ``entries`` of W, but some at least and 50 000 at most."""
    matrix = problem.delassus
    count = matrix.nnz if sparse.issparse(matrix) else matrix.size
    return int(np.clip(entries // max(count, 1), least, MOST_SWEEPS))


def _paths(unknowns: int) -> int:
    """How many more paths of pivots take no longer than Newton steps from many starts; each has about 3 n pivots."""
    return int(np.clip(SCATTERED_ENTRIES // (FEW_PIVOTS * max(unknowns, 1) ** 3), 1, MOST_PATHS))


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
