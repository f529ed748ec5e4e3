"""Newton's law at an instant in compiled code, as :func:`klapper.schemes.phase_impact.newton_impact`."""

from __future__ import annotations

import math

import numpy as np

from klapper.schemes.form_kernels.compiling import inner
from klapper.schemes.kernels.event_room import Loop, solved_few
from klapper.schemes.kernels.event_touching import constraint_forces, friction_at, hold_constraints
from klapper.schemes.kernels.phase_packing import HAS_NORMAL, RESTITUTION
from klapper.schemes.kernels.phase_rows import (
    NORMAL,
    NV,
    PATCH,
    RATE,
    RESPONSE,
    ROWS,
    SCALE,
    SIZE,
    VECTORS,
    WHICH,
    D,
    K,
    M,
    P,
    S,
    numbers,
    table,
)


@inner
def impact(g: Loop, v: np.ndarray, after: np.ndarray) -> bool:
    """Impulses of the rows, the velocity after them, losses (5,) as in ``Impact`` but for the kinetic energy, and which
    of the touching contacts take part; False where the general code has to decide."""
    ints, floats, laws = g.touch_ints, g.touch_floats, g.laws
    u, quiet, forces, part = g.velocities, g.quiet, g.forces, g.part
    contacts, normals, patches = numbers(ints, WHICH), numbers(ints, NORMAL), numbers(ints, PATCH)
    response, scales = table(floats, ints, RESPONSE), table(floats, ints, SCALE)
    n, k, m, s, d, p, r = ints[NV], ints[K], ints[M], ints[S], ints[D], ints[P], ints[SIZE]
    c = r - p
    matrix, value, back = np.empty((c, c)), np.empty(c), np.empty((p, c + 1))
    if not hold_constraints(ints, floats, u, matrix, value, back):
        return False
    speed, friction = np.zeros(k), np.empty((s, m))
    for i in range(s):
        square = 0.0
        for a in range(d):
            square += (u[m + i * d + a] / scales[i, a]) ** 2 if scales[i, a] > 0.0 else 0.0
        speed[patches[i]] = math.sqrt(square)
    friction_at(g, speed, friction)
    for i in range(k):
        part[i] = laws[contacts[i], HAS_NORMAL] == 0.0
    asked, own, taken, limited = np.empty(c, np.int64), np.empty(m, np.int64), 0, 0
    for i in range(m):
        if u[i] <= quiet[i]:
            part[normals[i]] = True
            asked[taken] = own[taken] = i
            value[i] += laws[contacts[normals[i]], RESTITUTION] * min(u[i], 0.0)
            taken += 1
    pressed, rough = taken, np.empty((s, m))
    for i in range(s):
        if not part[patches[i]]:
            continue
        total = 0.0
        for j in range(pressed):
            rough[limited, j] = friction[i, own[j]]
            total += friction[i, own[j]]
        if total > 0.0:
            for a in range(d):
                asked[taken] = m + i * d + a
                taken += 1
            limited += 1
    small, right, x = np.empty((taken, taken)), np.empty(taken), np.zeros(taken)
    for i in range(taken):
        right[i] = value[asked[i]]
        for j in range(taken):
            small[i, j] = matrix[asked[i], asked[j]]
    friction_of = rough[:limited, :pressed].copy()
    if not solved_few(g, small, right, pressed, d, friction_of, np.zeros(limited), False, x):
        return False
    for i in range(r):
        forces[i] = 0.0
    for i in range(taken):
        forces[asked[i]] = x[i]
    constraint_forces(ints, back, forces)
    for j in range(n):
        after[j] = v[j]
        for i in range(r):
            after[j] += response[i, j] * forces[i]
    _book(ints, floats, v, after, forces, g.books)
    return True


@inner
def _book(
    ints: np.ndarray,
    floats: np.ndarray,
    v: np.ndarray,
    after: np.ndarray,
    forces: np.ndarray,
    losses: np.ndarray,
) -> None:
    """Work of moving walls, and what friction and the impact take [J]."""
    rows, rates = table(floats, ints, ROWS), table(floats, ints, VECTORS)[RATE]
    for i in range(5):
        losses[i] = 0.0
    first, last = ints[M], ints[M] + ints[S] * ints[D]
    for i in range(ints[SIZE]):
        if forces[i] == 0.0:
            continue
        middle = rates[i]
        for j in range(ints[NV]):
            middle += rows[i, j] * 0.5 * (v[j] + after[j])
        losses[0] -= forces[i] * rates[i]
        losses[2 if first <= i < last else 3] -= forces[i] * middle
