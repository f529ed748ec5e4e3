"""Boxes and intervals: planar friction |λ_T| ≤ μF_N, motors and stops with limited force, bilateral limits.

C = {x : lower ≤ x ≤ upper},   prox(z) = min(max(z, lower), upper)
"""

from dataclasses import dataclass, field

import numpy as np

from klapper.convex._arguments import TOLERANCE, Array, frozen_array
from klapper.convex.base import ConvexSet


@dataclass(frozen=True, eq=False)
class Box(ConvexSet):
    """A box, {x ∈ Rⁿ : lower ≤ x ≤ upper}.

    ``lower`` and ``upper`` (n,) in the unit of x, also infinite; equal bounds fix a coordinate.

    >>> friction = Box([-3.0, -2.0], [3.0, 2.0])  # two planar contacts with limits 3 N and 2 N
    >>> friction.project([5.0, -1.0]).tolist()
    [3.0, -1.0]
    >>> friction.support([1.0, 1.0])
    5.0
    """

    lower: Array
    upper: Array
    dimension: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        lower = frozen_array("lower", self.lower, (None,), allow_infinite=True)
        upper = frozen_array("upper", self.upper, lower.shape, allow_infinite=True)
        wrong = (lower > upper) | (lower == np.inf) | (upper == -np.inf)
        if wrong.any() or not lower.size:
            k = int(np.argmax(wrong)) if lower.size else 0
            given = f"lower[{k}] = {lower[k]:g} and upper[{k}] = {upper[k]:g}" if lower.size else "no bounds"
            raise ValueError(f"the box is empty: {given} given, lower <= upper is required")
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        object.__setattr__(self, "dimension", lower.size)

    @property
    def size(self) -> float:
        bounds = np.abs(np.concatenate([self.lower, self.upper]))
        return float(bounds[np.isfinite(bounds)].max(initial=0.0))

    @property
    def is_cone(self) -> bool:
        return self.size == 0.0

    def facets(self) -> tuple[Array, Array]:
        below, above = np.isfinite(self.lower), np.isfinite(self.upper)
        unit = np.eye(self.dimension)
        normals = np.hstack([unit[:, below], -unit[:, above]])
        return normals, np.concatenate([-self.lower[below], self.upper[above]])

    def polar(self) -> "Box":
        """Polar of a box that is a cone: R₊ ↔ R₋ and {0} ↔ R in every coordinate."""
        if not self.is_cone:
            raise NotImplementedError(
                f"the polar of {self} has no simple form; its bounds must be 0 or infinite"
            )
        return Box(np.where(np.isinf(self.lower), 0.0, -np.inf), np.where(np.isinf(self.upper), 0.0, np.inf))

    def _project(self, points: Array) -> Array:
        return np.clip(points, self.lower, self.upper)

    def _support(self, directions: Array) -> Array:
        length = np.linalg.norm(directions, axis=-1, keepdims=True)
        bound = np.where(directions > 0.0, self.upper, self.lower)
        nothing = (directions == 0.0) | (np.isinf(bound) & (np.abs(directions) <= TOLERANCE * length))
        return np.sum(np.where(nothing, 0.0, directions) * np.where(nothing, 0.0, bound), axis=-1)


class Interval(Box):
    """The one-dimensional box [lower, upper]; points have shape (..., 1).

    Planar Coulomb friction at the limit μF_N = 0.3 N, Seiwald (3.6):

    >>> friction = Interval(-0.3, 0.3)
    >>> friction.project([-0.1 - 0.5 * 2.0]).tolist()  # prox(λ_T - r v_T) with v_T = 2 m/s
    [-0.3]
    """

    def __init__(self, lower: float, upper: float) -> None:
        super().__init__(np.array([lower], dtype=float), np.array([upper], dtype=float))
