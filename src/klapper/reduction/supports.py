"""Two-sided constraints J_Bᵀ q = d solved for as many coordinates.

    q = T z + P d',   J_Bᵀ T = 0,   d' = Q_rᵀ J_Bᵀ q

A pivoted orthogonal factorisation of the rows of J_B chooses the coordinates that depend on the others; T (n, n − r) is
sparse wherever J_B is. r is the rank: constraints that repeat others cost nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse

_DEPENDENT = 1e-10  # of the largest pivot: below it a constraint repeats others


class Supports:
    """The constraints J_B (n, p) of a system of n coordinates."""

    def __init__(self, directions: Any) -> None:
        columns = sparse.csc_array(directions)
        self.size, count = columns.shape
        self.rank = 0
        self.free: Any = None  # T, None for the identity
        self.given = np.zeros((self.size, 0))  # P
        if count:
            self._solve_for_some(columns)

    def _solve_for_some(self, columns: Any) -> None:
        touched = np.unique(columns.indices)
        rows = columns[touched].toarray().T
        size = np.linalg.norm(rows, axis=1)
        turned, upper, order = scipy.linalg.qr(rows / size[:, None], mode="economic", pivoting=True)
        pivots = np.abs(np.diag(upper))
        r = self.rank = int(np.count_nonzero(pivots > _DEPENDENT * pivots.max(initial=0.0)))
        dependent, others = touched[order[:r]], touched[order[r:]]
        independent = self._independent = np.setdiff1d(np.arange(self.size), dependent)
        coupling = -scipy.linalg.solve_triangular(upper[:r, :r], upper[:r, r:])
        n = len(independent)
        identity = sparse.csr_array((np.ones(n), (independent, np.arange(n))), shape=(self.size, n))
        row, column = np.indices(coupling.shape)
        place = np.searchsorted(independent, others)
        follow = sparse.csr_array(
            (coupling.ravel(), (dependent[row.ravel()], place[column.ravel()])), shape=(self.size, n)
        )
        follow.eliminate_zeros()
        self.free = (identity + follow).tocsr()
        self.given = np.zeros((self.size, r))
        self.given[dependent] = scipy.linalg.solve_triangular(upper[:r, :r], np.eye(r))
        self._reading = columns @ (turned[:, :r] / size[:, None])

    def values(self, positions: np.ndarray) -> np.ndarray:
        """d' (r, k) of positions (n, k)."""
        return self._reading.T @ positions if self.rank else np.zeros((0, *positions.shape[1:]))

    def held(self, matrix: Any) -> Any:
        """Tᵀ A T, sparse."""
        matrix = sparse.csr_array(matrix)
        return matrix if self.free is None else (self.free.T @ matrix @ self.free).tocsr()

    def spread(self, free: np.ndarray) -> np.ndarray:
        """T z."""
        return free if self.free is None else self.free @ free

    def read(self, positions: np.ndarray) -> np.ndarray:
        """z of positions T z."""
        return positions if self.free is None else positions[self._independent]

    def gathered(self, loads: np.ndarray) -> np.ndarray:
        """Tᵀ f."""
        return loads if self.free is None else self.free.T @ loads
