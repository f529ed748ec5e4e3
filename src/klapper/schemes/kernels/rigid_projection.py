"""Penetration taken out of the positions of rigid bodies, in the metric of the mass.

    q ← q + M⁻¹ J_N ν,   0 ≤ ν ⟂ g + a ≥ 0

The same rounds as ``klapper.schemes.projection``: a is the penetration that the law of lasting contacts leaves. Each
round is a contact problem without friction, whose velocities are displacements.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from klapper.schemes.kernels.rigid_contacts import set_contact
from klapper.schemes.kernels.rigid_geometry import gap_of, set_centres
from klapper.schemes.kernels.rigid_lasting import ALLOWED
from klapper.schemes.kernels.rigid_momentum import new_momentum
from klapper.schemes.kernels.rigid_motion import advance, set_change, set_free, set_place
from klapper.schemes.kernels.rigid_solve import solve
from klapper.schemes.kernels.rigid_tables import APPLIED, BOUNCE, CHANGE, CONTACT_COLUMNS, NUMBER, Model

_ROUNDS = 8
_TOLERANCE = 1e-12  # [m], as in klapper.schemes.projection
_RESIDUAL = 1e-8  # of the contact problem of a round
_SWEEPS = 500
MOST = 200
"""Contacts of a step up to which positions are projected: in heaps the sweeps of a projection cost more than those of
the step, and what a heap penetrates follows from its impacts."""


@njit(cache=True, error_model="numpy")
def _find_deep(
    pair: np.ndarray,
    centre: np.ndarray,
    ball: np.ndarray,
    plane: np.ndarray,
    link: np.ndarray,
    known: np.ndarray,
    total: int,
    deep: np.ndarray,
    depth: np.ndarray,
    count: int,
) -> int:
    """Append the places in the list of pairs that penetrate by more than allowed, while there is room."""
    j = 0
    for k in range(pair.shape[0]):
        while j < total and link[j, NUMBER] < pair[k, NUMBER]:
            j += 1
        allowed = known[j, ALLOWED] if j < total and link[j, NUMBER] == pair[k, NUMBER] else 0.0
        gap = gap_of(pair, k, centre, ball, plane) + allowed
        if gap < 0.0:
            if count < deep.size:
                deep[count], depth[count] = k, gap
            count += 1
    return count


@njit(cache=True, error_model="numpy")
def project(
    model: Model,
    near: np.ndarray,
    link: np.ndarray,
    known: np.ndarray,
    total: int,
    q: np.ndarray,
    moved: np.ndarray,
    still: np.ndarray,
) -> None:
    """Change q (nq,) to the nearest position without penetration.

    ``near``            pairs of the search; ``link`` and ``known`` of the ``total`` contacts of the step
    ``moved``, ``still``  room for a position (nq,), and velocities (nv,) that are used as room, too
    """
    dimension, pair, plane = model.dimension, model.pair, model.plane
    ball, ball_body = model.ball, model.ball_body
    body = model.body.copy()
    centre = np.empty((ball.shape[0], 3))
    deep, depth = np.empty(MOST, np.int64), np.empty(MOST)
    for _ in range(_ROUNDS):
        still[:] = 0.0
        set_place(dimension, body, q, still, 0.0)
        set_centres(body, ball, ball_body, centre)
        of_pairs = _find_deep(pair, centre, ball, plane, link, known, total, deep, depth, 0)
        count = _find_deep(near, centre, ball, plane, link, known, total, deep, depth, of_pairs)
        worst = 0.0
        for i in range(min(count, MOST)):
            worst = min(worst, depth[i])
        if count > MOST or worst >= -_TOLERANCE:
            return
        set_free(dimension, model.gravity, body, still, 0.0, 1.0)
        for b in range(body.shape[0] - 1):
            for a in range(6):
                body[b, APPLIED + a] = 0.0
        contact, rows = np.zeros((count, CONTACT_COLUMNS)), np.empty((count, 3), np.int64)
        impulse, momentum = np.zeros((count, 3)), new_momentum(count, body.shape[0])
        for i in range(count):
            source = pair if i < of_pairs else near
            set_contact(
                dimension, source, deep[i], centre, ball, ball_body, plane, body, contact, rows, i, 0.0, 0.0
            )
            contact[i, BOUNCE] = depth[i]
        reached = solve(body, contact, rows, impulse, count, _RESIDUAL, _SWEEPS, momentum)
        if not reached <= 1.0:
            return
        set_change(body, contact, rows, impulse, count)
        width = 3 if dimension == 2 else 6
        for b in range(body.shape[0] - 1):
            if dimension == 2:
                still[3 * b], still[3 * b + 1] = body[b, CHANGE], body[b, CHANGE + 1]
                still[3 * b + 2] = body[b, CHANGE + 5]
            else:
                for a in range(width):
                    still[width * b + a] = body[b, CHANGE + a]
        advance(dimension, q, still, still, 1.0, 1.0, moved)
        for a in range(q.size):
            q[a] = moved[a]
