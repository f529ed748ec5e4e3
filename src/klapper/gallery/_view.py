"""Pictures of bodies in space: seen from far away, drawn as ordinary polygons and circles in plain axes.

A view from the direction d = (cos e cos a, cos e sin a, sin e) with azimuth a and elevation e maps a place x to

    right · x,  up · x,   depth = d · x  (larger is nearer),   right = (−sin a, cos a, 0),   up = d × right

Lengths across the view keep their scale: a sphere is a circle of its radius.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLOOR, GRID, TEXT = "#F3F3F3", "#D5D5D5", "#444444"
LIGHT = np.array([-0.35, -0.55, 0.76])  # from where light comes


@dataclass(frozen=True)
class View:
    """A direction of view by ``azimuth`` and ``elevation`` in degrees, the azimuth counted from the x axis."""

    azimuth: float = -62.0
    elevation: float = 24.0

    @cached_property
    def directions(self) -> np.ndarray:
        """right, up and towards the viewer (3, 3), as rows."""
        a, e = np.radians([self.azimuth, self.elevation])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        towards = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        return np.array([right, np.cross(towards, right), towards])

    def flat(self, places: Any) -> np.ndarray:
        """Where places (…, 3) are in the picture (…, 2)."""
        return np.asarray(places) @ self.directions[:2].T

    def depth(self, places: Any) -> np.ndarray:
        """How near to the viewer places (…, 3) are (…,) [m]."""
        return np.asarray(places) @ self.directions[2]

    def floor(self, axes: "Axes", low: Any, high: Any) -> None:
        """The floor z = 0 between the corners ``low`` and ``high`` (2,) [m] with a grid and its coordinates."""
        (left, front), (right, back) = low, high
        outline = self.flat([(left, front, 0), (right, front, 0), (right, back, 0), (left, back, 0)])
        axes.fill(*outline.T, facecolor=FLOOR, edgecolor=GRID, linewidth=0.8, zorder=0)
        gap = 0.03 * (right - left + back - front)
        for x in _ticks(left, right, 6):
            axes.plot(*self.flat([(x, front, 0), (x, back, 0)]).T, color=GRID, linewidth=0.7, zorder=0.1)
            self._text(axes, (x, front - gap, 0.0), f"{x:g}")
        for y in _ticks(front, back, 3):
            axes.plot(*self.flat([(left, y, 0), (right, y, 0)]).T, color=GRID, linewidth=0.7, zorder=0.1)
            self._text(axes, (right + gap, y, 0.0), f"{y:g}")
        self._text(axes, (0.5 * (left + right), front - 3.1 * gap, 0.0), "x / m", size=11)
        self._text(axes, (right + 3.1 * gap, 0.5 * (front + back), 0.0), "y / m", size=11)

    def _text(self, axes: "Axes", place: Any, text: str, size: float = 9) -> None:
        x, y = self.flat(place)
        axes.text(x, y, text, color=TEXT, fontsize=size, ha="center", va="center", zorder=0.2)


def shade(colour: Any, normal: np.ndarray) -> tuple[float, float, float]:
    """The colour (3,) of a face with the outward ``normal`` (3,), brighter towards the light."""
    bright = 0.5 + 0.5 * float(normal @ LIGHT / np.linalg.norm(LIGHT))
    red, green, blue = np.clip(np.asarray(colour[:3]) * (0.62 + 0.45 * bright), 0.0, 1.0)
    return float(red), float(green), float(blue)


def _ticks(low: float, high: float, count: int) -> list[float]:
    from matplotlib.ticker import MaxNLocator

    ticks = MaxNLocator(count, steps=[1, 2, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in ticks if low <= tick <= high]
