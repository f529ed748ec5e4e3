"""The smooth friction law on a shaken incline: no switches, no closed form, and a step that ε dictates.

    ξ'' = A + B sin τ − (2/π) arctan(ξ'/ε)      Vielsack, section 7

A Taylor series of order 24 per step; its coefficients follow from each other with u = ξ'/ε, q = 1 + u², g = 1/q and
(arctan u)' = g u'. The step is chosen so that the last coefficients are below round-off. Where the mass nearly sticks
the equation is stiff, with the rate 2/(π ε), and the steps of this as of any explicit method shrink like ε.
"""

from __future__ import annotations

from math import atan, cos, exp, pi, sin

import numpy as np

from klapper.analysis.kernels.shaken_model import Model
from klapper.machine_code import njit

ORDER = 24
_TRUNCATION = 1e-17


@njit(cache=True)
def smooth_motion(
    m: Model,
    start: float,
    v: float,
    until: float,
    times: np.ndarray,
    velocity: np.ndarray,
    distance: np.ndarray,
) -> tuple[float, float, float, int]:
    """Velocity at ``until``, distance covered, sensitivity ∂v(until)/∂v(start), number of steps.

    ``velocity`` (k,) and ``distance`` (k,) are filled at the instants ``times`` (k,), which rise within the interval.
    """
    series, inverse = np.empty(ORDER + 1), np.empty(ORDER + 1)
    t, x, damped, steps, saved = start, 0.0, 0.0, 0, 0
    while t < until:
        _expand(m, t, v, series, inverse)
        h = min(_step(m, series), until - t)
        if t + h == t or until - (t + h) < 1e-15 * until:
            h = until - t
        while saved < times.size and times[saved] <= t + h:
            velocity[saved] = _value(series, times[saved] - t)
            distance[saved] = x + _integral(series, times[saved] - t)
            saved += 1
        x += _integral(series, h)
        damped += 2.0 / pi * m.damping * _integral(inverse, h)
        v = _value(series, h)
        t = until if h == until - t else t + h
        steps += 1
    return v, x, exp(-damped), steps


@njit(cache=True)
def smooth_force(m: Model, v: float) -> float:
    return 2.0 / pi * atan(v * m.damping)


@njit(cache=True)
def _expand(m: Model, t: float, v: float, series: np.ndarray, inverse: np.ndarray) -> None:
    """Coefficients of ξ' and of g about t."""
    u, square = np.empty(ORDER + 1), np.empty(ORDER + 1)
    series[0], u[0] = v, v * m.damping
    square[0] = 1.0 + u[0] * u[0]
    inverse[0] = 1.0 / square[0]
    friction = smooth_force(m, v)
    load = m.pull + m.shaking * sin(t)
    derivative, next_derivative, factorial = m.shaking * cos(t), -m.shaking * sin(t), 1.0
    for k in range(ORDER):
        series[k + 1] = (load - friction) / (k + 1)
        u[k + 1] = series[k + 1] * m.damping
        friction = 0.0
        for i in range(k + 1):
            friction += (i + 1) * u[i + 1] * inverse[k - i]
        friction *= 2.0 / pi / (k + 1)
        total, product = 0.0, 0.0
        for i in range(k + 2):
            total += u[i] * u[k + 1 - i]
        square[k + 1] = total
        for i in range(1, k + 2):
            product += square[i] * inverse[k + 1 - i]
        inverse[k + 1] = -product / square[0]
        factorial *= k + 1
        load = derivative / factorial
        derivative, next_derivative = next_derivative, -derivative


@njit(cache=True)
def _step(m: Model, series: np.ndarray) -> float:
    """The step at which the last two terms of the series are below round-off of the velocity."""
    scale = _TRUNCATION * max(abs(series[0]), 1.0 / m.damping)
    step = 1.0
    for k in (ORDER - 1, ORDER):
        if series[k] != 0.0:
            step = min(step, (scale / abs(series[k])) ** (1.0 / k))
    return step


@njit(cache=True)
def _value(series: np.ndarray, d: float) -> float:
    total = 0.0
    for k in range(ORDER, -1, -1):
        total = total * d + series[k]
    return total


@njit(cache=True)
def _integral(series: np.ndarray, d: float) -> float:
    total = 0.0
    for k in range(ORDER, -1, -1):
        total = total * d + series[k] / (k + 1)
    return total * d
