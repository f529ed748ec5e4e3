"""Complementarity and contact problems, solvers that are checked, and what their solutions leave open.

from klapper.complementarity import LinearComplementarity, solve, uniqueness

solution = solve(LinearComplementarity(A, b))      # 0 ≤ x ⟂ A x + b ≥ 0, verified
print(uniqueness(solution))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
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
    from klapper.complementarity.unique import Uniqueness, uniqueness

_PLACES = {
    "ActiveSet": "active_set",
    "Admm": "admm",
    "Answer": "solver",
    "Attempt": "solution",
    "BatchSolution": "batch",
    "BranchEvent": "homotopy",
    "Conversion": "convert",
    "Enumeration": "enumeration",
    "FrictionalContact": "frictional_contact",
    "GaussSeidel": "gauss_seidel",
    "InteriorPoint": "interior_point",
    "Lemke": "lemke",
    "LinearComplementarity": "problem",
    "MixedComplementarity": "problem",
    "NonlinearComplementarity": "problem",
    "Piece": "enumeration",
    "Problem": "problem",
    "Prox": "prox",
    "Residuals": "residuals",
    "SOLVERS": "solver",
    "SemismoothNewton": "newton",
    "Solution": "solution",
    "SolutionBranch": "homotopy",
    "SolutionSet": "enumeration",
    "Solver": "solver",
    "Uniqueness": "unique",
    "as_linear": "convert",
    "bilateral_forces": "bilateral",
    "eliminate_free": "convert",
    "enumerate_solutions": "enumeration",
    "exact_disc_forces": "exact_disc",
    "exact_disc_motion": "exact_disc",
    "exact_disc_problem": "exact_disc",
    "exact_disc_start": "exact_disc",
    "follow": "homotopy",
    "polygonal": "convert",
    "quadratic_program": "convert",
    "solve": "dispatch",
    "solve_batch": "batch",
    "split_free": "convert",
    "uniqueness": "unique",
}

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


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"klapper.complementarity has no '{name}'; it has {', '.join(__all__)}.")
    if name == "SOLVERS":  # each file lists its own
        for place in sorted(set(_PLACES.values())):
            import_module(f"klapper.complementarity.{place}")
    found = globals()[name] = getattr(import_module(f"klapper.complementarity.{_PLACES[name]}"), name)
    if name == "SOLVERS":
        for word in sorted(found):  # the same order whatever was loaded before
            found[word] = found.pop(word)
    return found
