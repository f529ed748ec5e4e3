"""Normal impulses of contacts without friction, from the start, where the exchange of contacts finds none.

Contacts that depend on others are common in joints with many contacts on few modes: block pivoting leaves them to the
others, and where that does not settle, single pivots do (Keller).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klapper.complementarity.kernels.active_set import AMPLIFIED, block_pivoting, keller
from klapper.complementarity.kernels.linear import images
from klapper.complementarity.residuals import AMPLIFICATION
from klapper.machine_code import njit
from klapper.schemes.kernels.linear_contacts import ROUND_OFF, solve_smooth


@njit(cache=True, error_model="numpy", inline="always")
def among_those_that_press(
    solver: Any,
    delassus: np.ndarray,
    tolerance: float,
    active: np.ndarray,
    b: np.ndarray,
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
        status, _, _, residual = solver(matrix, offset, start, tolerance, x)
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


@njit(cache=True, error_model="numpy")
def pivot(
    matrix: np.ndarray, offset: np.ndarray, start: np.ndarray, tolerance: float, x: np.ndarray
) -> tuple[int, int, int, float]:
    """(0 if it is solved, 0, steps, residual), as ``solve_one`` of the batch kernels, for well scaled problems only."""
    n = offset.size
    warm = False
    for i in range(n):
        warm = warm or start[i]
    residual, steps = np.zeros(1), np.zeros(1, np.int64)
    block_pivoting(
        matrix.reshape((1, n, n)),
        offset.reshape((1, n)),
        start.reshape((1, n)),
        warm,
        x.reshape((1, n)),
        residual,
        steps,
    )
    if residual[0] <= tolerance:
        return 0, 0, steps[0], residual[0]
    status, pivots = 0, 0
    if residual[0] != AMPLIFIED:
        status, pivots = keller(matrix, offset, np.empty(n, np.bool_), x)
    y, scale, worst = np.empty(n), np.empty(n), 0.0
    if status == 0 and not images(matrix, offset, x, y, scale):
        for i in range(n):  # never above those of limit_to_load, whose rows are balanced first
            scale[i] = min(scale[i], AMPLIFICATION * abs(offset[i]))
            if scale[i] == 0.0:
                status = 1
    if status != 0:
        return 1, 0, pivots, np.inf
    for i in range(n):
        value = y[i] / scale[i] if scale[i] > 0.0 else 0.0
        worst = max(worst, abs(value) if x[i] > 0.0 else -value)
    return (0 if worst <= tolerance else 1), 0, pivots, worst


@njit(cache=True, error_model="numpy")
def solve_dependent(
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
    """By pivots, for a symmetric matrix."""
    residual = among_those_that_press(pivot, delassus, tolerance, active, b, impulse)
    places[3, 0] = 0
    for i in range(impulse.shape[0]):
        places[1, i] = 1 if impulse[i, 0] > 0.0 else 0
    return residual


@njit(cache=True, error_model="numpy")
def solve_smooth_or_dependent(
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
    """By exchange of contacts, else by pivots."""
    residual = solve_smooth(delassus, laws, step, tolerance, active, b, places, numbers, impulse)
    if residual <= tolerance:
        return residual
    return solve_dependent(delassus, laws, step, tolerance, active, b, places, numbers, impulse)
