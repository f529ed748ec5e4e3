"""Polygons and lines that stand for the parts of a picture: faces of meshes, spheres, springs, walls."""

from __future__ import annotations

import numpy as np

from klapper.mechanics.picture import Part
from klapper.results.errors import ResultsError


def mesh_faces(part: Part) -> tuple[np.ndarray, np.ndarray]:
    """Polygons (p, c) of point numbers that are seen of a mesh, and the cell (p,) to which each belongs.

    Of a mesh in the plane its cells, of one in space the facets that belong to one cell only.
    """
    from klapper.continuum.elements import ELEMENTS, SOLIDS

    if part.element not in SOLIDS:
        raise ResultsError(
            f"the mesh '{part.name}' has cells of the kind '{part.element}': allowed are {', '.join(SOLIDS)}."
        )
    element = ELEMENTS[part.element]
    if element.dimension == 2:
        return part.cells[:, : element.corners], np.arange(len(part.cells))
    facets = element.facets[:, : ELEMENTS[element.facet].corners]
    faces = part.cells[:, facets].reshape(-1, facets.shape[1])
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    outer = np.sort(first[count == 1])
    return faces[outer], outer // len(facets)


def triangles(faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Triangles (t, 3) of convex polygons (p, c), −1 where one has fewer corners, and the polygon (t,) of each."""
    found, owner = [], []
    for corner in range(1, faces.shape[1] - 1):
        there = np.flatnonzero(faces[:, corner + 1] >= 0)
        found.append(faces[there][:, [0, corner, corner + 1]])
        owner.append(there)
    if not found:
        return np.zeros((0, 3), int), np.zeros(0, int)
    order = np.argsort(np.concatenate(owner), kind="stable")
    return np.concatenate(found)[order], np.concatenate(owner)[order]


def sphere(radius: float, around: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3) [m] of a sphere about the origin, and its polygons (p, 4), −1 at the poles."""
    rings = around // 2
    polar = np.linspace(0.0, np.pi, rings + 1)[1:-1]
    turn = 2 * np.pi * np.arange(around) / around
    points = [[np.sin(p) * np.cos(t), np.sin(p) * np.sin(t), np.cos(p)] for p in polar for t in turn]
    top, bottom = len(points), len(points) + 1
    ring = np.arange(around)
    after = (ring + 1) % around
    none = np.full(around, -1)
    last = (rings - 2) * around
    faces = [np.column_stack([np.full(around, top), ring, after, none])]
    for k in range(rings - 2):
        above, below = k * around, (k + 1) * around
        faces.append(np.column_stack([above + ring, below + ring, below + after, above + after]))
    faces.append(np.column_stack([last + ring, np.full(around, bottom), last + after, none]))
    return radius * np.array([*points, [0, 0, 1], [0, 0, -1]]), np.concatenate(faces)


def circle(radius: float, corners: int = 32) -> np.ndarray:
    """(corners, 3) [m] in the plane x, y."""
    turn = 2 * np.pi * np.arange(corners) / corners
    return radius * np.column_stack([np.cos(turn), np.sin(turn), np.zeros(corners)])


def zigzag(ends: np.ndarray, teeth: int = 6, share: float = 0.06) -> np.ndarray:
    """(f, k, 3) [m] a line that goes to and fro between two points (f, 2, 3), in the plane x, y where it can."""
    first, last = ends[:, 0], ends[:, 1]
    along = last - first
    length = np.linalg.norm(along, axis=1)
    across = np.cross([0.0, 0.0, 1.0], along)
    size = np.linalg.norm(across, axis=1)
    across = np.divide(
        across, size[:, None], out=np.tile([1.0, 0.0, 0.0], (len(ends), 1)), where=size[:, None] > 0
    )
    places = np.concatenate(
        [[0.0, 0.15], 0.15 + 0.7 * (np.arange(2 * teeth) + 0.5) / (2 * teeth), [0.85, 1.0]]
    )
    sides = np.concatenate([[0.0, 0.0], np.resize([1.0, -1.0], 2 * teeth), [0.0, 0.0]])
    width = share * float(np.median(length))
    return first[:, None] + places[:, None] * along[:, None] + width * sides[:, None] * across[:, None]


def wall_corners(
    point: np.ndarray, normal: np.ndarray, middle: np.ndarray, reach: float, dimension: int
) -> np.ndarray:
    """Two ends (2, 3) or four corners (4, 3) [m] of the piece of a wall that lies nearest to ``middle`` (3,)."""
    normal = normal / np.linalg.norm(normal)
    foot = middle - (normal @ (middle - point)) * normal
    if dimension == 2:
        along = np.array([normal[1], -normal[0], 0.0])
        return foot + reach * np.array([[-1.0], [1.0]]) * along
    axis = np.eye(3)[int(np.argmin(np.abs(normal)))]
    first = np.cross(axis, normal)
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    signs = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    return foot + reach * signs @ np.array([first, second])
