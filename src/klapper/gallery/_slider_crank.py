"""Crank, rod and slider on hinges, the slider with play in its guide: the system, and runs of it by step.

Until a corner touches, the motion is that of the two links:

    M(θ₁, θ₂) θ̈ = h(θ, θ̇),      g = d/2 ∓ (l₁ sin θ₁ + l₂ sin θ₂ ± a sin θ₃) − b cos θ₃ ≥ 0
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from klapper.bodies import RigidSystem
    from klapper.results import Run

CORNERS = ("lower left", "lower right", "upper right", "upper left")


@dataclass(frozen=True)
class Mechanism:
    """Crank (1), rod (2) and slider (3): lengths [m], masses [kg], inertias [kg m²] and the start [rad, rad/s].

    The slider is 2a long and 2b high, the guide d high.
    """

    lengths: tuple[float, float]
    a: float
    b: float
    guide: float
    masses: tuple[float, float, float]
    inertias: tuple[float, float, float]
    gravity: float
    speed: float
    slider_angle: float
    restitution: float
    friction: float

    @property
    def play(self) -> float:
        """Half the difference [m] of guide and slider."""
        return 0.5 * self.guide - self.b

    @property
    def rod_speed(self) -> float:
        """ω₂ [rad/s] at the start, where the slider is at rest."""
        return -self.speed * self.lengths[0] / self.lengths[1]

    def system(self) -> "RigidSystem":
        from klapper.bodies import Planar

        l1, l2 = self.lengths
        model = Planar(gravity=(0.0, -self.gravity), name="slider-crank with play")
        crank = model.body(
            "crank",
            mass=self.masses[0],
            inertia=self.inertias[0],
            at=(0.5 * l1, 0.0),
            velocity=(0.0, 0.5 * l1 * self.speed),
            spin=self.speed,
        )
        rod = model.body(
            "rod",
            mass=self.masses[1],
            inertia=self.inertias[1],
            at=(l1 + 0.5 * l2, 0.0),
            velocity=(0.0, l1 * self.speed + 0.5 * l2 * self.rod_speed),
            spin=self.rod_speed,
        )
        slider = model.body(
            "slider",
            mass=self.masses[2],
            inertia=self.inertias[2],
            at=(l1 + l2, 0.0),
            angle=self.slider_angle,
        )
        model.hinge(crank.point((-0.5 * l1, 0.0)), model.ground.point((0.0, 0.0)), name="main bearing")
        model.hinge(rod.point((-0.5 * l2, 0.0)), crank.point((0.5 * l1, 0.0)), name="crank pin")
        model.hinge(slider.point((0.0, 0.0)), rod.point((0.5 * l2, 0.0)), name="slider pin")
        corners = slider.corners(2.0 * self.a, 2.0 * self.b)
        walls = {
            side: model.wall(f"{side} wall", point=(0.0, -0.5 * sign * self.guide), normal=(0.0, sign))
            for side, sign in (("lower", 1.0), ("upper", -1.0))
        }
        for corner, name in zip(corners, CORNERS, strict=True):
            wall = walls[name.split()[0]]
            model.contact(corner, wall, friction=self.friction, restitution=self.restitution, name=name)
        return model.build()

    def accelerations(self, angle: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """θ̈ (2,) of crank and rod while no corner touches. Flores, Leine, Glocker (2010), (90)–(96)."""
        (l1, l2), (m1, m2, m3), (j1, j2, _) = self.lengths, self.masses, self.inertias
        coupling = (0.5 * m2 + m3) * l1 * l2
        turned = angle[1] - angle[0]
        mass = np.array(
            [
                [j1 + (0.25 * m1 + m2 + m3) * l1**2, coupling * np.cos(turned)],
                [coupling * np.cos(turned), j2 + (0.25 * m2 + m3) * l2**2],
            ]
        )
        weight = self.gravity * np.array([(0.5 * m1 + m2 + m3) * l1, (0.5 * m2 + m3) * l2])
        force = coupling * np.sin(turned) * np.array([rate[1] ** 2, -(rate[0] ** 2)]) - weight * np.cos(angle)
        return np.linalg.solve(mass, force)

    def slider_place(self, angle: np.ndarray) -> np.ndarray:
        """Centre (2, …) [m] of the slider at the angles (2, …) of crank and rod."""
        l1, l2 = self.lengths
        return np.array(
            [
                l1 * np.cos(angle[0]) + l2 * np.cos(angle[1]),
                l1 * np.sin(angle[0]) + l2 * np.sin(angle[1]),
            ]
        )

    @property
    def reach(self) -> float:
        """How far [m] the corners of the slider reach above and below its centre while it is not touched."""
        return self.a * abs(np.sin(self.slider_angle)) + self.b * np.cos(self.slider_angle)

    def free_motion(self, until: float) -> Any:
        """Motion without contact, ending at the first touch or at ``until`` [s]: a solution of scipy's solve_ivp."""
        from scipy.integrate import solve_ivp

        def gap(t: float, y: np.ndarray) -> float:
            return 0.5 * self.guide - self.reach - abs(self.slider_place(y[:2])[1])

        gap.terminal, gap.direction = True, -1.0  # type: ignore[attr-defined]
        return solve_ivp(
            lambda t, y: np.concatenate([y[2:], self.accelerations(y[:2], y[2:])]),
            (0.0, until),
            [0.0, 0.0, self.speed, self.rod_speed],
            method="DOP853",
            events=gap,
            dense_output=True,
            rtol=1e-11,
            atol=1e-12,
        )

    def ideal_speed(self, crank: np.ndarray) -> np.ndarray:
        """Speed (s,) [rad/s] at crank angles (s,) if the slider had no play: energy is kept; nan where it stops."""
        (l1, l2), (m1, m2, m3), (j1, j2, _) = self.lengths, self.masses, self.inertias
        rod = np.arcsin(-l1 / l2 * np.sin(crank))
        ratio = -l1 * np.cos(crank) / (l2 * np.cos(rod))
        across, along = -l1 * np.sin(crank), l1 * np.cos(crank)
        inertia = j1 + 0.25 * m1 * l1**2 + j2 * ratio**2 + m3 * (across - l2 * np.sin(rod) * ratio) ** 2
        inertia += (
            m2 * (across - 0.5 * l2 * np.sin(rod) * ratio) ** 2
            + m2 * (along + 0.5 * l2 * np.cos(rod) * ratio) ** 2
        )
        height = self.gravity * (0.5 * m1 + 0.5 * m2) * l1 * np.sin(crank)
        square = (inertia[0] * self.speed**2 + 2.0 * (height[0] - height)) / inertia
        return np.sign(self.speed) * np.sqrt(np.where(square >= 0.0, square, np.nan))


@dataclass(frozen=True)
class Row:
    """One step of the refinement: the run, and by how much [m] and how fast [m/s] its hinges opened at most."""

    step: float
    run: "Run"
    opening: float
    opening_speed: float

    @cached_property
    def impacts(self) -> int:
        """How often corners were hit; what lasts over following steps counts once."""
        from klapper.contact_states import IMPACT

        hit = self.run.state == IMPACT
        return int(np.count_nonzero(hit[1:] & ~hit[:-1]))

    @cached_property
    def first_impact(self) -> float | None:
        times = self.run.impacts().time
        return float(times[0]) if len(times) else None

    @property
    def penetration(self) -> float:
        return max(-float(self.run.gap.min()), 0.0)

    def place(self, time: float) -> np.ndarray:
        """Angle of the crank, place x and y of the slider (3,) at a multiple of the step."""
        sample = round(time / self.step)
        names = ("crank angle", "slider x", "slider y")
        return np.array([self.run.coordinate(name)[sample] for name in names])
