"""Normal impulses of contacts without friction, from the start: what does not settle by exchange alone."""

from __future__ import annotations

import numpy as np
from numba import njit

from klapper.complementarity.kernels.batch import solve_one
from klapper.schemes.kernels.linear_contacts import ROUND_OFF, solve_smooth


@njit(cache=True, error_model="numpy")
def solve_stubborn(
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
    """By exchange of contacts; if that fails, by :func:`solve_afresh`."""
    residual = solve_smooth(delassus, laws, step, tolerance, active, b, places, numbers, impulse)
    if residual <= tolerance:
        return residual
    residual = solve_afresh(delassus, laws, step, tolerance, active, b, places, numbers, impulse)
    places[3, 0] = 0
    for i in range(impulse.shape[0]):
        places[1, i] = 1 if impulse[i, 0] > 0.0 else 0
    return residual


@njit(cache=True, error_model="numpy")
def solve_afresh(
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
    """The problem among the contacts that press or would penetrate, with more of them until no other one would."""
    m = delassus.shape[0]
    chosen, right = np.zeros(m, np.bool_), np.zeros(m)
    count = 0
    for k in range(active.size):
        i = active[k]
        right[i] = b[k]
        chosen[i] = right[i] < 0.0 or impulse[i, 0] > 0.0
        count += chosen[i]
    while True:
        among = np.flatnonzero(chosen)
        matrix, offset = np.empty((count, count)), np.empty(count)
        start, x = np.empty(count, np.bool_), np.empty(count)
        for k in range(count):
            offset[k] = right[among[k]]
            start[k] = impulse[among[k], 0] > 0.0
            for j in range(count):
                matrix[k, j] = delassus[among[k], among[j]]
        status, _, _, residual = solve_one(matrix, offset, start, tolerance, x)
        for k in range(active.size):
            impulse[active[k], 0] = 0.0
        if status != 0:
            return np.inf
        for k in range(count):
            impulse[among[k], 0] = x[k]
        missing = 0
        for k in range(active.size):
            i = active[k]
            if not chosen[i]:
                y, terms = right[i], abs(right[i])
                for j in range(count):
                    term = delassus[i, among[j]] * x[j]
                    y += term
                    terms += abs(term)
                if y < -ROUND_OFF * terms:
                    chosen[i] = True
                    missing += 1
                elif y < 0.0:
                    residual = max(residual, -y / terms)
        if missing == 0:
            return residual
        count += missing
