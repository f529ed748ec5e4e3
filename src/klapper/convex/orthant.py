"""The orthant R₊ⁿ: where gaps, normal forces and normal impulses live.

N(x) = {λ ≤ 0 : λᵀx = 0},   T(x) = {v : v_i ≥ 0 where x_i = 0}          Waltersberger (A.60)
"""

from dataclasses import dataclass

import numpy as np

from klapper.convex._arguments import TOLERANCE, Array, whole_number
from klapper.convex.base import ConvexSet
from klapper.convex.box import Box


@dataclass(frozen=True)
class Orthant(ConvexSet):
    """The non-negative points {x ∈ Rⁿ : x ≥ 0}, with n = ``dimension``; prox(z) = max(z, 0).

    0 ≤ g ⟂ λ ≥ 0 is -λ ∈ N(g) on this set:

    >>> contacts = Orthant(2)
    >>> contacts.in_normal_cone([0.0, 0.3], [-5.0, 0.0])  # closed under 5 N; open and unloaded
    True
    >>> contacts.in_normal_cone([0.0, 0.3], [-5.0, -1.0])  # a force across an open gap
    False
    """

    dimension: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimension", whole_number("dimension", self.dimension, least=1))

    @property
    def is_cone(self) -> bool:
        return True

    def facets(self) -> tuple[Array, Array]:
        return np.eye(self.dimension), np.zeros(self.dimension)

    def polar(self) -> Box:
        """The opposite orthant {y ≤ 0}."""
        return Box(np.full(self.dimension, -np.inf), np.zeros(self.dimension))

    def _project(self, points: Array) -> Array:
        return np.maximum(points, 0.0)

    def _support(self, directions: Array) -> Array:
        length = np.linalg.norm(directions, axis=-1)
        return np.where(directions.max(axis=-1) <= TOLERANCE * length, 0.0, np.inf)
