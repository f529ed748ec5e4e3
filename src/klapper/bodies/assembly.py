"""From the draft of a model to the system: coordinates are numbered, lists become arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from klapper.bodies.contact_geometry import Balls, ContactGeometry, Planes
from klapper.bodies.contact_table import RigidContacts
from klapper.bodies.draft import Draft
from klapper.bodies.joints import DistanceRow, Joints, Row
from klapper.bodies.layout import Layout, Poses
from klapper.bodies.loads import Loads
from klapper.bodies.point_pairs import PointPairs
from klapper.bodies.rigid_system import Parts
from klapper.bodies.shapes import Point
from klapper.bodies.springs import Spring, Springs
from klapper.bodies.torsion import TorsionSprings
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import State


def assemble(draft: Draft, dimension: int, start: State) -> Parts:
    """The parts of a system that starts at ``start``."""
    layout = Layout(dimension, np.array([body.rotates for body in draft.bodies], dtype=bool))
    placed = layout.poses(start.position)
    balls, planes = Balls(list(draft.balls.values())), Planes(list(draft.walls.values()))
    groups, begin = [], len(draft.contacts)
    for group in draft.groups:
        groups.append(replace(group, begin=begin))
        begin += group.size
    rows = [_row_as_placed(row, placed, start.time) for joint in draft.joints.values() for row in joint]
    springs = [_spring_as_placed(spring, placed, start.time) for spring in draft.springs]
    return Parts(
        layout=layout,
        mass=np.array([body.mass for body in draft.placed]),
        inertia=np.array([body.inertia for body in draft.placed]),
        gravity=draft.gravity,
        geometry=ContactGeometry(layout, balls, planes),
        contacts=RigidContacts(list(draft.contacts.values()), groups, balls, planes, dimension),
        joints=Joints(rows, layout, placed),
        springs=Springs(springs, layout),
        torsion=TorsionSprings(draft.torsion, layout, placed),
        loads=Loads(draft.loads, layout),
    )


def consistent_velocity(parts: Parts, start: State) -> np.ndarray:
    """The velocity (nv,) nearest to the given one, in the metric of kinetic energy, that all joints allow.

    v + M⁻¹ J_B Λ_B with J_Bᵀ v + a_B = 0; redundant joints are allowed.
    """
    direction, rate = parts.joints.directions(start.time, parts.layout.poses(start.position))
    direction = np.asarray(direction.todense()) if hasattr(direction, "todense") else direction
    response = direction / parts.mass_diagonal[:, None]
    wanted = -(direction.T @ start.velocity + rate)
    velocity = start.velocity + response @ np.linalg.lstsq(direction.T @ response, wanted, rcond=1e-12)[0]
    left = np.abs(direction.T @ velocity + rate)
    if np.any(left > 1e-8 * max(1.0, np.abs(wanted).max(initial=0.0))):
        worst = parts.joints.names[int(np.argmax(left))]
        raise InvalidModel(
            f"no velocity agrees with all joints: constraint '{worst}' is violated by {left.max():.3g} m/s. Remove one "
            f"of the joints that move against each other."
        )
    return velocity


def _spring_as_placed(spring: Spring, placed: Poses, time: float) -> Spring:
    if not np.isnan(spring.length):
        return spring
    return replace(spring, length=_distance(spring.a, spring.b, placed, time))


def _row_as_placed(row: Row, placed: Poses, time: float) -> Row:
    if not isinstance(row, DistanceRow):
        return row
    length = _distance(row.a, row.b, placed, time)
    if length == 0.0:
        raise InvalidModel(
            f"'{row.name}' joins two points that coincide, so that it has no direction; use a hinge."
        )
    return replace(row, length=length) if np.isnan(row.length) else row


def _distance(a: Point, b: Point, placed: Poses, time: float) -> float:
    world = PointPairs([(a, b)]).points(time, placed)[0]
    return float(np.linalg.norm(world[0] - world[1]))
