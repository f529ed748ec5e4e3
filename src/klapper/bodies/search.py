"""Which of many balls are near each other, without looking at all pairs.

Balls of like size (within a factor of two) share a k-d tree; each tree is asked for neighbours within the largest
distance at which two balls of the classes can be near. For n balls that do not overlap the work is O(n log n).
"""

from __future__ import annotations

import numpy as np


def near_pairs(centre: np.ndarray, radius: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Numbers a < b (k,) of all balls with |c_a − c_b| − r_a − r_b < margin [m], in rising order.

    ``centre`` (n, 2) or (n, 3), ``radius`` (n,) > 0.
    """
    a, b = candidates(centre, radius, margin)
    distance = np.linalg.norm(centre[a] - centre[b], axis=1)
    near = distance - radius[a] - radius[b] < margin
    a, b = np.minimum(a[near], b[near]), np.maximum(a[near], b[near])
    order = np.lexsort((b, a))
    return a[order], b[order]


def candidates(centre: np.ndarray, radius: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (k,), (k,) that have to be looked at, each once."""
    from scipy.spatial import cKDTree

    if len(radius) < 2:
        return np.zeros(0, dtype=int), np.zeros(0, dtype=int)
    size = np.floor(np.log2(radius / radius.min())).astype(int)
    members = [np.flatnonzero(size == s) for s in np.unique(size)]
    trees = [cKDTree(centre[group]) for group in members]
    largest = [float(radius[group].max()) for group in members]
    found = []
    for i, group in enumerate(members):
        within = trees[i].query_pairs(2.0 * largest[i] + margin, output_type="ndarray")
        found.append(group[within])
        for j in range(i):
            reach = largest[i] + largest[j] + margin
            between = trees[i].sparse_distance_matrix(trees[j], reach, output_type="ndarray")
            found.append(np.column_stack((group[between["i"]], members[j][between["j"]])))
    pairs = np.concatenate(found)
    return pairs[:, 0], pairs[:, 1]
