"""Sets made from sets: moved, scaled, side by side. Waltersberger (A.27).

    C + c,   λC,   C_1 × … × C_k

The product is what a problem with many contacts lives on. A metric that couples the factors is handled
exactly if all of them are polyhedral, and by sweeps over the factors otherwise; many coupled contacts are the
business of a contact solver.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from klapper.convex._arguments import Array, frozen_array, number
from klapper.convex.base import ConvexSet


@dataclass(frozen=True, eq=False)
class Translated(ConvexSet):
    """A set moved elsewhere, C + offset.

    ``base`` is C, ``offset`` (n,) in the unit of x.

    >>> from klapper.convex import Disc
    >>> Translated(Disc(1.0), [3.0, 0.0]).project([0.0, 0.0]).tolist()
    [2.0, 0.0]
    """

    base: ConvexSet
    offset: Array
    dimension: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", frozen_array("offset", self.offset, (self.base.dimension,)))
        object.__setattr__(self, "dimension", self.base.dimension)

    @property
    def size(self) -> float:
        return self.base.size + float(np.linalg.norm(self.offset))

    @property
    def is_cone(self) -> bool:
        return self.base.is_cone and not self.offset.any()

    def facets(self) -> tuple[Array, Array] | None:
        facets = self.base.facets()
        return None if facets is None else (facets[0], facets[1] - facets[0].T @ self.offset)

    def polar(self) -> ConvexSet:
        if self.offset.any():
            raise NotImplementedError(
                f"the polar of {self} has no simple form; a translated set is not a cone"
            )
        return self.base.polar()

    def _project(self, points: Array) -> Array:
        moved = points - self.offset
        nearest = self.base._project(moved)
        return np.where(nearest == moved, points, nearest + self.offset)

    def _support(self, directions: Array) -> Array:
        return self.base._support(directions) + directions @ self.offset

    def _project_metric(self, point: Array, metric: Array) -> Array:
        return self.base._project_metric(point - self.offset, metric) + self.offset

    def _in_tangent_cone(
        self, points: Array, directions: Array, near: Array, slight: Array
    ) -> NDArray[np.bool_]:
        return self.base._in_tangent_cone(points - self.offset, directions, near, slight)


@dataclass(frozen=True, eq=False)
class Scaled(ConvexSet):
    """A set made larger or smaller, factor · C; a negative factor reflects it, 0 leaves the origin alone.

    ``base`` is C, ``factor`` dimensionless, or [N] for a set of directions. The friction set grows with the normal
    force:

    >>> from klapper.convex import RegularPolygon
    >>> unit = RegularPolygon(radius=1.0, sides=8)
    >>> Scaled(unit, factor=0.3 * 50.0).support([0.0, 2.0])  # μF_N |v_T| for a vertex direction
    30.0
    """

    base: ConvexSet
    factor: float
    dimension: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", number("factor", self.factor))
        object.__setattr__(self, "dimension", self.base.dimension)

    @property
    def size(self) -> float:
        return abs(self.factor) * self.base.size

    @property
    def is_cone(self) -> bool:
        return self.base.is_cone or self.factor == 0.0

    def facets(self) -> tuple[Array, Array] | None:
        if self.factor == 0.0:
            unit = np.eye(self.dimension)
            return np.hstack([unit, -unit]), np.zeros(2 * self.dimension)
        facets = self.base.facets()
        return None if facets is None else (facets[0] * np.sign(self.factor), facets[1] * abs(self.factor))

    def polar(self) -> ConvexSet:
        if self.factor == 0.0:
            from klapper.convex.box import Box

            return Box(np.full(self.dimension, -np.inf), np.full(self.dimension, np.inf))
        return Scaled(self.base.polar(), 1.0 / self.factor)

    def _project(self, points: Array) -> Array:
        if self.factor == 0.0:
            return np.zeros_like(points)
        shrunk = points / self.factor
        nearest = self.base._project(shrunk)
        return np.where(nearest == shrunk, points, self.factor * nearest)

    def _support(self, directions: Array) -> Array:
        if self.factor == 0.0:
            return np.zeros(directions.shape[:-1])
        return abs(self.factor) * self.base._support(np.sign(self.factor) * directions)

    def _project_metric(self, point: Array, metric: Array) -> Array:
        if self.factor == 0.0:
            return np.zeros_like(point)
        return self.factor * self.base._project_metric(point / self.factor, metric)

    def _in_tangent_cone(
        self, points: Array, directions: Array, near: Array, slight: Array
    ) -> NDArray[np.bool_]:
        if self.factor == 0.0:
            return np.asarray(np.linalg.norm(directions, axis=-1) <= slight)
        turned = np.sign(self.factor) * directions
        return self.base._in_tangent_cone(points / self.factor, turned, near / abs(self.factor), slight)


@dataclass(frozen=True)
class Product(ConvexSet):
    """Sets side by side, C_1 × … × C_k.

    ``factors`` are the sets; points are the coordinates of the factors one after the other.

    >>> from klapper.convex import Disc, Orthant
    >>> contact = Product((Orthant(1), Disc(0.5)))  # normal force, then two friction forces
    >>> contact.project([-1.0, 3.0, 4.0]).round(12).tolist()
    [0.0, 0.3, 0.4]
    """

    factors: tuple[ConvexSet, ...]
    dimension: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        factors = tuple(self.factors)
        if not factors:
            raise ValueError("factors is empty, a product needs at least one set")
        object.__setattr__(self, "factors", factors)
        object.__setattr__(self, "dimension", sum(factor.dimension for factor in factors))

    @property
    def size(self) -> float:
        return max(factor.size for factor in self.factors)

    @property
    def is_cone(self) -> bool:
        return all(factor.is_cone for factor in self.factors)

    def facets(self) -> tuple[Array, Array] | None:
        blocks = [factor.facets() for factor in self.factors]
        known = [block for block in blocks if block is not None]
        if len(known) < len(blocks):
            return None
        normals = np.zeros((self.dimension, sum(block[1].size for block in known)))
        column = 0
        for part, (block, offsets) in zip(self._parts(), known, strict=True):
            normals[part, column : column + offsets.size] = block
            column += offsets.size
        return normals, np.concatenate([block[1] for block in known])

    def polar(self) -> ConvexSet:
        """Product of the polars, if all factors are cones."""
        if not self.is_cone:
            raise NotImplementedError(
                f"the polar of {self} has no simple form; all its factors must be cones"
            )
        return Product(tuple(factor.polar() for factor in self.factors))

    def _parts(self) -> list[slice]:
        ends = np.cumsum([factor.dimension for factor in self.factors])
        return [
            slice(int(end) - factor.dimension, int(end))
            for end, factor in zip(ends, self.factors, strict=True)
        ]

    def _pieces(self) -> list[tuple[ConvexSet, slice]]:
        return list(zip(self.factors, self._parts(), strict=True))

    def _project(self, points: Array) -> Array:
        return np.concatenate(
            [factor._project(points[..., part]) for factor, part in self._pieces()], axis=-1
        )

    def _support(self, directions: Array) -> Array:
        return np.sum([factor._support(directions[..., part]) for factor, part in self._pieces()], axis=0)

    def _project_metric(self, point: Array, metric: Array) -> Array:
        if self.facets() is not None:
            return super()._project_metric(point, metric)
        nearest, change = self._project(point), np.inf
        for sweep in range(2000):
            swept = self._sweep(nearest, point, metric)
            last, change = change, float(np.linalg.norm(swept - nearest))
            if change <= 1e-15 * max(float(np.linalg.norm(point)), self.size):
                return swept
            if (
                sweep % 8 == 7 and change < last
            ):  # the changes fall geometrically: jump to the end of the series
                ahead = self._project(swept + change / (last - change) * (swept - nearest))
                costs = [(x - point) @ metric @ (x - point) for x in (swept, ahead)]
                swept = ahead if costs[1] < costs[0] else swept
            nearest = swept
        return nearest

    def _sweep(self, nearest: Array, point: Array, metric: Array) -> Array:
        """Each factor once, nearest in its own block of the metric while the others are held."""
        nearest = nearest.copy()
        for factor, part in self._pieces():
            block = metric[part, part]
            others = metric[part] @ (nearest - point) - block @ (nearest - point)[part]
            nearest[part] = factor._project_metric(point[part] - np.linalg.solve(block, others), block)
        return nearest

    def _in_tangent_cone(
        self, points: Array, directions: Array, near: Array, slight: Array
    ) -> NDArray[np.bool_]:
        answers = [
            factor._in_tangent_cone(points[..., part], directions[..., part], near, slight)
            for factor, part in self._pieces()
        ]
        return np.asarray(np.all(answers, axis=0))
