"""What a solved problem leaves open: is the motion unique, which forces are, and within which bounds.

For a given motion ȳ the forces form a convex set,

    { x : A x + b = ȳ,  x_i ≥ 0,  x_i = 0 where ȳ_i > 0 }                    (with friction: λ_T in its disc, or −ρ
    v_T/|v_T|)

described by x̄ plus the null space of the force directions. Its extreme values are linear programs; friction discs enter
by tangents that are added until none is violated. Whether the motion itself is unique follows from symmetry and
semidefiniteness, from the solution face of a monotone problem (Cottle, Pang & Stone, Theorem 3.1.7), or by enumeration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.linalg
from scipy.optimize import linprog

from klapper.complementarity.active_set import is_symmetric
from klapper.complementarity.convert import dense
from klapper.complementarity.enumeration import Enumeration, enumerate_solutions
from klapper.complementarity.errors import ComplementarityError, NotApplicable
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.problem import LinearComplementarity, MixedComplementarity, equilibrium
from klapper.complementarity.solution import Solution
from klapper.convex import RegularPolygon

RANK = 1e-10
CLOSED = 1e-8
WIDTH = 1e-7
MAX_SIZE = 3000

Verdict = Literal["unique", "not unique", "undecided"]


@dataclass(frozen=True)
class Uniqueness:
    """What is determined by a problem and what is not.

    ``motion``      is the complementary quantity (velocity, gap) unique: "unique", "not unique" or "undecided"
    ``motions``     the distinct motions known (k, n)
    ``forces``      (n,) booleans: which unknowns are unique
    ``lower``, ``upper``  (n,) least and greatest value of each unknown; over all solutions if ``complete``,
    otherwise over
                    all solutions with the motion of the given one
    ``null_space``  (n, k): combinations of unknowns that change nothing but themselves, largest entry one
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
            lines.append("  undetermined combination: " + _combination(self.names, vector))
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
    face = _face(problem, solution.x)
    motion, motions, everything = _motion(problem, solution)
    lower, upper = face.ranges() if everything is None else everything
    with np.errstate(invalid="ignore"):
        width = (upper - lower) / face.unit
    ends = np.abs(np.concatenate([lower, upper]) / np.tile(face.unit, 2))
    forces = width <= WIDTH * ends[np.isfinite(ends)].max(initial=0.0)
    complete = motion == "unique" or everything is not None
    return Uniqueness(
        problem.names, motion, motions, forces, lower, upper, face.readable_null_space(), complete
    )


@dataclass(frozen=True)
class _Face:
    """All forces x̄ + N t that give one motion: linear inequalities ``rows`` t + ``offsets`` ≥ 0, and friction discs.

    A disc is (P, p, r, r₀): ‖P t + p‖ ≤ rᵀt + r₀. Everything is in units of ``unit`` (n,), so that badly scaled
    unknowns are judged alike.
    """

    unit: np.ndarray
    point: np.ndarray
    null: np.ndarray
    rows: np.ndarray
    offsets: np.ndarray
    discs: tuple[tuple[np.ndarray, np.ndarray, np.ndarray, float], ...]

    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest value (n,) of every force."""
        lower, upper = self.point.copy(), self.point.copy()
        if self.null.shape[1] == 0:
            return lower * self.unit, upper * self.unit
        size = np.abs(self.point).max(initial=0.0) or 1.0
        cuts = [self._tangents(disc, size) for disc in self.discs]
        for i in np.flatnonzero(np.abs(self.null).max(axis=1) > RANK):
            lower[i] = self._extreme(self.null[i], self.point[i], size, cuts)
            upper[i] = -self._extreme(-self.null[i], -self.point[i], size, cuts)
        noise = 1e-12 * size
        lower, upper = (np.where(np.abs(end) < noise, 0.0, end) for end in (lower, upper))
        return lower * self.unit, upper * self.unit

    def _tangents(self, disc: Any, size: float) -> list[tuple[np.ndarray, float]]:
        return [_tangent(disc, angle, size) for angle in np.arange(8) * (np.pi / 4)]

    def _extreme(self, direction: np.ndarray, value: float, size: float, cuts: list[Any]) -> float:
        """min of value + direction·t, in units of ``size`` inside the linear program."""
        for _ in range(60):
            tangents = [cut for group in cuts for cut in group]
            rows = np.vstack([self.rows, *(row for row, _ in tangents)]) if tangents else self.rows
            offsets = np.concatenate([self.offsets / size, [offset for _, offset in tangents]])
            program = _least(direction, rows, np.maximum(offsets, 0.0))  # t = 0 is feasible up to round-off
            if program is None:
                return -np.inf
            if not self._cut(program, size, cuts):
                break
        return value + size * float(direction @ program)

    def _cut(self, t: np.ndarray, size: float, cuts: list[Any]) -> bool:
        """Add the tangent of every disc that t violates; whether there was one."""
        violated = False
        for disc, group in zip(self.discs, cuts, strict=True):
            projection, centre, slope, radius = disc
            force = projection @ t + centre / size
            if np.linalg.norm(force) > slope @ t + radius / size + 1e-10:
                group.append(_tangent(disc, float(np.arctan2(force[1], force[0])), size))
                violated = True
        return violated

    def readable_null_space(self) -> np.ndarray:
        """The null space in the user's units, largest entry one, so that (1, −1, 1, −1) reads as such."""
        null = self.null * self.unit[:, None]
        return null / np.abs(null).max(axis=0) if null.size else null


def _least(direction: np.ndarray, rows: np.ndarray, offsets: np.ndarray) -> np.ndarray | None:
    """t that minimises direction·t under rows·t + offsets ≥ 0; None if unbounded."""
    sharp = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    split = np.hstack(
        [rows, -rows]
    )  # t = t⁺ − t⁻ with both non-negative: HiGHS decides some degenerate cones only so
    for options in (sharp, {}, {"presolve": False}):
        program = linprog(np.concatenate([direction, -direction]), A_ub=-split, b_ub=offsets, options=options)
        if program.status == 0:
            return program.x[: len(direction)] - program.x[len(direction) :]
        if program.status == 3:
            return None
    raise ComplementarityError(f"The bounds of the forces could not be computed: {program.message}")


def _tangent(disc: Any, angle: float, size: float) -> tuple[np.ndarray, float]:
    """The half-plane e·(P t + p) ≤ rᵀt + r₀ as row·t + offset ≥ 0, in units of ``size``."""
    projection, centre, slope, radius = disc
    e = np.array([np.cos(angle), np.sin(angle)])[: len(centre)]
    return slope - e @ projection, (radius - e @ centre) / size


def _face(problem: Any, x: np.ndarray) -> _Face:
    if isinstance(problem, FrictionalContact):
        return _contact_face(problem, x)
    free = problem.free if isinstance(problem, MixedComplementarity) else np.zeros(problem.size, dtype=bool)
    row, column, beta = equilibrium(dense(problem.matrix), problem.offset)
    unit = column / beta
    matrix, point = row[:, None] * dense(problem.matrix) * column, x / unit
    image, offset = row * problem.image(x) * beta, row * problem.offset * beta
    may_act = free | (image <= CLOSED * (np.abs(offset) + np.abs(matrix) @ np.abs(point)).max(initial=0.0))
    directions = np.eye(problem.size)[:, may_act]
    null = directions @ _null_space(matrix @ directions)
    held = may_act & ~free
    return _Face(unit, point, null, null[held], np.maximum(point[held], 0.0), ())


def _contact_face(problem: FrictionalContact, x: np.ndarray) -> _Face:
    velocity = problem.image(x)
    scale = (
        np.abs(np.concatenate([problem.free_velocity, velocity - problem.free_velocity])).max(initial=0.0)
        or 1.0
    )
    closed = velocity[problem.normal] <= CLOSED * scale
    n = problem.size
    directions = [np.eye(n)[:, problem.bilateral]]
    normals = problem.normal[closed]
    by_normal = np.eye(n)[:, normals]
    friction = problem.friction.toarray()[:, closed]
    sticking, edges = [], []
    for k, rows in enumerate(problem.tangential):
        sliding = velocity[rows]
        speed = float(np.linalg.norm(sliding))
        if not problem.holding[k]:
            continue
        if speed <= CLOSED * scale:
            sticking.append(k)
            directions.append(np.eye(n)[:, rows])
        elif problem.polygon is None:  # λ_T = −ρ v_T/|v_T| follows its normal forces
            by_normal[rows] -= np.outer(sliding / speed, friction[k])
        else:  # at the corners of the polygon that dissipate most: one, or two with the edge between them
            corners = _best_corners(problem.polygon, -sliding / speed)
            by_normal[rows] += np.outer(corners[0], friction[k])
            if len(corners) == 2:
                edges.append((k, corners[0], corners[1] - corners[0]))
                along = np.zeros((n, 1))
                along[rows, 0] = corners[1] - corners[0]
                directions.append(along)
    basis = np.hstack([*directions, by_normal])
    null = basis @ _null_space(dense(problem.delassus) @ basis)
    limits = problem.friction_limits(x)
    slopes = problem.friction.toarray() @ null[problem.normal]
    inequalities, offsets, discs = [null[normals]], [np.maximum(x[normals], 0.0)], []
    for k in sticking:
        patch = problem.tangential[k]
        if len(patch) == 2 and problem.polygon is None:
            discs.append((null[patch], x[patch], slopes[k], float(limits[k])))
            continue
        facets, apothem = _facets(problem.polygon if len(patch) == 2 else None)
        inequalities.append(apothem * slopes[k] - facets @ null[patch])
        offsets.append(apothem * limits[k] - facets @ x[patch])
    for k, corner, edge in edges:  # 0 ≤ share of the second corner ≤ ρ
        patch, length = problem.tangential[k], edge @ edge
        share_slope = (edge @ null[patch] - (edge @ corner) * slopes[k]) / length
        share = (edge @ x[patch] - (edge @ corner) * limits[k]) / length
        inequalities.append(np.vstack([share_slope, slopes[k] - share_slope]))
        offsets.append(np.array([share, limits[k] - share]))
    return _Face(np.ones(n), x, null, np.vstack(inequalities), np.concatenate(offsets), tuple(discs))


def _best_corners(sides: int, direction: np.ndarray) -> np.ndarray:
    """The one or two corners (k, 2) of the unit polygon that lie furthest in a direction."""
    corners = RegularPolygon(1.0, sides).directions.T
    reach = corners @ direction
    return corners[reach >= reach.max() - CLOSED]


def _facets(sides: int | None) -> tuple[np.ndarray, float]:
    """Outward normals of the unit polygon and their distance from the centre; of the interval [−1, 1] for None."""
    if sides is None:
        return np.array([[1.0], [-1.0]]), 1.0
    corners = RegularPolygon(1.0, sides).directions.T
    middle = corners + np.roll(corners, -1, axis=0)
    return middle / np.linalg.norm(middle, axis=1, keepdims=True), float(np.cos(np.pi / sides))


def _null_space(matrix: np.ndarray) -> np.ndarray:
    """Null space (columns, k) after scaling the columns to one."""
    if matrix.shape[1] == 0:
        return np.empty((0, 0))
    row_scale = np.abs(matrix).max(axis=1)
    matrix = matrix / np.where(row_scale > 0, row_scale, 1.0)[:, None]
    length = np.linalg.norm(matrix, axis=0)
    length = np.where(length > 0, length, 1.0)
    null = scipy.linalg.null_space(matrix / length, rcond=RANK, check_finite=False) / length[:, None]
    return _echelon(null)


def _echelon(basis: np.ndarray) -> np.ndarray:
    """Columns (n, k) combined to reduced echelon form: short combinations with simple numbers."""
    rows = basis.T.copy()
    done = 0
    for column in range(rows.shape[1]):
        if done == len(rows):
            break
        best = done + int(np.argmax(np.abs(rows[done:, column])))
        if abs(rows[best, column]) < 1e-8 * np.abs(rows[best]).max():
            continue
        rows[[done, best]] = rows[[best, done]]
        rows[done] /= rows[done, column]
        others = np.arange(len(rows)) != done
        rows[others] -= np.outer(rows[others, column], rows[done])
        done += 1
    size = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    return np.where(np.abs(rows) < 1e-12 * size, 0.0, rows / np.where(size > 0, size, 1.0)).T


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
    null = _null_space(rows)
    if null.shape[1] == 0:
        return "unique"
    face = _Face(
        np.ones(problem.size),
        solution.y,
        matrix @ null * size,
        np.vstack([null, matrix @ null * size]),
        np.concatenate([np.maximum(x, 0.0) / size, np.maximum(solution.y, 0.0)]),
        (),
    )
    lower, upper = face.ranges()
    scale = np.abs(np.concatenate([problem.offset, solution.y])).max(initial=0.0) or 1.0
    return "unique" if np.all(upper - lower <= WIDTH * scale) else "not unique"


def _combination(names: tuple[str, ...], vector: np.ndarray) -> str:
    terms = []
    for name, value in zip(names, vector, strict=True):
        if abs(value) > 1e-9:
            size = "" if abs(abs(value) - 1.0) < 1e-9 else f"{abs(value):.4g} "
            terms.append(f"{'-' if value < 0 else '+'} {size}{name}")
    text = " ".join(terms)
    return text[2:] if text.startswith("+ ") else text
