"""Dormand and Prince of order 8 with dense output, for the phases of event-driven integration in compiled code.

Coefficients and step size control are those of Hairer, Nørsett and Wanner as in scipy's DOP853, so that compiled and
general phases take the same steps to round-off. Between steps drift is removed as by
:mod:`klapper.schemes.phase_projection`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from scipy.integrate._ivp import dop853_coefficients as dop

from klapper.schemes.kernels.phase_rows import (
    ADVANCE,
    AHEAD,
    BIAS,
    BRING,
    DATA,
    D,
    FINE,
    FORCE,
    GAPS,
    GRIP,
    HAS_ADVANCE,
    HELD,
    INDEX,
    K,
    M,
    MOBILITY,
    NORMAL,
    NQ,
    NV,
    OTHER,
    P,
    PUSH,
    RATE,
    RESIDUALS,
    RESPONSE,
    ROWS,
    S,
    SIZES,
    STICKING,
    VECTORS,
    WALL,
    WHICH,
    derivative,
    divide_by_mass,
    moved,
    solved,
    take_mass,
    take_mobility,
    take_rows,
)

STAGES = dop.N_STAGES
SLOPES = dop.N_STAGES_EXTENDED
POWERS_OF_DENSE = dop.INTERPOLATOR_POWER
TABLEAU = (
    np.ascontiguousarray(dop.A),
    np.ascontiguousarray(dop.C),
    np.ascontiguousarray(dop.E3),
    np.ascontiguousarray(dop.E5),
    np.ascontiguousarray(dop.D),
)
"""A (16, 16), C (16,), E3 (13,), E5 (13,), D (4, 16), handed to the kernel."""

TOO_SMALL = 3  # beside FINE, DEPENDENT, NOT_FINITE
_ROUNDS = 6
_EXACT = 1e-15  # as in klapper.schemes.phase_projection
_FLUSHED = 1e-12


@njit(cache=True, error_model="numpy")
def first_size(
    system: Any, t: float, y: np.ndarray, slope: np.ndarray, longest: float, relative: float, allowed: np.ndarray
) -> float:
    """Size of a first step, as scipy chooses it (Hairer I, II.4)."""
    form, sizes, modes, work = system
    n = y.size
    if longest == 0.0:
        return 0.0
    d0, d1 = 0.0, 0.0
    for i in range(n):
        scale = allowed[i] + abs(y[i]) * relative
        d0 += (y[i] / scale) ** 2
        d1 += (slope[i] / scale) ** 2
    d0, d1 = math.sqrt(d0 / n), math.sqrt(d1 / n)
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h0 = min(h0, longest)
    there, change = y + h0 * slope, np.empty(n)
    if derivative(form, sizes, modes, work, t + h0, there, change) != FINE:
        return 1e-3 * h0
    d2 = 0.0
    for i in range(n):
        scale = allowed[i] + abs(y[i]) * relative
        d2 += ((change[i] - slope[i]) / scale) ** 2
    d2 = math.sqrt(d2 / n) / h0
    if d1 <= 1e-15 and d2 <= 1e-15:
        h1 = max(1e-6, h0 * 1e-3)
    else:
        h1 = (0.01 / max(d1, d2)) ** (1.0 / 8.0)
    return min(100.0 * h0, h1, longest)


@njit(cache=True, error_model="numpy")
def step(
    system: Any,
    tableau: Any,
    t: float,
    y: np.ndarray,
    until: float,
    size: float,
    relative: float,
    allowed: np.ndarray,
    slopes: np.ndarray,
    after: np.ndarray,
    dense: np.ndarray,
    spare: np.ndarray,
) -> tuple[int, float, float]:
    """One accepted step; status, its length and the size proposed for the next one.

    ``slopes`` (16, n) holds ẏ at the start in its first row; ``after`` (n,) is y at the end, ``dense`` (7, n) its
    polynomial.
    """
    form, sizes, modes, work = system
    a, c, e3, e5, d = tableau
    n = y.size
    h_abs, smallest, rejected = size, 10.0 * abs(np.nextafter(t, np.inf) - t), False
    while True:
        h_abs = max(h_abs, smallest) if not rejected else h_abs
        if h_abs < smallest:
            return TOO_SMALL, 0.0, 0.0
        end = min(t + h_abs, until)
        h = end - t
        h_abs = abs(h)
        for s in range(1, STAGES):
            for i in range(n):
                total = 0.0
                for j in range(s):
                    total += a[s, j] * slopes[j, i]
                spare[i] = y[i] + h * total
            status = derivative(form, sizes, modes, work, t + c[s] * h, spare, slopes[s])
            if status != FINE:
                return status, 0.0, 0.0
        for i in range(n):
            total = 0.0
            for j in range(STAGES):
                total += a[STAGES, j] * slopes[j, i]
            after[i] = y[i] + h * total
        status = derivative(form, sizes, modes, work, end, after, slopes[STAGES])
        if status != FINE:
            return status, 0.0, 0.0
        five, three = 0.0, 0.0
        for i in range(n):
            scale = allowed[i] + max(abs(y[i]), abs(after[i])) * relative
            total5, total3 = 0.0, 0.0
            for j in range(STAGES + 1):
                total5 += e5[j] * slopes[j, i]
                total3 += e3[j] * slopes[j, i]
            five += (total5 / scale) ** 2
            three += (total3 / scale) ** 2
        error = 0.0 if five == 0.0 and three == 0.0 else h_abs * five / math.sqrt((five + 0.01 * three) * n)
        if error < 1.0:
            factor = 10.0 if error == 0.0 else min(10.0, 0.9 * error**-0.125)
            if rejected:
                factor = min(1.0, factor)
            next_size = h_abs * factor
            break
        if not error < np.inf:
            return TOO_SMALL, 0.0, 0.0
        h_abs *= max(0.2, 0.9 * error**-0.125)
        rejected = True
    for s in range(STAGES + 1, SLOPES):
        for i in range(n):
            total = 0.0
            for j in range(s):
                total += a[s, j] * slopes[j, i]
            spare[i] = y[i] + h * total
        status = derivative(form, sizes, modes, work, t + c[s] * h, spare, slopes[s])
        if status != FINE:
            return status, 0.0, 0.0
    for i in range(n):
        rise = after[i] - y[i]
        dense[0, i] = rise
        dense[1, i] = h * slopes[0, i] - rise
        dense[2, i] = 2.0 * rise - h * (slopes[STAGES, i] + slopes[0, i])
        for k in range(4):
            total = 0.0
            for j in range(SLOPES):
                total += d[k, j] * slopes[j, i]
            dense[3 + k, i] = h * total
    return FINE, h, next_size


@njit(cache=True, error_model="numpy")
def between(
    t: float, start: float, length: float, y: np.ndarray, dense: np.ndarray, after: np.ndarray, out: np.ndarray
) -> None:
    """y(t) within a step, the state at its end to the bit."""
    if t >= start + length:
        for i in range(out.size):
            out[i] = after[i]
        return
    x = (t - start) / length
    for i in range(out.size):
        total = dense[6, i] * x
        total = (total + dense[5, i]) * (1.0 - x)
        total = (total + dense[4, i]) * x
        total = (total + dense[3, i]) * (1.0 - x)
        total = (total + dense[2, i]) * x
        total = (total + dense[1, i]) * (1.0 - x)
        out[i] = (total + dense[0, i]) * x + y[i]


@njit(cache=True, error_model="numpy")
def _least_change(
    system: Any, rows: np.ndarray, residual: np.ndarray, matrix: np.ndarray, change: np.ndarray
) -> bool:
    """M⁻¹ J (Jᵀ M⁻¹ J)⁻¹ residual (n,) for the rows of D with the numbers ``rows``; after ``take_mobility``."""
    _, sizes, _, work = system
    h = rows.size
    for i in range(h):
        for j in range(h):
            matrix[i, j] = work[MOBILITY][rows[i], rows[j]]
        matrix[i, h] = residual[i]
    if not solved(matrix, h):
        return False
    for c in range(sizes[NV]):
        change[c] = 0.0
        for i in range(h):
            change[c] += work[RESPONSE][rows[i], c] * matrix[i, h]
    return True


@njit(cache=True, error_model="numpy")
def without_drift(
    system: Any, t: float, q: np.ndarray, v: np.ndarray, pushed: np.ndarray
) -> bool:
    """Remove drift of positions and velocities in place; False if the held rows depend on each other.

    ``pushed`` (n,) [m/s] are the sizes of the velocities that cancel.
    """
    form, sizes, modes, work = system
    nq, n, m, s, d, p = sizes[NQ], sizes[NV], sizes[M], sizes[S], sizes[D], sizes[P]
    vectors = work[VECTORS]
    held = modes[HELD]
    form[BRING](form[INDEX], form[DATA], t)
    if sizes[HAS_ADVANCE]:
        vectors[WALL, :n] = 0.0
        vectors[AHEAD, :nq] = q
        form[ADVANCE](form[INDEX], form[DATA], vectors[AHEAD, :nq], vectors[WALL, :n], q)
    if held.size == 0:
        return True
    placed = np.empty(m + p, dtype=np.int64)
    which = np.empty(m, dtype=np.int64)
    for i in range(m):
        placed[i], which[i] = i, modes[WHICH][modes[NORMAL][i]]
    for i in range(p):
        placed[m + i] = m + s * d + i
    matrix, change = np.empty((held.size + m + p, held.size + m + p + 1)), np.empty(n)
    residual, nothing = np.empty(m + p), np.zeros(n)
    if m + p:
        for _ in range(_ROUNDS):
            if m:
                form[GAPS](form[INDEX], form[DATA], t, q, which, residual[:m])
            if p:
                form[RESIDUALS](form[INDEX], form[DATA], t, q, residual[m:])
            worst, reach = 0.0, 1e-3
            for x in residual:
                worst = max(worst, abs(x))
            for x in q:
                reach = max(reach, abs(x))
            if worst <= _EXACT * reach:
                break
            if not take_mass(form, sizes, work, q):
                return False
            take_rows(form, sizes, modes, work, t, q)
            take_mobility(sizes, work)
            if not _least_change(system, placed, residual, matrix, change):
                return False
            vectors[AHEAD, :nq] = q
            moved(form, sizes, work, vectors[AHEAD, :nq], change, -1.0, q)
    if not take_mass(form, sizes, work, q):
        return False
    take_rows(form, sizes, modes, work, t, q)
    take_mobility(sizes, work)
    rows, response = work[ROWS], work[RESPONSE]
    size = np.abs(v) + pushed
    velocities = np.empty(held.size)
    for _ in range(2):
        moves = False
        for a in range(held.size):
            velocities[a] = vectors[RATE, held[a]]
            for c in range(n):
                velocities[a] += rows[held[a], c] * v[c]
            moves = moves or velocities[a] != 0.0
        if not moves:
            break
        if not _least_change(system, held, velocities, matrix, change):
            return False
        for c in range(n):
            v[c] -= change[c]
    for _ in range(2):
        more = nothing.copy()
        for a in range(held.size):
            own, reach = work[MOBILITY][held[a], held[a]], 0.0
            for c in range(n):
                reach += abs(rows[held[a], c]) * size[c]
            if own > 0.0:
                for c in range(n):
                    more[c] += abs(response[held[a], c]) / own * reach
        size = size + more
    for c in range(n):
        touched = False
        for a in range(held.size):
            touched = touched or rows[held[a], c] != 0.0
        if touched and abs(v[c]) < _FLUSHED * size[c]:
            v[c] = 0.0
    return True


@njit(cache=True, error_model="numpy")
def turning_rate(system: Any, y: np.ndarray, slope: np.ndarray, ahead: float) -> float:
    """How fast [1/s] friction turns the slowest sliding velocity in space; after ``derivative`` at the same state."""
    _, sizes, modes, work = system
    n, m, s, d = sizes[NV], sizes[M], sizes[S], sizes[D]
    motion, fastest = sizes[NQ] + n, 0.0
    if d != 2:
        return 0.0
    vectors = work[VECTORS]
    for i in range(s):
        if modes[GRIP][i] != 2:
            continue
        square, along, push, mobility = 0.0, 0.0, 0.0, 0.0
        for c in range(d):
            row = m + i * d + c
            slip, change, own = vectors[RATE, row], vectors[2, row], 0.0
            for j in range(n):
                slip += work[ROWS][row, j] * y[sizes[NQ] + j]
                change += work[ROWS][row, j] * slope[sizes[NQ] + j]
                own += work[ROWS][row, j] * work[RESPONSE][row, j]
            square, along = square + slip**2, along + change * slip
            push, mobility = push + slope[motion + row] ** 2, max(mobility, own)
        if square == 0.0 or square + ahead * along < 0.5 * square:
            continue
        fastest = max(fastest, math.sqrt(push / square) * mobility)
    return fastest


@njit(cache=True, error_model="numpy")
def pushed_velocities(
    system: Any, t: float, q: np.ndarray, v: np.ndarray, duration: float, start: np.ndarray, out: np.ndarray
) -> None:
    """|v₀| + duration |M⁻¹ f| (n,): the sizes of the velocities that cancel where contacts hold."""
    form, sizes, _, work = system
    n, vectors = sizes[NV], work[VECTORS]
    form[BRING](form[INDEX], form[DATA], t)
    form[FORCE](form[INDEX], form[DATA], t, q, v, vectors[PUSH, :n])
    take_mass(form, sizes, work, q)
    divide_by_mass(sizes, work, vectors[PUSH, :n], out)
    for i in range(n):
        out[i] = abs(start[i]) + duration * abs(out[i])
