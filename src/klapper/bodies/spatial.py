"""Models of bodies that move in space: position (x, y, z, w, i, j, k), velocity (ẋ, ẏ, ż, ω) with ω in body axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from klapper.bodies.angles import BodyPair
from klapper.bodies.body import RigidBody, SpatialBody
from klapper.bodies.contact_geometry import smallest_axis, tangents
from klapper.bodies.draft import Placed
from klapper.bodies.joints import AngleRow, AxisRow, PointRow, Row
from klapper.bodies.model import Model, joint_name
from klapper.bodies.quantities import not_negative, number, positive, signal, unit_vector, vector
from klapper.bodies.rotations import matrices, normalised
from klapper.bodies.shapes import Point
from klapper.bodies.torsion import TorsionSpring
from klapper.mechanics.errors import InvalidModel


class Spatial(Model):
    """Bodies in space, m ẍ = m g + F, I ω̇ = −ω × I ω + M. ``gravity`` (3,) [m/s²], zero if not given; ``name`` of the
    system.

    >>> model = Spatial(gravity=(0.0, 0.0, -9.81))
    >>> top = model.body("top", mass=0.1, inertia=(4e-5, 4e-5, 6e-5), at=(0.0, 0.0, 0.02), spin=(0.0, 0.0, 150.0))
    >>> table = model.wall("table", normal=(0.0, 0.0, 1.0))
    >>> model.contact(top.sphere(0.02), table, friction=0.3)
    ('top – table',)
    >>> model.build().velocities
    ('top x', 'top y', 'top z', 'top ω1', 'top ω2', 'top ω3')
    """

    dimension = 3
    _body_class = SpatialBody
    _coordinates = ("x", "y", "z", "w", "i", "j", "k")
    _velocities = ("x", "y", "z", "ω1", "ω2", "ω3")

    def __init__(self, gravity: Any = None, *, name: str = "spatial bodies") -> None:
        super().__init__(gravity, name)

    @property
    def ground(self) -> SpatialBody:
        """What does not move: a body like the others, with places in the world."""
        return self._ground  # type: ignore[return-value]

    def body(
        self,
        name: str,
        *,
        mass: float,
        inertia: Any,
        at: Any = (0.0, 0.0, 0.0),
        orientation: Any = (1.0, 0.0, 0.0, 0.0),
        velocity: Any = (0.0, 0.0, 0.0),
        spin: Any = (0.0, 0.0, 0.0),
    ) -> SpatialBody:
        """A rigid body with its centre of mass ``at`` (3,) [m]; its axes are its principal axes.

        ``mass`` [kg], ``inertia`` principal moments (3,) [kg m²], or one number if they are equal
        ``orientation``  quaternion (w, i, j, k) that turns body into world directions, see :func:`turned`
        ``velocity``     (3,) [m/s] in world axes, ``spin`` ω (3,) [rad/s] in body axes
        """
        where = f"body '{name}'"
        turn = _quaternion(where, orientation)
        placed = Placed(
            positive(where, "mass", mass, "kg"),
            _principal_moments(where, inertia),
            matrices(turn),
            np.concatenate((vector(where, "at", at, 3), turn)),
            np.concatenate((vector(where, "velocity", velocity, 3), vector(where, "spin", spin, 3))),
        )
        return self._add_body(name, placed, rotates=True)

    def particle(
        self, name: str, *, mass: float, at: Any = (0.0, 0.0, 0.0), velocity: Any = (0.0, 0.0, 0.0)
    ) -> SpatialBody:
        """A mass [kg] that moves but does not turn, with coordinates x, y and z; places on it move along."""
        where = f"particle '{name}'"
        placed = Placed(
            positive(where, "mass", mass, "kg"),
            np.zeros(3),
            np.eye(3),
            vector(where, "at", at, 3),
            vector(where, "velocity", velocity, 3),
        )
        return self._add_body(name, placed, rotates=False)

    def ball_joint(self, a: Point | RigidBody, b: Point | RigidBody, *, name: str | None = None) -> None:
        """Two points stay together; the bodies turn freely."""
        _, first, second = self._two_points("ball joint", a, b, name)
        joint = joint_name("ball joint", a, b, name)
        self._add_joint(joint, _together(joint, first, second))

    def hinge(
        self, a: Point | RigidBody, b: Point | RigidBody, *, axis: Any, name: str | None = None
    ) -> None:
        """Two points stay together, and the bodies turn relative to each other about ``axis`` (3,) only.

        The axis is given in world axes as placed.
        """
        where, first, second = self._two_points("hinge", a, b, name)
        joint = joint_name("hinge", a, b, name)
        direction = unit_vector(where, "axis", axis, 3)
        across = _across(direction)
        turns = [
            self._square(f"{joint} tilt {i + 1}", first.body, second.body, direction, across[i])
            for i in (0, 1)
        ]
        self._add_joint(joint, [*_together(joint, first, second), *self._if_turning(first, second, turns)])

    def slot(
        self, a: Point | RigidBody, b: Point | RigidBody, *, along: Any, name: str | None = None
    ) -> None:
        """Point a stays on the line through b in the direction ``along`` (3,), which is given in world axes as placed
        and fixed to b's body; the bodies turn freely."""
        where, first, second = self._two_points("slot", a, b, name)
        joint = joint_name("slot", a, b, name)
        self._add_joint(joint, self._on_line(joint, where, first, second, along))

    def slider(
        self, a: Point | RigidBody, b: Point | RigidBody, *, along: Any, name: str | None = None
    ) -> None:
        """As :meth:`slot`, and the bodies do not turn relative to each other."""
        where, first, second = self._two_points("slider", a, b, name)
        joint = joint_name("slider", a, b, name)
        turns = self._no_turn(joint, first.body, second.body)
        rows = self._on_line(joint, where, first, second, along)
        self._add_joint(joint, [*rows, *self._if_turning(first, second, turns)])

    def weld(self, a: RigidBody, b: RigidBody, *, name: str | None = None) -> None:
        """Two bodies stay as placed relative to each other."""
        self._two_bodies("weld", a, b, name)
        joint = joint_name("weld", a, b, name)
        away = self._draft.rotation(b.number).T @ (
            self._draft.centre(a.number) - self._draft.centre(b.number)
        )
        first, second = a.point(), Point(b.name, b.number, away, None, self)
        turns = self._no_turn(joint, a.number, b.number)
        self._add_joint(joint, [*_together(joint, first, second), *self._if_turning(first, second, turns)])

    def motor(self, a: RigidBody, b: RigidBody, *, axis: Any, angle: Any, name: str | None = None) -> None:
        """Body a is turned relative to b about ``axis`` by ``angle`` [rad] from how they were placed.

        ``axis`` (3,) in world axes as placed, fixed to b; ``angle`` a signal or function of time
        """
        where = self._two_bodies("motor", a, b, name)
        self._turning(where, a, b)
        joint = joint_name("motor", a, b, name)
        pair = self._pair(where, a, b, axis)
        self._add_joint(joint, [AngleRow(joint, pair, signal(where, "angle", angle, ()))])

    def torsion_spring(
        self,
        a: RigidBody,
        b: RigidBody,
        *,
        axis: Any,
        stiffness: float,
        angle: float = 0.0,
        damping: float = 0.0,
        name: str | None = None,
    ) -> None:
        """A spring against the relative turn about ``axis``, with a damper beside it.

        ``axis`` (3,) in world axes as placed, fixed to b; ``stiffness`` [N m/rad]; rest ``angle`` [rad] from how the
        bodies were placed; ``damping`` [N m s/rad]. The angle is taken in (−π, π].
        """
        where = self._two_bodies("torsion spring", a, b, name)
        self._turning(where, a, b)
        self._draft.torsion.append(
            TorsionSpring(
                where,
                self._pair(where, a, b, axis),
                not_negative(where, "stiffness", stiffness, "N m/rad"),
                number(where, "angle", angle),
                not_negative(where, "damping", damping, "N m s/rad"),
            )
        )

    def _pair(self, where: str, a: RigidBody, b: RigidBody, axis: Any) -> BodyPair:
        direction = unit_vector(where, "axis", axis, 3)
        return BodyPair(a.number, b.number, self._draft.rotation(b.number).T @ direction)

    def _square(self, name: str, a: int, b: int, axis_a: np.ndarray, axis_b: np.ndarray) -> AxisRow:
        """Two world directions, as placed, that stay at right angles."""
        draft = self._draft
        return AxisRow(name, a, b, draft.rotation(a).T @ axis_a, draft.rotation(b).T @ axis_b)

    def _no_turn(self, joint: str, a: int, b: int) -> list[AxisRow]:
        axes = np.eye(3)
        return [self._square(f"{joint} turn {i + 1}", a, b, axes[i - 2], axes[i - 1]) for i in range(3)]

    def _on_line(self, joint: str, where: str, a: Point, b: Point, along: Any) -> list[Row]:
        back = self._draft.rotation(b.body).T
        across = _across(unit_vector(where, "along", along, 3))
        return [PointRow(f"{joint} across {i + 1}", a, b, back @ across[i], turns=True) for i in (0, 1)]

    def _if_turning(self, a: Point, b: Point, rows: list[AxisRow]) -> list[AxisRow]:
        """Nothing to hold if neither of the two can turn."""
        turning = any(point.body >= 0 and self._draft.bodies[point.body].rotates for point in (a, b))
        return rows if turning else []


def _together(joint: str, a: Point, b: Point) -> list[Row]:
    return [PointRow(f"{joint} {'xyz'[i]}", a, b, np.eye(3)[i], turns=False) for i in range(3)]


def _across(direction: np.ndarray) -> np.ndarray:
    """Two directions (2, 3) at right angles to a unit vector (3,) and to each other."""
    normal = direction[None, :]
    return tangents(normal, 3, smallest_axis(normal))[0]


def _quaternion(where: str, given: Any) -> np.ndarray:
    values = np.asarray(given, dtype=float)
    if values.shape != (4,) or not np.all(np.isfinite(values)) or not np.any(values):
        raise InvalidModel(
            f"{where}: orientation is {given!r}; expected a quaternion (w, i, j, k), not all zero."
        )
    return normalised(values)


def _principal_moments(where: str, given: Any) -> np.ndarray:
    if np.ndim(given) == 0:
        return np.full(3, positive(where, "inertia", given, "kg m²"))
    moments = vector(where, "inertia", given, 3)
    for moment in moments:
        positive(where, "inertia", moment, "kg m²")
    largest = int(np.argmax(moments))
    others = moments.sum() - moments[largest]
    if moments[largest] > others * (1.0 + 1e-9):
        raise InvalidModel(
            f"{where}: inertia is {tuple(float(m) for m in moments)}; no body has one "
            f"principal moment above the sum of the other two."
        )
    return moments
