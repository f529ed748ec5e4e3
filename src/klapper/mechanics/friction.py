"""Friction coefficients of a contact: Coulomb, direction dependent, speed dependent.

    −v_T ∈ N_D(λ_T),  D = {λ : (λ₁/μ₁)² + (λ₂/μ₂)² ≤ λ_N²}            Waltersberger (2.24), (3.45)

The ellipse of an anisotropic contact is a disc in scaled directions: with λ₂ = (μ₂/μ₁) λ̃₂ and ṽ₂ = (μ₂/μ₁) v₂ the
law keeps its form and its power. A speed-dependent coefficient μ(|v_T|) is taken at the sliding speed reached so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.signals import answer, number


@runtime_checkable
class Friction(Protocol):
    """``coefficient(speed)`` is μ₁ at a sliding speed [m/s]; ``ratio`` is μ₂/μ₁; ``constant`` says μ(v) = μ(0)."""

    @property
    def ratio(self) -> float: ...

    @property
    def constant(self) -> bool: ...

    def coefficient(self, speed: float) -> float: ...


@dataclass(frozen=True)
class Coulomb:
    """The same coefficient in every direction and at every speed."""

    mu: float = 0.0
    ratio = 1.0
    constant = True

    def __post_init__(self) -> None:
        _coefficient(self.mu, "mu")

    def coefficient(self, speed: float) -> float:
        return self.mu


@dataclass(frozen=True)
class Anisotropic:
    """Coefficients along the first and the second tangential direction of the contact."""

    mu_1: float
    mu_2: float
    constant = True

    def __post_init__(self) -> None:
        for name in ("mu_1", "mu_2"):
            _coefficient(getattr(self, name), name)
        if self.mu_1 == 0.0:
            raise InvalidModel(
                "mu_1 is 0; name the tangential directions so that the first one has friction."
            )

    @property
    def ratio(self) -> float:
        return self.mu_2 / self.mu_1

    def coefficient(self, speed: float) -> float:
        return self.mu_1


@dataclass(frozen=True)
class Stribeck:
    """μ(v) = μ_d + (μ_s − μ_d) / (1 + (|v|/v_s)^exponent): falls from static to dynamic with the sliding speed."""

    static: float
    dynamic: float
    speed: float
    exponent: float = 1.0
    ratio = 1.0
    constant = False

    def __post_init__(self) -> None:
        for name in ("static", "dynamic"):
            _coefficient(getattr(self, name), name)
        for name in ("speed", "exponent"):
            number(getattr(self, name), name, "numbers above 0", above=0.0)

    def coefficient(self, speed: float) -> float:
        fall = 1.0 + (abs(speed) / self.speed) ** self.exponent
        return self.dynamic + (self.static - self.dynamic) / fall


@dataclass(frozen=True)
class SpeedDependent:
    """Any function μ(|v_T|) ≥ 0."""

    function: Callable[[float], float]
    ratio = 1.0
    constant = False

    def __post_init__(self) -> None:
        self._checked(answer(self.function, "friction", speed=0.0), 0.0)

    def coefficient(self, speed: float) -> float:
        return self._checked(self.function(speed), speed)

    @staticmethod
    def _checked(value: Any, speed: float) -> float:
        return _coefficient(value, f"the friction coefficient at {speed:g} m/s")


def as_friction(given: Any) -> Friction:
    """A friction law from a law, a coefficient, or a function of the sliding speed."""
    if isinstance(given, Friction):
        return given
    if callable(given):
        return SpeedDependent(given)
    law = "a number, Anisotropic(mu_1, mu_2) or a function of the speed"
    return Coulomb(number(given, "friction", law))


def _coefficient(given: Any, name: str) -> float:
    return number(given, name, "numbers from 0 on", at_least=0.0)
