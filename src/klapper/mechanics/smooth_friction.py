"""Friction as a function of the sliding velocity or of a small tangential displacement, not as a set.

    λ_T = −ρ φ(|v_T|) v_T/|v_T|                                       Waltersberger (4.79), Vielsack section 7
    φ = min(|v|/v_s, 1)      φ = (2/π) arctan(|v|/v_s)      φ = (|v|/v_r)^(1/α)
    stick:  λ_T = −(c_T (x − x₀) + d_T v_T),  |λ_T| < ρ               Vielsack (20), (24), (27)
    slip:   λ_T = −ρ v_T/|v_T|

ρ = limit + μ λ_N is the friction limit. The laws of the first line creep under any load. Those of a stick element hold
if they have a spring; x₀ is set so that the force is continuous where sliding ends. With ρ = 1 Vielsack's parameters
are ε_e = 1/c_T and ε_d = 1/d_T.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from klapper.mechanics.arguments import number


@dataclass(frozen=True)
class SaturatedFriction:
    """Friction that is viscous up to the sliding ``speed`` v_s [m/s] and of the magnitude ρ above it.

    φ = min(|v|/v_s, 1), Waltersberger Ex. 2.4, first form. It is the gradient of ``klapper.convex.saturated_friction``
    with the sharpness α = 1/(2 v_s).

    >>> SaturatedFriction(speed=1e-3).share([0.5e-3, 2.0]).tolist()
    [0.5, 1.0]
    """

    speed: float

    def __post_init__(self) -> None:
        _positive(self, "speed", "m/s")

    @property
    def kink(self) -> float:
        """Speed [m/s] at which φ is not smooth."""
        return self.speed

    def share(self, speed: Any) -> np.ndarray:
        """φ (...,) of sliding speeds (...,) [m/s]."""
        return np.minimum(np.asarray(speed, dtype=float) / self.speed, 1.0)

    def viscosity(self, speed: np.ndarray, slow: np.ndarray) -> np.ndarray:
        """φ(v)/v (k,) [s/m] of the branch below (``slow``) or above the kink, continued smoothly beyond it."""
        return np.where(slow, 1.0 / self.speed, 1.0 / _above_zero(speed))


@dataclass(frozen=True)
class ArctanFriction:
    """Friction that is smooth in the speed, φ = (2/π) arctan(|v|/v_s); at the ``speed`` v_s [m/s] it is ½.

    Vielsack section 7.

    >>> ArctanFriction(speed=1e-3).share([0.0, 1e-3]).round(12).tolist()
    [0.0, 0.5]
    """

    speed: float
    kink: ClassVar[float] = np.inf

    def __post_init__(self) -> None:
        _positive(self, "speed", "m/s")

    def share(self, speed: Any) -> np.ndarray:
        return 2.0 / np.pi * np.arctan(np.asarray(speed, dtype=float) / self.speed)

    def viscosity(self, speed: np.ndarray, slow: np.ndarray) -> np.ndarray:
        small = speed < 1e-8 * self.speed
        return np.where(small, 2.0 / (np.pi * self.speed), self.share(speed) / _above_zero(speed))


@dataclass(frozen=True)
class PowerFriction:
    """Friction that grows as a power of the speed, φ = (|v|/v_r)^(1/α). Waltersberger (4.79), where v_r = 1 m/s.

    ``sharpness``        α > 0, dimensionless: φ tends to one for α → ∞; above v_r the force exceeds ρ
    ``reference_speed``  v_r [m/s] at which the force is ρ
    ``floor``            [m/s]: below it the law goes on linearly, since its slope at rest would be infinite for α > 1

    >>> PowerFriction(sharpness=2.0).share([0.25, 1.0]).tolist()
    [0.5, 1.0]
    """

    sharpness: float
    reference_speed: float = 1.0
    floor: float = 1e-6
    kink: ClassVar[float] = np.inf

    def __post_init__(self) -> None:
        _positive(self, "sharpness", "no unit")
        _positive(self, "reference_speed", "m/s")
        _positive(self, "floor", "m/s")

    @property
    def speed(self) -> float:
        return self.floor

    def share(self, speed: Any) -> np.ndarray:
        speed = np.asarray(speed, dtype=float)
        return speed * self.viscosity(speed, speed < self.floor)

    def viscosity(self, speed: np.ndarray, slow: np.ndarray) -> np.ndarray:
        relative = np.maximum(speed, self.floor) / self.reference_speed
        return relative ** (1.0 / self.sharpness - 1.0) / self.reference_speed


@dataclass(frozen=True)
class StickElement:
    """What replaces the rigid stick: a spring c_T, a damper d_T, or both. Vielsack (20), (24), (27).

    ``stiffness``  c_T ≥ 0 [N/m]
    ``damping``    d_T ≥ 0 [N s/m]

    Sliding begins where the force reaches ρ. It ends at v_T = 0, for a damper alone at |v_T| = ρ/d_T.

    >>> StickElement(stiffness=1e5).kind, StickElement(damping=10.0).kind
    ('spring', 'damper')
    """

    stiffness: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        number(self.stiffness, "stiffness", "numbers from 0 on, in N/m", at_least=0.0)
        number(self.damping, "damping", "numbers from 0 on, in N s/m", at_least=0.0)
        number(self.stiffness + self.damping, "stiffness + damping", "numbers above 0", above=0.0)

    @property
    def kind(self) -> str:
        if self.stiffness == 0.0:
            return "damper"
        return "spring" if self.damping == 0.0 else "spring and damper"


SmoothFriction = SaturatedFriction | ArctanFriction | PowerFriction | StickElement


def _positive(law: Any, name: str, unit: str) -> None:
    number(getattr(law, name), name, f"numbers above 0, in {unit}", above=0.0)


def _above_zero(speed: Any) -> np.ndarray:
    return np.maximum(np.asarray(speed, dtype=float), 1e-300)
