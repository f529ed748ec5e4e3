"""Gaps, normals and contact points of balls with half-spaces and of balls with balls.

    ball–plane   g = n · (c − p) − r − s(t)        contact points c − r n and its foot on the plane
    ball–ball    g = σ |c_A − c_B| − r_A − r_B     n = σ (c_A − c_B)/|…|, contact points c_A − r_A n and c_B + r_B n

c is a ball's centre, s the given displacement of a wall along its normal. σ = 1, but −1 if B is a ring or shell, which
counts as a ball of radius −R: g = R − r_A − |c_A − c_B|. The normal points from B to A. Where the centres coincide the
normal is undefined (in a ring the gap is positive there): the first axis stands for it.

Tangents: in the plane (n_y, −n_x); in space t₁ = e × n / |e × n| with e the axis of the smallest |n_i| + i/10 (the
first of equals), t₂ = n × t₁.
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

    def acceleration(self, t: float) -> np.ndarray:
        """s̈ (np,) [m/s²]."""
        values = np.zeros(len(self.body))
        for i, motion in self.motions:
            values[i] = float(motion.acceleration(t))
        return values

    def sliding(self, t: float) -> np.ndarray:
        """Velocity (np, 3) [m/s] of the surfaces."""
        values = np.zeros((len(self.body), 3))
        for i, sliding in self.slidings:
            velocity = sliding.value(t)
            values[i, : velocity.size] = velocity
        return values

    def sliding_rate(self, t: float) -> np.ndarray:
        """Change (np, 3) [m/s²] of that velocity."""
        values = np.zeros((len(self.body), 3))
        for i, sliding in self.slidings:
            rate = sliding.rate(t)
            values[i, : rate.size] = rate
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

    def curvature(self, t: float, poses: Poses, v: np.ndarray, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
        """b_N (k,) and b_T (k d,), along the motion with v held and with the choice of tangents held.

        With w the relative velocity of the bodies at the contact points and u that of the other's surface,

            v_N = n · w − ṡ,   b_N = ṅ · w + n · ẇ − s̈        v_T = t · (w − u),   b_T = ṫ · (w − u) + t · (ẇ − u̇)

        where turns stay uniform, so that ẇ comes from the contact points' way along the bodies alone.
        """
        touch = self.touch(t, poses, pairs)
        speed, spin = (of_bodies[touch.bodies] for of_bodies in self.layout.motions(poses, v))
        there = speed + cross(spin, touch.arms)
        slip = there[:, 0] - there[:, 1]
        turning, arms = self._rates(pairs, touch, speed, spin, slip)
        swing = cross(spin, arms)
        pull = swing[:, 0] - swing[:, 1]
        given, given_rate = np.zeros(len(slip)), np.zeros_like(slip)
        plane = pairs.other[pairs.with_plane]
        given[pairs.with_plane] = self.planes.acceleration(t)[plane]
        given_rate[pairs.with_plane] = self.planes.sliding_rate(t)[plane]
        b_normal = dot(turning, slip) + dot(touch.normal, pull) - given
        axis = smallest_axis(touch.normal)
        sideways = tangents(touch.normal, self.layout.dimension, axis)
        changes = tangent_rates(touch.normal, turning, self.layout.dimension, axis)
        sliding, pulling = (slip - touch.sliding)[:, None, :], (pull - given_rate)[:, None, :]
        return b_normal, (dot(changes, sliding) + dot(sideways, pulling)).reshape(-1)

    def _rates(
        self, pairs: Pairs, touch: Touch, speed: np.ndarray, spin: np.ndarray, slip: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """ṅ (k, 3), and how the contact points move relative to the centres of their bodies (k, 2, 3)."""
        normal, radius = touch.normal, self.balls.radius[pairs.ball][:, None]
        swing = cross(spin[:, 0], touch.arms[:, 0] + radius * normal)  # of the ball's centre
        apart = speed[:, 0] + swing - speed[:, 1]
        turning, arms = np.empty_like(normal), np.empty_like(touch.arms)
        plane, ball = pairs.with_plane, ~pairs.with_plane
        turning[plane] = cross(spin[plane, 1], normal[plane])
        height = touch.gap[plane, None] + radius[plane]
        rising = dot(normal, slip)[plane, None] + touch.opening[plane, None]
        arms[plane, 1] = apart[plane] - rising * normal[plane] - height * turning[plane]
        outside = self.balls.radius[pairs.other[ball]][:, None]
        other_swing = cross(spin[ball, 1], touch.arms[ball, 1] - outside * normal[ball])
        apart = apart[ball] - other_swing
        across = apart - dot(normal[ball], apart)[:, None] * normal[ball]
        distance = touch.gap[ball, None] + radius[ball] + outside  # with the sign of the normal
        turning[ball] = np.divide(across, distance, out=np.zeros_like(across), where=distance != 0.0)
        arms[ball, 1] = other_swing + outside * turning[ball]
        arms[:, 0] = swing - radius * turning
        return turning, arms

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


def tangent_rates(normal: np.ndarray, change: np.ndarray, dimension: int, axis: np.ndarray) -> np.ndarray:
    """ṫ (k, d, 3) of these directions when the normal changes by ``change`` ṅ (k, 3) and the axis stays."""
    if dimension == 2:
        return tangents(change, dimension, axis)
    across, moving = cross(np.eye(3)[axis], normal), cross(np.eye(3)[axis], change)
    length = np.sqrt(dot(across, across))[:, None]
    first, moving = across / length, moving / length
    moving -= dot(first, moving)[:, None] * first
    return np.stack((moving, cross(change, first) + cross(normal, moving)), axis=1)
