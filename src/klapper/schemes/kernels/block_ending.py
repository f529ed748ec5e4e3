"""What follows the impulses of a nested prox step: the energy ledger, who is closed and sticks, and the projection.

The same formulas as ``klapper.schemes.nested_step``, written for two feet; Seiwald (D.2)-(D.5).
"""

from __future__ import annotations

import numpy as np

from klapper.machine_code import njit
from klapper.mechanics.block_form import BlockForm
from klapper.schemes.kernels.block_iteration import (
    NO_PROJECTION,
    STEP_SAFE,
    THESIS,
    Options,
    Place,
    shares_direction,
)
from klapper.schemes.kernels.block_model import kinetic, potential, powers, set_columns, set_gaps, set_slip
from klapper.schemes.kernels.block_state import Room, State

_ROUND_OFF = 1e-12


@njit(cache=True, inline="always")
def book(
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
def flag(
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
def project(
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
