"""Impulses of contacts with friction, by sweeps over all of them."""

from __future__ import annotations

import numpy as np

from klapper.complementarity.kernels.contact_blocks import ContactBlocks, columns_from_dense, local_data
from klapper.complementarity.kernels.contact_sweep import gauss_seidel
from klapper.machine_code import njit
from klapper.schemes.kernels.linear_form import FRICTION, LIMIT, NORMAL
from klapper.schemes.kernels.linear_single import solve_single

_FINE = 0.5e-13  # residual that sweeps aim at
_QUICK_SWEEPS = 300


@njit(cache=True, error_model="numpy")
def solve_rough(
    delassus: np.ndarray,
    laws: np.ndarray,
    step: float,
    tolerance: float,
    active: np.ndarray,
    b: np.ndarray,
    places: np.ndarray,
    numbers: np.ndarray,
    impulse: np.ndarray,
) -> float:
    """The guess is in ``impulse``; a single contact is solved in closed form."""
    count, width = active.size, impulse.shape[1]
    if count == 1 and laws[NORMAL, active[0]] > 0.0:
        return solve_single(delassus, laws, step, tolerance, active, b, places, numbers, impulse)
    rows = np.full((count, 3), -1, np.int64)
    matrix = np.empty((count * width, count * width))
    free, force = np.zeros(3 * count), np.zeros(3 * count)
    kind, limit, friction = np.zeros(count, np.int8), np.empty(count), np.empty(count)
    for k in range(count):
        i = active[k]
        first = 0 if laws[NORMAL, i] > 0.0 else 1
        kind[k] = 0 if laws[NORMAL, i] > 0.0 else 1
        limit[k], friction[k] = laws[LIMIT, i] * step, laws[FRICTION, i]
        for a in range(first, width):
            rows[k, a] = k * width + a
            free[3 * k + a] = b[k * width + a]
            force[3 * k + a] = impulse[i, a]
        for a in range(width):
            for j in range(count):
                for c in range(width):
                    matrix[k * width + a, j * width + c] = delassus[i * width + a, active[j] * width + c]
    start, neighbour, push = columns_from_dense(matrix, rows)
    own, schur, tangent, mobility = local_data(start, neighbour, push)
    softest = mobility.max()
    for k in range(count):
        for a in range(2):
            if mobility[k, a] == 0.0:
                mobility[k, a] = softest
    blocks = ContactBlocks(
        start,
        neighbour,
        push,
        own,
        schur,
        tangent,
        mobility,
        kind,
        friction,
        limit,
        np.zeros(count + 1, np.int64),
        np.zeros(0, np.int64),
        np.zeros(0),
        free,
        0,
    )
    _, residual = gauss_seidel(blocks, force, 1.3, 5, _FINE, _QUICK_SWEEPS)
    for k in range(count):
        for a in range(width):
            impulse[active[k], a] = force[3 * k + a]
    return residual
