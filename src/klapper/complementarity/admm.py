"""Alternating directions (ADMM): all equations at once, then all contact laws one by one.

    (W + R) x = R (z − u) − b                                     equations with springs R to the last forces
    z = prox(x̂ + u),   x̂ = α x + (1 − α) z                        each law alone: λ_N ≥ 0, then λ_T in its disc
    u ← u + x̂ − z

A fixed point has x = z and −R u = W z + b, hence z = prox(z − R⁻¹ v). The springs R = ϱ diag(W_ii) decide on the speed
only; ϱ follows the ratio of the two residuals. One factorisation serves all iterations with the same ϱ, and the whole
structure answers at once, so that tall stacks and redundant supports do not slow it down as they do sweeps from contact
to contact. For monotone W it is the Douglas–Rachford splitting and converges, also without symmetry and with zeros on
the diagonal. Boyd et al., Found. Trends Mach. Learn. 3 (2011) 1-122; for friction Carpentier, Le Lidec & Montaut,
RSS (2024); ϱ by Stellato et al., OSQP, Math. Prog. Comp. 12 (2020) 637-672.
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
_CHECK = 5  # iterations between two looks at the residual
_PATIENCE, _GROWTH = 20, 1.3  # iterations before the springs may change, and how this number grows each time
_UNEVEN = 5.0  # ratio of the residuals from which on the springs change
_STRIDE = 10.0  # by which they change at most


@solver
@dataclass(frozen=True)
class Admm:
    """Alternating direction method of multipliers.

    ``stiffness``       ϱ > 0 at the start: springs as part of the diagonal of W, dimensionless
    ``relaxation``      α in (0, 2), dimensionless
    ``max_iterations``  before giving up

    A block of 1 kg that is pressed down with 1 N s and pushed with 0.8 N s keeps sliding, since μ Λ_N = 0.5 N s:

    >>> block = FrictionalContact(np.eye(3), [-1.0, 0.8, 0.0], friction=0.5)
    >>> Admm().attempt(block, None, 1e-9).x.round(9).tolist()
    [1.0, -0.5, 0.0]
    """

    stiffness: float = 0.01
    relaxation: float = 1.6
    max_iterations: int = 20_000
    name = "admm"

    def __post_init__(self) -> None:
        if not 0.0 < self.stiffness < np.inf:
            raise InvalidProblem(f"stiffness is {self.stiffness}; allowed are finite numbers above 0.")
        if not 0.0 < self.relaxation < 2.0:
            raise InvalidProblem(f"relaxation is {self.relaxation}; allowed are numbers between 0 and 2.")
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
        u = -(matrix @ z + free) / (stiffness * mobility)
        respond = factorised(matrix, stiffness * mobility)
        changed, patience, worst = 0, float(_PATIENCE), np.inf
        for iteration in range(1, self.max_iterations + 1):
            x = respond(stiffness * mobility * (z - u) - free)
            relaxed = self.relaxation * x + (1.0 - self.relaxation) * z
            before, z = z, project(problem, relaxed + u)
            u = u + relaxed - z
            if iteration % _CHECK:
                continue
            worst = problem.residuals(z).worst
            if worst <= _STOP_AT * tolerance:
                return Answer(z, iteration)
            if not np.isfinite(worst):
                break
            if iteration - changed >= patience:
                changed, patience = iteration, _GROWTH * patience
                factor = _balance(x, z, before, stiffness * u, free, stiffness, mobility)
                if factor != 1.0:
                    stiffness, u = stiffness * factor, u / factor
                    respond = factorised(matrix, stiffness * mobility)
        if worst <= tolerance:
            return Answer(z, self.max_iterations)
        raise IterationLimit(
            f"ADMM: residual {worst:.1e} after {counted(iteration, 'iteration')}, wanted {tolerance:.1e}. "
            "Start from the forces "
            f"of the last step, raise max_iterations, or allow a larger tolerance; where the Delassus matrix is not "
            f'positive semidefinite or friction is large, try "newton" or "lemke".'
        )


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
