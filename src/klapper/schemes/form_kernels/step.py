"""One step of Moreau's scheme, in the order and with the names of ``klapper.schemes.moreau_step``."""

from __future__ import annotations

import math

import numpy as np

from klapper.schemes.form_kernels import calls as call
from klapper.schemes.form_kernels.compiling import apart, bare, inner
from klapper.schemes.form_kernels.contacts import (
    Contacts,
    brought,
    closed,
    difference_step,
    laws,
    moved,
    near_contacts,
)
from klapper.schemes.form_kernels.impulses import DONE, NO_ROOM, UNSOLVED, contact_impulses
from klapper.schemes.form_kernels.inverse import (
    Inverse,
    along,
    along_sizes,
    assemble,
    factorise,
    multiply,
    solve,
)
from klapper.schemes.form_kernels.joints import Joints, contradicts, impulses, push, violations
from klapper.schemes.form_kernels.ledger import book, contact_states
from klapper.schemes.form_kernels.model import Model, Scheme
from klapper.schemes.form_kernels.room import Kept, Room, State

NOT_FINITE, NO_INVERSE, NO_JOINTS, CONTRADICTION, IMPACT_LAW = 2, 3, 4, 6, 7
_APPROACHES = 1e-12  # of the largest velocity: what approaches slower is at rest
_DIFFERENCE = 6.0e-6


@apart
def step(
    model: Model,
    scheme: Scheme,
    kept: Kept,
    inverse: Inverse,
    joints: Joints,
    plain: Inverse,
    plain_joints: Joints,
    contacts: Contacts,
    room: Room,
    t: float,
    h: float,
    longest: float,
    fresh: bool,
    state: State,
) -> tuple[int, int, float]:
    """(how it ended, contacts that took part, residual); ``fresh``: constant parts are made, too."""
    theta, q, v = scheme.theta, state.q, state.v
    t_contact = t + (1.0 - theta) * h
    moved(model, q, v, (1.0 - theta) * h, room.q_contact)
    brought(model, t_contact)
    count = near_contacts(model, t_contact, room.q_contact, contacts)
    if count < 0:
        return NO_ROOM, 0, math.inf
    if scheme.on_position or not model.turns or count == 0:
        for c in range(count):
            contacts.lasts[c], contacts.shift[c], contacts.allowed[c] = False, 0.0, 0.0
    else:
        call.lasting(
            model.call, model, scheme.start, t_contact, room.q_contact, v, count, contacts, room.at,
            state.held, state.counts[0], h, longest,
        )  # fmt: skip
    count = closed(count, contacts, scheme.on_position)
    rough = False
    if count > 0:
        call.directions(model.call, model.index, model.data, t_contact, room.q_contact, contacts.number[:count],
            contacts.columns[:count], contacts.rows[:count], contacts.rates[:count],
        )  # fmt: skip
        rough = laws(model, v, count, contacts)
        for c in range(count):
            if not math.isfinite(contacts.law[c, 2]):
                return NOT_FINITE, count, math.inf
        if scheme.jumps and _approaches(contacts, count, v):
            return IMPACT_LAW, count, 0.0
    skew = _matrices(model, scheme, inverse, joints, room, t, t_contact, h, fresh, state)
    if skew < 0.0:
        return (NO_INVERSE if skew == -1.0 else NO_JOINTS), count, math.inf
    _force(model, inverse, room, theta, t + theta * h, h, v)
    jumps = model.constraints > 0 and room.numbers[1] > 0.0
    n = v.size
    for i in range(n):
        room.free[i] = v[i] + room.pushed[i]
    if model.constraints > 0 and not call.hold_joints(model.call, joints, room):
        return CONTRADICTION, count, math.inf
    ended, residual = contact_impulses(
        model, scheme, kept, inverse, joints, contacts, room, count, rough, skew, t, h, state
    )
    if ended != DONE:
        return ended, count, residual
    for i in range(n):
        room.middle[i] = (1.0 - theta) * v[i] + theta * room.v_after[i]
    moved(model, q, room.middle, h, room.q_after)
    if scheme.projects:
        if not call.project(model.call, model, scheme, plain, plain_joints, contacts, count, room, t + h):
            return UNSOLVED, count, math.inf
        brought(model, t + theta * h)
    finite = 0.0
    for i in range(n):
        finite += room.v_after[i]
    for i in range(q.size):
        finite += room.q_after[i]
    if not math.isfinite(finite):
        return NOT_FINITE, count, residual
    contact_states(model, contacts, room, count, h, v)
    book(model, scheme, contacts, room, joints, count, jumps, t, h, longest, state)
    _pass_on(contacts, room, count, state)
    return DONE, count, residual


@bare
def _approaches(contacts: Contacts, count: int, v: np.ndarray) -> bool:
    """Whether an impact law has something to do; contacts that last only turn."""
    fastest, hits, faster = 0.0, False, False
    for i in range(v.size):
        fastest = max(fastest, abs(v[i]))
    for c in range(count):
        if contacts.law[c, 0] > 0.0:
            speed = along(contacts.columns[c], contacts.rows[c, 0], v) + contacts.rates[c, 0]
            hits = hits or (speed < 0.0 and not contacts.lasts[c])
            faster = faster or speed < -_APPROACHES * fastest
    return hits and faster


@bare
def _matrices(
    model: Model,
    scheme: Scheme,
    inverse: Inverse,
    joints: Joints,
    room: Room,
    t: float,
    t_contact: float,
    h: float,
    fresh: bool,
    state: State,
) -> float:
    """M̂ and constraints with their factors; returns the asymmetry of M̂, −1 or −2 where a factor is missing."""
    theta, v = scheme.theta, state.v
    t_force = t + theta * h
    if not model.constant_mass or fresh:
        call.mass(model.call, model.index, model.data, room.q_contact, room.mass)
    if model.constraints > 0:
        call.constraint_directions(
            model.call,
            model.index,
            model.data,
            t_contact,
            room.q_contact,
            joints.columns,
            joints.rows,
            joints.rates,
        )
        call.given_joints(model.call, model, joints, room, theta, t_contact, h, v)
    moved(model, state.q, v, theta * h, room.q_force)
    brought(model, t_force)
    new = fresh or not model.constant_mass
    if model.has_tangents and (fresh or not model.constant_tangents):
        new = True
        if model.differences:
            call.difference_tangents(model.call, model, t_force, room.q_force, v, room)
        else:
            call.tangents(
                model.call,
                model.index,
                model.data,
                t_force,
                room.q_force,
                v,
                room.by_position,
                room.by_velocity,
            )
    if new:
        skew = assemble(
            inverse, room.mass, model.mass_row, model.mass_column, room.by_position, room.by_velocity,
            model.tangent_row, model.tangent_column, h * theta,
        )  # fmt: skip
        room.numbers[0] = skew
        if not factorise(inverse):
            return -1.0
    if (
        model.constraints > 0
        and (new or not model.constant_joints)
        and not call.prepare_joints(model.call, joints, inverse, room.numbers[0])
    ):
        return -2.0
    return room.numbers[0]


@apart
def difference_tangents(model: Model, t: float, q: np.ndarray, v: np.ndarray, room: Room) -> None:
    """G_q and G_v of the stiff part by central differences, with the spacings of ``difference_tangents``."""
    n = v.size
    ahead, behind, u = room.one, room.two, room.three
    for j in range(n):
        own = abs(q[j]) if q.size == n else 1.0
        length, speed = _DIFFERENCE * max(own, 1.0), _DIFFERENCE * max(abs(v[j]), 1.0)
        for i in range(n):
            u[i] = 0.0
        u[j] = length
        moved(model, q, u, 1.0, room.at)
        call.stiff(model.call, model.index, model.data, t, room.at, v, ahead)
        moved(model, q, u, -1.0, room.at)
        call.stiff(model.call, model.index, model.data, t, room.at, v, behind)
        for i in range(n):
            room.by_position[i * n + j] = (ahead[i] - behind[i]) / (2 * length)
            u[i] = v[i]
        u[j] = v[j] + speed
        call.stiff(model.call, model.index, model.data, t, q, u, ahead)
        u[j] = v[j] - speed
        call.stiff(model.call, model.index, model.data, t, q, u, behind)
        for i in range(n):
            room.by_velocity[i * n + j] = (ahead[i] - behind[i]) / (2 * speed)


@apart
def given_joints(
    model: Model, joints: Joints, room: Room, theta: float, t: float, h: float, v: np.ndarray
) -> None:
    """What is added to J_Bᵀ v⁺ in J_Bᵀ v_θ + a_B = 0; a jump of v that contradicts them is noted in ``numbers[1]``."""
    p = model.constraints
    curvature = room.joint_one
    for i in range(p):
        curvature[i] = 0.0
    if model.joints_curve:
        call.constraint_curvature(model.call, model.index, model.data, t, room.q_contact, v, curvature)
    elif model.joints_turn:
        _difference_curvature(model, room, t, v, curvature)
    jumps = False
    for i in range(p):
        before = along(joints.columns[i], joints.rows[i], v)
        turning = h * curvature[i]
        terms = along_sizes(joints.columns[i], joints.rows[i], v) + abs(joints.rates[i])
        off = abs(before + joints.rates[i] - 0.5 * turning)
        jumps = jumps or off > (theta - 0.25) * abs(turning) + 1e-8 * terms
        room.joint_two[i] = before
    for i in range(p):
        before, rate = room.joint_two[i], joints.rates[i]
        if theta == 1.0:
            room.given[i] = rate
        elif jumps:
            room.given[i] = rate + theta * h * curvature[i]
        else:
            room.given[i] = (before + rate) / theta - before
    room.numbers[1] = 1.0 if jumps else 0.0


@apart
def hold_joints(joints: Joints, room: Room) -> bool:
    """The free velocity in ``room`` with constraints held, and their impulses; False where they contradict others."""
    violations(joints, room.free, room.given, room.violation)
    impulses(joints, room.violation, room.joint_impulse)
    if contradicts(joints, room.violation, room.joint_impulse):
        return False
    push(joints, room.joint_impulse, room.free)
    return True


@inner
def _difference_curvature(model: Model, room: Room, t: float, v: np.ndarray, out: np.ndarray) -> None:
    """b_B (p,) at the position of the contacts, by differences of the directions."""
    q = room.q_contact
    p, w = model.constraints, model.joint_width
    columns, rows, rates = np.zeros((p, w), np.int64), np.zeros((p, w)), np.zeros(p)
    d = difference_step(q, v)
    for side in range(2):
        s = d if side == 0 else -d
        moved(model, q, v, s, room.at)
        brought(model, t + s)
        call.constraint_directions(model.call, model.index, model.data, t + s, room.at, columns, rows, rates)
        for i in range(p):
            speed = along(columns[i], rows[i], v) + rates[i]
            out[i] = speed if side == 0 else (out[i] - speed) / (2.0 * d)
    brought(model, t)


@bare
def _force(
    model: Model, inverse: Inverse, room: Room, theta: float, t: float, h: float, v: np.ndarray
) -> None:
    """f̂ and M̂⁻¹ h f̂; what depends on v without a tangent is taken at the middle velocity of free motion."""
    n = v.size
    call.force(model.call, model.index, model.data, t, room.q_force, v, room.force)
    for i in range(n):
        room.one[i] = h * room.force[i]
    solve(inverse, room.one, room.pushed)
    if not model.complete:
        for i in range(n):
            room.two[i] = theta * room.pushed[i]
            room.three[i] = v[i] + room.two[i]
        call.force(model.call, model.index, model.data, t, room.q_force, room.three, room.force)
        if model.by_velocity:
            multiply(model.tangent_row, model.tangent_column, room.by_velocity, room.two, -1.0, room.force)
        for i in range(n):
            room.one[i] = h * room.force[i]
        solve(inverse, room.one, room.pushed)


@bare
def _pass_on(contacts: Contacts, room: Room, count: int, state: State) -> None:
    """The state at the end becomes that of the beginning; loaded contacts are remembered."""
    for i in range(state.q.size):
        state.q[i] = room.q_after[i]
    for i in range(state.v.size):
        state.v[i] = room.v_after[i]
    held, width = 0, contacts.impulse.shape[1]
    for c in range(count):
        any_force = False
        for a in range(width):
            any_force = any_force or contacts.impulse[c, a] != 0.0
        if any_force:
            state.held[held] = contacts.number[c]
            for a in range(width):
                state.held_impulse[held, a] = contacts.impulse[c, a]
            held += 1
    state.counts[0] = held
