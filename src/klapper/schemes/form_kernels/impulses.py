"""Impulses of the contacts of a step, and the velocity that they leave.

Few contacts are solved with their Delassus matrix, constraints held. Many of them in a chain or side by side are solved
together with the constraints, in a band: the cost grows with their number, not with its square.
"""

from __future__ import annotations

import math

import numpy as np

from klapper.schemes.form_kernels import calls as call
from klapper.schemes.form_kernels.compiling import apart, bare, part
from klapper.schemes.form_kernels.contacts import Contacts, among, brought
from klapper.schemes.form_kernels.inverse import Inverse, along, solve
from klapper.schemes.form_kernels.joints import Joints, impulses, violations
from klapper.schemes.form_kernels.model import Model, Scheme
from klapper.schemes.form_kernels.room import Kept, Room, State
from klapper.schemes.form_kernels.smooth import places_for_smooth, room_for_smooth

DONE, UNSOLVED, NO_ROOM = 0, 1, 5
"""How a step ends; the others are in ``step``."""
_ROUND_OFF = 1e-12  # of the terms of a velocity: what is left of it where contacts hold it
_COARSEST = 1e-6  # residual beyond which an unsolvable problem may pass for solved by enormous impulses
_UNLOADED = 1e-13  # of the velocities: impulses that change them by less are what solvers leave of none
_SYMMETRIC = 1e-13  # asymmetry of M̂ up to which it is round-off
_MOST_ROWS = 400  # of a dense Delassus matrix
_SETTLING = (
    4.0  # steps of a band in the time of those of a dense matrix with as many numbers; measured on chains
)


@bare
def response_of(
    model: Model,
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
    if model.constraints > 0:
        call.hold_response(model.call, joints, held, impulse, out)


@bare
def contact_impulses(
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
    """Impulses and v⁺ from the velocity without contacts; constraint impulses with them. How it ended, residual."""
    n, d, v = state.v.size, model.tangential, state.v
    for i in range(n):
        room.v_after[i] = room.free[i]
    size = _unloaded(contacts, count, d)
    if size == 0:
        return DONE, 0.0
    if scheme.on_position:
        brought(model, t)
        call.gaps(
            model.call, model.index, model.data, t, state.q, contacts.number[:count], contacts.gap[:count]
        )
        brought(model, t + scheme.theta * h)
    if not _demanded(scheme, contacts, room, count, d, h, v, rough):
        return DONE, 0.0
    if _is_narrow(model, size):
        ended, residual = call.narrow(
            model.call, model, scheme, inverse, joints, contacts, room, count, size, t, h, state
        )
        if ended == DONE:
            return ended, residual
    if size > _MOST_ROWS:
        return NO_ROOM, math.inf
    numbers, places = _numbers_needed(model, size, count), _places_needed(model, size, count)
    if numbers <= room.work.size and places <= room.places.size:
        residual = _solved(
            model, scheme, kept, inverse, joints, contacts, room, count, size, rough, skew, h, state,
            room.work, room.places,
        )  # fmt: skip
    else:
        residual = call.solve_elsewhere(
            model.call, model, scheme, kept, inverse, joints, contacts, room, count, size, rough, skew, h, state,
            numbers, places,
        )  # fmt: skip
    if not residual <= min(scheme.tolerance, _COARSEST):
        return UNSOLVED, residual
    if model.constraints > 0:
        call.joint_impulses(model.call, model, inverse, joints, contacts, room, count, v)
    return DONE, residual


@bare
def _unloaded(contacts: Contacts, count: int, d: int) -> int:
    """Set the impulses to zero; returns the number of rows."""
    size = 0
    for c in range(count):
        contacts.loaded[c], contacts.soft[c] = False, False
        for a in range(1 + d):
            contacts.impulse[c, a] = 0.0
            if contacts.row[c, a] >= 0:
                size += 1
    return size


@bare
def _demanded(
    scheme: Scheme,
    contacts: Contacts,
    room: Room,
    count: int,
    d: int,
    h: float,
    v: np.ndarray,
    rough: bool,
) -> bool:
    """b of every row, in its contact; whether anything has to push."""
    demand = rough
    for c in range(count):
        for a in range(1 + d):
            if contacts.row[c, a] < 0:
                continue
            b = contacts.scale[c, a] * along(contacts.columns[c], contacts.rows[c, a], room.free)
            if a == 0:
                before = along(contacts.columns[c], contacts.rows[c, 0], v)
                rate = contacts.rates[c, 0]
                if scheme.on_position:
                    gap = contacts.gap[c] if math.isfinite(contacts.gap[c]) else 0.0
                    b += gap / (scheme.theta * h) + ((1.0 - scheme.theta) * before + rate) / scheme.theta
                else:
                    b += rate + contacts.law[c, 1] * (before + rate) + contacts.shift[c]
                demand = demand or b < 0.0
            else:
                b += contacts.rates[c, a] * contacts.scale[c, a]
            contacts.given[c, a] = b
    return demand


@bare
def _numbers_needed(model: Model, size: int, count: int) -> int:
    return size * (model.velocities + size + 2) + 2 * count + model.share.size + room_for_smooth(size)


@bare
def _places_needed(model: Model, size: int, count: int) -> int:
    return count + 1 + model.share.size + places_for_smooth(size)


@part
def solve_elsewhere(
    model: Model,
    scheme: Scheme,
    kept: Kept,
    inverse: Inverse,
    joints: Joints,
    contacts: Contacts,
    room: Room,
    count: int,
    size: int,
    rough: bool,
    skew: float,
    h: float,
    state: State,
    numbers: int,
    places: int,
) -> float:
    """The same for more contacts than there is room for."""
    work, marks = np.empty(numbers), np.empty(places, np.int64)
    return _solved(
        model, scheme, kept, inverse, joints, contacts, room, count, size, rough, skew, h, state, work, marks
    )


@bare
def _solved(
    model: Model,
    scheme: Scheme,
    kept: Kept,
    inverse: Inverse,
    joints: Joints,
    contacts: Contacts,
    room: Room,
    count: int,
    size: int,
    rough: bool,
    skew: float,
    h: float,
    state: State,
    work: np.ndarray,
    places: np.ndarray,
) -> float:
    """Impulses by the Delassus matrix, and v⁺; returns the relative residual."""
    n, d = model.velocities, model.tangential
    response = work[: size * n].reshape((size, n))
    at = size * n
    delassus = work[at : at + size * size].reshape((size, size))
    at += size * size
    b, x = work[at : at + size], work[at + size : at + 2 * size]
    at += 2 * size
    _delassus(model, kept, inverse, joints, contacts, room, count, response, delassus)
    if skew <= _SYMMETRIC:
        for i in range(size):
            for j in range(i):
                mean = 0.5 * (delassus[i, j] + delassus[j, i])
                delassus[i, j] = mean
                delassus[j, i] = mean
    if model.compliant:
        _add_compliance(model, scheme, contacts, count, h, delassus)
    for c in range(count):
        for a in range(1 + d):
            if contacts.row[c, a] >= 0:
                b[contacts.row[c, a]] = contacts.given[c, a]
    _warm_start(contacts, count, d, state, x)
    if rough:
        friction, limit = work[at : at + count], work[at + count : at + 2 * count]
        starts, share_of = places[: count + 1], places[count + 1 : count + 1 + model.share.size]
        share = work[at + 2 * count : at + 2 * count + model.share.size]
        entries = _limits(model, contacts, count, h, friction, limit, starts, share_of, share)
        residual = call.solve_rough(
            model.call, delassus, b, contacts.row[:count], friction, limit, starts, share_of[:entries],
            share[:entries], scheme.tolerance, x,
        )  # fmt: skip
    elif size == 1:
        residual = _one(delassus[0, 0], b[0], x)
    else:
        residual = call.solve_smooth(model.call, delassus, b, x, work[at:], places)
    if residual <= min(scheme.tolerance, _COARSEST):
        _after(contacts, room, count, d, response, x, state.v)
    return residual


@bare
def _one(mobility: float, offset: float, x: np.ndarray) -> float:
    """A single contact without friction: x = −b/w if b < 0; the relative residual."""
    x[0] = -offset / mobility if offset < 0.0 else 0.0
    if offset >= 0.0 or not mobility > 0.0:
        return 0.0 if offset >= 0.0 else math.inf
    return abs(offset + mobility * x[0]) / (2.0 * abs(offset))


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
    width, n, known = 1 + model.tangential, response.shape[1], kept.ready[0] > 0
    for c in range(count):
        for a in range(width):
            r = contacts.row[c, a]
            if r < 0:
                continue
            if known:
                row = contacts.number[c] * width + a
                for i in range(n):
                    response[r, i] = kept.response[row, i]
            else:
                response_of(
                    model, inverse, joints, contacts.columns[c], contacts.rows[c, a], contacts.scale[c, a],
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
                    if known:
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
    """Impulses of the last step where a contact was loaded in it, else zero."""
    held = state.held[: state.counts[0]]
    for r in range(x.size):
        x[r] = 0.0
    for c in range(count):
        place = among(contacts.number[c], held)
        if place < 0:
            continue
        for a in range(1 + d):
            if contacts.row[c, a] >= 0:
                scale = contacts.scale[c, a]
                x[contacts.row[c, a]] = state.held_impulse[place, a] / (scale if scale > 0.0 else 1.0)


@bare
def _limits(
    model: Model,
    contacts: Contacts,
    count: int,
    h: float,
    friction: np.ndarray,
    limit: np.ndarray,
    starts: np.ndarray,
    share_of: np.ndarray,
    share: np.ndarray,
) -> int:
    """Laws of friction by the place of the contacts in use; how many shares of other contacts there are."""
    entries = 0
    starts[0] = 0
    for c in range(count):
        friction[c], limit[c] = contacts.law[c, 2], contacts.law[c, 3] * h
        if model.coupled:
            i = contacts.number[c]
            for k in range(model.share_start[i], model.share_start[i + 1]):
                place = among(model.share_of[k], contacts.number[:count])
                if place >= 0:
                    share_of[entries], share[entries] = place, model.share[k]
                    entries += 1
        starts[c + 1] = entries
    return entries


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
    _flush(room, terms)


@bare
def _flush(room: Room, terms: np.ndarray) -> None:
    for i in range(terms.size):
        if abs(room.v_after[i]) < _ROUND_OFF * terms[i]:
            room.v_after[i] = 0.0


@apart
def joint_impulses(
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
def _is_narrow(model: Model, size: int) -> bool:
    """Whether a band costs less than a Delassus matrix: numbers that factors take, and responses of the rows."""
    if model.narrow < 0:
        return False
    total = model.velocities + model.constraints + size
    half = model.narrow + 3 * (1 + model.tangential)
    dense = size * size * size / 3.0 + size * size * model.width + size * model.velocities
    return total * half * half < dense or size > _MOST_ROWS


@part
def narrow(
    model: Model,
    scheme: Scheme,
    inverse: Inverse,
    joints: Joints,
    contacts: Contacts,
    room: Room,
    count: int,
    size: int,
    t: float,
    h: float,
    state: State,
) -> tuple[int, float]:
    """Impulses together with those of the constraints, in a band, and v⁺."""
    n, d, p, w = model.velocities, model.tangential, model.constraints, model.width
    rows = size + p
    entry = np.empty(model.entry_row.size)
    start, column = np.empty(rows + 1, np.int64), np.empty(size * w + p * model.joint_width, np.int64)
    value, b, x, change = np.empty(column.size), np.zeros(rows), np.zeros(rows), np.zeros(n)
    friction, limit = np.empty(count), np.empty(count)
    starts, share_of, share = (
        np.empty(count + 1, np.int64),
        np.empty(model.share.size, np.int64),
        np.empty(model.share.size),
    )
    _sparse_rows(model, scheme, joints, contacts, room, count, size, h, start, column, value, b, entry)
    _warm_start(contacts, count, d, state, x[:size])
    entries = _limits(model, contacts, count, h, friction, limit, starts, share_of, share)
    residual = call.solve_narrow(
        model.call, b, contacts.row[:count], friction, limit, starts, share_of[:entries], share[:entries],
        model.entry_row, model.entry_column, entry, start, column, value, model.rank, x, change,
    )  # fmt: skip
    if not residual <= min(scheme.tolerance, _COARSEST):
        return UNSOLVED, residual
    _after_narrow(model, contacts, room, count, start, column, value, entry, x, change, state.v)
    if p > 0:
        call.joint_impulses(model.call, model, inverse, joints, contacts, room, count, state.v)
    return DONE, residual


@bare
def _sparse_rows(
    model: Model,
    scheme: Scheme,
    joints: Joints,
    contacts: Contacts,
    room: Room,
    count: int,
    size: int,
    h: float,
    start: np.ndarray,
    column: np.ndarray,
    value: np.ndarray,
    b: np.ndarray,
    entry: np.ndarray,
) -> None:
    """Rows of contacts and constraints with b, and the entries of M̂."""
    masses, step = model.mass_row.size, h * scheme.theta
    for e in range(masses):
        entry[e] = room.mass[e]
    for e in range(model.tangent_row.size):
        entry[masses + e] = -step * room.by_velocity[e] - step * step * room.by_position[e]
    w, at = model.width, 0
    for c in range(count):
        for a in range(1 + model.tangential):
            r = contacts.row[c, a]
            if r < 0:
                continue
            b[r] = contacts.given[c, a]
            start[r] = at
            for k in range(w):
                column[at], value[at] = contacts.columns[c, k], contacts.scale[c, a] * contacts.rows[c, a, k]
                at += 1
    for i in range(model.constraints):
        start[size + i] = at
        for k in range(model.joint_width):
            column[at], value[at] = joints.columns[i, k], joints.rows[i, k]
            at += 1
    start[size + model.constraints] = at


@bare
def _after_narrow(
    model: Model,
    contacts: Contacts,
    room: Room,
    count: int,
    start: np.ndarray,
    column: np.ndarray,
    value: np.ndarray,
    entry: np.ndarray,
    x: np.ndarray,
    change: np.ndarray,
    v: np.ndarray,
) -> None:
    """The same as ``_after``, with responses as of the own masses of the coordinates."""
    n, d = v.size, model.tangential
    terms, own, noise = room.one, room.two, 0.0
    for i in range(n):
        room.v_after[i] = room.free[i] + change[i]
        terms[i] = abs(v[i]) + abs(room.pushed[i])
        noise = max(noise, terms[i])
        own[i] = 0.0
    for e in range(entry.size):
        if model.entry_row[e] == model.entry_column[e]:
            own[model.entry_row[e]] += entry[e]
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
            contacts.impulse[c, a] = x[r] * contacts.scale[c, a]
            for e in range(start[r], start[r + 1]):
                push = abs(value[e] / own[column[e]]) * largest
                terms[column[e]] += push
                if push > noise:
                    contacts.loaded[c] = True
    _flush(room, terms)
