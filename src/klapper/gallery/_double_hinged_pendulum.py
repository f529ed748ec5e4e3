"""The door on two hinges: a pendulum in closed form, and the same door as a rigid body on one hinge or two.

About an axis that leans by λ from the vertical the door swings by

    I φ̈ = −m g sin λ (w/2) sin φ,    period 4 K(sin φ₀/2) / ω₀,    ω₀² = m g sin λ w / (2 I)
"""

from dataclasses import dataclass
from functools import cached_property
from math import cos, sin
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from klapper.bodies import RigidSystem
    from klapper.results import Run


@dataclass(frozen=True)
class Door:
    """Sizes [m], mass [kg] and angles [rad] of the door, and its motion in closed form."""

    mass: float
    width: float
    height: float
    thickness: float
    separation: float
    lean: float
    amplitude: float
    gravity: float

    @cached_property
    def frame(self) -> np.ndarray:
        """Columns (3, 3): down across the axis, horizontal, along the axis."""
        return np.array(
            [[cos(self.lean), 0.0, sin(self.lean)], [0.0, 1.0, 0.0], [-sin(self.lean), 0.0, cos(self.lean)]]
        )

    @property
    def inertia(self) -> float:
        """About the axis of the hinges [kg m²]."""
        return self.mass * ((self.width**2 + self.thickness**2) / 12.0 + 0.25 * self.width**2)

    @property
    def weight_across(self) -> float:
        """The part of the weight [N] that makes the door swing."""
        return self.mass * self.gravity * sin(self.lean)

    @property
    def frequency(self) -> float:
        """ω₀ [rad/s] of small swings."""
        return float(np.sqrt(0.5 * self.weight_across * self.width / self.inertia))

    @property
    def period(self) -> float:
        """[s] of swings with the given amplitude."""
        from scipy.special import ellipk

        return float(4.0 * ellipk(sin(0.5 * self.amplitude) ** 2) / self.frequency)

    def angles(self, time: np.ndarray) -> np.ndarray:
        """φ (s,) [rad] in closed form: sin φ/2 = k sn(K − ω₀ t)."""
        from scipy.special import ellipj, ellipk

        modulus = sin(0.5 * self.amplitude)
        sn = ellipj(ellipk(modulus**2) - self.frequency * time, modulus**2)[0]
        return 2.0 * np.arcsin(np.clip(modulus * sn, -1.0, 1.0))

    def pull(self, angle: np.ndarray) -> np.ndarray:
        """Force (s,) [N] of the hinges towards the axis at the angles (s,), in closed form."""
        rate_squared = 2.0 * self.frequency**2 * (np.cos(angle) - cos(self.amplitude))
        return self.weight_across * np.cos(angle) + 0.5 * self.mass * self.width * rate_squared

    def system(self, hinges: tuple[str, ...]) -> "RigidSystem":
        """The door held by the ``hinges`` "upper" and "lower", or by one of them."""
        from klapper.bodies import Spatial, inertia

        lean, turn = 0.5 * self.lean, 0.5 * self.amplitude
        model = Spatial(gravity=(0.0, 0.0, -self.gravity), name="door on two hinges")
        across = np.array([cos(self.amplitude), sin(self.amplitude), 0.0])
        door = model.body(
            "door",
            mass=self.mass,
            inertia=inertia.box(self.mass, self.width, self.thickness, self.height),
            at=self.frame @ (0.5 * self.width * across),
            orientation=(
                cos(lean) * cos(turn),
                sin(lean) * sin(turn),
                sin(lean) * cos(turn),
                cos(lean) * sin(turn),
            ),
        )
        for name in hinges:
            along = 0.5 * self.separation * (1.0 if name == "upper" else -1.0)
            model.hinge(
                door.point((-0.5 * self.width, 0.0, along)),
                model.ground.point(self.frame[:, 2] * along),
                axis=self.frame[:, 2],
                name=f"{name} hinge",
            )
        return model.build()

    def swing(self, run: "Run") -> np.ndarray:
        """φ (s,) [rad] of a run."""
        place = run.position[:, :3] @ self.frame
        return np.arctan2(place[:, 1], place[:, 0])
