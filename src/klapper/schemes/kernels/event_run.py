"""From event to event in compiled code: phases, impacts and decisions in one call, with samples and the ledger.

The same steps as :class:`klapper.schemes.phase_step.PhaseStep`. A step that is out of the ordinary (see the files of
its parts) ends the call with the state before it, and the general code does it.
"""

from __future__ import annotations

import math

import numpy as np

from klapper.schemes.form_kernels.compiling import apart, bare, inner, outer, part
from klapper.schemes.kernels.event_impact import impact
from klapper.schemes.kernels.event_looks import look, take_senses
from klapper.schemes.kernels.event_room import (
    ALLOWED,
    APART,
    BEGIN,
    BY_LAW,
    CLOCK_HEAD,
    CONTACTS,
    COUNT,
    DECIDE_PART,
    DECIDED,
    DONE,
    EVENTS,
    HELD_PARTS,
    IMPACTS,
    INSIDE,
    JUMP_PART,
    LARGEST,
    LEFT,
    LOOK_PART,
    LOOKING,
    LOOSE_SINCE,
    LOOSE_STEPS,
    MEMORY_HEAD,
    MISSING,
    NO_PARTS,
    NO_ROOM,
    PIECES,
    REST_PART,
    ROWS_DONE,
    SAMPLE,
    SHORTEST,
    SINCE_AT,
    SIZE_AT,
    SLIP_SPEED,
    SPACED,
    STALLED,
    STEP_NUMBER,
    STEPS,
    TOLERANCE,
    UNTIL,
    Loop,
    decide_at,
    directions_at,
    energies_at,
    gaps_at,
    jump_at,
    lacks,
    look_at,
    loop_by_reference,
    pack_at,
    rest_at,
    run_phase_at,
    slope_at,
    touched_at,
    without_drift,
)
from klapper.schemes.kernels.event_touching import closed_contacts, collides, take_velocities
from klapper.schemes.kernels.phase_packing import (
    BASE_D,
    BASE_NQ,
    RELEASE,
    SLIP_BEGINS,
    SMOOTH,
    STOP,
    TOUCH,
    TURN,
)
from klapper.schemes.kernels.phase_rows import (
    FINE,
    GRIP,
    HELD,
    KNOWN,
    LOOSE,
    MOBILITY,
    NORMAL,
    NV,
    PATCH,
    RATE,
    REFERENCE,
    RESPONSE,
    ROWS,
    SCALE,
    SENSE,
    SIZE,
    SLIDING,
    SLIP,
    STICKING,
    UNSOLVED,
    VECTORS,
    WHICH,
    D,
    H,
    M,
    P,
    S,
    numbers,
    put,
    settled,
    solved,
    table,
)
from klapper.schemes.kernels.phase_run import ENDED, GENERAL, _step_of
from klapper.schemes.kernels.phase_steps import between

OPEN_STATE, STICK_STATE, SLIP_STATE, IMPACT_STATE = 0, 1, 2, 3  # as in klapper.contact_states
_STILL = 1e-3  # these as in klapper.schemes.phase_step
_STALLED = 24
_LOOK_AHEAD = 6
_FLUSHED = 1e-12  # as in klapper.schemes.phase_projection


@outer
def run_events(given: Loop) -> int:
    """Steps from ``state``, all in place; why it ended."""
    g = loop_by_reference(*given)
    until, counters, options = g.options[UNTIL], g.counters, g.options
    memory, clock, state = g.memory.copy(), g.clock.copy(), g.state.copy()
    tally, sums, last = g.tally.copy(), g.sums.copy(), g.last.copy()
    while counters[STEPS] < counters[COUNT] and g.state[0] < until - 1e-12 * abs(until):
        if counters[ROWS_DONE] >= g.samples.shape[0]:
            return NO_ROOM
        put(g.memory, memory)
        put(g.clock, clock)
        put(g.state, state)
        put(g.tally.reshape(tally.size), tally.reshape(tally.size))
        put(g.sums, sums)
        put(g.last.reshape(last.size), last.reshape(last.size))
        rows, limit = counters[ROWS_DONE], min(until, g.state[0] + options[LARGEST])
        if options[SAMPLE] < math.inf:
            passed = math.floor((g.state[0] - options[BEGIN]) / options[SAMPLE] * (1.0 + 4e-16) + 1e-9) + 1.0
            limit = min(limit, options[BEGIN] + passed * options[SAMPLE])
        counters[STEP_NUMBER] += 1
        outcome = _step(g, limit)
        if outcome != DONE:
            put(memory, g.memory)
            put(clock, g.clock)
            put(state, g.state)
            put(tally.reshape(tally.size), g.tally.reshape(tally.size))
            put(sums, g.sums)
            put(last.reshape(last.size), g.last.reshape(last.size))
            counters[ROWS_DONE] = rows
            counters[STEP_NUMBER] -= 1
            return NO_PARTS if outcome == LEFT and counters[MISSING] >= 0 else outcome
        counters[STEPS] += 1
    return DONE


@bare
def _step(g: Loop, limit: float) -> int:
    """One step: an impact, or a phase up to an event, a sample or as far as there is room."""
    nq, m, d, memory, clock = g.base[BASE_NQ], g.every.size, g.base[BASE_D], g.memory, g.clock
    t, q, v = g.state[0], g.state[1 : 1 + nq], g.state[1 + nq :]
    most = (memory.size - MEMORY_HEAD - 3 * m) // 2
    events = memory[MEMORY_HEAD : MEMORY_HEAD + 2 * most].reshape(most, 2)
    first = MEMORY_HEAD + 2 * most
    contact, pressed, grip = (
        memory[first : first + m],
        memory[first + m : first + 2 * m],
        memory[first + 2 * m :],
    )
    sense, reference = clock[CLOCK_HEAD : CLOCK_HEAD + m * d].reshape(m, d), clock[CLOCK_HEAD + m * d :]
    k = closed_contacts(g, t, q, v)
    if k < 0:
        return LEFT
    g.books[5] = 0.0  # work of walls
    energies_at(g, q, v, g.books[8:])
    put(g.books[8:10], g.books[6:8])
    if not memory[DECIDED]:
        if t > clock[SINCE_AT] + g.options[SHORTEST]:
            memory[STALLED], clock[SINCE_AT] = 0, t
        elif memory[STALLED] > _STALLED + 4 * memory[CONTACTS]:
            return LEFT
        if not touched_at(g.parts)(g, k, t, q, v):
            return LEFT
        still = _STILL * g.options[SLIP_SPEED]
        if collides(g.touch_ints, g.velocities, g.quiet, still):
            if lacks(g, JUMP_PART):
                return LEFT
            return jump_at(g.parts)(g, k, t, q, v)  # type: ignore[no-any-return]
        kinetic, touches = memory[EVENTS] > 0, False
        for i in range(memory[EVENTS]):
            kinetic = kinetic and (events[i, 0] == SLIP_BEGINS or events[i, 0] == RELEASE)
            touches = touches or events[i, 0] == TOUCH
        if memory[STALLED] > _LOOK_AHEAD or (memory[STALLED] and touches):
            return LEFT
        if lacks(g, DECIDE_PART) or (kinetic and lacks(g, REST_PART)):
            return LEFT
        if kinetic:
            _pack(g, memory[CONTACTS], contact, pressed, grip, sense)
            if math.isnan(rest_at(g.parts)(g, t, q, v, False)):
                return LEFT
        memory[CONTACTS] = decide_at(g.parts)(
            g, t, q, v, events[: memory[EVENTS]], memory[CONTACTS], contact, pressed, grip, sense, reference
        )
        if memory[CONTACTS] < 0:
            return LEFT
    functions = _pack(g, memory[CONTACTS], contact, pressed, grip, sense)
    if not memory[DECIDED] and g.ints[SIZE]:
        if lacks(g, REST_PART):
            return LEFT
        walls = rest_at(g.parts)(g, t, q, v, True)
        if math.isnan(walls):
            return LEFT
        g.books[5] = walls
    return _phase(g, limit, functions, events, grip, sense, reference)


@bare
def _pack(
    g: Loop, count: int, contact: np.ndarray, pressed: np.ndarray, grip: np.ndarray, sense: np.ndarray
) -> int:
    """The phase of some contacts; how many event functions it has."""
    return pack_at(g.parts)(
        g.base, g.places, g.inverse, g.laws, g.friction, contact[:count], pressed, grip, sense,
        g.options[SLIP_SPEED], g.ints, g.floats, g.meanings,
    )  # type: ignore[no-any-return]  # fmt: skip


@bare
def _refer(g: Loop, reference: np.ndarray) -> None:
    """Forces that are not unique are those nearest to these."""
    for i in range(g.ints[SIZE]):
        g.floats[g.ints[REFERENCE] + i] = reference[i]


@apart
def touched(g: Loop, k: int, t: float, q: np.ndarray, v: np.ndarray) -> bool:
    """Rows of the k contacts that touch, as a phase of their own, and their velocities."""
    for i in range(k):
        at = g.touching[i]
        g.presses[i] = 1 if g.laws[at, 0] > 0.0 else 0
        g.grips[i] = STICKING if g.base[BASE_D] and g.rough[at] else SMOOTH
    pack_at(g.parts)(
        g.base, g.places, g.inverse, g.laws, g.friction, g.touching[:k], g.presses, g.grips, g.no_sense,
        g.options[SLIP_SPEED], g.touch_ints, g.touch_floats, g.meanings,
    )  # fmt: skip
    if not directions_at(g.parts)(g, g.touch_ints, g.touch_floats, t, q, v, True):
        return False
    take_velocities(g.touch_ints, g.touch_floats, v, _STILL * g.options[SLIP_SPEED], g.velocities, g.quiet)
    return True


@apart
def jump(g: Loop, k: int, t: float, q: np.ndarray, v: np.ndarray) -> int:
    """An impact by Newton's law."""
    memory, losses, after = g.memory, g.books, g.motion[: v.size]
    if g.counters[BY_LAW] or not impact(g, v, after):
        return LEFT
    energies_at(g, q, after, losses[8:])
    losses[4] = losses[0] - losses[2] - losses[3] - (losses[8] - losses[6])
    put(after, v)
    for i in range(5):
        g.sums[i] += losses[i]
    _take_impulses(g.touch_ints, g.touch_floats, g.forces, g.last, g.joints)
    for i in range(g.every.size):
        g.states[i] = OPEN_STATE
    for i in range(k):
        if g.part[i] and g.last[g.touching[i], 0] != 0.0:
            g.states[g.touching[i]] = IMPACT_STATE
    memory[DECIDED], memory[EVENTS] = 0, 0
    memory[IMPACTS] += 1
    memory[STALLED] += 1
    _forget(g)
    _write(g, t, q, v, g.last, g.joints, g.sums)
    return DONE


@bare
def _phase(
    g: Loop,
    limit: float,
    functions: int,
    events: np.ndarray,
    grip: np.ndarray,
    sense: np.ndarray,
    reference: np.ndarray,
) -> int:
    """The motion of the phase at hand up to the first event, and the modes at its end."""
    d, memory, clock, ints, counters = g.base[BASE_D], g.memory, g.clock, g.ints, g.counters
    t, moving, steps = g.state[0], g.state.size - 1, g.counters[PIECES]
    _refer(g, reference)
    held = ints[SIZE] > 0
    if held and g.held_at[g.held_at.size - 1] == 0:
        counters[MISSING] = HELD_PARTS
        return LEFT
    addresses = g.held_at if held else g.free_at
    total = moving + ints[SIZE] + 3
    span = 2 + 9 * total + ints[S] * d
    y, reached, slope = g.motion[:total], g.motion[total : 2 * total], g.motion[2 * total : 3 * total]
    for i in range(total):
        y[i] = g.state[1 + i] if i < moving else 0.0
    given, which = g.books[:4], g.flags[:functions]
    given[0], given[1], given[2], given[3] = t, limit, clock[SIZE_AT], g.options[TOLERANCE]
    for i in range(functions):
        which[i] = False
    first = ints[GRIP]
    for i in range(ints[S]):
        g.grips[i] = ints[first + i]
    outcome, done = run_phase_at(g.parts)(
        g.indices, g.data, addresses, ints, g.floats, g.tableau, g.series, y,
        g.output[: steps * span].reshape(steps, span), given, which,
    )  # fmt: skip
    if outcome == GENERAL or done == 0:
        return LEFT
    if ints[LOOSE]:
        if counters[LOOSE_STEPS] == 0:
            g.options[LOOSE_SINCE] = t
        counters[LOOSE_STEPS] += 1
    time, size = given[0], given[2]
    pieces, count, turns = g.output[: done * span].reshape(done, span), 0, False
    at = ints[SENSE]
    for i in range(ints[S] if d == 2 else 0):
        if g.grips[i] > STICKING:
            place = ints[ints[PATCH] + i]
            grip[place] = ints[first + i]
            for c in range(d):
                sense[place, c] = g.floats[at + i * d + c]
    for i in range(ints[S]):
        ints[first + i] = g.grips[i]
    between(time, pieces[done - 1], reached)
    if outcome == ENDED:
        for i in range(functions):
            if which[i]:
                count = _noted(events, count, g.meanings[i, 0], g.meanings[i, 1])
        ints[KNOWN] = 0
        take_senses(ints, g.floats, pieces[done - 1], total)
        if slope_at(g, addresses, time, reached, slope) != FINE:
            return LEFT
        turns = _turned(ints, g.floats, events[:count], g.options[SLIP_SPEED])
        if not turns:
            put(slope[moving : moving + ints[SIZE]], reference)
    memory[DECIDED] = 1 if count == 0 or turns else 0
    memory[STALLED] += 0 if memory[DECIDED] else 1
    memory[EVENTS] = 0 if memory[DECIDED] else count
    clock[SIZE_AT] = size
    return _close(g, addresses, pieces, y, reached, time)


@bare
def _close(
    g: Loop, addresses: np.ndarray, pieces: np.ndarray, y: np.ndarray, reached: np.ndarray, time: float
) -> int:
    """Samples inside a phase, its statistics, and the books at its end."""
    ints, moving, nq = g.ints, g.state.size - 1, g.base[BASE_NQ]
    for i in range(g.every.size):
        g.states[i] = OPEN_STATE
    for i in range(ints[M]):
        g.states[ints[ints[WHICH] + ints[ints[NORMAL] + i]]] = SLIP_STATE
    for i in range(ints[S]):
        sticks = ints[ints[GRIP] + i] == STICKING
        g.states[ints[ints[WHICH] + ints[ints[PATCH] + i]]] = STICK_STATE if sticks else SLIP_STATE
    _forget(g)
    if g.counters[LOOKING] and time > g.state[0]:
        if lacks(g, LOOK_PART):
            return LEFT
        outcome = look_at(g.parts)(g, addresses, pieces, time)
        if outcome != DONE:
            return outcome
    g.state[0] = time
    put(y[:moving], g.state[1:])
    q, v = g.state[1 : 1 + nq], g.state[1 + nq :]
    _take_books(g, q, v, reached[moving:])
    _take_impulses(ints, g.floats, reached[moving:], g.last, g.joints)
    put(g.books[:5], g.sums)
    _write(g, time, q, v, g.last, g.joints, g.sums)
    return DONE


@part
def look_inside(g: Loop, addresses: np.ndarray, pieces: np.ndarray, time: float) -> int:
    """Statistics of a phase, and samples inside it if they are wanted."""
    ints, moving, nq, counters = g.ints, g.state.size - 1, g.base[BASE_NQ], g.counters
    times = look(g, addresses, pieces, time)
    if times.size and math.isnan(times[0]):
        return LEFT
    if counters[INSIDE] == SPACED:
        times = _spaced(g.state[0], time, g.options[APART])
    if not counters[INSIDE] or times.size == 0:
        return DONE
    if counters[INSIDE] != SPACED and counters[ROWS_DONE] + times.size >= counters[ALLOWED]:
        return LEFT
    if counters[ROWS_DONE] + times.size + 1 > g.samples.shape[0]:
        return LEFT if counters[ROWS_DONE] == 0 else NO_ROOM
    here, size = np.empty(moving + ints[SIZE] + 3), np.empty(moving - nq)
    ints[KNOWN] = 0
    for i in range(times.size):
        between(times[i], pieces[_step_of(times[i], pieces)], here)
        q, v = here[:nq], here[nq:moving]
        if ints[H]:
            for j in range(size.size):
                size[j] = abs(v[j])
            if not without_drift(g, addresses, times[i], q, v, size):
                return LEFT
        _take_books(g, q, v, here[moving:])
        _take_impulses(ints, g.floats, here[moving:], g.impulse, g.joints)
        _write(g, times[i], q, v, g.impulse, g.joints, g.books)
    return DONE


@inner
def _spaced(start: float, end: float, apart: float) -> np.ndarray:
    """Times inside a step, so far apart, and half of that before its end."""
    count = max(math.ceil((end - start) / apart - 1.5), 0)
    times = np.empty(count)
    for i in range(count):
        times[i] = start + (i + 1) * apart
    return times


@bare
def _take_books(g: Loop, q: np.ndarray, v: np.ndarray, integrals: np.ndarray) -> None:
    """Works (5,) [J] since the start of the run, from those of a phase; energies stand behind them."""
    books, last = g.books, integrals.size
    energies_at(g, q, v, books[8:])
    loads, damping, friction = integrals[last - 3] + books[5], integrals[last - 2], integrals[last - 1]
    gained = books[8] + books[9] - books[6] - books[7]
    books[0], books[1], books[2] = g.sums[0] + loads, g.sums[1] + damping, g.sums[2] + friction
    books[3], books[4] = g.sums[3], g.sums[4] + loads - gained - damping - friction


@inner
def _take_impulses(
    ints: np.ndarray, floats: np.ndarray, rows: np.ndarray, out: np.ndarray, joints: np.ndarray
) -> None:
    """Impulses (m, 1 + d) of all contacts and (p,) of constraints from those of the rows of a phase."""
    which, normals, patches = numbers(ints, WHICH), numbers(ints, NORMAL), numbers(ints, PATCH)
    scales, m, d = table(floats, ints, SCALE), ints[M], ints[D]
    for i in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[i, c] = 0.0
    for i in range(m):
        out[which[normals[i]], 0] = rows[i]
    for i in range(ints[S]):
        for c in range(d):
            out[which[patches[i]], 1 + c] = rows[m + i * d + c] * scales[i, c]
    for i in range(ints[P]):
        joints[i] = rows[m + ints[S] * d + i]


@bare
def _forget(g: Loop) -> None:
    """No impulses have been given to samples of this step yet."""
    for i in range(g.earlier.size):
        g.earlier[i] = 0.0


@bare
def _write(
    g: Loop, t: float, q: np.ndarray, v: np.ndarray, impulse: np.ndarray, joints: np.ndarray, works: np.ndarray
) -> None:  # fmt: skip
    """One sample, with the impulses since the one before; its energies stand behind the books."""
    m, at, width = impulse.shape[0], g.counters[ROWS_DONE], impulse.shape[1]
    row, first = g.samples[at], 1 + q.size + v.size
    row[0] = t
    put(q, row[1:])
    put(v, row[1 + q.size :])
    gaps_at(g, t, q, row[first : first + m])
    first += m
    for i in range(m):
        for c in range(width):
            row[first] = impulse[i, c] - g.earlier[i * width + c]
            g.earlier[i * width + c] = impulse[i, c]
            first += 1
    for i in range(joints.size):
        row[first] = joints[i] - g.earlier[m * width + i]
        g.earlier[m * width + i] = joints[i]
        first += 1
    row[first], row[first + 1] = g.books[8], g.books[9]
    for i in range(5):
        row[first + 2 + i] = works[i]
    g.marks[at, 0] = g.counters[STEP_NUMBER]
    for i in range(m):
        g.marks[at, 1 + i] = g.states[i]
    g.counters[ROWS_DONE] = at + 1


@bare
def _noted(events: np.ndarray, count: int, kind: int, contact: int) -> int:
    """Enter an event (kind, contact) in its place among those so far; their number."""
    at = count
    while at and (events[at - 1, 0] > kind or (events[at - 1, 0] == kind and events[at - 1, 1] >= contact)):
        at -= 1
    if at < count and events[at, 0] == kind and events[at, 1] == contact:
        return count
    for i in range(count, at, -1):
        events[i, 0], events[i, 1] = events[i - 1, 0], events[i - 1, 1]
    events[at, 0], events[at, 1] = kind, contact
    return count + 1


@inner
def _turned(ints: np.ndarray, floats: np.ndarray, events: np.ndarray, slip_speed: float) -> bool:
    """Stops of patches that still slide across are turns; whether nothing but turns happened."""
    slip, grip = table(floats, ints, VECTORS)[SLIP], numbers(ints, GRIP)
    which, patches, turns = numbers(ints, WHICH), numbers(ints, PATCH), events.shape[0] > 0
    for e in range(events.shape[0]):
        for i in range(ints[S]):
            if events[e, 0] == STOP and which[patches[i]] == events[e, 1] and grip[i] == SLIDING:
                square = 0.0
                for c in range(ints[D]):
                    square += slip[i * ints[D] + c] ** 2
                if math.sqrt(square) > 2.0 * slip_speed:
                    events[e, 0] = TURN
        turns = turns and events[e, 0] == TURN
    return turns


@part
def rest(g: Loop, t: float, q: np.ndarray, v: np.ndarray, brings: bool) -> float:
    """Velocities of the phase at hand that only round-off keeps from rest, in place if ``brings``; the work of moving
    walls on them [J], nan if the held rows depend on each other."""
    if not directions_at(g.parts)(g, g.ints, g.floats, t, q, v, False):
        return math.nan
    if brings:
        return _brought_to_rest(g.ints, g.floats, v, g.at_rest)  # type: ignore[no-any-return]
    held, mobility = numbers(g.ints, HELD), table(g.floats, g.ints, MOBILITY)
    matrix = np.zeros((held.size, held.size + 1))
    for a in range(held.size):
        for b in range(held.size):
            matrix[a, b] = mobility[held[a], held[b]]
    return 0.0 if solved(matrix, held.size) else math.nan


@inner
def _brought_to_rest(ints: np.ndarray, floats: np.ndarray, v: np.ndarray, at_rest: np.ndarray) -> float:
    """Velocities that only round-off keeps from rest, in place; the work of moving walls on them [J], nan if the rows
    at rest depend on each other."""
    rows, response = table(floats, ints, ROWS), table(floats, ints, RESPONSE)
    mobility, rates = table(floats, ints, MOBILITY), table(floats, ints, VECTORS)[RATE]
    patches, m, d, n, h = numbers(ints, PATCH), ints[M], ints[D], ints[NV], 0
    held = np.empty(ints[SIZE], np.int64)
    for i in range(m):
        held[h] = i
        h += 1
    for i in range(ints[S]):
        for c in range(d if at_rest[patches[i]] else 0):
            held[h] = m + i * d + c
            h += 1
    for i in range(ints[SIZE] - ints[P], ints[SIZE]):
        held[h] = i
        h += 1
    matrix, walls, size = np.empty((h, h + 1)), 0.0, np.abs(v)
    for turn in range(2):
        moves = False
        for a in range(h):
            matrix[a, h] = rates[held[a]]
            for j in range(n):
                matrix[a, h] += rows[held[a], j] * v[j]
            moves = moves or matrix[a, h] != 0.0
            for b in range(h):
                matrix[a, b] = mobility[held[a], held[b]]
        if not moves:
            if turn == 0:
                return 0.0
            break
        if settled(matrix, h, np.zeros(h), math.inf) == UNSOLVED:
            return math.nan
        for a in range(h):
            walls += matrix[a, h] * rates[held[a]]  # the impulse is −, and so is the work
            for j in range(n):
                v[j] -= response[held[a], j] * matrix[a, h]
    for _ in range(2):
        more = np.zeros(n)
        for a in range(h):
            own, reach = mobility[held[a], held[a]], 0.0
            for j in range(n):
                reach += abs(rows[held[a], j]) * size[j]
            for j in range(n):
                more[j] += abs(response[held[a], j]) / own * reach if own > 0.0 else 0.0
        size = size + more
    for j in range(n):
        touched = False
        for a in range(h):
            touched = touched or rows[held[a], j] != 0.0
        if touched and abs(v[j]) < _FLUSHED * size[j]:
            v[j] = 0.0
    return walls
