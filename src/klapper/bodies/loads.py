"""Applied forces at points of bodies and moments on bodies, given over time in world axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from klapper.bodies.layout import Layout, Poses, Wrenches
from klapper.bodies.rotations import cross
from klapper.bodies.shapes import Point
from klapper.mechanics.signals import Signal


@dataclass(frozen=True, eq=False)
class Load:
    """A ``force`` [N] at a point and a ``moment`` [N m] on its body; a moment in the plane is one number."""

    name: str
    point: Point
    force: Signal | None = None
    moment: Signal | None = None


class Loads:
    """All applied forces and moments of a system."""

    def __init__(self, loads: Sequence[Load], layout: Layout) -> None:
        self.layout = layout
        self.loads = tuple(loads)
        self._bodies = np.array([[load.point.body, -1] for load in loads], dtype=int).reshape(-1, 2)
        self._places = np.array([load.point.place for load in loads], dtype=float).reshape(-1, 3)

    @property
    def count(self) -> int:
        return len(self.loads)

    def force(self, t: float, poses: Poses) -> np.ndarray:
        """Generalised force (nv,)."""
        return self.layout.push(self._wrenches(t, poses), np.ones(self.count))

    def _wrenches(self, t: float, poses: Poses) -> Wrenches:
        force, moment = np.zeros((self.count, 3)), np.zeros((self.count, 3))
        for row, load in enumerate(self.loads):
            if load.force is not None:
                force[row, : self.layout.dimension] = load.force.value(t)
            if load.moment is not None:
                first = 2 if self.layout.dimension == 2 else 0
                moment[row, first:] = load.moment.value(t)
        body = self._bodies[:, 0]
        arm = poses.place(body, self._places) - poses.centre[body]
        return self.layout.join(poses, self._bodies, force, moment + cross(arm, force), np.zeros_like(moment))
