"""A phase packed into integers and numbers by compiled code, from the contacts of the phase and their modes.

The model is given by ``base`` (integers, see the names below), ``places`` (2, e) and ``inverse`` of its mass, and by
its ``laws`` (m, 5) and friction coefficients μ (m, m) at rest.
"""

from __future__ import annotations

import numpy as np

from klapper.schemes.form_kernels.compiling import apart, bare
from klapper.schemes.kernels.phase_rows import (
    C_COLUMNS,
    C_ENTRIES,
    C_RATES,
    CHANGING,
    COLUMNS,
    COUNT,
    DEPTH,
    ENTRIES,
    EQUATIONS,
    FOLLOWS,
    FRICTION,
    GRIP,
    HAS_CURVATURE,
    HELD,
    INTEGER_ARRAYS,
    INVERSE,
    KNOWN,
    LIMIT,
    LIMIT_SCALE,
    LOOSE,
    MASS_KIND,
    MOBILITY,
    NORMAL,
    NQ,
    NUMBER_ARRAYS,
    NV,
    PATCH,
    PLACES,
    RATES,
    REFERENCE,
    RESPONSE,
    ROWS,
    SCALARS,
    SCALE,
    SENSE,
    SIZE,
    SLIDING,
    SLIP_SPEED,
    SPREAD,
    STARTING,
    STEADY,
    STICKING,
    VECTOR_ROWS,
    VECTORS,
    WATCHED,
    WHICH,
    D,
    H,
    K,
    M,
    P,
    S,
)

(BASE_NQ, BASE_NV, BASE_D, BASE_P, BASE_MASS, BASE_CHANGING, BASE_HAS) = range(7)
BASE_POTENTIAL = BASE_HAS + 3
(BASE_STEADY, BASE_WIDTH, BASE_C_WIDTH, BASE_CONTACTS, BASE_SIZE) = range(12, 17)
"""What ``base`` holds; six flags begin at ``BASE_HAS``, as at ``HAS_CURVATURE``."""

HAS_NORMAL, RESTITUTION, COEFFICIENT, OWN_LIMIT, RATIO = range(5)
"""Columns of ``laws``."""

SMOOTH = 0
TOUCH, STOP, RELEASE, SLIP_BEGINS, TURN = 1, 2, 3, 4, 5  # as in klapper.schemes.phase_modes
_INTEGERS, _NUMBERS = len(INTEGER_ARRAYS), len(NUMBER_ARRAYS)


def packed_room(base: np.ndarray, entries: int) -> tuple[int, int]:
    """Integers and numbers that any phase of a model may need; ``entries`` e of its mass."""
    m, n, d, p, nq = (int(base[i]) for i in (BASE_CONTACTS, BASE_NV, BASE_D, BASE_P, BASE_NQ))
    width, c_width = int(base[BASE_WIDTH]), int(base[BASE_C_WIDTH])
    r = m * (1 + d) + p
    longest = max(nq, n, r, m, entries, 3) + 1
    integers = SCALARS + 3 * (_INTEGERS + _NUMBERS)
    integers += m * (6 + width) + p * c_width + r + 2 * entries
    numbers = m * d * 2 + m * m + m + 2 * r * n + 2 * r * r + r * (r + 1) + n * n + VECTOR_ROWS * longest
    numbers += m * (1 + d) * (width + 1) + p * (c_width + 1) + 2 * m + 1 + r
    return integers, numbers


@bare
def _placed(ints: np.ndarray, array: int, at: int, rows: int, columns: int) -> int:
    """Where an array begins, and its shape; where the next one begins."""
    ints[array], ints[array + 1], ints[array + 2] = at, rows, columns
    return at + rows * columns


@apart
def pack(
    base: np.ndarray,
    places: np.ndarray,
    inverse: np.ndarray,
    laws: np.ndarray,
    friction: np.ndarray,
    contact: np.ndarray,
    pressed: np.ndarray,
    grip: np.ndarray,
    sense: np.ndarray,
    slip_speed: float,
    ints: np.ndarray,
    floats: np.ndarray,
    meanings: np.ndarray,
) -> int:
    """A phase of the contacts (k,) with their modes; the number of event functions, kind and contact of each in
    ``meanings``. Speeds of sliding and mobilities are not known yet."""
    nq, n, d, p = base[BASE_NQ], base[BASE_NV], base[BASE_D], base[BASE_P]
    width, c_width, e = base[BASE_WIDTH], base[BASE_C_WIDTH], places.shape[1]
    k, m, s, h, slides = contact.size, 0, 0, 0, 0
    for i in range(k):
        m += 1 if pressed[i] else 0
        s += 1 if grip[i] != SMOOTH else 0
        h += d if grip[i] == STICKING else 0
        slides += 1 if grip[i] > STICKING else 0
    h += m + p
    r, w = m + s * d + p, 0
    for i in range(laws.shape[0]):
        w += 1 if laws[i, HAS_NORMAL] > 0.0 else 0
    w -= m
    ints[NQ], ints[NV], ints[K], ints[M], ints[S], ints[D], ints[P], ints[H] = nq, n, k, m, s, d, p, h
    ints[MASS_KIND], ints[CHANGING] = base[BASE_MASS], 1 if base[BASE_CHANGING] and slides else 0
    for i in range(6):
        ints[HAS_CURVATURE + i] = base[BASE_HAS + i]
    ints[STEADY], ints[SIZE], ints[KNOWN], ints[COUNT], ints[LOOSE] = base[BASE_STEADY], r, 0, 0, 0
    longest = max(nq, n, r, k, s * d, e, 3) + 1
    at = SCALARS + 3 * (_INTEGERS + _NUMBERS)
    at = _placed(ints, WHICH, at, 1, k)
    at = _placed(ints, NORMAL, at, 1, m)
    at = _placed(ints, PATCH, at, 1, s)
    at = _placed(ints, HELD, at, 1, h)
    at = _placed(ints, GRIP, at, 1, s)
    at = _placed(ints, COLUMNS, at, k, width)
    at = _placed(ints, C_COLUMNS, at, p, c_width)
    at = _placed(ints, PLACES, at, 2, e)
    at = _placed(ints, WATCHED, at, 1, w)
    at = _placed(ints, FOLLOWS, at, 1, w)
    for i in range(SCALARS + 3 * (_INTEGERS + _NUMBERS), at):
        ints[i] = 0
    at = _placed(ints, SENSE, 0, s, d)
    at = _placed(ints, FRICTION, at, s, m)
    at = _placed(ints, LIMIT, at, 1, s)
    at = _placed(ints, SCALE, at, s, d)
    at = _placed(ints, ROWS, at, r, n)
    at = _placed(ints, RESPONSE, at, r, n)
    at = _placed(ints, MOBILITY, at, r, r)
    at = _placed(ints, SPREAD, at, r, h)
    at = _placed(ints, EQUATIONS, at, h, h + 1)
    at = _placed(ints, INVERSE, at, inverse.shape[0], n)
    at = _placed(ints, VECTORS, at, VECTOR_ROWS, longest)
    at = _placed(ints, ENTRIES, at, k, (1 + d) * width)
    at = _placed(ints, RATES, at, k, 1 + d)
    at = _placed(ints, C_ENTRIES, at, p, c_width)
    at = _placed(ints, C_RATES, at, 1, p)
    at = _placed(ints, DEPTH, at, 1, w)
    at = _placed(ints, LIMIT_SCALE, at, 1, s)
    at = _placed(ints, SLIP_SPEED, at, 1, 1)
    at = _placed(ints, REFERENCE, at, 1, r)
    for i in range(at):
        floats[i] = 0.0
    which, normal, patch, held = ints[WHICH], ints[NORMAL], ints[PATCH], ints[HELD]
    own_grip, watched, follows = ints[GRIP], ints[WATCHED], ints[FOLLOWS]
    m = s = h = 0
    for i in range(k):
        ints[which + i] = contact[i]
        if pressed[i]:
            ints[normal + m] = i
            ints[held + m] = m
            m += 1
        if grip[i] != SMOOTH:
            ints[patch + s] = i
            ints[own_grip + s] = grip[i]
            s += 1
    h = m
    for i in range(s):
        at = ints[patch + i]
        for c in range(d):
            floats[ints[SENSE] + i * d + c] = sense[at, c]
            floats[ints[SCALE] + i * d + c] = laws[contact[at], RATIO] if c == 1 else 1.0
            if grip[at] == STICKING:
                ints[held + h] = m + i * d + c
                h += 1
        floats[ints[LIMIT] + i] = laws[contact[at], OWN_LIMIT]
        for j in range(m):
            floats[ints[FRICTION] + i * m + j] = friction[contact[at], contact[ints[normal + j]]]
    for i in range(p):
        ints[held + h + i] = m + s * d + i
    for i in range(e):
        ints[ints[PLACES] + i], ints[ints[PLACES] + e + i] = places[0, i], places[1, i]
    at = ints[INVERSE]
    for i in range(inverse.shape[0]):
        for j in range(n):
            floats[at + i * n + j] = inverse[i, j]
    floats[ints[SLIP_SPEED]] = slip_speed
    w, mine = 0, 0
    for i in range(laws.shape[0]):
        while mine < k and contact[mine] < i:
            mine += 1
        belongs = mine < k and contact[mine] == i
        if laws[i, HAS_NORMAL] > 0.0 and not (belongs and pressed[mine]):
            ints[watched + w] = i
            ints[follows + w] = 1 if belongs else 0
            meanings[w, 0], meanings[w, 1] = TOUCH, i
            w += 1
    return _meanings(ints, contact, grip, d, w, meanings)


@bare
def _meanings(
    ints: np.ndarray, contact: np.ndarray, grip: np.ndarray, d: int, first: int, meanings: np.ndarray
) -> int:
    """Kinds and contacts of the event functions behind those of the gaps, as ``meanings_of`` has them."""
    at = first
    for i in range(ints[M]):
        meanings[at, 0], meanings[at, 1] = RELEASE, contact[ints[ints[NORMAL] + i]]
        at += 1
    for i in range(contact.size):
        for _ in range((2 if d == 1 else 1) if grip[i] == STICKING else 0):
            meanings[at, 0], meanings[at, 1] = SLIP_BEGINS, contact[i]
            at += 1
    for i in range(contact.size):
        if grip[i] == SLIDING or grip[i] == STARTING:
            meanings[at, 0], meanings[at, 1] = STOP, contact[i]
            at += 1
            if d == 2 and grip[i] == STARTING:
                meanings[at, 0], meanings[at, 1] = TURN, contact[i]
                at += 1
    return at
