"""Penetration and drift taken out of a position, in the metric of the mass; see ``klapper.schemes.projection``."""

from __future__ import annotations

import math

import numpy as np

from klapper.schemes.form_kernels import calls as call
from klapper.schemes.form_kernels.compiling import apart, inner
from klapper.schemes.form_kernels.contacts import Contacts, among, brought, moved, near_contacts
from klapper.schemes.form_kernels.inverse import Inverse, along, assemble, factorise, solve
from klapper.schemes.form_kernels.joints import Joints, impulses, push
from klapper.schemes.form_kernels.model import Model, Scheme
from klapper.schemes.form_kernels.room import Room
from klapper.schemes.form_kernels.smooth import places_for_smooth, room_for_smooth

_ROUNDS = 8
_TOLERANCE = 1e-12


@apart
def project(
    model: Model,
    scheme: Scheme,
    inverse: Inverse,
    joints: Joints,
    contacts: Contacts,
    count: int,
    room: Room,
    t: float,
) -> bool:
    """``room.q_after`` becomes the nearest position without penetration; contacts that last may keep what they have."""
    near, gap, residual, q = contacts.near, contacts.gap, room.violation, room.q_after
    brought(model, t)
    for _ in range(_ROUNDS):
        found = near_contacts(model, t, q, contacts) if scheme.clears else 0
        if found < 0:
            return False
        worst, closed = 0.0, 0
        for c in range(found):
            depth = gap[c]
            if scheme.keeps_lasting:
                place = among(near[c], contacts.number[:count])
                if place >= 0 and contacts.lasts[place]:
                    depth += contacts.allowed[place]
            if depth < 0.0:
                near[closed], gap[closed] = near[c], depth
                closed += 1
                worst = max(worst, -depth)
        if model.constraints > 0:
            call.residuals(model.call, model.index, model.data, t, q, residual)
            for i in range(model.constraints):
                worst = max(worst, abs(residual[i]))
        if not worst > _TOLERANCE:
            break
        if not _corrected(model, inverse, joints, room, t, near[:closed], gap[:closed], residual):
            return False
    return True


@inner
def _corrected(
    model: Model,
    inverse: Inverse,
    joints: Joints,
    room: Room,
    t: float,
    closed: np.ndarray,
    depth: np.ndarray,
    residual: np.ndarray,
) -> bool:
    """One correction of ``room.q_after``."""
    q, n, count = room.q_after, model.velocities, closed.size
    call.mass(model.call, model.index, model.data, q, room.mass_after)
    none, nowhere = np.empty(0), np.empty(0, np.int64)
    assemble(inverse, room.mass_after, model.mass_row, model.mass_column, none, none, nowhere, nowhere, 0.0)
    if not factorise(inverse):
        return False
    move = np.zeros(n)
    if model.constraints > 0:
        call.constraint_directions(
            model.call, model.index, model.data, t, q, joints.columns, joints.rows, joints.rates
        )
        if not call.prepare_joints(model.call, joints, inverse, 0.0):
            return False
        impulses(joints, residual, room.joint_one)
        push(joints, room.joint_one, move)
    if count > 0:
        d = 1 + model.tangential
        columns, rows = np.zeros((count, model.width), np.int64), np.zeros((count, d, model.width))
        rates = np.zeros((count, d))
        call.directions(model.call, model.index, model.data, t, q, closed, columns, rows, rates)
        response, right = np.empty((count, n)), np.empty(n)
        matrix, offset, x = np.empty((count, count)), np.empty(count), np.zeros(count)
        for c in range(count):
            right[:] = 0.0
            for k in range(model.width):
                right[columns[c, k]] += rows[c, 0, k]
            solve(inverse, right, response[c])
            if model.constraints > 0:
                for i in range(model.constraints):
                    room.joint_one[i] = along(joints.columns[i], joints.rows[i], response[c])
                impulses(joints, room.joint_one, room.joint_two)
                push(joints, room.joint_two, response[c])
        for c in range(count):
            offset[c] = depth[c] + along(columns[c], rows[c, 0], move)
            for e in range(count):
                matrix[c, e] = along(columns[c], rows[c, 0], response[e])
        for c in range(count):
            for e in range(c):
                matrix[c, e] = matrix[e, c] = 0.5 * (matrix[c, e] + matrix[e, c])
        work, places = np.empty(room_for_smooth(count)), np.empty(places_for_smooth(count), np.int64)
        if not math.isfinite(call.solve_smooth(model.call, matrix, offset, x, work, places)):
            return False
        for c in range(count):
            for i in range(n):
                move[i] += response[c, i] * x[c]
    moved(model, q, move, 1.0, room.at)
    for i in range(q.size):
        q[i] = room.at[i]
    return True
