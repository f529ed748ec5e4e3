"""Normal impulses of contacts without friction by all means: active sets, then Lemke."""

from __future__ import annotations

import numpy as np

from klapper.complementarity.kernels.batch import solve_one
from klapper.machine_code import njit
from klapper.schemes.kernels.linear_contacts import solve_smooth
from klapper.schemes.kernels.linear_pivoting import among_those_that_press


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
    """By active sets and Lemke."""
    return among_those_that_press(solve_one, delassus, tolerance, active, b, impulse)
