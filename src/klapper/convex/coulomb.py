"""Coulomb's law in the seven equivalent forms of Waltersberger Definition 3.3.

With the friction disc D = {λ : |λ| ≤ μF_N} and its support function σ_D(v) = μF_N |v|:

    1  case_distinction        v = 0: |λ| ≤ μF_N;   v ≠ 0: λ = -μF_N v/|v|                   (3.45)
    2  variational_inequality  σ_D(u) ≥ σ_D(v) - λᵀ(u - v) for all u
    3  subgradient             -λ ∈ ∂σ_D(v)
    4  reflected_subgradient   λ ∈ ∂σ_D(-v)
    5  normal_cone             -v ∈ N_D(λ)
    6  least_power             λ minimises vᵀλ + Ψ_D(λ)
    7  maximum_dissipation     λ minimises vᵀλ subject to |λ| ≤ μF_N

Every form is tested by its own computation, so that their agreement is evidence and not bookkeeping.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from klapper.convex._arguments import Array, frozen_array, number
from klapper.convex.ball import Ball
from klapper.convex.functions import SupportFunction


@dataclass(frozen=True)
class CoulombLaw:
    """Coulomb's law at a given normal load.

    ``limit``           μF_N ≥ 0 [N], or [N s] for impulses
    ``sticking_speed``  [m/s] up to which a sliding velocity counts as zero

    Forces and velocities have shape (d,): d = 2 for spatial, 1 for planar contact.

    >>> law = CoulombLaw(limit=0.3 * 50.0)
    >>> law.holds(force=[-9.0, -12.0], velocity=[0.6, 0.8])  # slides
    True
    >>> law.holds(force=[4.0, 3.0], velocity=[0.0, 0.0])  # sticks
    True
    >>> law.holds(force=[4.0, 3.0], velocity=[0.6, 0.8])  # moves, but the force is neither full nor opposite
    False
    """

    limit: float
    sticking_speed: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", number("limit", self.limit, 0.0))
        object.__setattr__(self, "sticking_speed", number("sticking_speed", self.sticking_speed, 0.0))

    def residuals(self, force: ArrayLike, velocity: ArrayLike) -> dict[str, float]:
        """One residual for each form, without unit: the angle or relative length by which it fails.

        Forms 2, 4 and 6 compare powers. A small angle enters those quadratically, so the root of the lack of
        power is taken, which leaves a noise of about 1e-8.
        """
        radius, unit_force, unit_velocity = self._without_units(force, velocity)
        return {name: float(form(radius, unit_force, unit_velocity)) for name, form in _FORMS.items()}

    def holds(
        self, force: ArrayLike, velocity: ArrayLike, *, form: str | None = None, tolerance: float = 1e-6
    ) -> bool:
        """Whether force and velocity obey the law in the named form, in all seven if none is named."""
        if form is not None and form not in _FORMS:
            raise ValueError(f"form is {form!r}, it must be one of {', '.join(_FORMS)}")
        residuals = self.residuals(force, velocity)
        return max(residuals.values() if form is None else [residuals[form]]) <= tolerance

    def _without_units(self, force: ArrayLike, velocity: ArrayLike) -> tuple[float, Array, Array]:
        """Radius of the disc (1 or 0), force in units of the limit, velocity in units of its length."""
        given = frozen_array("force", force, (None,))
        sliding = frozen_array("velocity", velocity, given.shape)
        speed, magnitude = np.linalg.norm(sliding), np.linalg.norm(given)
        unit_velocity = sliding / speed if speed > self.sticking_speed else np.zeros_like(sliding)
        scale = self.limit if self.limit > 0.0 else magnitude
        return float(self.limit > 0.0), given / scale if scale > 0.0 else given, unit_velocity


def _excess(radius: float, force: Array) -> float:
    return max(0.0, float(np.linalg.norm(force)) - radius)


def _case_distinction(radius: float, force: Array, velocity: Array) -> float:
    if not velocity.any():
        return _excess(radius, force)
    return float(np.linalg.norm(force + radius * velocity))


def _variational_inequality(radius: float, force: Array, velocity: Array) -> float:
    # u = 0 and u = 2v force the equality of powers (2.36), u along -λ forces |λ| ≤ μF_N (2.33)
    magnitude = np.linalg.norm(force)
    along = -force / magnitude if magnitude > 0.0 else force
    trials = np.array([0.0 * velocity, 2.0 * velocity, along, velocity + along])
    power = radius * np.linalg.norm(trials, axis=1) + trials @ force
    own = radius * np.linalg.norm(velocity) + velocity @ force
    return float(np.sqrt(2.0 * max(0.0, (own - power).max())))


def _subgradient(radius: float, force: Array, velocity: Array) -> float:
    return float(SupportFunction(Ball(radius, force.size)).subgradient_residual(velocity, -force))


def _reflected_subgradient(radius: float, force: Array, velocity: Array) -> float:
    # Fenchel's equality (A.91): σ_D(-v) + Ψ_D(λ) = -vᵀλ
    gap = float(SupportFunction(Ball(radius, force.size)).value(-velocity)) + float(velocity @ force)
    return float(np.sqrt(2.0 * max(0.0, gap))) + _excess(radius, force)


def _normal_cone(radius: float, force: Array, velocity: Array) -> float:
    return float(Ball(radius, force.size).normal_cone_residual(force, -velocity))


def _least_power(radius: float, force: Array, velocity: Array) -> float:
    least = velocity @ Ball(radius, force.size).project(
        -1e3 * velocity
    )  # the far point projects to the minimiser
    return float(np.sqrt(2.0 * max(0.0, float(velocity @ force - least)))) + _excess(radius, force)


def _maximum_dissipation(radius: float, force: Array, velocity: Array) -> float:
    # Karush-Kuhn-Tucker conditions (4.26), (4.27): v = -zλ with 0 ≤ z ⟂ μ²F_N² - |λ|² ≥ 0
    square = float(force @ force)
    if radius == 0.0 or square == 0.0:  # the unloaded disc is a point and carries no multiplier (4.28 i)
        return float(np.sqrt(square)) if radius == 0.0 else float(np.linalg.norm(velocity))
    multiplier = max(0.0, -float(velocity @ force) / square)
    stationarity = float(np.linalg.norm(velocity + multiplier * force))
    complementarity = min(multiplier, max(0.0, radius - float(np.sqrt(square))))
    return stationarity + complementarity + _excess(radius, force)


_FORMS: dict[str, Callable[[float, Array, Array], float]] = {
    "case_distinction": _case_distinction,
    "variational_inequality": _variational_inequality,
    "subgradient": _subgradient,
    "reflected_subgradient": _reflected_subgradient,
    "normal_cone": _normal_cone,
    "least_power": _least_power,
    "maximum_dissipation": _maximum_dissipation,
}
