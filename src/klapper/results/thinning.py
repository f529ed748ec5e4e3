"""Long series for drawing: few points, all extremes."""

from typing import Any

import numpy as np

LIMIT = 5000


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
    """Places of at most ``limit`` of the points (x, y), each (s,), one for each cell of the finest grid that does.

    For orbits that run over the same places again and again; the extremes of both are among them.
    """
    count = len(x)
    known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if count <= limit or not len(known):
        return np.arange(count) if count <= limit else known
    extremes = known[[x[known].argmin(), x[known].argmax(), y[known].argmin(), y[known].argmax()]]
    cells = 4096
    while True:
        i, j = (_cell(part[known], cells) for part in (x, y))
        first = known[np.unique(i * cells + j, return_index=True)[1]]
        if len(first) + len(extremes) <= limit:
            return np.unique(np.concatenate([first, extremes]))
        cells //= 2


def _cell(values: np.ndarray, cells: int) -> np.ndarray:
    span = np.ptp(values) or 1.0
    return np.minimum(((values - values.min()) / span * cells).astype(int), cells - 1)
