"""The contact problem cut into blocks of up to three rows, as compiled sweeps want it.

Each block holds the rows (normal, tangential 1, tangential 2) of one contact; a missing row is −1 and stays
zero. The Delassus matrix is stored by block columns: column j lists the blocks i that a force at j moves,
with the 3×3 block W_ij. A changed force then updates the velocities of its neighbours only, and velocities
are always current.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klapper.complementarity.kernels.contact_local import eigen_2x2
from klapper.machine_code import njit

CONTACT, PATCH, CONSTRAINT = 0, 1, 2


class ContactBlocks(NamedTuple):
    """n blocks; forces and velocities are flat arrays (3 n,) in block order.

    ``start`` (n + 1,), ``neighbour`` (nnz,), ``push`` (nnz, 9)  block columns of W, 3×3 blocks by rows
    ``own``      (n, 9)   diagonal blocks, their symmetric part: what is skew acts from sweep to sweep, like a neighbour
    ``schur``    (n, 4)   eigenvalues and first eigenvector (cos, sin) of S = W_TT − W_TN W_NT / W_NN
    ``tangent``  (n, 4)   the same of W_TT
    ``mobility`` (n, 2)   weights that turn forces into velocities: W_NN and the larger entry of diag W_TT
    ``kind``     (n,)     CONTACT (normal, perhaps friction), PATCH (friction only), CONSTRAINT (two-sided)
    ``friction``, ``limit`` (n,)   ρ = limit + friction · λ_N
    ``share_start`` (n + 1,), ``share_of``, ``share``  for patches: ρ = limit + Σ share · λ_N of other blocks
    ``free``     (3 n,)   velocities without forces
    ``polygon``           number of vertices in place of the disc, 0 for the disc
    """

    start: np.ndarray
    neighbour: np.ndarray
    push: np.ndarray
    own: np.ndarray
    schur: np.ndarray
    tangent: np.ndarray
    mobility: np.ndarray
    kind: np.ndarray
    friction: np.ndarray
    limit: np.ndarray
    share_start: np.ndarray
    share_of: np.ndarray
    share: np.ndarray
    free: np.ndarray
    polygon: int


@njit(cache=True, error_model="numpy")
def columns_from_sparse(
    start: np.ndarray, column: np.ndarray, value: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Block columns (start, neighbour, push) of compressed sparse rows; ``rows`` (n, 3) name the blocks."""
    blocks = rows.shape[0]
    slot = np.empty(start.size - 1, np.int64)
    for i in range(blocks):
        for a in range(3):
            if rows[i, a] >= 0:
                slot[rows[i, a]] = 3 * i + a
    first = np.zeros(blocks + 1, np.int64)
    seen = np.full(blocks, -1, np.int64)
    for i in range(blocks):
        for a in range(3):
            row = rows[i, a]
            if row >= 0:
                for k in range(start[row], start[row + 1]):
                    j = slot[column[k]] // 3
                    if seen[j] != i:
                        seen[j] = i
                        first[j + 1] += 1
    for j in range(blocks):
        first[j + 1] += first[j]
    neighbour = np.empty(first[blocks], np.int64)
    push = np.zeros((first[blocks], 9))
    filled = first[:-1].copy()
    place = np.empty(blocks, np.int64)
    seen[:] = -1
    for i in range(blocks):
        for a in range(3):
            row = rows[i, a]
            if row >= 0:
                for k in range(start[row], start[row + 1]):
                    j = slot[column[k]] // 3
                    if seen[j] != i:
                        seen[j] = i
                        place[j] = filled[j]
                        neighbour[filled[j]] = i
                        filled[j] += 1
                    push[place[j], 3 * a + slot[column[k]] % 3] = value[k]
    return first, neighbour, push


@njit(cache=True, error_model="numpy")
def columns_from_dense(matrix: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Block columns of a dense matrix: every block is kept."""
    blocks = rows.shape[0]
    start = np.arange(blocks + 1) * blocks
    neighbour = np.empty(blocks * blocks, np.int64)
    push = np.zeros((blocks * blocks, 9))
    for j in range(blocks):
        for i in range(blocks):
            neighbour[j * blocks + i] = i
            for a in range(3):
                for b in range(3):
                    if rows[i, a] >= 0 and rows[j, b] >= 0:
                        push[j * blocks + i, 3 * a + b] = matrix[rows[i, a], rows[j, b]]
    return start, neighbour, push


@njit(cache=True, error_model="numpy")
def local_data(
    start: np.ndarray, neighbour: np.ndarray, push: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Diagonal blocks, spectra of S and W_TT, and mobilities (see :class:`ContactBlocks`)."""
    blocks = start.size - 1
    own = np.zeros((blocks, 9))
    schur, tangent, mobility = np.empty((blocks, 4)), np.empty((blocks, 4)), np.empty((blocks, 2))
    for j in range(blocks):
        for k in range(start[j], start[j + 1]):
            if neighbour[k] == j:
                for row in range(3):
                    for column in range(3):
                        own[j, 3 * row + column] = 0.5 * (
                            push[k, 3 * row + column] + push[k, 3 * column + row]
                        )
        w = own[j]
        size = abs(w[4]) + abs(w[8])
        _put(tangent, j, eigen_2x2(w[4], w[5], w[8], size))
        a, b = (w[1] / w[0], w[2] / w[0]) if w[0] > 0.0 else (0.0, 0.0)
        _put(schur, j, eigen_2x2(w[4] - a * w[1], w[5] - a * w[2], w[8] - b * w[2], size))
        mobility[j, 0], mobility[j, 1] = abs(w[0]), max(abs(w[4]), abs(w[8]))
    return own, schur, tangent, mobility


@njit(cache=True)
def _put(table: np.ndarray, row: int, entries: tuple[float, float, float, float]) -> None:
    table[row, 0], table[row, 1], table[row, 2], table[row, 3] = entries
