"""Moreau's θ-steps for constant matrices and constant contact directions, the whole loop compiled.

The same formulas as ``klapper.schemes.moreau``; the mobility M̂⁻¹, the responses U = M̂⁻¹ J and the Delassus matrix
W = Jᵀ U are made once. Contacts have 1 + d rows each, normal first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from klapper.complementarity.kernels.batch import solve_one
from klapper.complementarity.kernels.contact_blocks import ContactBlocks, columns_from_dense, local_data
from klapper.complementarity.kernels.contact_local import solve_contact
from klapper.complementarity.kernels.contact_sweep import gauss_seidel
from klapper.schemes.base import TOUCHING

_ROUND_OFF = 1e-12  # as in klapper.schemes.moreau
_UNLOADED = 1e-13
_FINE = 0.5e-13  # residual that sweeps aim at
_QUICK_SWEEPS = 300
OPEN, STICK, SLIP, IMPACT = 0, 1, 2, 3


class Rows(NamedTuple):
    """A sparse matrix by rows."""

    start: np.ndarray
    column: np.ndarray
    value: np.ndarray


class LinearForm(NamedTuple):
    """A linear system as arrays; n coordinates, m contacts with w = 1 + d rows each.

    ``mass``, ``rate`` D + G, ``position`` K + N, ``damping`` D, ``stiffness`` K, ``circulatory`` N   sparse rows
    ``band``         (b + 1, n) factors L D Lᵀ of a banded M̂, or (0, 0)
    ``inverse``      M̂⁻¹ (n, n) for any other, or (0, 0)
    ``columns``      J by columns (m w)
    ``response``     (m w, n) M̂⁻¹ J
    ``delassus``     (m w, m w)
    ``dead``         (n,) constant load, which has a potential
    """

    mass: Rows
    rate: Rows
    position: Rows
    damping: Rows
    stiffness: Rows
    circulatory: Rows
    band: np.ndarray
    inverse: np.ndarray
    columns: Rows
    response: np.ndarray
    delassus: np.ndarray
    has_normal: np.ndarray
    restitution: np.ndarray
    friction: np.ndarray
    limit: np.ndarray
    dead: np.ndarray
    width: int
    symmetric: bool
    theta: float
    step: float


class Course(NamedTuple):
    """Given functions of time over the steps of one call: one row per step, or a single row for constants.

    ``load`` (c, n) at t + θ h; ``offset`` (c, m), ``normal_rate`` (c, m) and ``tangential_rate`` (c, m d) at
    t + (1 − θ) h; ``sample_offset`` (s, m) at the samples.
    """

    load: np.ndarray
    offset: np.ndarray
    normal_rate: np.ndarray
    tangential_rate: np.ndarray
    sample_offset: np.ndarray


class Saved(NamedTuple):
    """Arrays that the loop fills, s samples."""

    position: np.ndarray
    velocity: np.ndarray
    gap: np.ndarray
    impulse: np.ndarray
    state: np.ndarray
    energy: np.ndarray
    residual: np.ndarray


@njit(cache=True, inline="always")
def multiply(
    start: np.ndarray, column: np.ndarray, value: np.ndarray, x: np.ndarray, out: np.ndarray
) -> None:
    """out = A x for a sparse matrix by rows."""
    for i in range(out.size):
        total = 0.0
        for k in range(start[i], start[i + 1]):
            total += value[k] * x[column[k]]
        out[i] = total


@njit(cache=True, inline="always")
def form(start: np.ndarray, column: np.ndarray, value: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """yᵀ A x for a sparse matrix by rows."""
    total = 0.0
    for i in range(y.size):
        for k in range(start[i], start[i + 1]):
            total += y[i] * value[k] * x[column[k]]
    return total


@njit(cache=True, inline="always")
def along(start: np.ndarray, row: np.ndarray, value: np.ndarray, j: int, x: np.ndarray) -> float:
    """Column j of a sparse matrix by columns, times x."""
    total = 0.0
    for k in range(start[j], start[j + 1]):
        total += value[k] * x[row[k]]
    return total


@njit(cache=True, inline="always")
def apply_inverse(band: np.ndarray, inverse: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    """out = M̂⁻¹ x from the factors of a banded matrix, or from the inverse if there are none."""
    n = x.size
    if band.size == 0:
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += inverse[i, j] * x[j]
            out[i] = total
        return
    width = band.shape[0] - 1
    for i in range(n):
        total = x[i]
        for k in range(max(i - width, 0), i):
            total -= band[i - k, k] * out[k]
        out[i] = total
    for i in range(n):
        out[i] /= band[0, i]
    for i in range(n - 1, -1, -1):
        total = out[i]
        for k in range(i + 1, min(i + width + 1, n)):
            total -= band[k - i, i] * out[k]
        out[i] = total


class Basis(NamedTuple):
    """Loaded contacts of the last steps and the Cholesky factor of their Delassus matrix.

    ``members`` (m,), ``lower`` (m, m), ``sizes`` (2,): number of members, and whether ``lower`` belongs to them.
    """

    members: np.ndarray
    lower: np.ndarray
    sizes: np.ndarray


@njit(cache=True)
def solve_again(
    model: LinearForm, active: np.ndarray, b: np.ndarray, basis: Basis, x: np.ndarray, impulse: np.ndarray
) -> bool:
    """Try the loaded contacts of the last step once more, with their factor if it is known."""
    size, w = basis.sizes[0], model.width
    if size == 0 or size > active.size:
        return False
    found = 0
    for k in range(active.size):  # both lists rise
        if found < size and basis.members[found] == active[k]:
            x[found] = -b[k]
            found += 1
    if found < size:
        return False
    if basis.sizes[1] == 0:
        for i in range(size):
            for j in range(i + 1):
                total = model.delassus[basis.members[i] * w, basis.members[j] * w]
                for k in range(j):
                    total -= basis.lower[i, k] * basis.lower[j, k]
                if i > j:
                    basis.lower[i, j] = total / basis.lower[j, j]
                elif total > 1e-10 * model.delassus[basis.members[i] * w, basis.members[i] * w]:
                    basis.lower[i, i] = np.sqrt(total)
                else:
                    return False
        basis.sizes[1] = 1
    for i in range(size):
        total = x[i]
        for k in range(i):
            total -= basis.lower[i, k] * x[k]
        x[i] = total / basis.lower[i, i]
    for i in range(size - 1, -1, -1):
        x[i] /= basis.lower[i, i]
        for k in range(i):
            x[k] -= basis.lower[i, k] * x[i]
    for i in range(size):
        if not x[i] > 0.0:
            return False
    found = 0
    for k in range(active.size):
        if found < size and basis.members[found] == active[k]:
            found += 1
        else:
            total = b[k]
            for i in range(size):
                total += model.delassus[active[k] * w, basis.members[i] * w] * x[i]
            if total < 0.0:
                return False
    for k in range(active.size):
        impulse[active[k], 0] = 0.0
    for i in range(size):
        impulse[basis.members[i], 0] = x[i]
    return True


@njit(cache=True)
def remember(active: np.ndarray, impulse: np.ndarray, basis: Basis) -> None:
    """Note the loaded contacts; the factor stays if they are the same as before."""
    size, same = 0, True
    for k in range(active.size):
        if impulse[active[k], 0] > 0.0:
            if size >= basis.sizes[0] or basis.members[size] != active[k]:
                same = False
            basis.members[size] = active[k]
            size += 1
    if not same or size != basis.sizes[0]:
        basis.sizes[1] = 0
    basis.sizes[0] = size


@njit(cache=True)
def solve_smooth(
    model: LinearForm,
    active: np.ndarray,
    b: np.ndarray,
    tolerance: float,
    basis: Basis,
    room: np.ndarray,
    impulse: np.ndarray,
) -> tuple[float, bool]:
    """Normal impulses of two or more ``active`` contacts without friction; the guess is in ``impulse`` (m, w)."""
    count = active.size
    if model.symmetric and solve_again(model, active, b, basis, room, impulse):
        return 0.0, True
    matrix, chosen, x = np.empty((count, count)), np.empty(count, np.bool_), np.empty(count)
    for k in range(count):
        row = active[k] * model.width
        for j in range(count):
            matrix[k, j] = model.delassus[row, active[j] * model.width]
        chosen[k] = impulse[active[k], 0] > 0.0
    status, _, _, residual = solve_one(matrix, b, chosen, tolerance, x)
    for k in range(count):
        impulse[active[k], 0] = x[k]
    remember(active, impulse, basis)
    return residual, status == 0


@njit(cache=True)
def solve_rough(
    model: LinearForm, active: np.ndarray, b: np.ndarray, tolerance: float, impulse: np.ndarray
) -> tuple[float, bool]:
    """Impulses of the ``active`` contacts with friction; the guess is in ``impulse`` (m, w)."""
    count, width = active.size, model.width
    if count == 1 and model.has_normal[active[0]]:
        return _solve_single(model, active[0], b, impulse)
    rows = np.full((count, 3), -1, np.int64)
    matrix = np.empty((count * width, count * width))
    free, force = np.zeros(3 * count), np.zeros(3 * count)
    kind, limit, friction = np.zeros(count, np.int8), np.empty(count), np.empty(count)
    for k in range(count):
        i = active[k]
        first = 0 if model.has_normal[i] else 1
        kind[k] = 0 if model.has_normal[i] else 1
        limit[k], friction[k] = model.limit[i] * model.step, model.friction[i]
        for a in range(first, width):
            rows[k, a] = k * width + a
            free[3 * k + a] = b[k * width + a]
            force[3 * k + a] = impulse[i, a]
        for a in range(width):
            for j in range(count):
                for c in range(width):
                    matrix[k * width + a, j * width + c] = model.delassus[
                        i * width + a, active[j] * width + c
                    ]
    start, neighbour, push = columns_from_dense(matrix, rows)
    own, schur, tangent, mobility = local_data(start, neighbour, push)
    softest = mobility.max()
    for k in range(count):
        for a in range(2):
            if mobility[k, a] == 0.0:
                mobility[k, a] = softest
    blocks = ContactBlocks(
        start,
        neighbour,
        push,
        own,
        schur,
        tangent,
        mobility,
        kind,
        friction,
        limit,
        np.zeros(count + 1, np.int64),
        np.zeros(0, np.int64),
        np.zeros(0),
        free,
        0,
    )
    _, residual = gauss_seidel(blocks, force, 1.3, 5, _FINE, _QUICK_SWEEPS)
    for k in range(count):
        for a in range(width):
            impulse[active[k], a] = force[3 * k + a]
    return residual, residual <= tolerance


@njit(cache=True)
def _solve_single(model: LinearForm, i: int, b: np.ndarray, impulse: np.ndarray) -> tuple[float, bool]:
    w = np.zeros((1, 9))
    q = np.zeros(3)
    for a in range(model.width):
        q[a] = b[a]
        for c in range(model.width):
            w[0, 3 * a + c] = model.delassus[i * model.width + a, i * model.width + c]
    _, schur, tangent, _ = local_data(np.array([0, 1]), np.array([0]), w)
    s, t = schur[0], tangent[0]
    normal, first, second, _ = solve_contact(
        (q[0], q[1], q[2]),
        (w[0, 0], w[0, 1], w[0, 2]),
        (s[0], s[1], s[2], s[3]),
        (t[0], t[1], t[2], t[3]),
        model.friction[i],
        model.limit[i] * model.step,
        0.0,
    )
    impulse[i, 0], impulse[i, 1] = normal, first
    if model.width == 3:
        impulse[i, 2] = second
    return 0.0, np.isfinite(normal) and w[0, 0] > 0.0


@njit(cache=True)
def run(
    model: LinearForm,
    course: Course,
    q: np.ndarray,
    v: np.ndarray,
    impulse: np.ndarray,
    sums: tuple[float, float, float, float, float],
    first: int,
    count: int,
    every: int,
    tolerance: float,
    saved: Saved,
    last_impulse: np.ndarray,
) -> tuple[int, int]:
    """``count`` steps after step number ``first``; returns (samples filled, steps they cover).

    ``q``, ``v`` and ``impulse`` (m, w) are changed; ``sums`` are those of the ledger so far; ``last_impulse`` holds the
    impulses at the last sample. Fewer samples than wanted say that a contact problem was not solved in the step after
    them.
    """
    n, m, w, h, theta = q.size, model.has_normal.size, model.width, model.step, model.theta
    has_normal, restitution, dead = model.has_normal, model.restitution, model.dead
    delassus, response, band, inverse = model.delassus, model.response, model.band, model.inverse
    mass_start, mass_column, mass_value = model.mass
    rate_start, rate_column, rate_value = model.rate
    position_start, position_column, position_value = model.position
    damping_start, damping_column, damping_value = model.damping
    stiffness_start, stiffness_column, stiffness_value = model.stiffness
    circulatory_start, circulatory_column, circulatory_value = model.circulatory
    damped, elastic = rate_value.size > 0, position_value.size > 0
    start, at, value = model.columns
    loads, offsets, rates_n, rates_t, sample_offsets = course
    positions, velocities, gaps, impulses, states, energies, residuals = saved
    moving_load, moving_gap = loads.shape[0] > 1, offsets.shape[0] > 1
    moving_rate, moving_sample = rates_t.shape[0] > 1, sample_offsets.shape[0] > 1

    middle, force, pushed, free = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    change, work = np.empty(n), np.empty(n)
    list_of, b = np.empty(m, np.int64), np.empty(m * w)
    gathered, state = np.zeros((m, w)), np.zeros(m, np.int8)
    basis = Basis(np.zeros(m, np.int64), np.zeros((m, m)), np.zeros(2, np.int64))
    room, push = np.empty(m), np.zeros(m)
    loads_sum, damping_sum, friction_sum, impact_sum, numerical_sum = sums
    worst = 0.0
    stored = 0.5 * form(stiffness_start, stiffness_column, stiffness_value, q, q)
    for i in range(n):
        stored -= dead[i] * q[i]
    rough = False
    for i in range(m):
        rough = rough or model.friction[i] > 0.0 or model.limit[i] > 0.0
    samples, covered = 0, 0
    until_sample = every - first % every
    for k in range(count):
        k_load, k_gap, k_rate = k if moving_load else 0, k if moving_gap else 0, k if moving_rate else 0

        for i in range(n):
            middle[i] = q[i] + theta * h * v[i]
        if elastic:
            multiply(position_start, position_column, position_value, middle, force)
        if damped:
            multiply(rate_start, rate_column, rate_value, v, work)
        for i in range(n):
            held_back = (work[i] if damped else 0.0) + (force[i] if elastic else 0.0)
            force[i] = loads[k_load, i] - held_back
            work[i] = h * force[i]
        apply_inverse(band, inverse, work, pushed)
        for i in range(n):
            free[i] = v[i] + pushed[i]
            middle[i] = q[i] + (1.0 - theta) * h * v[i]

        closed, demand = 0, False
        for i in range(m):
            if not has_normal[i] or along(start, at, value, i * w, middle) + offsets[k_gap, i] <= TOUCHING:
                list_of[closed] = i
                row = closed * w
                if has_normal[i]:
                    before = along(start, at, value, i * w, v) + rates_n[k_gap, i]
                    after = along(start, at, value, i * w, free) + rates_n[k_gap, i]
                    b[row] = after + restitution[i] * before
                    demand = demand or b[row] < 0.0 or model.limit[i] > 0.0
                else:
                    b[row] = 0.0
                    demand = True
                for a in range(1, w):
                    b[row + a] = (
                        along(start, at, value, i * w + a, free) + rates_t[k_rate, i * (w - 1) + a - 1]
                    )
                closed += 1
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
        elif rough:
            residual, solved = solve_rough(model, list_of[:closed], b[: closed * w], tolerance, impulse)
        elif closed == 1:
            own = delassus[list_of[0] * w, list_of[0] * w]
            solved = own > 0.0
            impulse[list_of[0], 0] = -b[0] / own
        else:
            right = b[: closed * w : w].copy()
            residual, solved = solve_smooth(model, list_of[:closed], right, tolerance, basis, room, impulse)
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

        friction, impact, walls = 0.0, 0.0, 0.0
        for j in range(closed):
            i = list_of[j]
            loaded = push[i] > _UNLOADED * motion
            for a in range(w):
                lam = impulse[i, a]
                if lam != 0.0:
                    rate = rates_n[k_gap, i] if a == 0 else rates_t[k_rate, i * (w - 1) + a - 1]
                    mean = along(start, at, value, i * w + a, work) + rate
                    if a == 0:
                        impact -= lam * mean
                    else:
                        friction -= lam * mean
                    walls -= lam * rate
                gathered[i, a] += lam
            now = OPEN
            if loaded:
                now = SLIP
                if impulse[i, 0] > 0.0:
                    approach = -(along(start, at, value, i * w, v) + rates_n[k_gap, i])
                    smooth = abs(along(start, at, value, i * w, pushed))
                    if approach > 2.0 * smooth + 1e-12 * abs(approach):
                        now = IMPACT
                holds = w > 1 and model.friction[i] * impulse[i, 0] + model.limit[i] > 0.0
                if now == SLIP and holds and sticks(model.columns, i, w, v, free, pushed, rates_t, k_rate):
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
            applied -= theta * form(rate_start, rate_column, rate_value, change, work)
            lost = form(damping_start, damping_column, damping_value, work, work)
        if elastic:
            applied -= h * theta * theta * form(position_start, position_column, position_value, change, work)
            outside -= form(circulatory_start, circulatory_column, circulatory_value, middle, work)
        for i in range(n):
            q[i] += h * ((1.0 - theta) * v[i] + theta * free[i])
            v[i] = free[i]
        now_stored = 0.0
        if elastic:
            now_stored = 0.5 * form(stiffness_start, stiffness_column, stiffness_value, q, q)
        for i in range(n):
            now_stored -= dead[i] * q[i]
        loads_sum += h * outside + walls
        damping_sum += h * lost
        friction_sum += friction
        impact_sum += impact
        numerical_sum += h * (outside - lost) - (now_stored - stored) - h * applied
        stored = now_stored

        until_sample -= 1
        if until_sample == 0 or k == count - 1:
            until_sample = every
            k_sample = samples if moving_sample else 0
            for i in range(n):
                positions[samples, i] = q[i]
                velocities[samples, i] = v[i]
            for i in range(m):
                gaps[samples, i] = along(start, at, value, i * w, q) + sample_offsets[k_sample, i]
                states[samples, i] = state[i]
                state[i] = OPEN
                for a in range(w):
                    impulses[samples, i, a] = gathered[i, a]
                    gathered[i, a] = 0.0
                    last_impulse[i, a] = impulse[i, a]
            energies[samples, 0] = 0.5 * form(mass_start, mass_column, mass_value, v, v)
            energies[samples, 1] = stored
            energies[samples, 2] = loads_sum
            energies[samples, 3] = damping_sum
            energies[samples, 4] = friction_sum
            energies[samples, 5] = impact_sum
            energies[samples, 6] = numerical_sum
            residuals[samples] = worst
            worst = 0.0
            samples += 1
            covered = k + 1
    return samples, covered


@njit(cache=True)
def sticks(
    columns: Rows,
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
        for k in range(columns.start[contact * width + a], columns.start[contact * width + a + 1]):
            j = columns.column[k]
            slip += columns.value[k] * after[j]
            moved += abs(columns.value[k]) * (abs(before[j]) + abs(pushed[j]))
        speed += slip * slip
        terms = max(terms, moved)
    return np.sqrt(speed) <= 1e-9 * terms
