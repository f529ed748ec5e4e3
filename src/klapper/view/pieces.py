"""The parts of a moving picture as points and cells, for files and windows.

Faces are polygons (p, c) of point numbers, −1 where one has fewer corners; lines are pairs of points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from klapper.mechanics.picture import Part
from klapper.results.errors import ResultsError
from klapper.view.moving import Moving, moving
from klapper.view.surfaces import circle, mesh_faces, sphere, triangles, wall_corners

if TYPE_CHECKING:
    from klapper.results import Run


@dataclass(frozen=True, eq=False)
class Piece:
    """One part at f times.

    ``places``  (f, n, 3) [m]; ``rest`` (n, 3) [m] from where displacements are counted
    ``cells``   (kind, point numbers (k, c)) by the names that meshio uses, all cells of a kind together
    ``stress``  (f, cells) [N/m²] mean von Mises stress, or None
    """

    part: Part
    places: np.ndarray
    rest: np.ndarray
    cells: list[tuple[str, np.ndarray]]
    stress: np.ndarray | None = None


def shown_times(run: Run, frames: int) -> np.ndarray:
    """(f,) [s] at equal distances over the run, at most as many as it has samples."""
    if not isinstance(frames, int | np.integer) or isinstance(frames, bool) or frames < 1:
        raise ResultsError(f"frames is {frames!r}; allowed are whole numbers from 1 on.")
    if not len(run):
        raise ResultsError("the run has no samples, so there is nothing to be seen.")
    if not np.all(np.isfinite(run.position)):
        raise ResultsError("positions of the run are not all finite, so that they have no place to be seen.")
    span = run.time[-1] > run.time[0]
    return np.linspace(run.time[0], run.time[-1], min(int(frames), len(run)) if span else 1)


def require_exaggeration(factor: float) -> float:
    if not isinstance(factor, int | float | np.number) or not np.isfinite(factor) or factor <= 0.0:
        raise ResultsError(f"the exaggeration is {factor!r}; allowed are numbers above 0.")
    return float(factor)


def pieces(run: Run, times: np.ndarray, exaggeration: float = 1.0) -> list[Piece]:
    """All parts of the picture of ``run`` at ``times`` (f,) [s]."""
    shown = moving(run)
    middle, size = extent(shown, times, exaggeration)
    return [_piece(shown, part, times, exaggeration, middle, size) for part in shown.picture.parts]


def extent(shown: Moving, times: np.ndarray, exaggeration: float) -> tuple[np.ndarray, float]:
    """Middle (3,) and size [m] of the box around everything but walls."""
    solid = [part for part in shown.picture.parts if part.kind != "wall"]
    if not solid:
        return np.zeros(3), 1.0
    corners = []
    for part in solid:
        places = shown.places(part, times, exaggeration).reshape(-1, 3)
        corners += [places.min(axis=0) - abs(part.radius), places.max(axis=0) + abs(part.radius)]
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    return 0.5 * (low + high), float((high - low).max()) or 1.0


def local_shape(part: Part, dimension: int, depth: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points (n, 3), faces (p, c) and lines (k, 2) of a part in the axes of its body.

    What is flat, in the plane, gets a ``depth`` [m] across it, or stays flat if that is zero.
    """
    none = np.zeros((0, 2), int)
    if part.kind == "ball" and dimension == 3 and part.radius > 0.0:
        points, faces = sphere(part.radius)
        return part.points + points, faces, none
    if part.kind == "ball":
        rim = part.points + circle(abs(part.radius))
        ring = np.column_stack([np.arange(len(rim)), np.roll(np.arange(len(rim)), -1)])
        if part.radius < 0.0:
            return rim, np.zeros((0, 3), int), ring
        return (*_prism(rim, np.arange(len(rim))[None], depth), none)
    if part.kind == "polygon":
        flat = dimension == 2 and len(part.cells) == 1
        points, faces = _prism(part.points, part.cells, depth) if flat else (part.points, part.cells)
        return points, faces, none
    if part.kind == "mesh":
        return part.points, mesh_faces(part)[0], none
    return part.points, np.zeros((0, 3), int), segments(part.cells) if part.kind != "dots" else none


def segments(cells: np.ndarray) -> np.ndarray:
    """Pairs (k, 2) of the points that follow each other on lines (p, c), −1 where one has fewer."""
    pairs = np.stack([cells[:, :-1], cells[:, 1:]], axis=-1).reshape(-1, 2)
    return pairs[np.all(pairs >= 0, axis=1)]


def _prism(points: np.ndarray, face: np.ndarray, depth: float) -> tuple[np.ndarray, np.ndarray]:
    """One polygon (1, c), extruded by ``depth`` along z to both sides."""
    if depth == 0.0:
        return points, face
    ring = face[0]
    count, half = len(points), np.array([0.0, 0.0, 0.5 * depth])
    after = np.roll(ring, -1)
    sides = np.column_stack([ring, after, count + after, count + ring])
    wide = max(len(ring), 4)
    padded = np.full((2 + len(ring), wide), -1)
    padded[0, : len(ring)] = ring[::-1]
    padded[1, : len(ring)] = count + ring
    padded[2:, :4] = sides
    return np.concatenate([points - half, points + half]), padded


def _piece(
    shown: Moving, part: Part, times: np.ndarray, exaggeration: float, middle: np.ndarray, size: float
) -> Piece:
    dimension = shown.picture.dimension
    if part.kind == "wall":
        return _wall(shown, part, times, middle, size)
    if part.kind == "mesh":
        from klapper.continuum.elements import ELEMENTS

        places = shown.places(part, times)
        cells = [(ELEMENTS[part.element].in_files, part.cells)]
        return Piece(part, places, part.points, cells, shown.stress(part, places))
    if len(part.body):
        points, faces, lines = local_shape(part, dimension, 0.0)
        owner = part.body if len(part.body) == len(points) else np.full(len(points), part.body[0])
        kind = "dots" if part.kind == "ball" else part.kind
        part = replace(part, kind=kind, points=points, cells=(), body=owner)
    else:
        faces = part.cells if part.kind == "polygon" else np.zeros((0, 3), int)
        lines = segments(part.cells) if part.kind in ("line", "spring") else np.zeros((0, 2), int)
    places = shown.places(part, times, exaggeration)
    rest = shown.rest(part) if part.linear else part.points if part.first >= 0 else places[0]
    return Piece(part, places, rest, _cells(faces, lines, len(places[0])))


def _wall(shown: Moving, part: Part, times: np.ndarray, middle: np.ndarray, size: float) -> Piece:
    dimension = shown.picture.dimension
    on_body = part.body[0] >= 0
    places = np.array(
        [
            wall_corners(x[0], n, x[0] if on_body else middle, 0.6 * size, dimension)
            for x, n in zip(shown.places(part, times), shown.normals(part, times), strict=True)
        ]
    )
    kind = "line" if dimension == 2 else "quad"
    return Piece(part, places, places[0], [(kind, np.arange(places.shape[1])[None])])


def _cells(faces: np.ndarray, lines: np.ndarray, count: int) -> list[tuple[str, np.ndarray]]:
    """Lines, triangles, quadrangles, and larger polygons as triangles."""
    found: list[tuple[str, np.ndarray]] = []
    if len(lines):
        found.append(("line", lines))
    corners = (faces >= 0).sum(axis=1)
    others = faces[corners != 4]
    if len(others):
        found.append(("triangle", triangles(others)[0]))
    if np.any(corners == 4):
        four = faces[corners == 4]
        found.append(("quad", four[:, :4]))
    return found or [("vertex", np.arange(count)[:, None])]
