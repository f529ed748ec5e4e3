"""The first event on the dense output of a step, in compiled code: the search of
:mod:`klapper.schemes.first_crossing` on the event functions of :mod:`klapper.schemes.phase_watch`.

Every function is a Chebyshev series on the step; its lowest bound proves that there is no event, or the series is cut
until the first fall below what counts as zero is bracketed. Whatever is out of the ordinary (a function that begins
below zero, one that no series resolves, a flight lower than the noise) is left to the general search.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from klapper.schemes.first_crossing import CHECKS, COARSE, FINE_DEGREE, PARTS
from klapper.schemes.form_kernels.compiling import apart, bare, part
from klapper.schemes.kernels.phase_parts import (
    AT,
    DATA,
    INDEX,
    bring_of,
    force_of,
    functions_of,
    gaps_of,
)
from klapper.schemes.kernels.phase_rows import (
    ACCELERATED,
    BIAS,
    DEPTH,
    FINE,
    FRICTION,
    GIVEN,
    GRIP,
    LIMIT,
    LIMIT_SCALE,
    MOBILITY,
    NQ,
    NV,
    PUSH,
    RATE,
    REACTIONS,
    ROWS,
    SENSE,
    SIZE,
    SLIDING,
    SLIP_SPEED,
    STICKING,
    VECTORS,
    WATCHED,
    D,
    M,
    S,
    divide_by_mass,
    instant,
    line,
    numbers,
    put,
    table,
    take_depths,
    take_rows,
)
from klapper.schemes.kernels.phase_steps import (
    between,
)

NOTHING, EVENT, SPECIAL = 0, 1, 2
EPS = float(np.finfo(float).eps)
_FLAT = 1e-9  # these as in klapper.schemes.first_crossing
_DOUBTFUL = 32.0
_SHORTEST = 64.0 * EPS
_FORCE_NOISE = 1e-9  # these as in klapper.schemes.phase_watch
_ROUND_OFF = 64.0 * EPS
_WAITING = 160  # intervals at once, more than halvings and parts can leave


def _tables(degree: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Places (degree + 4,) of nodes and checks, to coefficients, T_k at the checks, and to the series of parts."""
    nodes = -np.cos(np.pi * np.arange(degree + 1) / degree)
    nodes[degree // 2] = 0.0
    to_series = np.linalg.inv(chebyshev.chebvander(nodes, degree))
    middles = -1.0 + (2.0 * np.arange(PARTS) + 1.0) / PARTS
    parts = np.array([to_series @ chebyshev.chebvander(x + nodes / PARTS, degree) for x in middles])
    return np.append(nodes, CHECKS), to_series, chebyshev.chebvander(CHECKS, degree), parts


SERIES = np.concatenate([np.ravel(part) for degree in (COARSE, FINE_DEGREE) for part in _tables(degree)])
"""Tables of the coarse and of the fine series, handed to the kernel."""

_CHECK_COUNT = len(CHECKS)
_LENGTHS = tuple(sum(part.size for part in _tables(degree)) for degree in (COARSE, FINE_DEGREE))
_PARTS_OF = tuple(PARTS * (degree + 1) ** 2 for degree in (COARSE, FINE_DEGREE))


@apart
def functions_at(
    form: Any,
    ints: np.ndarray,
    floats: np.ndarray,
    piece: np.ndarray,
    t: float,
    y: np.ndarray,
    out: np.ndarray,
) -> bool:
    """All event functions (f,) at a time in a step, and y there; False if they cannot be computed."""
    vectors = table(floats, ints, VECTORS)
    grip = numbers(ints, GRIP)
    limits = line(floats, ints, LIMIT)
    own_friction = table(floats, ints, FRICTION)
    rows = table(floats, ints, ROWS)
    sense = table(floats, ints, SENSE)
    watched, depth = numbers(ints, WATCHED), line(floats, ints, DEPTH)
    limit_scale, slip_speed = line(floats, ints, LIMIT_SCALE), line(floats, ints, SLIP_SPEED)[0]
    nq, n, m, s, d = ints[NQ], ints[NV], ints[M], ints[S], ints[D]
    between(t, piece, y)
    q, v = y[:nq], y[nq : nq + n]
    at = watched.size
    if at:
        bring_of(form[AT])(form[INDEX], form[DATA], t)
        gaps_of(form[AT])(form[INDEX], form[DATA], t, q, watched, out[:at])
        for i in range(at):
            out[i] += depth[i]
    kinetic, slides = m > 0, False
    for i in range(s):
        kinetic = kinetic or grip[i] == STICKING
        slides = slides or grip[i] != STICKING
    acceleration, forces = vectors[ACCELERATED, :n], vectors[REACTIONS, : ints[SIZE]]
    if kinetic:
        if instant(form, ints, floats, t, q, v, acceleration, forces) != FINE:
            return False
        for i in range(m):
            out[at] = forces[i]
            at += 1
        for i in range(s):
            if grip[i] != STICKING:
                continue
            limit = limits[i]
            for j in range(m):
                limit += own_friction[i, j] * forces[j]
            row = m + i * d
            if d == 1:
                out[at], out[at + 1] = limit - forces[row], limit + forces[row]
                at += 2
            else:
                square = 0.0
                for c in range(d):
                    square += forces[row + c] ** 2
                out[at] = (limit**2 - square) / (2.0 * limit_scale[i])
                at += 1
    elif slides:
        bring_of(form[AT])(form[INDEX], form[DATA], t)
        take_rows(form, ints, floats, t, q)
    for i in range(s if slides else 0):
        if grip[i] == STICKING:
            continue
        along, square = 0.0, 0.0
        for c in range(d):
            row = m + i * d + c
            slip = vectors[RATE, row]
            for j in range(n):
                slip += rows[row, j] * v[j]
            along += slip * sense[i, c]
            square += slip**2
        if d == 2 and grip[i] == SLIDING:
            along -= slip_speed
        out[at] = along
        at += 1
        if d == 2 and grip[i] != SLIDING:
            out[at] = ((2.0 * slip_speed) ** 2 - square) / (4.0 * slip_speed)
            at += 1
    return True


@apart
def take_noise(
    form: Any,
    ints: np.ndarray,
    floats: np.ndarray,
    piece: np.ndarray,
    tolerance: float,
    y: np.ndarray,
    noise: np.ndarray,
) -> bool:
    """What counts as zero for every event function, as ``PhaseWatch`` has it; also depths and first limits."""
    vectors = table(floats, ints, VECTORS)
    grip = numbers(ints, GRIP)
    limits = line(floats, ints, LIMIT)
    own_friction = table(floats, ints, FRICTION)
    rows = table(floats, ints, ROWS)
    mobility = table(floats, ints, MOBILITY)
    watched = numbers(ints, WATCHED)
    limit_scale, slip_speed = line(floats, ints, LIMIT_SCALE), line(floats, ints, SLIP_SPEED)[0]
    nq, n, m, s, d, r = ints[NQ], ints[NV], ints[M], ints[S], ints[D], ints[SIZE]
    before, after = piece[2 : 2 + y.size], piece[2 + y.size : 2 + 2 * y.size]
    start, end, length = piece[0], piece[0] + piece[1], piece[1]
    q, v = before[:nq], before[nq : nq + n]
    late = 8.0 * abs(np.nextafter(abs(end), np.inf) - abs(end))
    take_depths(form, ints, floats, piece, tolerance, noise)
    if r == 0:
        return True
    fastest = 0.0
    for i in range(nq, nq + n):
        fastest = max(fastest, abs(before[i]), abs(after[i]))
    at, free = watched.size, vectors[ACCELERATED, :n]
    forces = vectors[REACTIONS, :r]
    if instant(form, ints, floats, start, q, v, free, forces) != FINE:
        return False
    force_of(form[AT])(form[INDEX], form[DATA], start, q, v, vectors[PUSH, :n])
    divide_by_mass(ints, floats, vectors[PUSH, :n], free)
    pushed, largest, applied = 0.0, 0.0, 0.0
    for i in range(n):
        pushed = max(pushed, abs(free[i]))
        applied = max(applied, abs(vectors[PUSH, i]))
    speeds = max(1e-3 * slip_speed, _ROUND_OFF * fastest, late * pushed)
    for i in range(r):
        largest = max(largest, abs(forces[i]))
    scale = vectors[GIVEN]
    for i in range(r):
        terms = abs(vectors[BIAS, i])
        for j in range(n):
            terms += abs(rows[i, j]) * abs(free[j])
        own = mobility[i, i]
        scale[i] = (terms / own if own > 0.0 else 0.0) + largest
    for i in range(s):
        limit = limits[i]
        for j in range(m):
            limit += own_friction[i, j] * forces[j]
        limit_scale[i] = limit if limit > 0.0 else max(largest, 1e-300)
    for k in range(1, 3):
        t = start + 0.5 * k * length
        between(t, piece, y)
        bring_of(form[AT])(form[INDEX], form[DATA], t)
        force_of(form[AT])(form[INDEX], form[DATA], t, y[:nq], y[nq : nq + n], vectors[PUSH, :n])
        for i in range(n):
            applied = max(applied, abs(vectors[PUSH, i]))
    elsewhere = max(_ROUND_OFF * applied, 1e-300)
    for i in range(m):
        noise[at] = max(_FORCE_NOISE * scale[i], elsewhere)
        at += 1
    for i in range(s):
        if grip[i] == STICKING:
            limit = 0.0
            for c in range(d):
                limit = max(limit, _FORCE_NOISE * scale[m + i * d + c], elsewhere)
            for _ in range(2 if d == 1 else 1):
                noise[at] = limit
                at += 1
    for i in range(s):
        if grip[i] != STICKING:
            for _ in range(1 if d == 1 or grip[i] == SLIDING else 2):
                noise[at] = speeds
                at += 1
    return True


@bare
def _series(
    form: Any,
    ints: np.ndarray,
    floats: np.ndarray,
    piece: np.ndarray,
    a: float,
    b: float,
    degree: int,
    tables: np.ndarray,
    noise: np.ndarray,
    y: np.ndarray,
    values: np.ndarray,
    series: np.ndarray,
    error: np.ndarray,
    state: np.ndarray,
) -> bool:
    """Chebyshev series (f, degree + 1) of all functions on [a, b]; ``state`` (f,) 0 not resolved, 1 resolved, 2 safe
    and resolved, 3 safe only; False if a function cannot be computed."""
    count, checks = degree + 1, _CHECK_COUNT
    places = tables[: count + checks]
    to_series = tables[count + checks : count + checks + count * count]
    at_checks = tables[count + checks + count * count :]
    for k in range(places.size):
        t = b if k == degree else a + (b - a) * (0.5 * (1.0 + places[k]))
        if not functions_of(form[AT])(form, ints, floats, piece, t, y, values[k]):
            return False
    clock = EPS * max(abs(a), abs(b)) / (b - a)
    for j in range(noise.size):
        largest, varies, steepest, tail, quarter = 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(count):
            total = 0.0
            for i in range(count):
                total += to_series[k * count + i] * values[i, j]
            series[j, k] = total
            size = abs(total)
            if not size < math.inf:
                return False
            largest = max(largest, size)
            varies += size if k else 0.0
            if k >= count - 2:
                tail = max(tail, size)
            if degree // 2 <= k < degree // 2 + degree // 4:
                quarter = max(quarter, size)
            if k:
                steepest = max(steepest, abs(values[k, j] - values[k - 1, j]) * degree)
        for i in range(checks):
            total = -values[count + i, j]
            for k in range(count):
                total += at_checks[i * count + k] * series[j, k]
            tail = max(tail, abs(total))
        round_off = 8.0 * EPS * largest + clock * steepest
        flat = tail <= _FLAT * largest and quarter <= _FLAT * largest and tail >= 0.1 * quarter
        resolved = tail <= max(0.125 * noise[j], round_off) or flat
        hidden = 4.0 * tail > noise[j] and tail <= 64.0 * EPS * largest and varies >= 0.5 * largest
        if hidden and noise[j] > EPS * largest:
            resolved = False
        error[j] = max(noise[j], 4.0 * tail) if resolved else noise[j]
        lowest = series[j, 0] - varies
        state[j] = 1 if resolved else 0
        if resolved and lowest > -error[j]:
            state[j] = 2
        elif not resolved and tail <= 1e-3 * varies and lowest > _DOUBTFUL * tail:
            state[j] = 3
    return True


@bare
def _first_fall(
    series: np.ndarray, level: float, parts: np.ndarray, bounds: np.ndarray, kept: np.ndarray
) -> tuple[bool, float, float]:
    """Where on [−1, 1] a series falls below −level for the first time, as in ``first_crossing``.

    ``parts``  of the tables; ``bounds`` (w, 2) and ``kept`` (w, count) what waits, with room behind it
    """
    count = series.size
    waiting = 1
    bounds[0, 0], bounds[0, 1] = -1.0, 1.0
    put(series, kept[0])
    c = kept[_WAITING]
    while waiting:
        waiting -= 1
        a, b = bounds[waiting, 0], bounds[waiting, 1]
        for k in range(count):
            c[k] = kept[waiting, k]
        left, right, steep, varies, sign = 0.0, 0.0, 0.0, 0.0, 1.0
        for k in range(count):
            left, right = left + sign * c[k], right + c[k]
            sign = -sign
            varies += abs(c[k]) if k else 0.0
            steep += k * k * abs(c[k]) if k > 1 else 0.0
        if left < -level:
            return True, a, a
        if -c[1] > steep or b - a <= 1e-14 or varies <= 0.05 * level:
            if right < -level:
                return True, a, b
            continue
        for p in range(PARTS):
            for k in range(count):
                total = 0.0
                for i in range(count):
                    total += parts[(p * count + k) * count + i] * c[i]
                kept[_WAITING + 1 + p, k] = total
        for p in range(PARTS - 1, -1, -1):
            lowest = kept[_WAITING + 1 + p, 0]
            for k in range(1, count):
                lowest -= abs(kept[_WAITING + 1 + p, k])
            if lowest < -level * (1.0 + 1e-6):
                if waiting >= _WAITING:
                    return True, -2.0, -2.0
                bounds[waiting, 0] = a + (b - a) * p / PARTS
                bounds[waiting, 1] = a + (b - a) * (p + 1) / PARTS
                for k in range(count):
                    kept[waiting, k] = kept[_WAITING + 1 + p, k]
                waiting += 1
    return False, 0.0, 0.0


@bare
def _zero(
    form: Any,
    ints: np.ndarray,
    floats: np.ndarray,
    piece: np.ndarray,
    j: int,
    span: np.ndarray,
    y: np.ndarray,
    out: np.ndarray,
) -> bool:
    """The zero of function j from above between the two times in ``span``, to round-off, into the first of them.

    False if the function does not begin above zero.
    """
    before, after = span[0], span[1]
    functions_of(form[AT])(form, ints, floats, piece, after, y, out)
    b, low = after, out[j]
    if low >= 0.0:
        span[0] = after
        return True
    functions_of(form[AT])(form, ints, floats, piece, before, y, out)
    a, high = before, out[j]
    if not high > 0.0:
        return False
    slow = 0
    for _ in range(200):
        width = b - a
        if low == 0.0:
            break
        share = 0.5 if slow >= 2 else high / (high - low)
        t = min(max(a + share * width, np.nextafter(a, b)), np.nextafter(b, a))
        if not (a < t < b):
            break
        functions_of(form[AT])(form, ints, floats, piece, t, y, out)
        reach = max(1e-4 * width, 2.0 * EPS * abs(t))
        if out[j] <= 0.0:
            b, low, near = t, out[j], t - reach
        else:
            a, high, near = t, out[j], t + reach
        if low < 0.0 and a < near < b:
            functions_of(form[AT])(form, ints, floats, piece, near, y, out)
            if out[j] <= 0.0:
                b, low = near, out[j]
            else:
                a, high = near, out[j]
        slow = slow + 1 if b - a > 0.25 * width and slow < 2 else 0
    span[0] = a if high < -low else b
    return True


@bare
def _narrowed(asking: np.ndarray, state: np.ndarray) -> tuple[int, int]:
    """Leave out what is proven to have no event; how many functions are left, and how many are not resolved."""
    left, unresolved = 0, 0
    for j in range(asking.size):
        asking[j] = asking[j] and state[j] < 2
        if asking[j]:
            left += 1
            unresolved += 1 if state[j] == 0 else 0
    return left, unresolved


@part
def first_event(
    form: Any,
    ints: np.ndarray,
    floats: np.ndarray,
    piece: np.ndarray,
    tables: np.ndarray,
    noise: np.ndarray,
    y: np.ndarray,
    which: np.ndarray,
    at: np.ndarray,
) -> int:
    """The first event in a step: NOTHING, EVENT with its time ``at`` (1,) and the functions (f,) that cross, or
    SPECIAL."""
    f = noise.size
    if f == 0:
        return NOTHING
    start, end = piece[0], piece[0] + piece[1]
    if not end - start > _SHORTEST * abs(end):
        return SPECIAL
    middle = _LENGTHS[0]
    coarse, fine = tables[:middle], tables[middle:]
    coarse_parts, fine_parts = coarse[middle - _PARTS_OF[0] :], fine[_LENGTHS[1] - _PARTS_OF[1] :]
    values = np.empty((FINE_DEGREE + 1 + _CHECK_COUNT, f))
    error, state = np.empty(f), np.empty(f, dtype=np.int64)
    bounds, kept = np.empty((_WAITING, 2)), np.empty((_WAITING + 1 + PARTS, FINE_DEGREE + 1))
    ends = np.empty((128, 2))
    ends[0, 0], ends[0, 1] = start, end
    asked, asking = np.empty((128, f), dtype=np.bool_), np.empty(f, dtype=np.bool_)
    for j in range(f):
        asked[0, j] = True
    waiting = 1
    short, long = np.empty((f, COARSE + 1)), np.empty((f, FINE_DEGREE + 1))
    befores, afters, out, span, zeros = np.empty(f), np.empty(f), np.empty(f), np.empty(2), np.empty(f)
    while waiting:
        waiting -= 1
        a, b = ends[waiting, 0], ends[waiting, 1]
        for j in range(f):
            asking[j] = asked[waiting, j]
        if not _series(
            form,
            ints,
            floats,
            piece,
            a,
            b,
            COARSE,
            coarse,
            noise,
            y,
            values,
            short,
            error,
            state,
        ):
            return SPECIAL
        left, unresolved = _narrowed(asking, state)
        if left == 0:
            continue
        is_fine = unresolved > 0
        if is_fine:
            if not _series(
                form,
                ints,
                floats,
                piece,
                a,
                b,
                FINE_DEGREE,
                fine,
                noise,
                y,
                values,
                long,
                error,
                state,
            ):
                return SPECIAL
            left, unresolved = _narrowed(asking, state)
            if left == 0:
                continue
        if unresolved:
            if not b - a > _SHORTEST * max(abs(a), abs(b)) or waiting + 2 > ends.shape[0]:
                return SPECIAL
            middle = 0.5 * (a + b)
            ends[waiting, 0], ends[waiting, 1] = middle, b
            ends[waiting + 1, 0], ends[waiting + 1, 1] = a, middle
            for j in range(f):
                asked[waiting, j] = asked[waiting + 1, j] = asking[j]
            waiting += 2
            continue
        first, found = -1, 0
        for j in range(f):
            befores[j] = math.inf
            if not asking[j]:
                continue
            if is_fine:
                falls, x, z = _first_fall(long[j], error[j], fine_parts, bounds, kept)
            else:
                falls, x, z = _first_fall(short[j], error[j], coarse_parts, bounds, kept)
            if falls:
                if x < -1.5:
                    return SPECIAL
                befores[j] = b if x == 1.0 else a + (b - a) * 0.5 * (1.0 + x)
                afters[j] = b if z == 1.0 else a + (b - a) * 0.5 * (1.0 + z)
                found += 1
                if first < 0 or befores[j] < befores[first]:
                    first = j
        if found == 0:
            continue
        span[0], span[1] = befores[first], afters[first]
        ok = _zero(form, ints, floats, piece, first, span, y, out)
        time = span[0]
        if not ok or time <= start:
            return SPECIAL
        same = 4.0 * EPS * max(abs(start), abs(end))
        for j in range(f):
            zeros[j] = math.inf
        zeros[first] = time
        for j in range(f):
            if j != first and befores[j] <= time + same:
                span[0], span[1] = befores[j], afters[j]
                if not _zero(form, ints, floats, piece, j, span, y, out):
                    return SPECIAL
                zeros[j] = span[0]
                if zeros[j] < time:
                    first, time = j, zeros[j]
        if time <= start:
            return SPECIAL
        if not _falling_at(
            form, ints, floats, piece, time, first, afters[first], noise, y, zeros, which, asking, out
        ):
            return SPECIAL
        at[0] = time
        return EVENT
    return NOTHING


@bare
def _falling_at(
    form: Any,
    ints: np.ndarray,
    floats: np.ndarray,
    piece: np.ndarray,
    time: float,
    first: int,
    after: float,
    noise: np.ndarray,
    y: np.ndarray,
    zeros: np.ndarray,
    which: np.ndarray,
    is_zero: np.ndarray,
    out: np.ndarray,
) -> bool:
    """Functions that cross zero together with the first one, as in ``first_crossing``."""
    f = noise.size
    for j in range(f):
        which[j] = j == first
    if not functions_of(form[AT])(form, ints, floats, piece, time, y, out):
        return False
    others = 0
    for j in range(f):
        is_zero[j] = j != first and abs(out[j]) <= noise[j]
        others += 1 if is_zero[j] else 0
    if others == 0:
        return True
    start, end = piece[0], piece[0] + piece[1]
    same = 4.0 * EPS * max(abs(start), abs(end))
    longest, looks = max(after - time, same), 56
    for k in range(56):
        if k >= looks:
            break
        t = min(time + longest * 2.0 ** (k - 51), max(end, after))
        if not functions_of(form[AT])(form, ints, floats, piece, t, y, out):
            return False
        if looks == 56 and out[first] < -noise[first]:
            looks = min(k + 5, 56)
        for j in range(f):
            if is_zero[j] and out[j] < -noise[j]:
                which[j] = True
    for j in range(f):
        if is_zero[j] and not which[j] and zeros[j] <= time + same:
            which[j] = True
    return True
