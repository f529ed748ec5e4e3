"""Long series for drawing: few points, all extremes."""

from typing import Any

import numpy as np

LIMIT = 5000
_NEAREST, _FARTHEST = (
    1e-5,
    1e-3,
)  # of the width of a figure, by which points may be off the line: less than its pixels


def thinned(values: np.ndarray, limit: int = LIMIT) -> np.ndarray:
    """Places of at most ``limit`` of the ``values`` (s,): least and largest of each bin, the first and the last.

    A bin without any value (nan) stays a gap.
    """
    count = len(values)
    if count <= limit:
        return np.arange(count)
    width = -(-count // ((limit - 2) // 2))
    bins = -(-count // width)
    begin = width * np.arange(bins)

    def place(padding: float, best: Any) -> np.ndarray:
        padded = np.full(bins * width, padding)
        padded[:count] = np.where(np.isnan(values), padding, values)
        return begin + best(padded.reshape(bins, width), axis=1)

    found = np.concatenate([place(np.inf, np.argmin), place(-np.inf, np.argmax), [0, count - 1]])
    return np.unique(np.minimum(found, count - 1))


def thinned_together(columns: np.ndarray, limit: int = LIMIT) -> np.ndarray:
    """Places of at most ``limit`` of the s rows (s, n) such that no extreme of any column is lost."""
    if len(columns) <= limit:
        return np.arange(len(columns))
    each = limit // max(1, columns.shape[1])
    return np.unique(np.concatenate([thinned(column, each) for column in columns.T]))


def thinned_curve(x: np.ndarray, y: np.ndarray, limit: int = LIMIT) -> np.ndarray:
    """Places of at most ``limit`` of the points (x, y), each (s,), in their order, that draw the same line.

    Points near the line through their neighbours are left out, again and again. Orbits that are too long even so keep
    their extremes and their end, to which the motion settles.
    """
    known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(known) <= limit:
        return known
    point = np.column_stack([part[known] / (np.ptp(part[known]) or 1.0) for part in (x, y)])
    kept, near, first = np.arange(len(known)), _NEAREST, 0
    while len(kept) > limit and near <= _FARTHEST:
        inner = np.arange(1 + first, len(kept) - 1, 2)
        left_out = inner[_distance(point[kept[inner - 1]], point[kept[inner]], point[kept[inner + 1]]) < near]
        kept, first = np.delete(kept, left_out), 1 - first
        if len(left_out) < 0.05 * len(kept):  # little is gained any more at this distance
            near *= 2.0
    if len(kept) > limit:
        extremes = np.concatenate([point.argmin(axis=0), point.argmax(axis=0)])
        kept = np.union1d(extremes, kept[extremes.size - limit :])
    return known[kept]


def _distance(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Distance (k,) of the points b (k, 2) from the segments a–c."""
    along, away = c - a, b - a
    share = np.clip(np.sum(along * away, axis=1) / np.maximum(np.sum(along**2, axis=1), 1e-300), 0.0, 1.0)
    return np.hypot(*(away - share[:, None] * along).T)
