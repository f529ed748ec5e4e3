"""Bounds of forces by linear programs of another library, from the contact state alone.

In space a friction disc is replaced by polygons inside and outside of it, which give brackets of the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog

SIDES = 24


@dataclass
class KnownState:
    """Forces x (r,) of a known contact state, and the linear functions that its members share.

    ``held`` (h, r); ``keeping`` (G (k, r), h (k,)) with G (x' − x) + h ≥ 0; ``normal`` (m,), ``patches`` (m, d), one
    patch for each contact; ``closed``, ``sticks``, ``slides`` (m,) booleans; ``sense`` (m, d); ``mu`` (m,).
    """

    x: np.ndarray
    held: np.ndarray
    normal: np.ndarray
    patches: np.ndarray
    mu: np.ndarray
    closed: np.ndarray
    slides: np.ndarray
    sense: np.ndarray
    keeping: tuple[np.ndarray, np.ndarray] | None = None
    free: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=int))

    @property
    def planar(self) -> bool:
        return self.patches.shape[1] == 1 or not np.any(self.closed & ~self.slides & (self.mu > 0.0))


def bounds(state: KnownState, inside: bool) -> tuple[np.ndarray, np.ndarray] | None:
    """Least and greatest forces (r,), with polygons inside or outside the friction discs; None if there are none."""
    r = state.x.size
    size = np.abs(state.x).max(initial=0.0) or 1.0
    equal, right = [state.held], [np.zeros(len(state.held))]  # unknowns: (x' − x)/size
    less, most = [], []
    unit = np.eye(r)
    for i, n in enumerate(state.normal):
        patch, mu = state.patches[i], state.mu[i]
        if not state.closed[i]:
            rows = [n, *patch]
            equal.append(unit[rows])
            right.append(-state.x[rows] / size)
            continue
        less.append(-unit[[n]])
        most.append(state.x[[n]] / size)
        if state.slides[i] or mu == 0.0:
            rows = unit[patch] + mu * np.outer(state.sense[i], unit[n])
            equal.append(rows)
            right.append(-rows @ state.x / size)
            continue
        facets, apothem = _facets(len(patch), inside)
        rows = facets @ unit[patch] - apothem * mu * unit[n]
        less.append(rows)
        most.append(-rows @ state.x / size)
    if state.keeping is not None:
        length = np.linalg.norm(state.keeping[0], axis=1)
        felt = length > 0.0
        less.append(-state.keeping[0][felt] / length[felt, None])
        most.append(state.keeping[1][felt] / length[felt] / size)
    a_eq, b_eq = _independent(np.vstack(equal), np.concatenate(right))
    a_ub, b_ub = (np.vstack(less), np.concatenate(most)) if less else (None, None)
    ends = []
    for sign in (1.0, -1.0):
        for j in range(r):
            found = linprog(sign * unit[j], a_ub, b_ub, a_eq, b_eq, bounds=(None, None), method="highs")
            if found.status == 2 or (found.status == 4 and not ends):
                return None
            if found.status in (3, 4):
                ends.append(-np.inf)
            else:
                ends.append(found.fun)
    low, high = np.array(ends[:r]), -np.array(ends[r:])
    return state.x + size * low, state.x + size * high


def _independent(matrix: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same equations with orthonormal rows, so that tolerances of the program mean distances."""
    length = np.linalg.norm(matrix, axis=1)
    kept = length > 0.0
    left, values, rows = np.linalg.svd(matrix[kept] / length[kept, None], full_matrices=False)
    rank = int(np.count_nonzero(values > 1e-9 * values.max(initial=0.0)))
    return rows[:rank], (left.T[:rank] @ (right[kept] / length[kept])) / values[:rank]


def _facets(dimension: int, inside: bool) -> tuple[np.ndarray, float]:
    if dimension == 1:
        return np.array([[1.0], [-1.0]]), 1.0
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    return np.column_stack([np.cos(angle), np.sin(angle)]), float(np.cos(np.pi / SIDES)) if inside else 1.0


def disagreement(
    state: KnownState,
    lower: np.ndarray,
    upper: np.ndarray,
    tolerance: float = 1e-5,
    answer: np.ndarray | None = None,
) -> str:
    """What is wrong about bounds (r,), empty if nothing; ``tolerance`` of the largest force at hand.

    Bounds may be as wide as an ``answer`` (r,) that they must contain, which its solver found less accurately.
    """
    wide = bounds(state, inside=False)
    if wide is None:
        return ""
    narrow = wide if state.planar else bounds(state, inside=True)
    ends = np.abs(np.concatenate([state.x, *wide]))
    room = tolerance * (ends[np.isfinite(ends)].max(initial=0.0) or 1.0)
    for j in range(state.x.size):
        for given, outer, inner, sign in (
            (lower[j], wide[0][j], None if narrow is None else narrow[0][j], 1.0),
            (upper[j], wide[1][j], None if narrow is None else narrow[1][j], -1.0),
        ):
            if np.isinf(outer) and np.isinf(given) and outer == given:
                continue
            most = sign * outer if answer is None else min(sign * outer, sign * answer[j])
            if not sign * given >= most - room:
                return f"force {j}: {given} beyond {outer} (state {state})"
            if inner is not None and not sign * given <= sign * inner + room:
                return f"force {j}: {given} within {inner} (state {state})"
    return ""
