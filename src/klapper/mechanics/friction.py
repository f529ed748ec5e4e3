"""Friction coefficients of a contact: Coulomb, direction dependent, speed dependent.

    −v_T ∈ N_D(λ_T),  D = {λ : (λ₁/μ₁)² + (λ₂/μ₂)² ≤ λ_N²}            Waltersberger (2.24), (3.45)

The ellipse of an anisotropic contact is a disc in scaled directions: with λ₂ = (μ₂/μ₁) λ̃₂ and ṽ₂ = (μ₂/μ₁) v₂ the
law keeps its form and its power. A speed-dependent coefficient μ(|v_T|) is taken at the sliding speed reached so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, TypeVar, runtime_checkable

from klapper.mechanics.arguments import answer, number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.options import Option

L = TypeVar("L", bound=type)

FRICTION_LAWS: dict[str, type[Any]] = {}
"""Every friction law by the word under which files know it, ``friction = { kind = "coulomb", mu = 0.3 }``."""


def friction_law(kind: str) -> Callable[[L], L]:
    """Enter a class of friction laws in ``FRICTION_LAWS`` under the word ``kind``."""

    def enter(law: L) -> L:
        FRICTION_LAWS[kind] = law
        return law

    return enter


@runtime_checkable
class Friction(Protocol):
    """A friction law, ‖λ_T‖ ≤ μ λ_N.

    ``coefficient(speed)`` is μ₁ at a sliding speed [m/s]; ``ratio`` is μ₂/μ₁; ``constant`` says μ(v) = μ(0).

    A law of one's own, friction that fades with every m/s:

    >>> class Fading:
    ...     ratio, constant = 1.0, False
    ...     def coefficient(self, speed):
    ...         return 0.4 / (1.0 + speed)
    >>> isinstance(Fading(), Friction), Fading().coefficient(1.0)
    (True, 0.2)
    """

    @property
    def ratio(self) -> float: ...

    @property
    def constant(self) -> bool: ...

    def coefficient(self, speed: float) -> float: ...


@friction_law("coulomb")
@dataclass(frozen=True)
class Coulomb:
    """Coulomb's friction: the same coefficient in every direction and at every speed.

    ‖λ_T‖ ≤ μ λ_N with ``mu`` ≥ 0, dimensionless.

    >>> Coulomb(0.3).coefficient(speed=2.0)
    0.3
    """

    mu: Annotated[float, Option("friction coefficient", at_least=0.0)] = 0.0
    ratio = 1.0
    constant = True

    def __post_init__(self) -> None:
        _coefficient(self.mu, "mu")

    def coefficient(self, speed: float) -> float:
        return self.mu


@friction_law("anisotropic")
@dataclass(frozen=True)
class Anisotropic:
    """Friction with one coefficient along the first and another along the second tangential direction.

    (λ₁/μ₁)² + (λ₂/μ₂)² ≤ λ_N², Waltersberger (2.24), with ``mu_1`` > 0 and ``mu_2`` ≥ 0, dimensionless.

    >>> skate = Anisotropic(mu_1=0.8, mu_2=0.2)
    >>> skate.coefficient(speed=0.0), skate.ratio
    (0.8, 0.25)
    """

    mu_1: Annotated[float, Option("coefficient along the first tangential direction", above=0.0, example=0.4)]
    mu_2: Annotated[float, Option("coefficient along the second", at_least=0.0, example=0.2)]
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


@friction_law("stribeck")
@dataclass(frozen=True)
class Stribeck:
    """Friction that falls from static to dynamic with the sliding speed, as a rational function.

    μ(v) = μ_d + (μ_s − μ_d) / (1 + (|v|/v_s)^exponent). ``static`` μ_s, ``dynamic`` μ_d and ``exponent``,
    dimensionless; ``speed`` v_s [m/s], at which half of the fall is over.

    >>> belt = Stribeck(static=0.4, dynamic=0.2, speed=0.1)
    >>> belt.coefficient(0.0), round(belt.coefficient(0.1), 12)
    (0.4, 0.3)
    """

    static: Annotated[float, Option("coefficient at rest", at_least=0.0, example=0.4)]
    dynamic: Annotated[float, Option("coefficient at high speed", at_least=0.0, example=0.2)]
    speed: Annotated[
        float, Option("speed at which half of the fall is reached", "m/s", above=0.0, example=0.1)
    ]
    exponent: Annotated[float, Option("exponent of the fall", above=0.0)] = 1.0
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
    """Friction by any function μ(|v_T|) ≥ 0 of the sliding speed.

    ``function`` takes the sliding speed [m/s] and returns μ; ``Contact(friction=function)`` does the same.

    >>> SpeedDependent(lambda speed: 0.3 + 0.1 * speed).coefficient(2.0)
    0.5
    """

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
