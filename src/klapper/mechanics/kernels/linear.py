"""The compiled form of linear systems: constant matrices by entries, constant directions by rows.

``index`` from HEADER on: n, m, d, p, w, u; then places (N: in ``data``, I: in ``index``) of

     0 mass N, count    2 D + G: starts of rows I, columns I, entries N, count    6 the same of K + N    10 D    14 K
    18 N
    22 load N    23 dead load N    24 contact columns I, rows N    26 offsets I, rates I, rate sizes I
    29 has normal, ε, law number, limit, ratio: N    30 constraint columns I, rows N, offsets I
    33 K + N and D + G at the places of both: N
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from klapper.mechanics.compiled_form import Tables
from klapper.mechanics.kernels.given import coefficient
from klapper.mechanics.kernels.signatures import form_function, inlined

_N = Tables.HEADER
_AT = _N + 6
MASS, RATE, POSITION, DAMPING, STIFFNESS, CIRCULATORY = _AT, _AT + 2, _AT + 6, _AT + 10, _AT + 14, _AT + 18
LOAD, DEAD, ROWS, OFFSETS, LAWS, JOINTS = _AT + 22, _AT + 23, _AT + 24, _AT + 26, _AT + 29, _AT + 30
TANGENTS = _AT + 33


@inlined
def _subtract(index: np.ndarray, data: np.ndarray, at: int, x: np.ndarray, out: np.ndarray) -> None:
    """out −= A x for the matrix whose places stand at ``index[at]``."""
    starts, columns, entries = index[at], index[at + 1], index[at + 2]
    if index[at + 3] == 0:
        return
    for i in range(out.size):
        total = out[i]
        for e in range(index[starts + i], index[starts + i + 1]):
            total -= data[entries + e] * x[index[columns + e]]
        out[i] = total


@inlined
def _quadratic(index: np.ndarray, data: np.ndarray, at: int, x: np.ndarray, y: np.ndarray) -> float:
    """yᵀ A x."""
    starts, columns, entries = index[at], index[at + 1], index[at + 2]
    total = 0.0
    if index[at + 3] == 0:
        return total
    for i in range(y.size):
        for e in range(index[starts + i], index[starts + i + 1]):
            total += y[i] * data[entries + e] * x[index[columns + e]]
    return total


@form_function("mass", allocates=False)
def mass(index: np.ndarray, data: np.ndarray, q: np.ndarray, out: np.ndarray) -> None:
    at = index[MASS]
    for e in range(out.size):
        out[e] = data[at + e]


@form_function("force", allocates=False)
def force(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    load = index[LOAD]
    for i in range(out.size):
        out[i] = data[load + i]
    _subtract(index, data, RATE, v, out)
    _subtract(index, data, POSITION, q, out)


@form_function("tangents", allocates=False)
def tangents(
    index: np.ndarray,
    data: np.ndarray,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    by_position: np.ndarray,
    by_velocity: np.ndarray,
) -> None:
    """Entries of K + N and of D + G, where either has one."""
    stiff, rate = index[TANGENTS], index[TANGENTS + 1]
    for e in range(by_position.size):
        by_position[e] = -data[stiff + e]
        by_velocity[e] = -data[rate + e]


@form_function("gaps", allocates=False)
def gaps(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, which: np.ndarray, out: np.ndarray
) -> None:
    width, d = index[_N + 4], index[_N + 2]
    columns, rows, offsets = index[ROWS], index[ROWS + 1], index[OFFSETS]
    for k in range(which.size):
        i = which[k]
        offset = index[offsets + i]
        if offset < 0:
            out[k] = math.nan
            continue
        total = 0.0
        for e in range(width):
            total += data[rows + i * (1 + d) * width + e] * q[index[columns + i * width + e]]
        out[k] = total + data[offset]


@form_function("directions", allocates=False)
def directions(
    index: np.ndarray,
    data: np.ndarray,
    t: float,
    q: np.ndarray,
    which: np.ndarray,
    columns: np.ndarray,
    rows: np.ndarray,
    rates: np.ndarray,
) -> None:
    width, d = index[_N + 4], index[_N + 2]
    for k in range(which.size):
        i = which[k]
        for e in range(width):
            columns[k, e] = index[index[ROWS] + i * width + e]
            for a in range(1 + d):
                rows[k, a, e] = data[index[ROWS + 1] + (i * (1 + d) + a) * width + e]
        offset = index[index[OFFSETS] + i]
        rates[k, 0] = data[offset + 1] if offset >= 0 else 0.0
        rate, size = index[index[OFFSETS + 1] + i], index[index[OFFSETS + 2] + i]
        for a in range(d):
            rates[k, 1 + a] = data[rate + a] if a < size else 0.0


@form_function("curvature", allocates=False)
def curvature(
    index: np.ndarray,
    data: np.ndarray,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    which: np.ndarray,
    out: np.ndarray,
) -> None:
    """Of given motions: directions do not turn."""
    d = index[_N + 2]
    for k in range(which.size):
        i = which[k]
        offset = index[index[OFFSETS] + i]
        out[k, 0] = data[offset + 2] if offset >= 0 else 0.0
        rate, size = index[index[OFFSETS + 1] + i], index[index[OFFSETS + 2] + i]
        for a in range(d):
            out[k, 1 + a] = data[rate + size + a] if a < size else 0.0


@form_function("laws", allocates=False)
def laws(index: np.ndarray, data: np.ndarray, which: np.ndarray, speed: np.ndarray, out: np.ndarray) -> None:
    for k in range(which.size):
        law = given_law(index, data, which[k], out, k)
        if law >= 0:
            out[k, 2] = coefficient(index, data, law, speed[k])


@inlined
def given_law(index: np.ndarray, data: np.ndarray, contact: int, out: np.ndarray, k: int) -> int:
    """Row k of the laws without μ; returns the number of the friction law, −1 if there is none."""
    at = index[LAWS] + 5 * contact
    for e in range(5):
        out[k, e] = data[at + e]
    law = int(out[k, 2])
    out[k, 2] = 0.0 if law < 0 else math.nan
    return law


def laws_of(own: Any) -> Any:
    """The laws where friction is a function of the user's: ``own`` (index, data, law, speed) → μ."""

    def laws(
        index: np.ndarray, data: np.ndarray, which: np.ndarray, speed: np.ndarray, out: np.ndarray
    ) -> None:
        for k in range(which.size):
            law = given_law(index, data, which[k], out, k)
            if law >= 0:
                mu = own(index, data, law, speed[k])
                if mu >= 0.0:
                    out[k, 2] = mu

    return laws


@form_function("residuals", allocates=False)
def residuals(index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, out: np.ndarray) -> None:
    width = index[_N + 5]
    for i in range(out.size):
        total = data[index[index[JOINTS + 2] + i]]
        for e in range(width):
            total += data[index[JOINTS + 1] + i * width + e] * q[index[index[JOINTS] + i * width + e]]
        out[i] = total


@form_function("constraint_directions", allocates=False)
def constraint_directions(
    index: np.ndarray,
    data: np.ndarray,
    t: float,
    q: np.ndarray,
    columns: np.ndarray,
    rows: np.ndarray,
    rates: np.ndarray,
) -> None:
    width = index[_N + 5]
    for i in range(rates.size):
        for e in range(width):
            columns[i, e] = index[index[JOINTS] + i * width + e]
            rows[i, e] = data[index[JOINTS + 1] + i * width + e]
        rates[i] = data[index[index[JOINTS + 2] + i] + 1]


@form_function("constraint_curvature", allocates=False)
def constraint_curvature(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    for i in range(out.size):
        out[i] = data[index[index[JOINTS + 2] + i] + 2]


@form_function("potential", allocates=False)
def potential(index: np.ndarray, data: np.ndarray, q: np.ndarray) -> float:
    total = 0.5 * _quadratic(index, data, STIFFNESS, q, q)
    for i in range(q.size):
        total -= data[index[DEAD] + i] * q[i]
    return total


@form_function("powers", allocates=False)
def powers(
    index: np.ndarray, data: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    total = 0.0
    for i in range(v.size):
        total += v[i] * (data[index[LOAD] + i] - data[index[DEAD] + i])
    out[0] = total - _quadratic(index, data, CIRCULATORY, q, v)
    out[1] = _quadratic(index, data, DAMPING, v, v)
