"""Convex functions f: Rⁿ → R ∪ {+inf} with their conjugates: potentials of springs, contacts and friction.

    f*(y) = sup_x {yᵀx - f(x)}                                            Waltersberger (A.86)
    y ∈ ∂f(x)  ⇔  x ∈ ∂f*(y)  ⇔  f(x) + f*(y) = yᵀx                       Waltersberger (A.91)
    prox_{sf}(z) = arg min f(x) + |x - z|²/(2s),   y ∈ ∂f(x) ⇔ x = prox_f(x + y)

The potential of a rigid contact is an indicator, the dissipation of Coulomb friction a support function.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from klapper.convex._arguments import (
    TOLERANCE,
    Array,
    number,
    plain,
    positive_definite,
    stack_of_points,
    whole_number,
)
from klapper.convex.ball import Ball
from klapper.convex.base import ConvexSet


class ConvexFunction(ABC):
    """A closed, proper, convex function on Rⁿ. Methods take one point (n,) or a stack (..., n).

    Contract for a new function:

    1. Be a frozen dataclass that refuses bad data when it is built and carries the attribute ``dimension`` = n.
    2. ``_value(points)`` and ``_prox(points, step)`` work on stacks; ``step`` is a positive number.
    3. ``conjugate()`` returns a function of this room; ``f.conjugate().conjugate()`` has the values of f (A.89).
    4. A function that is differentiable everywhere overrides ``_gradient``.

    A function of one's own, the potential f = 3 x [J] of a weight of 3 N; its prox sinks by 3 N times the compliance:

    >>> from klapper.convex import Box
    >>> @dataclass(frozen=True)
    ... class Weight(ConvexFunction):
    ...     dimension = 1
    ...     def _value(self, points):
    ...         return 3.0 * points[..., 0]
    ...     def _prox(self, points, step):
    ...         return points - 3.0 * step
    ...     def conjugate(self):
    ...         return Indicator(Box([3.0], [3.0]))
    >>> Weight().value([2.0]), Weight().prox([2.0], step=0.5).tolist(), Weight().conjugate().value([3.0])
    (6.0, [0.5], 0.0)
    """

    dimension: int

    @abstractmethod
    def _value(self, points: Array) -> Array: ...

    @abstractmethod
    def _prox(self, points: Array, step: float) -> Array: ...

    @abstractmethod
    def conjugate(self) -> "ConvexFunction":
        """f*(y) = sup {yᵀx - f(x)}. Waltersberger (A.86)."""

    def _gradient(self, points: Array) -> Array:
        raise NotImplementedError(f"{self} is not differentiable everywhere; use in_subdifferential instead")

    def value(self, point: ArrayLike) -> Array | float:
        """f(x), +inf outside the domain."""
        return plain(np.asarray(self._value(stack_of_points("point", point, self.dimension))))

    def gradient(self, point: ArrayLike) -> Array:
        """∇f(x), shape (..., n), where f is differentiable everywhere."""
        return self._gradient(stack_of_points("point", point, self.dimension))

    def prox(self, point: ArrayLike, step: float = 1.0) -> Array:
        """arg min f(x) + |x - z|²/(2 step), shape (..., n)."""
        return self._prox(
            stack_of_points("point", point, self.dimension), number("step", step, 0.0, strictly=True)
        )

    def subgradient_residual(self, point: ArrayLike, slope: ArrayLike) -> Array | float:
        """|x - prox_f(x + y)|, zero exactly where y ∈ ∂f(x)."""
        points = stack_of_points("point", point, self.dimension)
        slopes = stack_of_points("slope", slope, self.dimension)
        return plain(np.linalg.norm(points - self._prox(points + slopes, 1.0), axis=-1))

    def in_subdifferential(
        self, point: ArrayLike, slope: ArrayLike, tolerance: float = TOLERANCE
    ) -> NDArray[np.bool_] | bool:
        """Whether y ∈ ∂f(x), up to ``tolerance`` · max(|x|, |y|). Waltersberger (A.85)."""
        lengths = [np.linalg.norm(np.asarray(vector, dtype=float), axis=-1) for vector in (point, slope)]
        allowed = tolerance * np.maximum(*lengths)
        return plain(np.asarray(self.subgradient_residual(point, slope) <= allowed))


@dataclass(frozen=True, eq=False)
class Quadratic(ConvexFunction):
    """A quadratic form, ½ xᵀKx: the potential of springs; its conjugate is ½ yᵀK⁻¹y, Waltersberger (A.92).

    ``stiffness`` K (n, n), symmetric and positive definite, in the unit of f per that of x², [N/m] for springs.

    >>> spring = Quadratic([[4.0]])  # c = 4 N/m
    >>> spring.value([3.0]), spring.conjugate().value([12.0])  # potential and complementary energy
    (18.0, 18.0)
    """

    stiffness: Array
    dimension: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        dimension = np.atleast_2d(np.asarray(self.stiffness)).shape[0]
        object.__setattr__(self, "stiffness", positive_definite("stiffness", self.stiffness, dimension))
        object.__setattr__(self, "dimension", dimension)

    def conjugate(self) -> "Quadratic":
        inverse = np.linalg.inv(self.stiffness)
        return Quadratic(0.5 * (inverse + inverse.T))

    def _value(self, points: Array) -> Array:
        return 0.5 * np.sum(points * (points @ self.stiffness), axis=-1)

    def _gradient(self, points: Array) -> Array:
        return points @ self.stiffness

    def _prox(self, points: Array, step: float) -> Array:
        matrix = np.eye(self.dimension) + step * self.stiffness
        return np.asarray(np.linalg.solve(matrix, points[..., None])[..., 0], dtype=float)


@dataclass(frozen=True)
class Indicator(ConvexFunction):
    """The indicator function Ψ_C of a set: 0 in the set, +inf outside.

    ``base`` is C. ∂Ψ_C = N_C and Ψ_C* = σ_C, Waltersberger (A.15), (A.80), (A.87).

    >>> from klapper.convex import Orthant
    >>> Indicator(Orthant(1)).value([[0.2], [-0.2]]).tolist()  # potential of a rigid wall over the gap
    [0.0, inf]
    """

    base: ConvexSet
    dimension: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimension", self.base.dimension)

    def conjugate(self) -> "SupportFunction":
        return SupportFunction(self.base)

    def _value(self, points: Array) -> Array:
        return np.where(self.base._contains(points, TOLERANCE), 0.0, np.inf)

    def _prox(self, points: Array, step: float) -> Array:
        return self.base._project(points)


@dataclass(frozen=True)
class SupportFunction(ConvexFunction):
    """The support function of a set, σ_C(y) = sup {yᵀx : x ∈ C}.

    ``base`` is C. σ_C* = Ψ_C, Waltersberger (A.87), (A.89).

    >>> from klapper.convex import Disc
    >>> SupportFunction(Disc(0.3 * 50.0)).value([0.6, 0.8])  # dissipated power μF_N |v_T|
    15.0
    """

    base: ConvexSet
    dimension: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimension", self.base.dimension)

    def conjugate(self) -> Indicator:
        return Indicator(self.base)

    def _value(self, points: Array) -> Array:
        return self.base._support(points)

    def _prox(self, points: Array, step: float) -> Array:
        return points - step * self.base._project(points / step)  # Moreau's decomposition


class Norm(SupportFunction):
    """A multiple of the length, weight · |x|: the support function of a ball. Waltersberger (3.47), (A.87).

    ``weight`` ≥ 0 is the radius of the ball, μF_N [N] for the power of friction; ``dimension`` is n.

    >>> Norm(weight=2.0, dimension=2).prox([3.0, 4.0]).round(12).tolist()
    [1.8, 2.4]
    """

    def __init__(self, weight: float, dimension: int = 2) -> None:
        super().__init__(Ball(number("weight", weight, 0.0), dimension))


@dataclass(frozen=True)
class PowerNorm(ConvexFunction):
    """A power of the length, limit · reference · (|x|/reference)^p / p.

    ``exponent``   p > 1, dimensionless
    ``reference``  > 0, in the unit of x: the length at which the slope is
    ``limit``      > 0, in the unit of f per that of x
    ``dimension``  n

    The conjugate is of the same kind, with limit and reference exchanged and the exponent q = p/(p - 1).

    >>> f = PowerNorm(limit=3.0, exponent=1.5, dimension=2)
    >>> f.conjugate()
    PowerNorm(limit=1.0, exponent=3.0, reference=3.0, dimension=2)
    >>> f.gradient([0.0, 4.0]).tolist()
    [0.0, 6.0]
    """

    limit: float
    exponent: float
    reference: float = 1.0
    dimension: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", number("limit", self.limit, 0.0, strictly=True))
        object.__setattr__(self, "exponent", number("exponent", self.exponent, 1.0, strictly=True))
        object.__setattr__(self, "reference", number("reference", self.reference, 0.0, strictly=True))
        object.__setattr__(self, "dimension", whole_number("dimension", self.dimension, least=1))

    def conjugate(self) -> "PowerNorm":
        exponent = self.exponent / (self.exponent - 1.0)
        return PowerNorm(self.reference, exponent, self.limit, self.dimension)

    def _value(self, points: Array) -> Array:
        ratio = np.linalg.norm(points, axis=-1) / self.reference
        return self.limit * self.reference * ratio**self.exponent / self.exponent

    def _gradient(self, points: Array) -> Array:
        length = np.linalg.norm(points, axis=-1, keepdims=True)
        unit = points / np.where(length > 0.0, length, 1.0)
        return self.limit * (length / self.reference) ** (self.exponent - 1.0) * unit

    def _prox(self, points: Array, step: float) -> Array:
        length = np.linalg.norm(points, axis=-1, keepdims=True)
        pull = step * self.limit
        if self.exponent >= 2.0:  # reference · u + pull · u^(p-1) = |z|
            ratio = _rising_root(self.reference, pull, self.exponent - 1.0, length)
        else:  # the same with m = u^(p-1), so that the equation stays convex
            ratio = _rising_root(pull, self.reference, 1.0 / (self.exponent - 1.0), length)
            ratio = ratio ** (1.0 / (self.exponent - 1.0))
        return points * (self.reference * ratio / np.where(length > 0.0, length, 1.0))


def _rising_root(linear: float, curved: float, power: float, level: Array) -> Array:
    """u ≥ 0 with linear · u + curved · u^power = level, power ≥ 1: Newton from above on a convex function."""
    root = np.minimum(level / linear, (level / curved) ** (1.0 / power))
    for _ in range(200):
        value = linear * root + curved * root**power - level
        smaller = np.maximum(root - value / (linear + curved * power * root ** (power - 1.0)), 0.0)
        if not (smaller < root).any():
            break
        root = np.minimum(root, smaller)
    return root
