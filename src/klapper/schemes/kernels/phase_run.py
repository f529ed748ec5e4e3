"""A phase in one call: steps of the integrator, the search for events in each, drift removed in between."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from klapper.schemes.kernels.phase_rows import (
    ACCELERATED,
    BRING,
    COUNTS,
    DATA,
    FINE,
    GAPS,
    GRIP,
    INDEX,
    KNOWN,
    NQ,
    NV,
    RATE,
    REACTIONS,
    ROWS,
    SENSE,
    SIZES,
    SLIDING,
    STICKING,
    VECTORS,
    D,
    M,
    S,
    derivative,
    instant,
    take_rows,
)
from klapper.schemes.kernels.phase_search import (
    EPS,
    EVENT,
    NOTHING,
    SPECIAL,
    first_event,
    take_noise,
)
from klapper.schemes.kernels.phase_steps import (
    SLOPES,
    between,
    first_size,
    pushed_velocities,
    step,
    turning_rate,
    without_drift,
)

GENERAL, GOES_ON, ENDED = 0, 1, 2
"""The general code has to take this step; no event up to the end; an event at the end."""

_PAST_THE_EVENT = 1.01  # these as in klapper.schemes.event_driven
_EXPLICIT_REACH = 5.0
_OF_IMPULSES = 1e-7
_UNCONTROLLED = 1e8
_ROUND_OFF = 64.0 * EPS


@njit(cache=True, error_model="numpy")
def run_phase(
    system: Any,
    watch: Any,
    follows: np.ndarray,
    tableau: Any,
    tables: Any,
    y: np.ndarray,
    pieces: Any,
    given: np.ndarray,
    which: np.ndarray,
) -> tuple[int, int, float, float]:
    """From y at the start of the phase: outcome, number of steps, end [s], and the size [s] proposed for the next step.

    ``pieces``  spans (c, 2), states before (c, ny), dense output (c, 7, ny), states after (c, ny), senses (c, s, d)
    ``given``   start [s], end [s], size [s] of the first step, tolerance [m], slip speed [m/s]
    ``y``       (ny,) becomes the state at the end, without drift; ``which`` (f,) the functions that cross there
    """
    form, sizes, modes, work = system
    spans, befores, denses, afters, senses = pieces
    nq, n, m, s, d, r = sizes[NQ], sizes[NV], sizes[M], sizes[S], sizes[D], sizes[SIZES]
    t, until, size, tolerance, slip_speed = given[0], given[1], given[2], given[3], given[4]
    motion, total = nq + n, y.size
    vectors = work[VECTORS]
    work[KNOWN][0] = 0
    relative = max(tolerance * math.sqrt(motion / total), 100.0 * EPS)
    allowed = np.full(total, _UNCONTROLLED)
    allowed[:motion] = tolerance * math.sqrt(motion / total)
    slopes, spare, state = np.empty((SLOPES, total)), np.empty(total), np.empty(total)
    noise, pushed, start_velocity = np.empty(which.size), np.empty(n), np.empty(n)
    slides = False
    for i in range(s):
        slides = slides or modes[GRIP][i] != STICKING
    done, outcome = 0, GOES_ON
    while done < spans.shape[0] and t < until:
        if derivative(form, sizes, modes, work, t, y, slopes[0]) != FINE:
            return (GOES_ON if done else GENERAL), done, t, size
        if r and size > 0.0 and not slides:
            largest = 0.0
            for i in range(r):
                largest = max(largest, abs(slopes[0, motion + i]))
            for i in range(r):
                allowed[motion + i] = _OF_IMPULSES * largest * size if largest > 0.0 else _UNCONTROLLED
        if size > 0.0 and size * turning_rate(system, y, slopes[0], size) > _EXPLICIT_REACH:
            return (GOES_ON if done else GENERAL), done, t, size
        tried = min(size, until - t)
        if not size > 0.0:
            tried = first_size(system, t, y, slopes[0], until - t, relative, allowed)
        before, dense, after = befores[done], denses[done], afters[done]
        before[:] = y
        status, length, proposed = step(
            system, tableau, t, y, until, tried, relative, allowed, slopes, after, dense, spare
        )
        if status != FINE:
            return (GOES_ON if done else GENERAL), done, t, size
        spans[done, 0], spans[done, 1] = t, length
        piece = (spans[done], before, dense, after)
        if not take_noise(system, watch, follows, piece, tolerance, slip_speed, state, noise):
            return (GOES_ON if done else GENERAL), done, t, size
        found, time = first_event(system, watch, piece, tables, noise, state, which)
        if found == EVENT and time < t + length and time > t + _ROUND_OFF * abs(t):
            aim = _PAST_THE_EVENT * (time - t)
            status, sharp, next_size = step(
                system, tableau, t, y, min(t + aim, until), aim, relative, allowed, slopes, after, dense, spare
            )
            if status != FINE or t + sharp <= time:
                return (GOES_ON if done else GENERAL), done, t, size
            spans[done, 1], proposed = sharp, next_size
            if not take_noise(system, watch, follows, piece, tolerance, slip_speed, state, noise):
                return (GOES_ON if done else GENERAL), done, t, size
            found, time = first_event(system, watch, piece, tables, noise, state, which)
        if found == NOTHING:
            time = min(t + spans[done, 1], until)
        if found == SPECIAL or _unnoticed(system, watch, follows, piece, time, state, noise):
            return (GOES_ON if done else GENERAL), done, t, size
        end = t + spans[done, 1]
        proposed = max(proposed, size if end >= until else 0.0)
        between(time, t, spans[done, 1], before, dense, after, state)
        for x in state[:motion]:
            if not abs(x) < math.inf:
                return (GOES_ON if done else GENERAL), done, t, size
        start_velocity[:] = y[nq:motion]
        pushed_velocities(system, time, state[:nq], state[nq:motion], time - t, start_velocity, pushed)
        if not without_drift(system, time, state[:nq], state[nq:motion], pushed):
            return (GOES_ON if done else GENERAL), done, t, size
        for i in range(s):
            for c in range(d):
                senses[done, i, c] = modes[SENSE][i, c]
        work[KNOWN][0] = 0
        y[:] = state
        t, size, done = time, proposed, done + 1
        renewed = d == 2 and slides and _renew(system, t, y, slip_speed)
        if found == EVENT:
            outcome = ENDED
            break
        if renewed:
            break
    return outcome, done, t, size


@njit(cache=True, error_model="numpy")
def _unnoticed(
    system: Any, watch: Any, follows: np.ndarray, piece: Any, time: float, y: np.ndarray, noise: np.ndarray
) -> bool:
    """Whether a gap has fallen below zero before ``time`` by less than its noise: a flight that ended."""
    form, sizes, _, _ = system
    watched, depth, _, _ = watch
    span, before, dense, after = piece
    if watched.size == 0:
        return False
    between(time, span[0], span[1], before, dense, after, y)
    gaps, reach = np.empty(watched.size), 0.0
    form[BRING](form[INDEX], form[DATA], time)
    form[GAPS](form[INDEX], form[DATA], time, y[: sizes[NQ]], watched, gaps)
    for i in range(sizes[NQ]):
        reach = max(reach, abs(y[i]), abs(before[i]))
    for i in range(watched.size):
        gap = gaps[i] + depth[i]
        if not follows[i] and gap < -max(_ROUND_OFF * reach, 1e-300) and gap >= -noise[i]:
            return True
    return False


@njit(cache=True, error_model="numpy")
def _renew(system: Any, t: float, y: np.ndarray, slip_speed: float) -> bool:
    """Senses in space follow the sliding velocities, in place; whether one that was given begins to do so."""
    form, sizes, modes, work = system
    nq, n, m, s = sizes[NQ], sizes[NV], sizes[M], sizes[S]
    form[BRING](form[INDEX], form[DATA], t)
    take_rows(form, sizes, modes, work, t, y[:nq])
    begins = False
    for i in range(s):
        if modes[GRIP][i] == STICKING:
            continue
        slip = np.empty(2)
        for c in range(2):
            slip[c] = work[VECTORS][RATE, m + 2 * i + c]
            for j in range(n):
                slip[c] += work[ROWS][m + 2 * i + c, j] * y[nq + j]
        speed = math.sqrt(slip[0] ** 2 + slip[1] ** 2)
        if speed > 1.5 * slip_speed:
            begins = begins or modes[GRIP][i] != SLIDING
            modes[GRIP][i] = SLIDING
            for c in range(2):
                modes[SENSE][i, c] = slip[c] / speed
    return begins


@njit(cache=True, error_model="numpy")
def states_at(times: np.ndarray, pieces: Any, count: int, out: np.ndarray) -> None:
    """y (k, ny) at any times, by the dense output of ``count`` steps."""
    spans, befores, denses, afters, _ = pieces
    for k in range(times.size):
        i = _step_of(times[k], spans, count)
        between(times[k], spans[i, 0], spans[i, 1], befores[i], denses[i], afters[i], out[k])


@njit(cache=True, error_model="numpy")
def _step_of(t: float, spans: np.ndarray, count: int) -> int:
    low, high = 0, count - 1
    while low < high:
        middle = (low + high + 1) // 2
        if spans[middle, 0] <= t:
            low = middle
        else:
            high = middle - 1
    return low


@njit(cache=True, error_model="numpy")
def reactions_at(
    system: Any, times: np.ndarray, states: np.ndarray, pieces: Any, count: int, out: np.ndarray
) -> bool:
    """Forces (k, r) at states (k, ny), with the senses of the steps in which they are."""
    form, sizes, modes, work = system
    nq, n, s, d, r = sizes[NQ], sizes[NV], sizes[S], sizes[D], sizes[SIZES]
    work[KNOWN][0] = 0
    for k in range(times.size):
        i = _step_of(times[k], pieces[0], count)
        for a in range(s):
            for c in range(d):
                modes[SENSE][a, c] = pieces[4][i, a, c]
        acceleration, forces = work[VECTORS][ACCELERATED, :n], work[VECTORS][REACTIONS, :r]
        if instant(
            form, sizes, modes, work, times[k], states[k, :nq], states[k, nq : nq + n], acceleration, forces
        ) != FINE:
            return False
        out[k] = forces
    return True


@njit(cache=True, error_model="numpy")
def hold(system: Any, times: np.ndarray, q: np.ndarray, v: np.ndarray) -> bool:
    """Remove drift at many states (k, nq), (k, n) in place."""
    _, sizes, _, work = system
    work[KNOWN][0] = 0
    for k in range(times.size):
        if not without_drift(system, times[k], q[k], v[k], np.abs(v[k])):
            return False
    return True
