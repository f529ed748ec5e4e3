"""The tippe top as a rigid body on a table, and what a run says of it: inclination, spin, slip, Jellett's invariant.

Whatever the contact force does, Jellett's invariant stays:

    J = L · (R e_z − a e) = const,      since  ṙ ⟂ L  and the moment of the force is ⟂ r
"""

from dataclasses import dataclass
from functools import cached_property
from math import cos, sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from klapper.bodies import RigidSystem
    from klapper.results import Run

LIFTED = 1e-6  # gap, as a share of the radius, from which the top counts as off the table


@dataclass(frozen=True)
class Top:
    """Mass [kg], radius and offset [m], inertia across and about the axis [kg m²], friction, gravity [m/s²]."""

    mass: float = 0.02
    radius: float = 0.02
    offset: float = 0.006
    across: float = 2.9942857e-6
    about: float = 3.2e-6
    friction: float = 0.05
    gravity: float = 9.81

    @property
    def threshold(self) -> float:
        """J [kg m³/s] above which theory without sticking lets the top invert; nan if it never does."""
        alpha, ratio = self.offset / self.radius, self.across / self.about
        if not 1.0 - alpha < ratio < 1.0:
            return float("nan")
        weight = self.mass * self.gravity * self.radius**3 * self.about * alpha
        return sqrt(weight) * (1.0 + alpha) ** 2 / sqrt(1.0 + alpha - ratio)

    def system(self, tilt: float, spin: float) -> "RigidSystem":
        """On the table, at rest but for its ``spin`` [rad/s] about its axis, ``tilt`` [rad] from the vertical."""
        from klapper.bodies import Spatial, turned

        model = Spatial(gravity=(0.0, 0.0, -self.gravity), name="tippe top")
        top = model.body(
            "top",
            mass=self.mass,
            inertia=(self.across, self.across, self.about),
            at=(0.0, 0.0, self.radius - self.offset * cos(tilt)),
            orientation=turned((1.0, 0.0, 0.0), tilt),
            spin=(0.0, 0.0, spin),
        )
        table = model.wall("table", normal=(0.0, 0.0, 1.0))
        model.contact(
            top.sphere(self.radius, (0.0, 0.0, self.offset)),
            table,
            friction=self.friction,
            name="top on table",
        )
        return model.build()


@dataclass(frozen=True)
class Motion:
    """What the samples (s,) of a run say about the top."""

    top: Top
    run: "Run"

    @cached_property
    def rotation(self) -> np.ndarray:
        """Rows (s, 3, 3) of the rotation from body to world: the third one is the vertical in body axes."""
        w, i, j, k = self.run.position[:, 3:].T
        return np.moveaxis(
            np.array(
                [
                    [1.0 - 2.0 * (j * j + k * k), 2.0 * (i * j - w * k), 2.0 * (i * k + w * j)],
                    [2.0 * (i * j + w * k), 1.0 - 2.0 * (i * i + k * k), 2.0 * (j * k - w * i)],
                    [2.0 * (i * k - w * j), 2.0 * (j * k + w * i), 1.0 - 2.0 * (i * i + j * j)],
                ]
            ),
            2,
            0,
        )

    @property
    def vertical(self) -> np.ndarray:
        """e_z (s, 3) in body axes."""
        return self.rotation[:, 2]

    @property
    def inclination(self) -> np.ndarray:
        """θ (s,) [rad]."""
        return np.arccos(np.clip(self.vertical[:, 2], -1.0, 1.0))

    @property
    def spin(self) -> np.ndarray:
        """ω (s, 3) [rad/s] in body axes."""
        return self.run.velocity[:, 3:]

    @property
    def turn(self) -> np.ndarray:
        """ω · e_z (s,) [rad/s]."""
        return np.sum(self.spin * self.vertical, axis=1)

    @property
    def jellett(self) -> np.ndarray:
        """J (s,) [kg m³/s]."""
        momentum = self.spin * [self.top.across, self.top.across, self.top.about]
        return self.top.radius * np.sum(momentum * self.vertical, axis=1) - self.top.offset * momentum[:, 2]

    @property
    def fastest(self) -> float:
        """Greatest |ω| [rad/s]."""
        return float(np.linalg.norm(self.spin, axis=1).max())

    @property
    def jellett_error(self) -> np.ndarray:
        """Change (s,) of J, as a share of I₃ ω (R − a) with the greatest ω."""
        size = self.top.about * self.fastest * (self.top.radius - self.top.offset)
        return (self.jellett - self.jellett[0]) / max(size, 1e-300)

    @property
    def slip(self) -> np.ndarray:
        """Speed (s,) [m/s] of the contact point over the table."""
        spin = np.einsum("kij,kj->ki", self.rotation, self.spin)
        arm = self.top.offset * self.rotation[:, :, 2] - [0.0, 0.0, self.top.radius]
        return np.linalg.norm((self.run.velocity[:, :3] + np.cross(spin, arm))[:, :2], axis=1)

    @property
    def fall(self) -> float:
        """Bound [m/s] of the speed with which the lowest point of the sphere moves up or down."""
        return float(np.abs(self.run.velocity[:, 2]).max()) + self.top.offset * self.fastest

    @property
    def curving(self) -> float:
        """∫ |a e_z · (ω × (ω × e))| dt [m/s]: what the turning of the axis changes of the normal speed."""
        square = np.sum(self.spin**2, axis=1)
        rate = self.top.offset * np.abs(self.turn * self.spin[:, 2] - self.vertical[:, 2] * square)
        return float(np.trapezoid(rate, self.run.time))

    @property
    def lifted(self) -> bool:
        return bool(self.run.gap.max() > LIFTED * self.top.radius)
