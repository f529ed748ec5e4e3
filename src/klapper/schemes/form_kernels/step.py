"""One step of Moreau's scheme, in the order and with the names of ``klapper.schemes.moreau_step``."""

from __future__ import annotations

import math

import numpy as np

from klapper.schemes.form_kernels.compiling import bare, inner
from klapper.schemes.form_kernels.contacts import (
    Contacts,
    among,
    brought,
    closed,
    difference_step,
    lasting,
    laws,
    moved,
    near_contacts,
)
from klapper.schemes.form_kernels.inverse import (
    Inverse,
    along,
    along_sizes,
    assemble,
    factorise,
    multiply,
    solve,
)
from klapper.schemes.form_kernels.joints import Joints, contradicts, impulses, prepare, push, violations
from klapper.schemes.form_kernels.ledger import book, contact_states
from klapper.schemes.form_kernels.model import Model, Scheme
from klapper.schemes.form_kernels.projection import project
from klapper.schemes.form_kernels.room import Kept, Room, State
from klapper.schemes.form_kernels.smooth import solve_smooth

DONE, UNSOLVED, NOT_FINITE, NO_INVERSE, NO_JOINTS, NO_ROOM, CONTRADICTION, IMPACT_LAW = 0, 1, 2, 3, 4, 5, 6, 7
_APPROACHES = 1e-12  # of the largest velocity: what approaches slower is at rest
_DIFFERENCE = 6.0e-6
_ROUND_OFF = 1e-12  # of the terms of a velocity: what is left of it where contacts hold it
_COARSEST = 1e-6  # residual beyond which an unsolvable problem may pass for solved by enormous impulses
_UNLOADED = 1e-13  # of the velocities: impulses that change them by less are what solvers leave of none
_SYMMETRIC = 1e-13  # asymmetry of M̂ up to which it is round-off
_MOST_ROWS = 400  # of a contact problem that is solved here


@bare
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
    if scheme.on_position:
        for c in range(count):
            contacts.lasts[c], contacts.shift[c], contacts.allowed[c] = False, 0.0, 0.0
    else:
        lasting(
            model, scheme.start, t_contact, room.q_contact, v, count, contacts,
            state.held, state.counts[0], h, longest,
        )  # fmt: skip
    count = closed(count, contacts, scheme.on_position)
    rough = False
    if count > 0:
        model.call.directions(
            model.index, model.data, t_contact, room.q_contact, contacts.number[:count],
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
    if model.constraints > 0:
        violations(joints, room.free, room.given, room.violation)
        impulses(joints, room.violation, room.joint_impulse)
        if contradicts(joints, room.violation, room.joint_impulse):
            return CONTRADICTION, count, math.inf
        push(joints, room.joint_impulse, room.free)
    ended, residual = _contact_step(
        model, scheme, kept, inverse, joints, contacts, room, count, rough, skew, t, h, state
    )
    if ended != DONE:
        return ended, count, residual
    for i in range(n):
        room.middle[i] = (1.0 - theta) * v[i] + theta * room.v_after[i]
    moved(model, q, room.middle, h, room.q_after)
    if scheme.projects:
        if not project(model, scheme, plain, plain_joints, contacts, count, room, t + h):
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
        model.call.mass(model.index, model.data, room.q_contact, room.mass)
    if model.constraints > 0:
        model.call.joints(
            model.index, model.data, t_contact, room.q_contact, joints.columns, joints.rows, joints.rates
        )
        _given(model, joints, room, theta, t_contact, h, v)
    moved(model, state.q, v, theta * h, room.q_force)
    brought(model, t_force)
    new = fresh or not model.constant_mass
    if model.has_tangents and (fresh or not model.constant_tangents):
        new = True
        if model.differences:
            _difference_tangents(model, t_force, room.q_force, v, room)
        else:
            model.call.tangents(
                model.index, model.data, t_force, room.q_force, v, room.by_position, room.by_velocity
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
        and not prepare(joints, inverse, room.numbers[0])
    ):
        return -2.0
    return room.numbers[0]


@bare
def _difference_tangents(model: Model, t: float, q: np.ndarray, v: np.ndarray, room: Room) -> None:
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
        model.call.stiff(model.index, model.data, t, room.at, v, ahead)
        moved(model, q, u, -1.0, room.at)
        model.call.stiff(model.index, model.data, t, room.at, v, behind)
        for i in range(n):
            room.by_position[i * n + j] = (ahead[i] - behind[i]) / (2 * length)
            u[i] = v[i]
        u[j] = v[j] + speed
        model.call.stiff(model.index, model.data, t, q, u, ahead)
        u[j] = v[j] - speed
        model.call.stiff(model.index, model.data, t, q, u, behind)
        for i in range(n):
            room.by_velocity[i * n + j] = (ahead[i] - behind[i]) / (2 * speed)


@bare
def _given(model: Model, joints: Joints, room: Room, theta: float, t: float, h: float, v: np.ndarray) -> None:
    """What is added to J_Bᵀ v⁺ in J_Bᵀ v_θ + a_B = 0; a jump of v that contradicts them is noted in ``numbers[1]``."""
    p = model.constraints
    curvature = room.joint_one
    for i in range(p):
        curvature[i] = 0.0
    if model.joints_turn:
        _joint_curvature(model, joints, room, t, v, curvature)
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


@inner
def _joint_curvature(
    model: Model, joints: Joints, room: Room, t: float, v: np.ndarray, out: np.ndarray
) -> None:
    """b_B (p,) at the position of the contacts, by the form or by differences of the directions."""
    q = room.q_contact
    if model.joints_curve:
        model.call.joint_curvature(model.index, model.data, t, q, v, out)
        return
    p, w = joints.rows.shape
    columns, rows, rates = np.zeros((p, w), np.int64), np.zeros((p, w)), np.zeros(p)
    d = difference_step(q, v)
    for side in range(2):
        s = d if side == 0 else -d
        moved(model, q, v, s, room.at)
        brought(model, t + s)
        model.call.joints(model.index, model.data, t + s, room.at, columns, rows, rates)
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
    model.call.force(model.index, model.data, t, room.q_force, v, room.force)
    for i in range(n):
        room.one[i] = h * room.force[i]
    solve(inverse, room.one, room.pushed)
    if not model.complete:
        for i in range(n):
            room.two[i] = theta * room.pushed[i]
            room.three[i] = v[i] + room.two[i]
        model.call.force(model.index, model.data, t, room.q_force, room.three, room.force)
        if model.by_velocity:
            multiply(model.tangent_row, model.tangent_column, room.by_velocity, room.two, -1.0, room.force)
        for i in range(n):
            room.one[i] = h * room.force[i]
        solve(inverse, room.one, room.pushed)


@bare
def response_of(
    inverse: Inverse,
    joints: Joints,
    columns: np.ndarray,
    row: np.ndarray,
    scale: float,
    right: np.ndarray,
    held: np.ndarray,
    impulse: np.ndarray,
    out: np.ndarray,
) -> None:
    """out (n,) = A J for one row, constraints held."""
    for i in range(out.size):
        right[i] = 0.0
    for k in range(columns.size):
        right[columns[k]] += scale * row[k]
    solve(inverse, right, out)
    p = joints.rows.shape[0]
    if p > 0:
        for i in range(p):
            held[i] = along(joints.columns[i], joints.rows[i], out)
        impulses(joints, held, impulse)
        push(joints, impulse, out)


@inner
def _contact_step(
    model: Model,
    scheme: Scheme,
    kept: Kept,
    inverse: Inverse,
    joints: Joints,
    contacts: Contacts,
    room: Room,
    count: int,
    rough: bool,
    skew: float,
    t: float,
    h: float,
    state: State,
) -> tuple[int, float]:
    """Impulses and v⁺ from the velocity without contacts; constraint impulses with them."""
    n, d, v = state.v.size, model.tangential, state.v
    for i in range(n):
        room.v_after[i] = room.free[i]
    size = 0
    for c in range(count):
        contacts.loaded[c], contacts.soft[c] = False, False
        for a in range(1 + d):
            contacts.impulse[c, a] = 0.0
            if contacts.row[c, a] >= 0:
                size += 1
    if size == 0:
        return DONE, 0.0
    if size > _MOST_ROWS:
        return NO_ROOM, math.inf
    b = np.empty(size)
    quiet = not rough
    if scheme.on_position:
        brought(model, t)
        model.call.gaps(model.index, model.data, t, state.q, contacts.number[:count], contacts.gap[:count])
        brought(model, t + scheme.theta * h)
    for c in range(count):
        for a in range(1 + d):
            r = contacts.row[c, a]
            if r < 0:
                continue
            b[r] = contacts.scale[c, a] * along(contacts.columns[c], contacts.rows[c, a], room.free)
            if a == 0:
                before = along(contacts.columns[c], contacts.rows[c, 0], v)
                rate = contacts.rates[c, 0]
                if scheme.on_position:
                    gap = contacts.gap[c] if math.isfinite(contacts.gap[c]) else 0.0
                    b[r] += gap / (scheme.theta * h) + ((1.0 - scheme.theta) * before + rate) / scheme.theta
                else:
                    b[r] += rate + contacts.law[c, 1] * (before + rate) + contacts.shift[c]
                quiet = quiet and b[r] >= 0.0
            else:
                b[r] += contacts.rates[c, a] * contacts.scale[c, a]
    if quiet:
        return DONE, 0.0
    response, delassus, x = np.empty((size, n)), np.empty((size, size)), np.zeros(size)
    _delassus(model, kept, inverse, joints, contacts, room, count, response, delassus)
    if skew <= _SYMMETRIC:
        for i in range(size):
            for j in range(i):
                mean = 0.5 * (delassus[i, j] + delassus[j, i])
                delassus[i, j] = mean
                delassus[j, i] = mean
    if model.compliant:
        _add_compliance(model, scheme, contacts, count, h, delassus)
    _warm_start(contacts, count, d, state, x)
    residual = _solved(model, scheme, contacts, count, rough, h, delassus, b, x)
    if not residual <= min(scheme.tolerance, _COARSEST):
        return UNSOLVED, residual
    _after(contacts, room, count, d, response, x, v)
    if model.constraints > 0:
        _joint_impulses(model, inverse, joints, contacts, room, count, v)
    return DONE, residual


@bare
def _delassus(
    model: Model,
    kept: Kept,
    inverse: Inverse,
    joints: Joints,
    contacts: Contacts,
    room: Room,
    count: int,
    response: np.ndarray,
    delassus: np.ndarray,
) -> None:
    """M̂⁻¹ J by rows and Jᵀ M̂⁻¹ J of the contacts in use, constraints held."""
    width, n = 1 + model.tangential, response.shape[1]
    for c in range(count):
        for a in range(width):
            r = contacts.row[c, a]
            if r < 0:
                continue
            if kept.response.shape[0] > 0:
                row = contacts.number[c] * width + a
                for i in range(n):
                    response[r, i] = kept.response[row, i]
            else:
                response_of(
                    inverse, joints, contacts.columns[c], contacts.rows[c, a], contacts.scale[c, a],
                    room.one, room.joint_one, room.joint_two, response[r],
                )  # fmt: skip
    for c in range(count):
        for a in range(width):
            r = contacts.row[c, a]
            if r < 0:
                continue
            for e in range(count):
                for f in range(width):
                    s = contacts.row[e, f]
                    if s < 0:
                        continue
                    if kept.response.shape[0] > 0:
                        delassus[r, s] = kept.delassus[
                            contacts.number[c] * width + a, contacts.number[e] * width + f
                        ]
                    else:
                        delassus[r, s] = contacts.scale[c, a] * along(
                            contacts.columns[c], contacts.rows[c, a], response[s]
                        )


@bare
def _add_compliance(
    model: Model, scheme: Scheme, contacts: Contacts, count: int, h: float, delassus: np.ndarray
) -> None:
    """C/(θ h²) between the normal rows, (5.70); contacts whose compliance counts are marked."""
    factor = 1.0 / (scheme.theta * h * h)
    for c in range(count):
        r = contacts.row[c, 0]
        if r >= 0:
            i = contacts.number[c]
            contacts.soft[c] = model.compliance[i, i] > _ROUND_OFF * h * h * delassus[r, r]
    for c in range(count):
        r = contacts.row[c, 0]
        if r < 0:
            continue
        for e in range(count):
            s = contacts.row[e, 0]
            if s >= 0:
                delassus[r, s] += factor * model.compliance[contacts.number[c], contacts.number[e]]


@bare
def _warm_start(contacts: Contacts, count: int, d: int, state: State, x: np.ndarray) -> None:
    """Impulses of the last step where a contact was loaded in it."""
    held = state.held[: state.counts[0]]
    for c in range(count):
        place = among(contacts.number[c], held)
        if place < 0:
            continue
        for a in range(1 + d):
            if contacts.row[c, a] >= 0:
                scale = contacts.scale[c, a]
                x[contacts.row[c, a]] = state.held_impulse[place, a] / (scale if scale > 0.0 else 1.0)


@inner
def _solved(
    model: Model,
    scheme: Scheme,
    contacts: Contacts,
    count: int,
    rough: bool,
    h: float,
    delassus: np.ndarray,
    b: np.ndarray,
    x: np.ndarray,
) -> float:
    """Impulses (r,) into ``x``; returns the relative residual."""
    if not rough:
        return solve_smooth(delassus, b, x)
    friction, limit = np.empty(count), np.empty(count)
    starts = np.zeros(count + 1, np.int64)
    entries = 0
    for c in range(count):
        friction[c], limit[c] = contacts.law[c, 2], contacts.law[c, 3] * h
        if model.coupled:
            i = contacts.number[c]
            for k in range(model.share_start[i], model.share_start[i + 1]):
                if among(model.share_of[k], contacts.number[:count]) >= 0:
                    entries += 1
        starts[c + 1] = entries
    share_of, share = np.empty(entries, np.int64), np.empty(entries)
    if entries > 0:
        entries = 0
        for c in range(count):
            i = contacts.number[c]
            for k in range(model.share_start[i], model.share_start[i + 1]):
                place = among(model.share_of[k], contacts.number[:count])
                if place >= 0:
                    share_of[entries], share[entries] = place, model.share[k]
                    entries += 1
    return model.call.solve_rough(
        delassus, b, contacts.row[:count], friction, limit, starts, share_of, share, scheme.tolerance, x
    )


@bare
def _after(
    contacts: Contacts,
    room: Room,
    count: int,
    d: int,
    response: np.ndarray,
    x: np.ndarray,
    v: np.ndarray,
) -> None:
    """v⁺, with exact zeros where contacts leave only the rounding of its terms: what sticks does not creep."""
    n = v.size
    any_force = False
    for r in range(x.size):
        if x[r] != 0.0:
            any_force = True
            for i in range(n):
                room.v_after[i] += response[r, i] * x[r]
    for c in range(count):
        for a in range(1 + d):
            if contacts.row[c, a] >= 0:
                contacts.impulse[c, a] = x[contacts.row[c, a]] * contacts.scale[c, a]
    if not any_force:
        return
    terms, noise = room.one, 0.0
    for i in range(n):
        terms[i] = abs(v[i]) + abs(room.pushed[i])
        noise = max(noise, terms[i])
    noise *= _UNLOADED
    for c in range(count):
        largest = 0.0
        for a in range(1 + d):
            if contacts.row[c, a] >= 0:
                largest = max(largest, abs(x[contacts.row[c, a]]))
        for a in range(1 + d):
            r = contacts.row[c, a]
            if r < 0:
                continue
            most = 0.0
            for i in range(n):
                size = abs(response[r, i])
                most = max(most, size)
                terms[i] += size * largest
            if most * largest > noise:
                contacts.loaded[c] = True
    for i in range(n):
        if abs(room.v_after[i]) < _ROUND_OFF * terms[i]:
            room.v_after[i] = 0.0


@bare
def _joint_impulses(
    model: Model,
    inverse: Inverse,
    joints: Joints,
    contacts: Contacts,
    room: Room,
    count: int,
    v: np.ndarray,
) -> None:
    """Impulses of the constraints with the contacts pushing."""
    n = v.size
    for i in range(n):
        room.one[i] = 0.0
    for c in range(count):
        for a in range(1 + model.tangential):
            if contacts.impulse[c, a] != 0.0:
                for k in range(model.width):
                    room.one[contacts.columns[c, k]] += contacts.rows[c, a, k] * contacts.impulse[c, a]
    solve(inverse, room.one, room.two)
    for i in range(n):
        room.two[i] += v[i] + room.pushed[i]
    violations(joints, room.two, room.given, room.violation)
    impulses(joints, room.violation, room.joint_impulse)


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
