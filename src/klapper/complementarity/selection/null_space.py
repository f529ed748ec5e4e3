"""Null spaces of force directions: which combinations of forces have no effect, in short form."""

from __future__ import annotations

import numpy as np
import scipy.linalg

RANK = 1e-10  # singular values below this share of the largest belong to the null space


def level_directions(matrix: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Orthonormal directions (k, j) that change no row of ``matrix`` (f, k) but by round-off of ``scale`` (f,)."""
    return split_directions(matrix, scale)[0]


def split_directions(matrix: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same directions (k, j), and orthonormal ones across them (k, k − j)."""
    rows = matrix[scale > 0] / scale[scale > 0, None]
    size = matrix.shape[1]
    if rows.size == 0:
        return np.eye(size), np.zeros((size, 0))
    _, values, right = np.linalg.svd(rows)
    rank = np.count_nonzero(values > RANK)
    return right[rank:].T, right[:rank].T


def null_space(matrix: np.ndarray) -> np.ndarray:
    """Orthonormal basis (columns, k) of the null space, judged with rows and columns scaled to one."""
    if matrix.shape[1] == 0:
        return np.empty((0, 0))
    row_scale = np.abs(matrix).max(axis=1, initial=0.0)
    matrix = matrix / np.where(row_scale > 0, row_scale, 1.0)[:, None]
    length = np.linalg.norm(matrix, axis=0)
    length = np.where(length > 0, length, 1.0)
    null = scipy.linalg.null_space(matrix / length, rcond=RANK, check_finite=False) / length[:, None]
    return scipy.linalg.orth(null) if null.size else null


def echelon(basis: np.ndarray) -> np.ndarray:
    """Columns (n, k) combined to reduced echelon form, largest entry one: short combinations with simple numbers."""
    rows = basis.T.copy()
    done = 0
    for column in range(rows.shape[1]):
        if done == len(rows):
            break
        best = done + int(np.argmax(np.abs(rows[done:, column])))
        if abs(rows[best, column]) < 1e-8 * np.abs(rows[best]).max():
            continue
        rows[[done, best]] = rows[[best, done]]
        rows[done] /= rows[done, column]
        others = np.arange(len(rows)) != done
        rows[others] -= np.outer(rows[others, column], rows[done])
        done += 1
    size = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    return np.where(np.abs(rows) < 1e-12 * size, 0.0, rows / np.where(size > 0, size, 1.0)).T
