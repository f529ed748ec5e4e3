"""The held directions of a contact state, with their dependences.

    W = W_i T,   W_i of full rank:   the forces λ of all directions act like T λ of the independent ones

Waltersberger & Wauer leave dependent constraints out for lack of space. The motion knows T λ only; of all λ that do
the same, the smallest is given where one is asked for, and the directions that share their load are named.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse as sparse

from klapper.analysis.contact_state import ContactState
from klapper.mechanics.errors import InvalidModel

DEPENDENT = 1e-10  # what a unit direction adds to those before it, up to which it counts as dependent
_TAKES_PART = 1e-9
_SAME = 1e-9  # relative to the largest


@dataclass(frozen=True, eq=False)
class HeldDirections:
    """The h held directions of a state, r of them independent.

    ``independent``  numbers (r,) of independent ones, the best conditioned choice
    ``shares``       T (r, h): all of them as combinations of these
    """

    state: ContactState
    independent: np.ndarray
    shares: np.ndarray

    @classmethod
    def of(cls, state: ContactState) -> HeldDirections:
        columns = _touched_rows(state.held)
        independent = independent_columns(columns)
        chosen = cls(state, independent, _combinations(columns[:, independent], columns))
        chosen._require_same_friction()
        return chosen

    @cached_property
    def directions(self) -> sparse.csc_array:
        """W_i (n, r)."""
        return self.state.held[:, self.independent]

    @cached_property
    def forces(self) -> sparse.csc_array:
        """F_i = W_i + R_i (n, r)."""
        return (self.directions + self.state.friction[:, self.independent]).tocsc()

    @property
    def dependent(self) -> tuple[str, ...]:
        """Names of the directions that are combinations of the independent ones."""
        chosen = set(self.independent.tolist())
        return tuple(name for i, name in enumerate(self.state.names) if i not in chosen)

    @cached_property
    def undetermined(self) -> tuple[str, ...]:
        """Names of all directions whose forces are not unique: those that share a load."""
        return tuple(name for name, takes in zip(self.state.names, self._takes_part, strict=True) if takes)

    @cached_property
    def distribution(self) -> np.ndarray:
        """(h, r): the smallest forces of all directions that act like given forces of the independent ones."""
        return np.linalg.pinv(self.shares)

    @cached_property
    def _takes_part(self) -> np.ndarray:
        h = self.shares.shape[1]
        if len(self.independent) == h:
            return np.zeros(h, dtype=bool)
        nothing = scipy.linalg.null_space(self.shares) if len(self.independent) else np.eye(h)
        return np.abs(nothing).max(axis=1, initial=0.0) > _TAKES_PART

    def _require_same_friction(self) -> None:
        """Refuse forces that are not unique and whose friction moves the system in different ways."""
        friction = self.state.friction
        if len(self.independent) == friction.shape[1] or friction.nnz == 0:
            return
        pushes = _touched_rows(friction)
        apart = np.abs(pushes - pushes[:, self.independent] @ self.shares)
        if np.any(apart > _SAME * np.abs(pushes).max()):
            names = ", ".join(f"'{name}'" for name in self.undetermined)
            raise InvalidModel(
                f"{names} share their load in a way that rigid contacts leave open, and sliding friction makes the "
                f"motion depend on it; leave one of these contacts out, or make them compliant."
            )


def independent_columns(columns: np.ndarray, beside: np.ndarray | None = None) -> np.ndarray:
    """Numbers, rising, of columns (n, k) that span all of them together with the columns ``beside`` (n, l)."""
    size = np.linalg.norm(columns, axis=0)
    rest = columns / np.where(size > 0.0, size, 1.0)
    if beside is not None and beside.shape[1]:
        span = np.linalg.qr(beside / np.linalg.norm(beside, axis=0))[0]
        for _ in range(2):
            rest = rest - span @ (span.T @ rest)
    if not rest.size:
        return np.zeros(0, dtype=int)
    triangle, pivots = scipy.linalg.qr(rest, mode="r", pivoting=True)
    rank = int(np.count_nonzero(np.abs(np.diag(triangle)) > DEPENDENT))
    return np.sort(pivots[:rank])


def _touched_rows(columns: sparse.csc_array) -> np.ndarray:
    """Dense columns (k, h) without the coordinates that none of them touches: they decide on no dependence."""
    rows = columns.tocsr()
    return rows[np.flatnonzero(np.diff(rows.indptr))].toarray()


def _combinations(independent: np.ndarray, columns: np.ndarray) -> np.ndarray:
    if not independent.shape[1]:
        return np.zeros((0, columns.shape[1]))
    return np.linalg.lstsq(independent, columns, rcond=None)[0]
