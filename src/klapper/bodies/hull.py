"""The convex hull of the corners of a body, as the polygons that are seen."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError

_FLAT = 1e-9


def hull_faces(corners: np.ndarray, dimension: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Points (n, 3) and polygons (p, c), −1 where one has fewer corners; None where the hull has no area.

    In the plane one polygon, counter-clockwise; in space the faces, their normals outwards.
    """
    corners = np.asarray(corners, dtype=float).reshape(-1, 3)
    if len(corners) < 3:
        return None
    corners = np.unique(corners, axis=0)
    if len(corners) < 3:
        return None
    if dimension == 2:
        return _outline(corners)
    flat = _flat_face(corners)
    if flat is not None:
        return corners, flat
    try:
        hull = ConvexHull(corners)
    except (QhullError, ValueError):
        return None
    normals = np.round(
        hull.equations / max(float(np.abs(corners).max()), 1e-300) ** np.array([0, 0, 0, 1]), 9
    )
    faces = [
        _around(np.unique(hull.simplices[np.all(normals == normal, axis=1)]), corners, normal[:3])
        for normal in np.unique(normals, axis=0)
    ]
    most = max(len(face) for face in faces)
    cells = np.array([[*face, *[-1] * (most - len(face))] for face in faces])
    return corners, cells


def _outline(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    try:
        hull = ConvexHull(corners[:, :2])
    except (QhullError, ValueError):
        return None
    points = corners[hull.vertices]
    return points, np.arange(len(points))[None]


def _flat_face(corners: np.ndarray) -> np.ndarray | None:
    """The one polygon (1, c) of corners that lie in a plane."""
    middle = corners - corners.mean(axis=0)
    _, size, axes = np.linalg.svd(middle, full_matrices=False)
    if len(size) < 3 or size[2] > _FLAT * size[0] or size[1] <= _FLAT * size[0]:
        return None
    hull = ConvexHull(middle @ axes[:2].T)
    return hull.vertices[None]


def _around(numbers: np.ndarray, corners: np.ndarray, normal: np.ndarray) -> list[int]:
    """Corners of a face in their order about its normal."""
    middle = corners[numbers].mean(axis=0)
    first = corners[numbers[0]] - middle
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    away = corners[numbers] - middle
    return numbers[np.argsort(np.arctan2(away @ second, away @ first))].tolist()
