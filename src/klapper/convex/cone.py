"""The second-order cone: normal and friction force of a contact taken together.

    K_μ = {(n, t) : |t| ≤ μ n},   dual {(n, t) : μ|t| ≤ n},   polar = -dual

The normal force comes first. In a metric G the nearest point of the boundary solves (G - νJ)x = Gz with
xᵀJx = 0, J = diag(μ², -I). Diagonalising G and J together leaves one decreasing equation for ν.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from klapper.convex._arguments import TOLERANCE, Array, number, whole_number
from klapper.convex.base import ConvexSet
from klapper.convex.polyhedron import HalfSpace
from klapper.convex.transform import Scaled


@dataclass(frozen=True)
class SecondOrderCone(ConvexSet):
    """The friction cone, {(n, t) ∈ R × Rⁿ⁻¹ : |t| ≤ aperture · n}.

    ``aperture`` is the friction coefficient, dimensionless; ``dimension`` n counts the normal entry too.

    >>> cone = SecondOrderCone(aperture=0.5)  # spatial contact: n, t_1, t_2
    >>> cone.contains([10.0, 3.0, 4.0])
    True
    >>> cone.project([0.0, 5.0, 0.0]).round(12).tolist()
    [2.0, 1.0, 0.0]
    >>> cone.dual()
    SecondOrderCone(aperture=2.0, dimension=3)
    """

    aperture: float
    dimension: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "aperture", number("aperture", self.aperture, least=0.0))
        object.__setattr__(self, "dimension", whole_number("dimension", self.dimension, least=2))

    @property
    def is_cone(self) -> bool:
        return True

    def dual(self) -> ConvexSet:
        """{y : yᵀx ≥ 0 for all x ∈ K}, the cone of aperture 1/μ; the half-space n ≥ 0 for μ = 0."""
        if self.aperture == 0.0:
            return HalfSpace(np.eye(self.dimension)[0])
        return SecondOrderCone(1.0 / self.aperture, self.dimension)

    def polar(self) -> ConvexSet:
        """The dual reflected at the origin."""
        return Scaled(self.dual(), -1.0)

    def _project(self, points: Array) -> Array:
        normal, tangent = points[..., :1], points[..., 1:]
        length = np.linalg.norm(tangent, axis=-1, keepdims=True)
        inside = length <= self.aperture * normal
        vanishing = self.aperture * length <= -normal
        pressed = (normal + self.aperture * length) / (1.0 + self.aperture**2)
        ratio = self.aperture * pressed / np.where(length > 0.0, length, 1.0)
        surface = np.concatenate([pressed, ratio * tangent], axis=-1)
        return np.where(inside, points, np.where(vanishing, 0.0, surface))

    def _support(self, directions: Array) -> Array:
        normal, length = directions[..., 0], np.linalg.norm(directions[..., 1:], axis=-1)
        # distance of y from the polar cone, to first order
        excess = (normal + self.aperture * length) / np.hypot(1.0, self.aperture)
        return np.where(excess <= TOLERANCE * np.linalg.norm(directions, axis=-1), 0.0, np.inf)

    def _project_metric(self, point: Array, metric: Array) -> Array:
        if self.aperture == 0.0:
            along = max(0.0, float(metric[0] @ point / metric[0, 0]))
            return along * np.eye(self.dimension)[0]
        length = float(np.linalg.norm(point))
        if length == 0.0:
            return point
        # tangential coordinates divided by μ, so that the cone has aperture 1 and J = diag(1, -I)
        stretch = np.full(self.dimension, self.aperture)
        stretch[0] = 1.0
        return stretch * _onto_unit_cone(point / stretch, stretch[:, None] * metric * stretch)

    def _in_tangent_cone(
        self, points: Array, directions: Array, near: Array, slight: Array
    ) -> NDArray[np.bool_]:
        normal, tangent, sideways = points[..., 0], points[..., 1:], directions[..., 1:]
        if self.aperture == 0.0:  # a ray: forwards and backwards, only forwards at its apex
            straight = np.linalg.norm(sideways, axis=-1) <= slight
            return np.asarray(straight & ((normal > near) | (directions[..., 0] >= -slight)))
        length = np.linalg.norm(tangent, axis=-1)
        apex = np.linalg.norm(points, axis=-1) <= near
        forwards = np.linalg.norm(directions - self._project(directions), axis=-1) <= slight
        steepness = np.hypot(1.0, self.aperture)
        interior = (self.aperture * normal - length) / steepness > near
        unit = tangent / np.where(length > 0.0, length, 1.0)[..., None]
        outward = (np.sum(unit * sideways, axis=-1) - self.aperture * directions[..., 0]) / steepness
        return np.where(apex, forwards, interior | (outward <= slight))


def _onto_unit_cone(point: Array, metric: Array) -> Array:
    """Nearest point of {|t| ≤ n} in the metric: y = Σ y_i u_i in the modes of L⁻¹JL⁻ᵀ = QΘQᵀ, u_i = L⁻ᵀq_i.

    One eigenvalue θ is positive, the others -b_i negative. With the coordinates w_i of z and ν = s/(1 - s),
    y_i = w_i(1 - s)/(1 - s + s b_i) and y_0 = [Σ (b_i/θ) y_i²]^½, where s in [0, 1] is the zero of

        ψ(s) = (1 - s - sθ) [Σ (b_i/θ) w_i²/(1 - s + s b_i)²]^½ - w_0      (decreasing)

    ψ(0) ≤ 0 says that z lies in the cone, ψ(1) ≥ 0 that the apex is nearest.
    """
    from scipy.optimize import brentq

    metric = metric / np.linalg.norm(metric, 2)
    factor = np.linalg.cholesky(metric)
    inverse = np.linalg.inv(factor)
    signs = np.full(point.size, -1.0)
    signs[0] = 1.0
    eigenvalues, modes = np.linalg.eigh((inverse * signs) @ inverse.T)
    forward = inverse.T @ modes
    coordinates = modes.T @ (factor.T @ point)
    if forward[0, -1] < 0.0:
        forward[:, -1], coordinates[-1] = -forward[:, -1], -coordinates[-1]
    theta, others = eigenvalues[-1], -eigenvalues[:-1]
    scale = np.linalg.norm(coordinates)
    along, aside = coordinates[-1] / scale, coordinates[:-1] / scale

    def radius(s: float) -> float:
        return float(np.linalg.norm(np.sqrt(others / theta) * aside / (1.0 - s + s * others)))

    def balance(s: float) -> float:
        return (1.0 - s - s * theta) * radius(s) - along

    if balance(0.0) <= 0.0:
        return point
    if balance(1.0) >= 0.0:
        return np.zeros_like(point)
    s = float(brentq(balance, 0.0, 1.0, xtol=1e-300, rtol=4.0 * np.finfo(float).eps, maxiter=500))
    amplitudes = np.append(aside * (1.0 - s) / (1.0 - s + s * others), radius(s) * (1.0 - s))
    return scale * (forward @ amplitudes)
