"""What planar and spatial models have in common: walls, contacts, springs, dampers, loads and rods.

A model is written down part by part, each checked when it is named, and then built into a system.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from klapper.bodies.assembly import assemble, consistent_velocity
from klapper.bodies.body import GROUND, RigidBody
from klapper.bodies.contact_table import Group, ListedContact
from klapper.bodies.draft import Draft, Placed
from klapper.bodies.joints import DistanceRow, Row
from klapper.bodies.loads import Load
from klapper.bodies.quantities import named, not_negative, number, positive, signal, unit_vector, vector
from klapper.bodies.rigid_system import RigidSystem
from klapper.bodies.shapes import Ball, Point, Wall
from klapper.bodies.springs import Spring
from klapper.bodies.touching_shapes import as_ball, from_outside, with_play
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.friction import Anisotropic, Friction, as_friction
from klapper.mechanics.system import State

Touching = Ball | Point | Sequence[Ball | Point]

_SHARE_OF_RADIUS = 0.2  # default margin of a search, as a share of the smallest radius


class Model:
    """Bodies, walls, contacts, joints, springs and loads, by name: the common part of ``Planar`` and ``Spatial``."""

    dimension: int
    _body_class: type[RigidBody]
    _coordinates: tuple[str, ...]
    _velocities: tuple[str, ...]

    def __init__(self, gravity: Any, name: str) -> None:
        self.name = name
        weight = np.zeros(3) if gravity is None else vector("model", "gravity", gravity, self.dimension)
        self._draft = Draft(weight)
        self._names = {"ground"}
        self._ground = self._body_class("ground", GROUND, False, self.dimension, self)

    def wall(
        self, name: str, *, point: Any = None, normal: Any, motion: Any = None, sliding: Any = None
    ) -> Wall:
        """A half-space on the ground through ``point`` [m], with its ``normal`` towards where bodies may be.

        ``motion``   displacement [m] along the normal: a :class:`~klapper.mechanics.Signal` or a function of time
        ``sliding``  velocity [m/s] of the surface along itself, e.g. of a belt: a vector, a signal or a function
        """
        where = f"wall '{name}'"
        self._take_name(where, name)
        direction = unit_vector(where, "normal", normal, self.dimension)
        at = np.zeros(3) if point is None else vector(where, "point", point, self.dimension)
        if motion is not None:
            motion = signal(where, "motion", motion, ())
        if sliding is not None:
            sliding = signal(where, "sliding", sliding, (self.dimension,))
            across = float(sliding.value(0.0) @ direction[: self.dimension])
            if abs(across) > 1e-9 * np.linalg.norm(sliding.value(0.0)):
                raise InvalidModel(
                    f"{where}: sliding has {across:.3g} m/s along the normal; allowed is motion along the surface. Use "
                    f"motion for a wall that moves along its normal."
                )
        return Wall(name, GROUND, at, direction, motion, sliding, self)

    def contact(
        self,
        a: Touching | Wall,
        b: Touching | Wall,
        *,
        friction: Any = 0.0,
        restitution: float = 0.0,
        name: str | None = None,
    ) -> tuple[str, ...]:
        """Say that two shapes may touch; several points (corners) give one contact each. Returns the contacts' names.

        ``friction``     coefficient, a law of :mod:`klapper.mechanics`, or a function μ(speed)
        ``restitution``  ε in [0, 1]
        ``name``         instead of "a – b"; several contacts are numbered
        """
        where = "contact" if name is None else f"contact '{name}'"
        firsts, seconds = _several(a), _several(b)
        count = len(firsts) * len(seconds)
        names = []
        for i, (first, second) in enumerate((x, y) for x in firsts for y in seconds):
            self._owned(where, first)
            self._owned(where, second)
            label = f"{_label(first)} – {_label(second)}"
            if name is not None:
                label = name if count == 1 else f"{name} {i + 1}"
            title = f"contact '{label}'"
            pair = from_outside(title, first, second, self.dimension)
            self._list(label, title, *pair, friction, restitution)
            names.append(label)
        return tuple(names)

    def clearance(
        self,
        inner: Ball,
        outer: Ball,
        *,
        friction: Any = 0.0,
        restitution: float = 0.0,
        name: str | None = None,
    ) -> str:
        """Say that a disc or sphere is held inside a ring or shell, with play. Returns the contact's name."""
        label = f"{_label(inner)} – {_label(outer)}" if name is None else name
        where = f"clearance '{label}'"
        self._owned(where, inner)
        self._owned(where, outer)
        self._list(label, where, *with_play(where, inner, outer, self.dimension), friction, restitution)
        return label

    def search(
        self,
        balls: Sequence[Ball],
        walls: Sequence[Wall] = (),
        *,
        friction: Any = 0.0,
        restitution: float = 0.0,
        wall_friction: Any = None,
        wall_restitution: float | None = None,
        margin: float | None = None,
    ) -> None:
        """Say that any two of the ``balls``, and any ball and wall, may touch: found by search, not pair by pair.

        ``friction``, ``restitution``            between balls, and with walls if theirs are not given
        ``wall_friction``, ``wall_restitution``  between balls and walls
        ``margin``                               gap [m] below which two are looked at; default a fifth of the
                                                 smallest radius
        """
        for ball in balls:
            self._owned("search", ball)
        group = [as_ball("search", ball, self.dimension) for ball in balls]
        if not group:
            raise InvalidModel("search: no balls were given; expected at least one disc or sphere.")
        for ball in group:
            if ball.radius <= 0.0:
                raise InvalidModel(
                    f"search: '{ball.label}' has radius {ball.radius:g} m; expected more than 0."
                )
        bodies = {ball.body for ball in group}
        for wall in walls:
            self._owned("search", wall)
            if not isinstance(wall, Wall):
                raise InvalidModel(f"search: '{_label(wall)}' is not a wall; give balls first, then walls.")
            if wall.body in bodies:
                raise InvalidModel(f"search: wall '{wall.label}' and one of the balls are on the same body.")
        numbers = [self._draft.ball_number(ball) for ball in group]
        if len(set(numbers)) < len(numbers):
            raise InvalidModel("search: a ball was given twice.")
        smallest = min(ball.radius for ball in group)
        self._draft.groups.append(
            Group(
                np.array(numbers, dtype=int),
                np.array([self._draft.wall_number(wall) for wall in walls], dtype=int),
                (
                    self._friction("search", friction),
                    self._friction("search", friction if wall_friction is None else wall_friction),
                ),
                (
                    _restitution("search", restitution),
                    _restitution("search", restitution if wall_restitution is None else wall_restitution),
                ),
                _SHARE_OF_RADIUS * smallest if margin is None else positive("search", "margin", margin, "m"),
            )
        )

    def spring(
        self,
        a: Point | RigidBody,
        b: Point | RigidBody,
        *,
        stiffness: float,
        length: float | None = None,
        damping: float = 0.0,
        name: str | None = None,
    ) -> None:
        """A spring along the line between two points, with a damper beside it.

        ``stiffness`` [N/m], rest ``length`` [m] (None: as placed), ``damping`` [N s/m]
        """
        where, first, second = self._two_points("spring", a, b, name)
        self._draft.springs.append(
            Spring(
                where,
                first,
                second,
                positive(where, "stiffness", stiffness, "N/m"),
                np.nan if length is None else not_negative(where, "length", length, "m"),
                not_negative(where, "damping", damping, "N s/m"),
            )
        )

    def damper(
        self, a: Point | RigidBody, b: Point | RigidBody, *, damping: float, name: str | None = None
    ) -> None:
        """A damper [N s/m] along the line between two points."""
        where, first, second = self._two_points("damper", a, b, name)
        resistance = positive(where, "damping", damping, "N s/m")
        self._draft.springs.append(Spring(where, first, second, 0.0, 0.0, resistance))

    def force(self, at: Point | RigidBody, value: Any, *, name: str | None = None) -> None:
        """A force [N] in world axes at a point of a body: a vector, a signal, or a function of time."""
        where = f"force '{name}'" if name is not None else f"force on '{_label(at)}'"
        point = self._point(where, at)
        if point.body == GROUND:
            raise InvalidModel(
                f"{where}: it acts on the ground, which does not move; give a point of a body."
            )
        self._draft.loads.append(Load(where, point, force=signal(where, "value", value, (self.dimension,))))

    def moment(self, body: RigidBody, value: Any, *, name: str | None = None) -> None:
        """A moment [N m] in world axes on a body: a number in the plane, a vector in space, a signal, or a function."""
        where = f"moment '{name}'" if name is not None else f"moment on '{_label(body)}'"
        self._turning(where, body)
        shape = () if self.dimension == 2 else (3,)
        self._draft.loads.append(Load(where, body.point(), moment=signal(where, "value", value, shape)))

    def rod(
        self,
        a: Point | RigidBody,
        b: Point | RigidBody,
        *,
        length: float | None = None,
        name: str | None = None,
    ) -> None:
        """Two points keep their distance ``length`` [m] (None: as placed)."""
        where, first, second = self._two_points("rod", a, b, name)
        rest = np.nan if length is None else positive(where, "length", length, "m")
        joint = joint_name("rod", a, b, name)
        self._add_joint(joint, [DistanceRow(joint, first, second, rest)])

    def build(
        self,
        *,
        time: float = 0.0,
        velocity: Literal["given", "consistent"] = "given",
        penetration: float = 1e-9,
    ) -> RigidSystem:
        """The system; a model that is badly posed is refused by the name of the part.

        ``time``         of the start [s]
        ``velocity``     "given": each body starts with its own; "consistent": with the nearest ones, in the metric of
                         kinetic energy, that the joints allow
        ``penetration``  largest overlap [m] and violation of joints that is accepted at the start
        """
        draft = self._draft
        if not draft.bodies:
            raise InvalidModel(f"'{self.name}' has no bodies; add one by body(…) or particle(…).")
        if velocity not in ("given", "consistent"):
            raise InvalidModel(f"velocity is {velocity!r}; allowed are 'given' and 'consistent'.")
        start = State(
            number("model", "time", time),
            np.concatenate([placed.position for placed in draft.placed]),
            np.concatenate([placed.velocity for placed in draft.placed]),
        )
        parts = assemble(draft, self.dimension, start)
        if velocity == "consistent":
            start = State(start.time, start.position, consistent_velocity(parts, start))
        return RigidSystem(
            parts,
            start,
            self._full_names(self._coordinates),
            self._full_names(self._velocities),
            name=self.name,
            penetration=penetration,
        )

    def _full_names(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Names of all coordinates; a particle has those of its place only."""
        return tuple(
            f"{body.name} {name}"
            for body in self._draft.bodies
            for name in (names if body.rotates else names[: self.dimension])
        )

    def _take_name(self, where: str, name: str) -> None:
        if not isinstance(name, str) or not name.strip():
            raise InvalidModel(f"{where}: the name is {name!r}; expected a text.")
        if name in self._names:
            raise InvalidModel(f"{where}: the name is already taken; names of bodies and walls must differ.")
        self._names.add(name)

    def _add_body(self, name: str, placed: Placed, *, rotates: bool) -> Any:
        self._take_name(f"body '{name}'", name)
        body = self._body_class(name, len(self._draft.bodies), rotates, self.dimension, self)
        self._draft.bodies.append(body)
        self._draft.placed.append(placed)
        return body

    def _add_joint(self, name: str, rows: list[Row]) -> None:
        if name in self._draft.joints:
            raise InvalidModel(
                f"joint '{name}': there is one of this name already; give this one another name=."
            )
        self._draft.joints[name] = rows

    def _owned(self, where: str, part: Any) -> None:
        """Refuse what is not a part of this model."""
        if not isinstance(part, RigidBody | Ball | Point | Wall):
            raise InvalidModel(
                f"{where}: {part!r} is neither a body nor a shape of one; give what body(…), particle(…) or wall(…) "
                f"returned, or a shape of it."
            )
        if part.model is not self:
            raise InvalidModel(f"{where}: '{_label(part)}' belongs to another model.")

    def _list(
        self, label: str, where: str, ball: Ball, other: Ball | Wall, friction: Any, restitution: float
    ) -> None:
        draft = self._draft
        if ball.body == other.body:
            owner = "the ground" if ball.body == GROUND else f"body '{draft.bodies[ball.body].name}'"
            raise InvalidModel(f"{where}: both shapes are fixed to {owner}; a body cannot touch itself.")
        if label in draft.contacts:
            raise InvalidModel(f"{where}: there is one of this name already; give this one another name=.")
        draft.contacts[label] = ListedContact(
            label,
            draft.ball_number(ball),
            draft.wall_number(other) if isinstance(other, Wall) else draft.ball_number(other),
            isinstance(other, Wall),
            self._friction(where, friction),
            _restitution(where, restitution),
        )

    def _friction(self, where: str, given: Any) -> Friction:
        law = named(where, as_friction, given)
        if self.dimension == 2 and isinstance(law, Anisotropic):
            raise InvalidModel(
                f"{where}: friction is anisotropic; a contact in the plane has one direction only."
            )
        return law

    def _point(self, where: str, given: Any) -> Point:
        self._owned(where, given)
        if isinstance(given, RigidBody):
            return given.point()
        if not isinstance(given, Point):
            raise InvalidModel(f"{where}: '{_label(given)}' is not a point; give point(…) of a body.")
        return given

    def _two_points(self, kind: str, a: Any, b: Any, name: str | None) -> tuple[str, Point, Point]:
        """Title of a part between two points, and the points, which must be on different bodies."""
        where = f"{kind} '{name}'" if name is not None else f"{kind} '{_label(a)} – {_label(b)}'"
        first, second = self._point(where, a), self._point(where, b)
        if first.body == second.body:
            owner = "the ground" if first.body == GROUND else f"body '{self._draft.bodies[first.body].name}'"
            raise InvalidModel(
                f"{where}: both points are fixed to {owner}; expected two bodies, or one and the ground."
            )
        return where, first, second

    def _two_bodies(self, kind: str, a: Any, b: Any, name: str | None) -> str:
        """Title of a part between two bodies, which must differ."""
        where = f"{kind} '{name}'" if name is not None else f"{kind} '{_label(a)} – {_label(b)}'"
        for part in (a, b):
            self._owned(where, part)
            if not isinstance(part, RigidBody):
                raise InvalidModel(f"{where}: '{_label(part)}' is a shape; give the body itself.")
        if a is b:
            raise InvalidModel(f"{where}: both are '{a.name}'; expected two bodies, or one and the ground.")
        return where

    def _turning(self, where: str, *bodies: Any) -> None:
        """Refuse bodies that do not turn, but the ground beside one that does."""
        for body in bodies:
            self._owned(where, body)
            if not isinstance(body, RigidBody):
                raise InvalidModel(f"{where}: '{_label(body)}' is a shape; give the body itself.")
            if not body.rotates and (body.number != GROUND or len(bodies) == 1):
                raise InvalidModel(f"{where}: '{body.name}' does not turn.")


def _several(given: Any) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, list | tuple) else (given,)


def _label(part: Any) -> str:
    return str(getattr(part, "label", getattr(part, "name", part)))


def joint_name(kind: str, a: Any, b: Any, name: str | None) -> str:
    return f"{kind} {_label(a)} – {_label(b)}" if name is None else name


def _restitution(where: str, given: Any) -> float:
    value = number(where, "restitution", given)
    if not 0.0 <= value <= 1.0:
        raise InvalidModel(f"{where}: restitution is {value:g}; allowed are numbers from 0 to 1.")
    return value
