"""Smooth replacements of the set-valued laws, for integrators that want a force as a function.

Both replacements of Waltersberger Ex. 2.4 (first form) and Ex. 2.5 are Moreau envelopes

    f_τ(x) = min_y f(y) + |x - y|²/(2τ),   ∇f_τ(x) = (x - prox_{τf}(x))/τ,   (f_τ)* = f* + τ/2 |·|²

so one class serves disc, polygon and cone alike: of the indicator it is a linear spring on the penetration,
of the friction dissipation a steep viscous law that saturates at μF_N.
"""

from dataclasses import dataclass, field

import numpy as np

from klapper.convex._arguments import Array, number, whole_number
from klapper.convex.base import ConvexSet
from klapper.convex.functions import ConvexFunction, Indicator, Norm, PowerNorm


@dataclass(frozen=True)
class MoreauEnvelope(ConvexFunction):
    """A function made smooth, min_y f(y) + |x - y|²/(2 width): differentiable, below f, with the same minimisers.

    ``base`` is f, ``width`` > 0 in the unit of x² per that of f, the compliance [m/N] of a spring.

    >>> from klapper.convex import Norm
    >>> MoreauEnvelope(Norm(1.0), width=0.5).gradient([[0.1, 0.0], [7.0, 0.0]]).round(12).tolist()
    [[0.2, 0.0], [1.0, 0.0]]
    """

    base: ConvexFunction
    width: float
    dimension: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", number("width", self.width, 0.0, strictly=True))
        object.__setattr__(self, "dimension", self.base.dimension)

    def conjugate(self) -> "PlusQuadratic":
        return PlusQuadratic(self.base.conjugate(), self.width)

    def _value(self, points: Array) -> Array:
        nearest = self.base._prox(points, self.width)
        return self.base._value(nearest) + np.sum((points - nearest) ** 2, axis=-1) / (2.0 * self.width)

    def _gradient(self, points: Array) -> Array:
        return self.base.conjugate()._prox(
            points / self.width, 1.0 / self.width
        )  # Moreau, without cancellation

    def _prox(self, points: Array, step: float) -> Array:
        whole = self.width + step
        return points + step / whole * (self.base._prox(points, whole) - points)


@dataclass(frozen=True)
class PlusQuadratic(ConvexFunction):
    """A function plus a parabola, f(x) + curvature/2 · |x|²: the conjugate of a Moreau envelope.

    ``base`` is f, ``curvature`` ≥ 0 in the unit of f per that of x².

    >>> from klapper.convex import Disc, Indicator
    >>> PlusQuadratic(Indicator(Disc(1.0)), curvature=3.0).value([0.0, 1.0])
    1.5
    """

    base: ConvexFunction
    curvature: float
    dimension: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "curvature", number("curvature", self.curvature, 0.0, strictly=True))
        object.__setattr__(self, "dimension", self.base.dimension)

    def conjugate(self) -> MoreauEnvelope:
        return MoreauEnvelope(self.base.conjugate(), self.curvature)

    def _value(self, points: Array) -> Array:
        return self.base._value(points) + 0.5 * self.curvature * np.sum(points**2, axis=-1)

    def _gradient(self, points: Array) -> Array:
        return self.base._gradient(points) + self.curvature * points

    def _prox(self, points: Array, step: float) -> Array:
        shrink = 1.0 + step * self.curvature
        return self.base._prox(points / shrink, step / shrink)


def saturated_friction(limit: float, sharpness: float, dimension: int = 2) -> MoreauEnvelope:
    """Potential of friction that is viscous at low speeds: limit · f_α(v). Waltersberger Ex. 2.4, first form.

    f_α = α|v|² for |v| < 1/(2α), |v| - 1/(4α) beyond. The friction force is -∇f (2.48): viscous below the speed 1/(2α),
    of magnitude ``limit`` above it.

    ``limit``      μF_N > 0 [N]
    ``sharpness``  α > 0 [s/m]
    ``dimension``  of v: 1 in the plane, 2 in space

    >>> f = saturated_friction(limit=15.0, sharpness=50.0)
    >>> (-f.gradient([[0.005, 0.0], [0.3, 0.4]])).round(12).tolist()
    [[-7.5, -0.0], [-9.0, -12.0]]
    """
    bound = number("limit", limit, 0.0, strictly=True)
    alpha = number("sharpness", sharpness, 0.0, strictly=True)
    return MoreauEnvelope(Norm(bound, dimension), width=1.0 / (2.0 * bound * alpha))


def power_friction(
    limit: float, sharpness: float, dimension: int = 2, *, reference_speed: float = 1.0
) -> PowerNorm:
    """Potential of friction that grows as a power of the speed. Waltersberger Ex. 2.4, second form, and (4.78).

    f(v) = limit · (1 + 1/α)⁻¹ |v|^(1 + 1/α). The friction force is -∇f with magnitude limit · |v|^(1/α), (4.79): it
    tends to ``limit`` for α → ∞, v ≠ 0. The printed formula takes speeds in m/s.

    ``limit``            μF_N > 0 [N]
    ``sharpness``        α > 0, dimensionless
    ``dimension``        of v: 1 in the plane, 2 in space
    ``reference_speed``  [m/s] at which the force equals ``limit``

    >>> (-power_friction(15.0, sharpness=2.0).gradient([0.25, 0.0])).tolist()
    [-7.5, -0.0]
    """
    alpha = number("sharpness", sharpness, 0.0, strictly=True)
    return PowerNorm(limit, 1.0 + 1.0 / alpha, reference_speed, whole_number("dimension", dimension, least=1))


def penalty(base: ConvexSet, stiffness: float) -> MoreauEnvelope:
    """The indicator of a set made soft, stiffness/2 · d_C(x)². Waltersberger Ex. 2.5 and (4.76).

    ``base`` is C with the distance d_C, ``stiffness`` α > 0 in the unit of f per that of x².

    On the orthant of gaps the force is -∇f = -α min(g, 0), a linear spring on the penetration (α in N/m);
    on the orthant of approach velocities it is the one-sided damper (4.77) (α in N s/m).

    >>> from klapper.convex import Orthant
    >>> (-penalty(Orthant(2), stiffness=1e4).gradient([0.1, -0.002])).round(9).tolist()
    [-0.0, 20.0]
    """
    return MoreauEnvelope(Indicator(base), width=1.0 / number("stiffness", stiffness, 0.0, strictly=True))
