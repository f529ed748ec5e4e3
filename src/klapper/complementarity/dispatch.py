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
from klapper.complementarity.convert import (
    DENSE_SIZE,
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
FIRST_SWEEPS = 100  # of small problems: they cost as much as the compiled Newton steps that follow
SWEPT_ENTRIES = (
    2_000_000  # entries of W in so many sweeps that they take no longer than the interior-point method
)
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
SMALL_STEPS = 50  # of compiled Newton steps, which settle within twenty or hardly ever
WARM = 1e-5  # residual up to which a point is a better start than the guess: others have other contact states
NEWTON_SIZE = 600  # rows up to which Newton steps from many starts take no more than some seconds
MANY_PARTS = 8  # above, parts are tried together before each one gets solvers of its own
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
    ours = isinstance(problem, FrictionalContact) or is_linear(problem)
    quiet = np.errstate(all="ignore") if ours else nullcontext()  # overflow ends in a residual
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
    reached: np.ndarray | None = None,
) -> Solution[P]:
    """The verified answer of the first solver that finds one; each starts from the guess, or from a point near by that
    those before have reached, as ``reached`` (n,)."""
    attempts: tuple[Attempt, ...] = ()
    closest = _Closest(problem, guess, tolerance)
    closest.see(reached)
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
        parts = _parts(reduced.problem) if len(attempts) == 1 else None
        if parts is not None and closest.x is not None:
            return _solve_parts(problem, reduced, parts, guess, closest.x, tolerance, attempts)
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
            found = _solve_in_turn(part.problem, _reduced(part.problem), begin, tolerance, part.lift(x))
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
        sweeps = GaussSeidel(max_sweeps=_sweeps(problem, SWEPT_ENTRIES, 300))
        yield sweeps
        if closest.near:
            yield sweeps
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
    return not is_linear(problem) or (problem.polygon is None and problem.size > PIVOTED_CONTACTS)


def _for_discs(problem: FrictionalContact, closest: _Closest) -> Iterator[Solver]:
    """Cheap methods first, each for about as long as the next one takes; ``closest`` is what those before reached."""
    n = problem.size
    if n <= DENSE_SIZE:
        yield GaussSeidel(max_sweeps=FIRST_SWEEPS)
        yield SemismoothNewton(starts=1, max_iterations=SMALL_STEPS)  # compiled
    sweeps = GaussSeidel(max_sweeps=_sweeps(problem, SWEPT_ENTRIES, 300))
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
    return int(np.clip(entries // max(count, 1), least, 50_000))


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
