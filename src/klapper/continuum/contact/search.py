"""Which parts of two surfaces are near each other: trees over middles, n log n."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree


def pairs_within(
    points: np.ndarray, centres: np.ndarray, radius: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers (k,) of points (a, 2) and of centres (b, 2) not farther apart than the radius (a,) of the point."""
    if not len(points) or not len(centres):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    found = cKDTree(centres).query_ball_point(points, radius, return_sorted=True)
    count = np.fromiter((len(each) for each in found), dtype=np.int64, count=len(found))
    second = np.fromiter((i for each in found for i in each), dtype=np.int64, count=int(count.sum()))
    return np.repeat(np.arange(len(points)), count), second


def nearest_segments(
    points: np.ndarray, first: np.ndarray, second: np.ndarray, reach: float, allowed: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers (k,) of points (a, 2) and of the segment nearest to each, for those within ``reach`` [m] of one.

    Segments run from ``first`` to ``second`` (b, 2). ``allowed`` (a, 2) are the directions out of the body of the
    points: only segments that face them count.
    """
    middle, half = 0.5 * (first + second), 0.5 * np.linalg.norm(second - first, axis=1)
    longest = float(half.max(initial=0.0))
    i, j = pairs_within(points, middle, np.full(len(points), reach + longest))
    if allowed is not None:
        a = (second - first)[j]
        facing = allowed[i, 0] * a[:, 1] - allowed[i, 1] * a[:, 0] < 0.0  # n · Λ a < 0
        i, j = i[facing], j[facing]
    square = distance_square(points[i], first[j], second[j])
    near = square <= reach**2
    i, j, square = i[near], j[near], square[near]
    order = np.lexsort((j, square, i))
    i, j = i[order], j[order]
    chosen = np.concatenate([[True], i[1:] != i[:-1]]) if len(i) else np.zeros(0, dtype=bool)
    return i[chosen], j[chosen]


def distance_square(x: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[m²] from points (k, 2) to segments (k, 2)-(k, 2)."""
    share = np.clip(projection(x, first, second), 0.0, 1.0)
    return np.sum((x - first - share[:, None] * (second - first)) ** 2, axis=1)


def projection(x: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Where points (k, 2) project to on the lines of segments, as a share of the segment from its first end."""
    a = second - first
    return np.sum((x - first) * a, axis=1) / np.sum(a * a, axis=1)
