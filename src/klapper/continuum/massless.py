"""Surfaces without mass: the mass near a contact boundary is carried by the nodes behind it.

    M ← Pᵀ M P,   (P v)_b = Σ_j c_bj v_j,   Σ_j c_bj = 1,   Σ_j c_bj X_j = X_b

Velocities of the nodes b on the surface are extrapolated from nodes j inside, exactly for all linear fields: total
mass, centre of mass and moments of inertia stay what they are. Without mass of its own a node that comes into contact
has no momentum to lose in a step, and contact forces do not oscillate for that reason. After Khenous, Laborde & Renard
(2008) and Hager, Hüeber & Wohlmuth (2008).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse

from klapper.continuum.body import Body
from klapper.mechanics.errors import InvalidModel

_RINGS = 2  # of cells around a node, from which it is extrapolated


def extrapolation(body: Body, surface: str) -> sparse.csr_array:
    """P (n, n) over the nodes of a body: nodes of the surface are extrapolated from inside, all others stay."""
    nodes = body.mesh.nodes
    chosen = body.mesh.surface_nodes(surface)
    inside = np.ones(len(nodes), dtype=bool)
    inside[chosen] = False
    around = _around(body)
    rows, columns, values = [np.flatnonzero(inside)], [np.flatnonzero(inside)], [np.ones(int(inside.sum()))]
    for node in chosen:
        near = around.indices[around.indptr[node] : around.indptr[node + 1]]
        near = near[inside[near]]
        share = _linear_weights(nodes[near] - nodes[node])
        if share is None:
            raise InvalidModel(
                f"node {node} of '{body.name} {surface}' cannot be without mass: there are too few nodes behind it; "
                f"use a finer mesh."
            )
        rows.append(np.full(len(near), node))
        columns.append(near)
        values.append(share)
    where = (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array((np.concatenate(values), where), shape=(len(nodes), len(nodes)))


def _around(body: Body) -> sparse.csr_array:
    """(n, n): which nodes share a chain of at most so many cells."""
    cells = body.mesh.cells
    count = len(body.mesh.nodes)
    belongs = sparse.csr_array(
        (np.ones(cells.size), (cells.ravel(), np.repeat(np.arange(len(cells)), cells.shape[1]))),
        shape=(count, len(cells)),
    )
    step = (belongs @ belongs.T).tocsr()
    found = step
    for _ in range(_RINGS - 1):
        found = (found @ step).tocsr()
    return found


def _linear_weights(arms: np.ndarray) -> np.ndarray | None:
    """The smallest c (k,) with Σ c = 1 and Σ c arm = 0, nearer nodes preferred; None if there is none."""
    k, d = arms.shape
    if k <= d:
        return None
    scale = float(np.linalg.norm(arms, axis=1).min())
    weight = (scale / np.linalg.norm(arms, axis=1)) ** 2
    conditions = np.vstack([np.ones(k), arms.T / scale])
    wanted = np.append(1.0, np.zeros(d))
    inner = conditions * weight
    found = weight * (inner.T @ np.linalg.lstsq(inner @ inner.T, wanted, rcond=None)[0])
    return found if np.allclose(conditions @ found, wanted, atol=1e-9) else None
