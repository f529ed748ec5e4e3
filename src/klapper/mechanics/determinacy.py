"""Whether contact forces are determined by the motion, from the directions in which they can vary.

Loaded contacts that stick can change their force in all directions, those that slip along the edge of the friction
cone only; contacts that stay closed without a force can only gain one. If some combination of these changes pushes
nothing, the motion is the same for all of them: the forces are not unique. Waltersberger 4.2.1. If a combination holds
all contacts that are held, and yet pushes, because sliding contacts feed different friction, even the motion is not
determined; :mod:`klapper.mechanics.force_sets` bounds it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sparse

from klapper.complementarity import ComplementarityError
from klapper.complementarity.dense import dense
from klapper.contact_states import STICK
from klapper.counting import counted
from klapper.mechanics.force_sets import closed_forces, stays_closed
from klapper.mechanics.system import Matrix, System

_RANK = 1e-9
_LARGEST = 600  # changes of force up to which the rank is looked at
_LARGEST_SET = 60  # forces up to which different motions are looked for


@dataclass(frozen=True)
class ForceDeterminacy:
    """``changes`` ways in which loaded forces can vary, ``rank`` of them seen in the motion; ``names`` of those
    contacts and constraints whose force is not determined; ``motion_unique`` whether all forces that the contact state
    allows move the system the same way."""

    changes: int
    rank: int
    names: tuple[str, ...]
    motion_unique: bool = True

    @property
    def unique(self) -> bool:
        return self.rank == self.changes

    def __str__(self) -> str:
        if self.unique:
            return "unique" if self.motion_unique else "not unique: they change the motion"
        few = ", ".join(self.names[:6]) + (f" and {len(self.names) - 6} more" if len(self.names) > 6 else "")
        return f"not unique: {counted(self.changes - self.rank, 'free combination')} among {few}"


def force_determinacy(
    system: System,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    contact: np.ndarray,
    impulse: np.ndarray,
    state: np.ndarray,
) -> ForceDeterminacy | None:
    """Whether the forces of contacts (k,) with ``impulse`` (k, 1 + d) and ``state`` (k,) are unique.

    None if there are too many of them to look at.
    """
    d = system.contacts.tangential
    size = np.abs(impulse).max(axis=1, initial=0.0)
    loaded = np.flatnonzero(size > 1e-12 * size.max(initial=0.0))
    bilateral, _ = system.constraint_directions(t, q)
    if len(loaded) * (1 + d) + bilateral.shape[1] > _LARGEST:
        return None
    idle = _idle(system, t, q, v, np.delete(contact, loaded))
    same = _same_motion(system, t, q, v, contact, impulse, state, loaded)
    contact, impulse, state = contact[loaded], impulse[loaded], state[loaded]
    directions = system.directions(t, q, contact)
    columns, names = [], []
    for k, i in enumerate(contact):
        normal = _column(directions.normal, k)
        tangents = [_column(directions.tangential, k * d + a) for a in range(d)]
        name = system.contacts.name(int(i))
        if state[k] == STICK:
            added = [normal, *tangents] if np.any(normal) else tangents
        else:
            share = impulse[k, 1:] / impulse[k, 0] if impulse[k, 0] > 0 else np.zeros(d)
            added = [
                normal + sum((s * tangent for s, tangent in zip(share, tangents, strict=True)), 0.0 * normal)
            ]
        columns.extend(added)
        names.extend([name] * len(added))
    columns.extend(dense(bilateral).T)
    names.extend(system.constraints)
    one_sided = [_column(system.directions(t, q, idle).normal, k) for k in range(len(idle))]
    found = _determinacy(columns, names, one_sided, [system.contacts.name(int(i)) for i in idle])
    return replace(found, motion_unique=same)


def _same_motion(
    system: System,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    contact: np.ndarray,
    impulse: np.ndarray,
    state: np.ndarray,
    loaded: np.ndarray,
) -> bool:
    """Whether all forces of the contact state move the system the same way; only sliding friction can prevent it."""
    rubs = (state[loaded] != STICK) & np.any(impulse[loaded, 1:] != 0.0, axis=1)
    if len(loaded) < 2 or not np.any(rubs):
        return True
    closed = closed_forces(system, t, q, v, contact, impulse, state=state, largest=_LARGEST_SET)
    try:
        return closed is None or closed.set.motion_unique
    except ComplementarityError:
        return True


def _idle(system: System, t: float, q: np.ndarray, v: np.ndarray, contact: np.ndarray) -> np.ndarray:
    """Those of the unloaded contacts that stay closed: they might as well carry a part."""
    gaps = system.gaps(t, q, contact)
    near = contact[gaps <= 1e-9]  # numbers that name no contact have no gap
    if len(near) == 0 or len(near) > _LARGEST:
        return near[:0]
    directions = system.directions(t, q, near)
    return near[stays_closed(directions, v)]


def _determinacy(
    columns: list[np.ndarray], names: list[str], one_sided: list[np.ndarray], idle: list[str]
) -> ForceDeterminacy:
    """Free combinations of changes: of any sign for ``columns``, then with a gain of one of the ``one_sided``."""
    table = np.array(columns)
    kept = np.flatnonzero(table.any(axis=1)).tolist() if columns else []
    if not kept:
        return ForceDeterminacy(0, 0, ())
    matrix = (table[kept] / np.linalg.norm(table[kept], axis=1)[:, None]).T
    touched = matrix[np.any(matrix, axis=1)]
    _, values, right = np.linalg.svd(touched, full_matrices=len(touched) < len(kept))
    rank = int(np.count_nonzero(values > _RANK * values[0]))
    free = np.abs(right[rank:]).max(axis=0, initial=0.0) > 1e-6
    undetermined = dict.fromkeys(names[kept[j]] for j in np.flatnonzero(free))
    if one_sided:
        more = _gains(matrix, np.array([column / np.linalg.norm(column) for column in one_sided]).T)
        undetermined |= dict.fromkeys(idle[j] for j in np.flatnonzero(more[matrix.shape[1] :]))
        undetermined |= dict.fromkeys(names[kept[j]] for j in np.flatnonzero(more[: matrix.shape[1]]))
        changes = len(kept) + int(np.any(more))
        return ForceDeterminacy(changes, rank, tuple(undetermined))
    return ForceDeterminacy(len(kept), rank, tuple(undetermined))


def _gains(matrix: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """Which changes (k + i,) take part in a combination that pushes nothing and loads an idle contact."""
    from scipy.optimize import linprog

    k, i = matrix.shape[1], gains.shape[1]
    found = linprog(
        np.concatenate([np.zeros(k), -np.ones(i)]),
        A_eq=np.hstack([matrix, gains]),
        b_eq=np.zeros(matrix.shape[0]),
        bounds=[(-1.0, 1.0)] * k + [(0.0, 1.0)] * i,
    )
    if not found.success or -found.fun <= 1e-6:
        return np.zeros(k + i, dtype=bool)
    return np.abs(found.x) > 1e-6


def _column(matrix: Matrix, j: int) -> np.ndarray:
    return matrix[:, [j]].toarray().ravel() if sparse.issparse(matrix) else matrix[:, j]
