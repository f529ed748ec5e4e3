"""Equations of a phase in compiled code: accelerations and forces while every contact keeps its mode.

    M v̇ = f + D λ,   λ = T x + λ₀,   (Dᵀ M⁻¹ D)_h T x = −(Dᵀ M⁻¹ (f + D λ₀) + b)_h          Waltersberger (4.58)

The same as :mod:`klapper.schemes.phase_equations` with the functions of a compiled form. Everything about the form is
one tuple, see ``FORM`` below, everything about the modes another, arrays to work in a third.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

(INDEX, DATA, BRING, MASS, FORCE, ADVANCE, GAPS, DIRECTIONS, LAWS, CURVATURE) = range(10)
(RESIDUALS, C_DIRECTIONS, C_CURVATURE, POTENTIAL, POWERS, DAMPING, PLACES) = range(10, 17)
"""FORM: arrays and functions of a form, with functions that do nothing in place of those it has not."""

(NQ, NV, K, M, S, D, P, H, MASS_KIND, CHANGING) = range(10)
(HAS_CURVATURE, HAS_C_CURVATURE, HAS_POWERS, HAS_POTENTIAL, HAS_DAMPING, HAS_ADVANCE, STEADY, SIZES) = range(10, 18)
"""SIZES: numbers of things, and what the form has; STEADY: D and M never change."""

(WHICH, NORMAL, PATCH, HELD, GRIP, SENSE, FRICTION, LIMIT, SCALE) = range(9)
"""MODES: of a phase; ``grip`` (s,) of the patches, ``friction`` (s, m)."""

(ROWS, RESPONSE, MOBILITY, SPREAD, EQUATIONS, INVERSE, VECTORS, COLUMNS, ENTRIES, RATES) = range(10)
(C_COLUMNS, C_ENTRIES, C_RATES, KNOWN, COUNTS) = range(10, 15)
"""WORK: D (r, n), M⁻¹ D, Dᵀ M⁻¹ D, T (r, h), equations (h, h + 1), mass (n, n), vectors."""

(FREE, PUSH, BIAS, GIVEN, RATE, SLIP, OTHER, AHEAD, BEHIND, SENSES, SPEEDS, MU, ENTRY, WALL, STORE) = range(15)
ACCELERATED, REACTIONS, VECTOR_ROWS = 15, 16, 17
"""Rows of VECTORS."""

DIAGONAL, INVERTED, FACTORISED = 0, 1, 2
"""Kinds of mass: 1/m in the first row, M⁻¹, or a Cholesky factor made anew for every position."""

STICKING, SLIDING, STARTING = 1, 2, 3  # as in klapper.schemes.phase_modes
FINE, DEPENDENT, NOT_FINITE = 0, 1, 2

_RANK = 1e-9  # pivots below this share of the largest belong to forces that are not unique
_DIFFERENCE = 6.0e-6  # as in klapper.mechanics.system


@njit(cache=True, error_model="numpy")
def take_mass(form: Any, sizes: np.ndarray, work: Any, q: np.ndarray) -> bool:
    """Cholesky factor of M(q); whether M is positive definite."""
    if sizes[MASS_KIND] != FACTORISED:
        return True
    n, factor, places = sizes[NV], work[INVERSE], form[PLACES]
    entries = work[VECTORS][ENTRY, : places.shape[1]]
    form[MASS](form[INDEX], form[DATA], q, entries)
    for i in range(n):
        for j in range(n):
            factor[i, j] = 0.0
    for e in range(places.shape[1]):
        factor[places[0, e], places[1, e]] += entries[e]
    for j in range(n):
        for i in range(j, n):
            total = factor[i, j]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            if i == j:
                if not total > 0.0:
                    return False
                factor[j, j] = math.sqrt(total)
            else:
                factor[i, j] = total / factor[j, j]
    return True


@njit(cache=True, error_model="numpy")
def divide_by_mass(sizes: np.ndarray, work: Any, right: np.ndarray, out: np.ndarray) -> None:
    """M⁻¹ right; ``out`` is another array."""
    n, inverse = sizes[NV], work[INVERSE]
    if sizes[MASS_KIND] == DIAGONAL:
        for i in range(n):
            out[i] = right[i] * inverse[0, i]
    elif sizes[MASS_KIND] == INVERTED:
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += inverse[i, j] * right[j]
            out[i] = total
    else:
        for i in range(n):
            total = right[i]
            for j in range(i):
                total -= inverse[i, j] * out[j]
            out[i] = total / inverse[i, i]
        for i in range(n - 1, -1, -1):
            total = out[i]
            for j in range(i + 1, n):
                total -= inverse[j, i] * out[j]
            out[i] = total / inverse[i, i]


@njit(cache=True, error_model="numpy")
def take_rows(form: Any, sizes: np.ndarray, modes: Any, work: Any, t: float, q: np.ndarray) -> None:
    """D (r, n) and given rates (r,) of all force rows."""
    n, k, m, s, d, p = sizes[NV], sizes[K], sizes[M], sizes[S], sizes[D], sizes[P]
    rows, rate = work[ROWS], work[VECTORS][RATE]
    rows[:, :] = 0.0
    if k:
        columns, entries, rates = work[COLUMNS], work[ENTRIES], work[RATES]
        form[DIRECTIONS](form[INDEX], form[DATA], t, q, modes[WHICH], columns, entries, rates)
        for i in range(m):
            at = modes[NORMAL][i]
            rate[i] = rates[at, 0]
            for w in range(columns.shape[1]):
                rows[i, columns[at, w]] += entries[at, 0, w]
        for i in range(s):
            at = modes[PATCH][i]
            for c in range(d):
                row, scale = m + i * d + c, modes[SCALE][i, c]
                rate[row] = rates[at, 1 + c] * scale
                for w in range(columns.shape[1]):
                    rows[row, columns[at, w]] += entries[at, 1 + c, w] * scale
    if p:
        c_columns, c_entries = work[C_COLUMNS], work[C_ENTRIES]
        form[C_DIRECTIONS](form[INDEX], form[DATA], t, q, c_columns, c_entries, work[C_RATES])
        for i in range(p):
            row = m + s * d + i
            rate[row] = work[C_RATES][i]
            for w in range(c_columns.shape[1]):
                rows[row, c_columns[i, w]] += c_entries[i, w]


@njit(cache=True, error_model="numpy")
def _row_velocities(sizes: np.ndarray, work: Any, v: np.ndarray, out: np.ndarray) -> None:
    for i in range(sizes[SIZES]):
        total = work[VECTORS][RATE, i]
        for j in range(sizes[NV]):
            total += work[ROWS][i, j] * v[j]
        out[i] = total


@njit(cache=True, error_model="numpy")
def difference_step(q: np.ndarray, v: np.ndarray) -> float:
    """Spacing [s] of central differences along the motion, as in klapper.mechanics.system."""
    reach, fastest = 1.0, 1.0
    for x in q:
        reach = max(reach, 1.0 + abs(x))
    for x in v:
        fastest = max(fastest, abs(x))
    return _DIFFERENCE * min(reach / fastest, 1.0)


@njit(cache=True, error_model="numpy")
def moved(
    form: Any, sizes: np.ndarray, work: Any, q: np.ndarray, v: np.ndarray, duration: float, out: np.ndarray
) -> None:
    """q after a displacement v · duration."""
    if sizes[HAS_ADVANCE]:
        step = work[VECTORS][WALL, : sizes[NV]]
        for i in range(sizes[NV]):
            step[i] = duration * v[i]
        form[ADVANCE](form[INDEX], form[DATA], q, step, out)
    else:
        for i in range(sizes[NQ]):
            out[i] = q[i] + duration * v[i]


@njit(cache=True, error_model="numpy")
def take_bias(
    form: Any, sizes: np.ndarray, modes: Any, work: Any, t: float, q: np.ndarray, v: np.ndarray
) -> None:
    """b (r,) of Dᵀ v̇ + b; by differences where the form does not give it. Overwrites D if so."""
    k, m, s, d, p = sizes[K], sizes[M], sizes[S], sizes[D], sizes[P]
    vectors = work[VECTORS]
    bias = vectors[BIAS]
    by_differences = (k > 0 and not sizes[HAS_CURVATURE]) or (p > 0 and not sizes[HAS_C_CURVATURE])
    if by_differences:
        step = difference_step(q, v)
        place, there = vectors[STORE, : sizes[NQ]], vectors[OTHER]
        for side in range(2):
            late = step if side == 0 else -step
            moved(form, sizes, work, q, v, late, place)
            form[BRING](form[INDEX], form[DATA], t + late)
            take_rows(form, sizes, modes, work, t + late, place)
            _row_velocities(sizes, work, v, there)
            for i in range(sizes[SIZES]):
                if side == 0:
                    bias[i] = there[i] / (2.0 * step)
                else:
                    bias[i] -= there[i] / (2.0 * step)
        form[BRING](form[INDEX], form[DATA], t)
    if k and sizes[HAS_CURVATURE]:
        rates = work[RATES]
        form[CURVATURE](form[INDEX], form[DATA], t, q, v, modes[WHICH], rates)
        for i in range(m):
            bias[i] = rates[modes[NORMAL][i], 0]
        for i in range(s):
            for c in range(d):
                bias[m + i * d + c] = rates[modes[PATCH][i], 1 + c] * modes[SCALE][i, c]
    if p and sizes[HAS_C_CURVATURE]:
        form[C_CURVATURE](form[INDEX], form[DATA], t, q, v, work[C_RATES])
        for i in range(p):
            bias[m + s * d + i] = work[C_RATES][i]


@njit(cache=True, error_model="numpy")
def solved(matrix: np.ndarray, n: int) -> bool:
    """Gauss with full pivoting on rows and columns of (n, n + 1), the solution in its last column.

    False if a pivot is too small in units of the diagonal with which the matrix was given.
    """
    if n == 0:
        return True
    if n == 1:
        if matrix[0, 0] == 0.0:
            return False
        matrix[0, 1] /= matrix[0, 0]
        return True
    unit, order = np.empty(n), np.arange(n)
    for i in range(n):
        size = abs(matrix[i, i])
        unit[i] = math.sqrt(size) if size > 0.0 else 1.0
    for i in range(n):
        for j in range(n):
            matrix[i, j] /= unit[i] * unit[j]
        matrix[i, n] /= unit[i]
    largest = 0.0
    for k in range(n):
        best, row, column = -1.0, k, k
        for i in range(k, n):
            for j in range(k, n):
                if abs(matrix[i, j]) > best:
                    best, row, column = abs(matrix[i, j]), i, j
        largest = max(largest, best)
        if not best > _RANK * largest:
            return False
        if row != k:
            for j in range(n + 1):
                matrix[k, j], matrix[row, j] = matrix[row, j], matrix[k, j]
        if column != k:
            for i in range(n):
                matrix[i, k], matrix[i, column] = matrix[i, column], matrix[i, k]
            order[k], order[column] = order[column], order[k]
        for i in range(k + 1, n):
            factor = matrix[i, k] / matrix[k, k]
            if factor != 0.0:
                for j in range(k, n + 1):
                    matrix[i, j] -= factor * matrix[k, j]
    answer = np.empty(n)
    for i in range(n - 1, -1, -1):
        total = matrix[i, n]
        for j in range(i + 1, n):
            total -= matrix[i, j] * answer[order[j]]
        answer[order[i]] = total / matrix[i, i]
    for i in range(n):
        matrix[i, n] = answer[i] / unit[i]
    return True


@njit(cache=True, error_model="numpy")
def take_mobility(sizes: np.ndarray, work: Any) -> None:
    """M⁻¹ D and Dᵀ M⁻¹ D."""
    n, r = sizes[NV], sizes[SIZES]
    rows, response, mobility = work[ROWS], work[RESPONSE], work[MOBILITY]
    for i in range(r):
        divide_by_mass(sizes, work, rows[i], response[i])
    for i in range(r):
        for j in range(i + 1):
            total = 0.0
            for c in range(n):
                total += rows[i, c] * response[j, c]
            mobility[i, j] = total
            mobility[j, i] = total


@njit(cache=True, error_model="numpy")
def _take_friction(form: Any, sizes: np.ndarray, modes: Any, work: Any) -> None:
    """Senses (s, d) and own μ (s,) at the sliding velocities at hand."""
    m, s, d = sizes[M], sizes[S], sizes[D]
    vectors = work[VECTORS]
    slip, senses = vectors[SLIP], vectors[SENSES]
    for i in range(s):
        at = i * d
        along, square = 0.0, 0.0
        for c in range(d):
            senses[at + c] = modes[SENSE][i, c]
            along += slip[at + c] * modes[SENSE][i, c]
            square += slip[at + c] ** 2
        speed = math.sqrt(square)
        if modes[GRIP][i] == SLIDING and d == 2 and speed > 0.0:
            turned = -1.0 if along < -0.7071 * speed else 1.0
            for c in range(d):
                senses[at + c] = turned * slip[at + c] / speed
    if sizes[CHANGING]:
        k = sizes[K]
        speeds = vectors[SPEEDS, :k]
        speeds[:] = 0.0
        for i in range(s):
            if modes[GRIP][i] != STICKING:
                square = 0.0
                for c in range(d):
                    scale = modes[SCALE][i, c]
                    if scale > 0.0:
                        square += (slip[i * d + c] / scale) ** 2
                speeds[modes[PATCH][i]] = math.sqrt(square)
        laws = np.empty((k, 5))
        form[LAWS](form[INDEX], form[DATA], modes[WHICH], speeds, laws)
        for i in range(s):
            for j in range(m):
                if modes[PATCH][i] == modes[NORMAL][j]:
                    modes[FRICTION][i, j] = laws[modes[PATCH][i], 2]


@njit(cache=True, error_model="numpy")
def instant(
    form: Any,
    sizes: np.ndarray,
    modes: Any,
    work: Any,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    acceleration: np.ndarray,
    forces: np.ndarray,
) -> int:
    """v̇ (n,) and all forces (r,) at a state; the sliding velocities and rates stand in WORK."""
    n, m, s, d, h, r = sizes[NV], sizes[M], sizes[S], sizes[D], sizes[H], sizes[SIZES]
    vectors = work[VECTORS]
    work[COUNTS][0] += 1
    form[BRING](form[INDEX], form[DATA], t)
    push = vectors[PUSH, :n]
    form[FORCE](form[INDEX], form[DATA], t, q, v, push)
    if not take_mass(form, sizes, work, q):
        return NOT_FINITE
    divide_by_mass(sizes, work, push, acceleration)
    if r == 0:
        return FINE
    take_bias(form, sizes, modes, work, t, q, v)
    take_rows(form, sizes, modes, work, t, q)
    if not (sizes[STEADY] and work[KNOWN][0] == 1):
        take_mobility(sizes, work)
        work[KNOWN][0] = 1
    rows, response, mobility = work[ROWS], work[RESPONSE], work[MOBILITY]
    held, spread, matrix, slip = modes[HELD], work[SPREAD], work[EQUATIONS], vectors[SLIP]
    for i in range(s * d):
        total = vectors[RATE, m + i]
        for j in range(n):
            total += rows[m + i, j] * v[j]
        slip[i] = total
    _take_friction(form, sizes, modes, work)
    given, senses = vectors[GIVEN], vectors[SENSES]
    spread[:, :] = 0.0
    for i in range(r):
        given[i] = 0.0
    for i in range(h):
        spread[held[i], i] = 1.0
    for i in range(s):
        if modes[GRIP][i] != STICKING:
            for c in range(d):
                row = m + i * d + c
                for j in range(m):
                    spread[row, j] = -senses[i * d + c] * modes[FRICTION][i, j]  # Waltersberger (4.49)
                given[row] = -modes[LIMIT][i] * senses[i * d + c]
    for a in range(h):
        i = held[a]
        total = vectors[BIAS, i]
        for j in range(n):
            total += rows[i, j] * acceleration[j]
        for j in range(r):
            total += mobility[i, j] * given[j]
        matrix[a, h] = -total
        for b in range(h):
            total = 0.0
            for j in range(r):
                total += mobility[i, j] * spread[j, b]
            matrix[a, b] = total
    if not solved(matrix, h):
        return DEPENDENT
    for i in range(r):
        total = given[i]
        for a in range(h):
            total += spread[i, a] * matrix[a, h]
        forces[i] = total
    for j in range(n):
        for i in range(r):
            acceleration[j] += response[i, j] * forces[i]
    return FINE


@njit(cache=True, error_model="numpy")
def _take_powers(form: Any, sizes: np.ndarray, work: Any, t: float, q: np.ndarray, v: np.ndarray) -> None:
    """Power of loads and of dampers [W] into the first places of OTHER; after ``instant``."""
    n, vectors = sizes[NV], work[VECTORS]
    out = vectors[OTHER, :2]
    if sizes[HAS_POWERS]:
        form[POWERS](form[INDEX], form[DATA], t, q, v, out)
        return
    total = 0.0
    for i in range(n):
        total += v[i] * vectors[PUSH, i]
    step = difference_step(q, v)
    ahead, behind = vectors[AHEAD, : sizes[NQ]], vectors[BEHIND, : sizes[NQ]]
    moved(form, sizes, work, q, v, step, ahead)
    moved(form, sizes, work, q, v, -step, behind)
    if sizes[MASS_KIND] == FACTORISED:
        places = form[PLACES]
        e = places.shape[1]
        entries = vectors[ENTRY, :e]
        for side in range(2):
            form[MASS](form[INDEX], form[DATA], ahead if side == 0 else behind, entries)
            sign = 0.25 / step if side == 0 else -0.25 / step
            for i in range(e):
                total += sign * v[places[0, i]] * entries[i] * v[places[1, i]]
    damping = 0.0
    if sizes[HAS_POTENTIAL]:
        if sizes[HAS_DAMPING]:
            damping = form[DAMPING](form[INDEX], form[DATA], t, q, v)
        rise = form[POTENTIAL](form[INDEX], form[DATA], ahead) - form[POTENTIAL](
            form[INDEX], form[DATA], behind
        )
        total += rise / (2.0 * step) + damping
    out[0], out[1] = total, damping


@njit(cache=True, error_model="numpy")
def _take_rate(form: Any, sizes: np.ndarray, work: Any, q: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    """q' = B(q) v; from ``advance`` by a difference of sixth order, whose error is below round-off of its steps."""
    nq = sizes[NQ]
    if not sizes[HAS_ADVANCE]:
        for i in range(nq):
            out[i] = v[i]
        return
    fastest = 0.0
    for x in v:
        fastest = max(fastest, abs(x))
    for i in range(nq):
        out[i] = 0.0
    if fastest == 0.0:
        return
    step = 1e-2 / fastest
    place = work[VECTORS][STORE, :nq]
    for k in range(1, 4):
        weight = 45.0 if k == 1 else (-9.0 if k == 2 else 1.0)
        for side in range(2):
            sign = 1.0 if side == 0 else -1.0
            moved(form, sizes, work, q, v, sign * k * step, place)
            for i in range(nq):
                out[i] += sign * weight * place[i] / (60.0 * step)


@njit(cache=True, error_model="numpy")
def derivative(
    form: Any, sizes: np.ndarray, modes: Any, work: Any, t: float, y: np.ndarray, out: np.ndarray
) -> int:
    """ẏ of y = (q, v, impulses, loads, damping, friction), (4.59) with the integrals of the ledger."""
    nq, n, m, s, d, r = sizes[NQ], sizes[NV], sizes[M], sizes[S], sizes[D], sizes[SIZES]
    q, v, motion = y[:nq], y[nq : nq + n], nq + n
    forces = out[motion : motion + r]
    status = instant(form, sizes, modes, work, t, q, v, out[nq:motion], forces)
    if status != FINE:
        return status
    vectors = work[VECTORS]
    walls, friction = 0.0, 0.0
    for i in range(r):
        walls -= forces[i] * vectors[RATE, i]
    for i in range(s * d):
        friction -= forces[m + i] * vectors[SLIP, i]
    _take_powers(form, sizes, work, t, q, v)
    out[motion + r] = vectors[OTHER, 0] + walls
    out[motion + r + 1] = vectors[OTHER, 1]
    out[motion + r + 2] = friction
    _take_rate(form, sizes, work, q, v, out[:nq])
    return FINE
