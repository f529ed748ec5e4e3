"""Velocities from impulses: M̂⁻¹, and the same with two-sided constraints held.

    M̂ Δ = p + J_B Λ_B,   J_Bᵀ (v + Δ) + a_B = 0

Redundant constraints are allowed: Δ is unique, Λ_B is the smallest of the impulses that hold them, each measured by the
velocity it gives to its own constraint, and whether there are others is told. Waltersberger (4.60)-(4.62).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse

from klapper.effort import ALGEBRA, part, report
from klapper.mechanics.system import Matrix

_SMALL = (
    300  # coordinates up to which products with the inverse beat triangular solves, which wake up threads
)
_RANK = 1e-10  # relative size below which a direction of the constraints counts as redundant


class Inverse:
    """M̂⁻¹ for a dense, sparse or diagonal matrix, factorised once."""

    def __init__(self, matrix: Matrix) -> None:
        report("factorisations")
        with part(ALGEBRA):
            self._factorise(matrix)

    def _factorise(self, matrix: Matrix) -> None:
        self.symmetric = bool(abs(matrix - matrix.T).max() <= 1e-13 * abs(matrix).max())
        self._diagonal: np.ndarray | None = None
        self._inverse: np.ndarray | None = None
        self._dense: Any = None
        self._sparse: Any = None
        if sparse.issparse(matrix):
            diagonal = matrix.diagonal()
            if matrix.nnz == np.count_nonzero(diagonal):
                self._diagonal = diagonal
            else:
                from scipy.sparse.linalg import splu

                self._sparse = splu(matrix.tocsc())
        elif np.count_nonzero(matrix) == np.count_nonzero(matrix.diagonal()):
            self._diagonal = matrix.diagonal().copy()
        elif matrix.shape[0] <= _SMALL:
            self._inverse = np.linalg.inv(matrix)
        else:
            self._dense = scipy.linalg.lu_factor(matrix)

    def __call__(self, right: Any) -> Any:
        """M̂⁻¹ right for a vector (n,) or columns (n, k); sparse columns stay sparse for a diagonal matrix."""
        if self._diagonal is not None:
            if sparse.issparse(right):
                return sparse.diags_array(1.0 / self._diagonal) @ right
            return right / (self._diagonal if right.ndim == 1 else self._diagonal[:, None])
        columns = right.toarray() if sparse.issparse(right) else right
        if self._inverse is not None:
            return self._inverse @ columns
        if columns.ndim == 2 and columns.shape[1] == 0:
            return np.zeros(columns.shape)
        if self._sparse is not None:
            return self._sparse.solve(np.ascontiguousarray(columns))
        return scipy.linalg.lu_solve(self._dense, columns)


@dataclass(frozen=True, eq=False)
class Held:
    """Mobility of a system whose two-sided constraints hold.

    ``inverse``    M̂⁻¹
    ``direction``  J_B (n, p)
    """

    inverse: Inverse
    direction: Matrix
    names: tuple[str, ...] = ()
    _reach: Any = field(init=False, repr=False)
    _pseudo: Any = field(init=False, repr=False)
    rank: int = field(init=False)

    def __post_init__(self) -> None:
        direction = self.direction.toarray() if sparse.issparse(self.direction) else self.direction
        reach = self.inverse(direction)
        gram = direction.T @ reach
        unit = natural_units(gram.diagonal())  # units and masses do not decide what is redundant
        scaled = gram / np.outer(unit, unit)
        left, values, right = np.linalg.svd(scaled) if gram.size else (gram, np.zeros(0), gram)
        kept = values > _RANK * values.max(initial=0.0)
        pseudo = ((right.T[:, kept] / values[kept]) @ left[:, kept].T) / np.outer(unit, unit)
        object.__setattr__(self, "direction", direction)
        object.__setattr__(self, "_reach", reach)
        object.__setattr__(self, "_pseudo", pseudo)
        object.__setattr__(self, "rank", int(np.count_nonzero(kept)))

    @property
    def redundant(self) -> int:
        """Number of constraints more than are needed."""
        return len(self.names) - self.rank

    def impulses(self, violation: np.ndarray) -> np.ndarray:
        """Λ_B (p,) that removes the constraint velocities ``violation`` (p,)."""
        return -(self._pseudo @ violation)

    def impulse_terms(self, push: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Size of the terms of the impulses (p,) that hold the constraints against ``push`` (n,), for judging rounding.

        ``push`` (n,) is the size of its terms, ``free`` (p,) that of the terms of the constraint velocities it gives.
        """
        return np.abs(self._pseudo @ self._reach.T) @ push + np.abs(self._pseudo) @ free

    def contradiction(self, violation: np.ndarray) -> tuple[str, float]:
        """The constraint whose demand no impulse can meet, and by how much [m/s]; ("", 0) if all can be met."""
        left = violation + self.direction.T @ (self._reach @ self.impulses(violation))
        scale = np.abs(violation).max(initial=0.0)
        if scale == 0.0 or np.abs(left).max() <= 1e-6 * scale:
            return "", 0.0
        worst = int(np.argmax(np.abs(left)))
        return self.names[worst], float(left[worst])

    def respond(self, right: Any) -> Any:
        """Velocity change by impulses ``right`` (n,) or (n, k) with the constraints held."""
        change = self.inverse(right)
        if not self.names:
            return change
        change = change.toarray() if sparse.issparse(change) else change
        return change - self._reach @ (self._pseudo @ (self.direction.T @ change))

    def push(self, impulses: np.ndarray) -> np.ndarray:
        """Velocity change (n,) by constraint impulses (p,)."""
        return self._reach @ impulses


def natural_units(mobility: np.ndarray) -> np.ndarray:
    """Square roots (r,) of mobilities, by which rows of different masses and units are compared."""
    size = np.sqrt(np.abs(mobility))
    return np.where(size > 0.0, size, 1.0)


def rank(matrix: np.ndarray, mobility: np.ndarray, tolerance: float) -> int:
    """Of a matrix (r, r) between rows of these mobilities (r,): singular values above ``tolerance`` of the largest."""
    if matrix.size == 0:
        return 0
    unit = natural_units(mobility)
    values = np.linalg.svd(matrix / np.outer(unit, unit), compute_uv=False)
    return int(np.count_nonzero(values > tolerance * values.max()))
