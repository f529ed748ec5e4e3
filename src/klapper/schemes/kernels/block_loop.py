"""Many steps of the nested prox scheme on a block with two feet, the whole loop compiled.

The same formulas as ``klapper.schemes.nested_prox``, written for two feet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from klapper.mechanics.block_form import BlockForm
from klapper.schemes.kernels.block_iteration import (
    CONVERGED,
    DIVERGED,
    NO_PROJECTION,
    PROX,
    STEP_SAFE,
    THESIS,
    Motion,
    Options,
    Place,
    global_factor,
    inner,
    set_velocity,
    shares_direction,
    split,
    sweep,
)
from klapper.schemes.kernels.block_model import (
    kinetic,
    potential,
    powers,
    set_columns,
    set_force,
    set_gaps,
    set_slip,
    set_tangents,
)
from klapper.schemes.kernels.small_matrices import copy, eliminate

_VERIFIED = 1e-3
_LAW = 0.01
_ROUND_OFF = 1e-12
DONE, FAILED = 0, 1


class Loads(NamedTuple):
    """(F_x, F_y, M) of every step (count, 3): at its middle, at its start, and the rate there."""

    middle: np.ndarray
    start: np.ndarray
    rate: np.ndarray


class State(NamedTuple):
    """What a step changes: position and velocity (n,), flags κ (2,), impulses (4,) of the step, sums (5,) of the
    ledger, counts (4,) of the run."""

    q: np.ndarray
    v: np.ndarray
    sticks: np.ndarray
    impulse: np.ndarray
    sums: np.ndarray
    counts: np.ndarray


class Saved(NamedTuple):
    """Samples (s, …), and for every step (count,) its counts, its case and whether friction missed its law."""

    position: np.ndarray
    velocity: np.ndarray
    gap: np.ndarray
    impulse: np.ndarray
    state: np.ndarray
    energy: np.ndarray
    residual: np.ndarray
    step_counts: np.ndarray
    step_case: np.ndarray
    step_missed: np.ndarray


class Room(NamedTuple):
    """Arrays that steps write into."""

    q_middle: np.ndarray
    q_after: np.ndarray
    middle: np.ndarray
    gap: np.ndarray
    slip: np.ndarray
    stretch: np.ndarray
    rows: np.ndarray
    counts: np.ndarray
    by_position: np.ndarray
    by_velocity: np.ndarray
    by_time: np.ndarray


@njit(cache=True, inline="always")
def _room(n: int) -> Room:
    return Room(
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(2),
        np.empty(2),
        np.empty(3),
        np.empty((3, 6)),
        np.empty(4),
        np.zeros((n, n)),
        np.zeros((n, n)),
        np.zeros(n),
    )


@njit(cache=True, inline="always")
def _place(n: int) -> Place:
    return Place(
        np.empty((n, 4)),
        np.empty(n),
        np.empty((4, 4)),
        np.zeros(2, np.bool_),
        np.zeros(2, np.bool_),
        np.zeros(2),
    )


@njit(cache=True, inline="always")
def _prepare(
    form: BlockForm,
    options: Options,
    loads: Loads,
    k: int,
    now: State,
    motion: Motion,
    place: Place,
    room: Room,
) -> None:
    """Everything about step k that does not depend on its impulses."""
    n, h = now.q.size, options.step
    for i in range(n):
        room.q_middle[i] = now.q[i] + 0.5 * h * now.v[i]
    set_gaps(form, room.q_middle, room.gap)
    set_columns(form, room.q_middle, place.column)
    set_slip(form, now.q, now.v, place.slip)
    for i in range(2):
        place.closed[i] = room.gap[i] <= options.gap_tolerance
        place.sticks[i] = now.sticks[i]
    if options.implicit:
        _prepare_implicit(form, options, loads, k, now, motion, place, room)
    else:
        set_force(form, loads.middle[k], room.q_middle, now.v, room.stretch, room.rows, place.force)
        for i in range(n):
            mass = form.inertia[i // 3] if i % 3 == 2 else form.mass[i // 3]
            motion.free[i] = now.v[i] + h * place.force[i] / mass
            for c in range(4):
                motion.response[i, c] = place.column[i, c] / mass
    for a in range(4):
        for b in range(4):
            total = 0.0
            for i in range(n):
                total += place.column[i, a] * motion.response[i, b]
            place.delassus[a, b] = total


@njit(cache=True)
def _prepare_implicit(
    form: BlockForm,
    options: Options,
    loads: Loads,
    k: int,
    now: State,
    motion: Motion,
    place: Place,
    room: Room,
) -> None:
    """(3.29), (3.30)."""
    n, h = now.q.size, options.step
    set_force(form, loads.start[k], now.q, now.v, room.stretch, room.rows, place.force)
    set_tangents(
        form, loads.start[k], loads.rate[k], now.q, now.v, room.by_position, room.by_velocity, room.by_time
    )
    matrix, right = np.empty((n, n)), np.empty((n, 5))
    for i in range(n):
        right[i, 0] = h * place.force[i] + 0.5 * h**2 * room.by_time[i]
        for j in range(n):
            right[i, 0] += 0.5 * h**2 * room.by_position[i, j] * now.v[j]
            matrix[i, j] = -0.5 * h**2 * room.by_position[i, j] - 0.5 * h * room.by_velocity[i, j]
        matrix[i, i] += form.inertia[i // 3] if i % 3 == 2 else form.mass[i // 3]
        for c in range(4):
            right[i, 1 + c] = place.column[i, c]
    eliminate(matrix, right)
    for i in range(n):
        motion.free[i] = now.v[i] + right[i, 0]
        for c in range(4):
            motion.response[i, c] = right[i, 1 + c]


@njit(cache=True, inline="always")
def _impulses(
    form: BlockForm, options: Options, now: State, motion: Motion, place: Place, counts: np.ndarray
) -> tuple[int, int, bool]:
    """Rounds of all levels; whether they converged, the last case, and whether a strategy acted."""
    r = global_factor(form, options, place)
    acts = options.strategy != PROX and shares_direction(form, place)
    impulse, before, case = now.impulse, np.empty(4), -1
    for c in range(4):
        if not place.closed[c // 2]:
            impulse[c] = 0.0
        elif not options.warm:
            impulse[c] = options.start[c]
    for _ in range(options.rounds):
        counts[0] += 1
        copy(impulse, before)
        for level in range(2):
            if level == 1 and acts:
                set_velocity(motion, options.step, options.implicit, impulse)
                case = split(form, options, place, motion.v_after, impulse)
            elif inner(motion, place.closed, form.friction, options, level, r, impulse, counts) == DIVERGED:
                return DIVERGED, case, acts
        change = 0.0
        for c in range(4):
            change = max(change, abs(impulse[c] - before[c]))
        if change <= options.change:
            return CONVERGED, case, acts
    return DIVERGED, case, acts


@njit(cache=True, inline="always")
def _verified(
    friction: np.ndarray,
    options: Options,
    motion: Motion,
    place: Place,
    impulse: np.ndarray,
    acts: bool,
) -> tuple[float, bool]:
    """Change by one more sweep with r = 1/G_ii over the largest impulse, infinite if too large; whether friction missed
    its law."""
    worst, missed, scale, reach = 0.0, False, 0.0, 0.0
    trial, factor, changes = motion.begin, motion.factor, motion.change
    set_velocity(motion, options.step, options.implicit, impulse)
    for level in range(2):
        copy(impulse, trial)
        for i in range(2):
            factor[i] = 1.0 / place.delassus[2 * i + level, 2 * i + level]
        sweep(place.closed, friction, motion.contact, level, factor, trial, changes)
        change = max(changes[0], changes[1])
        if level == 1 and acts:
            for i in range(2):
                reach = max(reach, friction[i] * impulse[2 * i])
            missed = change > _LAW * reach
            change = 0.0
            for i in range(2):
                change = max(change, abs(impulse[2 * i + 1]) - friction[i] * impulse[2 * i])
        worst = max(worst, change)
    for c in range(4):
        scale = max(scale, abs(impulse[c]))
    if scale == 0.0:
        return 0.0, False
    return (worst / scale if worst <= _VERIFIED * scale else np.inf), missed


@njit(cache=True, inline="always")
def _book(
    form: BlockForm,
    options: Options,
    load_middle: np.ndarray,
    now: State,
    v_after: np.ndarray,
    place: Place,
    room: Room,
) -> None:
    """The ledger of the step from (q, v) to (q_after, v_after)."""
    n, h = now.q.size, options.step
    for i in range(n):
        room.middle[i] = 0.5 * (now.v[i] + v_after[i])
        room.q_middle[i] = now.q[i] + 0.5 * h * room.middle[i]
    load, damping = powers(form, load_middle, room.q_middle, room.middle, room.stretch, room.rows)
    stored = potential(form, room.q_after, room.stretch, room.rows)
    stored -= potential(form, now.q, room.stretch, room.rows)
    work = 0.0
    for i in range(n):
        applied = h * place.force[i]
        if options.implicit:
            applied += 0.5 * h**2 * room.by_time[i]
            for j in range(n):
                applied += 0.5 * h**2 * room.by_position[i, j] * v_after[j]
                applied += 0.5 * h * room.by_velocity[i, j] * (v_after[j] - now.v[j])
        work += room.middle[i] * applied
    for c in range(4):
        for i in range(n):
            now.sums[3 - c % 2] -= now.impulse[c] * place.column[i, c] * room.middle[i]
    now.sums[0] += h * load
    now.sums[1] += h * damping
    now.sums[4] += h * (load - damping) - stored - work


@njit(cache=True, inline="always")
def _flag(
    form: BlockForm, options: Options, now: State, v_after: np.ndarray, place: Place, room: Room
) -> None:
    """γ into ``place.closed`` and κ into ``now.sticks`` at the end of the step, (D.2), (D.3)."""
    set_gaps(form, room.q_after, room.gap)
    set_slip(form, room.q_after, v_after, room.slip)
    for i in range(2):
        tolerance = options.slip_speed
        if options.projection == STEP_SAFE and place.closed[i]:
            tolerance = options.slip_force * options.step * _sliding_mobility(place, i)
        closed = room.gap[i] <= options.gap_tolerance
        turned_back = room.slip[i] * place.slip[i] < 0.0
        now.sticks[i] = closed and (abs(room.slip[i]) <= tolerance or turned_back)
    for i in range(2):
        place.closed[i] = room.gap[i] <= options.gap_tolerance


@njit(cache=True)
def _sliding_mobility(place: Place, foot: int) -> float:
    """1/m [1/kg] against sliding of a foot with the closed normal directions held."""
    g, row, other = place.delassus, 2 * foot + 1, 2 - 2 * foot
    own = 2 * foot
    if not place.closed[1 - foot]:
        return max(g[row, row] - g[own, row] ** 2 / g[own, own], 0.0)
    determinant = g[own, own] * g[other, other] - g[own, other] * g[other, own]
    a, b = g[own, row], g[other, row]
    held = (
        a * a * g[other, other] - a * b * (g[own, other] + g[other, own]) + b * b * g[own, own]
    ) / determinant
    return max(g[row, row] - held, 0.0)


@njit(cache=True, inline="always")
def _project(
    form: BlockForm, options: Options, now: State, v_after: np.ndarray, place: Place, room: Room
) -> None:
    """(D.4), (D.5) for one body, and what they take into the ledger."""
    if options.projection == NO_PROJECTION or form.mass.size == 2:
        return
    set_columns(form, room.q_after, place.column)
    if not shares_direction(form, place):
        return
    q, v = room.q_after, v_after
    before = kinetic(form, v) + potential(form, q, room.stretch, room.rows)
    if options.projection == THESIS or (now.impulse[0] > 0.0 and now.impulse[2] > 0.0):
        q[1], q[2] = -form.foot[0, 1], 0.0
    if now.sticks[0] and now.sticks[1]:
        largest = max(abs(v[0]), max(abs(v[1]), abs(v[2])))
        v[0], v[2] = 0.0, 0.0
        if abs(v[1]) <= _ROUND_OFF * largest:
            v[1] = 0.0
    now.sums[4] += before - kinetic(form, v) - potential(form, q, room.stretch, room.rows)


@njit(cache=True)
def run(
    form: BlockForm,
    options: Options,
    loads: Loads,
    now: State,
    kept: State,
    first: int,
    count: int,
    every: int,
    saved: Saved,
) -> tuple[int, int]:
    """``count`` steps from step number ``first`` on; samples at multiples of ``every`` and at the last step.

    Returns how it ended and the number of samples. ``now`` changes in place, ``kept`` becomes the state of the last
    sample.
    """
    n = now.q.size
    room, place = _room(n), _place(n)
    motion = Motion(
        np.empty(n),
        np.empty((n, 4)),
        form.foot,
        now.q,
        now.v,
        np.empty(n),
        np.empty(4),
        np.empty(4),
        np.empty(2),
        np.empty(2),
    )
    v_after, gathered = motion.v_after, np.zeros(4)
    done, worst = 0, 0.0
    for k in range(count):
        _prepare(form, options, loads, k, now, motion, place, room)
        for c in range(4):
            room.counts[c] = 0.0
        ended, case, acts = _impulses(form, options, now, motion, place, room.counts)
        if ended == DIVERGED:
            return FAILED, done
        residual, missed = _verified(form.friction, options, motion, place, now.impulse, acts)
        finite = residual < np.inf
        for i in range(n):
            mean = v_after[i] if options.implicit else 0.5 * (now.v[i] + v_after[i])
            room.q_after[i] = now.q[i] + options.step * mean
            finite = finite and np.isfinite(room.q_after[i]) and np.isfinite(v_after[i])
        if not finite:
            return FAILED, done
        _book(form, options, loads.middle[k], now, v_after, place, room)
        _flag(form, options, now, v_after, place, room)
        _project(form, options, now, v_after, place, room)
        copy(room.q_after, now.q)
        copy(v_after, now.v)
        worst = max(worst, residual)
        for c in range(4):
            gathered[c] += now.impulse[c]
            now.counts[c] += room.counts[c]
            saved.step_counts[k, c] = room.counts[c]
        saved.step_case[k], saved.step_missed[k] = case, missed
        if (first + k + 1) % every == 0 or k == count - 1:
            _save(form, now, place, room, gathered, worst, saved, done)
            _keep(now, kept)
            done, worst = done + 1, 0.0
            for c in range(4):
                gathered[c] = 0.0
    return DONE, done


@njit(cache=True, inline="always")
def _keep(now: State, kept: State) -> None:
    copy(now.q, kept.q)
    copy(now.v, kept.v)
    copy(now.sticks, kept.sticks)
    copy(now.impulse, kept.impulse)
    copy(now.sums, kept.sums)
    copy(now.counts, kept.counts)


@njit(cache=True, inline="always")
def _save(
    form: BlockForm,
    now: State,
    place: Place,
    room: Room,
    gathered: np.ndarray,
    worst: float,
    saved: Saved,
    s: int,
) -> None:
    copy(now.q, saved.position[s])
    copy(now.v, saved.velocity[s])
    set_gaps(form, now.q, saved.gap[s])
    for i in range(2):
        saved.impulse[s, i, 0], saved.impulse[s, i, 1] = gathered[2 * i], gathered[2 * i + 1]
        saved.state[s, i] = (1 if now.sticks[i] else 2) if place.closed[i] else 0
    saved.energy[s, 0] = kinetic(form, now.v)
    saved.energy[s, 1] = potential(form, now.q, room.stretch, room.rows)
    copy(now.sums, saved.energy[s, 2:])
    saved.residual[s] = worst
