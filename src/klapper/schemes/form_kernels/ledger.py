"""Contact states and the energy ledger of one step; the formulas are those of ``klapper.schemes.energy``."""

from __future__ import annotations

import math

import numpy as np

from klapper.contact_states import IMPACT, OPEN, SLIP, STICK
from klapper.schemes.form_kernels import calls as call
from klapper.schemes.form_kernels.compiling import apart, bare
from klapper.schemes.form_kernels.contacts import Contacts, among, difference_step, moved
from klapper.schemes.form_kernels.inverse import along, along_sizes, quadratic
from klapper.schemes.form_kernels.joints import Joints
from klapper.schemes.form_kernels.model import GIVEN, LESS_POTENTIAL, Model, Scheme
from klapper.schemes.form_kernels.room import Room, State


@bare
def contact_states(model: Model, contacts: Contacts, room: Room, count: int, h: float, v: np.ndarray) -> None:
    for c in range(count):
        room.state[c] = OPEN
        if not contacts.loaded[c]:
            continue
        speed, terms = 0.0, 0.0
        for a in range(1, 1 + model.tangential):
            rate = contacts.rates[c, a]
            slip = along(contacts.columns[c], contacts.rows[c, a], room.v_after) + rate
            speed = math.hypot(speed, slip)
            moving = along_sizes(contacts.columns[c], contacts.rows[c, a], v)
            moving += along_sizes(contacts.columns[c], contacts.rows[c, a], room.pushed)
            terms = max(terms, moving + abs(rate))
        limit = contacts.law[c, 2] * contacts.impulse[c, 0] + contacts.law[c, 3] * h
        if model.coupled:
            i = contacts.number[c]
            for k in range(model.share_start[i], model.share_start[i + 1]):
                place = among(model.share_of[k], contacts.number[:count])
                if place >= 0:
                    limit += model.share[k] * contacts.impulse[place, 0]
        room.state[c] = STICK if limit > 0.0 and speed <= 1e-9 * terms else SLIP
        if contacts.impulse[c, 0] > 0.0 and not contacts.lasts[c]:
            approach = -along(contacts.columns[c], contacts.rows[c, 0], v) - contacts.rates[c, 0]
            smooth = abs(along(contacts.columns[c], contacts.rows[c, 0], room.pushed))
            if approach > 2.0 * smooth + 1e-12 * abs(approach):
                room.state[c] = IMPACT


@bare
def book(
    model: Model,
    scheme: Scheme,
    contacts: Contacts,
    room: Room,
    joints: Joints,
    count: int,
    jumps: bool,
    t: float,
    h: float,
    last: float,
    state: State,
) -> None:
    """Loads, damping, friction, impact and numerical loss of the step are added to the sums."""
    theta, q, v, after = scheme.theta, state.q, state.v, room.v_after
    n = v.size
    middle, jump = room.middle, room.three
    for i in range(n):
        middle[i] = 0.5 * (v[i] + after[i])
        jump[i] = after[i] - v[i]
    impact, friction, walls, turned, softened = 0.0, 0.0, 0.0, 0.0, 0.0
    for c in range(count):
        for a in range(1 + model.tangential):
            force = contacts.impulse[c, a]
            if force == 0.0:
                continue
            work = force * (along(contacts.columns[c], contacts.rows[c, a], middle) + contacts.rates[c, a])
            walls -= force * contacts.rates[c, a]
            if a > 0:
                friction -= work
            elif contacts.soft[c]:
                softened -= work
            elif contacts.lasts[c]:
                turned -= work
            else:
                impact -= work
    held = 0.0
    for i in range(model.constraints):
        force = room.joint_impulse[i]
        walls -= force * joints.rates[i]
        held -= force * (along(joints.columns[i], joints.rows[i], middle) + joints.rates[i])
    applied = room.one
    for i in range(n):
        applied[i] = h * room.force[i]
    if model.has_tangents:
        for e in range(model.tangent_row.size):
            slope = h * theta * (room.by_velocity[e] + h * theta * room.by_position[e])
            applied[model.tangent_row[e]] += slope * jump[model.tangent_column[e]]
    work = 0.0
    for i in range(n):
        work += middle[i] * applied[i]
        room.two[i] = v[i] + theta * jump[i]
    moved(model, q, room.two, theta * h, room.at)
    powers(model, t + theta * h, room.at, middle, room)
    load, damping = room.powers[0], room.powers[1]
    stored = call.potential(model.call, model.index, model.data, room.q_after) if model.has_potential else 0.0
    numerical = h * (load - damping) - (stored - state.stored[0]) - work + turned + softened
    if not model.constant_mass:
        call.mass(model.call, model.index, model.data, room.q_after, room.mass_after)
        gained = quadratic(model.mass_row, model.mass_column, room.mass_after, after, after)
        gained -= quadratic(model.mass_row, model.mass_column, room.mass, after, after)
        gained -= quadratic(model.mass_row, model.mass_column, state.mass, v, v)
        gained += quadratic(model.mass_row, model.mass_column, room.mass, v, v)
        numerical -= 0.5 * gained
        for e in range(room.mass_after.size):
            state.mass[e] = room.mass_after[e]
        state.stored[2] = 0.5 * quadratic(model.mass_row, model.mass_column, room.mass_after, after, after)
    else:
        state.stored[2] = 0.5 * quadratic(model.mass_row, model.mass_column, room.mass, after, after)
    if model.compliant:
        sprung = _springs(model, contacts, count, h)
        numerical -= sprung - state.stored[1]
        state.stored[1] = sprung
    if jumps:
        impact += held
    else:
        numerical += held
    state.stored[0] = stored
    state.sums[0] += h * load + walls
    state.sums[1] += h * damping
    state.sums[2] += friction
    state.sums[3] += impact
    state.sums[4] += numerical


@bare
def _springs(model: Model, contacts: Contacts, count: int, h: float) -> float:
    """½ λᵀ C λ [J]."""
    total = 0.0
    for c in range(count):
        for e in range(count):
            total += (
                contacts.impulse[c, 0]
                * model.compliance[contacts.number[c], contacts.number[e]]
                * contacts.impulse[e, 0]
            )
    return 0.5 * total / (h * h)


@bare
def powers(model: Model, t: float, q: np.ndarray, v: np.ndarray, room: Room) -> None:
    """Power of loads and of dampers [W] into ``room.powers``."""
    if model.power_rule == GIVEN:
        call.powers(model.call, model.index, model.data, t, q, v, room.powers)
    else:
        call.difference_powers(model.call, model, t, q, v, room)


@apart
def difference_powers(model: Model, t: float, q: np.ndarray, v: np.ndarray, room: Room) -> None:
    """The same where the form has no powers: v · f + ½ vᵀ Ṁ v is load, less potential and damping if they are known."""
    call.force(model.call, model.index, model.data, t, q, v, room.two)
    total = 0.0
    for i in range(v.size):
        total += v[i] * room.two[i]
    d = difference_step(q, v)
    if not model.constant_mass:
        moved(model, q, v, d, room.q_force)
        call.mass(model.call, model.index, model.data, room.q_force, room.mass_after)
        gained = quadratic(model.mass_row, model.mass_column, room.mass_after, v, v)
        moved(model, q, v, -d, room.q_force)
        call.mass(model.call, model.index, model.data, room.q_force, room.mass_after)
        gained -= quadratic(model.mass_row, model.mass_column, room.mass_after, v, v)
        total += 0.25 / d * gained
    damping = 0.0
    if model.power_rule == LESS_POTENTIAL:
        moved(model, q, v, d, room.q_force)
        stored = call.potential(model.call, model.index, model.data, room.q_force)
        moved(model, q, v, -d, room.q_force)
        stored = (stored - call.potential(model.call, model.index, model.data, room.q_force)) / (2.0 * d)
        if model.has_damping:
            damping = call.damping(model.call, model.index, model.data, t, q, v)
        total += stored + damping
    room.powers[0], room.powers[1] = total, damping
