"""All solutions of a small problem, by trying every combination of contact states.

Each law offers alternatives: open or closed for a one-sided contact, slip forwards, slip backwards or stick for a
planar friction patch. A combination is a set of linear equations and inequalities: usually one point, a whole
polyhedron where forces are not determined. This is the reference that the other solvers are tested against, and
the only one that can prove that a non-convex problem has no solution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.complementarity.convert import is_linear
from klapper.complementarity.dense import dense
from klapper.complementarity.errors import NoSolution, NotApplicable, NotDecided
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.problem import LinearComplementarity, MixedComplementarity, equilibration
from klapper.complementarity.solver import Answer, solver
from klapper.convex import RegularPolygon
from klapper.counting import counted

MAX_COMBINATIONS = 1 << 16
MAX_OPERATIONS = 1e10


@dataclass(frozen=True)
class Piece:
    """One polyhedron of solutions, a single point if ``isolated``.

    In the units of x and y of the problem, e.g. [N] and [m/s²]: ``point`` (n,) is one of its vertices; ``lower`` and
    ``upper`` (n,) bound every unknown over the piece, ``image_lower`` and ``image_upper`` (n,) every complementary
    quantity. Unbounded ends are infinite.

    A load of 1 N on two supports that know only their sum, x₁ + x₂ = 1:

    >>> supports = LinearComplementarity(np.ones((2, 2)), [-1.0, -1.0])
    >>> shared = enumerate_solutions(supports).pieces[0]
    >>> shared.isolated, shared.lower.tolist(), shared.upper.tolist()
    (False, [0.0, 0.0], [1.0, 1.0])
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
    differences are judged. ``doubtful`` counts combinations that were dropped because their equations are singular to
    rounding: without a solution elsewhere they leave the question open.

    A contact that a force draws further in, 0 ≤ x ⟂ 1 − x ≥ 0, may be open or closed:

    >>> found = enumerate_solutions(LinearComplementarity([[-1.0]], [1.0]))
    >>> len(found), found.upper.tolist(), found.same_motion(), found.motions().tolist()
    (2, [1.0], False, [[1.0], [0.0]])
    """

    problem: Any
    pieces: tuple[Piece, ...]
    unit: np.ndarray
    image_unit: np.ndarray
    doubtful: int = 0

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

    Raises :class:`NotApplicable` for exact discs, nonlinear functions and problems that are too large. A wedge whose
    two forces hold each other, x₂ = 1 and x₁ = 1:

    >>> wedge = LinearComplementarity([[0.0, 1.0], [1.0, 0.0]], [-1.0, -1.0])
    >>> [piece.point.tolist() for piece in enumerate_solutions(wedge).pieces]
    [[1.0, 1.0]]
    """
    obstacle = Enumeration().obstacle(problem)
    if obstacle:
        raise NotApplicable(obstacle)
    laws = _contact_laws(problem) if isinstance(problem, FrictionalContact) else _pair_laws(problem)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        return _enumerate(problem, laws)


@solver
@dataclass(frozen=True)
class Enumeration:
    """Tries all combinations of x_i = 0 and y_i = 0; for small problems only, up to ``max_combinations`` of them.

    Of several solutions :func:`solve` takes the one with the smallest Σ |x_i|:

    >>> from klapper.complementarity import solve
    >>> solve(LinearComplementarity([[-1.0]], [1.0]), Enumeration()).x.tolist()
    [0.0]
    """

    max_combinations: int = MAX_COMBINATIONS
    name = "enumeration"

    def obstacle(self, problem: Any) -> str:
        combinations = count_combinations(problem)
        if combinations is None:
            return (
                f"Enumeration needs a linear problem, or planar or polygonal friction; this is a {problem.kind} "
                "with exact discs or nonlinear functions."
            )
        if combinations > self.max_combinations or combinations * problem.size**3 > MAX_OPERATIONS:
            return (
                f"Enumeration would have to try {combinations:.3g} combinations of contact states of {problem.size} "
                f"unknowns; allowed are {self.max_combinations} of a small problem."
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
        if not points and found.doubtful:
            raise NotDecided(
                f"None of {counted(tried, 'combination')} of contact states gives a solution, but "
                f"{found.doubtful} of them are so "
                "close to singular that this is no proof."
            )
        if not points:
            raise NoSolution(
                f"The {problem.kind} has no solution: all {counted(tried, 'combination')} of contact states contradict "
                "themselves. A rigid model with friction can be without solution (Painlevé), or it demands a tensile "
                "contact force."
            )
        return Answer(points[int(np.argmin(residuals))], tried)


def count_combinations(problem: Any) -> float | None:
    """How many combinations an enumeration has to try; None if the problem is not piecewise linear."""
    if isinstance(problem, LinearComplementarity):
        return 2.0 ** min(problem.size, 1000)
    if isinstance(problem, MixedComplementarity):
        return 2.0 ** min(int((~problem.free).sum()), 1000)
    if isinstance(problem, FrictionalContact):
        if not is_linear(problem):
            return None
        options = 3 if problem.polygon is None else 2 * problem.polygon + 1
        return 2.0 ** min(problem.contacts, 500) * float(options) ** min(int(problem.holding.sum()), 100)
    return None


Options = list[tuple[list[int], list[int]]]


@dataclass(frozen=True)
class _Laws:
    """Affine expressions R x + c, and for every law the alternatives (vanishing, non-negative) in expression
    numbers."""

    rows: np.ndarray
    constants: np.ndarray
    alternatives: list[Options]


def _pair_laws(problem: LinearComplementarity | MixedComplementarity) -> _Laws:
    n = problem.size
    free = problem.free if isinstance(problem, MixedComplementarity) else np.zeros(n, dtype=bool)
    rows = np.vstack([np.eye(n), dense(problem.matrix)])
    constants = np.concatenate([np.zeros(n), problem.offset])
    alternatives: list[Options] = [
        [([n + i], [])] if free[i] else [([i], [n + i]), ([n + i], [i])]  # x = 0 ≤ y  or  y = 0 ≤ x
        for i in range(n)
    ]
    return _Laws(rows, constants, alternatives)


def _contact_laws(problem: FrictionalContact) -> _Laws:
    n, identity = problem.size, np.eye(problem.size)
    delassus, free_velocity = dense(problem.delassus), problem.free_velocity
    rows, constants = [*identity, *delassus], [*np.zeros(n), *free_velocity]

    def expression(row: np.ndarray, constant: float) -> int:
        rows.append(row)
        constants.append(constant)
        return len(rows) - 1

    limit_rows = np.zeros((len(problem.tangential), n))
    limit_rows[:, problem.normal] = problem.friction.toarray()
    alternatives: list[Options] = [[([n + i], [])] for i in problem.bilateral]
    alternatives += [[([i], [n + i]), ([n + i], [i])] for i in problem.normal]
    for k, patch in enumerate(problem.tangential):
        if not problem.holding[k]:
            alternatives.append([(list(patch), [])])
            continue
        force, limit = identity[patch], (limit_rows[k], float(problem.limit[k]))
        backwards = (-delassus[patch], -free_velocity[patch])  # −v_T, along which friction acts
        if len(patch) == 1:
            below = expression(limit[0] - force[0], limit[1])  # ρ − λ_T
            above = expression(limit[0] + force[0], limit[1])
            reverse = expression(backwards[0][0], float(backwards[1][0]))
            row = n + patch[0]
            alternatives.append([([row], [below, above]), ([above], [row]), ([below], [reverse])])
        else:
            stick = [n + row for row in patch]
            alternatives.append(
                _polygon_options(expression, problem.polygon or 4, force, limit, backwards, stick)
            )
    return _Laws(np.array(rows), np.array(constants), alternatives)


def _polygon_options(
    expression: Callable[[np.ndarray, float], int],
    sides: int,
    force: np.ndarray,
    limit: tuple[np.ndarray, float],
    backwards: tuple[np.ndarray, np.ndarray],
    stick: list[int],
) -> Options:
    """A friction polygon: stick anywhere inside, slip at one of its corners, or slip square to one of its edges."""
    corners = RegularPolygon(1.0, sides).directions.T
    following = np.roll(corners, -1, axis=0)
    apothem = float(np.cos(np.pi / sides))
    inside, towards_next, towards_last, outwards, from_corner, to_next = [], [], [], [], [], []
    for corner, after in zip(corners, following, strict=True):
        edge, outward = after - corner, (corner + after) / np.linalg.norm(corner + after)
        inside.append(expression(apothem * limit[0] - outward @ force, apothem * limit[1]))
        towards_next.append(expression(edge @ backwards[0], float(edge @ backwards[1])))
        towards_last.append(expression(-edge @ backwards[0], -float(edge @ backwards[1])))
        outwards.append(expression(outward @ backwards[0], float(outward @ backwards[1])))
        from_corner.append(
            expression(edge @ force - (edge @ corner) * limit[0], -float(edge @ corner) * limit[1])
        )
        to_next.append(expression((edge @ after) * limit[0] - edge @ force, float(edge @ after) * limit[1]))
    options: Options = [(stick, inside)]
    for k, corner in enumerate(corners):
        held = [expression(corner[c] * limit[0] - force[c], corner[c] * limit[1]) for c in (0, 1)]
        options.append((held, [towards_last[k], towards_next[k - 1]]))
        options.append(([inside[k], towards_next[k]], [outwards[k], from_corner[k], to_next[k]]))
    return options


def _enumerate(problem: Any, laws: _Laws) -> SolutionSet:
    from klapper.complementarity.kernels.enumeration import solution_pieces

    n = problem.size
    _, column, beta = equilibration(laws.rows[n : 2 * n], laws.constants[n : 2 * n])
    rows = laws.rows * column
    size = np.abs(rows).max(axis=1, initial=0.0)
    size = np.where(size > 0, size, np.abs(laws.constants) * beta)
    weight = np.where(size > 0, 1.0 / np.where(size > 0, size, 1.0), 1.0)
    constants = laws.constants * weight
    count = np.array([len(options) for options in laws.alternatives], dtype=np.int64)
    widest = max(
        (len(side) for options in laws.alternatives for option in options for side in option), default=1
    )
    zero = np.full((len(count), count.max(initial=1), max(widest, 1)), -1)
    positive = np.full((len(count), count.max(initial=1), max(widest, 1)), -1)
    for law, options in enumerate(laws.alternatives):
        for option, (vanishing, remaining) in enumerate(options):
            zero[law, option, : len(vanishing)] = vanishing
            positive[law, option, : len(remaining)] = remaining
    limit = int(min(np.prod(count.astype(float)), MAX_COMBINATIONS))
    points, lower, upper, doubtful = solution_pieces(
        np.ascontiguousarray(rows * weight[:, None]), constants * beta, zero, positive, count, limit
    )
    unit = 1.0 / (beta * weight[: 2 * n])
    pieces = [_piece(problem, *scaled, unit) for scaled in zip(points, lower, upper, strict=True)]
    return SolutionSet(problem, _without_copies(pieces, unit[:n]), unit[:n], unit[n:], int(doubtful))


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
