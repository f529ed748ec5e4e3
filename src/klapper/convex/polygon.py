"""The regular polygon that replaces the friction disc when the contact problem is to stay linear.

    λ_T = Σ β_k e_k,   β ≥ 0,   Σ β_k ≤ R = μF_N          Waltersberger (3.61)-(3.63)

with r even, so that -e_k is a vertex direction too. The force of a sliding contact points to a vertex: it
deviates from the sliding line by at most π/r and dissipates at least cos(π/r) of the exact power.
"""

from dataclasses import dataclass, field

import numpy as np

from klapper.convex._arguments import Array, number, whole_number
from klapper.convex.base import ConvexSet
from klapper.convex.box import Box
from klapper.convex.polyhedron import Polyhedron


@dataclass(frozen=True)
class RegularPolygon(ConvexSet):
    """Regular polygon in R² with ``sides`` vertices at distance ``radius``, the first at the angle ``phase`` [rad].

    ``sides`` is even; 2 gives the segment between the two opposite vertices, exact for planar friction.

    >>> square = RegularPolygon(radius=1.0, sides=4)
    >>> square.project([1.0, 1.0]).round(12).tolist()
    [0.5, 0.5]
    >>> square.support([3.0, 1.0])  # largest dissipation, attained at the vertex (1, 0)
    3.0
    """

    radius: float
    sides: int
    phase: float = 0.0
    dimension: int = field(default=2, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", number("radius", self.radius, least=0.0))
        object.__setattr__(self, "sides", whole_number("sides", self.sides, least=2))
        object.__setattr__(self, "phase", number("phase", self.phase))
        if self.sides % 2:
            raise ValueError(
                f"sides is {self.sides}, it must be even so that every direction has its opposite"
            )

    @property
    def size(self) -> float:
        return self.radius

    @property
    def is_cone(self) -> bool:
        return self.radius == 0.0

    @property
    def directions(self) -> Array:
        """B = [e_1 … e_r], unit vectors to the vertices, shape (2, r). Waltersberger (3.61), (3.69)."""
        return np.moveaxis(self._at(2 * np.arange(self.sides)), -1, 0)

    @property
    def vertices(self) -> Array:
        """Corners, shape (r, 2)."""
        return self.radius * self._at(2 * np.arange(self.sides))

    @property
    def apothem(self) -> float:
        """Distance of the sides from the centre, radius · cos(π/r)."""
        return self.radius * (float(np.cos(np.pi / self.sides)) if self.sides > 2 else 0.0)

    def facets(self) -> tuple[Array, Array]:
        inward = -self._at(2 * np.arange(self.sides) + 1).T
        offsets = np.full(self.sides, self.apothem)
        if self.sides == 2:  # the two parallel sides fix the line, its ends are two more facets
            inward = np.hstack([inward, -self.directions])
            offsets = np.array([0.0, 0.0, self.radius, self.radius])
        return inward, offsets

    def polar(self) -> ConvexSet:
        """The polygon turned by π/r whose apothem is 1/radius; a strip for the segment."""
        if self.radius == 0.0:
            return Box(np.full(2, -np.inf), np.full(2, np.inf))
        if self.sides == 2:
            return Polyhedron(-self.directions, np.full(2, 1.0 / self.radius))
        turned = self.phase + np.pi / self.sides
        return RegularPolygon(1.0 / self.apothem, self.sides, turned)

    def _at(self, half_steps: np.ndarray) -> Array:
        """Unit vectors at the angles phase + half_steps · π/r, shape (..., 2)."""
        angle = self.phase + half_steps * (np.pi / self.sides)
        unit = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return np.where(np.abs(unit) < 1e-15, 0.0, unit)

    def _project(self, points: Array) -> Array:
        # every vertex direction is an axis of symmetry, so the nearest point lies in the sector of the point
        angle = np.arctan2(points[..., 1], points[..., 0]) - self.phase
        normal = self._at(2 * np.floor(angle * self.sides / (2.0 * np.pi)) + 1)
        along = np.stack([-normal[..., 1], normal[..., 0]], axis=-1)
        height = np.sum(points * normal, axis=-1, keepdims=True)
        shift = np.sum(points * along, axis=-1, keepdims=True)
        half = self.radius * np.sin(np.pi / self.sides)
        nearest = np.clip(height, 0.0, self.apothem) * normal + np.clip(shift, -half, half) * along
        return np.where((height > self.apothem) | (np.abs(shift) > half), nearest, points)

    def _support(self, directions: Array) -> Array:
        return np.asarray((directions @ self.vertices.T).max(axis=-1))
