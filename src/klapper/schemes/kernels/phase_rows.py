"""Equations of a phase in compiled code: accelerations and forces while every contact keeps its mode.

    M v̇ = f + D λ,   λ = T x + λ₀,   (Dᵀ M⁻¹ D)_h T x = −(Dᵀ M⁻¹ (f + D λ₀) + b)_h          Waltersberger (4.58)

The same as :mod:`klapper.schemes.phase_equations` with the functions of a compiled form. The form is one
tuple of arrays and functions; modes and arrays to work in are packed into integers and numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from klapper.schemes.form_kernels.compiling import apart, bare, inner
from klapper.schemes.kernels.packed_views import (
    packed_integers,
    packed_numbers,
)
from klapper.schemes.kernels.phase_parts import (
    AT,
    DATA,
    INDEX,
    advance_of,
    bring_of,
    c_curvature_of,
    c_directions_of,
    curvature_of,
    damping_of,
    directions_of,
    force_of,
    gaps_of,
    laws_of,
    mass_of,
    potential_of,
    powers_of,
)

(NQ, NV, K, M, S, D, P, H, MASS_KIND, CHANGING) = range(10)
(HAS_CURVATURE, HAS_C_CURVATURE, HAS_POWERS, HAS_POTENTIAL, HAS_DAMPING, HAS_ADVANCE, STEADY, SIZE) = range(
    10, 18
)
(KNOWN, COUNT, LOOSE, SCALARS) = range(18, 22)
"""First integers: numbers of things, what the form has, whether D and M never change (STEADY), whether the mobility is
known already, how often forces were computed, and whether they were not unique once."""

INTEGER_ARRAYS = (
    "which",
    "normal",
    "patch",
    "held",
    "grip",
    "columns",
    "c_columns",
    "places",
    "watched",
    "follows",
)
NUMBER_ARRAYS = (
    *(
        "sense",
        "friction",
        "limit",
        "scale",
        "rows",
        "response",
        "mobility",
        "spread",
        "equations",
        "inverse",
    ),
    *(
        "vectors",
        "entries",
        "rates",
        "c_entries",
        "c_rates",
        "depth",
        "limit_scale",
        "slip_speed",
        "reference",
    ),
)
"""Arrays of a phase, packed one after the other: ``grip`` (s,) of the patches, ``friction`` (s, m), D (r, n) in
``rows``, M⁻¹ D, Dᵀ M⁻¹ D, T (r, h), ``equations`` (h, h + 1), ``inverse`` of the mass, ``vectors`` to work in, what the
form writes, and what belongs to event functions."""

(WHICH, NORMAL, PATCH, HELD, GRIP, COLUMNS, C_COLUMNS, PLACES, WATCHED, FOLLOWS) = (
    SCALARS + 3 * k for k in range(len(INTEGER_ARRAYS))
)
(SENSE, FRICTION, LIMIT, SCALE, ROWS, RESPONSE, MOBILITY, SPREAD, EQUATIONS, INVERSE) = (
    SCALARS + 3 * (len(INTEGER_ARRAYS) + k) for k in range(10)
)
(VECTORS, ENTRIES, RATES, C_ENTRIES, C_RATES, DEPTH, LIMIT_SCALE, SLIP_SPEED, REFERENCE) = (
    SCALARS + 3 * (len(INTEGER_ARRAYS) + k) for k in range(10, len(NUMBER_ARRAYS))
)
"""Where their places, rows and columns stand among the integers."""

(FREE, PUSH, BIAS, GIVEN, RATE, SLIP, OTHER, AHEAD, BEHIND, SENSES, SPEEDS, MU, ENTRY, WALL, STORE) = range(
    15
)
ACCELERATED, REACTIONS, VECTOR_ROWS = 15, 16, 17
"""Rows of the vectors."""

DIAGONAL, INVERTED, FACTORISED = 0, 1, 2
"""Kinds of mass: 1/m in the first row, M⁻¹, or a Cholesky factor made anew for every position."""

STICKING, SLIDING, STARTING = 1, 2, 3  # as in klapper.schemes.phase_modes
FINE, DEPENDENT, NOT_FINITE = 0, 1, 2

_RANK = 1e-9  # pivots below this share of the largest belong to forces that are not unique
_CONTRADICTION = (
    1e-7  # of the accelerations at hand, that dependent contacts may ask of each other by rounding
)
_EPS = float(np.finfo(float).eps)
_DIFFERENCE = 6.0e-6  # as in klapper.mechanics.system


numbers, number_table = packed_integers(1), packed_integers(2)
line, table = packed_numbers(1), packed_numbers(2)
"""Packed arrays, e.g. ``numbers(ints, GRIP)`` and ``table(floats, ints, ROWS)``."""


@bare
def put(values: np.ndarray, out: np.ndarray) -> None:
    for i in range(values.size):
        out[i] = values[i]


@bare
def take_mass(form: Any, ints: np.ndarray, floats: np.ndarray, q: np.ndarray) -> bool:
    """Cholesky factor of M(q); whether M is positive definite."""
    inverse = table(floats, ints, INVERSE)
    vectors = table(floats, ints, VECTORS)
    if ints[MASS_KIND] != FACTORISED:
        return True
    n, factor, places = ints[NV], inverse, number_table(ints, PLACES)
    entries = vectors[ENTRY, : places.shape[1]]
    mass_of(form[AT])(form[INDEX], form[DATA], q, entries)
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


@bare
def divide_by_mass(ints: np.ndarray, floats: np.ndarray, right: np.ndarray, out: np.ndarray) -> None:
    """M⁻¹ right; ``out`` is another array."""
    inverse = table(floats, ints, INVERSE)
    n, inverse = ints[NV], inverse
    if ints[MASS_KIND] == DIAGONAL:
        for i in range(n):
            out[i] = right[i] * inverse[0, i]
    elif ints[MASS_KIND] == INVERTED:
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


@bare
def take_rows(form: Any, ints: np.ndarray, floats: np.ndarray, t: float, q: np.ndarray) -> None:
    """D (r, n) and given rates (r,) of all force rows."""
    rows = table(floats, ints, ROWS)
    vectors = table(floats, ints, VECTORS)
    rates = table(floats, ints, RATES)
    contacts = numbers(ints, WHICH)
    normals = numbers(ints, NORMAL)
    patches = numbers(ints, PATCH)
    scales = table(floats, ints, SCALE)
    c_entries = table(floats, ints, C_ENTRIES)
    c_rates = line(floats, ints, C_RATES)
    k, m, s, d, p = ints[K], ints[M], ints[S], ints[D], ints[P]
    rate = vectors[RATE]
    for i in range(ints[SIZE]):
        for j in range(ints[NV]):
            rows[i, j] = 0.0
    if k:
        columns = number_table(ints, COLUMNS)
        entries = line(floats, ints, ENTRIES).reshape(k, 1 + d, ints[COLUMNS + 2])
        directions_of(form[AT])(form[INDEX], form[DATA], t, q, contacts, columns, entries, rates)
        for i in range(m):
            at = normals[i]
            rate[i] = rates[at, 0]
            for w in range(columns.shape[1]):
                rows[i, columns[at, w]] += entries[at, 0, w]
        for i in range(s):
            at = patches[i]
            for c in range(d):
                row, scale = m + i * d + c, scales[i, c]
                rate[row] = rates[at, 1 + c] * scale
                for w in range(columns.shape[1]):
                    rows[row, columns[at, w]] += entries[at, 1 + c, w] * scale
    if p:
        c_columns = number_table(ints, C_COLUMNS)
        c_directions_of(form[AT])(form[INDEX], form[DATA], t, q, c_columns, c_entries, c_rates)
        for i in range(p):
            row = m + s * d + i
            rate[row] = c_rates[i]
            for w in range(c_columns.shape[1]):
                rows[row, c_columns[i, w]] += c_entries[i, w]


@bare
def _row_velocities(ints: np.ndarray, floats: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    vectors = table(floats, ints, VECTORS)
    rows = table(floats, ints, ROWS)
    for i in range(ints[SIZE]):
        total = vectors[RATE, i]
        for j in range(ints[NV]):
            total += rows[i, j] * v[j]
        out[i] = total


@bare
def difference_step(q: np.ndarray, v: np.ndarray) -> float:
    """Spacing [s] of central differences along the motion, as in klapper.mechanics.system."""
    reach, fastest = 1.0, 1.0
    for x in q:
        reach = max(reach, 1.0 + abs(x))
    for x in v:
        fastest = max(fastest, abs(x))
    return _DIFFERENCE * min(reach / fastest, 1.0)


@bare
def moved(
    form: Any,
    ints: np.ndarray,
    floats: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    duration: float,
    out: np.ndarray,
) -> None:
    """q after a displacement v · duration."""
    vectors = table(floats, ints, VECTORS)
    if ints[HAS_ADVANCE]:
        step = vectors[WALL, : ints[NV]]
        for i in range(ints[NV]):
            step[i] = duration * v[i]
        advance_of(form[AT])(form[INDEX], form[DATA], q, step, out)
    else:
        for i in range(ints[NQ]):
            out[i] = q[i] + duration * v[i]


@bare
def take_bias(
    form: Any, ints: np.ndarray, floats: np.ndarray, t: float, q: np.ndarray, v: np.ndarray
) -> None:
    """b (r,) of Dᵀ v̇ + b; by differences where the form does not give it. Overwrites D if so."""
    vectors = table(floats, ints, VECTORS)
    rates = table(floats, ints, RATES)
    contacts = numbers(ints, WHICH)
    normals = numbers(ints, NORMAL)
    patches = numbers(ints, PATCH)
    scales = table(floats, ints, SCALE)
    c_rates = line(floats, ints, C_RATES)
    k, m, s, d, p = ints[K], ints[M], ints[S], ints[D], ints[P]
    bias = vectors[BIAS]
    by_differences = (k > 0 and not ints[HAS_CURVATURE]) or (p > 0 and not ints[HAS_C_CURVATURE])
    if by_differences:
        step = difference_step(q, v)
        place, there = vectors[STORE, : ints[NQ]], vectors[OTHER]
        for side in range(2):
            late = step if side == 0 else -step
            moved(form, ints, floats, q, v, late, place)
            bring_of(form[AT])(form[INDEX], form[DATA], t + late)
            take_rows(form, ints, floats, t + late, place)
            _row_velocities(ints, floats, v, there)
            for i in range(ints[SIZE]):
                if side == 0:
                    bias[i] = there[i] / (2.0 * step)
                else:
                    bias[i] -= there[i] / (2.0 * step)
        bring_of(form[AT])(form[INDEX], form[DATA], t)
    if k and ints[HAS_CURVATURE]:
        curvature_of(form[AT])(form[INDEX], form[DATA], t, q, v, contacts, rates)
        for i in range(m):
            bias[i] = rates[normals[i], 0]
        for i in range(s):
            for c in range(d):
                bias[m + i * d + c] = rates[patches[i], 1 + c] * scales[i, c]
    if p and ints[HAS_C_CURVATURE]:
        c_curvature_of(form[AT])(form[INDEX], form[DATA], t, q, v, c_rates)
        for i in range(p):
            bias[m + s * d + i] = c_rates[i]


@inner
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


UNSOLVED, UNIQUE, NEAREST = 0, 1, 2


@inner
def settled(matrix: np.ndarray, n: int, near: np.ndarray, contradiction: float) -> int:
    """As ``solved``; where rows depend on each other, their solution by least squares that is nearest to ``near`` (n,).

    ``contradiction``  that they may have, relative to the largest right-hand side
    """
    if n < 2:
        return UNIQUE if solved(matrix, n) else UNSOLVED
    kept = matrix.copy()
    if solved(matrix, n):
        return UNIQUE
    if not _nearest(kept, n, near) <= contradiction:
        return UNSOLVED
    for i in range(n):
        matrix[i, n] = kept[i, n]
    return NEAREST


@inner
def _nearest(matrix: np.ndarray, n: int, near: np.ndarray) -> float:
    """The solution into the last column; its relative residual.

    In units of the diagonal and with pivots of full size first, P A Q = L U with r columns of L: w = (Lᵀ L)⁻¹ Lᵀ P b is
    nearest to b, and z = Uᵀ (U Uᵀ)⁻¹ w the shortest that gives it.
    """
    unit, order, right = np.empty(n), np.arange(n), np.empty(n)
    for i in range(n):
        size = abs(matrix[i, i])
        unit[i] = math.sqrt(size) if size > 0.0 else 1.0
    terms = 0.0
    for i in range(n):
        right[i] = matrix[i, n] / unit[i]
        terms = max(terms, abs(right[i]))
        for j in range(n):
            right[i] -= matrix[i, j] * near[j] / unit[i]
            terms = max(terms, abs(matrix[i, j] * near[j] / unit[i]))
            matrix[i, j] /= unit[i] * unit[j]
    lower, largest, rank = np.zeros((n, n)), 0.0, n
    for k in range(n):
        best, row, column = -1.0, k, k
        for i in range(k, n):
            for j in range(k, n):
                if abs(matrix[i, j]) > best:
                    best, row, column = abs(matrix[i, j]), i, j
        largest = max(largest, best)
        if not best > _RANK * largest:
            rank = k
            break
        right[k], right[row] = right[row], right[k]
        for j in range(n):
            matrix[k, j], matrix[row, j] = matrix[row, j], matrix[k, j]
            lower[k, j], lower[row, j] = lower[row, j], lower[k, j]
        for i in range(n):
            matrix[i, k], matrix[i, column] = matrix[i, column], matrix[i, k]
        order[k], order[column] = order[column], order[k]
        lower[k, k] = 1.0
        for i in range(k + 1, n):
            lower[i, k] = matrix[i, k] / matrix[k, k]
            for j in range(k, n):
                matrix[i, j] -= lower[i, k] * matrix[k, j]
    gram = np.empty((rank, rank + 1))
    for i in range(rank):
        for j in range(rank):
            gram[i, j] = 0.0
            for c in range(n):
                gram[i, j] += lower[c, i] * lower[c, j]
        gram[i, rank] = 0.0
        for c in range(n):
            gram[i, rank] += lower[c, i] * right[c]
    if not solved(gram, rank):
        return math.inf
    worst = 0.0
    for i in range(n):
        for j in range(rank):
            right[i] -= lower[i, j] * gram[j, rank]
        worst = max(worst, abs(right[i]))
    for i in range(rank):
        right[i] = gram[i, rank]
    for i in range(rank):
        for j in range(rank):
            gram[i, j] = 0.0
            for c in range(max(i, j), n):
                gram[i, j] += matrix[i, c] * matrix[j, c]
        gram[i, rank] = right[i]
    if not solved(gram, rank):
        return math.inf
    for c in range(n):
        total = 0.0
        for i in range(min(c + 1, rank)):
            total += matrix[i, c] * gram[i, rank]
        matrix[order[c], n] = near[order[c]] + total / unit[order[c]]
    return worst / terms if terms > 0.0 else 0.0


@bare
def _slides(grip: np.ndarray) -> bool:
    found = False
    for i in range(grip.size):
        found = found or grip[i] != STICKING
    return found


@bare
def take_mobility(ints: np.ndarray, floats: np.ndarray) -> None:
    """M⁻¹ D and Dᵀ M⁻¹ D."""
    rows = table(floats, ints, ROWS)
    response = table(floats, ints, RESPONSE)
    mobility = table(floats, ints, MOBILITY)
    n, r = ints[NV], ints[SIZE]
    for i in range(r):
        divide_by_mass(ints, floats, rows[i], response[i])
    for i in range(r):
        for j in range(i + 1):
            total = 0.0
            for c in range(n):
                total += rows[i, c] * response[j, c]
            mobility[i, j] = total
            mobility[j, i] = total


@inner
def _take_friction(form: Any, ints: np.ndarray, floats: np.ndarray) -> None:
    """Senses (s, d) and own μ (s,) at the sliding velocities at hand."""
    vectors = table(floats, ints, VECTORS)
    sense = table(floats, ints, SENSE)
    grip = numbers(ints, GRIP)
    scales = table(floats, ints, SCALE)
    patches = numbers(ints, PATCH)
    contacts = numbers(ints, WHICH)
    normals = numbers(ints, NORMAL)
    own_friction = table(floats, ints, FRICTION)
    m, s, d = ints[M], ints[S], ints[D]
    slip, senses = vectors[SLIP], vectors[SENSES]
    for i in range(s):
        at = i * d
        along, square = 0.0, 0.0
        for c in range(d):
            senses[at + c] = sense[i, c]
            along += slip[at + c] * sense[i, c]
            square += slip[at + c] ** 2
        speed = math.sqrt(square)
        if grip[i] == SLIDING and d == 2 and speed > 0.0:
            turned = -1.0 if along < -0.7071 * speed else 1.0
            for c in range(d):
                senses[at + c] = turned * slip[at + c] / speed
    if ints[CHANGING]:
        k = ints[K]
        speeds = vectors[SPEEDS, :k]
        for i in range(k):
            speeds[i] = 0.0
        for i in range(s):
            if grip[i] != STICKING:
                square = 0.0
                for c in range(d):
                    scale = scales[i, c]
                    if scale > 0.0:
                        square += (slip[i * d + c] / scale) ** 2
                speeds[patches[i]] = math.sqrt(square)
        laws = np.empty((k, 5))
        laws_of(form[AT])(form[INDEX], form[DATA], contacts, speeds, laws)
        for i in range(s):
            for j in range(m):
                if patches[i] == normals[j]:
                    own_friction[i, j] = laws[patches[i], 2]


@bare
def instant(
    form: Any,
    ints: np.ndarray,
    floats: np.ndarray,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    acceleration: np.ndarray,
    forces: np.ndarray,
) -> int:
    """v̇ (n,) and all forces (r,) at a state; the sliding velocities and rates stand in the vectors."""
    vectors = table(floats, ints, VECTORS)
    rows = table(floats, ints, ROWS)
    response = table(floats, ints, RESPONSE)
    mobility = table(floats, ints, MOBILITY)
    held = numbers(ints, HELD)
    spread = table(floats, ints, SPREAD)
    matrix = table(floats, ints, EQUATIONS)
    grip = numbers(ints, GRIP)
    own_friction = table(floats, ints, FRICTION)
    limits = line(floats, ints, LIMIT)
    n, m, s, d, h, r = ints[NV], ints[M], ints[S], ints[D], ints[H], ints[SIZE]
    ints[COUNT] += 1
    bring_of(form[AT])(form[INDEX], form[DATA], t)
    push = vectors[PUSH, :n]
    force_of(form[AT])(form[INDEX], form[DATA], t, q, v, push)
    if not take_mass(form, ints, floats, q):
        return NOT_FINITE
    divide_by_mass(ints, floats, push, acceleration)
    if r == 0:
        return FINE
    take_bias(form, ints, floats, t, q, v)
    take_rows(form, ints, floats, t, q)
    if not (ints[STEADY] and ints[KNOWN] == 1):
        take_mobility(ints, floats)
        ints[KNOWN] = 1
    slip = vectors[SLIP]
    for i in range(s * d):
        total = vectors[RATE, m + i]
        for j in range(n):
            total += rows[m + i, j] * v[j]
        slip[i] = total
    _take_friction(form, ints, floats)
    given, senses = vectors[GIVEN], vectors[SENSES]
    for i in range(r):
        given[i] = 0.0
        for j in range(h):
            spread[i, j] = 0.0
    for i in range(h):
        spread[held[i], i] = 1.0
    for i in range(s):
        if grip[i] != STICKING:
            for c in range(d):
                row = m + i * d + c
                for j in range(m):
                    spread[row, j] = -senses[i * d + c] * own_friction[i, j]  # Waltersberger (4.49)
                given[row] = -limits[i] * senses[i * d + c]
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
    near, reference = vectors[OTHER], line(floats, ints, REFERENCE)
    for a in range(h):
        near[a] = reference[held[a]]
    found = settled(matrix, h, near, _CONTRADICTION)
    if found != UNIQUE:
        if found == UNSOLVED or _slides(grip):
            return DEPENDENT  # where contacts slide, forces may move the system differently
        ints[LOOSE] = 1
    for i in range(r):
        total = given[i]
        for a in range(h):
            total += spread[i, a] * matrix[a, h]
        forces[i] = total
    for j in range(n):
        for i in range(r):
            acceleration[j] += response[i, j] * forces[i]
    return FINE


@bare
def take_powers(
    form: Any, ints: np.ndarray, floats: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    """Power of loads and of dampers (2,) [W]; the force must be in the vectors."""
    vectors = table(floats, ints, VECTORS)
    n, vectors = ints[NV], vectors
    if ints[HAS_POWERS]:
        powers_of(form[AT])(form[INDEX], form[DATA], t, q, v, out)
        return
    total = 0.0
    for i in range(n):
        total += v[i] * vectors[PUSH, i]
    step = difference_step(q, v)
    ahead, behind = vectors[AHEAD, : ints[NQ]], vectors[BEHIND, : ints[NQ]]
    moved(form, ints, floats, q, v, step, ahead)
    moved(form, ints, floats, q, v, -step, behind)
    if ints[MASS_KIND] == FACTORISED:
        places = number_table(ints, PLACES)
        e = places.shape[1]
        entries = vectors[ENTRY, :e]
        for side in range(2):
            mass_of(form[AT])(form[INDEX], form[DATA], ahead if side == 0 else behind, entries)
            sign = 0.25 / step if side == 0 else -0.25 / step
            for i in range(e):
                total += sign * v[places[0, i]] * entries[i] * v[places[1, i]]
    damping = 0.0
    if ints[HAS_POTENTIAL]:
        if ints[HAS_DAMPING]:
            damping = damping_of(form[AT])(form[INDEX], form[DATA], t, q, v)
        potential = potential_of(form[AT])
        rise = potential(form[INDEX], form[DATA], ahead) - potential(form[INDEX], form[DATA], behind)
        total += rise / (2.0 * step) + damping
    out[0], out[1] = total, damping


@bare
def take_rate(
    form: Any, ints: np.ndarray, floats: np.ndarray, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    """q' = B(q) v; from ``advance`` by a difference of sixth order, whose error is below round-off of its steps."""
    vectors = table(floats, ints, VECTORS)
    nq = ints[NQ]
    if not ints[HAS_ADVANCE]:
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
    place = vectors[STORE, :nq]
    for k in range(1, 4):
        weight = 45.0 if k == 1 else (-9.0 if k == 2 else 1.0)
        for side in range(2):
            sign = 1.0 if side == 0 else -1.0
            moved(form, ints, floats, q, v, sign * k * step, place)
            for i in range(nq):
                out[i] += sign * weight * place[i] / (60.0 * step)


@apart
def derivative(
    form: Any, ints: np.ndarray, floats: np.ndarray, t: float, y: np.ndarray, out: np.ndarray
) -> int:
    """ẏ of y = (q, v, impulses, loads, damping, friction), (4.59) with the integrals of the ledger."""
    vectors = table(floats, ints, VECTORS)
    nq, n, m, s, d, r = ints[NQ], ints[NV], ints[M], ints[S], ints[D], ints[SIZE]
    q, v, motion = y[:nq], y[nq : nq + n], nq + n
    forces = out[motion : motion + r]
    status = instant(form, ints, floats, t, q, v, out[nq:motion], forces)
    if status != FINE:
        return status
    walls, friction = 0.0, 0.0
    for i in range(r):
        walls -= forces[i] * vectors[RATE, i]
    for i in range(s * d):
        friction -= forces[m + i] * vectors[SLIP, i]
    take_powers(form, ints, floats, t, q, v, out[motion + r : motion + r + 2])
    out[motion + r] += walls
    out[motion + r + 2] = friction
    take_rate(form, ints, floats, q, v, out[:nq])
    return FINE


@bare
def take_depths(
    form: Any, ints: np.ndarray, floats: np.ndarray, piece: np.ndarray, tolerance: float, noise: np.ndarray
) -> None:
    """Depths of the gaps at the start of a step, and what counts as zero of them, as ``PhaseWatch`` has it."""
    watched, depth, follows = numbers(ints, WATCHED), line(floats, ints, DEPTH), numbers(ints, FOLLOWS)
    nq, n = ints[NQ], ints[NV]
    size = nq + n + ints[SIZE] + 3
    start, end = piece[0], piece[0] + piece[1]
    place, fastest = 0.0, 0.0
    for i in range(nq):
        place = max(place, abs(piece[2 + i]), abs(piece[2 + size + i]))
    for i in range(nq, nq + n):
        fastest = max(fastest, abs(piece[2 + i]), abs(piece[2 + size + i]))
    late = 8.0 * abs(np.nextafter(abs(end), np.inf) - abs(end))
    lengths = max(1e-3 * tolerance, 64.0 * _EPS * place, late * fastest)
    if watched.size:
        bring_of(form[AT])(form[INDEX], form[DATA], start)
        gaps_of(form[AT])(form[INDEX], form[DATA], start, piece[2 : 2 + nq], watched, depth)
    for i in range(watched.size):
        depth[i] = max(-depth[i], 0.0)
        noise[i] = max(10.0 * tolerance, lengths) if follows[i] else lengths
