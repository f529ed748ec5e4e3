"""The impulse of one contact with friction, in closed form."""

from __future__ import annotations

import numpy as np

from klapper.complementarity.kernels.contact_local import eigen_2x2, solve_contact
from klapper.machine_code import njit
from klapper.schemes.kernels.linear_form import FRICTION, LIMIT, NORMAL


@njit(cache=True, error_model="numpy")
def solve_single(
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
    """For one active contact with a normal direction."""
    i, width = active[0], impulse.shape[1]
    if active.size != 1 or laws[NORMAL, i] == 0.0:
        return np.inf
    w, q = np.zeros(9), np.zeros(3)
    for a in range(width):
        q[a] = b[a]
        for c in range(width):
            here, there = delassus[i * width + a, i * width + c], delassus[i * width + c, i * width + a]
            w[3 * a + c] = 0.5 * (here + there)
    size = abs(w[4]) + abs(w[8])
    u, v = (w[1] / w[0], w[2] / w[0]) if w[0] > 0.0 else (0.0, 0.0)
    normal, first, second, _ = solve_contact(
        (q[0], q[1], q[2]),
        (w[0], w[1], w[2]),
        eigen_2x2(w[4] - u * w[1], w[5] - u * w[2], w[8] - v * w[2], size),
        eigen_2x2(w[4], w[5], w[8], size),
        laws[FRICTION, i],
        laws[LIMIT, i] * step,
        0.0,
    )
    impulse[i, 0], impulse[i, 1] = normal, first
    if width == 3:
        impulse[i, 2] = second
    return 0.0 if np.isfinite(normal) and w[0] > 0.0 else np.inf
