"""A scene: what a model looks like while it moves, as plain data for the animation of a report page.

    time = frame_times(run)
    q = run.position_at(time)
    block = moved(rectangle(0.2, 0.1), q[:, 0], q[:, 1], q[:, 2])
    scene = Scene(time, [Shape("block", block), Shape("floor", [[[-1, 0], [2, 0]]], kind="line")])
    write_report(run, "run.html", scene=scene)

A shape is a set of points per frame and the polygons, lines or dots between them; a polygon may have a value that
colours it (a stress). With a place of ``rest`` x₀ the page draws x₀ + k (x − x₀), and the reader chooses the
exaggeration k: so beams are shown. Where nothing is handed over, :func:`bars` shows the coordinates themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from klapper.results import Run

FRAMES = 240
MOST_BARS = 40


@dataclass(frozen=True, eq=False)
class Shape:
    """Something that is seen in a scene, moving or standing.

    ``name``    of the shape in the legend
    ``points``  (f, n, 2) [m] places of n points in f frames; (1, n, 2) if it stands still
    ``kind``    what is drawn through them: "polygon" (closed and filled), "line" or "dots"
    ``cells``   (p, c) numbers of the points of p polygons or lines with up to c corners, −1 where one has fewer;
                None: one through all points in their order
    ``value``   (f, p) what colours the polygons in each frame, such as a stress; None: the colour of the shape
    ``rest``    (n, 2) [m] places at rest, from which displacements are exaggerated; None: it is never exaggerated
    ``faint``   whether it is scenery, such as a floor, rather than what moves

    A floor is a line that stands still:

    >>> from klapper.report import Shape
    >>> floor = Shape("floor", [[[-1.0, 0.0], [2.0, 0.0]]], kind="line", faint=True)
    >>> floor.points.shape
    (1, 2, 2)
    """

    name: str
    points: Any
    kind: Literal["polygon", "line", "dots"] = "polygon"
    cells: Any = None
    value: Any = None
    rest: Any = None
    faint: bool = False

    def __post_init__(self) -> None:
        points = np.asarray(self.points, dtype=float)
        if points.ndim != 3 or points.shape[2] != 2 or 0 in points.shape:
            raise ValueError(
                f"points of '{self.name}' have the shape {points.shape}: give (frames, points, 2), in m."
            )
        if not np.all(np.isfinite(points)):
            raise ValueError(f"points of '{self.name}' are not all finite: leave out what has no place.")
        if self.kind not in ("polygon", "line", "dots"):
            raise ValueError(
                f"'{self.name}' is of the kind '{self.kind}': allowed are 'polygon', 'line' and 'dots'."
            )
        count = points.shape[1]
        cells = np.arange(count)[None] if self.cells is None else np.asarray(self.cells, dtype=int)
        if cells.ndim != 2 or np.any(cells >= count) or np.any(cells < -1):
            raise ValueError(f"cells of '{self.name}' must be rows of point numbers from 0 to {count - 1}.")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "cells", cells)
        if self.rest is not None:
            object.__setattr__(self, "rest", self._shaped("rest", self.rest, (count, 2)))
        if self.value is not None:
            object.__setattr__(self, "value", self._shaped("value", self.value, (len(points), len(cells))))

    def _shaped(self, part: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
        array = np.asarray(given, dtype=float)
        if array.shape != shape:
            raise ValueError(f"{part} of '{self.name}' has the shape {array.shape}: give {shape}.")
        return array


@dataclass(frozen=True, eq=False)
class Scene:
    """Shapes over time, in a plane.

    ``time``          (f,) [s] of the frames, never falling
    ``shapes``        what is drawn, the first below the others
    ``caption``       one sentence that says what is seen
    ``quantity``      name and unit of the values that colour polygons, such as "von Mises stress / N/m²"
    ``exaggeration``  factor of displacements from rest, dimensionless, with which the page begins
    ``equal``         whether both directions have the same scale; no for slender structures
    ``labels``        texts at places (x, y) [m] of the picture

    A block that slides 1 m to the right in 2 s:

    >>> from klapper.report import Scene, Shape, moved, rectangle
    >>> block = Shape("block", moved(rectangle(0.2, 0.1), x=[0.0, 1.0], y=[0.0, 0.0]))
    >>> scene = Scene([0.0, 2.0], [block], caption="A block slides.")
    >>> scene.shapes[0].points.shape  # frames, points, directions
    (2, 4, 2)
    """

    time: Any
    shapes: Sequence[Shape]
    caption: str = ""
    quantity: str = ""
    exaggeration: float = 1.0
    equal: bool = True
    labels: Sequence[tuple[float, float, str]] = ()

    def __post_init__(self) -> None:
        time = np.asarray(self.time, dtype=float)
        if time.ndim != 1 or not len(time) or np.any(np.diff(time) < 0) or not np.all(np.isfinite(time)):
            raise ValueError(
                f"the times of a scene have the shape {time.shape}: give rising numbers (frames,), in s."
            )
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "shapes", tuple(self.shapes))
        object.__setattr__(self, "labels", tuple(self.labels))
        for shape in self.shapes:
            if len(shape.points) not in (1, len(time)):
                raise ValueError(
                    f"'{shape.name}' has {len(shape.points)} frames, but the scene has {len(time)}: give as many, or 1."
                )
        if not (np.isfinite(self.exaggeration) and self.exaggeration > 0):
            raise ValueError(f"the exaggeration is {self.exaggeration}; allowed are numbers above 0.")


def frame_times(run: Run, frames: int = FRAMES) -> np.ndarray:
    """Times (f,) [s] of ``frames`` at equal distances over the whole run; one frame if it has one sample.

    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.report import frame_times
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> frame_times(simulate(LinearSystem([1.0], velocity=[2.0]), 3.0, EventDriven()), frames=4)
    array([0., 1., 2., 3.])
    """
    if not len(run):
        return np.zeros(0)
    return np.linspace(run.time[0], run.time[-1], frames if run.time[-1] > run.time[0] else 1)


def moved(outline: Any, x: Any, y: Any, angle: Any = 0.0) -> np.ndarray:
    """An ``outline`` (n, 2) [m] in motion (f, n, 2): turned by ``angle`` (f,) [rad], moved to ``x``, ``y`` (f,) [m].

        p = (x, y) + R(angle) p₀

    The tip (1, 0) turned by a quarter and carried 2 m to the right:

    >>> import numpy as np
    >>> from klapper.report import moved
    >>> moved([[1.0, 0.0]], x=[2.0], y=[0.0], angle=[np.pi / 2.0]).round(9)
    array([[[2., 1.]]])
    """
    outline = np.asarray(outline, dtype=float)
    x, y, angle = np.broadcast_arrays(np.atleast_1d(x), np.atleast_1d(y), np.atleast_1d(angle))
    cosine, sine = np.cos(angle)[:, None], np.sin(angle)[:, None]
    across, up = outline[:, 0], outline[:, 1]
    return np.stack(
        [x[:, None] + cosine * across - sine * up, y[:, None] + sine * across + cosine * up], axis=-1
    )


def rectangle(width: float, height: float) -> np.ndarray:
    """Corners (4, 2) [m] of a rectangle of ``width`` and ``height`` [m] about the origin.

    >>> from klapper.report import rectangle
    >>> rectangle(0.2, 0.1).tolist()
    [[-0.1, -0.05], [0.1, -0.05], [0.1, 0.05], [-0.1, 0.05]]
    """
    return 0.5 * np.array([[-width, -height], [width, -height], [width, height], [-width, height]])


def disc(radius: float, corners: int = 40) -> np.ndarray:
    """A circle (n, 2) [m] about the origin, with its centre, so that it is seen to turn.

    ``radius``   [m]
    ``corners``  number of points besides the centre; the first and the last are the same

    >>> import numpy as np
    >>> from klapper.report import disc
    >>> np.linalg.norm(disc(0.5, corners=5), axis=1).round(9)
    array([0.5, 0.5, 0.5, 0.5, 0.5, 0. ])
    """
    angle = np.linspace(0.0, 2 * np.pi, corners)
    return np.vstack([radius * np.column_stack([np.cos(angle), np.sin(angle)]), [[0.0, 0.0]]])


def bars(run: Run, frames: int = FRAMES) -> Scene | None:
    """The coordinates as bars, each as a share of its largest magnitude; None where there is nothing to show."""
    time = frame_times(run, frames)
    position = run.position_at(time) if len(time) else np.zeros((0, 0))
    if not position.size or not np.all(np.isfinite(position)):
        return None
    largest = np.max(np.abs(run.position), axis=0)
    shown = np.sort(np.argsort(-largest, kind="stable")[:MOST_BARS])
    share = position[:, shown] / np.where(largest[shown] > 0, largest[shown], 1.0)
    count = len(shown)
    left, right = np.arange(count) - 0.35, np.arange(count) + 0.35
    points = np.zeros((len(time), count, 4, 2))
    points[..., 0] = np.stack([left, right, right, left], axis=-1)
    points[:, :, 2:, 1] = share[:, :, None]
    cells = np.arange(4 * count).reshape(count, 4)
    zero = [[[-0.6, 0.0], [count - 0.4, 0.0]]]
    frame = [[[-0.6, -1.0], [count - 0.4, -1.0], [count - 0.4, 1.0], [-0.6, 1.0]]]
    left_out = "" if count == len(largest) else f" the {count} largest of {len(largest)} coordinates,"
    return Scene(
        time,
        [
            Shape("range", frame, faint=True),
            Shape("coordinates", points.reshape(len(time), -1, 2), cells=cells),
            Shape("zero", zero, kind="line", faint=True),
        ],
        caption=f"This model hands over no picture of itself, so bars show{left_out or ' its coordinates,'} each as a "
        "share of its largest magnitude.",
        equal=False,
        labels=[(k, -1.12, run.layout.coordinates[i]) for k, i in enumerate(shown.tolist())],
    )
