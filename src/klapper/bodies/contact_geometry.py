"""Gaps, normals and contact points of balls with half-spaces and of balls with balls.

    ball–plane   g = n · (c − p) − r − s(t)        contact points c − r n and its foot on the plane
    ball–ball    g = σ |c_A − c_B| − r_A − r_B     n = σ (c_A − c_B)/|…|, contact points c_A − r_A n and c_B + r_B n

c is a ball's centre, s the given displacement of a wall along its normal. σ = 1, but −1 if B is a ring or shell, which
counts as a ball of radius −R: g = R − r_A − |c_A − c_B|. The normal points from B to A. Where the centres coincide the
normal is undefined (in a ring the gap is positive there): the first axis stands for it.

Tangents: in the plane (n_y, −n_x); in space t₁ = e × n / |e × n| with e the axis of the smallest |n_i| + i/10 (the first of
equals), t₂ = n × t₁.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from klapper.bodies.layout import Layout, Poses, Wrenches
from klapper.bodies.rotations import cross, dot, turn
from klapper.bodies.shapes import Ball, Wall


class Pairs(NamedTuple):
    """Which things may touch: ``ball`` (k,), ``other`` (k,), and whether the other is a half-space ``with_plane``."""

    ball: np.ndarray
    other: np.ndarray
    with_plane: np.ndarray


class Touch(NamedTuple):
    """k pairs at one moment, in world axes.

    ``gap`` (k,), ``normal`` (k, 3), the ``bodies`` (k, 2), the contact points relative to their centres ``arms``
    (k, 2, 3), and what is given over time: ``opening`` (k,) = ∂g/∂t and the ``sliding`` (k, 3) of the other's surface.
    """

    gap: np.ndarray
    normal: np.ndarray
    bodies: np.ndarray
    arms: np.ndarray
    opening: np.ndarray
    sliding: np.ndarray


class Balls:
    """All balls of a system: ``body`` (ns,), ``place`` (ns, 3) in its axes, ``radius`` (ns,), negative if hollow."""

    def __init__(self, balls: Sequence[Ball]) -> None:
        self.labels = tuple(ball.label for ball in balls)
        self.body = np.array([ball.body for ball in balls], dtype=int)
        self.place = np.array([ball.place for ball in balls], dtype=float).reshape(-1, 3)
        self.radius = np.array([ball.radius for ball in balls], dtype=float)

    def centres(self, poses: Poses, which: np.ndarray) -> np.ndarray:
        """World positions (k, 3)."""
        return poses.place(self.body[which], self.place[which])


class Planes:
    """All half-spaces of a system: ``body`` (np,), ``point`` and ``normal`` (np, 3) in its axes."""

    def __init__(self, walls: Sequence[Wall]) -> None:
        self.labels = tuple(wall.label for wall in walls)
        self.body = np.array([wall.body for wall in walls], dtype=int)
        self.point = np.array([wall.point for wall in walls], dtype=float).reshape(-1, 3)
        self.normal = np.array([wall.normal for wall in walls], dtype=float).reshape(-1, 3)
        self.motions = [(i, wall.motion) for i, wall in enumerate(walls) if wall.motion is not None]
        self.slidings = [(i, wall.sliding) for i, wall in enumerate(walls) if wall.sliding is not None]

    @property
    def moves(self) -> np.ndarray:
        """Which half-spaces have a given motion (np,)."""
        moves = np.zeros(len(self.body), dtype=bool)
        moves[[i for i, _ in (*self.motions, *self.slidings)]] = True
        return moves

    def displacement(self, t: float) -> np.ndarray:
        """s (np,) [m]."""
        values = np.zeros(len(self.body))
        for i, motion in self.motions:
            values[i] = float(motion.value(t))
        return values

    def speed(self, t: float) -> np.ndarray:
        """ṡ (np,) [m/s]."""
        values = np.zeros(len(self.body))
        for i, motion in self.motions:
            values[i] = float(motion.rate(t))
        return values

    def sliding(self, t: float) -> np.ndarray:
        """Velocity (np, 3) [m/s] of the surfaces."""
        values = np.zeros((len(self.body), 3))
        for i, sliding in self.slidings:
            velocity = sliding.value(t)
            values[i, : velocity.size] = velocity
        return values


class ContactGeometry:
    """Gaps and directions of any pairs of balls and half-spaces."""

    def __init__(self, layout: Layout, balls: Balls, planes: Planes) -> None:
        self.layout, self.balls, self.planes = layout, balls, planes

    def touch(self, t: float, poses: Poses, pairs: Pairs) -> Touch:
        count = len(pairs.ball)
        touch = Touch(
            np.empty(count),
            np.empty((count, 3)),
            np.empty((count, 2), dtype=int),
            np.empty((count, 2, 3)),
            np.zeros(count),
            np.zeros((count, 3)),
        )
        centre = self.balls.centres(poses, pairs.ball)
        touch.bodies[:, 0] = self.balls.body[pairs.ball]
        plane = np.flatnonzero(pairs.with_plane)
        if len(plane):
            self._with_planes(t, poses, pairs, plane, centre[plane], touch)
        ball = np.flatnonzero(~pairs.with_plane)
        if len(ball):
            self._with_balls(poses, pairs, ball, centre[ball], touch)
        touch.arms[:] -= poses.centre[touch.bodies]
        return touch

    def _with_planes(
        self, t: float, poses: Poses, pairs: Pairs, rows: np.ndarray, centre: np.ndarray, touch: Touch
    ) -> None:
        plane, radius = pairs.other[rows], self.balls.radius[pairs.ball[rows]]
        body = self.planes.body[plane]
        normal = turn(poses.rotation[body], self.planes.normal[plane])
        height = dot(normal, centre - poses.place(body, self.planes.point[plane]))
        height -= self.planes.displacement(t)[plane]
        touch.gap[rows], touch.normal[rows], touch.bodies[rows, 1] = height - radius, normal, body
        touch.arms[rows, 0] = centre - radius[:, None] * normal
        touch.arms[rows, 1] = centre - height[:, None] * normal
        touch.opening[rows] = -self.planes.speed(t)[plane]
        touch.sliding[rows] = self.planes.sliding(t)[plane]

    def _with_balls(
        self, poses: Poses, pairs: Pairs, rows: np.ndarray, centre: np.ndarray, touch: Touch
    ) -> None:
        other, radius = pairs.other[rows], self.balls.radius[pairs.ball[rows]]
        other_centre, other_radius = self.balls.centres(poses, other), self.balls.radius[other]
        sign = np.where(other_radius < 0.0, -1.0, 1.0)
        difference = centre - other_centre
        distance = np.sqrt(dot(difference, difference))
        apart = distance > 0.0
        normal = np.divide(difference, distance[:, None], out=np.zeros_like(difference), where=apart[:, None])
        normal[~apart, 0] = 1.0
        normal *= sign[:, None]
        touch.gap[rows] = sign * distance - radius - other_radius
        touch.normal[rows], touch.bodies[rows, 1] = normal, self.balls.body[other]
        touch.arms[rows, 0] = centre - radius[:, None] * normal
        touch.arms[rows, 1] = other_centre + other_radius[:, None] * normal

    def along(self, poses: Poses, touch: Touch, contact: np.ndarray, direction: np.ndarray) -> Wrenches:
        """Generalised directions of unit vectors (m, 3) at the points of the contacts (m,)."""
        arms = touch.arms[contact]
        moment, other = cross(arms[:, 0], direction), cross(arms[:, 1], direction)
        return self.layout.join(poses, touch.bodies[contact], direction, moment, other)


_PREFERRED = 0.1 * np.arange(3)


def smallest_axis(normal: np.ndarray) -> np.ndarray:
    """The axis (k,) of the smallest |n_i| + i/10, i = 0, 1, 2.

    The share keeps round-off of a normal along an axis from turning its tangents by 90° during a motion.
    """
    return np.argmin(np.abs(normal) + _PREFERRED, axis=1)


def tangents(normal: np.ndarray, dimension: int, axis: np.ndarray) -> np.ndarray:
    """One or two tangential directions (k, d, 3); ``axis`` (k,) is e in space."""
    if dimension == 2:
        plane = np.zeros((len(normal), 1, 3))
        plane[:, 0, 0], plane[:, 0, 1] = normal[:, 1], -normal[:, 0]
        return plane
    first = cross(np.eye(3)[axis], normal)
    first /= np.sqrt(dot(first, first))[:, None]
    return np.stack((first, cross(normal, first)), axis=1)
