"""The closed convex set C ⊂ Rⁿ as an object.

Contact laws are inclusions into normal cones, -v ∈ N_C(λ), and they are computed by projection:

    y ∈ N_C(x)  ⇔  x = prox_C(x + β y)  for any β > 0          Waltersberger (A.97)

so a set that can project a point answers every other question a solver asks.
"""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from klapper.convex._arguments import TOLERANCE, Array, plain, positive_definite, stack_of_points
from klapper.convex.active_set import nearest_point


class ConvexSet(ABC):
    """A closed, convex, non-empty set C ⊂ Rⁿ.

    Methods take a single point of shape (n,) or a stack of shape (..., n) and return one answer per point.
    Tolerances are relative: a length counts as zero below ``tolerance`` times the larger of |x| and ``size``.

    Contract for a new set:

    1. Be a frozen dataclass that refuses bad data when it is built and carries the attribute ``dimension`` = n.
    2. ``_project(points)`` returns the Euclidean projection of every point of a finite stack (..., n), so that
       ``_project(_project(z)) == _project(z)`` to round-off.
    3. ``_support(directions)`` returns sup {yᵀx : x ∈ C}, ``inf`` where the set is unbounded in that direction.
    4. A polyhedral set overrides ``facets()``. Others override ``_project_metric`` and ``_in_tangent_cone``,
       where a distance below ``near`` and a velocity below ``slight``, both of shape (...), count as zero.
    5. ``size`` is a typical length of the set (0 for a cone); ``is_cone`` says whether λC = C for all λ > 0.
    6. ``polar()`` is overridden where the polar is itself a set of this room.

    A set of one's own, the half-line x ≥ 1 (dimensionless, or any unit that its points have):

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class FromOne(ConvexSet):
    ...     dimension = 1
    ...     def _project(self, points):
    ...         return np.maximum(points, 1.0)
    ...     def _support(self, directions):
    ...         return np.where(directions[..., 0] > 0, np.inf, directions[..., 0])
    >>> FromOne().project([-3.0]).tolist(), FromOne().contains([2.0]), FromOne().support([-2.0])
    ([1.0], True, -2.0)
    """

    dimension: int

    @abstractmethod
    def _project(self, points: Array) -> Array: ...

    @abstractmethod
    def _support(self, directions: Array) -> Array: ...

    @property
    def size(self) -> float:
        """Typical length of the set, which tolerances are measured against; 0 for a cone."""
        return 0.0

    @property
    def is_cone(self) -> bool:
        """Whether λx ∈ C for every x ∈ C and λ ≥ 0 (A.35)."""
        return False

    def facets(self) -> tuple[Array, Array] | None:
        """(A, b) of shapes (n, m), (m,) with C = {x : Aᵀx + b ≥ 0} if the set is polyhedral, else None."""
        return None

    def polar(self) -> "ConvexSet":
        """C° = {y : yᵀx ≤ 1 for all x ∈ C}, which for a cone is {y : yᵀx ≤ 0}. Waltersberger (A.50)."""
        raise NotImplementedError(
            f"the polar of {self} has no simple form; ask for it on a cone, a ball or a polygon"
        )

    def project(self, point: ArrayLike, metric: ArrayLike | None = None) -> Array:
        """prox_C(z) = arg min ½ (x - z)ᵀ G (x - z) over x ∈ C. Waltersberger (A.95).

        Parameters
        ----------
        point: z, shape (..., n)
        metric: symmetric positive definite G, shape (n, n); the unit matrix if not given

        A metric projection is checked against its optimality condition G(z - x) ∈ N_C(x) (A.96); a miss
        raises RuntimeError.
        """
        points = stack_of_points("point", point, self.dimension)
        if metric is None:
            return self._project(points)
        matrix = positive_definite("metric", metric, self.dimension)
        flat = points.reshape(-1, self.dimension)
        nearest = np.array([self._project_metric(z, matrix) for z in flat]).reshape(flat.shape)
        self._check_optimal(flat, nearest, matrix)
        return nearest.reshape(points.shape)

    def contains(self, point: ArrayLike, tolerance: float = TOLERANCE) -> NDArray[np.bool_] | bool:
        """Whether x ∈ C, up to ``tolerance`` · max(|x|, size)."""
        return plain(self._contains(stack_of_points("point", point, self.dimension), tolerance))

    def indicator(self, point: ArrayLike, tolerance: float = TOLERANCE) -> Array | float:
        """Ψ_C(x): 0 in the set, +inf outside. Waltersberger (A.15)."""
        inside = self._contains(stack_of_points("point", point, self.dimension), tolerance)
        return plain(np.where(inside, 0.0, np.inf))

    def distance(self, point: ArrayLike) -> Array | float:
        """d_C(x) = min {|x - y| : y ∈ C}. Waltersberger (A.16)."""
        points = stack_of_points("point", point, self.dimension)
        return plain(np.linalg.norm(points - self._project(points), axis=-1))

    def support(self, direction: ArrayLike) -> Array | float:
        """σ_C(y) = sup {yᵀx : x ∈ C} = Ψ_C*(y), +inf where unbounded. Waltersberger (A.87).

        A direction within the relative tolerance 1e-9 of those with a finite value counts as one of them.
        """
        return plain(self._support(stack_of_points("direction", direction, self.dimension)))

    def normal_cone_residual(self, point: ArrayLike, direction: ArrayLike) -> Array | float:
        """|x - prox_C(x + y)|, zero exactly where y ∈ N_C(x). Waltersberger (A.97)."""
        points = stack_of_points("point", point, self.dimension)
        directions = stack_of_points("direction", direction, self.dimension)
        return plain(np.linalg.norm(points - self._project(points + directions), axis=-1))

    def in_normal_cone(
        self, point: ArrayLike, direction: ArrayLike, tolerance: float = TOLERANCE
    ) -> NDArray[np.bool_] | bool:
        """Whether y ∈ N_C(x) = {y : yᵀ(c - x) ≤ 0 for all c ∈ C}. Waltersberger (A.55).

        Only where y points counts, not how long it is. Outside the set the cone is empty.
        """
        points, directions = self._pairs(point, direction)
        length = np.linalg.norm(directions, axis=-1, keepdims=True)
        reach = self._reach(points)[..., None]
        reach = np.where(reach > 0.0, reach, 1.0)
        scaled = directions * (reach / np.where(length > 0.0, length, 1.0))
        residual = np.linalg.norm(points - self._project(points + scaled), axis=-1)
        return plain(self._contains(points, tolerance) & (residual <= tolerance * reach[..., 0]))

    def in_tangent_cone(
        self, point: ArrayLike, direction: ArrayLike, tolerance: float = TOLERANCE
    ) -> NDArray[np.bool_] | bool:
        """Whether v ∈ T_C(x) = cl {v : x + λv ∈ C for some λ > 0}. Waltersberger (A.55).

        Only where v points counts, not how long it is. Outside the set the cone is empty.
        """
        points, directions = self._pairs(point, direction)
        inside = self._contains(points, tolerance)
        near, slight = tolerance * self._reach(points), tolerance * np.linalg.norm(directions, axis=-1)
        return plain(inside & self._in_tangent_cone(points, directions, near, slight))

    def _pairs(self, point: ArrayLike, direction: ArrayLike) -> tuple[Array, Array]:
        points = stack_of_points("point", point, self.dimension)
        directions = stack_of_points("direction", direction, self.dimension)
        first, second = np.broadcast_arrays(points, directions)
        return first, second

    def _reach(self, points: Array) -> Array:
        return np.maximum(np.linalg.norm(points, axis=-1), self.size)

    def _contains(self, points: Array, tolerance: float) -> NDArray[np.bool_]:
        gap = np.linalg.norm(points - self._project(points), axis=-1)
        return np.asarray(gap <= tolerance * self._reach(points))

    def _polyhedral(self) -> tuple[Array, Array]:
        facets = self.facets()
        if facets is None:
            raise NotImplementedError(
                f"{type(self).__name__} is not polyhedral and must override this method"
            )
        return facets

    def _project_metric(self, point: Array, metric: Array) -> Array:
        normals, offsets = self._polyhedral()
        return nearest_point(normals, offsets, point, metric)

    def _in_tangent_cone(
        self, points: Array, directions: Array, near: Array, slight: Array
    ) -> NDArray[np.bool_]:
        # Waltersberger (A.58): Aᵀv ∈ T_{R+^m}(Aᵀx + b), with (A.60): v_i ≥ 0 where x_i = 0
        normals, offsets = self._polyhedral()
        lengths = np.linalg.norm(normals, axis=0)
        active = points @ normals + offsets <= lengths * near[..., None]
        inward = directions @ normals >= -lengths * slight[..., None]
        return np.asarray((inward | ~active).all(axis=-1))

    def _check_optimal(self, points: Array, nearest: Array, metric: Array) -> None:
        pull = (points - nearest) @ metric / np.linalg.norm(metric, 2)
        miss = np.linalg.norm(nearest - self._project(nearest + pull), axis=-1)
        allowed = 1e-8 * np.maximum(self._reach(points), self._reach(nearest))
        if (miss > allowed).any():
            raise RuntimeError(
                f"the metric projection onto {self} misses its optimality condition by {miss.max():.1e}; "
                f"the metric has condition number {np.linalg.cond(metric):.1e}, rescale the coordinates"
            )
