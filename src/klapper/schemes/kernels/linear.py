"""Moreau's θ-steps for constant matrices and constant contact directions, the whole loop compiled.

The same formulas as ``klapper.schemes.moreau``; the mobility M̂⁻¹, the responses U = M̂⁻¹ J and the Delassus matrix
W = Jᵀ U are made once. On position level all contacts take part, with b = (Jᵀ(q + h v_free) + g₀)/h + a_N and W + C/h²,
Waltersberger (5.70); but only those that press are touched after the check that no other one would penetrate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from klapper.contact_states import IMPACT, OPEN, SLIP, STICK
from klapper.machine_code import njit
from klapper.schemes.base import TOUCHING
from klapper.schemes.form_kernels.compiling import bare
from klapper.schemes.kernels.linear_form import (
    CIRCULATORY,
    DAMPING,
    FRICTION,
    LIMIT,
    MASS,
    NORMAL,
    OFFSET,
    POSITION,
    RATE,
    RATE_OF_GAP,
    RESTITUTION,
    SOFT,
    STIFFNESS,
    TURNING,
    Course,
    LinearForm,
    Saved,
    along,
    apply_inverse,
    form,
    multiply,
    spring_energy,
)
from klapper.schemes.lasting_contacts import APPROACH, NOISE

_ROUND_OFF = 1e-12  # as in klapper.schemes.moreau_step
_UNLOADED = 1e-13


class Room(NamedTuple):
    """Arrays of a step: vectors (n,) of motion, numbers and velocities of contacts, what they did since a sample."""

    middle: np.ndarray
    force: np.ndarray
    pushed: np.ndarray
    free: np.ndarray
    change: np.ndarray
    work: np.ndarray
    list_of: np.ndarray
    b: np.ndarray
    gathered: np.ndarray
    state: np.ndarray
    push: np.ndarray
    lasts: np.ndarray


@njit(cache=True, inline="always")
def taking_part(
    width: int,
    step: float,
    on_position: bool,
    first: np.ndarray,
    place: np.ndarray,
    entry: np.ndarray,
    dense: np.ndarray,
    laws: np.ndarray,
    given: np.ndarray,
    tangential_rate: np.ndarray,
    row: int,
    rate_row: int,
    v: np.ndarray,
    at: np.ndarray,
    free: np.ndarray,
    held: np.ndarray,
    list_of: np.ndarray,
    b: np.ndarray,
    lasts: np.ndarray,
) -> tuple[int, bool]:
    """Contacts of the step and their right-hand sides; returns their number and whether there is anything to solve.

    Arrays of the model and of given motions come one by one: to take one out of a tuple in a loop counts references.

    ``at`` (n,)   on velocity level the position q + (1 − θ) h v that tells which contacts are closed, (4.7);
                  on position level that at the end of free motion
    ``held``      (m,) which contacts were loaded in the last step
    ``list_of``   (m,) is filled with the numbers of the contacts, ``b`` (m w,) in their order
    ``lasts``     (m,) which contacts obey the law of those that last, ``klapper.schemes.lasting_contacts``
    """
    w = width
    taking, demand = 0, False
    moving, fastest = False, 0.0
    if not on_position:
        for i in range(laws.shape[1]):
            moving = moving or given[TURNING, row, i] > 0.0
    if moving:
        for i in range(v.size):
            fastest = max(fastest, abs(v[i]))
    for i in range(laws.shape[1]):
        gap = 0.0
        lasts[i] = False
        if laws[NORMAL, i] > 0.0:
            gap = along(first, place, entry, dense, i * w, at) + given[OFFSET, row, i]
            turning = given[TURNING, row, i] if moving and held[i] else 0.0
            if turning > NOISE * fastest and gap <= max(step * turning, TOUCHING):
                opening = along(first, place, entry, dense, i * w, v) + given[RATE_OF_GAP, row, i]
                lasts[i] = opening >= -APPROACH * turning
            if not on_position and gap > TOUCHING and not lasts[i]:
                continue
        list_of[taking] = i
        at_row = taking * w
        if laws[NORMAL, i] == 0.0:
            b[at_row] = 0.0
            demand = True
        else:
            rate = given[RATE_OF_GAP, row, i]
            if on_position:
                b[at_row] = gap / step + rate
            else:
                before = along(first, place, entry, dense, i * w, v) + rate
                after = along(first, place, entry, dense, i * w, free) + rate
                b[at_row] = after + laws[RESTITUTION, i] * before
                if lasts[i]:
                    b[at_row] = after + max(gap / step, -given[TURNING, row, i])
            demand = demand or b[at_row] < 0.0 or laws[LIMIT, i] > 0.0
        for a in range(1, w):
            rate = tangential_rate[rate_row, i * (w - 1) + a - 1]
            b[at_row + a] = along(first, place, entry, dense, i * w + a, free) + rate
        taking += 1
    return taking, demand


@njit(cache=True, error_model="numpy")
def run(
    model: LinearForm,
    course: Course,
    q: np.ndarray,
    v: np.ndarray,
    impulse: np.ndarray,
    held: np.ndarray,
    sums: np.ndarray,
    first: int,
    count: int,
    every: int,
    tolerance: float,
    saved: Saved,
    last_impulse: np.ndarray,
    solve: Any,
    places: np.ndarray,
    numbers: np.ndarray,
) -> tuple[int, int]:
    """``count`` steps after step number ``first``; returns (samples filled, steps they cover).

    ``q``, ``v``, ``impulse`` (m, w) and ``held`` (m,), which contacts were loaded before, are changed; ``sums`` (5,)
    are those of the ledger so far; ``last_impulse`` holds the impulses at the last sample. ``solve`` is the address of
    a function of :mod:`klapper.schemes.linear_solvers`, ``places`` and ``numbers`` its memory. Fewer samples than
    wanted say that a contact problem was not solved in the step after them.
    """
    n, m, w = q.size, model.laws.shape[1], model.width
    room = Room(
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(m, np.int64),
        np.empty(m * w),
        np.zeros((m, w)),
        np.zeros(m, np.int8),
        np.zeros(m),
        np.zeros(m, np.bool_),
    )
    return _steps(
        model,
        course,
        q,
        v,
        impulse,
        held,
        sums,
        first,
        count,
        every,
        tolerance,
        saved,
        last_impulse,
        solve,
        places,
        numbers,
        room,
    )


@bare
def _steps(
    model: LinearForm,
    course: Course,
    q: np.ndarray,
    v: np.ndarray,
    impulse: np.ndarray,
    held: np.ndarray,
    sums: np.ndarray,
    first: int,
    count: int,
    every: int,
    tolerance: float,
    saved: Saved,
    last_impulse: np.ndarray,
    solve: Any,
    places: np.ndarray,
    numbers: np.ndarray,
    room: Room,
) -> tuple[int, int]:
    """The loop of :func:`run`, in arrays that it is given."""
    n, m, w, h, theta = q.size, model.laws.shape[1], model.width, model.step, model.theta
    dead, delassus, response, laws = model.dead, model.delassus, model.response, model.laws
    start, column, value, dense = model.start, model.column, model.value, model.dense
    begin, place, entry = model.first, model.place, model.entry
    factors, banded, compliance, on_position = (
        model.factors,
        model.banded,
        model.compliance,
        model.on_position,
    )
    damped, elastic = start[RATE, n] > start[RATE, 0], start[POSITION, n] > start[POSITION, 0]
    of_mass, of_rate, of_position = start[MASS], start[RATE], start[POSITION]
    of_damping, of_stiffness, of_circulatory = start[DAMPING], start[STIFFNESS], start[CIRCULATORY]
    loads, given, rates_t, sample_offsets = course
    positions, velocities, gaps, impulses, states, energies, residuals = saved
    moving_load, moving_gap = loads.shape[0] > 1, given.shape[1] > 1
    moving_rate, moving_sample = rates_t.shape[0] > 1, sample_offsets.shape[0] > 1

    middle, force, pushed, free, change, work, list_of, b, gathered, state, push, lasts = room
    worst = 0.0
    stored = 0.5 * form(of_stiffness, column, value, q, q)
    for i in range(n):
        stored -= dead[i] * q[i]
    sprung = spring_energy(compliance, impulse, h)
    rough = False
    for i in range(m):
        rough = rough or laws[FRICTION, i] > 0.0 or laws[LIMIT, i] > 0.0
    samples, covered = 0, 0
    until_sample = every - first % every
    for k in range(count):
        k_load, k_gap, k_rate = k if moving_load else 0, k if moving_gap else 0, k if moving_rate else 0

        for i in range(n):
            middle[i] = q[i] + theta * h * v[i]
        if elastic:
            multiply(of_position, column, value, middle, force)
        if damped:
            multiply(of_rate, column, value, v, work)
        for i in range(n):
            held_back = (work[i] if damped else 0.0) + (force[i] if elastic else 0.0)
            force[i] = loads[k_load, i] - held_back
            work[i] = h * force[i]
        apply_inverse(factors, banded, work, pushed)
        ahead = h if on_position else (1.0 - theta) * h
        for i in range(n):
            free[i] = v[i] + pushed[i]
            middle[i] = q[i] + ahead * (free[i] if on_position else v[i])

        closed, demand = taking_part(
            w,
            h,
            on_position,
            begin,
            place,
            entry,
            dense,
            laws,
            given,
            rates_t,
            k_gap,
            k_rate,
            v,
            middle,
            free,
            held,
            list_of,
            b,
            lasts,
        )
        j = 0
        for i in range(m):
            held[i] = False
            if j < closed and list_of[j] == i:
                j += 1
            else:
                if state[i] != IMPACT:
                    state[i] = OPEN
                for a in range(w):
                    impulse[i, a] = 0.0
        residual, solved = 0.0, True
        if not demand:
            for j in range(closed):
                for a in range(w):
                    impulse[list_of[j], a] = 0.0
        elif closed == 1 and not rough:
            own = delassus[list_of[0] * w, list_of[0] * w]
            solved = own > 0.0
            impulse[list_of[0], 0] = -b[0] / own
        else:
            residual = solve(
                delassus, laws, h, tolerance, list_of[:closed], b[: closed * w], places, numbers, impulse
            )
            solved = residual <= tolerance
        if not solved:
            return samples, covered
        worst = max(worst, residual)

        motion, largest = 0.0, 0.0
        for i in range(n):
            change[i] = 0.0
            middle[i] = 0.0  # size of the terms of the change
            motion = max(motion, abs(v[i]) + abs(pushed[i]))
        for j in range(closed):
            here = 0.0
            push[list_of[j]] = 0.0
            for a in range(w):
                here = max(here, abs(impulse[list_of[j], a]))
            if here > 0.0:
                largest = max(largest, here)
                for a in range(w):
                    row, lam = list_of[j] * w + a, impulse[list_of[j], a]
                    for i in range(n):
                        change[i] += response[row, i] * lam
                        middle[i] += abs(response[row, i]) * here
                        push[list_of[j]] = max(push[list_of[j]], abs(response[row, i]) * here)
        for i in range(n):
            after = free[i] + change[i]
            if largest > 0.0 and abs(after) < _ROUND_OFF * (abs(v[i]) + abs(pushed[i]) + middle[i]):
                after = 0.0
            if not np.isfinite(after):
                return samples, covered
            change[i] = after - v[i]  # Δ
            free[i] = after  # v⁺
            work[i] = 0.5 * (v[i] + after)  # v_m

        friction, impact, walls, softened, turned = 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(closed):
            i = list_of[j]
            loaded = push[i] > _UNLOADED * motion
            for a in range(w):
                lam = impulse[i, a]
                if lam != 0.0:
                    rate = given[RATE_OF_GAP, k_gap, i] if a == 0 else rates_t[k_rate, i * (w - 1) + a - 1]
                    mean = along(begin, place, entry, dense, i * w + a, work) + rate
                    if a == 0 and laws[SOFT, i] > 0.0:
                        softened -= lam * mean
                    elif a == 0 and lasts[i]:
                        turned -= lam * mean
                    elif a == 0:
                        impact -= lam * mean
                    else:
                        friction -= lam * mean
                    walls -= lam * rate
                    held[i] = True
                gathered[i, a] += lam
            now = OPEN
            if loaded:
                now = SLIP
                if impulse[i, 0] > 0.0 and not lasts[i]:
                    approach = -(along(begin, place, entry, dense, i * w, v) + given[RATE_OF_GAP, k_gap, i])
                    smooth = abs(along(begin, place, entry, dense, i * w, pushed))
                    if approach > 2.0 * smooth + 1e-12 * abs(approach):
                        now = IMPACT
                holds = w > 1 and laws[FRICTION, i] * impulse[i, 0] + laws[LIMIT, i] > 0.0
                if (
                    now == SLIP
                    and holds
                    and sticks(begin, place, entry, i, w, v, free, pushed, rates_t, k_rate)
                ):
                    now = STICK
            if now == IMPACT or state[i] != IMPACT:
                state[i] = now

        applied, outside = 0.0, 0.0
        for i in range(n):
            applied += work[i] * force[i]
            outside += work[i] * (loads[k_load, i] - dead[i])
            middle[i] = q[i] + theta * h * (v[i] + theta * change[i])
        lost = 0.0
        if damped:
            applied -= theta * form(of_rate, column, value, change, work)
            lost = form(of_damping, column, value, work, work)
        if elastic:
            applied -= h * theta * theta * form(of_position, column, value, change, work)
            outside -= form(of_circulatory, column, value, middle, work)
        for i in range(n):
            q[i] += h * ((1.0 - theta) * v[i] + theta * free[i])
            v[i] = free[i]
        now_stored = 0.0
        if elastic:
            now_stored = 0.5 * form(of_stiffness, column, value, q, q)
        for i in range(n):
            now_stored -= dead[i] * q[i]
        sums[0] += h * outside + walls
        sums[1] += h * lost
        sums[2] += friction
        sums[3] += impact
        now_sprung = spring_energy(compliance, impulse, h)
        sums[4] += h * (outside - lost) - (now_stored - stored) - h * applied
        sums[4] += softened + turned - (now_sprung - sprung)
        stored, sprung = now_stored, now_sprung

        until_sample -= 1
        if until_sample == 0 or k == count - 1:
            until_sample = every
            k_sample = samples if moving_sample else 0
            for i in range(n):
                positions[samples, i] = q[i]
                velocities[samples, i] = v[i]
            for i in range(m):
                gaps[samples, i] = along(begin, place, entry, dense, i * w, q) + sample_offsets[k_sample, i]
                states[samples, i] = state[i]
                state[i] = OPEN
                for a in range(w):
                    impulses[samples, i, a] = gathered[i, a]
                    gathered[i, a] = 0.0
                    last_impulse[i, a] = impulse[i, a]
            energies[samples, 0] = 0.5 * form(of_mass, column, value, v, v)
            energies[samples, 1] = stored + sprung
            for i in range(5):
                energies[samples, 2 + i] = sums[i]
            residuals[samples] = worst
            worst = 0.0
            samples += 1
            covered = k + 1
    return samples, covered


@bare
def sticks(
    begin: np.ndarray,
    place: np.ndarray,
    entry: np.ndarray,
    contact: int,
    width: int,
    before: np.ndarray,
    after: np.ndarray,
    pushed: np.ndarray,
    rates: np.ndarray,
    row: int,
) -> bool:
    """Whether a contact slides by no more than the rounding of its terms; its a_T are in a ``row`` of ``rates``."""
    speed, terms = 0.0, 0.0
    for a in range(1, width):
        rate = rates[row, contact * (width - 1) + a - 1]
        slip, moved = rate, abs(rate)
        for k in range(begin[contact * width + a], begin[contact * width + a + 1]):
            j = place[k]
            slip += entry[k] * after[j]
            moved += abs(entry[k]) * (abs(before[j]) + abs(pushed[j]))
        speed += slip * slip
        terms = max(terms, moved)
    return np.sqrt(speed) <= 1e-9 * terms
