"""New convex functions from old ones, in pairs that are conjugate to each other. Waltersberger (A.90).

f(x) - xᵀw  ↔  f*(y + w)            Tilted   ↔ Shifted
f(x) + α    ↔  f*(y) - α            Raised   ↔ Raised
α f(x)      ↔  α f*(y/α), α > 0     Weighted ↔ Dilated
"""

from dataclasses import dataclass, field

from klapper.convex._arguments import Array, frozen_array, number
from klapper.convex.functions import ConvexFunction


@dataclass(frozen=True, eq=False)
class Tilted(ConvexFunction):
    """A function with a linear one taken off, f(x) - wᵀx: a potential with a dead load.

    ``base`` is f, ``slope`` w (n,) in the unit of f per that of x.

    >>> from klapper.convex import Quadratic
    >>> loaded = Tilted(Quadratic([[4.0]]), [8.0])  # spring of 4 N/m under 8 N
    >>> loaded.value([2.0]), loaded.gradient([2.0]).tolist()
    (-8.0, [0.0])
    """

    base: ConvexFunction
    slope: Array
    dimension: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "slope", frozen_array("slope", self.slope, (self.base.dimension,)))
        object.__setattr__(self, "dimension", self.base.dimension)

    def conjugate(self) -> "Shifted":
        return Shifted(self.base.conjugate(), self.slope)

    def _value(self, points: Array) -> Array:
        return self.base._value(points) - points @ self.slope

    def _gradient(self, points: Array) -> Array:
        return self.base._gradient(points) - self.slope

    def _prox(self, points: Array, step: float) -> Array:
        return self.base._prox(points + step * self.slope, step)


@dataclass(frozen=True, eq=False)
class Shifted(ConvexFunction):
    """A function moved along x, f(x + w): a preloaded or prestretched element.

    ``base`` is f, ``shift`` w (n,) in the unit of x.

    >>> from klapper.convex import Quadratic
    >>> Shifted(Quadratic([[4.0]]), [0.5]).value([0.5])
    2.0
    """

    base: ConvexFunction
    shift: Array
    dimension: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shift", frozen_array("shift", self.shift, (self.base.dimension,)))
        object.__setattr__(self, "dimension", self.base.dimension)

    def conjugate(self) -> Tilted:
        return Tilted(self.base.conjugate(), self.shift)

    def _value(self, points: Array) -> Array:
        return self.base._value(points + self.shift)

    def _gradient(self, points: Array) -> Array:
        return self.base._gradient(points + self.shift)

    def _prox(self, points: Array, step: float) -> Array:
        return self.base._prox(points + self.shift, step) - self.shift


@dataclass(frozen=True)
class Raised(ConvexFunction):
    """A function plus a constant, f(x) + height.

    ``base`` is f, ``height`` in its unit.

    >>> from klapper.convex import Norm
    >>> Raised(Norm(1.0), 2.0).value([3.0, 4.0]), Raised(Norm(1.0), 2.0).conjugate().value([0.0, 0.0])
    (7.0, -2.0)
    """

    base: ConvexFunction
    height: float
    dimension: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "height", number("height", self.height))
        object.__setattr__(self, "dimension", self.base.dimension)

    def conjugate(self) -> "Raised":
        return Raised(self.base.conjugate(), -self.height)

    def _value(self, points: Array) -> Array:
        return self.base._value(points) + self.height

    def _gradient(self, points: Array) -> Array:
        return self.base._gradient(points)

    def _prox(self, points: Array, step: float) -> Array:
        return self.base._prox(points, step)


@dataclass(frozen=True)
class Weighted(ConvexFunction):
    """A multiple of a function, factor · f(x).

    ``base`` is f, ``factor`` > 0, dimensionless.

    >>> from klapper.convex import Norm
    >>> Weighted(Norm(1.0), 3.0).prox([0.0, 5.0]).tolist()
    [0.0, 2.0]
    """

    base: ConvexFunction
    factor: float
    dimension: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", number("factor", self.factor, 0.0, strictly=True))
        object.__setattr__(self, "dimension", self.base.dimension)

    def conjugate(self) -> "Dilated":
        return Dilated(self.base.conjugate(), self.factor)

    def _value(self, points: Array) -> Array:
        return self.factor * self.base._value(points)

    def _gradient(self, points: Array) -> Array:
        return self.factor * self.base._gradient(points)

    def _prox(self, points: Array, step: float) -> Array:
        return self.base._prox(points, step * self.factor)


@dataclass(frozen=True)
class Dilated(ConvexFunction):
    """A function stretched in both directions, factor · f(x / factor): the conjugate of a multiple.

    ``base`` is f, ``factor`` > 0, dimensionless.

    >>> from klapper.convex import Quadratic
    >>> Dilated(Quadratic([[4.0]]), 2.0).value([3.0])
    9.0
    """

    base: ConvexFunction
    factor: float
    dimension: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", number("factor", self.factor, 0.0, strictly=True))
        object.__setattr__(self, "dimension", self.base.dimension)

    def conjugate(self) -> Weighted:
        return Weighted(self.base.conjugate(), self.factor)

    def _value(self, points: Array) -> Array:
        return self.factor * self.base._value(points / self.factor)

    def _gradient(self, points: Array) -> Array:
        return self.base._gradient(points / self.factor)

    def _prox(self, points: Array, step: float) -> Array:
        return self.factor * self.base._prox(points / self.factor, step / self.factor)
