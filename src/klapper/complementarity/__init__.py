"""Complementarity and contact problems, solvers that are checked, and what their solutions leave open.

from klapper.complementarity import LinearComplementarity, solve, uniqueness

solution = solve(LinearComplementarity(A, b))      # 0 ≤ x ⟂ A x + b ≥ 0, verified
print(uniqueness(solution))
"""

from klapper.complementarity.active_set import ActiveSet
from klapper.complementarity.admm import Admm
from klapper.complementarity.batch import BatchSolution, solve_batch
from klapper.complementarity.bilateral import bilateral_forces
from klapper.complementarity.convert import (
    Conversion,
    as_linear,
    eliminate_free,
    polygonal,
    quadratic_program,
    split_free,
)
from klapper.complementarity.dispatch import solve
from klapper.complementarity.enumeration import Enumeration, Piece, SolutionSet, enumerate_solutions
from klapper.complementarity.errors import (
    ComplementarityError,
    InvalidProblem,
    IterationLimit,
    NoSolution,
    NotApplicable,
    NotDecided,
    RayTermination,
    Unverified,
)
from klapper.complementarity.exact_disc import (
    exact_disc_forces,
    exact_disc_motion,
    exact_disc_problem,
    exact_disc_start,
)
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.gauss_seidel import GaussSeidel
from klapper.complementarity.homotopy import BranchEvent, SolutionBranch, follow
from klapper.complementarity.interior_point import InteriorPoint
from klapper.complementarity.lemke import Lemke
from klapper.complementarity.newton import SemismoothNewton
from klapper.complementarity.problem import (
    LinearComplementarity,
    MixedComplementarity,
    NonlinearComplementarity,
    Problem,
)
from klapper.complementarity.prox import Prox
from klapper.complementarity.residuals import Residuals
from klapper.complementarity.solution import Attempt, Solution
from klapper.complementarity.solver import SOLVERS, Answer, Solver
from klapper.complementarity.uniqueness import Uniqueness, uniqueness

__all__ = [
    "SOLVERS",
    "ActiveSet",
    "Admm",
    "Answer",
    "Attempt",
    "BatchSolution",
    "BranchEvent",
    "ComplementarityError",
    "Conversion",
    "Enumeration",
    "FrictionalContact",
    "GaussSeidel",
    "InteriorPoint",
    "InvalidProblem",
    "IterationLimit",
    "Lemke",
    "LinearComplementarity",
    "MixedComplementarity",
    "NoSolution",
    "NonlinearComplementarity",
    "NotApplicable",
    "NotDecided",
    "Piece",
    "Problem",
    "Prox",
    "RayTermination",
    "Residuals",
    "SemismoothNewton",
    "Solution",
    "SolutionBranch",
    "SolutionSet",
    "Solver",
    "Uniqueness",
    "Unverified",
    "as_linear",
    "bilateral_forces",
    "eliminate_free",
    "enumerate_solutions",
    "exact_disc_forces",
    "exact_disc_motion",
    "exact_disc_problem",
    "exact_disc_start",
    "follow",
    "polygonal",
    "quadratic_program",
    "solve",
    "solve_batch",
    "split_free",
    "uniqueness",
]
