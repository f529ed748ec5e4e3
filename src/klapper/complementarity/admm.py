"""Alternating directions (ADMM): all equations at once, then all contact laws one by one.

    (W + R) x = R (z − u) − b                                     equations with springs R to the last forces
    z = prox(x̂ + u),   x̂ = α x + (1 − α) z                        each law alone: λ_N ≥ 0, then λ_T in its disc
    u ← u + x̂ − z

A fixed point has x = z and −R u = W z + b, hence z = prox(z − R⁻¹ v). The springs R = ϱ diag(W_ii) decide on the speed
only; ϱ follows the ratio of the two residuals. The iteration y = z + u ↦ y + x̂ − z is combined with its last steps by
Anderson acceleration, as long as the steps of y do not grow by it. One factorisation serves all iterations with the
same ϱ, and the whole structure answers at once, so that tall stacks and redundant supports do not slow it down as they
do sweeps from contact to contact. For monotone W it is the Douglas–Rachford splitting and converges, also without
symmetry and with zeros on the diagonal. Friction is not monotone: large friction on redundant contacts leaves valleys,
where the residual stays and forces creep. There the move of a whole stretch of iterations is repeated many times at
once, as in projective integration of stiff equations, and kept unless much longer steps follow. Boyd et al., Found.
Trends Mach. Learn. 3 (2011) 1-122; for friction Carpentier, Le Lidec & Montaut, RSS (2024); ϱ by Stellato et al., OSQP,
Math. Prog. Comp. 12 (2020) 637-672; acceleration by Walker & Ni, SIAM J. Numer. Anal. 49 (2011) 1715-1735; projective
integration by Gear & Kevrekidis, SIAM J. Sci. Comput. 24 (2003) 1091-1106.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import LinearOperator, splu

from klapper.complementarity.checking import Matrix, as_vector
from klapper.complementarity.errors import InvalidProblem, IterationLimit
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.problem import LinearComplementarity, MixedComplementarity
from klapper.complementarity.solver import Answer, solver
from klapper.counting import counted

_STOP_AT = 0.5  # part of the tolerance at which the iteration stops
_CHECK, _RARELY = (
    5,
    0.02,
)  # iterations between two looks at the residual, and their part of all: a look costs as much
_PATIENCE, _GROWTH = 20, 1.3  # iterations before the springs may change, and how this number grows each time
_UNEVEN = 5.0  # ratio of the residuals from which on the springs change
_REGULAR = 1e-10  # part of the squares of the last changes that keeps their combination finite
_LONGEST_WAIT = 64  # plain iterations after extrapolations that failed
_STRIDE = 10.0  # by which they change at most
_STRETCH = 200  # iterations between two leaps: fast parts of the motion have died out after them
_CREEPS = 0.5  # part of its length that the step keeps over a stretch where leaps are tried
# Times its length before, which the step may have a stretch after a leap. Chosen on piles of rocks: with 20 leaps lead
# away, with 1 most are taken back. It decides on the number of iterations only.
_LONGER = 5.0
_FIRST_LEAP, _LONGEST_LEAP = 2.0, 1e4  # stretches at once


@solver
@dataclass(frozen=True)
class Admm:
    """Alternating direction method of multipliers.

    ``stiffness``       ϱ > 0 at the start: springs as part of the diagonal of W, dimensionless
    ``relaxation``      α in (0, 2), dimensionless
    ``memory``          how many earlier steps Anderson acceleration combines; 0 gives plain iterations
    ``max_iterations``  before giving up

    A block of 1 kg that is pressed down with 1 N s and pushed with 0.8 N s keeps sliding, since μ Λ_N = 0.5 N s:

    >>> block = FrictionalContact(np.eye(3), [-1.0, 0.8, 0.0], friction=0.5)
    >>> Admm().attempt(block, None, 1e-9).x.round(9).tolist()
    [1.0, -0.5, 0.0]
    """

    stiffness: float = 0.01
    relaxation: float = 1.6
    memory: int = 10
    max_iterations: int = 20_000
    name = "admm"

    def __post_init__(self) -> None:
        if not 0.0 < self.stiffness < np.inf:
            raise InvalidProblem(f"stiffness is {self.stiffness}; allowed are finite numbers above 0.")
        if not 0.0 < self.relaxation < 2.0:
            raise InvalidProblem(f"relaxation is {self.relaxation}; allowed are numbers between 0 and 2.")
        if self.memory < 0:
            raise InvalidProblem(f"memory is {self.memory}; allowed are numbers from 0 on.")
        if self.max_iterations < 1:
            raise InvalidProblem(f"max_iterations is {self.max_iterations}; allowed are numbers from 1 on.")

    def obstacle(self, problem: Any) -> str:
        if not isinstance(problem, LinearComplementarity | MixedComplementarity | FrictionalContact):
            return f"ADMM solves linear, mixed and contact problems; this is a {problem.kind}."
        if isinstance(equations(problem)[0], LinearOperator):
            return (
                'ADMM factorises the Delassus matrix, but this one is known only as an operator; use "prox".'
            )
        return ""

    def attempt(self, problem: Any, start: np.ndarray | None, tolerance: float) -> Answer:
        matrix, free = equations(problem)
        mobility, stiffness = spring_weights(problem), self.stiffness
        z = np.zeros(problem.size) if start is None else as_vector(start, "start", problem.size)
        z = project(problem, z)
        step = _Step(problem, stiffness * mobility, self.relaxation)
        now = step(z - (matrix @ z + free) / step.springs)
        history, leaps = _History(self.memory), _Leaps(step, now)
        changed, checked, patience, worst = 0, 0, float(_PATIENCE), np.inf
        best, least = None, np.inf
        while step.count < self.max_iterations:
            before, now = now, leaps.advance(history.advance(step, now), history)
            if step.count - checked < max(_CHECK, _RARELY * step.count):
                continue
            checked = step.count
            worst = problem.residuals(now.z).worst
            if worst <= _STOP_AT * tolerance:
                return Answer(now.z, step.count)
            if not np.isfinite(worst):
                break
            if worst < least:
                best, least = now.z, worst
            if step.count - changed >= patience and not leaps.on_trial:
                changed, patience = step.count, _GROWTH * patience
                pull = stiffness * (now.y - now.z)
                factor = _balance(now.x, now.z, before.z, pull, free, stiffness, mobility)
                if factor != 1.0:
                    stiffness *= factor
                    step.change_springs(stiffness * mobility)
                    now = step(now.z + (now.y - now.z) / factor)
                    history.forget()
                    leaps = _Leaps(step, now)
        if best is not None and least <= tolerance:
            return Answer(best, step.count)
        raise IterationLimit(
            f"ADMM: residual {least:.1e} after {counted(step.count, 'iteration')}, wanted {tolerance:.1e}. Start from "
            f"the forces of the last step, raise max_iterations, or allow a larger tolerance; where the Delassus "
            f'matrix is not positive semidefinite or friction is large, try "newton" or "lemke".',
            closest=best,
        )


@dataclass(frozen=True)
class _Point:
    """y = z + u (n,), the forces z = prox(y), the answer x of the equations, and the step of y."""

    y: np.ndarray
    z: np.ndarray
    x: np.ndarray
    step: np.ndarray


class _Step:
    """y ↦ y + α (x − z) with given springs R (n,), counted."""

    def __init__(self, problem: Any, springs: np.ndarray, relaxation: float) -> None:
        self.problem, self.relaxation, self.count = problem, relaxation, 0
        self.matrix, self.free = equations(problem)
        self.change_springs(springs)

    def change_springs(self, springs: np.ndarray) -> None:
        self.springs, self.root = springs, np.sqrt(springs)
        self.respond = factorised(self.matrix, springs)

    def __call__(self, y: np.ndarray) -> _Point:
        self.count += 1
        z = project(self.problem, y)
        x = self.respond(self.springs * (2.0 * z - y) - self.free)
        return _Point(y, z, x, self.relaxation * (x - z))

    def size(self, point: _Point) -> float:
        """The length of the step in the metric of the springs, in which a monotone problem shortens it."""
        return float(np.linalg.norm(self.root * point.step))


class _History:
    """The last changes of y and of its step, from which Anderson acceleration extrapolates."""

    def __init__(self, depth: int) -> None:
        self.depth, self.wait, self.idle = depth, 1, 0
        self.forget()

    def forget(self) -> None:
        self.moves: list[np.ndarray] = []
        self.turns: list[np.ndarray] = []

    def advance(self, step: _Step, now: _Point) -> _Point:
        """The next point: the extrapolated one unless its step is longer, then the plain one."""
        found = None
        if self.moves and self.idle == 0:
            found = step(self._extrapolated(step, now))
            if step.size(found) <= step.size(now):
                self.wait = max(1, self.wait - 1)
            else:
                found, self.idle, self.wait = None, self.wait, min(2 * self.wait, _LONGEST_WAIT)
                self.forget()
        self.idle = max(0, self.idle - 1)
        if found is None:
            found = step(now.y + now.step)
        if self.depth:
            self.moves = [*self.moves, found.y - now.y][-self.depth :]
            self.turns = [*self.turns, found.step - now.step][-self.depth :]
        return found

    def _extrapolated(self, step: _Step, now: _Point) -> np.ndarray:
        moves, turns = np.array(self.moves), np.array(self.turns)
        scaled = turns * step.root
        gram = scaled @ scaled.T
        gram[np.diag_indices_from(gram)] += _REGULAR * np.trace(gram)
        try:
            share = np.linalg.solve(gram, scaled @ (step.root * now.step))
        except np.linalg.LinAlgError:
            share = np.zeros(len(moves))
        return np.asarray(now.y + now.step - share @ (moves + turns))


class _Leaps:
    """Repeats the move of a stretch of iterations many times at once where y creeps."""

    def __init__(self, step: _Step, now: _Point) -> None:
        self.step, self.length = step, _FIRST_LEAP
        self.before: _Point | None = None  # the point that a leap on trial began at
        self._begin(now)

    @property
    def on_trial(self) -> bool:
        return self.before is not None

    def _begin(self, now: _Point) -> None:
        self.mark, self.count = now, self.step.count

    def advance(self, now: _Point, history: _History) -> _Point:
        """The same point within a stretch; at its end a leap, or the judgement of the last one."""
        if self.step.count - self.count < _STRETCH:
            return now
        size = self.step.size
        if self.before is not None:
            onward = (now.y - self.mark.y) @ (self.mark.y - self.before.y) > 0.0
            if size(now) > _LONGER * size(self.before):
                now = self.before
                history.forget()
                onward = False
            self.length = min(2.0 * self.length, _LONGEST_LEAP) if onward else max(0.25 * self.length, 1.0)
            self.before = None
        elif size(now) > _CREEPS * size(self.mark):
            self.before = now
            now = self.step(now.y + self.length * (now.y - self.mark.y))
            history.forget()
        self._begin(now)
        return now


def equations(problem: Any) -> tuple[Matrix | LinearOperator, np.ndarray]:
    """W (n, n) and b (n,) of v = W x + b."""
    if isinstance(problem, FrictionalContact):
        return problem.delassus, problem.free_velocity
    return problem.matrix, problem.offset


def project(problem: Any, force: np.ndarray) -> np.ndarray:
    """Forces (n,) that meet the laws: none pulls, and friction stays within the limit of these normal forces."""
    if isinstance(problem, FrictionalContact):
        allowed = force.copy()
        allowed[problem.normal] = np.maximum(force[problem.normal], 0.0)
        limits = problem.friction_limits(allowed)
        allowed[problem.tangential] = problem.project_friction(force[problem.tangential], limits)
        return allowed
    pushed = np.maximum(force, 0.0)
    return np.where(problem.free, force, pushed) if isinstance(problem, MixedComplementarity) else pushed


def spring_weights(problem: Any) -> np.ndarray:
    """The diagonal of W (n,), one for both rows of a friction patch; where it is zero, the largest entry of the row."""
    matrix, _ = equations(problem)
    weight = np.abs(matrix.diagonal())
    largest = abs(matrix).max(axis=1)
    largest = np.ravel(largest.toarray() if sparse.issparse(largest) else largest)
    weight = np.where(weight > 0.0, weight, np.where(largest > 0.0, largest, 1.0))
    if isinstance(problem, FrictionalContact):
        patches = problem.tangential
        weight[patches] = weight[patches].max(axis=1, keepdims=True, initial=0.0)
    return weight


def factorised(matrix: Matrix, springs: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The answer (W + R)⁻¹ of the structure with springs R (n,)."""
    try:
        if sparse.issparse(matrix):
            answer = splu(sparse.csc_array(matrix + sparse.diags_array(springs)))
            return lambda load: np.asarray(answer.solve(load))
        inverse = np.linalg.inv(matrix + np.diag(springs))
        return lambda load: inverse @ load
    except (np.linalg.LinAlgError, RuntimeError):
        raise IterationLimit(
            "ADMM: the Delassus matrix and the springs of the method add up to a singular matrix, so it is not "
            'positive semidefinite; try "newton" or "lemke".'
        ) from None


def _balance(
    x: np.ndarray, z: np.ndarray, before: np.ndarray, pull: np.ndarray, free: np.ndarray, stiffness: float,
    mobility: np.ndarray,
) -> float:  # fmt: skip
    """By which factor to change ϱ, so that x − z and v + R u vanish at the same pace; 1 if they do."""
    root = np.sqrt(mobility)

    def size(values: np.ndarray) -> float:
        return float(np.linalg.norm(values))

    apart = size(root * (x - z)) / max(size(root * x), size(root * z), 1e-300)
    unsettled = stiffness * size(root * (z - before)) / max(size(root * pull), size(free / root), 1e-300)
    if apart == 0.0 or unsettled == 0.0:
        return 1.0
    ratio = apart / unsettled
    if 1.0 / _UNEVEN <= ratio <= _UNEVEN:
        return 1.0
    return float(np.clip(np.sqrt(ratio), 1.0 / _STRIDE, _STRIDE))
