"""Projected Gauss–Seidel and SOR, contact by contact with an exact local answer.

    for i = 1 … n:   λ_i ← (1 − ω) λ_i + ω · (solution of contact i with all other forces held)

Without friction this is x_i ← max(0, x_i − ω y_i / A_ii). With friction each contact is a block of up to
three rows and its Signorini–Coulomb law is solved exactly (``kernels.contact_local``). Friction whose limit
depends on several normal forces is relaxed apart from them, with the limit of the current normal forces. The
standard for large sparse contact problems: linear memory, any start, and a solution is approached even where
forces are not unique. Converges for symmetric positive semidefinite W with moderate friction; a skew part of W, as
other programs write it by round-off, is taken at the forces of the last sweep. Jourdan, Alart and Jean, CMAME 155
(1998) 31-47.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import LinearOperator

from klapper.complementarity.checking import as_vector
from klapper.complementarity.errors import InvalidProblem, IterationLimit, NotApplicable
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.problem import AMPLIFICATION, LinearComplementarity, load_scale
from klapper.complementarity.solver import Answer, solver
from klapper.counting import counted

if TYPE_CHECKING:
    from klapper.complementarity.kernels.contact_blocks import ContactBlocks
    from klapper.complementarity.kernels.contact_linear import Columns

_STOP_AT = 0.5  # part of the tolerance at which the compiled loop stops, so that the caller's check passes


@solver
@dataclass(frozen=True)
class GaussSeidel:
    """Block Gauss–Seidel over contacts, λ_i ← (1 − ω) λ_i + ω · (answer of contact i with all others held).

    ``relaxation``  ω in (0, 2), dimensionless; 1 is Gauss–Seidel, above 1 over-relaxation. The first sweep takes 1,
                    and a contact that opens is not relaxed
    ``memory``      how many earlier iterates Anderson acceleration combines; 0 gives plain sweeps
    ``max_sweeps``  sweeps over all contacts before giving up

    A block of 1 kg, pressed by 1 N s and pushed by 0.8 N s, of which μ = 0.5 takes 0.5 N s:

    >>> block = FrictionalContact(np.eye(3), [-1.0, 0.8, 0.0], friction=0.5)
    >>> GaussSeidel().attempt(block, None, 1e-9).x.tolist()
    [1.0, -0.5, 0.0]
    """

    relaxation: float = 1.3
    memory: int = 5
    max_sweeps: int = 10_000
    name = "gauss-seidel"

    def __post_init__(self) -> None:
        if not 0.0 < self.relaxation < 2.0:
            raise InvalidProblem(f"relaxation is {self.relaxation}; allowed are numbers between 0 and 2.")
        for argument, least in (("memory", 0), ("max_sweeps", 1)):
            if getattr(self, argument) < least:
                raise InvalidProblem(
                    f"{argument} is {getattr(self, argument)}; allowed are numbers from {least} on."
                )

    def obstacle(self, problem: Any) -> str:
        if isinstance(problem, LinearComplementarity):
            matrix: Any = problem.matrix
            rows = np.arange(problem.size)
        elif isinstance(problem, FrictionalContact):
            matrix, rows = problem.delassus, np.concatenate([problem.normal, problem.bilateral])
        else:
            return (
                f"Gauss–Seidel solves linear complementarity and contact problems; this is a {problem.kind}."
            )
        if isinstance(matrix, LinearOperator):
            return (
                "Gauss–Seidel needs the entries of the Delassus matrix, but this one is known only as an "
                'operator; use "prox".'
            )
        diagonal = matrix.diagonal()[rows]
        if np.any(diagonal <= 0.0):
            worst = int(np.argmin(diagonal))
            return (
                f"Gauss–Seidel needs a positive diagonal, but that of {problem.names[rows[worst]]} is "
                f"{diagonal[worst]:.3g}: its force does not move its own contact."
            )
        return ""

    def attempt(self, problem: Any, start: np.ndarray | None, tolerance: float) -> Answer:
        obstacle = self.obstacle(problem)
        if obstacle:
            raise NotApplicable(obstacle)
        guess = np.zeros(problem.size) if start is None else as_vector(start, "start", problem.size)
        if problem.size == 0:
            return Answer(guess, 0)
        if isinstance(problem, LinearComplementarity):
            x, sweeps, residual = self._linear(problem, guess, tolerance)
        else:
            x, sweeps, residual = self._contact(problem, guess, tolerance)
        if not (residual <= tolerance and np.all(np.isfinite(x))):
            raise IterationLimit(
                self._failure(sweeps, residual, tolerance), closest=x if np.all(np.isfinite(x)) else None
            )
        return Answer(x, sweeps)

    def _linear(
        self, problem: LinearComplementarity, guess: np.ndarray, tolerance: float
    ) -> tuple[np.ndarray, int, float]:
        from klapper.complementarity.kernels.contact_linear import gauss_seidel

        x = guess.copy()
        sweeps, residual = gauss_seidel(
            linear_columns(problem), x, self.relaxation, self.memory, _STOP_AT * tolerance, self.max_sweeps
        )
        return x, sweeps, residual

    def _contact(
        self, problem: FrictionalContact, guess: np.ndarray, tolerance: float
    ) -> tuple[np.ndarray, int, float]:
        from klapper.complementarity.kernels.contact_sweep import gauss_seidel

        rows, blocks = contact_blocks(problem)
        used = rows.ravel() >= 0
        force = np.zeros(rows.size)
        force[used] = guess[rows.ravel()[used]]
        sweeps, residual = gauss_seidel(
            blocks, force, self.relaxation, self.memory, _STOP_AT * tolerance, self.max_sweeps
        )
        x = np.empty(problem.size)
        x[rows.ravel()[used]] = force[used]
        return x, sweeps, residual

    def _failure(self, sweeps: int, residual: float, tolerance: float) -> str:
        if not np.isfinite(residual):
            return (
                f"Gauss–Seidel: the forces grew without bound, overflow after {counted(sweeps, 'sweep')}. The Delassus "
                f"matrix is probably not positive semidefinite, or friction is too large; try "
                f'"newton" or "lemke", or a smaller relaxation than {self.relaxation:g}.'
            )
        if sweeps < self.max_sweeps:
            return (
                f"Gauss–Seidel: residual {residual:.1e} after {counted(sweeps, 'sweep')}, wanted {tolerance:.1e}; the "
                f"forces do not change any more, so this is what the arithmetic allows."
            )
        return stopped_sweeps(sweeps, residual, tolerance)


def stopped_sweeps(sweeps: int, residual: float, tolerance: float) -> str:
    """Why sweeps ended without an answer: they were as many as allowed."""
    return (
        f"Gauss–Seidel: residual {residual:.1e} after {counted(sweeps, 'sweep')}, wanted {tolerance:.1e}. Start "
        f'from the forces of the last step, raise max_sweeps, allow a larger tolerance, or try "newton".'
    )


def linear_columns(problem: LinearComplementarity) -> Columns:
    """The matrix of a linear problem by columns, as the compiled sweep wants it."""
    from klapper.complementarity.kernels.contact_linear import Columns

    matrix = sparse.csc_array(problem.matrix)
    largest_scale = AMPLIFICATION * load_scale(problem.matrix, problem.offset)
    return Columns(
        matrix.indptr, matrix.indices, matrix.data, matrix.diagonal(), problem.offset, largest_scale
    )


def contact_blocks(problem: FrictionalContact) -> tuple[np.ndarray, ContactBlocks]:
    """Rows of each block (n, 3), −1 where there is none, and the compiled sweep's data.

    A friction patch that depends on one normal force only, and that alone, shares a block with it.
    """
    from klapper.complementarity.kernels.contact_form import blocks_of

    rows, _, blocks = blocks_of(*problem.form, problem.free_velocity)
    return rows, blocks
