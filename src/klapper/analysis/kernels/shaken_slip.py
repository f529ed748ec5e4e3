"""Slip of a mass on a shaken incline: closed form, and the instant at which it ends.

    ξ'' = A + B sin τ − s,   s = ±1      Vielsack (14)

The acceleration vanishes where sin τ = (s − A)/B. These instants cut the period into pieces on which the velocity is
monotone, so the first zero of the velocity cannot be missed.
"""

from __future__ import annotations

from math import asin, cos, pi, sin

from klapper.analysis.kernels.shaken_model import Model
from klapper.machine_code import njit

_ROUND_OFF = 4e-16


@njit(cache=True)
def slip_velocity(m: Model, s: int, start: float, v: float, t: float) -> float:
    """Velocity at t of a slip in direction s that has the velocity v at ``start``."""
    # cos τ − cos τ₀ as a product: no digits are lost when τ is near τ₀
    return v + (m.pull - s) * (t - start) + 2.0 * m.shaking * sin(0.5 * (t + start)) * sin(0.5 * (t - start))


@njit(cache=True)
def slip_distance(m: Model, s: int, start: float, v: float, t: float) -> float:
    """Distance covered from ``start`` to t."""
    d = t - start
    wave = sin(t) - sin(start) - d * cos(start)
    return v * d + 0.5 * (m.pull - s) * d * d - m.shaking * wave


@njit(cache=True)
def slip_end(m: Model, s: int, start: float, v: float, level: float, until: float) -> tuple[float, bool]:
    """First instant after ``start`` at which s ξ' falls to ``level``; (``until``, False) if it does not."""
    noise = _ROUND_OFF * (1.0 + m.shaking + abs(v))
    left, above = start, s * v - level
    for right in _monotone_pieces(m, s):
        right = min(right, until)
        if right <= left:
            continue
        below = s * slip_velocity(m, s, start, v, right) - level
        if below < -noise:
            if above <= 0.0:
                return left, True
            return _zero(m, s, start, v, level, left, right), True
        left, above = right, below
    return until, False


@njit(cache=True)
def _monotone_pieces(m: Model, s: int) -> tuple[float, float, float]:
    """Ends of the pieces of [0, 2π] on which the velocity is monotone."""
    if abs(s - m.pull) >= m.shaking:
        return 2.0 * pi, 2.0 * pi, 2.0 * pi
    angle = asin((s - m.pull) / m.shaking)
    if angle >= 0.0:
        return angle, pi - angle, 2.0 * pi
    return pi - angle, 2.0 * pi + angle, 2.0 * pi


@njit(cache=True)
def _zero(m: Model, s: int, start: float, v: float, level: float, left: float, right: float) -> float:
    """Zero of s ξ' − level on a piece where it falls: Newton's method, kept inside the bracket."""
    t = 0.5 * (left + right)
    for _ in range(200):
        value = s * slip_velocity(m, s, start, v, t) - level
        if value > 0.0:
            left = t
        else:
            right = t
        slope = s * (m.pull - s + m.shaking * sin(t))
        new = t - value / slope if slope < 0.0 else left
        if not left < new < right:
            new = 0.5 * (left + right)
        if abs(new - t) <= 1e-16 * t or not left < new < right:
            return new
        t = new
    return t
