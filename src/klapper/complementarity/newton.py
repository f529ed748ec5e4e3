"""Semismooth Newton methods with globalisation, dense and sparse.

    linear, mixed, nonlinear:  Φ_i = φ(x_i, F_i(x)), φ(a, b) = 0 ⇔ 0 ≤ a ⟂ b ≥ 0;  free rows Φ_i = F_i
    frictional contact:        the Alart–Curnier function of ``alart_curnier``

φ is the penalised Fischer–Burmeister function θ(a + b − √(a² + b²)) + (1 − θ) a₊b₊. Steps solve V d = −Φ with
V from the generalised Jacobian, under a nonmonotone line search on ½‖Φ‖² and with a Levenberg–Marquardt step
where V is singular. Problems that resist are approached along the smooth path a b = τ², τ → 0, contacts by
proximal regularisation. A found point is polished by full steps on its active set, exact for linear problems.
Chen, Chen, Kanzow, Math. Programming 88 (2000) 211-216; Grippo, Lampariello, Lucidi, SIAM J. Numer. Anal. 23
(1986) 707-716; Waltersberger sections 4.1.1 and 4.1.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sparse
from scipy.linalg.lapack import dgesv, dposv
from scipy.sparse.csgraph import structural_rank
from scipy.sparse.linalg import LinearOperator, splu

from klapper.complementarity.alart_curnier import AlartCurnier
from klapper.complementarity.checking import Matrix
from klapper.complementarity.errors import IterationLimit
from klapper.complementarity.exact_disc import exact_disc_forces, exact_disc_problem
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.problem import (
    LinearComplementarity,
    MixedComplementarity,
    NonlinearComplementarity,
)
from klapper.complementarity.solver import Answer

THETA = 0.95  # weight of the Fischer–Burmeister part of φ
MEMORY = 6  # merit values the nonmonotone line search compares with
COMPILED_SIZE = 120  # up to here the compiled kernels beat LAPACK called step by step
DAMPED_SIZE = 2000  # beyond, the fill-in of sparse Levenberg–Marquardt steps costs more than another start
ROUND_OFF = 1e-14


@dataclass(frozen=True)
class Newton:
    """Semismooth Newton: fast near a solution, globalised by line search, damping and several starts.

    ``max_iterations``  steps from each start
    ``starts``          how many starts are tried: the given one, then fixed ones

    Linear, mixed and nonlinear problems use the Fischer–Burmeister function, contacts with the exact disc the
    Alart–Curnier function. Sparse data stay sparse. It does not prove that a problem has no solution.

    >>> problem = LinearComplementarity([[2.0, 1.0], [1.0, 2.0]], [-1.0, 1.0])
    >>> Newton().attempt(problem, None, 1e-9).x.tolist()
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
                    "convert the problem with polygonal and use lemke."
                )
            if isinstance(problem.delassus, LinearOperator):
                return "Newton factorises the Delassus matrix, but it is given as an operator; use prox."
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
            scaled = _scaled_contact(mapping, tolerance, self.max_iterations)
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

        iterations, least = 0, np.inf
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
                return Answer(exact.x * scaled.unit, iterations, f"start {count + 1}")
            least = min(least, path.residual)
        raise IterationLimit(_failure(problem, least, iterations, tolerance))


@dataclass(frozen=True)
class Scaled:
    """A problem in dimensionless unknowns x / unit; ``guesses`` yields starts and the steps spent on each."""

    mapping: SemismoothMap
    unit: np.ndarray
    guesses: Callable[[], Iterator[tuple[np.ndarray, int]]]


class SemismoothMap(Protocol):
    """A map Φ (n,) whose zeros are wanted.

    ``derivative`` returns an element of the generalised Jacobian, dense or sparse; ``shortcut`` the zero of
    the linearisation on the pieces active at x, or None where nothing is better than a Newton step.
    """

    def value(self, x: np.ndarray) -> np.ndarray: ...

    def derivative(self, x: np.ndarray) -> Matrix: ...

    def shortcut(self, x: np.ndarray) -> np.ndarray | None: ...


class FischerBurmeister:
    """Φ for the problem F(x)_i = 0 (free i), 0 ≤ x_i ⟂ F(x)_i ≥ 0 (others), in dimensionless x and F.

    With ``smoothing`` τ > 0 the pair function is a + b − √(a² + b² + 2τ²): zero where a b = τ², a, b > 0.
    """

    def __init__(
        self,
        function: Callable[[np.ndarray], np.ndarray],
        jacobian: Callable[[np.ndarray], Matrix],
        free: np.ndarray,
        *,
        smoothing: float = 0.0,
    ) -> None:
        self.function = function
        self.jacobian = jacobian
        self.free = free
        self.smoothing = smoothing
        self.theta = 1.0 if smoothing > 0.0 else THETA

    def smoothed(self, smoothing: float) -> FischerBurmeister:
        return FischerBurmeister(self.function, self.jacobian, self.free, smoothing=smoothing)

    def value(self, x: np.ndarray) -> np.ndarray:
        y = self.function(x)
        pair = self.theta * (x + y - np.sqrt(x * x + y * y + 2.0 * self.smoothing**2))
        pair += (1.0 - self.theta) * np.maximum(x, 0.0) * np.maximum(y, 0.0)
        return np.where(self.free, y, pair)

    def derivative(self, x: np.ndarray) -> Matrix:
        y = self.function(x)
        length = np.sqrt(x * x + y * y + 2.0 * self.smoothing**2)
        kink = length == 0.0
        length[kink] = 1.0
        both = (x > 0.0) & (y > 0.0)
        d_x = self.theta * (1.0 - np.where(kink, np.sqrt(0.5), x / length)) + (1.0 - self.theta) * both * y
        d_y = self.theta * (1.0 - np.where(kink, np.sqrt(0.5), y / length)) + (1.0 - self.theta) * both * x
        d_x[self.free] = 0.0
        d_y[self.free] = 1.0
        jacobian = self.jacobian(x)
        if sparse.issparse(jacobian):
            return sparse.csr_array(sparse.diags_array(d_x) + sparse.diags_array(d_y) @ jacobian)
        return np.diag(d_x) + d_y[:, None] * jacobian

    def shortcut(self, x: np.ndarray) -> np.ndarray | None:
        """Full step with F_i = 0 where F_i < x_i and x_i = 0 elsewhere, least-squares if that is singular."""
        if self.smoothing > 0.0:
            return None
        y = self.function(x)
        active = self.free | (x > y)
        index = np.flatnonzero(active)
        jacobian = self.jacobian(x)
        point = np.where(active, x, 0.0)
        right = y + jacobian @ (point - x)
        block = jacobian[index][:, index]
        step = newton_direction(block, right[index])
        if step is None:
            step = least_squares_direction(block, right[index])
        if step is None:
            return None
        point[index] += step
        return point


@dataclass(frozen=True)
class Path:
    """Where :func:`damped_newton` ended: best point, its residual, steps, and all residuals on the way."""

    x: np.ndarray
    residual: float
    iterations: int
    history: tuple[float, ...]


def damped_newton(
    mapping: SemismoothMap,
    x: np.ndarray,
    measure: Callable[[np.ndarray], float],
    tolerance: float,
    max_iterations: int,
) -> Path:
    """Newton's method on Φ(x) = 0 until ``measure(x)`` is at most ``tolerance`` or no step is found."""
    value = mapping.value(x)
    merits = [0.5 * float(value @ value)]
    history = [measure(x)]
    best = x
    while history[-1] > tolerance and len(merits) <= max_iterations and not _stalls(merits):
        if history[-1] < 1e-3 or len(merits) % 10 == 0:
            guess = mapping.shortcut(x)
            if guess is not None and (residual := measure(guess)) <= tolerance:
                return Path(guess, residual, len(merits), (*history, residual))
        found = _accepted_step(mapping, x, value, mapping.derivative(x), max(merits[-MEMORY:]))
        if found is None:
            break
        x, value = found
        merits.append(0.5 * float(value @ value))
        history.append(measure(x))
        if history[-1] <= min(history):
            best = x
    return Path(best, min(history), len(merits) - 1, tuple(history))


def _stalls(merits: list[float], window: int = 25) -> bool:
    """Whether the merit function has not fallen by a tenth within the last steps, or is not a number."""
    return not np.isfinite(merits[-1]) or (
        len(merits) > window and min(merits[-window:]) > 0.9 * min(merits[:-window])
    )


def polished(mapping: SemismoothMap, path: Path, measure: Callable[[np.ndarray], float]) -> Path:
    """Up to three full steps from the end of ``path``, each kept only if it lowers the residual."""
    for _ in range(3):
        if path.residual <= ROUND_OFF:
            break
        better = mapping.shortcut(path.x)
        if better is None:
            step = newton_direction(mapping.derivative(path.x), mapping.value(path.x))
            better = None if step is None else path.x + step
        if better is None or not (lower := measure(better)) < path.residual:
            break
        path = Path(better, lower, path.iterations + 1, (*path.history, lower))
    return path


def _accepted_step(
    mapping: SemismoothMap, x: np.ndarray, value: np.ndarray, jacobian: Matrix, reference: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """First of Newton's and three damped directions along which the merit falls below ``reference``."""
    gradient = jacobian.T @ value
    damping = min(1.0, float(np.linalg.norm(value)))
    for factor in (0.0, 1e-8, 1e-4, 1.0):
        if factor == 0.0:
            step = newton_direction(jacobian, value)
        else:
            step = damped_direction(jacobian, value, gradient, factor * damping)
        if step is None or not (slope := float(gradient @ step)) < 0.0:
            continue
        length = 1.0
        while length >= 2.0**-12:
            trial = x + length * step
            trial_value = mapping.value(trial)
            if 0.5 * float(trial_value @ trial_value) <= reference + 1e-4 * length * slope:
                return trial, trial_value
            length *= 0.5
    return None


def newton_direction(jacobian: Matrix, value: np.ndarray) -> np.ndarray | None:
    """d with V d = −Φ, None if V is singular. Rows with nothing but a diagonal entry are eliminated first."""
    diagonal = jacobian.diagonal()
    if sparse.issparse(jacobian):
        lone = (np.diff(jacobian.indptr) == 1) & (diagonal != 0.0)
    else:
        lone = (np.count_nonzero(jacobian, axis=1) == 1) & (diagonal != 0.0)
    step = np.zeros(value.size)
    step[lone] = -value[lone] / diagonal[lone]
    rest = np.flatnonzero(~lone)
    if rest.size == 0:
        return step
    if rest.size < value.size:
        rows = jacobian[rest]
        right = -value[rest] - rows @ step
        solved = _solve(rows[:, rest], right)
    else:
        solved = _solve(jacobian, -value)
    if solved is None:
        return None
    step[rest] = solved
    return step


def _solve(matrix: Matrix, right: np.ndarray) -> np.ndarray | None:
    """matrix⁻¹ right by LU factors, None where the matrix is singular."""
    if sparse.issparse(matrix):
        return _solve_sparse(sparse.csc_array(matrix), right)
    _, _, solution, info = dgesv(matrix, right)
    return solution if info == 0 and np.all(np.isfinite(solution)) else None


def _solve_sparse(matrix: sparse.csc_array, right: np.ndarray) -> np.ndarray | None:
    """First with pivots near the diagonal, which fills contact matrices least; if inexact, freely.

    Structurally singular matrices never reach SuperLU, which overwrites memory on some of them.
    """
    matrix.eliminate_zeros()
    if structural_rank(matrix) < matrix.shape[0]:
        return None
    near_diagonal = {
        "permc_spec": "MMD_AT_PLUS_A",
        "diag_pivot_thresh": 0.01,
        "options": {"SymmetricMode": True},
    }
    allowed = 1e-10 * float(np.abs(right).max(initial=0.0))
    solution = None
    for options in (near_diagonal, {}):
        try:
            factors = splu(matrix, **options)
        except RuntimeError:
            continue
        solution = factors.solve(right)
        solution += factors.solve(right - matrix @ solution)
        if float(np.abs(matrix @ solution - right).max(initial=0.0)) <= allowed:
            return solution
    return solution if solution is not None and np.all(np.isfinite(solution)) else None


def damped_direction(
    jacobian: Matrix, value: np.ndarray, gradient: np.ndarray, damping: float
) -> np.ndarray | None:
    """Levenberg–Marquardt step −(VᵀV + νI)⁻¹ VᵀΦ; for sparse V by the sparse augmented system."""
    if sparse.issparse(jacobian):
        size = value.size
        if size > DAMPED_SIZE:
            return None
        unity = sparse.eye_array(size)
        augmented = sparse.block_array([[unity, jacobian], [jacobian.T, -damping * unity]])
        solution = _solve(augmented, np.concatenate([-value, np.zeros(size)]))
        return None if solution is None else solution[size:]
    normal = jacobian.T @ jacobian
    normal[np.diag_indices_from(normal)] += damping
    _, solution, info = dposv(normal, -gradient)
    return solution if info == 0 and np.all(np.isfinite(solution)) else None


def least_squares_direction(jacobian: Matrix, value: np.ndarray) -> np.ndarray | None:
    """The shortest step that minimises ‖V d + Φ‖ (sparse: up to a damping of 1e-12)."""
    if sparse.issparse(jacobian):
        return damped_direction(jacobian, value, jacobian.T @ value, 1e-12)
    if value.size == 0:
        return np.zeros(0)
    return np.linalg.lstsq(jacobian, -value)[0]


def _usable_start(problem: Any, start: np.ndarray | None) -> np.ndarray | None:
    if start is None:
        return None
    start = np.asarray(start, dtype=float)
    return start if start.shape == (problem.size,) and np.all(np.isfinite(start)) else None


def smooth_path(
    mapping: FischerBurmeister, x: np.ndarray, smoothing: float, factor: float
) -> tuple[np.ndarray, int]:
    """Follow the zeros of the smoothed map from τ = ``smoothing`` to 1e-6; the end and the steps taken."""
    iterations = 0
    while smoothing > 1e-6:
        smooth = mapping.smoothed(smoothing)
        path = damped_newton(smooth, x, _largest_entry(smooth), 0.1 * smoothing, 15)
        x, iterations = path.x, iterations + path.iterations
        smoothing *= factor
    return x, iterations


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
        path = damped_newton(inner, x, _largest_entry(inner), wanted, 15)
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


def _largest_entry(mapping: SemismoothMap) -> Callable[[np.ndarray], float]:
    return lambda x: float(np.abs(mapping.value(x)).max(initial=0.0))


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


def _scaled_contact(mapping: AlartCurnier, tolerance: float, max_iterations: int) -> Scaled:
    contact = mapping.contact

    def measure(x: np.ndarray) -> float:
        return contact.residuals(x * mapping.force_unit).worst

    def guesses() -> Iterator[tuple[np.ndarray, int]]:
        zero = np.zeros(contact.size)
        near = mapping.projected_gradient(zero, 60)
        yield near, 0
        yield proximal_newton(mapping, near, measure, tolerance, 6 * max_iterations)
        yield zero, 0
        if sparse.issparse(mapping.matrix) and contact.size > DAMPED_SIZE:
            return
        disc = _scaled_nonlinear(exact_disc_problem(contact))
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
    from klapper.complementarity.kernels.newton import fischer_burmeister

    guess = np.zeros(problem.size) if start is None else start
    x, iterations, converged = fischer_burmeister(
        problem.matrix, problem.offset, _free(problem), guess, tolerance, max_iterations
    )
    if converged and problem.residuals(x).worst <= tolerance:
        return Answer(x, iterations, "compiled")
    return None


def _compiled_contact(
    mapping: AlartCurnier, start: np.ndarray | None, tolerance: float, max_iterations: int
) -> Answer | None:
    """The same for contact problems."""
    contact = mapping.contact
    if sparse.issparse(mapping.matrix) or contact.size > COMPILED_SIZE:
        return None
    from klapper.complementarity.kernels.newton import alart_curnier

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
    )
    force = x * mapping.force_unit
    if converged and contact.residuals(force).worst <= tolerance:
        return Answer(force, iterations, "compiled")
    return None


def _failure(problem: Any, residual: float, iterations: int, tolerance: float) -> str:
    text = f"Newton: residual {residual:.1e} after {iterations} iterations, wanted {tolerance:.0e}; "
    if isinstance(problem, FrictionalContact):
        return text + (
            "the contact forces do not settle. Large friction with coupled normal and tangential motion may "
            "leave no solution (Painlevé) or several, redundant contacts leave forces undetermined: try "
            "gauss_seidel or prox, a smaller step, or the forces of the last step as start."
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
