"""Linear systems with multipliers, solved whole or reduced.

    [ A   B ] [ x ]   [ r ]
    [ Cᵀ  0 ] [ λ ] = [ s ]                                                                 Hesch (3.14)

``saddle``      all of it at once, but for coordinates that conditions hold one by one, which are put in
``null-space``  P spans the null space of Bᵀ: [Pᵀ A; Cᵀ] x = [Pᵀ r; s], then λ                    (3.19)-(3.23)
``condensed``   λ from as many rows of A x + B λ = r as there are multipliers, D = those rows of B:
                W = D⁻¹ at these rows, Qᵀ = 1 − B W,   (Qᵀ A + A Wᵀ Cᵀ) x = Qᵀ r + A Wᵀ s     (3.25)-(3.31), corrected

All three give the same x and λ. A multiplier without a direction is its own right-hand side. Where multipliers of the
whole system are not unique, because directions depend on each other, they get a compliance far below that of the
structure: x is unchanged where the conditions can be met at all, and of all λ a small one is found.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.linalg
import scipy.sparse as sparse

from klapper.complementarity.dense import dense
from klapper.schemes.krylov import inverse
from klapper.schemes.sparse_factor import SingularMatrix, Solve, factorised

_DEPENDENT = 1e-7  # share of multipliers that push, below which they cancel each other
_GIVE = 1e-9  # compliance of multipliers that are not unique, in units of that of the structure
_MANY = 500  # rows from which on held coordinates are put in: without them the diagonal has no zeros

Reduction = Literal["saddle", "null-space", "condensed"]


def saddle_point(matrix: Any, push: Any, slope: Any, active: np.ndarray, how: Reduction = "saddle") -> Solve:
    """(x, λ) (n + p,) from (r, s) (n + p,); A (n, n), B and C (n, p); λ = s where not ``active`` (p,)."""
    n, p = push.shape
    if p == 0:
        return inverse(matrix)
    on = np.flatnonzero(active)
    forces, rows = push[:, on], slope[:, on]
    if not len(on):
        inner = inverse(matrix)
    elif how == "null-space":
        inner = _null_space(dense(matrix), dense(forces), dense(rows))
    elif how == "condensed":
        inner = _condensed(matrix, forces, rows)
    else:
        inner = _saddle(sparse.csr_array(matrix), sparse.csc_array(forces), sparse.csc_array(rows))

    def solve(right: np.ndarray) -> np.ndarray:
        found = right.copy()
        part = inner(np.concatenate([right[:n], right[n:][on]]))
        found[:n] = part[:n]
        found[n + on] = part[n:]
        return found

    return solve


def _saddle(matrix: sparse.csr_array, forces: sparse.csc_array, rows: sparse.csc_array) -> Solve:
    """The whole, of large systems without what is held: cᵀ x = s of one coordinate each, then λ from its row."""
    n, p = forces.shape
    column, place = _held(forces, rows) if n >= _MANY else (np.zeros(0, dtype=int), np.zeros(0, dtype=int))
    if not 0 < len(place) < n:
        return _whole(matrix, forces, rows)
    free, others = np.delete(np.arange(n), place), np.delete(np.arange(p), column)
    inside = matrix[free][:, free]
    rest = (part[:, others][free] for part in (forces, rows))
    inner = _whole(inside, *rest) if len(others) else inverse(inside)
    push, slope = forces.data[forces.indptr[column]], rows.data[rows.indptr[column]]

    def solve(right: np.ndarray) -> np.ndarray:
        found = np.zeros_like(right)
        found[place] = (right[n + column].T / slope).T
        force, value = right[:n] - matrix @ found[:n], right[n:] - rows.T @ found[:n]
        part = inner(np.concatenate([force[free], value[others]]))
        found[free], found[n + others] = part[: len(free)], part[len(free) :]
        left = right[:n] - matrix @ found[:n] - forces[:, others] @ found[n + others]
        found[n + column] = (left[place].T / push).T
        return found

    return solve


def _held(forces: sparse.csc_array, rows: sparse.csc_array) -> tuple[np.ndarray, np.ndarray]:
    """Conditions on one coordinate that no other such condition holds, and the coordinates."""
    for part in (forces, rows):
        part.eliminate_zeros()
    single = np.flatnonzero((np.diff(forces.indptr) == 1) & (np.diff(rows.indptr) == 1))
    place = forces.indices[forces.indptr[single]]
    same = place == rows.indices[rows.indptr[single]]
    single, place = single[same], place[same]
    once = np.bincount(place, minlength=forces.shape[0])[place] == 1
    return single[once], place[once]


def _whole(matrix: sparse.csr_array, forces: Any, rows: Any) -> Solve:
    """Directions are scaled to the size of A, so that pivots and residuals of both kinds of rows compare."""
    n, p = forces.shape
    size = float(np.abs(matrix.diagonal()).max()) or 1.0
    push, slope = (size / (float(abs(part).max()) or 1.0) for part in (forces, rows))
    scaled, conditions = push * forces, slope * rows.T
    inner = _regular(matrix, scaled, conditions)
    if inner is None:
        give = sparse.diags_array(np.full(p, _GIVE * size))
        inner = factorised(sparse.block_array([[matrix, scaled], [conditions, give]], format="csc"))
    weight = np.concatenate([np.ones(n), np.full(p, slope)])
    back = np.concatenate([np.ones(n), np.full(p, push)])
    return lambda right: (back * inner((weight * right.T).T).T).T


def _regular(matrix: Any, scaled: Any, conditions: Any) -> Solve | None:
    """The factors of the whole, or None where multipliers can cancel each other."""
    n, p = scaled.shape
    try:
        found = factorised(sparse.block_array([[matrix, scaled], [conditions, None]], format="csc"))
        probe = found(np.concatenate([np.zeros(n), float(abs(scaled).max()) * np.cos(np.arange(p))]))[n:]
    except SingularMatrix:
        return None
    balance = np.abs(scaled @ probe).max(initial=0.0)
    alone = (abs(scaled) @ np.abs(probe)).max(initial=0.0)
    return found if np.isfinite(balance) and balance > _DEPENDENT * alone else None


def _null_space(matrix: np.ndarray, forces: np.ndarray, rows: np.ndarray) -> Solve:
    p = forces.shape[1]
    orthogonal, triangle = scipy.linalg.qr(forces)
    if np.abs(np.diag(triangle)).min(initial=1.0) <= 1e-13 * np.abs(triangle).max(initial=1.0):
        raise SingularMatrix("constraints depend on each other")
    free = orthogonal[:, p:]
    reduced = factorised(np.vstack([free.T @ matrix, rows.T]))

    def solve(right: np.ndarray) -> np.ndarray:
        n = len(matrix)
        x = reduced(np.concatenate([free.T @ right[:n], right[n:]]))
        left = orthogonal[:, :p].T @ (right[:n] - matrix @ x)
        return np.concatenate([x, scipy.linalg.solve_triangular(triangle[:p], left)])

    return solve


def _condensed(matrix: Any, forces: Any, rows: Any) -> Solve:
    columns = dense(forces)
    n, p = columns.shape
    _, _, order = scipy.linalg.qr(columns.T, pivoting=True, mode="economic")
    chosen = order[:p]  # rows in which the multipliers stand most independently
    inverse = np.linalg.inv(columns[chosen])
    a = sparse.csr_array(matrix)
    pick = sparse.csr_array((np.ones(p), (np.arange(p), chosen)), shape=(p, n))
    weight = sparse.csr_array(inverse) @ pick  # W (p, n)
    b, c = sparse.csr_array(forces), sparse.csr_array(rows)
    project = sparse.eye_array(n) - b @ weight
    back = a @ weight.T
    reduced = factorised((project @ a + back @ c.T).tocsc())

    def solve(right: np.ndarray) -> np.ndarray:
        x = reduced(project @ right[:n] + back @ right[n:])
        return np.concatenate([x, weight @ (right[:n] - a @ x)])

    return solve
