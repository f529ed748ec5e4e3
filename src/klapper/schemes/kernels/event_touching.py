"""What touches at a state, in compiled code: rows of all closed contacts, their velocities, and the mobility between
them with the two-sided constraints held. As :mod:`klapper.schemes.touching`.

Closed contacts stand in a packed phase of their own, in which all normals press and all patches stick.
"""

from __future__ import annotations

import math

import numpy as np

from klapper.schemes.form_kernels.compiling import bare, inner
from klapper.schemes.kernels.event_contacts import _definite
from klapper.schemes.kernels.event_room import TOLERANCE, Loop, gaps_at, laws_at
from klapper.schemes.kernels.phase_packing import BASE_CHANGING
from klapper.schemes.kernels.phase_rows import (
    FRICTION,
    MOBILITY,
    NORMAL,
    NV,
    PATCH,
    RATE,
    ROWS,
    SIZE,
    VECTORS,
    WHICH,
    K,
    M,
    P,
    S,
    numbers,
    table,
)
from klapper.schemes.touching import ROUND_OFF

_EPS = float(np.finfo(float).eps)
_TOUCH = 1e-2  # these as in klapper.schemes.phase_step
_CLOSED = 1e-12
_REACH = 256.0 * _EPS
_DEEP = 10.0
_INDEPENDENT = (
    1e-9  # of its own mobility: what constraints must leave of it, as in klapper.schemes.mode_decision
)
_VIOLATED = 1e-6  # as in Touching.collides


@bare
def closed_contacts(g: Loop, t: float, q: np.ndarray, v: np.ndarray) -> int:
    """Numbers of what touches; how many, or −1 if a gap is far below zero."""
    gaps_at(g, t, q, g.gaps)
    reach, fastest, k = 0.0, 0.0, 0
    for x in q:
        reach = max(reach, abs(x))
    for x in v:
        fastest = max(fastest, abs(x))
    late = 8.0 * (np.nextafter(abs(t), np.inf) - abs(t)) * fastest
    touch = max(_TOUCH * g.options[TOLERANCE], _CLOSED, _REACH * reach, late)
    for i in range(g.every.size):
        gap = g.gaps[i]
        if gap < -_DEEP * touch:
            return -1
        if gap <= touch or (math.isnan(gap) and g.laws[i, 0] == 0.0):
            g.touching[k] = i
            k += 1
    return k


@inner
def take_velocities(
    ints: np.ndarray, floats: np.ndarray, v: np.ndarray, still: float, u: np.ndarray, quiet: np.ndarray
) -> None:
    """Dᵀ v + a (r,) of all rows, and what of it counts as zero."""
    rows, rates, fastest = table(floats, ints, ROWS), table(floats, ints, VECTORS)[RATE], 0.0
    for x in v:
        fastest = max(fastest, abs(x))
    for i in range(ints[SIZE]):
        total, terms = rates[i], abs(rates[i])
        for j in range(ints[NV]):
            total += rows[i, j] * v[j]
            terms += abs(rows[i, j] * v[j])
        u[i], quiet[i] = total, max(ROUND_OFF * max(terms, fastest), still)


@bare
def collides(ints: np.ndarray, u: np.ndarray, quiet: np.ndarray, still: float) -> bool:
    """Whether the velocity must jump."""
    for i in range(ints[M]):
        if u[i] < -quiet[i]:
            return True
    for i in range(ints[SIZE] - ints[P], ints[SIZE]):
        if abs(u[i]) > max(_VIOLATED / ROUND_OFF * quiet[i], still):  # of the terms
            return True
    return False


@inner
def friction_at(g: Loop, speed: np.ndarray, out: np.ndarray) -> None:
    """μ (s, m) at sliding speeds (k,)."""
    ints, floats = g.touch_ints, g.touch_floats
    normals, patches = numbers(ints, NORMAL), numbers(ints, PATCH)
    known = table(floats, ints, FRICTION)
    for i in range(ints[S]):
        for j in range(ints[M]):
            out[i, j] = known[i, j]
    if g.base[BASE_CHANGING] == 0 or ints[S] == 0:
        return
    found = np.empty((ints[K], 5))
    laws_at(g, numbers(ints, WHICH), speed, found)
    for i in range(ints[S]):
        for j in range(ints[M]):
            if patches[i] == normals[j]:
                out[i, j] = found[patches[i], 2]


@inner
def hold_constraints(
    ints: np.ndarray, floats: np.ndarray, given: np.ndarray, matrix: np.ndarray, value: np.ndarray,
    back: np.ndarray,
) -> bool:  # fmt: skip
    """Mobility (c, c) and ``given`` values (r,) of the c contact rows when the p constraints hold.

    ``back`` (p, c + 1): their forces are −(the last column + the others times the contact forces). False if they
    depend on each other, or a contact row on them.
    """
    mobility, r, p = table(floats, ints, MOBILITY), ints[SIZE], ints[P]
    c = r - p
    for i in range(c):
        value[i] = given[i]
        for j in range(c):
            matrix[i, j] = mobility[i, j]
    if p == 0:
        return True
    root = np.empty((p, p))
    for i in range(p):
        for j in range(p):
            root[i, j] = mobility[c + i, c + j]
        for j in range(c):
            back[i, j] = mobility[c + i, j]
        back[i, c] = given[c + i]
    if not _definite(root, p):
        return False
    for j in range(c + 1):
        for i in range(p):
            for k in range(i):
                back[i, j] -= root[i, k] * back[k, j]
            back[i, j] /= root[i, i]
        for i in range(p - 1, -1, -1):
            for k in range(i + 1, p):
                back[i, j] -= root[k, i] * back[k, j]
            back[i, j] /= root[i, i]
    for i in range(c):
        for k in range(p):
            value[i] -= mobility[i, c + k] * back[k, c]
            for j in range(c):
                matrix[i, j] -= mobility[i, c + k] * back[k, j]
        if not matrix[i, i] > _INDEPENDENT * mobility[i, i]:
            return False
    return True


@bare
def constraint_forces(ints: np.ndarray, back: np.ndarray, forces: np.ndarray) -> None:
    """Those of the constraints behind those of the contacts (r,)."""
    p, c = ints[P], ints[SIZE] - ints[P]
    for i in range(p):
        total = -back[i, c]
        for j in range(c):
            total -= back[i, j] * forces[j]
        forces[c + i] = total
