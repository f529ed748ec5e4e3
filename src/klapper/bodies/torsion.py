"""Springs and dampers against a relative turn of two bodies.

    M = k (α − α₀) + d α̇,   moment on a: −M n, on b: +M n,   V = ½ k (α − α₀)²,   damping power d α̇²

with the angle α and its direction n of :mod:`klapper.bodies.angles`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.bodies.angles import BodyPair, RelativeAngles
from klapper.bodies.layout import Layout, Poses


@dataclass(frozen=True, eq=False)
class TorsionSpring:
    """Stiffness [N m/rad], rest ``angle`` [rad] from the placed position, ``damping`` [N m s/rad]."""

    name: str
    pair: BodyPair
    stiffness: float
    angle: float
    damping: float


class TorsionSprings:
    """All torsion springs of a system."""

    def __init__(self, springs: Sequence[TorsionSpring], layout: Layout, placed: Poses) -> None:
        self.layout = layout
        self.angles = RelativeAngles([spring.pair for spring in springs], layout, placed)
        self.stiffness = np.array([spring.stiffness for spring in springs])
        self.rest = np.array([spring.angle for spring in springs])
        self.damping = np.array([spring.damping for spring in springs])

    @property
    def count(self) -> int:
        return self.angles.count

    def force(self, poses: Poses, v: np.ndarray) -> np.ndarray:
        """Generalised force (nv,)."""
        directions = self.angles.directions(poses)
        moment = self._elastic(poses) + self.damping * self.layout.speeds(directions, v)
        return self.layout.push(directions, -moment)

    def potential(self, poses: Poses) -> float:
        return 0.5 * float(self.stiffness @ (self.angles.values(poses) - self.rest) ** 2)

    def damping_power(self, poses: Poses, v: np.ndarray) -> float:
        return float(self.damping @ self.layout.speeds(self.angles.directions(poses), v) ** 2)

    def tangents(self, poses: Poses) -> tuple[Any, Any]:
        """G_q, the symmetric part of the derivative of the elastic moments, and G_v, both (nv, nv)."""
        direction = self.angles.directions(poses).entries.reshape(-1, 12)
        outer = direction[:, :, None] * direction[:, None, :]
        elastic = -self.stiffness[:, None, None] * outer
        elastic -= self._elastic(poses)[:, None, None] * self.angles.turning(poses)
        elastic = 0.5 * (elastic + elastic.transpose(0, 2, 1))
        by_position = self.layout.square(self.angles.bodies, elastic) if np.any(self.stiffness) else None
        if not np.any(self.damping):
            return by_position, None
        return by_position, self.layout.square(self.angles.bodies, -self.damping[:, None, None] * outer)

    def _elastic(self, poses: Poses) -> np.ndarray:
        return self.stiffness * (self.angles.values(poses) - self.rest)
