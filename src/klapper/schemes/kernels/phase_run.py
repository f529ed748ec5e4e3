"""A phase in one call: steps of the integrator, the search for events in each, drift removed in between."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from klapper.schemes.form_kernels.compiling import bare, inner, outer
from klapper.schemes.kernels.phase_parts import (
    AT,
    DATA,
    INDEX,
    bring_of,
    derivative_of,
    event_of,
    gaps_of,
    held_of,
    noise_of,
    renew_of,
    step_of,
    turning_of,
)
from klapper.schemes.kernels.phase_rows import (
    DEPTH,
    FINE,
    FOLLOWS,
    GRIP,
    KNOWN,
    NQ,
    NV,
    SENSE,
    SIZE,
    STICKING,
    WATCHED,
    D,
    S,
    line,
    numbers,
    put,
    table,
)
from klapper.schemes.kernels.phase_search import (
    EPS,
    EVENT,
    NOTHING,
    SPECIAL,
)
from klapper.schemes.kernels.phase_steps import (
    SLOPES,
    between,
    first_size,
    pushed_velocities,
)

GENERAL, GOES_ON, ENDED = 0, 1, 2
"""The general code has to take this step; no event up to the end; an event at the end."""

_PAST_THE_EVENT = 1.01  # these as in klapper.schemes.event_driven
_EXPLICIT_REACH = 5.0
_OF_IMPULSES = 1e-7
_UNCONTROLLED = 1e8
_ROUND_OFF = 64.0 * EPS


@outer
def run_phase(
    index: np.ndarray,
    data: np.ndarray,
    addresses: np.ndarray,
    ints: np.ndarray,
    floats: np.ndarray,
    tableau: np.ndarray,
    tables: np.ndarray,
    y: np.ndarray,
    pieces: np.ndarray,
    given: np.ndarray,
    which: np.ndarray,
) -> tuple[int, int]:
    """From y at the start of the phase: the outcome, and the number of steps.

    ``addresses``  of the functions of the form and of the parts, see ``phase_parts``
    ``pieces``  rows of start, length, y at the start, y at the end, dense output, and the senses (s, d)
    ``given``   start, end, size of the first step [s], tolerance [m]; start and size become those of a next step
    ``y``       (ny,) becomes the state at the end, without drift; ``which`` (f,) the functions that cross there
    """
    form = (index, data, addresses)
    sense, grip = table(floats, ints, SENSE), numbers(ints, GRIP)
    follows = numbers(ints, FOLLOWS)
    nq, n, s, d, r = ints[NQ], ints[NV], ints[S], ints[D], ints[SIZE]
    t, until, size, tolerance = given[0], given[1], given[2], given[3]
    motion, total = nq + n, y.size
    ints[KNOWN] = 0
    relative = max(tolerance * math.sqrt(motion / total), 100.0 * EPS)
    allowed = np.empty(total)
    for i in range(total):
        allowed[i] = tolerance * math.sqrt(motion / total) if i < motion else _UNCONTROLLED
    slopes, state = np.empty((SLOPES, total)), np.empty(total)
    noise, pushed, begun = np.empty(which.size), np.empty(n), np.empty(n)
    asked, at, span = np.empty(4), np.empty(1), 2 + 9 * total
    slides = False
    for i in range(s):
        slides = slides or grip[i] != STICKING
    done, outcome = 0, GOES_ON
    while done < pieces.shape[0] and t < until and outcome == GOES_ON:
        outcome = GENERAL
        if derivative_of(addresses)(form, ints, floats, t, y, slopes[0]) != FINE:
            break
        if r and size > 0.0 and not slides:
            largest = 0.0
            for i in range(r):
                largest = max(largest, abs(slopes[0, motion + i]))
            for i in range(r):
                allowed[motion + i] = _OF_IMPULSES * largest * size if largest > 0.0 else _UNCONTROLLED
        if size > 0.0 and size * turning_of(addresses)(ints, floats, y, slopes[0], size) > _EXPLICIT_REACH:
            break
        tried = min(size, until - t)
        if not size > 0.0:
            tried = first_size(form, ints, floats, t, y, slopes, until - t, relative, allowed)
        piece = pieces[done, :span]
        asked[0], asked[1], asked[2], asked[3] = t, until, tried, relative
        found, time, sharp = SPECIAL, t, False
        while True:
            if step_of(addresses)(form, ints, floats, tableau, asked, y, allowed, slopes, piece) != FINE:
                found = SPECIAL
                break
            if sharp and t + piece[1] <= time:
                found = SPECIAL
                break
            if not noise_of(addresses)(form, ints, floats, piece, tolerance, state, noise):
                found = SPECIAL
                break
            found = event_of(addresses)(form, ints, floats, piece, tables, noise, state, which, at)
            if found != EVENT:
                found = SPECIAL if sharp else found  # a shorter step does not show the event that is there
                break
            time = at[0]
            if sharp or time >= t + piece[1] or time <= t + _ROUND_OFF * abs(t):
                break
            aim = _PAST_THE_EVENT * (time - t)
            asked[1], asked[2], sharp = min(t + aim, until), aim, True
        if found == NOTHING:
            time = min(t + piece[1], until)
        if found == SPECIAL or _unnoticed(
            form, ints, floats, piece, time, state, noise, follows, which, found == EVENT
        ):
            break
        proposed = max(asked[2], size if t + piece[1] >= until else 0.0)
        between(time, piece, state)
        finite = True
        for i in range(motion):
            finite = finite and abs(state[i]) < math.inf
        if not finite:
            break
        put(y[nq:motion], begun)
        pushed_velocities(form, ints, floats, time, state[:nq], state[nq:motion], time - t, begun, pushed)
        if not held_of(addresses)(form, ints, floats, time, state[:nq], state[nq:motion], pushed):
            break
        for i in range(s):
            for c in range(d):
                pieces[done, span + i * d + c] = sense[i, c]
        ints[KNOWN] = 0
        put(state, y)
        t, size, done = time, proposed, done + 1
        outcome = ENDED if found == EVENT else GOES_ON
        if d == 2 and slides and renew_of(addresses)(form, ints, floats, t, y) and outcome == GOES_ON:
            break
    given[0], given[2] = t, size
    if outcome == GENERAL and done:
        outcome = GOES_ON
    return outcome, done


@inner
def _unnoticed(
    form: Any,
    ints: np.ndarray,
    floats: np.ndarray,
    piece: np.ndarray,
    time: float,
    y: np.ndarray,
    noise: np.ndarray,
    follows: np.ndarray,
    which: np.ndarray,
    ends: bool,
) -> bool:
    """Whether a gap has fallen below zero before ``time`` by less than its noise: a flight that ended."""
    watched, depth = numbers(ints, WATCHED), line(floats, ints, DEPTH)
    if watched.size == 0:
        return False
    between(time, piece, y)
    gaps, reach = np.empty(watched.size), 0.0
    bring_of(form[AT])(form[INDEX], form[DATA], time)
    gaps_of(form[AT])(form[INDEX], form[DATA], time, y[: ints[NQ]], watched, gaps)
    for i in range(ints[NQ]):
        reach = max(reach, abs(y[i]), abs(piece[2 + i]))
    for i in range(watched.size):
        gap = gaps[i] + depth[i]
        if (
            not follows[i]
            and not (ends and which[i])
            and gap < -max(_ROUND_OFF * reach, 1e-300)
            and gap >= -noise[i]
        ):
            return True
    return False


@bare
def _step_of(t: float, pieces: np.ndarray) -> int:
    low, high = 0, pieces.shape[0] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if pieces[middle, 0] <= t:
            low = middle
        else:
            high = middle - 1
    return low


@outer
def states_at(times: np.ndarray, pieces: np.ndarray, out: np.ndarray) -> None:
    """y (k, ny) at any times, by the dense output of the steps."""
    for k in range(times.size):
        between(times[k], pieces[_step_of(times[k], pieces)], out[k])


@outer
def reactions_at(
    index: np.ndarray,
    data: np.ndarray,
    addresses: np.ndarray,
    ints: np.ndarray,
    floats: np.ndarray,
    times: np.ndarray,
    states: np.ndarray,
    pieces: np.ndarray,
    out: np.ndarray,
) -> bool:
    """Forces (k, r) at states (k, ny), with the senses of the steps in which they are."""
    s, d, r, total = ints[S], ints[D], ints[SIZE], states.shape[1]
    form = (index, data, addresses)
    sense, motion = table(floats, ints, SENSE), ints[NQ] + ints[NV]
    slope, span = np.empty(total), 2 + 9 * total
    ints[KNOWN] = 0
    for k in range(times.size):
        i = _step_of(times[k], pieces)
        for a in range(s):
            for c in range(d):
                sense[a, c] = pieces[i, span + a * d + c]
        if derivative_of(addresses)(form, ints, floats, times[k], states[k], slope) != FINE:
            return False
        out[k] = slope[motion : motion + r]
    return True


@outer
def hold(
    index: np.ndarray,
    data: np.ndarray,
    addresses: np.ndarray,
    ints: np.ndarray,
    floats: np.ndarray,
    times: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
) -> bool:
    """Remove drift at many states (k, nq), (k, n) in place."""
    form = (index, data, addresses)
    ints[KNOWN] = 0
    fine = True
    for k in range(times.size):
        fine = fine and held_of(addresses)(form, ints, floats, times[k], q[k], v[k], np.abs(v[k]))
    return fine
