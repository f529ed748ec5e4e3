"""The least that a step can cost: a loop in a few lines for smooth forces and gaps without friction, compiled by numba.

No energy ledger, no verification, no laws but Newton's; the model's functions are called through pointers and write
into given arrays. It is the limit beside which klapper's step of the double pendulum is timed.
"""

from __future__ import annotations

import time

import numba as nb
import numpy as np

from benchmarks.dynamics.users_models import GRAVITY

_number, _vector, _matrix = nb.float64, nb.float64[::1], nb.float64[:, ::1]
_FORCE = nb.types.FunctionType(nb.void(_number, _vector, _vector, _vector))
_MASS = nb.types.FunctionType(nb.void(_vector, _matrix))
_GAP = nb.types.FunctionType(nb.void(_number, _vector, _vector, _matrix))


@nb.njit(nb.void(_vector, _matrix))
def _mass(q, out):  # type: ignore[no-untyped-def]
    c = np.cos(q[0] - q[1])
    out[0, 0], out[0, 1], out[1, 0], out[1, 1] = 2.0, c, c, 1.0


@nb.njit(nb.void(_number, _vector, _vector, _vector))
def _force(t, q, v, out):  # type: ignore[no-untyped-def]
    s = np.sin(q[0] - q[1])
    out[0] = -s * v[1] ** 2 - 2 * GRAVITY * np.sin(q[0])
    out[1] = s * v[0] ** 2 - GRAVITY * np.sin(q[1])


@nb.njit(nb.void(_number, _vector, _vector, _matrix))
def _gap(t, q, gap, row):  # type: ignore[no-untyped-def]
    gap[0] = 1.2 - np.sin(q[0]) - np.sin(q[1])
    row[0, 0], row[0, 1] = -np.cos(q[0]), -np.cos(q[1])


@nb.njit(
    nb.types.Tuple((_matrix, _matrix))(_MASS, _FORCE, _GAP, _vector, _vector, nb.int64, _number, _number)
)
def _loop(mass, force, gap, q0, v0, steps, h, restitution):  # type: ignore[no-untyped-def]
    n, q, v = q0.size, q0.copy(), v0.copy()
    m, f, g, row = np.zeros((n, n)), np.zeros(n), np.zeros(1), np.zeros((1, n))
    places, speeds = np.empty((steps, n)), np.empty((steps, n))
    for k in range(steps):
        middle = q + 0.5 * h * v
        mass(middle, m)
        force((k + 0.5) * h, middle, v, f)
        gap((k + 0.5) * h, middle, g, row)
        after = v + np.linalg.solve(m, h * f)
        if g[0] <= 0.0:
            response = np.linalg.solve(m, row[0].copy())
            wanted = row[0] @ after + restitution * (row[0] @ v)
            after = after + response * max(0.0, -wanted / (row[0] @ response))
        q, v = middle + 0.5 * h * after, after
        places[k], speeds[k] = q, v
    return places, speeds


def seconds_per_step(
    position: np.ndarray, velocity: np.ndarray, step: float, steps: int
) -> tuple[float, np.ndarray]:
    """Of the double pendulum, best of some, and where it ends."""
    best, places = np.inf, position
    for _ in range(4):
        start = time.process_time()
        places, _ = _loop(_mass, _force, _gap, position, velocity, steps, step, 0.5)
        best = min(best, (time.process_time() - start) / steps)
    return best, places[-1]
