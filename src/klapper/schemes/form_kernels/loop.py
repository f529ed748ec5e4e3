"""Many steps of Moreau's scheme on a compiled form, with a sample after each of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klapper.contact_states import IMPACT
from klapper.schemes.adaptive_step import SMALLEST
from klapper.schemes.form_kernels import calls as call
from klapper.schemes.form_kernels.compiling import bare, inner, outer, part
from klapper.schemes.form_kernels.contacts import Contacts, among, brought, new_contacts
from klapper.schemes.form_kernels.impulses import DONE, response_of
from klapper.schemes.form_kernels.inverse import Inverse, along
from klapper.schemes.form_kernels.joints import Joints
from klapper.schemes.form_kernels.model import Model, Scheme, model_by_reference
from klapper.schemes.form_kernels.room import (
    Kept,
    Room,
    State,
    copy_state,
    kept_by_reference,
    new_inverse,
    new_joints,
    new_room,
    new_state,
    state_by_reference,
)
from klapper.schemes.form_kernels.step import IMPACT_LAW


class Saved(NamedTuple):
    """Arrays that the loop fills, one row per step: position (nq,), velocity (nv,), gap (m,), impulse (m, 1 + d),
    contact state (m,), constraint impulse (p,), energy (7,), residual, time where steps differ in length; and ``rank``
    (1,) of the constraints."""

    position: np.ndarray
    velocity: np.ndarray
    gap: np.ndarray
    impulse: np.ndarray
    state: np.ndarray
    constraint: np.ndarray
    energy: np.ndarray
    residual: np.ndarray
    time: np.ndarray
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
    """Up to ``count`` equal steps after the ``first`` ones; steps done, how the last one ended, its contacts, residual.

    ``kind``, ``band``  of M̂; ``keeps`` says that M̂, constraints and all contact directions are constant
    """
    model, state = _by_reference(given, begin)
    room, contacts = new_room(model), new_contacts(model.room, model.width, model.tangential)
    inverse, joints = new_inverse(kind, band, model.velocities), new_joints(model, kind)
    plain, plain_joints = inverse, joints
    if scheme.projects:
        plain, plain_joints = new_inverse(kind, band, model.velocities), new_joints(model, kind)
    rows = model.contacts * (1 + model.tangential) if keeps else 0
    kept = kept_by_reference(
        np.zeros((rows, model.velocities)), np.zeros((rows, rows)), np.zeros(1, np.int64)
    )
    every = np.arange(model.contacts)
    return _steps(
        model, scheme, kept, inverse, joints, plain, plain_joints, contacts, room, keeps, every, state, first, count,
        saved,
    )  # fmt: skip


@bare
def _steps(
    model: Model,
    scheme: Scheme,
    kept: Kept,
    inverse: Inverse,
    joints: Joints,
    plain: Inverse,
    plain_joints: Joints,
    contacts: Contacts,
    room: Room,
    keeps: bool,
    every: np.ndarray,
    state: State,
    first: int,
    count: int,
    saved: Saved,
) -> tuple[int, int, int, float]:
    """The steps of :func:`run`, in arrays that are given."""
    _energies_at_start(model, state)
    h = scheme.step
    for k in range(count):
        t = scheme.start + (first + k) * h
        ended, used, residual = call.step(
            model.call,
            model,
            scheme,
            kept,
            inverse,
            joints,
            plain,
            plain_joints,
            contacts,
            room,
            t,
            h,
            h,
            k == 0,
            state,
        )
        if ended != DONE:
            return k, ended, used, residual
        if k == 0 and keeps:
            at = t + (1 - scheme.theta) * h
            call.constant_responses(model.call, model, inverse, joints, room, every, at, kept)
        _note_contacts(model, contacts, room, used, k, saved)
        saved.residual[k] = residual
        _save(model, joints, state, every, scheme.start + (first + k + 1) * h, k, saved)
    return count, DONE, 0, 0.0


@outer
def run_adaptive(
    given: Model,
    scheme: Scheme,
    kind: int,
    band: int,
    begin: State,
    memory: np.ndarray,
    until: float,
    count: int,
    saved: Saved,
) -> tuple[int, int, int, float]:
    """Up to ``count`` steps of two halves, checked against one whole step, not beyond ``until`` [s].

    ``memory`` (5,): length of the next step, of the last half step, and time, changed in place; then time and error of
    the first step that misses the accuracy. See :mod:`klapper.schemes.adaptive_step`.
    """
    model, state = _by_reference(given, begin)
    room, contacts = new_room(model), new_contacts(model.room, model.width, model.tangential)
    inverse, joints = new_inverse(kind, band, model.velocities), new_joints(model, kind)
    plain, plain_joints = new_inverse(kind, band, model.velocities), new_joints(model, kind)
    kept = kept_by_reference(np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(1, np.int64))
    every = np.arange(model.contacts)
    before, whole = new_state(model), np.zeros(model.positions)
    _energies_at_start(model, state)
    smallest = SMALLEST * scheme.step
    for k in range(count):
        t = memory[2]
        if t >= until - 1e-12 * abs(until):
            return k, DONE, 0, 0.0
        copy_state(state, before)
        h, factor, error = min(memory[0], scheme.step, until - t), 1.0, 0.0
        while True:
            saved.impulse[k, :, :] = 0.0
            saved.state[k, :] = 0
            saved.constraint[k, :] = 0.0
            saved.residual[k] = 0.0
            ended, used, residual = call.step(
                model.call, model, scheme, kept, inverse, joints, plain, plain_joints, contacts, room,
                t, h, max(h, memory[1]), True, state,
            )  # fmt: skip
            whole[:] = state.q
            copy_state(before, state)
            last, at = memory[1], t
            for half in range(2):
                if ended == DONE:
                    ended, used, residual = call.step(
                        model.call, model, scheme, kept, inverse, joints, plain, plain_joints, contacts, room,
                        at, 0.5 * h, max(0.5 * h, last), half == 0, state,
                    )  # fmt: skip
                if ended == DONE:
                    _note_contacts(model, contacts, room, used, k, saved)
                    saved.residual[k] = max(saved.residual[k], residual)
                    last, at = 0.5 * h, at + 0.5 * h
            if ended == DONE:
                error = _unseen(model, contacts, used, state, every, at)
                for i in range(model.positions):
                    error = max(error, abs(whole[i] - state.q[i]))
                factor = min(max(0.9 * np.sqrt(scheme.accuracy / max(error, 1e-300)), 0.2), 2.0)
                if error <= scheme.accuracy or h <= smallest:
                    break
                h = max(h * min(factor, 0.7), smallest)
            elif h <= smallest or ended == IMPACT_LAW:
                copy_state(before, state)
                return k, ended, used, residual
            else:
                h = max(0.5 * h, smallest)
            copy_state(before, state)
        if error > scheme.accuracy and memory[4] == 0.0:
            memory[3], memory[4] = t, error
        memory[0], memory[1], memory[2] = min(h * factor, scheme.step), 0.5 * h, at
        saved.time[k] = at
        _save(model, joints, state, every, at, k, saved)
    return count, DONE, 0, 0.0


@inner
def _unseen(model: Model, contacts: Contacts, used: int, state: State, every: np.ndarray, t: float) -> float:
    """Depth [m] of contacts that closed within a step without taking part in it."""
    if model.contacts == 0:
        return 0.0
    gap, depth = np.empty(every.size), 0.0
    brought(model, t)
    call.gaps(model.call, model.index, model.data, t, state.q, every, gap)
    for i in range(every.size):
        if gap[i] < -depth and among(i, contacts.number[:used]) < 0:
            depth = -gap[i]
    return depth


@bare
def _energies_at_start(model: Model, state: State) -> None:
    if not model.constant_mass:
        call.mass(model.call, model.index, model.data, state.q, state.mass)
    if model.has_potential:
        state.stored[0] = call.potential(model.call, model.index, model.data, state.q)


@bare
def _note_contacts(model: Model, contacts: Contacts, room: Room, used: int, k: int, saved: Saved) -> None:
    """Add what the contacts and constraints did in a step to row k."""
    for c in range(used):
        i = contacts.number[c]
        if saved.state[k, i] != IMPACT:
            saved.state[k, i] = room.state[c]
        for a in range(1 + model.tangential):
            saved.impulse[k, i, a] += contacts.impulse[c, a]
    for i in range(model.constraints):
        saved.constraint[k, i] += room.joint_impulse[i]


@bare
def _save(
    model: Model, joints: Joints, state: State, every: np.ndarray, t: float, k: int, saved: Saved
) -> None:
    """The state after a step into row k."""
    for i in range(model.positions):
        saved.position[k, i] = state.q[i]
    for i in range(model.velocities):
        saved.velocity[k, i] = state.v[i]
    if model.contacts > 0:
        brought(model, t)
        call.gaps(model.call, model.index, model.data, t, state.q, every, saved.gap[k])
    saved.rank[0] = min(saved.rank[0], joints.kind[1])
    saved.energy[k, 0] = state.stored[2]
    saved.energy[k, 1] = state.stored[0] + state.stored[1]
    for i in range(5):
        saved.energy[k, 2 + i] = state.sums[i]


@inner
def _by_reference(given: Model, begin: State) -> tuple[Model, State]:
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
        given.scratch,
        given.entry_row,
        given.entry_column,
        given.rank,
        given.narrow,
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
        begin.q, begin.v, begin.held, begin.held_impulse, begin.counts, begin.sums, begin.stored, begin.mass
    )
    return model, state


@part
def constant_responses(
    model: Model,
    inverse: Inverse,
    joints: Joints,
    room: Room,
    every: np.ndarray,
    t: float,
    kept: Kept,
) -> None:
    """Responses of all contact rows, of which none changes, into ``kept``."""
    m, width = model.contacts, 1 + model.tangential
    columns, rows = np.zeros((m, model.width), np.int64), np.zeros((m, width, model.width))
    rates, law, still = np.zeros((m, width)), np.zeros((m, 5)), np.zeros(m)
    call.directions(model.call, model.index, model.data, t, room.q_contact, every, columns, rows, rates)
    call.laws(model.call, model.index, model.data, every, still, law)
    response, delassus = kept.response, kept.delassus
    for c in range(m):
        for a in range(width):
            response_of(
                model, inverse, joints, columns[c], rows[c, a], law[c, 4] if a == 2 else 1.0,
                room.one, room.joint_one, room.joint_two, response[c * width + a],
            )  # fmt: skip
    for c in range(m):
        for a in range(width):
            for s in range(m * width):
                scale = law[c, 4] if a == 2 else 1.0
                delassus[c * width + a, s] = scale * along(columns[c], rows[c, a], response[s])
    kept.ready[0] = 1
