"""What can touch, and where forces act: points, balls and half-spaces fixed to a body or to the ground.

A disc in the plane and a sphere in space are both a ball; a point is a ball of radius zero; a ring or shell that holds
a ball inside is a ball of negative radius. Places are in the axes of the body, (3,) with a third entry of zero in the
plane.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from klapper.mechanics.signals import Signal


@dataclass(frozen=True, eq=False)
class Point:
    """A place on a body; ``motion`` is the displacement [m] of a place on the ground that is moved."""

    label: str
    body: int
    place: np.ndarray
    motion: Signal | None = None
    model: Any = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Ball:
    """A disc or sphere, ``radius`` [m] ≥ 0; or the inside of a ring or shell, ``radius`` < 0."""

    label: str
    body: int
    place: np.ndarray
    radius: float
    model: Any = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Wall:
    """A half-space. ``normal`` (3,) has length one and points to where other bodies may be.

    ``motion``   displacement [m] of a wall on the ground along its normal
    ``sliding``  velocity [m/s] of its surface, e.g. of a belt
    """

    label: str
    body: int
    point: np.ndarray
    normal: np.ndarray
    motion: Signal | None = None
    sliding: Signal | None = None
    model: Any = field(default=None, repr=False)
