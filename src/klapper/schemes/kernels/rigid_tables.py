"""Rigid bodies, balls and contacts as tables of one row each: what a sweep needs lies side by side.

The row after the last body is the ground, which nothing moves. Planar models use the same columns with zeros for the
third direction, the first two rotations and the second tangent, so that all kernels but the kinematics are the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klapper.mechanics.rigid_form import RigidForm

# Columns of a body. In world axes, changed by the contact solver:
VELOCITY, SPIN = 0, 3
INVERSE_MASS = 6
INVERSE_INERTIA = 7  # xx, yy, zz, xy, xz, yz in world axes
SHOVE = 13  # what all impulses on the body would add to its velocity if they acted together
# of the step, in world axes:
ROTATION = 16  # body to world, by rows
BEFORE = 25  # velocity and spin at the start of the step
APPLIED = 31  # what the applied forces add to both
PLACE = 37
# in the body's axes:
APPLIED_SPIN = 40
CHANGE, CHANGE_TERMS = 43, 49  # M⁻¹ J λ and the sum of the magnitudes of its terms
# constant:
MASS, MOMENT, INVERSE_MOMENT = 55, 56, 59
TURNS = 62  # whether a ball is off the centre
BODY_COLUMNS = 64

# Columns of a contact.
NORMAL, TANGENT_1, TANGENT_2 = 0, 3, 6
ARM_A, ARM_B = 9, 12  # from the bodies' centres to the contact point
OWN = 15  # the contact's own W: nn, n1, n2, 11, 12, 22
SCHUR = (
    21  # eigenvalues and first eigenvector of W_TT − W_TN W_NT / W_NN; of plain contacts 1/W_NN and 1/W_TT
)
FRICTION = 25
BOUNCE = 26  # ε v_N⁻ [m/s]
KAPPA = 27
APPROACH = 28  # velocity (3,) at the start of the step
PLAIN = 31  # whether normal and friction are uncoupled and the latter is the same in all directions
LASTING = 32  # whether the contact obeys the law of those that last
CONTACT_COLUMNS = 33

# Columns of the list of pairs that may touch, and of the active contacts' links.
NUMBER, BALL, OTHER, KIND = 0, 1, 2, 3
BODY_A, BODY_B = 1, 2
BALLS, WITH_PLANE = 0, 1


class Model(NamedTuple):
    """A :class:`RigidForm` in tables.

    ``dimension``   2 or 3
    ``gravity``     (3,)
    ``body``        (nb + 1, BODY_COLUMNS) with the constant columns filled
    ``ball``        (ns, 4) place and radius; ``ball_body`` (ns,) row of the body
    ``plane``       (np, 6) point and normal
    ``listed``      number of listed contacts
    ``pair``        (k, 4) NUMBER, BALL, OTHER, KIND of those that can ever open
    ``pair_law``    (k, 2) friction, restitution
    ``group``       (ng,) balls, ``group_plane`` (gp,)
    ``group_law``   (2, 2) friction, restitution of BALLS and WITH_PLANE
    """

    dimension: int
    gravity: np.ndarray
    body: np.ndarray
    ball: np.ndarray
    ball_body: np.ndarray
    plane: np.ndarray
    listed: int
    pair: np.ndarray
    pair_law: np.ndarray
    group: np.ndarray
    group_plane: np.ndarray
    group_law: np.ndarray


def tables(form: RigidForm) -> Model:
    """The tables of a form; of pairs on the same body or both at rest only the numbers are kept."""
    ground = len(form.mass)
    body = np.zeros((ground + 1, BODY_COLUMNS))
    body[:ground, MASS] = form.mass
    body[:ground, INVERSE_MASS] = 1.0 / np.asarray(form.mass)
    moment = np.array(form.inertia, dtype=float).reshape(ground, 3)
    if form.dimension == 2:
        moment[:, :2] = 0.0
    body[:ground, MOMENT : MOMENT + 3] = moment
    body[:ground, INVERSE_MOMENT : INVERSE_MOMENT + 3] = np.divide(
        1.0, moment, out=np.zeros_like(moment), where=moment > 0.0
    )
    body[:, ROTATION : ROTATION + 9] = np.eye(3).ravel()
    ball_body = np.where(np.asarray(form.ball_body) < 0, ground, form.ball_body).astype(np.int64)
    place = np.array(form.ball_place, dtype=float).reshape(-1, 3)
    body[ball_body[np.any(place != 0.0, axis=1)], TURNS] = 1.0
    count = len(form.pair_ball)
    pair = np.empty((count, 4), dtype=np.int64)
    pair[:, NUMBER] = np.arange(count)
    pair[:, BALL], pair[:, OTHER] = form.pair_ball, form.pair_other
    pair[:, KIND] = np.where(form.pair_with_plane, WITH_PLANE, BALLS)
    other = np.where(
        pair[:, KIND] == WITH_PLANE, ground, ball_body[np.where(pair[:, KIND] == BALLS, pair[:, OTHER], 0)]
    )
    possible = ball_body[pair[:, BALL]] != other
    law = np.column_stack([form.pair_friction, form.pair_restitution]).astype(float).reshape(count, 2)
    return Model(
        int(form.dimension),
        np.array(form.gravity, dtype=float),
        body,
        np.column_stack([place, form.ball_radius]).astype(float).reshape(-1, 4),
        ball_body,
        np.column_stack([form.plane_point, form.plane_normal]).astype(float).reshape(-1, 6),
        count,
        np.ascontiguousarray(pair[possible]),
        np.ascontiguousarray(law[possible]),
        np.array(form.group_ball, dtype=np.int64),
        np.array(form.group_plane, dtype=np.int64),
        np.column_stack([form.group_friction, form.group_restitution]).astype(float).reshape(2, 2),
    )


def every_pair(model: Model) -> np.ndarray:
    """All possible contacts (m, 4) by their number; BALL is −1 where a number stands for none."""
    group, planes = model.group, model.group_plane
    size = len(group)
    pair = np.full((model.listed + size * (size + len(planes)), 4), -1, dtype=np.int64)
    pair[:, NUMBER] = np.arange(len(pair))
    pair[model.pair[:, NUMBER]] = model.pair
    a, b = np.triu_indices(size, 1)
    apart = model.ball_body[group[a]] != model.ball_body[group[b]]
    a, b = a[apart], b[apart]
    pair[model.listed + a * size + b, 1:] = np.column_stack([group[a], group[b], np.full(len(a), BALLS)])
    p, a = np.divmod(np.arange(len(planes) * size), max(size, 1))
    moves = model.ball_body[group[a]] != len(model.body) - 1
    p, a = p[moves], a[moves]
    pair[model.listed + size * size + p * size + a, 1:] = np.column_stack(
        [group[a], planes[p], np.full(len(a), WITH_PLANE)]
    )
    return pair
