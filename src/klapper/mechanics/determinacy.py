"""Whether contact forces are determined by the motion, from the directions in which they can vary.

Loaded contacts that stick can change their force in all directions, those that slip along the edge of the friction
cone only. If some combination of these changes pushes nothing, the motion is the same for all of them: the forces are
not unique. Waltersberger 4.2.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.system import Matrix, System

_STICK = 1
_RANK = 1e-9
_LARGEST = 600  # changes of force up to which the rank is looked at


@dataclass(frozen=True)
class Determinacy:
    """``changes`` ways in which loaded forces can vary, ``rank`` of them seen in the motion; ``names`` of those
    contacts and constraints whose force is not determined."""

    changes: int
    rank: int
    names: tuple[str, ...]

    @property
    def unique(self) -> bool:
        return self.rank == self.changes

    def __str__(self) -> str:
        if self.unique:
            return "unique"
        few = ", ".join(self.names[:6]) + (f" and {len(self.names) - 6} more" if len(self.names) > 6 else "")
        return f"not unique: {self.changes - self.rank} free combination(s) among {few}"


def force_determinacy(
    system: System, t: float, q: np.ndarray, contact: np.ndarray, impulse: np.ndarray, state: np.ndarray
) -> Determinacy | None:
    """Whether the forces of loaded contacts (k,) with ``impulse`` (k, 1 + d) and ``state`` (k,) are unique.

    None if there are too many of them to look at.
    """
    d = system.contacts.tangential
    loaded = np.flatnonzero(np.any(impulse != 0.0, axis=1))
    bilateral, _ = system.constraint_directions(t, q)
    if len(loaded) * (1 + d) + bilateral.shape[1] > _LARGEST:
        return None
    contact, impulse, state = contact[loaded], impulse[loaded], state[loaded]
    directions = system.directions(t, q, contact)
    columns, names = [], []
    for k, i in enumerate(contact):
        normal = _column(directions.normal, k)
        tangents = [_column(directions.tangential, k * d + a) for a in range(d)]
        name = system.contacts.name(int(i))
        if state[k] == _STICK:
            added = [normal, *tangents] if np.any(normal) else tangents
        else:
            share = impulse[k, 1:] / impulse[k, 0] if impulse[k, 0] > 0 else np.zeros(d)
            added = [
                normal + sum((s * tangent for s, tangent in zip(share, tangents, strict=True)), 0.0 * normal)
            ]
        columns.extend(added)
        names.extend([name] * len(added))
    for j, name in enumerate(system.constraints):
        columns.append(_column(bilateral, j))
        names.append(name)
    return _determinacy(columns, names)


def _determinacy(columns: list[np.ndarray], names: list[str]) -> Determinacy:
    length = [np.linalg.norm(column) for column in columns]
    kept = [j for j, size in enumerate(length) if size > 0.0]
    if not kept:
        return Determinacy(0, 0, ())
    matrix = np.array([columns[j] / length[j] for j in kept]).T
    _, values, right = np.linalg.svd(matrix, full_matrices=True)
    rank = int(np.count_nonzero(values > _RANK * values[0]))
    free = np.abs(right[rank:]).max(axis=0, initial=0.0) > 1e-6
    undetermined = dict.fromkeys(names[kept[j]] for j in np.flatnonzero(free))
    return Determinacy(len(kept), rank, tuple(undetermined))


def _column(matrix: Matrix, j: int) -> np.ndarray:
    return matrix[:, [j]].toarray().ravel() if sparse.issparse(matrix) else matrix[:, j]
