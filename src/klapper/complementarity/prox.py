"""Prox fixed point: every contact law as a projection, all contacts at once.

    λ_N = prox_{≥0}(λ_N − r v_N),   λ_T = prox_D(λ_T − r v_T),   v = W λ + b     Seiwald (3.4), (3.6), (3.15)

The solutions do not depend on r > 0 (Waltersberger (A.97)), the speed does. Global r = 2 / (ξ_min + ξ_max)
with the extreme eigenvalues of W, Seiwald (C.8)-(C.11), or local r_i = r / W_ii with the same rule for the
scaled W; on divergence r is reduced for the contacts that did not converge and the iteration begins again,
(C.12). W is needed only as a product, so it may be an operator. Where forces are not unique the start selects
one of the solutions (Seiwald 5.2.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import LinearOperator

from klapper.complementarity.checking import Matrix, as_vector
from klapper.complementarity.errors import InvalidProblem, IterationLimit, NotApplicable
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.problem import AMPLIFICATION, LinearComplementarity, load_scale
from klapper.complementarity.solver import Answer, solver
from klapper.counting import counted

if TYPE_CHECKING:
    from klapper.complementarity.kernels.contact_prox import Laws, SparseRows

_STOP_AT = 0.5  # part of the tolerance at which the iteration stops, so that the caller's check passes
_DENSE_SIZE = 100  # up to here all eigenvalues are computed, above only the largest is estimated
_VANISHING = 1e-12  # ε of Seiwald (C.9), relative to the largest eigenvalue


@solver
@dataclass(frozen=True)
class Prox:
    """Fixed-point iteration on the prox form, λ_N = prox_{≥0}(λ_N − r v_N), λ_T = prox_D(λ_T − r v_T).

    ``form``            "joint": all forces in one iteration; "nested": normal forces to convergence with
                        friction held, then friction with normal forces held, in rounds (Seiwald 10.1-10.3)
    ``factors``         "local": r_i by the diagonal of W; "global": one r by its eigenvalues
                        (an operator has no diagonal to look at and always takes the global r)
    ``reduction``       ν in (0, 1), dimensionless, by which r is reduced on divergence
    ``memory``          how many earlier iterates Anderson acceleration combines; 0 gives the plain iteration
    ``max_iterations``  iterations before r is reduced and the iteration begins again
    ``max_restarts``    how often it may begin again
    ``max_rounds``      rounds of the nested form

    A block of 1 kg, pressed by 1 N s and pushed by 0.8 N s, of which μ = 0.5 takes 0.5 N s:

    >>> block = FrictionalContact(np.eye(3), [-1.0, 0.8, 0.0], friction=0.5)
    >>> Prox().attempt(block, None, 1e-9).x.tolist()
    [1.0, -0.5, 0.0]
    """

    form: Literal["joint", "nested"] = "joint"
    factors: Literal["local", "global"] = "local"
    reduction: float = 0.5
    memory: int = 5
    max_iterations: int = 10_000
    max_restarts: int = 10
    max_rounds: int = 500
    name = "prox"

    def __post_init__(self) -> None:
        for argument, allowed in (("form", ("joint", "nested")), ("factors", ("local", "global"))):
            if getattr(self, argument) not in allowed:
                given, choice = getattr(self, argument), " and ".join(f'"{value}"' for value in allowed)
                raise InvalidProblem(f"{argument} is {given!r}; allowed are {choice}.")
        if not 0.0 < self.reduction < 1.0:
            raise InvalidProblem(f"reduction is {self.reduction}; allowed are numbers between 0 and 1.")
        for argument, least in (("memory", 0), ("max_iterations", 1), ("max_restarts", 0), ("max_rounds", 1)):
            if getattr(self, argument) < least:
                raise InvalidProblem(
                    f"{argument} is {getattr(self, argument)}; allowed are numbers from {least} on."
                )

    def obstacle(self, problem: Any) -> str:
        if isinstance(problem, (LinearComplementarity, FrictionalContact)):
            return ""
        return f"Prox solves linear complementarity and contact problems; this is a {problem.kind}."

    def attempt(self, problem: Any, start: np.ndarray | None, tolerance: float) -> Answer:
        obstacle = self.obstacle(problem)
        if obstacle:
            raise NotApplicable(obstacle)
        force = np.zeros(problem.size) if start is None else as_vector(start, "start", problem.size).copy()
        if problem.size == 0:
            return Answer(force, 0)
        is_linear = isinstance(problem, LinearComplementarity)
        matrix, free = (
            (problem.matrix, problem.offset) if is_linear else (problem.delassus, problem.free_velocity)
        )
        laws = linear_laws(problem) if is_linear else contact_laws(problem)
        if self.factors == "global" or isinstance(matrix, LinearOperator):
            factor = np.full(problem.size, global_factor(matrix))
        else:
            factor = local_factors(matrix, laws.tangential)
        goal = _STOP_AT * tolerance
        iterations, residual, remark = (
            self._nested(matrix, free, laws, force, factor, goal)
            if self.form == "nested"
            else self._joint(matrix, free, laws, force, factor, goal)
        )
        if not (residual <= tolerance and np.all(np.isfinite(force))):
            raise IterationLimit(self._failure(iterations, residual, tolerance, remark))
        return Answer(force, iterations)

    def _joint(
        self, matrix: Any, free: np.ndarray, laws: Laws, force: np.ndarray, factor: np.ndarray, goal: float
    ) -> tuple[int, float, str]:
        from klapper.complementarity.kernels import contact_prox as kernel

        by_python = isinstance(matrix, LinearOperator)
        iterate = kernel.fixed_point if by_python else kernel.compiled_fixed_point
        iterations, residual, restarts = iterate(
            matrix if by_python else rows_of(matrix),
            free,
            laws,
            kernel.ALL,
            force,
            factor,
            1.0 / factor,
            self.reduction,
            self.memory,
            goal,
            self.max_iterations,
            self.max_restarts,
        )
        return iterations, residual, f"r reduced {restarts} times" if restarts else ""

    def _nested(
        self, matrix: Any, free: np.ndarray, laws: Laws, force: np.ndarray, factor: np.ndarray, goal: float
    ) -> tuple[int, float, str]:
        from klapper.complementarity.kernels import contact_prox as kernel

        by_python = isinstance(matrix, LinearOperator)
        iterate = kernel.nested if by_python else kernel.compiled_nested
        rounds, iterations, residual = iterate(
            matrix if by_python else rows_of(matrix),
            free,
            laws,
            force,
            factor,
            1.0 / factor,
            self.reduction,
            self.memory,
            goal,
            self.max_iterations,
            self.max_restarts,
            self.max_rounds,
        )
        return iterations, residual, counted(rounds, "round")

    def _failure(self, iterations: int, residual: float, tolerance: float, remark: str) -> str:
        reached = f"residual {residual:.1e}" if np.isfinite(residual) else "overflow"
        note = f" ({remark})" if remark else ""
        return (
            f"Prox: {reached} after {counted(iterations, 'iteration')}{note}, wanted {tolerance:.1e}. Start from the "
            f"forces of the last step, allow more iterations or a larger tolerance, or try "
            f'"gauss-seidel" or "newton", which need the entries of the Delassus matrix.'
        )


def global_factor(matrix: Matrix | LinearOperator) -> float:
    """r = 2 / (ξ_min + ξ_max) [kg], Seiwald (C.9)-(C.11).

    Eigenvalues of a large matrix or an operator are estimated: the largest by the power method (from below,
    so 5 % is added), the smallest as zero.
    """
    size = matrix.shape[0]
    if not isinstance(matrix, LinearOperator) and size <= _DENSE_SIZE:
        full = matrix.toarray() if sparse.issparse(matrix) else matrix
        eigenvalues = np.linalg.eigvalsh(0.5 * (full + full.T))
        smallest, largest = float(eigenvalues[0]), float(eigenvalues[-1])
    else:
        smallest, largest = 0.0, 1.05 * _largest_eigenvalue(matrix)
    if largest <= 0.0:
        return 1.0
    if smallest <= _VANISHING * largest:
        smallest = _VANISHING * largest
    return 2.0 / (smallest + largest)


def local_factors(matrix: Matrix, tangential: np.ndarray) -> np.ndarray:
    """r_i = r / W_ii (n,) [kg] with the global factor r of the matrix W_ij / √(W_ii W_jj).

    Both rows of a friction patch share the larger W_ii; a row with W_ii = 0 takes the largest of all.
    """
    mobility = np.abs(matrix.diagonal())
    mobility = np.where(mobility > 0.0, mobility, mobility.max(initial=0.0) or 1.0)
    pairs = tangential[tangential[:, 1] >= 0]
    mobility[pairs] = mobility[pairs].max(axis=1, keepdims=True, initial=0.0)
    root = np.sqrt(mobility)
    if sparse.issparse(matrix):
        scaling = sparse.diags_array(1.0 / root)
        scaled = sparse.csr_array(scaling @ matrix @ scaling)
    else:
        scaled = matrix / np.outer(root, root)
    return global_factor(scaled) / mobility


def rows_of(matrix: Matrix) -> np.ndarray | SparseRows:
    """The matrix as the compiled iteration wants it."""
    from klapper.complementarity.kernels.contact_prox import SparseRows

    if sparse.issparse(matrix):
        return SparseRows(matrix.indptr, matrix.indices, matrix.data)
    return np.ascontiguousarray(matrix)


def contact_laws(problem: FrictionalContact) -> Laws:
    """The laws of a contact problem by row numbers."""
    from klapper.complementarity.kernels.contact_prox import Laws

    patches = len(problem.tangential)
    tangential = np.full((patches, 2), -1)
    tangential[:, : problem.tangential.shape[1]] = problem.tangential
    mobility = problem.mobility
    softest = float(mobility.max(initial=0.0)) or 1.0
    sliding = mobility[problem.tangential].max(axis=1, initial=0.0)
    return Laws(
        problem.normal.astype(np.int64),
        tangential,
        problem.bilateral.astype(np.int64),
        problem.friction.indptr.astype(np.int64),
        problem.friction.indices.astype(np.int64),
        problem.friction.data,
        problem.limit,
        np.where(mobility[problem.normal] > 0.0, mobility[problem.normal], softest),
        np.where(sliding > 0.0, sliding, softest),
        problem.polygon or 0,
        False,
        np.full(problem.size, AMPLIFICATION * (np.abs(problem.free_velocity).max(initial=0.0) or np.inf)),
    )


def linear_laws(problem: LinearComplementarity) -> Laws:
    """A linear complementarity problem as contacts without friction, measured row by row."""
    from klapper.complementarity.kernels.contact_prox import Laws

    none = np.empty(0, np.int64)
    return Laws(
        np.arange(problem.size),
        np.empty((0, 2), np.int64),
        none,
        np.zeros(1, np.int64),
        none,
        np.empty(0),
        np.empty(0),
        np.ones(problem.size),
        np.empty(0),
        0,
        True,
        AMPLIFICATION * load_scale(problem.matrix, problem.offset),
    )


def _largest_eigenvalue(matrix: Matrix | LinearOperator) -> float:
    vector = np.random.default_rng(0).standard_normal(matrix.shape[0])
    value = 0.0
    for _ in range(40):
        vector = matrix @ vector
        value = float(np.linalg.norm(vector))
        if value == 0.0:
            break
        vector /= value
    return value
