"""The modes of the next phase in compiled code, as :mod:`klapper.schemes.mode_decision` decides about them.

Only where a few contacts have one clear answer. Borders, contacts that depend on each other, flights too short to be
followed and states without finite accelerations are left to the general code.
"""

from __future__ import annotations

import math

import numpy as np

from klapper.schemes.few_contacts import CLEAR
from klapper.schemes.form_kernels.compiling import inner, part
from klapper.schemes.kernels.event_room import SHORTEST, SLIP_SPEED, Loop, force_at, solved_few
from klapper.schemes.kernels.event_touching import constraint_forces, friction_at, hold_constraints
from klapper.schemes.kernels.phase_packing import RELEASE, SLIP_BEGINS, SMOOTH, STOP
from klapper.schemes.kernels.phase_rows import (
    BIAS,
    LIMIT,
    NORMAL,
    NV,
    PATCH,
    PUSH,
    RESPONSE,
    ROWS,
    SCALE,
    SIZE,
    SLIDING,
    STARTING,
    STICKING,
    VECTORS,
    WHICH,
    D,
    K,
    M,
    P,
    S,
    divide_by_mass,
    line,
    numbers,
    table,
)
from klapper.schemes.mode_decision import _CONTRADICTS, _ROUND_OFF
from klapper.schemes.touching import ROUND_OFF

_ROUNDS = 30


@inner
def happened(events: np.ndarray, kind: int, contact: int) -> bool:
    """Whether an event (e, 2) of a kind ended the last phase at a contact."""
    found = False
    for i in range(events.shape[0]):
        found = found or (events[i, 0] == kind and events[i, 1] == contact)
    return found


@part
def decide(
    g: Loop,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    events: np.ndarray,
    known: int,
    contact: np.ndarray,
    pressed: np.ndarray,
    grip: np.ndarray,
    sense: np.ndarray,
    reference: np.ndarray,
) -> int:
    """The contacts of the next phase in place of the ``known`` ones of the last, with their modes; how many, or −1.

    ``g.at_rest``  (k,) which patches are at rest now
    """
    ints, floats, u, quiet = g.touch_ints, g.touch_floats, g.velocities, g.quiet
    slip_speed, shortest = g.options[SLIP_SPEED], g.options[SHORTEST]
    last, last_pressed, last_grip = contact[:known].copy(), pressed[:known].copy(), grip[:known].copy()
    touching, normals, patches = numbers(ints, WHICH), numbers(ints, NORMAL), numbers(ints, PATCH)
    scales, limits = table(floats, ints, SCALE), line(floats, ints, LIMIT)
    n, k, m, s, d, p, r = ints[NV], ints[K], ints[M], ints[S], ints[D], ints[P], ints[SIZE]
    c = r - p
    candidate, released = np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    slides, forced, own = np.zeros(s, np.bool_), np.zeros(s, np.bool_), np.zeros((s, d))
    speed, fastest = np.zeros(s), 0.0
    for x in v:
        fastest = max(fastest, abs(x))
    opens = False
    for i in range(events.shape[0]):
        opens = opens or events[i, 0] == RELEASE
    for i in range(m):
        candidate[i] = u[i] <= quiet[i]
        number = touching[normals[i]]
        released[i] = happened(events, RELEASE, number)
        for j in range(known):  # what followed from a released contact without pressing opens with it
            released[i] = released[i] or (opens and last[j] == number and not last_pressed[j])
        candidate[i] = candidate[i] and not released[i]
    for i in range(s):
        scaled = 0.0
        for a in range(d):
            slip = u[m + i * d + a]
            scaled += slip**2
            speed[i] += (slip / scales[i, a]) ** 2 if scales[i, a] > 0.0 else 0.0
        speed[i], scaled = math.sqrt(speed[i]), math.sqrt(scaled)
        if speed[i] > slip_speed:
            slides[i] = not happened(events, STOP, touching[patches[i]])
            for a in range(d):
                own[i, a] = u[m + i * d + a] / (scaled if scaled > 0.0 else 1.0)
    row = 0
    for j in range(known):
        row += 1 if last_pressed[j] else 0
    for j in range(known):
        if last_grip[j] == SMOOTH:
            continue
        at, row = row, row + d
        for i in range(s):
            if touching[patches[i]] != last[j] or slides[i] or happened(events, STOP, last[j]):
                continue
            size, along = 0.0, 0.0
            for a in range(d):
                size += reference[at + a] ** 2
                along += u[m + i * d + a] * sense[j, a]
            if happened(events, SLIP_BEGINS, last[j]) and size > 0.0:
                forced[i] = slides[i] = True
                for a in range(d):
                    own[i, a] = -reference[at + a] / math.sqrt(size)
            elif last_grip[j] != STICKING and along > ROUND_OFF * fastest:
                slides[i] = True
                for a in range(d):
                    own[i, a] = sense[j, a]
    vectors = table(floats, ints, VECTORS)
    rows, response = table(floats, ints, ROWS), table(floats, ints, RESPONSE)
    free, push, given = np.empty(n), np.empty(n), np.empty(r)
    force_at(g, t, q, v, vectors[PUSH, :n])
    divide_by_mass(ints, floats, vectors[PUSH, :n], free)
    for i in range(r):
        given[i] = vectors[BIAS, i]
        for j in range(n):
            given[i] += rows[i, j] * free[j]
    matrix, value, back = np.empty((c, c)), np.empty(c), np.empty((p, c + 1))
    if not hold_constraints(ints, floats, given, matrix, value, back):
        return -1
    highest = 0.0
    for x in q:
        highest = max(highest, abs(x))
    forces, friction, speeds = np.zeros(r), np.empty((s, m)), np.zeros(k)
    for _ in range(_ROUNDS + k):
        for i in range(s):
            speeds[patches[i]] = speed[i] if slides[i] else 0.0
        friction_at(g, speeds, friction)
        for i in range(s):
            for j in range(m):
                friction[i, j] = friction[i, j] if candidate[j] else 0.0
        if not _answered(
            g, ints, matrix, value, candidate, slides, own, friction, limits, free, rows, forces
        ):
            return -1
        constraint_forces(ints, back, forces)
        for j in range(n):
            push[j] = abs(free[j])
            for i in range(r):
                push[j] += abs(response[i, j] * forces[i])
        changed = False
        for i in range(m):
            if candidate[i]:
                continue
            opening, zero = _change(ints, floats, i, given, forces, push)
            if released[i] and opening < -zero:
                candidate[i], released[i], changed = True, False, True
            elif u[i] > quiet[i] and opening < -zero:
                rise = _ROUND_OFF * highest
                if 2.0 * u[i] < -opening * shortest or u[i] ** 2 < -2.0 * opening * rise:
                    return -1  # a flight too short to be followed
        for i in range(s):
            if not forced[i]:
                continue
            onset, allowed = 0.0, 0.0
            for a in range(d):
                change, zero = _change(ints, floats, m + i * d + a, given, forces, push)
                onset, allowed = onset + change * own[i, a], max(allowed, zero)
            if onset < -allowed:
                forced[i] = slides[i] = False
                changed = True
        if not changed:
            break
    else:
        return -1
    return _written(
        ints, floats, candidate, slides, forced, own, speed, slip_speed, friction, limits, given, forces, push,
        contact, pressed, grip, sense, reference, g.at_rest,
    )  # fmt: skip


@inner
def _change(
    ints: np.ndarray, floats: np.ndarray, i: int, given: np.ndarray, forces: np.ndarray, push: np.ndarray
) -> tuple[float, float]:
    """Dᵀ v̇ + b of a row, and what of it counts as zero."""
    rows, response, bias = (
        table(floats, ints, ROWS),
        table(floats, ints, RESPONSE),
        table(floats, ints, VECTORS)[BIAS],
    )
    total, terms = given[i], abs(bias[i])
    for j in range(ints[NV]):
        terms += abs(rows[i, j]) * push[j]
        for a in range(ints[SIZE]):
            total += rows[i, j] * response[a, j] * forces[a]
    return total, _CONTRADICTS * terms


@inner
def _answered(
    g: Loop,
    ints: np.ndarray,
    matrix: np.ndarray,
    value: np.ndarray,
    candidate: np.ndarray,
    slides: np.ndarray,
    own: np.ndarray,
    friction: np.ndarray,
    limits: np.ndarray,
    free: np.ndarray,
    rows: np.ndarray,
    forces: np.ndarray,
) -> bool:
    """Forces of the contact rows (c,) with these candidates and sliding patches, if they are clear."""
    m, s, d = ints[M], ints[S], ints[D]
    asked, normal, taken = np.empty(m + s * d, np.int64), np.empty(m, np.int64), 0
    for i in range(m + s * d):
        forces[i] = 0.0
    for i in range(m):
        if candidate[i]:
            asked[taken] = normal[taken] = i
            taken += 1
    pressed, limited, moves = taken, 0, False
    for i in range(s):
        moves = moves or slides[i]
    rough, limit = np.empty((s, pressed)), np.empty(s)
    for i in range(s):
        total = limits[i]
        for j in range(m):
            total += friction[i, j]
        if slides[i]:
            for a in range(d):
                forces[m + i * d + a] = -limits[i] * own[i, a]
        elif total > 0.0:
            for a in range(d):
                asked[taken] = m + i * d + a
                taken += 1
            for j in range(pressed):
                rough[limited, j] = friction[i, normal[j]]
            limit[limited] = limits[i]
            limited += 1
    small, right, x = np.empty((taken, taken)), np.empty(taken), np.zeros(taken)
    for a in range(taken):
        i = asked[a]
        right[a] = value[i]
        for j in range(m, m + s * d):
            right[a] += matrix[i, j] * forces[j]
        for b in range(taken):
            small[a, b] = matrix[i, asked[b]]
        for b in range(pressed):
            for j in range(s):
                if slides[j]:
                    for e in range(d):
                        small[a, b] -= matrix[i, m + j * d + e] * own[j, e] * friction[j, normal[b]]
    for a in range(pressed):
        terms = abs(right[a])
        for j in range(free.size):
            terms += abs(rows[asked[a], j] * free[j])
        if not small[a, a] > 0.0 or abs(right[a]) <= CLEAR * terms:
            return False  # sliding friction turns a force against itself, or the contact is on a border
    if not solved_few(g, small, right, pressed, d, rough[:limited].copy(), limit[:limited].copy(), moves, x):
        return False
    for a in range(taken):
        forces[asked[a]] = x[a]
    for i in range(s):
        if slides[i]:
            for e in range(d):
                for j in range(m):
                    forces[m + i * d + e] -= own[i, e] * friction[i, j] * forces[j]
    return True


@inner
def _written(
    ints: np.ndarray,
    floats: np.ndarray,
    candidate: np.ndarray,
    slides: np.ndarray,
    forced: np.ndarray,
    own: np.ndarray,
    speed: np.ndarray,
    slip_speed: float,
    friction: np.ndarray,
    limits: np.ndarray,
    given: np.ndarray,
    forces: np.ndarray,
    push: np.ndarray,
    contact: np.ndarray,
    pressed: np.ndarray,
    grip: np.ndarray,
    sense: np.ndarray,
    reference: np.ndarray,
    still: np.ndarray,
) -> int:
    """Modes from forces: the number of contacts, or −1 if a force is neither clear nor zero."""
    touching, normals, patches = numbers(ints, WHICH), numbers(ints, NORMAL), numbers(ints, PATCH)
    response, rows = table(floats, ints, RESPONSE), table(floats, ints, ROWS)
    k, m, s, d, p, n = ints[K], ints[M], ints[S], ints[D], ints[P], ints[NV]
    normal_of, patch_of = np.full(k, -1), np.full(k, -1)
    for i in range(m):
        normal_of[normals[i]] = i
    for i in range(s):
        patch_of[patches[i]] = i
    largest, kept, row = 0.0, 0, 0
    for x in push:
        largest = max(largest, x)
    for i in range(m):
        if forces[i] > 0.0:
            own_mobility, terms = 0.0, largest
            for j in range(n):
                own_mobility += rows[i, j] * response[i, j]
                terms += abs(rows[i, j]) * push[j]
            if not forces[i] * own_mobility > ROUND_OFF * terms:
                return -1
            reference[row] = forces[i]
            row += 1
    for i in range(k):
        at, patch = normal_of[i], patch_of[i]
        closed = at >= 0 and forces[at] > 0.0
        holds, kind = False, SMOOTH
        if patch >= 0:
            rho = limits[patch]
            for j in range(m):
                rho += friction[patch, j] * max(forces[j], 0.0)
            holds = rho > 0.0
        if holds:
            size = 0.0
            for a in range(d):
                size += forces[m + patch * d + a] ** 2
            if slides[patch]:
                kind = SLIDING if d == 2 and speed[patch] > slip_speed else STARTING
            elif math.sqrt(size) < rho * (1.0 - CLEAR):
                kind = STICKING
            else:
                kind, size = STARTING, 0.0
                for a in range(d):
                    own[patch, a], _ = _change(ints, floats, m + patch * d + a, given, forces, push)
                    size += own[patch, a] ** 2
                for a in range(d):
                    own[patch, a] /= math.sqrt(size)
        if not closed and kind == SMOOTH:
            continue
        contact[kept], pressed[kept], grip[kept] = touching[i], closed, kind
        still[kept] = kind != SMOOTH and (not slides[patch] or forced[patch])
        for a in range(d):
            sense[kept, a] = own[patch, a] if kind > STICKING else 0.0
            if kind != SMOOTH:
                reference[row] = forces[m + patch * d + a]
                row += 1
        kept += 1
    for i in range(p):
        reference[row + i] = forces[m + s * d + i]
    return kept
