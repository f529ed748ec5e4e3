"""Gaps and slips that are linear in the position of one node each: contact with flat walls.

g = n · x − height,   s = t · x
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.discrete_gradient import discrete_gradient


@dataclass(frozen=True, eq=False)
class FlatGaps:
    """k functions ``direction`` (k, d) · x − ``height`` (k,) of ``nodes`` (k,), over ``size`` coordinates."""

    direction: np.ndarray
    height: np.ndarray
    nodes: np.ndarray
    size: int

    def value(self, q: np.ndarray) -> np.ndarray:
        return np.sum(self.direction * self._places(q), axis=1) - self.height

    def slope(self, q: np.ndarray) -> sparse.csc_array:
        return self._columns(self.direction)

    def hessian(self, q: np.ndarray, factor: np.ndarray) -> None:
        return None

    def push(
        self, before: np.ndarray, after: np.ndarray, start: np.ndarray | None = None
    ) -> sparse.csc_array:
        if start is None or not len(self.nodes):
            return self._columns(self.direction)
        change = self._places(after - before)
        size = np.abs(self._places(after)).max(axis=1)
        return self._columns(discrete_gradient(start, self.value(after), self.direction, change, size))

    def push_slope(
        self, before: np.ndarray, after: np.ndarray, factor: np.ndarray, start: np.ndarray | None = None
    ) -> None:
        return None

    def _places(self, q: np.ndarray) -> np.ndarray:
        return q.reshape(-1, self.direction.shape[1])[self.nodes]

    def _columns(self, entries: np.ndarray) -> sparse.csc_array:
        k, d = entries.shape
        rows = (self.nodes[:, None] * d + np.arange(d)).ravel()
        return sparse.csc_array((entries.ravel(), rows, np.arange(k + 1) * d), shape=(self.size, k))
