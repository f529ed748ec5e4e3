"""All contact forces that a motion, or a contact state, leaves possible.

    { x :  H x = H x̄,   x_N ≥ 0,   ‖x_T‖ ≤ limit + μ x_N  where a contact sticks,
           x_T = −(limit + μ x_N) e  where it slides along e,   x_i = x̄_i  where a force is given }

With H = W, the directions of the forces, all members move the system the same way (Seiwald, section 2.2; rank and null
space: spec C29). With H only the rows of W that contacts hold at rest, the members may move the system differently:
this happens where normal forces depend on each other and feed different friction (Glocker's pantograph).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from klapper.complementarity.checking import as_names, as_vector, require_finite
from klapper.complementarity.errors import InvalidProblem, NotApplicable
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.problem import LinearComplementarity
from klapper.complementarity.selection.discs import Discs
from klapper.complementarity.selection.face import Face
from klapper.complementarity.selection.null_space import echelon, null_space
from klapper.complementarity.selection.reading import (
    as_coefficients,
    as_inequalities,
    as_matrix,
    as_rows,
    not_negative,
)
from klapper.complementarity.solution import Solution
from klapper.convex import RegularPolygon

WIDTH = 1e-7  # of the forces: an interval of this width is a point
MOVES = 1e-9  # of the largest effect of a force: what counts as no change of the motion
MAX_SIZE = 3000
ROUND_OFF = 1e-12  # of the forces that end a contact state: forces below it are no measure


@dataclass(frozen=True, eq=False)
class ForceSet:
    """Contact forces x (r,) [N] of one motion or of one contact state.

    ``forces``      x̄ (r,): a member, or any forces with the effect H x̄ that members must have
    ``directions``  W (n, r): what the forces do to the motion
    ``normal``      rows (m,) of forces that can only push
    ``patches``     rows (s, d) of friction, d = 1 in the plane, 2 in space
    ``friction``    μ (s, m) over the normal forces, ``limit`` (s,) [N] given part of the friction limits
    ``sense``       unit vectors (s, d) of the sliding velocities; zero rows stick
    ``fixed``       (r,) booleans: forces that keep their value, e.g. zero at open contacts
    ``held``        H (h, r): linear functions of the forces that all members share; None: W, so that all members
                    move the system the same way
    ``keeping``     (G (k, r), h (k,)): further inequalities G (x − x̄) + h ≥ 0, e.g. that sliding goes on
    ``polygon``     vertices of a friction polygon in place of the disc, and ``edges`` (s, 2) to the second corner where
                    sliding leaves the force an edge
    ``mass``        M (n, n) and ``load`` h (n,) [N] of M v̇ = h + W x, for rules that look at accelerations
    ``mobility``    G (r, r) [1/kg], contact accelerations by forces; None: Wᵀ M⁻¹ W, or Wᵀ W without a mass
    ``speed``       (s,) [m/s] of sliding patches, for rules that look at the power of friction; None: unknown
    ``names``       of the forces (r,), e.g. "A normal", "A tangential"

    Two feet of a block share a horizontal load:

    >>> block = ForceSet.from_arrays([4.0, 6.0, -1.0, -1.0], [[0, 0, 1, 1], [1, 1, 0, 0], [-1, 1, 1, 1]],
    ...     normal=[0, 1], patches=[[2], [3]], friction=0.5, names=["A normal", "B normal", "A tangential",
    ...     "B tangential"])
    >>> block.dimension, block.lower.round(9).tolist(), block.upper.round(9).tolist()
    (1, [4.0, 6.0, -2.0, -3.0], [4.0, 6.0, 1.0, 0.0])
    >>> print(block)
    The motion is unique; 2 of 4 forces are not:
      A tangential  between -2 and 1
      B tangential  between -3 and 0
      tangential forces of A and B: only their sum is determined
    """

    forces: np.ndarray
    directions: np.ndarray
    normal: np.ndarray
    patches: np.ndarray
    friction: np.ndarray
    limit: np.ndarray
    sense: np.ndarray
    fixed: np.ndarray
    names: tuple[str, ...]
    held: np.ndarray | None = None
    keeping: tuple[np.ndarray, np.ndarray] | None = None
    polygon: int | None = None
    edges: np.ndarray | None = field(default=None, repr=False)
    mass: np.ndarray | None = None
    load: np.ndarray | None = None
    mobility: np.ndarray | None = None
    speed: np.ndarray | None = None

    @classmethod
    def from_arrays(
        cls,
        forces: Any,
        directions: Any,
        *,
        normal: Any = (),
        patches: Any = (),
        friction: Any = 0.0,
        limit: Any = 0.0,
        sense: Any = None,
        fixed: Any = (),
        held: Any = None,
        keeping: tuple[Any, Any] | None = None,
        mass: Any = None,
        load: Any = None,
        speed: Any = None,
        names: Sequence[str] | None = None,
    ) -> ForceSet:
        """A set from arrays, checked. ``friction`` is one number or (s,) if patches belong to the normal forces one by
        one, else (s, m); ``fixed`` holds row numbers or booleans."""
        x = as_vector(forces, "forces")
        matrix = as_rows(directions, "directions", x.size)
        rows = np.atleast_1d(np.asarray(normal, dtype=int))
        pairs = np.asarray(patches, dtype=int)
        pairs = pairs.reshape(-1, 1) if pairs.ndim < 2 else pairs
        if pairs.shape[1] not in (1, 2):
            raise InvalidProblem(f"patches has shape {pairs.shape}, expected (s, 1) or (s, 2).")
        used = np.concatenate([rows, pairs.ravel()])
        if len(np.unique(used)) < used.size or np.any((used < 0) | (used >= x.size)):
            raise InvalidProblem(
                f"normal and patches name rows {sorted(used.tolist())}; each of the {x.size} forces may be named once."
            )
        given = np.zeros(x.size, dtype=bool)
        given[np.asarray(fixed, dtype=bool if np.asarray(fixed).dtype == bool else int)] = True
        senses = np.zeros(pairs.shape) if sense is None else np.array(sense, dtype=float)
        if senses.size != pairs.size:
            raise InvalidProblem(f"sense has shape {senses.shape}, expected {pairs.shape} as patches has.")
        require_finite(senses, "sense")
        senses = senses.reshape(pairs.shape)
        length = np.linalg.norm(senses, axis=1, keepdims=True)
        return cls(
            x,
            matrix,
            rows,
            pairs,
            as_coefficients(friction, len(pairs), len(rows)),
            not_negative(as_vector(limit, "limit", len(pairs)), "limit"),
            np.divide(senses, length, out=np.zeros_like(senses), where=length > 0.0),
            given,
            as_names(names, x.size, "force "),
            None if held is None else as_rows(held, "held", x.size),
            None if keeping is None else as_inequalities(keeping, "keeping", x.size),
            mass=None if mass is None else as_matrix(mass, "mass", len(matrix)),
            load=None if load is None else as_vector(load, "load", len(matrix)),
            speed=None if speed is None else not_negative(as_vector(speed, "speed", len(pairs)), "speed"),
        )

    @classmethod
    def of(
        cls, solution: Solution[Any], *, motion: Literal["same", "any"] = "same", duration: float = 1.0
    ) -> ForceSet:
        """What the problem of a verified solution leaves possible.

        ``motion``    "same": forces of the motion of this solution; "any": all forces of its contact state, in which
                      open contacts stay open, sticking ones stick and sliding ones go on in the same sense
        ``duration``  [s] by which impulses are divided to give forces
        """
        problem = solution.problem
        if motion not in ("same", "any"):
            raise InvalidProblem(f"motion is {motion!r}; allowed are 'same' and 'any'.")
        if not 0.0 < duration < np.inf:
            raise InvalidProblem(f"duration is {duration!r}; allowed are numbers above 0, in s.")
        if not isinstance(problem, LinearComplementarity | FrictionalContact):
            raise NotApplicable(
                f"Sets of forces are found for linear and contact problems, not for a {problem.kind}."
            )
        if problem.size > MAX_SIZE:
            raise NotApplicable(
                f"The problem has {problem.size} forces; their set is found with dense matrices for at most {MAX_SIZE}."
            )
        if isinstance(problem, FrictionalContact):
            from klapper.complementarity.selection.from_problem import contact_force_set

            return contact_force_set(problem, solution.x, motion, duration)
        from klapper.complementarity.selection.from_problem import linear_force_set

        return linear_force_set(problem, solution.x, motion, duration)

    @property
    def size(self) -> int:
        return self.forces.size

    @cached_property
    def delassus(self) -> np.ndarray:
        """G (r, r) [1/kg]: contact accelerations by forces."""
        if self.mobility is not None:
            return self.mobility
        response = self.directions if self.mass is None else np.linalg.solve(self.mass, self.directions)
        return self.directions.T @ response

    @cached_property
    def sliding(self) -> np.ndarray:
        """Patches (s,) that slide."""
        return np.any(self.sense != 0.0, axis=1)

    @cached_property
    def basis(self) -> np.ndarray:
        """T (r, b): all changes of forces that the contact laws leave, sliding friction following its normal forces."""
        matrix = np.eye(self.size)
        loose = np.zeros((self.size, 0))
        for k in np.flatnonzero(self.sliding):
            rows = self.patches[k]
            matrix[np.ix_(rows, self.normal)] = -np.outer(self.sense[k], self.friction[k])
            matrix[:, rows] = 0.0
            if self.edges is not None and np.any(self.edges[k]):
                along = np.zeros((self.size, 1))
                along[rows, 0] = self.edges[k]
                loose = np.hstack([loose, along])
        matrix[:, self.fixed] = 0.0
        matrix[self.fixed] = 0.0
        matrix = np.hstack([matrix, loose])
        return matrix[:, np.any(matrix != 0.0, axis=0)]

    @cached_property
    def _free(self) -> np.ndarray:
        """N (r, k), orthonormal: changes of forces that the contact laws leave, and that have no effect."""
        shared = self.directions if self.held is None else self.held
        null = self.basis @ null_space(shared @ self.basis)
        return np.linalg.qr(null)[0] if null.size else null

    @cached_property
    def face(self) -> Face:
        """The set as x̄ + N t."""
        null = self._free
        limits = self.limits(self.forces)
        slopes = self.friction @ null[self.normal]
        presses = self.normal[~self.fixed[self.normal]]
        rows, offsets = [null[presses]], [self.forces[presses]]
        scale = [np.ones(len(presses))]  # |g| of the rows g N
        discs = []
        for k in np.flatnonzero(~self.sliding):
            patch = self.patches[k]
            if np.all(self.fixed[patch]):
                continue
            if len(patch) == 2 and self.polygon is None:
                discs.append((null[patch], self.forces[patch], slopes[k], limits[k]))
                continue
            facets, apothem = _facets(self.polygon if len(patch) == 2 else None)
            rows.append(apothem * slopes[k] - facets @ null[patch])
            offsets.append(apothem * limits[k] - facets @ self.forces[patch])
            scale.append(np.full(len(facets), np.hypot(1.0, apothem * np.linalg.norm(self.friction[k]))))
        edges = np.zeros(self.sense.shape) if self.edges is None else self.edges
        for k in np.flatnonzero(np.any(edges != 0.0, axis=1)):  # 0 ≤ share of the second corner ≤ ρ
            patch, edge, corner = self.patches[k], edges[k], -self.sense[k]
            length = edge @ edge
            slope = (edge @ null[patch] - (edge @ corner) * slopes[k]) / length
            share = (edge @ self.forces[patch] - (edge @ corner) * limits[k]) / length
            rows.append(np.vstack([slope, slopes[k] - slope]))
            offsets.append(np.array([share, limits[k] - share]))
            scale.append(np.full(2, np.hypot(1.0, np.linalg.norm(self.friction[k])) / np.sqrt(length)))
        functions, ends = self._keeping_forces
        rows.append(functions @ null)
        offsets.append(ends)
        scale.append(np.linalg.norm(functions, axis=1))
        dimension = null.shape[1]
        return Face(
            self.forces,
            null,
            np.vstack(rows),
            np.concatenate(offsets),
            Discs(*(np.array(part, dtype=float) for part in zip(*discs, strict=True)))
            if discs
            else Discs.none(dimension),
            scale=np.concatenate(scale),
            largest=self._largest(limits),
        )

    @cached_property
    def _keeping_forces(self) -> tuple[np.ndarray, np.ndarray]:
        """The inequalities of ``keeping`` (k, r), (k,) [N], the largest coefficient of each one."""
        if self.keeping is None:
            return np.zeros((0, self.size)), np.zeros(0)
        unit = np.abs(self.keeping[0]).max(axis=1, initial=0.0)
        unit = np.where(unit > 0.0, unit, 1.0)
        return self.keeping[0] / unit[:, None], self.keeping[1] / unit

    def _largest(self, limits: np.ndarray) -> float:
        """The unit [N] of the set: the largest force at hand, or, where that is only round-off beside the forces that
        would end the contact state, the largest of these."""
        here = float(np.abs(np.concatenate([self.forces, limits])).max(initial=0.0))
        ends = float(np.abs(self._keeping_forces[1]).max(initial=0.0))
        return here if here > ROUND_OFF * ends else ends

    def limits(self, forces: np.ndarray) -> np.ndarray:
        """Friction limits ρ = limit + μ x_N (s,) [N]."""
        return np.maximum(self.limit + self.friction @ forces[self.normal], 0.0)

    @property
    def dimension(self) -> int:
        """Number of independent combinations of forces that are not determined."""
        return self._free.shape[1]

    @cached_property
    def null_space(self) -> np.ndarray:
        """Those combinations (r, k) in short form, largest entry one."""
        return echelon(self.face.null)

    @cached_property
    def rank(self) -> int:
        """Number of combinations of forces that are determined."""
        return self.basis.shape[1] - self.dimension

    @cached_property
    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return self.face.ranges()

    @property
    def lower(self) -> np.ndarray:
        """Least value of each force (r,) [N]."""
        return self._bounds[0]

    @property
    def upper(self) -> np.ndarray:
        """Greatest value of each force (r,) [N]."""
        return self._bounds[1]

    @cached_property
    def determined(self) -> np.ndarray:
        """Which forces (r,) are unique."""
        return are_points(self.lower, self.upper)

    @cached_property
    def motion_unique(self) -> bool:
        """Whether all members move the system the same way."""
        if self.held is None or self.dimension == 0:
            return True
        effect = np.abs(self.directions @ self.face.null).max(initial=0.0)
        if effect <= MOVES * np.abs(self.directions).max(initial=0.0):
            return True
        lower, upper = self.face.ranges(self.directions)
        terms = np.abs(self.directions) @ largest_finite(self.lower, self.upper)
        return bool(are_points(lower, upper, terms).all())

    def same_motion(self) -> ForceSet:
        """The members that move the system as x̄ does."""
        from dataclasses import replace

        return self if self.held is None else replace(self, held=None)

    def contains(self, forces: np.ndarray, *, tolerance: float = 1e-9) -> bool:
        """Whether forces (r,) belong to the set, up to ``tolerance`` of the largest force."""
        return self.violation(forces) <= tolerance

    def violation(self, forces: np.ndarray) -> float:
        """By how much forces (r,) leave the set, in units of the largest force."""
        face = self.face
        change = forces - self.forces
        t = face.null.T @ change
        scale = max(face.size, float(np.abs(forces).max(initial=0.0)))
        aside = float(np.abs(change - face.null @ t).max(initial=0.0)) / scale
        return max(aside, face.violation(t))

    def motions(self, response: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Extreme motions: effects (e, n) of forces (e, r) that make some component of the motion least or greatest.

        ``response`` (n, r) maps forces to the motion, e.g. M⁻¹ W for accelerations; None: ``directions``. One row where
        the motion is unique.
        """
        effect = self.directions if response is None else response
        found: list[np.ndarray] = []
        if not self.motion_unique:
            scale = np.abs(effect @ self.face.null).max(initial=0.0)
            for row in effect:
                if np.abs(row @ self.face.null).max(initial=0.0) <= MOVES * scale:
                    continue
                for sign in (1.0, -1.0):
                    t = self.face.extreme(sign * row)
                    if t is not None:
                        found.append(self.face.at(t))
        members = np.array(found or [self.forces])
        motions = members @ effect.T
        size = np.abs(motions).max(initial=0.0)
        kept: list[int] = []
        for i, motion in enumerate(motions):
            if all(np.abs(motion - motions[j]).max() > WIDTH * size for j in kept):
                kept.append(i)
        return motions[kept], members[kept]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """What is determined of the forces that are not, in words."""
        from klapper.complementarity.selection.words import determined_combinations

        return determined_combinations(self)

    def __str__(self) -> str:
        motion = (
            "The motion is unique" if self.motion_unique else "The motion depends on the choice of forces"
        )
        if self.determined.all():
            return f"{motion}; all {self.size} forces are unique."
        open_rows = np.flatnonzero(~self.determined)
        lines = [f"{motion}; {len(open_rows)} of {self.size} forces are not:"]
        width = max(len(self.names[i]) for i in open_rows)
        for i in open_rows:
            lines.append(f"  {self.names[i]:<{width}}  between {self.lower[i]:.6g} and {self.upper[i]:.6g}")
        return "\n".join([*lines, *(f"  {text}" for text in self.words)])


def largest_finite(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The larger of |lower| and |upper| (r,) that is finite; zero where none is."""
    ends = np.abs(np.stack([lower, upper]))
    return np.where(np.isfinite(ends), ends, 0.0).max(axis=0)


def are_points(
    lower: np.ndarray, upper: np.ndarray, scale: Any = None, *, width: float = WIDTH
) -> np.ndarray:
    """Which intervals (r,) are points, up to ``width`` of the terms ``scale`` that their ends are made of (None: the
    largest finite end); an interval without a bound is none."""
    if scale is None:
        scale = largest_finite(lower, upper).max(initial=0.0)
    bounded = np.isfinite(lower) & np.isfinite(upper)
    return bounded & (np.where(bounded, upper, 0.0) - np.where(bounded, lower, 0.0) <= width * scale)


def _facets(sides: int | None) -> tuple[np.ndarray, float]:
    """Outward normals of the unit polygon and their distance from the centre; of the interval [−1, 1] for None."""
    if sides is None:
        return np.array([[1.0], [-1.0]]), 1.0
    corners = RegularPolygon(1.0, sides).directions.T
    middle = corners + np.roll(corners, -1, axis=0)
    return middle / np.linalg.norm(middle, axis=1, keepdims=True), float(np.cos(np.pi / sides))
