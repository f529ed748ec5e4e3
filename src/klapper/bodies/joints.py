"""Joints as rows of two-sided constraints Φ(t, q) = 0, each with its exact direction.

    point      e · (a − b)                  e fixed in the world or in b's axes: hinges, guides
    distance   |a − b| − L                  rods
    axis       e_a · e_b                    axes of two bodies that stay at right angles: hinges and welds in space
    angle      α − α(t)                     relative turn: welds, guides and motors

All directions are pairs of wrenches, so that Φ̇ = Jᵀ v + a_B holds exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from klapper.bodies.angles import BodyPair, RelativeAngles
from klapper.bodies.layout import Layout, Poses, Wrenches
from klapper.bodies.point_pairs import PointPairs
from klapper.bodies.rotations import cross, dot, turn
from klapper.bodies.shapes import Point
from klapper.mechanics.signals import Signal


@dataclass(frozen=True, eq=False)
class PointRow:
    """a and b do not move apart along ``direction`` (3,), fixed in the world or, if ``turns``, in b's axes."""

    name: str
    a: Point
    b: Point
    direction: np.ndarray
    turns: bool

    @property
    def bodies(self) -> tuple[int, int]:
        return self.a.body, self.b.body


@dataclass(frozen=True, eq=False)
class DistanceRow:
    """a and b keep the distance ``length`` [m]."""

    name: str
    a: Point
    b: Point
    length: float

    @property
    def bodies(self) -> tuple[int, int]:
        return self.a.body, self.b.body


@dataclass(frozen=True, eq=False)
class AxisRow:
    """``axis_a`` (3,) in the axes of body a stays at right angles to ``axis_b`` (3,) in those of b."""

    name: str
    a: int
    b: int
    axis_a: np.ndarray
    axis_b: np.ndarray

    @property
    def bodies(self) -> tuple[int, int]:
        return self.a, self.b


@dataclass(frozen=True, eq=False)
class AngleRow:
    """The relative turn from the placed position is ``motion`` [rad], or none."""

    name: str
    pair: BodyPair
    motion: Signal | None = None

    @property
    def bodies(self) -> tuple[int, int]:
        return self.pair.a, self.pair.b


Row = PointRow | DistanceRow | AxisRow | AngleRow


class _Rows(Protocol):
    def residuals(self, t: float, poses: Poses) -> np.ndarray: ...

    def directions(self, t: float, poses: Poses) -> tuple[Wrenches, np.ndarray]: ...

    def curvature(self, t: float, poses: Poses, v: np.ndarray) -> np.ndarray: ...


class Joints:
    """All rows of a system, in the order they were given."""

    def __init__(self, rows: Sequence[Row], layout: Layout, placed: Poses) -> None:
        self.layout, self.rows = layout, tuple(rows)
        self.names = tuple(row.name for row in rows)
        points = [row for row in rows if isinstance(row, PointRow)]
        distances = [row for row in rows if isinstance(row, DistanceRow)]
        axes = [row for row in rows if isinstance(row, AxisRow)]
        angles = [row for row in rows if isinstance(row, AngleRow)]
        self._tables: list[_Rows] = []
        self.references = np.zeros(0)  # angles or quaternions of the angle rows as placed
        self.pairs: list[PointPairs] = []  # places on bodies that are held together
        if points:
            self._tables.append(at_points := _PointRows(points, layout))
            self.pairs.append(at_points.pairs)
        if distances:
            self._tables.append(along_rods := _DistanceRows(distances, layout))
            self.pairs.append(along_rods.pairs)
        if axes:
            self._tables.append(_AxisRows(axes, layout))
        if angles:
            self._tables.append(relative := _AngleRows(angles, layout, placed))
            self.references = relative.angles.reference
        number = {id(row): i for i, row in enumerate((*points, *distances, *axes, *angles))}
        self._order = np.array([number[id(row)] for row in rows], dtype=int)

    @property
    def count(self) -> int:
        return len(self.names)

    def residuals(self, t: float, poses: Poses) -> np.ndarray:
        """Φ (p,) [m or 1 or rad]."""
        if not self.count:
            return np.zeros(0)
        return np.concatenate([table.residuals(t, poses) for table in self._tables])[self._order]

    def directions(self, t: float, poses: Poses) -> tuple[Any, np.ndarray]:
        """J_B (nv, p) and a_B (p,)."""
        if not self.count:
            return np.zeros((self.layout.velocity_count, 0)), np.zeros(0)
        parts = [table.directions(t, poses) for table in self._tables]
        bodies = np.concatenate([wrenches.bodies for wrenches, _ in parts])[self._order]
        entries = np.concatenate([wrenches.entries for wrenches, _ in parts])[self._order]
        rates = np.concatenate([rate for _, rate in parts])[self._order]
        return self.layout.columns(Wrenches(bodies, entries)), rates

    def curvature(self, t: float, poses: Poses, v: np.ndarray) -> np.ndarray:
        """b_B (p,): Φ̈ along the motion with v held."""
        if not self.count:
            return np.zeros(0)
        return np.concatenate([table.curvature(t, poses, v) for table in self._tables])[self._order]


class _PointRows:
    def __init__(self, rows: Sequence[PointRow], layout: Layout) -> None:
        self.layout = layout
        self.pairs = PointPairs([(row.a, row.b) for row in rows])
        self.turns = np.array([row.turns for row in rows])
        self.direction = np.array([row.direction for row in rows])

    def residuals(self, t: float, poses: Poses) -> np.ndarray:
        world = self.pairs.points(t, poses)
        return dot(self._world_direction(poses), world[:, 0] - world[:, 1])

    def directions(self, t: float, poses: Poses) -> tuple[Wrenches, np.ndarray]:
        """A direction that turns with b reacts where a is: (ω_b × e) · (a − b) = −e · (ω_b × (a − b))."""
        world = self.pairs.points(t, poses)
        direction = self._world_direction(poses)
        acts_at = np.where(self.turns[:, None], world[:, 0], world[:, 1])
        wrenches = self.pairs.along(self.layout, poses, world, direction, acts_at)
        return wrenches, dot(direction, self.pairs.given_velocity(t))

    def curvature(self, t: float, poses: Poses, v: np.ndarray) -> np.ndarray:
        """ë · D + 2 ė · Ḋ + e · D̈ with D = a − b, ė = ω_b × e if e turns with b."""
        apart, velocity, acceleration = self.pairs.apart(self.layout, t, poses, v)
        direction = self._world_direction(poses)
        spin = np.where(self.turns[:, None], self.layout.motions(poses, v)[1][self.pairs.bodies[:, 1]], 0.0)
        change = cross(spin, direction)
        return dot(cross(spin, change), apart) + 2.0 * dot(change, velocity) + dot(direction, acceleration)

    def _world_direction(self, poses: Poses) -> np.ndarray:
        body = np.where(self.turns, self.pairs.bodies[:, 1], -1)
        return turn(poses.rotation[body], self.direction)


class _DistanceRows:
    def __init__(self, rows: Sequence[DistanceRow], layout: Layout) -> None:
        self.layout = layout
        self.pairs = PointPairs([(row.a, row.b) for row in rows])
        self.length = np.array([row.length for row in rows])

    def residuals(self, t: float, poses: Poses) -> np.ndarray:
        world = self.pairs.points(t, poses)
        return np.linalg.norm(world[:, 0] - world[:, 1], axis=1) - self.length

    def directions(self, t: float, poses: Poses) -> tuple[Wrenches, np.ndarray]:
        world = self.pairs.points(t, poses)
        difference = world[:, 0] - world[:, 1]
        line = difference / np.linalg.norm(difference, axis=1)[:, None]
        wrenches = self.pairs.along(self.layout, poses, world, line, world[:, 1])
        return wrenches, dot(line, self.pairs.given_velocity(t))

    def curvature(self, t: float, poses: Poses, v: np.ndarray) -> np.ndarray:
        """(D · D̈ + |D × Ḋ|²/|D|²)/|D| with D = a − b."""
        apart, velocity, acceleration = self.pairs.apart(self.layout, t, poses, v)
        length, side = np.linalg.norm(apart, axis=1), cross(apart, velocity)
        return (dot(apart, acceleration) + dot(side, side) / length**2) / length


class _AxisRows:
    def __init__(self, rows: Sequence[AxisRow], layout: Layout) -> None:
        self.layout = layout
        self.bodies = np.array([[row.a, row.b] for row in rows])
        self.axis_a = np.array([row.axis_a for row in rows])
        self.axis_b = np.array([row.axis_b for row in rows])

    def residuals(self, t: float, poses: Poses) -> np.ndarray:
        return dot(*self._world(poses))

    def directions(self, t: float, poses: Poses) -> tuple[Wrenches, np.ndarray]:
        """d/dt (e_a · e_b) = (e_a × e_b) · (ω_a − ω_b)."""
        moment = cross(*self._world(poses))
        wrenches = self.layout.join(poses, self.bodies, np.zeros_like(moment), moment, moment)
        return wrenches, np.zeros(len(self.bodies))

    def curvature(self, t: float, poses: Poses, v: np.ndarray) -> np.ndarray:
        """ë_a · e_b + 2 ė_a · ė_b + e_a · ë_b, ė = ω × e."""
        axes, spin = self._world(poses), self.layout.motions(poses, v)[1][self.bodies]
        a, b = (cross(spin[:, i], axes[i]) for i in (0, 1))
        return dot(cross(spin[:, 0], a), axes[1]) + 2.0 * dot(a, b) + dot(axes[0], cross(spin[:, 1], b))

    def _world(self, poses: Poses) -> tuple[np.ndarray, np.ndarray]:
        rotation = poses.rotation[self.bodies]
        return turn(rotation[:, 0], self.axis_a), turn(rotation[:, 1], self.axis_b)


class _AngleRows:
    def __init__(self, rows: Sequence[AngleRow], layout: Layout, placed: Poses) -> None:
        self.layout = layout
        self.angles = RelativeAngles([row.pair for row in rows], layout, placed)
        self._motions = [(i, row.motion) for i, row in enumerate(rows) if row.motion is not None]

    def residuals(self, t: float, poses: Poses) -> np.ndarray:
        values = self.angles.values(poses)
        for row, motion in self._motions:
            values[row] -= float(motion.value(t))
        if self.layout.dimension == 3:
            return np.remainder(values + np.pi, 2.0 * np.pi) - np.pi
        return values

    def directions(self, t: float, poses: Poses) -> tuple[Wrenches, np.ndarray]:
        rates = np.zeros(self.angles.count)
        for row, motion in self._motions:
            rates[row] = -float(motion.rate(t))
        return self.angles.directions(poses), rates

    def curvature(self, t: float, poses: Poses, v: np.ndarray) -> np.ndarray:
        curvature = self.angles.curvature(poses, v)
        for row, motion in self._motions:
            curvature[row] -= float(motion.acceleration(t))
        return curvature
