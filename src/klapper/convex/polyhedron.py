"""Sets with flat sides: admissible velocities of several contacts, facetted friction cones, stacked limits.

    C = {x : Aᵀx + b ≥ 0}
    N_C(x) = {Aλ : λ ≤ 0, λᵀ(Aᵀx + b) = 0},   T_C(x) = {v : (Aᵀv)_i ≥ 0 where (Aᵀx + b)_i = 0}

No constraint qualification is needed, Waltersberger (A.58).
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from klapper.convex._arguments import TOLERANCE, Array, frozen_array, number
from klapper.convex.active_set import EmptySetError, nearest_point
from klapper.convex.base import ConvexSet


@dataclass(frozen=True, eq=False)
class Polyhedron(ConvexSet):
    """A polyhedron as an intersection of m half-spaces, {x ∈ Rⁿ : Aᵀx + b ≥ 0}.

    ``normals`` A (n, m), one column each, ``offsets`` b (m,). Velocities that two closed contacts with directions J_N
    admit, nearest in the metric of the mass matrix:

    >>> import numpy as np
    >>> directions = np.array([[1.0, -1.0], [0.0, 1.0]])  # v_1 ≥ 0 and v_2 ≥ v_1
    >>> admissible = Polyhedron(directions, np.zeros(2))
    >>> mass = np.diag([3.0, 1.0])
    >>> admissible.project([1.0, 0.0], metric=mass).round(12).tolist()  # a plastic impact of 3 kg on 1 kg
    [0.75, 0.75]
    """

    normals: Array
    offsets: Array
    dimension: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        normals = frozen_array("normals", self.normals, (None, None))
        offsets = frozen_array("offsets", self.offsets, (normals.shape[1],))
        zero = np.flatnonzero(np.linalg.norm(normals, axis=0) == 0.0)
        if zero.size:
            raise ValueError(f"column {zero[0]} of normals is zero, every facet must have a normal")
        try:
            nearest_point(normals, offsets, np.zeros(normals.shape[0]))
        except EmptySetError as error:
            raise ValueError(f"the polyhedron is empty: {error}") from None
        object.__setattr__(self, "normals", normals)
        object.__setattr__(self, "offsets", offsets)
        object.__setattr__(self, "dimension", normals.shape[0])

    @property
    def size(self) -> float:
        return float((np.abs(self.offsets) / np.linalg.norm(self.normals, axis=0)).max(initial=0.0))

    @property
    def is_cone(self) -> bool:
        return not self.offsets.any()

    def facets(self) -> tuple[Array, Array]:
        return self.normals, self.offsets

    def polar(self) -> "GeneratedCone":
        """{-Aλ : λ ≥ 0} for b = 0 (Farkas)."""
        if not self.is_cone:
            raise NotImplementedError(f"the polar of {self} has no simple form; its offsets must be zero")
        return GeneratedCone(-self.normals)

    def _contains(self, points: Array, tolerance: float) -> NDArray[np.bool_]:
        allowed = tolerance * np.linalg.norm(self.normals, axis=0) * self._reach(points)[..., None]
        return np.asarray((points @ self.normals + self.offsets >= -allowed).all(axis=-1))

    def _project(self, points: Array) -> Array:
        flat = points.reshape(-1, self.dimension)
        nearest = [nearest_point(self.normals, self.offsets, z) for z in flat]
        return np.array(nearest).reshape(points.shape)

    def _support(self, directions: Array) -> Array:
        flat = directions.reshape(-1, self.dimension)
        return np.array([self._support_of(y) for y in flat]).reshape(directions.shape[:-1])

    def _support_of(self, direction: Array) -> float:
        """sup yᵀx = min {bᵀλ : Aλ = -y, λ ≥ 0}, a linear program that has a solution where y = -Aλ, λ ≥ 0."""
        bounded = GeneratedCone(-self.normals)
        length = float(np.linalg.norm(direction))
        if length == 0.0 or not bounded.contains(direction):
            return 0.0 if length == 0.0 else np.inf
        if self.is_cone:
            return 0.0
        from scipy.optimize import linprog

        target = bounded.project(direction) / length
        program = linprog(self.offsets, A_eq=self.normals, b_eq=-target, bounds=(0.0, None), method="highs")
        if program.status != 0:
            raise RuntimeError(f"the support function of the polyhedron was not found: {program.message}")
        return float(program.fun) * length


@dataclass(frozen=True, eq=False)
class HalfSpace(ConvexSet):
    """A half-space, {x ∈ Rⁿ : normalᵀx + offset ≥ 0}: what one closed contact admits.

    ``normal`` (n,) is the direction J_N of the contact, ``offset`` its rate a_N, in the unit of normalᵀx.

    >>> wall = HalfSpace(normal=[0.0, 1.0], offset=-2.0)  # x_2 ≥ 2
    >>> wall.project([3.0, 0.5]).tolist()
    [3.0, 2.0]
    """

    normal: Array
    offset: float = 0.0
    dimension: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        normal = frozen_array("normal", self.normal, (None,))
        if not normal.any():
            raise ValueError("normal is zero, a half-space must have a direction")
        object.__setattr__(self, "normal", normal)
        object.__setattr__(self, "offset", number("offset", self.offset))
        object.__setattr__(self, "dimension", normal.size)

    @property
    def size(self) -> float:
        return abs(self.offset) / float(np.linalg.norm(self.normal))

    @property
    def is_cone(self) -> bool:
        return self.offset == 0.0

    def facets(self) -> tuple[Array, Array]:
        return self.normal[:, None], np.array([self.offset])

    def polar(self) -> "GeneratedCone":
        """The ray {-λ · normal : λ ≥ 0} for offset 0."""
        if not self.is_cone:
            raise NotImplementedError(f"the polar of {self} has no simple form; its offset must be zero")
        return GeneratedCone(-self.normal[:, None])

    def _project(self, points: Array) -> Array:
        depth = np.minimum(points @ self.normal + self.offset, 0.0) / (self.normal @ self.normal)
        return points - depth[..., None] * self.normal

    def _support(self, directions: Array) -> Array:
        factor = -(directions @ self.normal) / (self.normal @ self.normal)
        aside = np.linalg.norm(directions + factor[..., None] * self.normal, axis=-1)
        finite = (aside <= TOLERANCE * np.linalg.norm(directions, axis=-1)) & (factor >= 0.0)
        return np.where(finite, factor * self.offset, np.inf)


@dataclass(frozen=True, eq=False)
class GeneratedCone(ConvexSet):
    """The cone of all sums of given directions, {Gλ : λ ≥ 0}: the forces that given contacts can transmit.

    ``generators`` G (n, m), one column each. Polar of a polyhedral cone, and the facetted friction cone when the
    generators are its edges.

    >>> edges = [[1.0, 1.0], [0.3, -0.3]]  # planar friction cone, normal force first, μ = 0.3
    >>> bool(GeneratedCone(edges).contains([10.0, 2.9])), bool(GeneratedCone(edges).contains([10.0, 3.1]))
    (True, False)
    """

    generators: Array
    dimension: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        generators = frozen_array("generators", self.generators, (None, None))
        zero = np.flatnonzero(np.linalg.norm(generators, axis=0) == 0.0)
        if zero.size:
            raise ValueError(f"column {zero[0]} of generators is zero, every generator must have a direction")
        object.__setattr__(self, "generators", generators)
        object.__setattr__(self, "dimension", generators.shape[0])

    @property
    def is_cone(self) -> bool:
        return True

    def polar(self) -> Polyhedron:
        """{y : Gᵀy ≤ 0}."""
        return Polyhedron(-self.generators, np.zeros(self.generators.shape[1]))

    def _project(self, points: Array) -> Array:
        flat = points.reshape(-1, self.dimension)
        return np.array([_onto_generated(self.generators, z) for z in flat]).reshape(points.shape)

    def _project_metric(self, point: Array, metric: Array) -> Array:
        factor = np.linalg.cholesky(metric)
        return np.linalg.solve(factor.T, _onto_generated(factor.T @ self.generators, factor.T @ point))

    def _support(self, directions: Array) -> Array:
        cosines = directions @ (self.generators / np.linalg.norm(self.generators, axis=0))
        bounded = cosines <= TOLERANCE * np.linalg.norm(directions, axis=-1, keepdims=True)
        return np.where(bounded.all(axis=-1), 0.0, np.inf)

    def _in_tangent_cone(
        self, points: Array, directions: Array, near: Array, slight: Array
    ) -> NDArray[np.bool_]:
        # the tangent cone of a polyhedral cone K at x is K + span(x)
        answers = np.empty(points.shape[:-1], dtype=bool)
        for k in np.ndindex(answers.shape):
            apex = np.linalg.norm(points[k]) <= near[k]
            spanned = self.generators if apex else np.column_stack([self.generators, -points[k]])
            answers[k] = np.linalg.norm(directions[k] - _onto_generated(spanned, directions[k])) <= slight[k]
        return answers


def _onto_generated(generators: Array, point: Array) -> Array:
    """prox_K = id - prox_{K°} (Moreau) with the polyhedral polar K° = {y : Gᵀy ≤ 0}."""
    nearest = point - nearest_point(-generators, np.zeros(generators.shape[1]), point)
    return nearest if np.linalg.norm(nearest) > 1e-14 * np.linalg.norm(point) else np.zeros_like(point)
