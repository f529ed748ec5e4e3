"""Pairs of points on two bodies: what springs, dampers, rods and hinges hold on to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from klapper.bodies.layout import Layout, Poses, Wrenches
from klapper.bodies.rotations import cross
from klapper.bodies.shapes import Point


class PointPairs:
    """k pairs of points (a, b). Lengths in m, world axes."""

    def __init__(self, pairs: Sequence[tuple[Point, Point]]) -> None:
        self.count = len(pairs)
        self.bodies = np.array([[a.body, b.body] for a, b in pairs], dtype=int).reshape(-1, 2)
        self.places = np.array([[a.place, b.place] for a, b in pairs], dtype=float).reshape(-1, 2, 3)
        self.motions = [
            (row, side, point.motion)
            for row, pair in enumerate(pairs)
            for side, point in enumerate(pair)
            if point.motion is not None
        ]
        self.moved = np.zeros(self.count, dtype=bool)
        self.moved[[row for row, _, _ in self.motions]] = True

    def points(self, t: float, poses: Poses) -> np.ndarray:
        """World points (k, 2, 3)."""
        world = poses.place(self.bodies, self.places)
        for row, side, motion in self.motions:
            displacement = motion.value(t)
            world[row, side, : displacement.size] += displacement
        return world

    def given_velocity(self, t: float) -> np.ndarray:
        """The part (k, 3) [m/s] of the velocity of a relative to b that is given by moved supports."""
        velocity = np.zeros((self.count, 3))
        for row, side, motion in self.motions:
            rate = motion.rate(t)
            velocity[row, : rate.size] += rate if side == 0 else -rate
        return velocity

    def given_acceleration(self, t: float) -> np.ndarray:
        """The same part (k, 3) [m/s²] of the acceleration."""
        acceleration = np.zeros((self.count, 3))
        for row, side, motion in self.motions:
            change = motion.acceleration(t)
            acceleration[row, : change.size] += change if side == 0 else -change
        return acceleration

    def apart(
        self, layout: Layout, t: float, poses: Poses, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """a − b and its first two derivatives (k, 3) along the motion with v held, so that turns stay uniform."""
        world = self.points(t, poses)
        arms = poses.place(self.bodies, self.places) - poses.centre[self.bodies]
        speed, spin = layout.motions(poses, v)
        swing = cross(spin[self.bodies], arms)
        velocity, inward = speed[self.bodies] + swing, cross(spin[self.bodies], swing)
        return (
            world[:, 0] - world[:, 1],
            velocity[:, 0] - velocity[:, 1] + self.given_velocity(t),
            inward[:, 0] - inward[:, 1] + self.given_acceleration(t),
        )

    def along(
        self, layout: Layout, poses: Poses, world: np.ndarray, direction: np.ndarray, acts_at: np.ndarray
    ) -> Wrenches:
        """Directions of unit forces (k, 3) at the first points, with the reaction at the points ``acts_at`` (k, 3)."""
        first, second = self.bodies[:, 0], self.bodies[:, 1]
        moment = cross(world[:, 0] - poses.centre[first], direction)
        other = cross(acts_at - poses.centre[second], direction)
        return layout.join(poses, self.bodies, direction, moment, other)
