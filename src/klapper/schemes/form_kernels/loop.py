"""Many steps of Moreau's scheme on a compiled form, with a sample after each of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klapper.schemes.form_kernels.compiling import inner, outer
from klapper.schemes.form_kernels.contacts import brought, new_contacts
from klapper.schemes.form_kernels.inverse import along
from klapper.schemes.form_kernels.model import Model, Scheme, model_by_reference
from klapper.schemes.form_kernels.room import (
    Kept,
    State,
    kept_by_reference,
    new_inverse,
    new_joints,
    new_room,
    state_by_reference,
)
from klapper.schemes.form_kernels.step import DONE, response_of, step


class Saved(NamedTuple):
    """Arrays that the loop fills, one row per step: position (nq,), velocity (nv,), gap (m,), impulse (m, 1 + d),
    contact state (m,), constraint impulse (p,), energy (7,), residual, and ``rank`` (1,) of the constraints."""

    position: np.ndarray
    velocity: np.ndarray
    gap: np.ndarray
    impulse: np.ndarray
    state: np.ndarray
    constraint: np.ndarray
    energy: np.ndarray
    residual: np.ndarray
    rank: np.ndarray


@outer
def run(
    given: Model,
    scheme: Scheme,
    kind: int,
    band: int,
    keeps: bool,
    begin: State,
    first: int,
    count: int,
    saved: Saved,
) -> tuple[int, int, int, float]:
    """Up to ``count`` steps after the ``first`` ones; (steps done, how the last one ended, its contacts, residual).

    ``kind``, ``band``  of M̂; ``keeps`` says that M̂, constraints and all contact directions are constant
    """
    model = model_by_reference(
        given.call,
        given.index,
        given.data,
        given.mass_row,
        given.mass_column,
        given.tangent_row,
        given.tangent_column,
        given.share_start,
        given.share_of,
        given.share,
        given.compliance,
        given.joint_band,
        given.positions,
        given.velocities,
        given.contacts,
        given.tangential,
        given.constraints,
        given.room,
        given.width,
        given.joint_width,
        given.brings,
        given.constant_mass,
        given.has_tangents,
        given.differences,
        given.constant_tangents,
        given.by_position,
        given.by_velocity,
        given.complete,
        given.advances,
        given.searches,
        given.constant_friction,
        given.coupled,
        given.compliant,
        given.straight,
        given.turns,
        given.curves,
        given.constant_joints,
        given.joints_turn,
        given.joints_curve,
        given.has_potential,
        given.has_damping,
        given.power_rule,
    )
    state = state_by_reference(
        begin.q, begin.v, begin.held, begin.held_impulse, begin.counts, begin.sums, begin.stored
    )
    room, contacts = new_room(model), new_contacts(model.room, model.width, model.tangential)
    inverse, joints = new_inverse(kind, band, model.velocities), new_joints(model, kind)
    if scheme.projects:
        plain, plain_joints = new_inverse(kind, band, model.velocities), new_joints(model, kind)
    else:
        plain, plain_joints = inverse, joints
    kept = kept_by_reference(np.zeros((0, 0)), np.zeros((0, 0)))
    every = np.arange(model.contacts)
    if not model.constant_mass:
        model.call.mass(model.index, model.data, state.q, room.mass_before)
    if model.has_potential:
        state.stored[0] = model.call.potential(model.index, model.data, state.q)
    h = scheme.step
    for k in range(count):
        t = scheme.start + (first + k) * h
        ended, used, residual = step(
            model, scheme, kept, inverse, joints, plain, plain_joints, contacts, room, t, h, h, k == 0, state
        )
        if ended != DONE:
            return k, ended, used, residual
        if k == 0 and keeps:
            kept = _constant_responses(
                model, inverse, joints, contacts, room, every, t + (1 - scheme.theta) * h
            )
        for i in range(model.positions):
            saved.position[k, i] = state.q[i]
        for i in range(model.velocities):
            saved.velocity[k, i] = state.v[i]
        if model.contacts > 0:
            brought(model, scheme.start + (first + k + 1) * h)
            model.call.gaps(
                model.index, model.data, scheme.start + (first + k + 1) * h, state.q, every, saved.gap[k]
            )
        for c in range(used):
            i = contacts.number[c]
            saved.state[k, i] = room.state[c]
            for a in range(1 + model.tangential):
                saved.impulse[k, i, a] = contacts.impulse[c, a]
        for i in range(model.constraints):
            saved.constraint[k, i] = room.joint_impulse[i]
        saved.rank[0] = min(saved.rank[0], joints.kind[1])
        saved.energy[k, 0] = state.stored[2]
        saved.energy[k, 1] = state.stored[0] + state.stored[1]
        for i in range(5):
            saved.energy[k, 2 + i] = state.sums[i]
        saved.residual[k] = residual
    return count, DONE, 0, 0.0


@inner
def _constant_responses(
    model: Model,
    inverse: object,
    joints: object,
    contacts: object,
    room: object,
    every: np.ndarray,
    t: float,
) -> Kept:
    """Responses of all contact rows, of which none changes."""
    m, width, n = model.contacts, 1 + model.tangential, model.velocities
    columns, rows = np.zeros((m, model.width), np.int64), np.zeros((m, width, model.width))
    rates, law, still = np.zeros((m, width)), np.zeros((m, 5)), np.zeros(m)
    model.call.directions(model.index, model.data, t, room.q_contact, every, columns, rows, rates)
    model.call.laws(model.index, model.data, every, still, law)
    response, delassus = np.empty((m * width, n)), np.empty((m * width, m * width))
    for c in range(m):
        for a in range(width):
            response_of(
                inverse, joints, columns[c], rows[c, a], law[c, 4] if a == 2 else 1.0,
                room.one, room.joint_one, room.joint_two, response[c * width + a],
            )  # fmt: skip
    for c in range(m):
        for a in range(width):
            for s in range(m * width):
                scale = law[c, 4] if a == 2 else 1.0
                delassus[c * width + a, s] = scale * along(columns[c], rows[c, a], response[s])
    return kept_by_reference(response, delassus)
