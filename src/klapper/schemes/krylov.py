"""Equations of implicit steps of large bodies in space, solved without factors.

    A x = b to |b − A x| ≤ ε |b|,   BiCGSTAB of van der Vorst (1992), scaled by the diagonal of A

Factors of bodies in space fill in: with 10⁵ unknowns they take ten seconds to minutes, and gigabytes. Inertia keeps the
matrix of a step well conditioned, so that some dozen products with it suffice, several hundred where steps are many
times longer than an explicit scheme could do. The matrix need not be symmetric. Where the iteration takes longer than
factors would, as with slender bodies in long steps, or does not come to its end, as with matrices that are nearly
singular, factors are taken after all. What is found does not depend on what was solved before.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.schemes.sparse_factor import Solve, factorised

_LARGE = 10_000  # rows from which on factors of bodies in space cost more
_FULL = 36.0  # entries in a mean row from which on a body is one in space: hex8 has 81 inside, quad9 32 in the mean
_ACCURATE = 1e-11  # ε
_FEW, _MOST = 100, 1000  # rounds of two products each: those that are tried anyway, and at most
_PRODUCTS = (
    0.1  # rounds in the time of a factorisation of bandwidth b, in units of n b² over the number of entries
)


def inverse(matrix: Any) -> Solve:
    """x = A⁻¹ b for vectors (n,) or columns (n, k), by iteration for large bodies in space, by factors for all else."""
    if not sparse.issparse(matrix) or matrix.shape[0] < _LARGE or matrix.nnz < _FULL * matrix.shape[0]:
        return factorised(matrix)
    diagonal = matrix.diagonal()
    if not np.all(diagonal) or not np.all(np.isfinite(matrix.data)):
        return factorised(matrix)
    return Iterated(sparse.csr_array(matrix), diagonal)


class Iterated:
    """A⁻¹ by iteration, by factors from the first right-hand side on for which that takes too many rounds."""

    def __init__(self, rows: sparse.csr_array, diagonal: np.ndarray) -> None:
        self.rows, self._diagonal = rows, diagonal
        self._factors: Solve | None = None

    def __call__(self, right: np.ndarray) -> np.ndarray:
        if right.ndim == 2:
            return np.column_stack([self(column) for column in right.T])
        if self._factors is None:
            found = self._iterated(right)
            if found is not None:
                return found
            self._factors = factorised(self.rows)
        return self._factors(right)

    def _iterated(self, right: np.ndarray) -> np.ndarray | None:
        """x (n,), or None where the iteration does not end."""
        from scipy.sparse.linalg import LinearOperator, bicgstab

        size = float(np.linalg.norm(right))
        if size == 0.0 or not np.isfinite(size):
            return np.zeros_like(right) if size == 0.0 else None
        scaled = LinearOperator(self.rows.shape, matvec=lambda x: x / self._diagonal, dtype=float)
        unit, found = right / size, np.zeros_like(right)  # scipy takes small products for a breakdown
        for last in (False, True):
            rounds = self._worthwhile - _FEW if last else _FEW
            if rounds <= 0:
                break
            with np.errstate(all="ignore"):
                found, _ = bicgstab(self.rows, unit, x0=found, rtol=_ACCURATE, maxiter=rounds, M=scaled)
                left = np.linalg.norm(unit - self.rows @ found)
            if left <= 10.0 * _ACCURATE:  # rounding may leave a little more
                return size * found
        return None

    @cached_property
    def _worthwhile(self) -> int:
        """Rounds that take no longer than factors, by the bandwidth of a good order of the rows."""
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        n = self.rows.shape[0]
        place = np.empty(n, dtype=np.int64)
        place[reverse_cuthill_mckee(sparse.csr_matrix(self.rows), symmetric_mode=True)] = np.arange(n)
        wide = int(np.abs(np.repeat(place, np.diff(self.rows.indptr)) - place[self.rows.indices]).max())
        return min(int(_PRODUCTS * n * wide**2 / self.rows.nnz), _MOST)
