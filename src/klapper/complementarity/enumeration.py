"""All solutions of a small problem, by trying every combination of contact states.

Each law offers alternatives: open or closed for a one-sided contact, slip forwards, slip backwards or stick for a
planar friction patch. A combination is a set of linear equations and inequalities: usually one point, a whole
polyhedron where forces are not determined. This is the reference that the other solvers are tested against, and
the only one that can prove that a non-convex problem has no solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.complementarity.convert import Conversion, dense, polygonal
from klapper.complementarity.errors import NoSolution, NotApplicable
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.problem import LinearComplementarity, MixedComplementarity, equilibrium
from klapper.complementarity.solver import Answer

MAX_COMBINATIONS = 1 << 16


@dataclass(frozen=True)
class Piece:
    """One polyhedron of solutions, a single point if ``isolated``.

    ``point`` (n,) is one of its vertices; ``lower`` and ``upper`` (n,) bound every unknown over the piece,
    ``image_lower`` and ``image_upper`` (n,) every complementary quantity. Unbounded ends are infinite.
    """

    point: np.ndarray
    isolated: bool
    lower: np.ndarray
    upper: np.ndarray
    image_lower: np.ndarray
    image_upper: np.ndarray


@dataclass(frozen=True)
class SolutionSet:
    """Every solution of ``problem`` as a union of pieces.

    ``unit`` and ``image_unit`` (n,) are typical sizes of the unknowns and of the complementary quantities, in which
    differences are judged.
    """

    problem: Any
    pieces: tuple[Piece, ...]
    unit: np.ndarray
    image_unit: np.ndarray

    def __bool__(self) -> bool:
        return bool(self.pieces)

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def lower(self) -> np.ndarray:
        """Least value (n,) of each unknown over all solutions."""
        return np.min([piece.lower for piece in self.pieces], axis=0)

    @property
    def upper(self) -> np.ndarray:
        """Greatest value (n,) of each unknown over all solutions."""
        return np.max([piece.upper for piece in self.pieces], axis=0)

    @property
    def image_lower(self) -> np.ndarray:
        return np.min([piece.image_lower for piece in self.pieces], axis=0)

    @property
    def image_upper(self) -> np.ndarray:
        return np.max([piece.image_upper for piece in self.pieces], axis=0)

    def same_motion(self, tolerance: float = 1e-7) -> bool:
        """Whether all solutions have the same complementary quantity."""
        with np.errstate(invalid="ignore"):
            spread = (self.image_upper - self.image_lower) / self.image_unit
        return bool(np.all(spread <= tolerance * self._image_size()))

    def motions(self, tolerance: float = 1e-7) -> np.ndarray:
        """The distinct complementary quantities (velocities, accelerations), one row each (k, n).

        Pieces on which they are not constant contribute that of their vertex.
        """
        distinct: list[np.ndarray] = []
        for piece in self.pieces:
            image = self.problem.image(piece.point)
            differences = [np.abs((image - other) / self.image_unit).max(initial=0.0) for other in distinct]
            if all(difference > tolerance * self._image_size() for difference in differences):
                distinct.append(image)
        return np.array(distinct).reshape(len(distinct), self.problem.size)

    def _image_size(self) -> float:
        images = [self.problem.image(piece.point) for piece in self.pieces]
        load = self.problem.image(np.zeros(self.problem.size))
        return float(np.abs(np.array([load, *images]) / self.image_unit).max(initial=0.0)) or 1.0


def enumerate_solutions(problem: Any) -> SolutionSet:
    """All solutions of a linear or mixed problem, or of a contact problem with planar or polygonal friction.

    >>> wedge = LinearComplementarity([[0.0, 1.0], [1.0, 0.0]], [-1.0, -1.0])
    >>> [piece.point.tolist() for piece in enumerate_solutions(wedge).pieces]
    [[1.0, 1.0]]
    """
    obstacle = Enumeration().obstacle(problem)
    if obstacle:
        raise NotApplicable(obstacle)
    if isinstance(problem, FrictionalContact) and problem.polygon is not None:
        conversion = polygonal(problem)
        return _through_polygon(problem, conversion, enumerate_solutions(conversion.problem))
    laws = _contact_laws(problem) if isinstance(problem, FrictionalContact) else _pair_laws(problem)
    return _enumerate(problem, laws)


@dataclass(frozen=True)
class Enumeration:
    """Tries all combinations; for small problems only, up to ``max_combinations`` of them."""

    max_combinations: int = MAX_COMBINATIONS
    name = "enumeration"

    def obstacle(self, problem: Any) -> str:
        combinations = count_combinations(problem)
        if combinations is None:
            return (
                f"Enumeration needs a linear problem, or planar or polygonal friction; this is a {problem.kind} "
                "with exact discs or nonlinear functions."
            )
        if combinations > self.max_combinations:
            return (
                f"Enumeration would have to try {combinations:.3g} combinations of contact states, allowed are "
                f"{self.max_combinations}."
            )
        return ""

    def attempt(self, problem: Any, start: np.ndarray | None, tolerance: float) -> Answer:
        found = enumerate_solutions(problem)
        tried = int(count_combinations(problem) or 0)
        points = [piece.point for piece in found.pieces]
        residuals = [problem.residuals(point).worst for point in points]
        good = [point for point, residual in zip(points, residuals, strict=True) if residual <= tolerance]
        if good:
            return Answer(min(good, key=lambda point: float(np.abs(point).sum())), tried)
        if not points:
            raise NoSolution(
                f"The {problem.kind} has no solution: all {tried} combinations of contact states contradict "
                "themselves. A rigid model with friction can be without solution (Painlevé), or it demands a tensile "
                "contact force."
            )
        return Answer(points[int(np.argmin(residuals))], tried)


def count_combinations(problem: Any) -> float | None:
    """How many combinations an enumeration has to try; None if the problem is not piecewise linear."""
    if isinstance(problem, LinearComplementarity):
        return 2.0**problem.size
    if isinstance(problem, MixedComplementarity):
        return 2.0 ** int((~problem.free).sum())
    if isinstance(problem, FrictionalContact):
        patches = len(problem.tangential)
        if problem.tangential.shape[1] == 2 and patches:
            if problem.polygon is None:
                return None
            return 2.0 ** (problem.contacts + patches * (problem.polygon + 1))
        return 2.0**problem.contacts * 3.0**patches
    return None


@dataclass(frozen=True)
class _Laws:
    """Affine expressions R x + c, and for every law the alternatives (vanishing, non-negative) in expression
    numbers."""

    rows: np.ndarray
    constants: np.ndarray
    alternatives: list[list[tuple[list[int], list[int]]]]


def _pair_laws(problem: LinearComplementarity | MixedComplementarity) -> _Laws:
    n = problem.size
    free = problem.free if isinstance(problem, MixedComplementarity) else np.zeros(n, dtype=bool)
    rows = np.vstack([np.eye(n), dense(problem.matrix)])
    constants = np.concatenate([np.zeros(n), problem.offset])
    alternatives: list[list[tuple[list[int], list[int]]]] = [
        [([n + i], [])] if free[i] else [([i], [n + i]), ([n + i], [i])]  # x = 0 ≤ y  or  y = 0 ≤ x
        for i in range(n)
    ]
    return _Laws(rows, constants, alternatives)


def _contact_laws(problem: FrictionalContact) -> _Laws:
    n, patches = problem.size, len(problem.tangential)
    identity = np.eye(n)
    limit_rows = np.zeros((patches, n))
    limit_rows[:, problem.normal] = problem.friction.toarray()
    tangential = identity[problem.tangential[:, 0]] if patches else np.zeros((0, n))
    delassus = dense(problem.delassus)
    rows = np.vstack([identity, delassus, -delassus, limit_rows - tangential, limit_rows + tangential])
    constants = np.concatenate(
        [np.zeros(n), problem.free_velocity, -problem.free_velocity, problem.limit, problem.limit]
    )
    alternatives: list[list[tuple[list[int], list[int]]]] = [[([n + i], [])] for i in problem.bilateral]
    alternatives += [[([i], [n + i]), ([n + i], [i])] for i in problem.normal]
    for k, row in enumerate(problem.tangential[:, 0]):
        below, above = 3 * n + k, 3 * n + patches + k  # ρ − λ_T and ρ + λ_T
        alternatives.append([([n + row], [below, above]), ([above], [n + row]), ([below], [2 * n + row])])
    return _Laws(rows, constants, alternatives)


def _enumerate(problem: Any, laws: _Laws) -> SolutionSet:
    from klapper.complementarity.kernels.enumeration import solution_pieces

    n = problem.size
    _, column, beta = equilibrium(laws.rows[n : 2 * n], laws.constants[n : 2 * n])
    rows = laws.rows * column
    size = np.abs(rows).max(axis=1, initial=0.0)
    size = np.where(size > 0, size, np.abs(laws.constants) * beta)
    weight = np.where(size > 0, 1.0 / np.where(size > 0, size, 1.0), 1.0)
    constants = laws.constants * weight
    count = np.array([len(options) for options in laws.alternatives], dtype=np.int64)
    widest = max(
        (len(side) for options in laws.alternatives for option in options for side in option), default=1
    )
    zero = np.full((len(count), count.max(initial=1), 1), -1)
    positive = np.full((len(count), count.max(initial=1), max(widest, 1)), -1)
    for law, options in enumerate(laws.alternatives):
        for option, (vanishing, remaining) in enumerate(options):
            zero[law, option, : len(vanishing)] = vanishing
            positive[law, option, : len(remaining)] = remaining
    limit = int(min(np.prod(count.astype(float)), MAX_COMBINATIONS))
    points, lower, upper = solution_pieces(
        np.ascontiguousarray(rows * weight[:, None]), constants * beta, zero, positive, count, limit
    )
    unit = 1.0 / (beta * weight[: 2 * n])
    pieces = [_piece(problem, *scaled, unit) for scaled in zip(points, lower, upper, strict=True)]
    return SolutionSet(problem, _without_copies(pieces, unit[:n]), unit[:n], unit[n:])


def _piece(problem: Any, point: np.ndarray, lower: np.ndarray, upper: np.ndarray, unit: np.ndarray) -> Piece:
    """A piece from a scaled vertex (n,) and scaled ranges (2 n,); ranges without width collapse to the vertex
    itself."""
    n = problem.size
    vertex = _without_noise(point) * unit[:n]
    both = np.concatenate([vertex, problem.image(vertex)])
    largest = np.repeat(
        [np.abs(point).max(initial=1.0), np.abs(lower[n:]).max(initial=1.0, where=np.isfinite(lower[n:]))], n
    )
    fixed = np.isfinite(upper - lower) & (upper - lower <= 1e-9 * np.abs(upper) + 1e-12 * largest)
    lower, upper = (np.where(np.abs(end) <= 1e-12 * largest, 0.0, end) * unit for end in (lower, upper))
    lower, upper = np.where(fixed, both, lower), np.where(fixed, both, upper)
    return Piece(vertex, bool(fixed[:n].all()), lower[:n], upper[:n], lower[n:], upper[n:])


def _without_noise(point: np.ndarray) -> np.ndarray:
    """Entries of a scaled point that are zero to round-off set to zero."""
    return np.where(np.abs(point) <= 1e-13 * np.abs(point).max(initial=1.0), 0.0, point)


def _without_copies(pieces: list[Piece], unit: np.ndarray) -> tuple[Piece, ...]:
    """Drop points that another piece has already (degenerate solutions belong to several combinations)."""
    kept: list[Piece] = []
    for piece in sorted(pieces, key=lambda piece: piece.isolated):
        if piece.isolated and any(_coincide(piece, other, unit) for other in kept):
            continue
        kept.append(piece)
    return tuple(kept)


def _coincide(piece: Piece, other: Piece, unit: np.ndarray) -> bool:
    """Whether two isolated points are the same."""
    one, two = piece.point / unit, other.point / unit
    size = max(float(np.abs(one).max(initial=0.0)), float(np.abs(two).max(initial=0.0)))
    return other.isolated and bool(np.all(np.abs(one - two) <= 1e-9 * size))


def _through_polygon(
    contact: FrictionalContact, conversion: Conversion[MixedComplementarity], found: SolutionSet
) -> SolutionSet:
    """Pieces of the polygonal problem in the contact's own forces; ranges follow from the corner weights' vertices."""
    pieces = []
    for piece in found.pieces:
        if not piece.isolated:
            raise NotApplicable(
                "Polygonal friction with undetermined corner weights: enumerate the converted problem instead."
            )
        force = conversion.recover(piece.point)
        image = contact.image(force)
        pieces.append(Piece(force, True, force, force, image, image))
    unit = np.ones(contact.size)
    return SolutionSet(contact, _without_copies(pieces, unit), unit, unit)
