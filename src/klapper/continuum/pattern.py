"""Where the entries of element vectors and matrices go: found once, then every assembly is one pass of sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse

from klapper.continuum.kernels.cells import gather
from klapper.continuum.threads import shared


@dataclass(frozen=True, eq=False)
class Pattern:
    """The sparsity of matrices (n, n) over the coordinates of several groups of elements.

    ``places``   coordinates (e, s) of the elements of each group; a matrix of a group has shape (e, s, s)
    ``indptr``, ``indices``  compressed rows
    ``order``, ``start``     which entries, in the sequence of the groups, add up to each stored one
    """

    size: int
    places: tuple[np.ndarray, ...]
    indptr: np.ndarray
    indices: np.ndarray
    order: np.ndarray
    start: np.ndarray
    vector_order: np.ndarray
    vector_start: np.ndarray

    @classmethod
    def of(cls, size: int, places: Sequence[np.ndarray]) -> Pattern:
        groups = tuple(np.asarray(place, dtype=np.int64) for place in places)
        empty = np.zeros(0, dtype=np.int64)
        rows = [np.repeat(place, place.shape[1], axis=1).ravel() for place in groups]
        columns = [np.tile(place, (1, place.shape[1])).ravel() for place in groups]
        keys = np.concatenate([empty, *rows]) * size + np.concatenate([empty, *columns])
        order, start, found = _sorted(keys)
        row, column = found // size, found % size
        indptr = np.searchsorted(row, np.arange(size + 1))
        vector_order, vector_start, present = _sorted(np.concatenate([empty, *(p.ravel() for p in groups)]))
        full_start = np.searchsorted(present, np.arange(size + 1))
        return cls(
            size, groups, indptr.astype(np.int32), column.astype(np.int32), order, start, vector_order,
            vector_start[full_start],
        )  # fmt: skip

    def matrix(self, parts: Sequence[np.ndarray]) -> sparse.csr_array:
        """Sum of element matrices (e, s, s), group by group."""
        data = _summed(parts, self.order, self.start)
        return sparse.csr_array((data, self.indices, self.indptr), shape=(self.size, self.size))

    def vector(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        """Sum (n,) of element vectors (e, s), group by group."""
        return _summed(parts, self.vector_order, self.vector_start)


def _summed(parts: Sequence[np.ndarray], order: np.ndarray, start: np.ndarray) -> np.ndarray:
    values = np.ravel(parts[0]) if len(parts) == 1 else np.concatenate([np.ravel(part) for part in parts])
    found = np.empty(len(start) - 1)
    shared(gather, len(found), values, order, start, found)
    return found


def _sorted(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Order of the keys, starts of equal ones with the end, and the keys that occur."""
    order = np.argsort(keys, kind="stable")
    if not len(order):
        return order, np.zeros(1, dtype=np.int64), keys
    ranked = keys[order]
    first = np.concatenate([[True], ranked[1:] != ranked[:-1]])
    start = np.append(np.flatnonzero(first), len(keys))
    return order, start, ranked[first]
