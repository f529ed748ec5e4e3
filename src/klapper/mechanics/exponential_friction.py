"""Friction that falls exponentially with the sliding speed and rises again with the viscosity of a film.

    μ(v) = μ_d + (μ_s − μ_d) exp(−(|v|/v_s)^δ) + c |v|

The usual fit to measurements of lubricated guides and brakes: δ = 1 after Tustin, δ = 2 after Armstrong-Hélouvry,
between ½ and 1 after Bo & Pavelescu, Wear 82 (1982) 277-289. The minimum, left of which stick-slip lives, is what the
:class:`~klapper.mechanics.Stribeck` law lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Annotated

from klapper.mechanics.arguments import number
from klapper.mechanics.friction import friction_law
from klapper.mechanics.options import Option


@friction_law("exponential")
@dataclass(frozen=True)
class ExponentialFriction:
    """Friction that falls from static to dynamic with the sliding speed, as an exponential function.

    μ(v) = μ_d + (μ_s − μ_d) exp(−(|v|/v_s)^δ) + c |v|. ``static`` μ_s, ``dynamic`` μ_d and ``exponent`` δ,
    dimensionless; ``speed`` v_s [m/s] of the fall, ``viscous`` c [s/m]

    >>> guide = ExponentialFriction(static=0.4, dynamic=0.2, speed=0.1, viscous=0.5)
    >>> guide.coefficient(0.0), round(guide.coefficient(1.0), 4)
    (0.4, 0.7)
    """

    static: Annotated[float, Option("coefficient at rest", at_least=0.0, example=0.4)]
    dynamic: Annotated[float, Option("coefficient after the fall, without film", at_least=0.0, example=0.2)]
    speed: Annotated[float, Option("speed of the fall", "m/s", above=0.0, example=0.1)]
    exponent: Annotated[float, Option("exponent of the fall", above=0.0)] = 1.0
    viscous: Annotated[float, Option("rise by the film", "s/m", at_least=0.0)] = 0.0
    ratio = 1.0
    constant = False

    def __post_init__(self) -> None:
        for name in ("static", "dynamic", "viscous"):
            number(getattr(self, name), name, "numbers from 0 on", at_least=0.0)
        for name in ("speed", "exponent"):
            number(getattr(self, name), name, "numbers above 0", above=0.0)

    def coefficient(self, speed: float) -> float:
        fallen = exp(-((abs(speed) / self.speed) ** self.exponent))
        return self.dynamic + (self.static - self.dynamic) * fallen + self.viscous * abs(speed)
