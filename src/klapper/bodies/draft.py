"""A model while it is being written down: plain lists of its parts, each thing once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from klapper.bodies.body import RigidBody
from klapper.bodies.contact_table import Group, ListedContact
from klapper.bodies.joints import Row
from klapper.bodies.loads import Load
from klapper.bodies.shapes import Ball, Wall
from klapper.bodies.springs import Spring
from klapper.bodies.torsion import TorsionSpring


@dataclass(frozen=True, eq=False)
class Placed:
    """A body as it was placed: ``inertia`` (3,) principal moments [kg m²], ``rotation`` (3, 3), ``position`` and
    ``velocity`` in its own coordinates."""

    mass: float
    inertia: np.ndarray
    rotation: np.ndarray
    position: np.ndarray
    velocity: np.ndarray


@dataclass(eq=False)
class Draft:
    """The parts of a model; lengths of springs and rods that are not a number are to be taken as placed."""

    gravity: np.ndarray
    bodies: list[RigidBody] = field(default_factory=list)
    placed: list[Placed] = field(default_factory=list)
    balls: dict[tuple[int, float, bytes], Ball] = field(default_factory=dict)
    walls: dict[int, Wall] = field(default_factory=dict)
    contacts: dict[str, ListedContact] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)
    springs: list[Spring] = field(default_factory=list)
    torsion: list[TorsionSpring] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    joints: dict[str, list[Row]] = field(default_factory=dict)
    _ball_numbers: dict[tuple[int, float, bytes], int] = field(default_factory=dict)
    _wall_numbers: dict[int, int] = field(default_factory=dict)

    def ball_number(self, ball: Ball) -> int:
        """The number of a ball; the same ball named twice is one."""
        key = (ball.body, ball.radius, ball.place.tobytes())
        self.balls.setdefault(key, ball)
        return self._ball_numbers.setdefault(key, len(self._ball_numbers))

    def wall_number(self, wall: Wall) -> int:
        self.walls.setdefault(id(wall), wall)
        return self._wall_numbers.setdefault(id(wall), len(self._wall_numbers))

    def rotation(self, body: int) -> np.ndarray:
        """R (3, 3) of a body as placed; of the ground, none."""
        return np.eye(3) if body < 0 else self.placed[body].rotation

    def centre(self, body: int) -> np.ndarray:
        """Centre (3,) of a body as placed."""
        if body < 0:
            return np.zeros(3)
        dimension = self.bodies[body].dimension
        return np.concatenate((self.placed[body].position[:dimension], np.zeros(3 - dimension)))
