"""Balls and discs: the friction force of a loaded contact, D = {λ : |λ| ≤ μF_N}, Waltersberger (3.46).

    prox(z) = z min(1, R/|z|),   σ(y) = R|y|          Waltersberger (A.87), section 4.1.2

In a metric G the nearest boundary point solves (G + νI)x = Gz with |x| = R, one equation for ν > 0.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from klapper.convex._arguments import Array, number, whole_number
from klapper.convex.base import ConvexSet
from klapper.convex.box import Box


@dataclass(frozen=True)
class Ball(ConvexSet):
    """A ball, {x ∈ Rⁿ : |x| ≤ radius}: the friction set of a contact.

    ``radius`` in the unit of x; 0 is the origin alone, the set of an unloaded contact. ``dimension`` is n.

    >>> Ball(radius=2.0, dimension=3).project([0.0, 0.0, 5.0]).tolist()
    [0.0, 0.0, 2.0]
    >>> Ball(radius=2.0, dimension=3).support([3.0, 0.0, 4.0])
    10.0
    """

    radius: float
    dimension: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", number("radius", self.radius, least=0.0))
        object.__setattr__(self, "dimension", whole_number("dimension", self.dimension, least=1))

    @property
    def size(self) -> float:
        return self.radius

    @property
    def is_cone(self) -> bool:
        return self.radius == 0.0

    def polar(self) -> ConvexSet:
        """The ball of radius 1/R; the whole space for R = 0."""
        if self.radius == 0.0:
            return Box(np.full(self.dimension, -np.inf), np.full(self.dimension, np.inf))
        return Ball(1.0 / self.radius, self.dimension)

    def _project(self, points: Array) -> Array:
        length = np.linalg.norm(points, axis=-1, keepdims=True)
        outside = length > self.radius
        return np.where(outside, points * (self.radius / np.where(outside, length, 1.0)), points)

    def _support(self, directions: Array) -> Array:
        return self.radius * np.linalg.norm(directions, axis=-1)

    def _project_metric(self, point: Array, metric: Array) -> Array:
        if np.linalg.norm(point) <= self.radius:
            return point
        if self.radius == 0.0:
            return np.zeros(self.dimension)
        eigenvalues, modes = np.linalg.eigh(metric / np.linalg.norm(metric, 2))
        pull = eigenvalues * (modes.T @ point) / self.radius
        return modes @ (pull / (eigenvalues + _secular_root(eigenvalues, pull))) * self.radius

    def _in_tangent_cone(
        self, points: Array, directions: Array, near: Array, slight: Array
    ) -> NDArray[np.bool_]:
        if self.radius == 0.0:
            return np.asarray(np.linalg.norm(directions, axis=-1) <= slight)
        interior = self.radius - np.linalg.norm(points, axis=-1) > near
        outward = np.sum(points * directions, axis=-1) / self.radius
        return np.asarray(interior | (outward <= slight))


@dataclass(frozen=True)
class Disc(Ball):
    """The two-dimensional ball, D = {λ_T ∈ R² : |λ_T| ≤ radius}, Waltersberger (3.46).

    >>> Disc(3.0).project([6.0, 8.0]).round(12).tolist()
    [1.8, 2.4]
    """

    dimension: int = field(default=2, init=False, repr=False)


def _secular_root(eigenvalues: Array, pull: Array) -> float:
    """ν > 0 with |x(ν)| = 1 for x_i = pull_i / (eigenvalues_i + ν), where |x(0)| > 1.

    1/|x(ν)| is concave and increasing, so Newton from the left climbs to the root without overshooting.
    """
    shift = 0.0
    for _ in range(200):
        position = pull / (eigenvalues + shift)
        length = np.linalg.norm(position)
        slope = np.sum(position**2 / (eigenvalues + shift)) / length**3
        larger = shift + (1.0 - 1.0 / length) / slope
        if not larger > shift:
            break
        shift = float(larger)
    return shift
