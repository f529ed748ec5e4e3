"""Springs and dampers between points, along the line that joins them.

    S = k (l − l₀) + d l̇,   l = |a − b|,   u = (a − b)/l,   force on a: −S u, on b: +S u
    V = ½ k (l − l₀)²,   damping power d l̇²

A spring of rest length zero pulls with k (a − b) also through zero length; otherwise the direction at zero length is
undefined, and the force is taken as zero there. The energy of a spring on a moved support depends on time, so that it
has no part in V: what it stores counts as work of the support.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.bodies.layout import Layout, Poses, Wrenches
from klapper.bodies.point_pairs import PointPairs
from klapper.bodies.rotations import dot, skew, turn_back
from klapper.bodies.shapes import Point


@dataclass(frozen=True, eq=False)
class Spring:
    """Stiffness [N/m], rest ``length`` [m] and ``damping`` [N s/m] between two points."""

    name: str
    a: Point
    b: Point
    stiffness: float
    length: float
    damping: float


class Springs:
    """All springs and dampers of a system."""

    def __init__(self, springs: Sequence[Spring], layout: Layout) -> None:
        self.layout = layout
        self.pairs = PointPairs([(spring.a, spring.b) for spring in springs])
        self.stiffness = np.array([spring.stiffness for spring in springs])
        self.length = np.array([spring.length for spring in springs])
        self.damping = np.array([spring.damping for spring in springs])

    @property
    def count(self) -> int:
        return self.pairs.count

    def force(self, t: float, poses: Poses, v: np.ndarray) -> np.ndarray:
        """Generalised force (nv,)."""
        wrenches, _, pull = self._state(t, poses)
        pull = pull + self.damping * self._lengthening(t, poses, wrenches, v)
        return self.layout.push(wrenches, -pull)

    def potential(self, poses: Poses) -> float:
        stretch = self._stretch(0.0, poses)
        return 0.5 * float(self.stiffness[self._resting] @ stretch[self._resting] ** 2)

    def powers(self, t: float, poses: Poses, v: np.ndarray) -> tuple[float, float]:
        """Power of moved supports and power that damping takes [W]."""
        wrenches, _, pull = self._state(t, poses)
        rate = self._lengthening(t, poses, wrenches, v)
        given = rate - self.layout.speeds(wrenches, v)
        total = pull + self.damping * rate
        moved = self.pairs.moved
        load = total @ given - pull[moved] @ rate[moved]
        return float(load), float(self.damping @ rate**2)

    def tangents(self, t: float, poses: Poses) -> tuple[Any, Any]:
        """G_q, the symmetric part of the derivative of the elastic forces, and G_v, both (nv, nv).

        With J the generalised direction of u and P the map from velocities to that of a relative to b,

            G_v = −d J Jᵀ,   G_q = −k J Jᵀ − k (l − l₀) ∂J/∂q,   ∂J/∂q = Pᵀ (I − u uᵀ) P / l + turning of the arms
        """
        wrenches, line, pull = self._state(t, poses)
        direction = wrenches.entries.reshape(-1, 12)
        outer = direction[:, :, None] * direction[:, None, :]
        stretch_over_length = self._stretch_over_length(t, poses)
        reach = self._reach(poses)
        across = np.einsum("kji,kjl->kil", reach, reach)
        reached = np.einsum("kji,kj->ki", reach, line)
        across -= reached[:, :, None] * reached[:, None, :]
        geometric = stretch_over_length[:, None, None] * across + pull[:, None, None] * self._arms(
            poses, line
        )
        elastic = -self.stiffness[:, None, None] * outer - geometric
        elastic = 0.5 * (elastic + elastic.transpose(0, 2, 1))
        by_position = self.layout.square(self.pairs.bodies, elastic) if np.any(self.stiffness) else None
        if not np.any(self.damping):
            return by_position, None
        return by_position, self.layout.square(self.pairs.bodies, -self.damping[:, None, None] * outer)

    @property
    def _resting(self) -> np.ndarray:
        return ~self.pairs.moved

    def _difference(self, t: float, poses: Poses) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """World points (k, 2, 3), a − b (k, 3) and its length (k,)."""
        world = self.pairs.points(t, poses)
        difference = world[:, 0] - world[:, 1]
        return world, difference, np.sqrt(dot(difference, difference))

    def _stretch(self, t: float, poses: Poses) -> np.ndarray:
        return self._difference(t, poses)[2] - self.length

    def _stretch_over_length(self, t: float, poses: Poses) -> np.ndarray:
        """k (l − l₀)/l (k,); k for a spring of rest length zero."""
        _, _, length = self._difference(t, poses)
        share = np.divide(self.length, length, out=np.zeros(self.count), where=length > 0.0)
        undefined = (length == 0.0) & (self.length > 0.0)
        return np.where(undefined, 0.0, self.stiffness * (1.0 - share))

    def _state(self, t: float, poses: Poses) -> tuple[Wrenches, np.ndarray, np.ndarray]:
        """Directions of u, u (k, 3), and the elastic pull k (l − l₀) (k,)."""
        world, difference, length = self._difference(t, poses)
        line = np.divide(
            difference, length[:, None], out=np.zeros_like(difference), where=length[:, None] > 0.0
        )
        wrenches = self.pairs.along(self.layout, poses, world, line, world[:, 1])
        return wrenches, line, self.stiffness * (length - self.length)

    def _lengthening(self, t: float, poses: Poses, wrenches: Wrenches, v: np.ndarray) -> np.ndarray:
        """l̇ (k,)."""
        line = wrenches.entries[:, 0, :3]
        return self.layout.speeds(wrenches, v) + dot(line, self.pairs.given_velocity(t))

    def _reach(self, poses: Poses) -> np.ndarray:
        """P (k, 3, 12)."""
        reach = np.zeros((self.count, 3, 12))
        for side, sign in ((0, 1.0), (1, -1.0)):
            rotation = poses.rotation[self.pairs.bodies[:, side]]
            reach[:, :, 6 * side : 6 * side + 3] = sign * np.eye(3)
            reach[:, :, 6 * side + 3 : 6 * side + 6] = -sign * rotation @ skew(self.pairs.places[:, side])
        return reach

    def _arms(self, poses: Poses, line: np.ndarray) -> np.ndarray:
        """The part (k, 12, 12) of ∂J/∂q from bodies that turn while u stays."""
        matrix = np.zeros((self.count, 12, 12))
        for side, sign in ((0, 1.0), (1, -1.0)):
            seen = turn_back(poses.rotation[self.pairs.bodies[:, side]], line)
            block = slice(6 * side + 3, 6 * side + 6)
            matrix[:, block, block] = sign * skew(self.pairs.places[:, side]) @ skew(seen)
        return matrix
