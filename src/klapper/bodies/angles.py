"""The angle by which one body is turned relative to another, from how they were placed.

In the plane α = φ_a − φ_b, without limit. In space it is the turn about an axis that is fixed to b: with the relative
rotation as a quaternion (w, r) in b's axes and the axis e,

    α = 2 atan2(r · e, w) in (−π, π],   α̇ = n · (ω_a − ω_b),   n = (w² e + w r × e + (r · e) r) / (w² + (r · e)²)

which is the angle of a hinge if the bodies are hinged about e (then n = e), and is exact if they are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from klapper.bodies import rotations
from klapper.bodies.layout import Layout, Poses, Wrenches
from klapper.bodies.rotations import cross, dot, skew


class BodyPair(NamedTuple):
    """Numbers of two bodies and the axis (3,) of their relative turn in the axes of b, (0, 0, 1) in the plane."""

    a: int
    b: int
    axis: np.ndarray


class _Twist(NamedTuple):
    """Relative rotation (w (k,), r (k, 3)), s = r · e (k,), and n in b's axes (k, 3)."""

    w: np.ndarray
    r: np.ndarray
    s: np.ndarray
    direction: np.ndarray


class RelativeAngles:
    """Angles of k pairs of bodies, zero as placed in ``placed``."""

    def __init__(self, pairs: Sequence[BodyPair], layout: Layout, placed: Poses) -> None:
        self.layout = layout
        self.count = len(pairs)
        self.bodies = np.array([[pair.a, pair.b] for pair in pairs], dtype=int).reshape(-1, 2)
        self.axis = np.array([pair.axis for pair in pairs], dtype=float).reshape(-1, 3)
        a, b = placed.turn[self.bodies[:, 0]], placed.turn[self.bodies[:, 1]]
        self.reference = a - b if layout.dimension == 2 else rotations.product(rotations.conjugate(b), a)

    def values(self, poses: Poses) -> np.ndarray:
        """α (k,) [rad]."""
        if self.layout.dimension == 2:
            return poses.turn[self.bodies[:, 0]] - poses.turn[self.bodies[:, 1]] - self.reference
        twist = self._twist(poses)
        return 2.0 * np.arctan2(twist.s, twist.w)

    def directions(self, poses: Poses) -> Wrenches:
        """Generalised directions of α̇: a moment about n on a, its opposite on b."""
        moment = self.axis
        if self.layout.dimension == 3:
            moment = rotations.turn(poses.rotation[self.bodies[:, 1]], self._twist(poses).direction)
        return self.layout.join(poses, self.bodies, np.zeros_like(moment), moment, moment)

    def curvature(self, poses: Poses, v: np.ndarray) -> np.ndarray:
        """α̈ (k,) along the motion with v held: (ṅ + ω_b × n) · (ω_a − ω_b) in b's axes; zero in the plane."""
        if self.layout.dimension == 2:
            return np.zeros(self.count)
        twist, spin = self._twist(poses), self.layout.motions(poses, v)[1][self.bodies]
        rotation_b = poses.rotation[self.bodies[:, 1]]
        relative = rotations.turn_back(rotation_b, spin[:, 0] - spin[:, 1])
        own = rotations.turn_back(rotation_b, spin[:, 1])
        change = rotations.turn(self._change_of_direction(twist), relative) + cross(own, twist.direction)
        return dot(change, relative)

    def turning(self, poses: Poses) -> np.ndarray:
        """∂/∂q of those directions (k, 12, 12); zero in the plane."""
        matrix = np.zeros((self.count, 12, 12))
        if self.layout.dimension == 2:
            return matrix
        twist = self._twist(poses)
        change = self._change_of_direction(twist)
        rotation_b = poses.rotation[self.bodies[:, 1]]
        relative = rotation_b.transpose(0, 2, 1) @ poses.rotation[self.bodies[:, 0]]
        spin = np.concatenate((relative, np.broadcast_to(-np.eye(3), relative.shape)), axis=2)
        rows_a = relative.transpose(0, 2, 1) @ (change + skew(twist.direction)) @ spin
        rows_b = -change @ spin
        for rows, block in ((rows_a, slice(3, 6)), (rows_b, slice(9, 12))):
            matrix[:, block, 3:6], matrix[:, block, 9:12] = rows[:, :, :3], rows[:, :, 3:]
        return matrix

    def _twist(self, poses: Poses) -> _Twist:
        a, b = poses.turn[self.bodies[:, 0]], poses.turn[self.bodies[:, 1]]
        relative = rotations.product(rotations.conjugate(b), a)
        relative = rotations.product(relative, rotations.conjugate(self.reference))
        relative = np.where(relative[:, :1] < 0.0, -1.0, 1.0) * rotations.normalised(relative)
        w, r = relative[:, 0], relative[:, 1:]
        s = dot(r, self.axis)
        return _Twist(w, r, s, self._numerator(w, r, s) / self._denominator(w, s)[:, None])

    def _numerator(self, w: np.ndarray, r: np.ndarray, s: np.ndarray) -> np.ndarray:
        return (w * w)[:, None] * self.axis + w[:, None] * cross(r, self.axis) + s[:, None] * r

    @staticmethod
    def _denominator(w: np.ndarray, s: np.ndarray) -> np.ndarray:
        """w² + s²; it vanishes only for a half turn about an axis across e, where there is no angle."""
        return np.maximum(w * w + s * s, 1e-30)

    def _change_of_direction(self, twist: _Twist) -> np.ndarray:
        """∂n/∂(relative turn) (k, 3, 3) in b's axes."""
        w, r, s, direction = twist
        axis = self.axis
        by_r = 0.5 * (w[:, None, None] * np.eye(3) - skew(r))
        by_w = -0.5 * r
        by_s = np.einsum("ki,kij->kj", axis, by_r)
        numerator = axis[:, :, None] * (2.0 * w[:, None] * by_w)[:, None, :]
        numerator += cross(r, axis)[:, :, None] * by_w[:, None, :]
        numerator -= w[:, None, None] * (skew(axis) @ by_r)
        numerator += r[:, :, None] * by_s[:, None, :] + s[:, None, None] * by_r
        denominator = 2.0 * (s[:, None] * by_s + w[:, None] * by_w)
        numerator -= direction[:, :, None] * denominator[:, None, :]
        return numerator / self._denominator(w, s)[:, None, None]
