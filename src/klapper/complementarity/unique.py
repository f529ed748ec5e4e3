"""What a solved problem leaves open: is the motion unique, which forces are, and within which bounds.

For a given motion ȳ the forces form a convex set,

    { x : A x + b = ȳ,  x_i ≥ 0,  x_i = 0 where ȳ_i > 0 }                    (with friction: λ_T in its disc, or −ρ
    v_T/|v_T|)

whose bounds are found in :mod:`klapper.complementarity.selection`. Whether the motion itself is unique follows from
symmetry and semidefiniteness, from the solution face of a monotone problem (Cottle, Pang & Stone, Theorem 3.1.7), or by
enumeration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from klapper.complementarity.active_set import is_symmetric
from klapper.complementarity.dense import dense
from klapper.complementarity.enumeration import Enumeration, enumerate_solutions
from klapper.complementarity.errors import ComplementarityError, NotApplicable
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.problem import LinearComplementarity, MixedComplementarity, equilibration
from klapper.complementarity.selection.accuracy import judged_linear, unknown_part
from klapper.complementarity.selection.face import Face
from klapper.complementarity.selection.force_set import MAX_SIZE, ForceSet, are_points
from klapper.complementarity.selection.null_space import echelon, null_space
from klapper.complementarity.selection.words import combination
from klapper.complementarity.solution import Solution

Verdict = Literal["unique", "not unique", "undecided"]


@dataclass(frozen=True)
class Uniqueness:
    """What is determined by a problem and what is not, in the units of its unknowns x and its y = A x + b.

    ``names``       of the unknowns (n,)
    ``motion``      is the complementary quantity (velocity, gap) unique: "unique", "not unique" or "undecided"
    ``motions``     the distinct motions known (k, n)
    ``forces``      (n,) booleans: which unknowns are unique
    ``lower``, ``upper``  (n,) least and greatest value of each unknown; over all solutions if ``complete``,
                    otherwise over all solutions with the motion of the given one
    ``null_space``  (n, k): combinations of unknowns that change nothing but themselves, largest entry one
    ``complete``    whether the bounds hold for all solutions
    ``all_unique``  whether motion and forces are

    >>> from klapper.complementarity import solve
    >>> found = uniqueness(solve(LinearComplementarity(np.ones((2, 2)), [-1.0, -1.0])))  # x₁ + x₂ = 1
    >>> found.motion, found.forces.tolist(), found.upper.round(9).tolist(), found.null_space.tolist()
    ('unique', [False, False], [1.0, 1.0], [[1.0], [-1.0]])
    """

    names: tuple[str, ...]
    motion: Verdict
    motions: np.ndarray
    forces: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    null_space: np.ndarray
    complete: bool

    @property
    def all_unique(self) -> bool:
        return self.motion == "unique" and bool(self.forces.all())

    def __str__(self) -> str:
        motion = {
            "unique": "The motion is unique.",
            "not unique": f"The motion is not unique: {len(self.motions)} different motions satisfy the model.",
            "undecided": "Whether the motion is unique is not decided.",
        }[self.motion]
        if self.forces.all():
            return f"{motion} All forces are unique" + ("." if self.complete else " for this motion.")
        lines = [motion, f"{int((~self.forces).sum())} of {len(self.forces)} forces are not unique:"]
        width = max(len(name) for name in self.names)
        for i in np.flatnonzero(~self.forces):
            lines.append(f"  {self.names[i]:<{width}}  between {self.lower[i]:.6g} and {self.upper[i]:.6g}")
        for vector in self.null_space.T:
            lines.append("  undetermined combination: " + combination(self.names, vector))
        if not self.complete:
            lines.append("  (bounds for this motion)")
        return "\n".join(lines)


def uniqueness(solution: Solution[Any]) -> Uniqueness:
    """What the problem of a verified solution determines and what it does not.

    >>> from klapper.complementarity.dispatch import solve
    >>> two_supports = LinearComplementarity(np.ones((2, 2)), [-1.0, -1.0], names=["left", "right"])
    >>> print(uniqueness(solve(two_supports)))
    The motion is unique.
    2 of 2 forces are not unique:
      left   between 0 and 1
      right  between 0 and 1
      undetermined combination: left - right
    """
    problem = solution.problem
    if not isinstance(problem, LinearComplementarity | MixedComplementarity | FrictionalContact):
        raise NotApplicable(
            f"Uniqueness is analysed for linear and contact problems, not for a {problem.kind}."
        )
    if problem.size > MAX_SIZE:
        raise NotApplicable(
            f"The problem has {problem.size} unknowns; the analysis of uniqueness is dense and takes at most "
            f"{MAX_SIZE}."
        )
    face, unit = _face(problem, solution)
    motion, motions, everything = _motion(problem, solution)
    lower, upper = (end * unit for end in face.ranges()) if everything is None else everything
    forces = are_points(lower / unit, upper / unit)
    lower, upper = (
        np.minimum(lower, solution.x),
        np.maximum(upper, solution.x),
    )  # verified, whatever its accuracy
    complete = motion == "unique" or everything is not None
    combinations = echelon(echelon(face.null) * unit[:, None])
    return Uniqueness(problem.names, motion, motions, forces, lower, upper, combinations, complete)


def _face(problem: Any, solution: Solution[Any]) -> tuple[Face, np.ndarray]:
    """All forces of the motion of a solution, in units (n,) in which badly scaled unknowns are judged alike."""
    if isinstance(problem, FrictionalContact):
        return ForceSet.of(solution).face, np.ones(problem.size)
    x = judged_linear(problem, solution.x).x
    free = problem.free if isinstance(problem, MixedComplementarity) else np.zeros(problem.size, dtype=bool)
    row, column, beta = equilibration(dense(problem.matrix), problem.offset)
    unit = column / beta
    matrix, point = row[:, None] * dense(problem.matrix) * column, x / unit
    image, offset = row * problem.image(x) * beta, row * problem.offset * beta
    terms = (np.abs(offset) + np.abs(matrix) @ np.abs(point)).max(initial=0.0)
    may_act = free | (image <= unknown_part(problem, x) * terms)
    directions = np.eye(problem.size)[:, may_act]
    null = directions @ null_space(matrix @ directions)
    held = may_act & ~free
    return Face(point, null, null[held], np.maximum(point[held], 0.0)), unit


def _motion(
    problem: Any, solution: Solution[Any]
) -> tuple[Verdict, np.ndarray, tuple[np.ndarray, np.ndarray] | None]:
    """Whether the motion is unique, the known motions, and bounds over all solutions if they were enumerated."""
    here = solution.y[None]
    if _is_frictionless(problem):
        return "unique", here, None
    if not Enumeration().obstacle(problem):
        try:
            found = enumerate_solutions(problem)
        except ComplementarityError:
            return "undecided", here, None
        motions = found.motions()
        if found.same_motion():
            return "unique", motions[:1], None
        return "not unique", motions, (found.lower, found.upper)
    if isinstance(problem, LinearComplementarity) and _is_monotone(dense(problem.matrix)):
        return _monotone_motion(problem, solution), here, None
    return "undecided", here, None


def _is_frictionless(problem: Any) -> bool:
    """Symmetric positive semidefinite: the motion minimises a convex energy and is unique."""
    if isinstance(problem, FrictionalContact):
        if problem.friction.nnz or np.any(problem.limit):
            return False
        matrix = dense(problem.delassus)
    elif isinstance(problem, LinearComplementarity):
        matrix = dense(problem.matrix)
    else:
        return False
    return is_symmetric(matrix) and _is_monotone(matrix)


def _is_monotone(matrix: np.ndarray) -> bool:
    """Whether A + Aᵀ is positive semidefinite, judged after scaling its diagonal to one."""
    symmetric = matrix + matrix.T
    diagonal = np.diag(symmetric)
    if np.any(diagonal < 0):
        return False
    scale = np.where(diagonal > 0, 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 1.0)
    scaled = symmetric * scale[:, None] * scale
    if len(scaled) == 0:
        return True
    return bool(np.linalg.eigvalsh(scaled).min() >= -1e-12 * max(1.0, np.abs(scaled).max()))


def _monotone_motion(problem: LinearComplementarity, solution: Solution[Any]) -> Verdict:
    """Motion range over the solution face {x ≥ 0, A x + b ≥ 0, (A + Aᵀ)(x − x̄) = 0, bᵀ(x − x̄) = 0}."""
    matrix, x = dense(problem.matrix), solution.x
    size = np.abs(x).max(initial=0.0) or 1.0
    rows = np.vstack([matrix + matrix.T, problem.offset])
    null = null_space(rows)
    if null.shape[1] == 0:
        return "unique"
    face = Face(
        solution.y,
        matrix @ null * size,
        np.vstack([null, matrix @ null * size]),
        np.concatenate([np.maximum(x, 0.0) / size, np.maximum(solution.y, 0.0)]),
    )
    lower, upper = face.ranges()
    scale = np.abs(np.concatenate([problem.offset, solution.y])).max(initial=0.0) or 1.0
    return "unique" if are_points(lower, upper, scale).all() else "not unique"
