"""The box on a rough floor: thrown, and sliding flat until friction has stopped it after v²/(2 μ g)."""

from dataclasses import dataclass
from functools import cached_property
from math import hypot, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.gallery._run import SteppingName

if TYPE_CHECKING:
    from klapper.bodies.body import SpatialBody
    from klapper.bodies.rigid_system import RigidSystem
    from klapper.results import Run

SLIDE_STEPS = 200  # to standstill in the second run


@dataclass(frozen=True)
class Box:
    """What the box is, and the floor under it."""

    sizes: tuple[float, float, float]
    mass: float
    mu: float
    restitution: float
    gravity: float

    @property
    def moments(self) -> np.ndarray:
        """Principal moments of inertia (3,) [kg m²]."""
        from klapper.bodies import inertia

        return np.array(inertia.box(self.mass, *self.sizes))

    @property
    def radius(self) -> float:
        """Distance [m] of a corner from the centre."""
        return 0.5 * float(np.linalg.norm(self.sizes))

    @property
    def gyration(self) -> float:
        """Largest |ω × I ω|/ω² [kg m²]."""
        return 0.5 * float(np.ptp(self.moments))

    def corners(self, rotation: np.ndarray) -> np.ndarray:
        """Places (…, 8, 3) [m] of the corners from the centre, for rotations (…, 3, 3)."""
        signs = np.array([(i, j, k) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
        return np.einsum("...ij,cj->...ci", rotation, 0.5 * signs * np.array(self.sizes))

    def fastest(self, start: "Start") -> float:
        """Speed [m/s] that no corner can exceed with the energy of the start."""
        energy = 0.5 * self.mass * sum(v**2 for v in start.velocity)
        energy += 0.5 * float(self.moments @ np.square(start.spin))
        energy += self.mass * self.gravity * (start.height + self.radius)
        return sqrt(2.0 * energy / self.mass) + self.radius * sqrt(2.0 * energy / self.moments.min())

    def system(
        self, at: Any, orientation: Any, velocity: Any, spin: Any
    ) -> "tuple[RigidSystem, SpatialBody]":
        from klapper.bodies import Spatial

        model = Spatial(gravity=(0.0, 0.0, -self.gravity), name="tumbling box")
        box = model.body(
            "box",
            mass=self.mass,
            inertia=self.moments,
            at=at,
            orientation=orientation,
            velocity=velocity,
            spin=spin,
        )
        floor = model.wall("floor", normal=(0.0, 0.0, 1.0))
        for number, corner in enumerate(box.corners(*self.sizes), start=1):
            model.contact(
                corner, floor, friction=self.mu, restitution=self.restitution, name=f"corner {number}"
            )
        return model.build(), box


@dataclass(frozen=True)
class Start:
    """How the box is thrown; ``height`` is that of its lowest corner, ``turn`` a rotation vector [rad]."""

    height: float
    turn: tuple[float, float, float]
    velocity: tuple[float, float, float]
    spin: tuple[float, float, float]

    @property
    def orientation(self) -> tuple[float, float, float, float]:
        from klapper.bodies import turned

        angle = float(np.linalg.norm(self.turn))
        return turned(self.turn, angle) if angle > 0.0 else (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Throw:
    """The run of the thrown box, and what it says."""

    box: Box
    system: "RigidSystem"
    body: "SpatialBody"
    run: "Run"
    step: float

    @cached_property
    def rotation(self) -> np.ndarray:
        """R (s, 3, 3) from body to world."""
        return self.system.axes(self.body, self.run.position)

    @cached_property
    def corners(self) -> np.ndarray:
        """Places (s, 8, 3) [m] of the corners."""
        return self.run.position[:, None, :3] + self.box.corners(self.rotation)

    @cached_property
    def speeds(self) -> np.ndarray:
        """Speed (s,) [m/s] that no point of the box exceeds."""
        moving, turning = np.linalg.norm(self.run.velocity.reshape(-1, 2, 3), axis=2).T
        return np.asarray(moving + self.box.radius * turning)

    @property
    def no_speed(self) -> float:
        """Round-off [m/s] of what the weight does in a step."""
        return 1e-12 * self.box.gravity * self.step

    @property
    def corner_speed(self) -> float:
        """Largest speed [m/s] that a corner can have had."""
        return float(self.speeds.max()) + self.box.gravity * float(np.diff(self.run.time).max())

    @cached_property
    def flight(self) -> int:
        """Number of samples before the floor is touched."""
        touched = np.flatnonzero(np.any(self.run.impulse != 0.0, axis=(1, 2)))
        return int(touched[0]) if len(touched) else len(self.run)

    @cached_property
    def rest(self) -> int | None:
        """First sample at which the box lies still on the floor."""
        carried = np.any(self.run.impulse[:, :, 0] > 0.0, axis=1)
        still = np.flatnonzero(carried & (self.speeds <= self.no_speed))
        return int(still[0]) if len(still) else None

    @property
    def face_below(self) -> str:
        """Which side of the box looks down at the end."""
        down = self.rotation[-1, 2]  # vertical components of the axes of the body
        axis = int(np.argmax(np.abs(down)))
        return f"{'-' if down[axis] > 0.0 else '+'}{'xyz'[axis]}"

    @property
    def way(self) -> float:
        """Length [m] of the path of the centre over the floor."""
        return float(np.linalg.norm(np.diff(self.run.position[:, :2], axis=0), axis=1).sum())

    @property
    def floor_force(self) -> np.ndarray:
        """Sum (3,) [N] of the forces of the floor in the last interval between samples."""
        which = np.arange(8)
        directions = self.system.directions(self.run.time[-1], self.run.position[-1], which)
        impulse = directions.normal[:3] @ self.run.impulse[-1, :, 0]
        impulse = impulse + directions.tangential[:3] @ self.run.impulse[-1, :, 1:].ravel()
        return np.asarray(impulse).ravel() / (self.run.time[-1] - self.run.time[-2])


@dataclass(frozen=True)
class Slide:
    """The second run: a box that lies flat and slides with the horizontal velocity of the throw."""

    box: Box
    velocity: tuple[float, float]
    run: "Run"

    @staticmethod
    def possible(box: Box, velocity: tuple[float, float]) -> bool:
        """Whether the box slides flat until it stops: the floor's force acts at μ c/2 ahead of the centre (c the
        height), which must be under the box."""
        speed = hypot(*velocity)
        if box.mu == 0.0 or speed == 0.0:
            return False
        ahead = box.mu * box.sizes[2] * np.abs(velocity) / speed
        return bool(np.all(ahead < 0.999 * np.array(box.sizes[:2])))

    @classmethod
    def of(cls, box: Box, velocity: tuple[float, float], scheme: SteppingName) -> "Slide":
        from klapper.gallery._run import scheme_named
        from klapper.simulation import simulate

        system, _ = box.system(
            (0.0, 0.0, 0.5 * box.sizes[2]), (1.0, 0.0, 0.0, 0.0), (*velocity, 0.0), (0.0, 0.0, 0.0)
        )
        stop = hypot(*velocity) / (box.mu * box.gravity)
        run = simulate(system, 1.2 * stop, scheme_named(scheme, stop / SLIDE_STEPS))
        return cls(box, velocity, run)

    @property
    def exact(self) -> float:
        """v²/(2 μ g) [m]."""
        return hypot(*self.velocity) ** 2 / (2.0 * self.box.mu * self.box.gravity)

    @property
    def distances(self) -> np.ndarray:
        """Distance (s,) [m] from the start."""
        return np.asarray(np.linalg.norm(self.run.position[:, :2], axis=1))

    @property
    def step(self) -> float:
        return float(self.run.time[1])
