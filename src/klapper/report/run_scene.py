"""The animation of a run from the picture that it carries; bars of the coordinates where it has none.

Models in space are seen from above and aside, by parallel lines: x to the right and towards the reader, z upwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from klapper.report.scene import FRAMES, Scene, Shape, bars, disc, frame_times
from klapper.results import ResultsError
from klapper.view.moving import Moving, Part, moving
from klapper.view.surfaces import circle, mesh_faces, wall_corners, zigzag

if TYPE_CHECKING:
    from klapper.results import Run

Kind = Literal["polygon", "line", "dots"]
MOST_PLACES = 400_000  # points times frames
_FEWEST_FRAMES = 40
_MANY_BALLS = 60
_SLENDER = 0.15  # height over length below which both directions get their own scale
_AZIMUTH, _ELEVATION = np.deg2rad([-60.0, 22.0])
QUANTITY = "von Mises stress / N/m²"


def scene_of(run: Run, *, outlines: Mapping[str, Any] | None = None, caption: str = "") -> Scene | None:
    """What the run looks like while it goes on; None where there is nothing to show.

    ``outlines``  outlines (n, 2) [m] of bodies in their own axes, by the name of the body, instead of the hull of the
                  corners that may touch
    ``caption``   instead of the sentence of the picture

    A mass that moves steadily with 2 m/s is 6 m further at the end, here the mean place of its corners:

    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.report import scene_of
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> mass = LinearSystem([1.0], velocity=[2.0], coordinates=["x"])
    >>> shape = scene_of(simulate(mass, 3.0, EventDriven())).shapes[0]
    >>> shape.name, (shape.points[-1] - shape.points[0]).mean(axis=0).round(6)
    ('x', array([6., 0.]))
    """
    if run.about.get("picture") is None:
        return bars(run)
    if not len(run) or not np.all(np.isfinite(run.position)):
        return None
    shown = moving(run)
    if outlines:
        shown = _outlined(shown, outlines)
    stage = _Stage(shown)
    scene = stage.scene()
    return replace(scene, caption=caption or scene.caption)


def _outlined(shown: Moving, outlines: Mapping[str, Any]) -> Moving:
    """With other shapes of some bodies."""
    parts = list(shown.picture.parts)
    for name, outline in outlines.items():
        if name not in shown.bodies:
            raise ResultsError(f"there is no body '{name}' to be outlined.")
        parts = [p for p in parts if p.name != name or p.kind not in ("line", "polygon", "dots")]
        parts.append(Part(name, "polygon", outline, body=shown.bodies.index(name)))
    return Moving(shown.run, replace(shown.picture, parts=parts))


class _Stage:
    """The shapes of a moving picture, seen in a plane."""

    def __init__(self, shown: Moving) -> None:
        self.shown, self.flat = shown, shown.picture.dimension == 2
        parts = shown.picture.parts
        self.balls = sum(part.kind == "ball" for part in parts)
        self.corners = 40 if self.balls <= _MANY_BALLS else 12
        points = sum(self._count(part) for part in parts)
        frames = int(np.clip(MOST_PLACES // max(points, 1), _FEWEST_FRAMES, FRAMES))
        self.time = frame_times(shown.run, frames)
        self.places = {id(p): shown.places(p, self.time) for p in parts}
        solid = [self.places[id(p)].reshape(-1, 3) for p in parts if p.kind != "wall"]
        seen = np.concatenate(solid) if solid else np.zeros((1, 3))
        thick = max((abs(part.radius) for part in parts), default=0.0)
        self.low, self.high = seen.min(axis=0) - thick, seen.max(axis=0) + thick
        self.middle = 0.5 * (self.low + self.high)
        self.size = float((self.high - self.low).max()) or 1.0

    def scene(self) -> Scene:
        picture = self.shown.picture
        shapes = [shape for part in picture.parts for shape in self._shapes(part)]
        loose = [shape for shape in shapes if shape.rest is not None]
        exaggeration, equal = self._exaggeration(loose)
        return Scene(
            self.time,
            shapes,
            caption=picture.caption,
            quantity=QUANTITY if any(shape.value is not None for shape in shapes) else "",
            exaggeration=exaggeration,
            equal=equal,
        )

    def _count(self, part: Part) -> int:
        return self.corners + 1 if part.kind == "ball" else 16 if part.kind == "spring" else len(part.points)

    def _shapes(self, part: Part) -> list[Shape]:
        places = self.places[id(part)]
        if part.kind == "wall":
            return [self._wall(part, places)]
        if part.kind == "ball":
            return self._ball(part, places)
        if part.kind == "spring":
            return [Shape(part.name, self._seen(zigzag(places)), "line", faint=True)]
        rest = self._seen(self.shown.rest(part)) if part.linear and not self.shown.picture.scaled else None
        if part.kind == "mesh":
            return [self._mesh(part, places)]
        cells = self._by_depth(places, part.cells) if part.kind == "polygon" else part.cells
        faint = part.kind == "line" and bool(len(part.body)) and bool(np.all(part.body < 0))
        kind: Kind = "polygon" if part.kind == "polygon" else "dots" if part.kind == "dots" else "line"
        return [Shape(part.name, self._still(self._seen(places)), kind, cells=cells, rest=rest, faint=faint)]

    def _mesh(self, part: Part, places: np.ndarray) -> Shape:
        faces, cell = mesh_faces(part)
        stress = self.shown.stress(part, places)
        order = np.arange(len(faces)) if self.flat else np.argsort(self._depth(places, faces), kind="stable")
        value = None
        if stress is not None:
            value = np.where(stress > 1e-9 * stress.max(), stress, 0.0)[
                :, cell[order]
            ]  # no round-off in the legend
        return Shape(part.name, self._seen(places), cells=faces[order], value=value)

    def _ball(self, part: Part, places: np.ndarray) -> list[Shape]:
        centre = self._seen(places)
        kind: Kind = "polygon" if part.radius > 0.0 else "line"
        if self.flat:
            rim = np.column_stack([disc(abs(part.radius), self.corners), np.zeros(self.corners + 1)])
            whole = replace(
                part, kind="dots", points=part.points + rim, body=np.repeat(part.body, len(rim)), cells=()
            )
            return [Shape(part.name, self._still(self._seen(self.shown.places(whole, self.time))), kind)]
        shapes = [Shape(part.name, self._still(centre + circle(part.radius, self.corners)[:, :2]), kind)]
        if self.balls <= _MANY_BALLS and part.body[0] >= 0:
            belt = part.points + circle(abs(part.radius), self.corners)
            turning = replace(part, kind="dots", points=belt, body=np.repeat(part.body, len(belt)), cells=())
            seen = self._seen(self.shown.places(turning, self.time))
            shapes.append(Shape(f"{part.name} equator", np.concatenate([seen, seen[:, :1]], axis=1), "line"))
        return shapes

    def _wall(self, part: Part, places: np.ndarray) -> Shape:
        """A piece of a wall; of walls in space only floors and ceilings are filled, so that the others hide nothing."""
        normals = self.shown.normals(part, self.time)
        on_body = part.body[0] >= 0
        reach = (0.15 if on_body else 0.6) * self.size
        ends = np.array(
            [
                wall_corners(x[0], n, x[0] if on_body else self.middle, reach, 2 if self.flat else 3)
                for x, n in zip(places, normals, strict=True)
            ]
        )
        filled = not self.flat and abs(normals[0, 2]) > 0.5
        if not self.flat and not filled:
            ends = np.concatenate([ends, ends[:, :1]], axis=1)
        kind: Kind = "polygon" if filled else "line"
        return Shape(part.name, self._still(self._seen(ends)), kind, faint=True)

    def _seen(self, places: np.ndarray) -> np.ndarray:
        """(…, 2) in the plane of the picture."""
        if self.flat:
            return places[..., :2]
        right = np.array([-np.sin(_AZIMUTH), np.cos(_AZIMUTH), 0.0])
        up = np.array(
            [
                -np.sin(_ELEVATION) * np.cos(_AZIMUTH),
                -np.sin(_ELEVATION) * np.sin(_AZIMUTH),
                np.cos(_ELEVATION),
            ]
        )
        return places @ np.column_stack([right, up])

    def _depth(self, places: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """(p,) mean distance of polygons towards the reader, over all frames."""
        towards = np.array(
            [np.cos(_ELEVATION) * np.cos(_AZIMUTH), np.cos(_ELEVATION) * np.sin(_AZIMUTH), np.sin(_ELEVATION)]
        )
        near = (places @ towards).mean(axis=0)
        return np.where(cells < 0, 0.0, near[cells]).sum(axis=1) / np.maximum((cells >= 0).sum(axis=1), 1)

    def _by_depth(self, places: np.ndarray, cells: np.ndarray) -> np.ndarray:
        return cells if self.flat else cells[np.argsort(self._depth(places, cells), kind="stable")]

    def _still(self, points: np.ndarray) -> np.ndarray:
        """One frame only of what never moves."""
        return points[:1] if np.all(points == points[:1]) else points

    def _exaggeration(self, loose: list[Shape]) -> tuple[float, bool]:
        """The first factor of displacements, and whether both directions have the same scale."""
        if not loose:
            return 1.0, True
        largest = max(float(np.abs(shape.points - shape.rest).max()) for shape in loose)
        rest = np.concatenate([shape.rest for shape in loose])
        wide, high = np.ptp(rest, axis=0)
        slender = self.flat and 0.0 < high < _SLENDER * wide
        wanted = high if slender else 0.1 * max(wide, high)
        factor = float(f"{wanted / largest:.1g}") if largest > 0.0 else 1.0
        return max(factor, 1.0), not slender
