"""Many steps of the nested prox scheme on a block with two feet, the whole loop compiled.

The same formulas as ``klapper.schemes.nested_prox``, written for two feet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klapper.machine_code import njit
from klapper.mechanics.block_form import BlockForm
from klapper.schemes.kernels.block_ending import book, flag, project
from klapper.schemes.kernels.block_iteration import (
    CONVERGED,
    DIVERGED,
    PROX,
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
    set_columns,
    set_force,
    set_gaps,
    set_slip,
    set_tangents,
)
from klapper.schemes.kernels.block_state import Loads, Room, State, new_place, new_room
from klapper.schemes.kernels.small_matrices import copy, eliminate

_VERIFIED = 1e-3
_LAW = 0.01
DONE, FAILED = 0, 1


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
    room, place = new_room(n), new_place(n)
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
        book(form, options, loads.middle[k], now, v_after, place, room)
        flag(form, options, now, v_after, place, room)
        project(form, options, now, v_after, place, room)
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
