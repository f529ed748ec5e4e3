"""Dormand and Prince of order 8 with dense output, for the phases of event-driven integration in compiled code.

Coefficients and step size control are those of Hairer, Nørsett and Wanner as in scipy's DOP853, so that compiled and
general phases take the same steps to round-off. Between steps drift is removed as by
:mod:`klapper.schemes.phase_projection`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.integrate._ivp import dop853_coefficients as dop

from klapper.schemes.form_kernels.compiling import apart, bare, inner, part
from klapper.schemes.kernels.phase_parts import (
    AT,
    DATA,
    INDEX,
    advance_of,
    bring_of,
    derivative_of,
    force_of,
    gaps_of,
    residuals_of,
)
from klapper.schemes.kernels.phase_rows import (
    AHEAD,
    BIAS,
    FINE,
    GRIP,
    HAS_ADVANCE,
    HELD,
    MOBILITY,
    NORMAL,
    NQ,
    NV,
    OTHER,
    PUSH,
    RATE,
    RESPONSE,
    ROWS,
    SENSE,
    SLIDING,
    SLIP_SPEED,
    STICKING,
    UNSOLVED,
    VECTORS,
    WALL,
    WHICH,
    D,
    M,
    P,
    S,
    divide_by_mass,
    line,
    moved,
    numbers,
    put,
    settled,
    table,
    take_mass,
    take_mobility,
    take_rows,
)

STAGES = dop.N_STAGES
SLOPES = dop.N_STAGES_EXTENDED
POWERS_OF_DENSE = dop.INTERPOLATOR_POWER
TABLEAU = np.concatenate([np.ravel(part) for part in (dop.A, dop.C, dop.E3, dop.E5, dop.D)])
"""A (16, 16), C (16,), E3 (13,), E5 (13,), D (4, 16), handed to the kernel."""

TOO_SMALL = 3  # beside FINE, DEPENDENT, NOT_FINITE
_ROUNDS = 6
_EXACT = 1e-15  # as in klapper.schemes.phase_projection
_FLUSHED = 1e-12


@bare
def first_size(
    form: Any,
    ints: np.ndarray,
    floats: np.ndarray,
    t: float,
    y: np.ndarray,
    slopes: np.ndarray,
    longest: float,
    relative: float,
    allowed: np.ndarray,
) -> float:
    """Size of a first step, as scipy chooses it (Hairer I, II.4), from ẏ in the first row of ``slopes``, of which two
    more are overwritten."""
    n, slope, there, change = y.size, slopes[0], slopes[1], slopes[2]
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
    for i in range(n):
        there[i] = y[i] + h0 * slope[i]
    if derivative_of(form[AT])(form, ints, floats, t + h0, there, change) != FINE:
        return 1e-3 * h0
    d2 = 0.0
    for i in range(n):
        scale = allowed[i] + abs(y[i]) * relative
        d2 += ((change[i] - slope[i]) / scale) ** 2
    d2 = math.sqrt(d2 / n) / h0
    h1 = max(1e-6, h0 * 1e-3)
    if d1 > 1e-15 or d2 > 1e-15:
        h1 = (0.01 / max(d1, d2)) ** (1.0 / 8.0)
    return min(100.0 * h0, h1, longest)


@apart
def step(
    form: Any,
    ints: np.ndarray,
    floats: np.ndarray,
    tableau: np.ndarray,
    given: np.ndarray,
    y: np.ndarray,
    allowed: np.ndarray,
    slopes: np.ndarray,
    piece: np.ndarray,
) -> int:
    """One accepted step into ``piece``; its status.

    ``given``   start, end at the latest, size to try [s], relative tolerance; becomes the size proposed next in its
                third place
    ``slopes``  (16, n) with ẏ at the start in its first row
    ``piece``   start, length, y at the start, y at the end, dense output (7, n)
    """
    n = y.size
    c, e3, e5, d = tableau[256:272], tableau[272:285], tableau[285:298], tableau[298:362]
    t, until, size, relative = given[0], given[1], given[2], given[3]
    after, dense = piece[2 + n : 2 + 2 * n], piece[2 + 2 * n : 2 + 9 * n]
    spare = dense[6 * n :]  # filled at the end
    piece[0] = t
    put(y, piece[2:])
    h_abs, smallest, rejected = size, 10.0 * abs(np.nextafter(t, np.inf) - t), False
    while True:
        h_abs = max(h_abs, smallest) if not rejected else h_abs
        if h_abs < smallest:
            return TOO_SMALL
        end = min(t + h_abs, until)
        h = end - t
        h_abs = abs(h)
        for s in range(1, STAGES):
            for i in range(n):
                total = 0.0
                for j in range(s):
                    total += tableau[16 * s + j] * slopes[j, i]
                spare[i] = y[i] + h * total
            status = derivative_of(form[AT])(form, ints, floats, t + c[s] * h, spare, slopes[s])
            if status != FINE:
                return status
        for i in range(n):
            total = 0.0
            for j in range(STAGES):
                total += tableau[16 * STAGES + j] * slopes[j, i]
            after[i] = y[i] + h * total
        status = derivative_of(form[AT])(form, ints, floats, end, after, slopes[STAGES])
        if status != FINE:
            return status
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
            return TOO_SMALL
        h_abs *= max(0.2, 0.9 * error**-0.125)
        rejected = True
    for s in range(STAGES + 1, SLOPES):
        for i in range(n):
            total = 0.0
            for j in range(s):
                total += tableau[16 * s + j] * slopes[j, i]
            spare[i] = y[i] + h * total
        status = derivative_of(form[AT])(form, ints, floats, t + c[s] * h, spare, slopes[s])
        if status != FINE:
            return status
    for i in range(n):
        rise = after[i] - y[i]
        dense[i] = rise
        dense[n + i] = h * slopes[0, i] - rise
        dense[2 * n + i] = 2.0 * rise - h * (slopes[STAGES, i] + slopes[0, i])
        for k in range(4):
            total = 0.0
            for j in range(SLOPES):
                total += d[16 * k + j] * slopes[j, i]
            dense[(3 + k) * n + i] = h * total
    piece[1], given[2] = h, next_size
    return FINE


@bare
def between(t: float, piece: np.ndarray, out: np.ndarray) -> None:
    """y(t) within a step, the state at its end to the bit."""
    n = out.size
    start, length, before, after = piece[0], piece[1], 2, 2 + n
    if t >= start + length:
        put(piece[after : after + n], out)
        return
    dense = piece[2 + 2 * n :]
    x = (t - start) / length
    for i in range(n):
        total = dense[6 * n + i] * x
        total = (total + dense[5 * n + i]) * (1.0 - x)
        total = (total + dense[4 * n + i]) * x
        total = (total + dense[3 * n + i]) * (1.0 - x)
        total = (total + dense[2 * n + i]) * x
        total = (total + dense[n + i]) * (1.0 - x)
        out[i] = (total + dense[i]) * x + piece[before + i]


@inner
def _least_change(
    ints: np.ndarray,
    floats: np.ndarray,
    which: np.ndarray,
    residual: np.ndarray,
    matrix: np.ndarray,
    change: np.ndarray,
) -> bool:
    """M⁻¹ J (Jᵀ M⁻¹ J)⁻¹ residual (n,) for the rows of D with the numbers ``which``; after ``take_mobility``."""
    mobility = table(floats, ints, MOBILITY)
    response = table(floats, ints, RESPONSE)
    h = which.size
    for i in range(h):
        for j in range(h):
            matrix[i, j] = mobility[which[i], which[j]]
        matrix[i, h] = residual[i]
    if settled(matrix, h, np.zeros(h), math.inf) == UNSOLVED:
        return False
    for c in range(ints[NV]):
        change[c] = 0.0
        for i in range(h):
            change[c] += response[which[i], c] * matrix[i, h]
    return True


@part
def without_drift(
    form: Any,
    ints: np.ndarray,
    floats: np.ndarray,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    pushed: np.ndarray,
) -> bool:
    """Remove drift of positions and velocities in place; False if the held rows depend on each other.

    ``pushed`` (n,) [m/s] are the sizes of the velocities that cancel.
    """
    vectors = table(floats, ints, VECTORS)
    held = numbers(ints, HELD)
    contacts = numbers(ints, WHICH)
    normals = numbers(ints, NORMAL)
    rows = table(floats, ints, ROWS)
    response = table(floats, ints, RESPONSE)
    mobility = table(floats, ints, MOBILITY)
    nq, n, m, s, d, p = ints[NQ], ints[NV], ints[M], ints[S], ints[D], ints[P]
    bring_of(form[AT])(form[INDEX], form[DATA], t)
    if ints[HAS_ADVANCE]:
        for i in range(n):
            vectors[WALL, i] = 0.0
        put(q, vectors[AHEAD])
        advance_of(form[AT])(form[INDEX], form[DATA], vectors[AHEAD, :nq], vectors[WALL, :n], q)
    if held.size == 0:
        return True
    placed = np.empty(m + p, dtype=np.int64)
    which = np.empty(m, dtype=np.int64)
    for i in range(m):
        placed[i], which[i] = i, contacts[normals[i]]
    for i in range(p):
        placed[m + i] = m + s * d + i
    matrix, change = np.empty((held.size + m + p, held.size + m + p + 1)), np.empty(n)
    residual, nothing = np.empty(m + p), np.zeros(n)
    if m + p:
        for _ in range(_ROUNDS):
            if m:
                gaps_of(form[AT])(form[INDEX], form[DATA], t, q, which, residual[:m])
            if p:
                residuals_of(form[AT])(form[INDEX], form[DATA], t, q, residual[m:])
            worst, reach = 0.0, 1e-3
            for x in residual:
                worst = max(worst, abs(x))
            for x in q:
                reach = max(reach, abs(x))
            if worst <= _EXACT * reach:
                break
            if not take_mass(form, ints, floats, q):
                return False
            take_rows(form, ints, floats, t, q)
            take_mobility(ints, floats)
            if not _least_change(ints, floats, placed, residual, matrix, change):
                return False
            put(q, vectors[AHEAD])
            moved(form, ints, floats, vectors[AHEAD, :nq], change, -1.0, q)
    if not take_mass(form, ints, floats, q):
        return False
    take_rows(form, ints, floats, t, q)
    take_mobility(ints, floats)
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
        if not _least_change(ints, floats, held, velocities, matrix, change):
            return False
        for c in range(n):
            v[c] -= change[c]
    for _ in range(2):
        more = nothing.copy()
        for a in range(held.size):
            own, reach = mobility[held[a], held[a]], 0.0
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


@apart
def turning_rate(
    ints: np.ndarray, floats: np.ndarray, y: np.ndarray, slope: np.ndarray, ahead: float
) -> float:
    """How fast [1/s] friction turns the slowest sliding velocity in space; after ``derivative`` at the same state."""
    vectors = table(floats, ints, VECTORS)
    grip = numbers(ints, GRIP)
    rows = table(floats, ints, ROWS)
    response = table(floats, ints, RESPONSE)
    n, m, s, d = ints[NV], ints[M], ints[S], ints[D]
    motion, fastest = ints[NQ] + n, 0.0
    if d != 2:
        return 0.0
    for i in range(s):
        if grip[i] != 2:
            continue
        square, along, push, mobility = 0.0, 0.0, 0.0, 0.0
        for c in range(d):
            row = m + i * d + c
            slip, change, own = vectors[RATE, row], vectors[BIAS, row], 0.0
            for j in range(n):
                slip += rows[row, j] * y[ints[NQ] + j]
                change += rows[row, j] * slope[ints[NQ] + j]
                own += rows[row, j] * response[row, j]
            square, along = square + slip**2, along + change * slip
            push, mobility = push + slope[motion + row] ** 2, max(mobility, own)
        if square == 0.0 or square + ahead * along < 0.5 * square:
            continue
        fastest = max(fastest, math.sqrt(push / square) * mobility)
    return fastest


@bare
def pushed_velocities(
    form: Any,
    ints: np.ndarray,
    floats: np.ndarray,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    duration: float,
    start: np.ndarray,
    out: np.ndarray,
) -> None:
    """|v₀| + duration |M⁻¹ f| (n,): the sizes of the velocities that cancel where contacts hold."""
    vectors = table(floats, ints, VECTORS)
    n, vectors = ints[NV], vectors
    bring_of(form[AT])(form[INDEX], form[DATA], t)
    force_of(form[AT])(form[INDEX], form[DATA], t, q, v, vectors[PUSH, :n])
    take_mass(form, ints, floats, q)
    divide_by_mass(ints, floats, vectors[PUSH, :n], out)
    for i in range(n):
        out[i] = abs(start[i]) + duration * abs(out[i])


@apart
def renew(form: Any, ints: np.ndarray, floats: np.ndarray, t: float, y: np.ndarray) -> bool:
    """Senses in space follow the sliding velocities, in place; whether one that was given begins to do so."""
    vectors, rows = table(floats, ints, VECTORS), table(floats, ints, ROWS)
    sense, grip = table(floats, ints, SENSE), numbers(ints, GRIP)
    slip_speed = line(floats, ints, SLIP_SPEED)[0]
    if ints[D] != 2:
        return False
    nq, n, m, s = ints[NQ], ints[NV], ints[M], ints[S]
    bring_of(form[AT])(form[INDEX], form[DATA], t)
    take_rows(form, ints, floats, t, y[:nq])
    slip, begins = vectors[OTHER], False
    for i in range(s):
        if grip[i] == STICKING:
            continue
        for c in range(2):
            slip[c] = vectors[RATE, m + 2 * i + c]
            for j in range(n):
                slip[c] += rows[m + 2 * i + c, j] * y[nq + j]
        speed = math.sqrt(slip[0] ** 2 + slip[1] ** 2)
        if speed > 1.5 * slip_speed:
            begins = begins or grip[i] != SLIDING
            grip[i] = SLIDING
            sense[i, 0], sense[i, 1] = slip[0] / speed, slip[1] / speed
    return begins
