"""Sums of element vectors and matrices at their places in the whole: see :mod:`klapper.continuum.pattern`."""

from __future__ import annotations

import numpy as np

from klapper.machine_code import njit


@njit(cache=True, nogil=True)
def find_slots(
    begin: int, end: int, places: np.ndarray, indptr: np.ndarray, indices: np.ndarray, first: np.ndarray
) -> None:
    """Where among the stored values each element's entries lie, (e, k, d, k)."""
    _, size, d, _ = first.shape
    for e in range(begin, end):
        for a in range(size):
            for i in range(d):
                row = places[e, a * d + i]
                low, high = indptr[row], indptr[row + 1]
                for b in range(size):
                    column = places[e, b * d]
                    first[e, a, i, b] = low + np.searchsorted(indices[low:high], column)


@njit(cache=True, nogil=True)
def add_matrices(
    begin: int, end: int, batches: np.ndarray, matrices: np.ndarray, first: np.ndarray, data: np.ndarray
) -> None:
    """Matrices (e, k d, k d) of batches of elements added to the stored values."""
    _, size, d, _ = first.shape
    for batch in range(begin, end):
        for e in range(batches[batch, 0], batches[batch, 1]):
            for a in range(size):
                for i in range(d):
                    for b in range(size):
                        for k in range(d):
                            data[first[e, a, i, b] + k] += matrices[e, a * d + i, b * d + k]


@njit(cache=True, nogil=True)
def gather(
    begin: int, end: int, values: np.ndarray, order: np.ndarray, start: np.ndarray, found: np.ndarray
) -> None:
    """Sums (p,) of the values whose numbers are order[start[i] : start[i + 1]], always in the same sequence."""
    for i in range(begin, end):
        total = 0.0
        for k in range(start[i], start[i + 1]):
            total += values[order[k]]
        found[i] = total
