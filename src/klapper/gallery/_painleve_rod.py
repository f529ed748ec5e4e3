"""The rod whose tip slides on a rough floor, with all that is known of it in closed form.

The contact force λ lifts the tip with

    g̈ = A λ + b,   m A = 1 + 3 cos θ (cos θ − μ sin θ),   b = a θ̇² sin θ − g,   0 ≤ g̈ ⟂ λ ≥ 0
"""

from dataclasses import dataclass
from math import cos, sin
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from klapper.mechanics import FunctionSystem
    from klapper.mechanics.acceleration import AccelerationProblem

CLEARLY = 1e-6  # of its terms: A or b so small decides nothing


@dataclass(frozen=True)
class Rod:
    """The rod at the start, with its tip on the floor, and what follows in closed form.

    ``angle`` θ [rad] to the floor, ``turning`` θ̇ [rad/s] (positive: the rod rises), ``sliding`` [m/s] of the tip
    """

    length: float
    mass: float
    mu: float
    angle: float
    turning: float
    sliding: float
    gravity: float

    @property
    def half(self) -> float:
        return 0.5 * self.length

    @property
    def inertia(self) -> float:
        """About the centre [kg m²]."""
        return self.mass * self.length**2 / 12

    @property
    def mobility(self) -> float:
        """A [1/kg]."""
        turned = cos(self.angle) * (cos(self.angle) - self.mu * sin(self.angle))
        return (1 + 3 * turned) / self.mass

    @property
    def free_acceleration(self) -> float:
        """b [m/s²] of the tip without contact force."""
        return self.half * self.turning**2 * sin(self.angle) - self.gravity

    @property
    def decided(self) -> bool:
        """Whether neither A nor b is zero to rounding."""
        return (
            abs(self.mobility) * self.mass > CLEARLY and abs(self.free_acceleration) > CLEARLY * self.gravity
        )

    @property
    def solutions(self) -> int:
        if self.mobility > 0.0:
            return 1
        return 0 if self.free_acceleration < 0.0 else 2

    @property
    def forces(self) -> list[float]:
        """Contact force [N] of every solution, rising."""
        pressing = -self.free_acceleration / self.mobility
        if self.solutions == 2:
            return [0.0, pressing]
        return [] if self.solutions == 0 else [max(pressing, 0.0)]

    @property
    def jump(self) -> np.ndarray:
        """Normal and tangential impulse (2,) [N s] that stop the tip at once, so that it neither slides nor lifts."""
        lever = self.half**2 / self.inertia
        c, s = cos(self.angle), sin(self.angle)
        delassus = np.array(
            [[1 / self.mass + lever * c * c, lever * s * c], [lever * s * c, 1 / self.mass + lever * s * s]]
        )
        return -np.linalg.solve(delassus, np.array([0.0, self.sliding]))

    @property
    def position(self) -> np.ndarray:
        """Centre and angle (3,)."""
        return np.array([-self.half * cos(self.angle), self.half * sin(self.angle), self.angle])

    @property
    def velocity(self) -> np.ndarray:
        """(3,): the tip slides and stays on the floor."""
        tip = np.array([self.sliding, 0.0])
        lever = self.half * self.turning
        return np.array([tip[0] + lever * sin(self.angle), lever * cos(self.angle), self.turning])

    def tip(self, q: np.ndarray) -> np.ndarray:
        """Place (…, 2) [m] of the tip."""
        return np.stack(
            [q[..., 0] + self.half * np.cos(q[..., 2]), q[..., 1] - self.half * np.sin(q[..., 2])], axis=-1
        )

    def normal(self, q: np.ndarray) -> np.ndarray:
        return np.array([0.0, 1.0, -self.half * cos(q[2])])

    def tangent(self, q: np.ndarray) -> np.ndarray:
        return np.array([1.0, 0.0, -self.half * sin(q[2])])

    def problem(self) -> "AccelerationProblem":
        """Accelerations at the start."""
        from klapper.mechanics.acceleration import AccelerationProblem

        q = self.position
        return AccelerationProblem(
            np.diag([self.mass, self.mass, self.inertia]),
            [0.0, -self.mass * self.gravity, 0.0],
            normal=self.normal(q)[:, None],
            normal_bias=[self.half * self.turning**2 * sin(self.angle)],
            tangential=self.tangent(q)[:, None],
            tangential_bias=[-self.half * self.turning**2 * cos(self.angle)],
            sliding_velocity=[[self.sliding]],
            friction=self.mu,
            normal_names=["tip"],
        )

    def system(self) -> "FunctionSystem":
        from klapper.mechanics import Contact, FunctionSystem

        half, heavy = self.half, self.mass * self.gravity  # numbers, so that the functions can be compiled
        tip = Contact(
            "tip",
            gap=lambda t, q: q[1] - half * np.sin(q[2]),
            normal=lambda t, q: np.array([0.0, 1.0, -half * np.cos(q[2])]),
            tangents=lambda t, q: np.array([[1.0, 0.0, -half * np.sin(q[2])]]),
            friction=self.mu,
        )
        far_end = Contact(
            "far end",
            gap=lambda t, q: q[1] + half * np.sin(q[2]),
            normal=lambda t, q: np.array([0.0, 1.0, half * np.cos(q[2])]),
            tangents=lambda t, q: np.array([[1.0, 0.0, half * np.sin(q[2])]]),
            friction=self.mu,
        )
        return FunctionSystem(
            self.position,
            self.velocity,
            mass=np.diag([self.mass, self.mass, self.inertia]),
            force=lambda t, q, v: np.array([0.0, -heavy, 0.0]),
            stiff=False,
            potential=lambda q: heavy * q[1],
            contacts=[tip, far_end],
            coordinates=["x", "y", "angle"],
            name="Painlevé's rod",
        )

    def compliance(self) -> dict[str, Any]:
        """For the regularised method: a stiff and damped contact."""
        from klapper.mechanics.compliance import CompliantNormal

        stiffness = 1e5 * self.mass * self.gravity / self.length
        return {
            "normal": CompliantNormal(stiffness, 0.2 * np.sqrt(stiffness * self.mass)),
            "method": "dop853",
        }


def paradox_angles(mu: float) -> list[float]:
    """Between which angles [°] A < 0: tan θ between the roots of 4 + t² = 3 μ t; empty if there are none."""
    root = 9 * mu**2 - 16
    if root <= 0.0:
        return []
    return [float(np.degrees(np.arctan(0.5 * (3 * mu + side * np.sqrt(root))))) for side in (-1, 1)]
