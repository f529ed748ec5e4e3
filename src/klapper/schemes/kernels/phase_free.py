"""The parts of a compiled phase in which nothing is held and nothing slides, so that free motion compiles less.

The same as the functions of these names in the other files, of which only the gaps, the forces and the mass are left.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klapper.schemes.form_kernels.compiling import apart
from klapper.schemes.kernels.phase_parts import (
    AT,
    DATA,
    INDEX,
    advance_of,
    bring_of,
    force_of,
    gaps_of,
)
from klapper.schemes.kernels.phase_rows import (
    AHEAD,
    COUNT,
    DEPTH,
    FINE,
    HAS_ADVANCE,
    NOT_FINITE,
    NQ,
    NV,
    PUSH,
    VECTORS,
    WALL,
    WATCHED,
    divide_by_mass,
    line,
    numbers,
    put,
    table,
    take_depths,
    take_mass,
    take_powers,
    take_rate,
)
from klapper.schemes.kernels.phase_steps import between


@apart
def derivative(
    form: Any, ints: np.ndarray, floats: np.ndarray, t: float, y: np.ndarray, out: np.ndarray
) -> int:
    nq, n = ints[NQ], ints[NV]
    motion, vectors = nq + n, table(floats, ints, VECTORS)
    q, v, push = y[:nq], y[nq:motion], vectors[PUSH, :n]
    ints[COUNT] += 1
    bring_of(form[AT])(form[INDEX], form[DATA], t)
    force_of(form[AT])(form[INDEX], form[DATA], t, q, v, push)
    if not take_mass(form, ints, floats, q):
        return NOT_FINITE
    divide_by_mass(ints, floats, push, out[nq:motion])
    out[motion + 2] = 0.0
    take_powers(form, ints, floats, t, q, v, out[motion : motion + 2])
    take_rate(form, ints, floats, q, v, out[:nq])
    return FINE


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
    watched, depth = numbers(ints, WATCHED), line(floats, ints, DEPTH)
    between(t, piece, y)
    bring_of(form[AT])(form[INDEX], form[DATA], t)
    gaps_of(form[AT])(form[INDEX], form[DATA], t, y[: ints[NQ]], watched, out[: watched.size])
    for i in range(watched.size):
        out[i] += depth[i]
    return y.size > 0  # a value, not a constant, which would be of another type


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
    take_depths(form, ints, floats, piece, tolerance, noise)
    return y.size > 0


@apart
def without_drift(
    form: Any,
    ints: np.ndarray,
    floats: np.ndarray,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    pushed: np.ndarray,
) -> bool:
    if ints[HAS_ADVANCE]:
        vectors, n, nq = table(floats, ints, VECTORS), ints[NV], ints[NQ]
        for i in range(n):
            vectors[WALL, i] = 0.0
        put(q, vectors[AHEAD])
        advance_of(form[AT])(form[INDEX], form[DATA], vectors[AHEAD, :nq], vectors[WALL, :n], q)
    return q.size > 0


@apart
def turning_rate(
    ints: np.ndarray, floats: np.ndarray, y: np.ndarray, slope: np.ndarray, ahead: float
) -> float:
    return 0.0


@apart
def renew(form: Any, ints: np.ndarray, floats: np.ndarray, t: float, y: np.ndarray) -> bool:
    return y.size == 0
