"""Two masses on a rough floor, joined by a spring and pushed on the right: what a stiff spring selects. Seiwald B.2.4.

    m ẍ₁ = c (x₂ − x₁) + λ_TA,   m ẍ₂ = −c (x₂ − x₁) + λ_TB + F,   |λ_T| ≤ μ m g                  (B.30)-(B.32)

Pushed slowly, the right mass carries all of F up to its limit and the left one the rest, (B.33)-(B.35): for any
stiffness, also where a single mass 2 m only determines the sum. Pushed suddenly without damping, the spring overshoots
and the halves stop with another pair of forces. While both slide, they move like one mass up to a vibration of 1/c;
the spring force keeps vibrating between 0 and F for every c, so that its limit F/2 of (B.41) is a mean value only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.mechanics.arguments import number
from klapper.mechanics.contacts import FrictionElement
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem
from klapper.mechanics.signals import Signal, as_signal


@dataclass(frozen=True)
class CoupledSliders:
    """Two masses on a rough floor, joined by a spring; what the pushed one cannot hold, the left one does.

    ``mass`` m of each [kg], ``stiffness`` c [N/m], ``damping`` of the spring [N s/m], ``friction`` μ,
    ``gravity`` [m/s²].

    >>> CoupledSliders(1.0, 1e6, friction=0.5, gravity=10.0).quasi_static_friction(6.0).tolist()
    [-1.0, -5.0]
    """

    mass: float
    stiffness: float
    damping: float = 0.0
    friction: float = 0.0
    gravity: float = 9.81

    def __post_init__(self) -> None:
        for name in ("mass", "stiffness"):
            number(getattr(self, name), name, "numbers above 0", above=0.0)
        for name in ("damping", "friction", "gravity"):
            number(getattr(self, name), name, "numbers from 0 on", at_least=0.0)

    @property
    def limit(self) -> float:
        """μ m g [N]."""
        return self.friction * self.mass * self.gravity

    @property
    def angular_frequency(self) -> float:
        """√(2c/m) [rad/s] of the masses against each other."""
        return float(np.sqrt(2.0 * self.stiffness / self.mass))

    def system(self, force: Any, *, velocity: float = 0.0) -> LinearSystem:
        """The model with a push ``force`` [N], a number, signal or function of time, and one common start velocity."""
        push: Signal = as_signal(force, "force")
        if push.shape != ():
            raise InvalidModel(f"force has shape {push.shape}; expected one number over time, in N.")
        against = np.array([[1.0, -1.0], [-1.0, 1.0]])
        return LinearSystem(
            [self.mass, self.mass],
            damping=self.damping * against,
            stiffness=self.stiffness * against,
            force=lambda t: np.array([0.0, float(push.value(t))]),
            velocity=[velocity, velocity],
            contacts=[
                FrictionElement(name, tangents=row, limit=self.limit)
                for name, row in zip("AB", np.eye(2), strict=True)
            ],
            coordinates=("x1", "x2"),
            name="two masses on a rough floor",
        )

    def quasi_static_friction(self, force: Any) -> np.ndarray:
        """λ_TA, λ_TB (…, 2) [N] at pushes that grew slowly, (B.33)-(B.35)."""
        push = np.asarray(force, dtype=float)
        right = -np.minimum(push, self.limit)
        left = -np.minimum(np.maximum(push - self.limit, 0.0), self.limit)
        return np.stack([left, right], axis=-1)

    def overshoot_friction(self, force: float) -> np.ndarray:
        """λ_TA, λ_TB (2,) [N] after a sudden push without damping, for a push from 1 to 1.5 limits.

        The right mass slides by 2 (F − μ m g)/c, where the spring holds it; the left one stays.
        """
        if not self.limit <= force <= 1.5 * self.limit:
            raise InvalidModel(
                f"force is {force} N; the closed form holds from {self.limit:g} N to {1.5 * self.limit:g} N, where the "
                f"left mass stays and the right one does not come back."
            )
        return np.array([-2.0 * (force - self.limit), force - 2.0 * self.limit])

    def sliding_motion(self, force: float, time: Any) -> tuple[np.ndarray, np.ndarray]:
        """x₁, x₂ (…) [m] at times [s] while both slide to the right, (B.37) without the part of a start velocity."""
        t, omega = np.asarray(time, dtype=float), self.angular_frequency
        together = self.rigid_motion(force, t)
        apart = force / (2.0 * self.mass * omega**2) * (1.0 - np.cos(omega * t))
        return together - apart, together + apart

    def rigid_motion(self, force: float, time: Any) -> np.ndarray:
        """x (…) [m] of one mass 2 m that slides to the right, (B.47)."""
        t = np.asarray(time, dtype=float)
        return 0.5 * (force / (2.0 * self.mass) - self.friction * self.gravity) * t**2

    def spring_force(self, force: float, time: Any) -> np.ndarray:
        """F_c (…) [N] while both slide: F/2 (1 − cos √(2c/m) t)."""
        return 0.5 * force * (1.0 - np.cos(self.angular_frequency * np.asarray(time, dtype=float)))
