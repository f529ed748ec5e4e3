"""Models of bodies that move in a plane: position (x, y, φ), velocity (ẋ, ẏ, φ̇)."""

from __future__ import annotations

from typing import Any

import numpy as np

from klapper.bodies.angles import BodyPair
from klapper.bodies.body import PlanarBody, RigidBody
from klapper.bodies.draft import Placed
from klapper.bodies.joints import AngleRow, PointRow, Row
from klapper.bodies.model import Model, joint_name
from klapper.bodies.quantities import not_negative, number, positive, signal, unit_vector, vector
from klapper.bodies.rotations import planar_matrices
from klapper.bodies.shapes import Point
from klapper.bodies.torsion import TorsionSpring

_NORMAL_TO_PLANE = np.array([0.0, 0.0, 1.0])


class Planar(Model):
    """Bodies in the plane, m ẍ = m g + F, θ φ̈ = M. ``gravity`` (2,) [m/s²], zero if not given; ``name`` of the system.

    >>> model = Planar(gravity=(0.0, -9.81))
    >>> ball = model.body("ball", mass=0.1, inertia=1.25e-4, at=(0.0, 1.0), velocity=(1.0, 0.0))
    >>> floor = model.wall("floor", normal=(0.0, 1.0))
    >>> model.contact(ball.disc(0.05), floor, friction=0.3, restitution=0.8)
    ('ball – floor',)
    >>> system = model.build()
    >>> system.gaps(0.0, system.start.position, np.array([0])).round(12)
    array([0.95])
    """

    dimension = 2
    _body_class = PlanarBody
    _coordinates = _velocities = ("x", "y", "angle")

    def __init__(self, gravity: Any = None, *, name: str = "planar bodies") -> None:
        super().__init__(gravity, name)

    @property
    def ground(self) -> PlanarBody:
        """What does not move: a body like the others, with places in the world."""
        return self._ground  # type: ignore[return-value]

    def body(
        self,
        name: str,
        *,
        mass: float,
        inertia: float,
        at: Any = (0.0, 0.0),
        angle: float = 0.0,
        velocity: Any = (0.0, 0.0),
        spin: float = 0.0,
    ) -> PlanarBody:
        """A rigid body with its centre of mass ``at`` (2,) [m], turned by ``angle`` [rad].

        ``mass`` [kg], ``inertia`` about the centre of mass [kg m²], ``velocity`` (2,) [m/s], ``spin`` φ̇ [rad/s]
        """
        where = f"body '{name}'"
        turn = number(where, "angle", angle)
        placed = Placed(
            positive(where, "mass", mass, "kg"),
            np.full(3, positive(where, "inertia", inertia, "kg m²")),
            planar_matrices(np.array(turn)),
            np.append(vector(where, "at", at, 2)[:2], turn),
            np.append(vector(where, "velocity", velocity, 2)[:2], number(where, "spin", spin)),
        )
        return self._add_body(name, placed, rotates=True)

    def particle(
        self, name: str, *, mass: float, at: Any = (0.0, 0.0), velocity: Any = (0.0, 0.0)
    ) -> PlanarBody:
        """A mass [kg] that moves but does not turn, with coordinates x and y; places on it move along."""
        where = f"particle '{name}'"
        placed = Placed(
            positive(where, "mass", mass, "kg"),
            np.zeros(3),
            np.eye(3),
            vector(where, "at", at, 2)[:2],
            vector(where, "velocity", velocity, 2)[:2],
        )
        return self._add_body(name, placed, rotates=False)

    def hinge(self, a: Point | RigidBody, b: Point | RigidBody, *, name: str | None = None) -> None:
        """Two points stay together; the bodies turn freely."""
        _, first, second = self._two_points("hinge", a, b, name)
        joint = joint_name("hinge", a, b, name)
        self._add_joint(joint, _together(joint, first, second))

    def slot(
        self, a: Point | RigidBody, b: Point | RigidBody, *, along: Any, name: str | None = None
    ) -> None:
        """Point a stays on the line through b in the direction ``along`` (2,), which is given in world axes as placed
        and fixed to b's body; the bodies turn freely."""
        where, first, second = self._two_points("slot", a, b, name)
        joint = joint_name("slot", a, b, name)
        self._add_joint(joint, [self._on_line(joint, where, first, second, along)])

    def slider(
        self, a: Point | RigidBody, b: Point | RigidBody, *, along: Any, name: str | None = None
    ) -> None:
        """As :meth:`slot`, and the bodies do not turn relative to each other."""
        where, first, second = self._two_points("slider", a, b, name)
        joint = joint_name("slider", a, b, name)
        rows: list[Row] = [self._on_line(f"{joint} across", where, first, second, along)]
        self._add_joint(joint, [*rows, *self._no_turn(f"{joint} angle", first.body, second.body)])

    def weld(self, a: RigidBody, b: RigidBody, *, name: str | None = None) -> None:
        """Two bodies stay as placed relative to each other."""
        self._two_bodies("weld", a, b, name)
        joint = joint_name("weld", a, b, name)
        away = self._draft.rotation(b.number).T @ (
            self._draft.centre(a.number) - self._draft.centre(b.number)
        )
        rows = _together(joint, a.point(), Point(b.name, b.number, away, None, self))
        self._add_joint(joint, [*rows, *self._no_turn(f"{joint} angle", a.number, b.number)])

    def motor(self, a: RigidBody, b: RigidBody, *, angle: Any, name: str | None = None) -> None:
        """Body a is turned relative to b by ``angle`` [rad] from how they were placed: a signal or function of time."""
        where = self._two_bodies("motor", a, b, name)
        self._turning(where, a, b)
        joint = joint_name("motor", a, b, name)
        pair = BodyPair(a.number, b.number, _NORMAL_TO_PLANE)
        self._add_joint(joint, [AngleRow(joint, pair, signal(where, "angle", angle, ()))])

    def torsion_spring(
        self,
        a: RigidBody,
        b: RigidBody,
        *,
        stiffness: float,
        angle: float | None = None,
        damping: float = 0.0,
        name: str | None = None,
    ) -> None:
        """A spring against the relative turn φ_a − φ_b, with a damper beside it.

        ``stiffness`` [N m/rad], rest ``angle`` φ_a − φ_b [rad] (None: as placed), ``damping`` [N m s/rad]
        """
        where = self._two_bodies("torsion spring", a, b, name)
        self._turning(where, a, b)
        as_placed = self._angle(a) - self._angle(b)
        self._draft.torsion.append(
            TorsionSpring(
                where,
                BodyPair(a.number, b.number, _NORMAL_TO_PLANE),
                not_negative(where, "stiffness", stiffness, "N m/rad"),
                0.0 if angle is None else number(where, "angle", angle) - as_placed,
                not_negative(where, "damping", damping, "N m s/rad"),
            )
        )

    def _angle(self, body: RigidBody) -> float:
        return float(self._draft.placed[body.number].position[2]) if body.rotates else 0.0

    def _on_line(self, name: str, where: str, a: Point, b: Point, along: Any) -> PointRow:
        direction = unit_vector(where, "along", along, 2)
        across = np.array([-direction[1], direction[0], 0.0])
        return PointRow(name, a, b, self._draft.rotation(b.body).T @ across, turns=True)

    def _no_turn(self, name: str, a: int, b: int) -> list[Row]:
        """Nothing to hold if neither of the two can turn."""
        if not any(body >= 0 and self._draft.bodies[body].rotates for body in (a, b)):
            return []
        return [AngleRow(name, BodyPair(a, b, _NORMAL_TO_PLANE))]


def _together(joint: str, a: Point, b: Point) -> list[Row]:
    return [PointRow(f"{joint} {'xy'[i]}", a, b, np.eye(3)[i], turns=False) for i in range(2)]
