"""Bodies as a user holds them in hand: names to which points, discs, spheres and walls are fixed.

The ground is a body that does not move; a particle is one that moves but does not turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from klapper.bodies.quantities import not_negative, positive, signal, unit_vector, vector
from klapper.bodies.shapes import Ball, Point, Wall
from klapper.mechanics.errors import InvalidModel

GROUND = -1


@dataclass(frozen=True, eq=False)
class RigidBody:
    """A body of a model: where shapes are fixed to. Places are (2,) or (3,) [m] in the body's axes, from its centre of
    mass; for the ground, in the world.
    """

    name: str
    number: int
    rotates: bool
    dimension: int
    model: Any = field(default=None, repr=False)

    def point(self, *place: Any, motion: Any = None) -> Point:
        """The point at ``place``, e.g. ``point()``, ``point(0.1, 0.0)`` or ``point((0.1, 0.0))``.

        ``motion``, on the ground only: the displacement [m] of a support that is moved, a
        :class:`~klapper.mechanics.Signal` or a function of time with values (2,) or (3,).
        """
        where = f"point on '{self.name}'"
        given = place[0] if len(place) == 1 else place
        at = self._place(where, given if len(place) else None)
        if motion is not None:
            if self.number != GROUND:
                raise InvalidModel(f"{where}: motion is given; only points on the ground can be moved.")
            motion = signal(where, "motion", motion, (self.dimension,))
        return Point(self.name, self.number, at, motion, self.model)

    def wall(self, point: Any, normal: Any, *, name: str | None = None) -> Wall:
        """A half-space fixed to the body, with its ``normal`` towards where others may be."""
        label = f"{self.name} wall" if name is None else name
        if self.number == GROUND:
            raise InvalidModel(
                f"wall '{label}': walls on the ground are made by model.wall(name, point, normal)."
            )
        at = self._place(f"wall '{label}'", point)
        return Wall(label, self.number, at, self._direction(f"wall '{label}'", normal), model=self.model)

    def _place(self, where: str, given: Any) -> np.ndarray:
        return np.zeros(3) if given is None else vector(where, "place", given, self.dimension)

    def _direction(self, where: str, given: Any) -> np.ndarray:
        return unit_vector(where, "normal", given, self.dimension)

    def _ball(self, kind: str, radius: Any, at: Any, name: str | None) -> Ball:
        label = self.name if name is None else name
        size = not_negative(f"{kind} on '{self.name}'", "radius", radius, "m")
        return Ball(label, self.number, self._place(f"{kind} on '{self.name}'", at), size, self.model)

    def _hollow(self, kind: str, radius: Any, at: Any, name: str | None) -> Ball:
        label = self.name if name is None else name
        size = positive(f"{kind} on '{self.name}'", "radius", radius, "m")
        return Ball(label, self.number, self._place(f"{kind} on '{self.name}'", at), -size, self.model)

    def _corners(self, sizes: dict[str, Any], at: Any, signs: Any) -> tuple[Ball, ...]:
        where = f"corners of '{self.name}'"
        half = np.zeros(3)
        half[: len(sizes)] = [0.5 * positive(where, name, size, "m") for name, size in sizes.items()]
        centre = self._place(where, at)
        return tuple(
            Ball(f"{self.name} corner {i}", self.number, centre + half * np.resize(sign, 3), 0.0, self.model)
            for i, sign in enumerate(signs, start=1)
        )


class PlanarBody(RigidBody):
    """A body in the plane."""

    def disc(self, radius: float, at: Any = None, *, name: str | None = None) -> Ball:
        """A disc of ``radius`` [m] around the place ``at`` (2,)."""
        return self._ball("disc", radius, at, name)

    def ring(self, radius: float, at: Any = None, *, name: str | None = None) -> Ball:
        """The inside of a circle of ``radius`` [m], for :meth:`Planar.clearance`."""
        return self._hollow("ring", radius, at, name)

    def corners(self, width: float, height: float, *, at: Any = None) -> tuple[Ball, ...]:
        """The corners of a rectangle [m] around the place ``at``, counter-clockwise from the lower left."""
        signs = [(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)]
        return self._corners({"width": width, "height": height}, at, signs)


class SpatialBody(RigidBody):
    """A body in space."""

    def sphere(self, radius: float, at: Any = None, *, name: str | None = None) -> Ball:
        """A sphere of ``radius`` [m] around the place ``at`` (3,)."""
        return self._ball("sphere", radius, at, name)

    def shell(self, radius: float, at: Any = None, *, name: str | None = None) -> Ball:
        """The inside of a sphere of ``radius`` [m], for :meth:`Spatial.clearance`."""
        return self._hollow("shell", radius, at, name)

    def corners(self, length: float, width: float, height: float, *, at: Any = None) -> tuple[Ball, ...]:
        """The eight corners of a box [m] along the body's axes around the place ``at``; corner 1 is the lowest in every
        axis, the third axis changes first."""
        sizes = {"length": length, "width": width, "height": height}
        return self._corners(sizes, at, product((-1.0, 1.0), repeat=3))
