"""Pictures of rigid bodies: their discs and spheres, hulls of their corners, springs, joints and walls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.bodies.hull import hull_faces
from klapper.mechanics.picture import Kind, Part, Picture

if TYPE_CHECKING:
    from klapper.bodies.footed_system import FootedSystem
    from klapper.bodies.rigid_system import RigidSystem

_INSTANTS = 400  # of given motions
_CAPTION = "Bodies with the corners, discs and spheres that may touch, their springs and walls, as the model has them."


def rigid_picture(system: RigidSystem, until: float) -> Picture:
    """Bodies of ``system`` with all that may touch; given motions up to the time ``until`` [s]."""
    parts, layout = system.parts, system.parts.layout
    count = len(parts.mass)
    time = np.linspace(system.start.time, until, _INSTANTS)
    place, turn = _coordinates(layout, count)
    held = _attachments(parts, count)
    shapes = [*_walls(parts.geometry.planes, time)]
    for body in range(count):
        name = _name(system.coordinates[place[body, 0]])
        shapes += _shapes_of(body, name, parts.geometry.balls, held[body], layout.dimension)
    shapes += _balls(-1, parts.geometry.balls)
    shapes += _springs(parts, time)
    return Picture(layout.dimension, shapes, place, turn, time, caption=_CAPTION)


def footed_picture(system: FootedSystem) -> Picture:
    """A block on two feet, or its halves, on the floor."""
    form, count = system.form, len(system.form.mass)
    place, turn = 3 * np.arange(count)[:, None] + [0, 1], 3 * np.arange(count) + 2
    (x, y) = abs(form.foot[0])
    corners = np.array([[-x, -y], [x, -y], [x, y], [-x, y]])
    floor = Part("floor", "wall", (0.0, 0.0), body=-1, normal=(0.0, 1.0))
    names = ("block",) if count == 1 else ("left half", "right half")
    blocks = [Part(name, "polygon", corners, body=i) for i, name in enumerate(names)]
    return Picture(2, [floor, *blocks], place, turn, caption="The block on its feet and the floor.")


def _coordinates(layout: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of coordinates of the centres (nb, 3) and turns (nb, 4), found by asking the layout."""
    numbers = np.arange(1.0, layout.position_count + 1.0)
    place = np.rint(layout.centres(numbers)[:count]).astype(int) - 1
    turn = np.full((count, 4), -1)
    size = 1 if layout.dimension == 2 else 4
    for body in layout.turning:
        turn[body, :size] = place[body, layout.dimension - 1] + 1 + np.arange(size)
    return place, turn


def _name(coordinate: str) -> str:
    return coordinate.rpartition(" ")[0] or coordinate


def _attachments(parts: Any, count: int) -> list[np.ndarray]:
    """Places (k, 3) [m] on each body where springs and joints hold."""
    held: list[set[tuple[float, ...]]] = [set() for _ in range(count)]
    for table in (parts.springs.pairs, *parts.joints.pairs):
        for body, at in zip(table.bodies.ravel(), table.places.reshape(-1, 3), strict=True):
            if body >= 0:
                held[body].add(tuple(at.tolist()))
    return [np.array(sorted(each), dtype=float).reshape(-1, 3) for each in held]


def _shapes_of(body: int, name: str, balls: Any, held: np.ndarray, dimension: int) -> list[Part]:
    """The hull of its corners, its balls, and lines from its centre to where it is held."""
    corners = balls.place[(balls.body == body) & (balls.radius == 0.0)]
    shapes = []
    faces = hull_faces(corners, dimension)
    if faces is not None:
        points, cells = faces
        shapes.append(Part(name, "polygon", points, cells, body))
    elif len(corners) > 1:
        shapes.append(Part(name, "line", corners, body=body))
    elif len(corners) == 1 and np.any(corners):
        held = np.concatenate([held, corners])
    round_ = _balls(body, balls)
    arms = held[np.any(held != 0.0, axis=1)]
    if len(arms) and faces is None:
        star = np.concatenate([np.zeros((1, 3)), arms])
        cells = np.column_stack([np.zeros(len(arms), int), 1 + np.arange(len(arms))])
        shapes.append(Part(f"{name} axis", "line", star, cells, body))
    if not shapes and not round_:
        shapes.append(Part(name, "dots", (0.0, 0.0), body=body))
    return shapes + round_


def _balls(body: int, balls: Any) -> list[Part]:
    chosen = np.flatnonzero((balls.body == body) & (balls.radius != 0.0))
    found = [Part(balls.labels[i], "ball", balls.place[i], body=body, radius=balls.radius[i]) for i in chosen]
    if body < 0:
        fixed = np.flatnonzero((balls.body < 0) & (balls.radius == 0.0))
        found += [Part(balls.labels[i], "dots", balls.place[i], body=-1) for i in fixed]
    return found


def _walls(planes: Any, time: np.ndarray) -> list[Part]:
    shift = np.array([planes.displacement(t) for t in time]) if np.any(planes.moves) else None
    found = []
    for i, label in enumerate(planes.labels):
        moved = () if shift is None or not np.any(shift[:, i]) else shift[:, i, None] * planes.normal[i]
        found.append(
            Part(label, "wall", planes.point[i], body=planes.body[i], normal=planes.normal[i], shift=moved)
        )
    return found


def _springs(parts: Any, time: np.ndarray) -> list[Part]:
    pairs = parts.springs.pairs
    motions: dict[int, tuple[int, np.ndarray]] = {}
    for row, side, motion in pairs.motions:
        given = np.array([motion.value(t) for t in time], dtype=float).reshape(len(time), -1)
        motions[row] = (side, np.column_stack([given, np.zeros((len(time), 3 - given.shape[1]))]))
    found = []
    for i in range(pairs.count):
        side, shift = motions.get(i, (-1, ()))
        kind: Kind = "spring" if parts.springs.stiffness[i] > 0.0 else "line"
        name = f"{'spring' if kind == 'spring' else 'damper'} {i + 1}"
        found.append(Part(name, kind, pairs.places[i], body=pairs.bodies[i], shift=shift, shifted=side))
    return found
