"""Stick of a mass on a shaken incline with spring and damper: closed form, and the instant at which it ends.

    ζ'' + c ζ' + κ ζ = A + B sin τ,   ρ = κ ζ + c ζ',   ζ = ξ − ξ₀,   κ = 1/ε_e,   c = 1/ε_d      Vielsack (27)

(20) is c = 0 and (24) is κ = 0, with ζ the distance covered. The solution is a wave of the period of the shaking and a
free motion that dies out (or does not, without a damper). The end |ρ| = 1 is searched in steps that are proven: either
no limit can be reached inside, by a bound on ρ'' or on the free motion, or ρ is monotone and a sign decides.
"""

from __future__ import annotations

from math import cos, exp, expm1, sin, sqrt

from klapper.analysis.kernels.shaken_model import DAMPER, SPRING, Model
from klapper.machine_code import njit

_ROUND_OFF = 4e-16


@njit(cache=True)
def free_motion(m: Model, d: float) -> tuple[float, float]:
    """e^(−c d/2) cosh(γ d) and e^(−c d/2) sinh(γ d)/γ with γ² = c²/4 − κ of either sign, κ > 0."""
    half = 0.5 * m.damping
    square = half * half - m.stiffness
    if square >= 0.0:
        root = sqrt(square)
        decay = exp(-m.stiffness / (half + root) * d)
        difference = -expm1(-2.0 * root * d) / (2.0 * root) if root > 0.0 else d
        return decay * 0.5 * (1.0 + exp(-2.0 * root * d)), decay * difference
    root = sqrt(-square)
    decay = exp(-half * d)
    return decay * cos(root * d), decay * sin(root * d) / root


@njit(cache=True)
def wave(m: Model) -> tuple[float, float]:
    """(P, Q) of the forced wave: ζ = A/κ + P sin τ + Q cos τ, or ζ' = A/c + P sin τ + Q cos τ without a spring."""
    if m.kind == DAMPER:
        scale = m.shaking / (1.0 + m.damping * m.damping)
        return scale * m.damping, -scale
    detuning = m.stiffness - 1.0
    scale = m.shaking / (detuning * detuning + m.damping * m.damping)
    return scale * detuning, -scale * m.damping


@njit(cache=True)
def force_wave(m: Model) -> tuple[float, float]:
    """(S, C) of the forced wave of the force: ρ = A + S sin τ + C cos τ."""
    p, q = wave(m)
    if m.kind == DAMPER:
        return m.damping * p, m.damping * q
    return m.stiffness * p - m.damping * q, m.stiffness * q + m.damping * p


@njit(cache=True)
def stick_state(m: Model, start: float, v: float, z: float, t: float) -> tuple[float, float]:
    """(ζ', ζ) at t of a stick that has (v, z) at ``start``."""
    d = t - start
    p, q = wave(m)
    sin_0, cos_0, sin_t, cos_t = sin(start), cos(start), sin(t), cos(t)
    if m.kind == DAMPER:
        free = v - (m.pull / m.damping + p * sin_0 + q * cos_0)
        moved = m.pull / m.damping * d - p * (cos_t - cos_0) + q * (sin_t - sin_0)
        moved -= free * expm1(-m.damping * d) / m.damping
        return m.pull / m.damping + p * sin_t + q * cos_t + free * exp(-m.damping * d), z + moved
    z_free = z - (m.pull / m.stiffness + p * sin_0 + q * cos_0)
    v_free = v - (p * cos_0 - q * sin_0)
    c, s = free_motion(m, d)
    half = 0.5 * m.damping
    z_end = m.pull / m.stiffness + p * sin_t + q * cos_t + z_free * (c + half * s) + v_free * s
    v_end = p * cos_t - q * sin_t - m.stiffness * s * z_free + (c - half * s) * v_free
    return v_end, z_end


@njit(cache=True)
def stick_force(m: Model, v: float, z: float) -> float:
    return m.damping * v if m.kind == DAMPER else m.stiffness * z + m.damping * v


@njit(cache=True)
def _bounds(m: Model, v: float, z: float, t: float) -> tuple[float, float, float]:
    """Bounds, from t on, of the force of the free motion and of its second and third derivative."""
    p, q = wave(m)
    if m.kind == DAMPER:
        force = abs(m.damping * (v - (m.pull / m.damping + p * sin(t) + q * cos(t))))
        return force, force * m.damping**2, force * m.damping**3
    kappa, c = m.stiffness, m.damping
    zero = z - (m.pull / kappa + p * sin(t) + q * cos(t))
    first = v - (p * cos(t) - q * sin(t))
    second = -c * first - kappa * zero
    third = -c * second - kappa * first
    fourth = -c * third - kappa * second
    fifth = -c * fourth - kappa * third
    sixth = -c * fifth - kappa * fourth
    # each derivative is a free motion too, and its energy does not grow; the force is minus the second derivative
    return (
        sqrt(second**2 + third**2 / kappa),
        sqrt(fourth**2 + fifth**2 / kappa),
        sqrt(fifth**2 + sixth**2 / kappa),
    )


@njit(cache=True)
def _force_rate(m: Model, v: float, z: float, t: float) -> float:
    acceleration = m.pull + m.shaking * sin(t) - stick_force(m, v, z)
    return m.damping * acceleration + (0.0 if m.kind == DAMPER else m.stiffness * v)


@njit(cache=True)
def stick_end(m: Model, start: float, v: float, z: float, until: float) -> tuple[float, int]:
    """First instant after ``start`` at which ρ passes +1 or −1 outwards, and which; (``until``, 0) if it does not."""
    big_s, big_c = force_wave(m)
    amplitude = sqrt(big_s * big_s + big_c * big_c)
    left, v_left, z_left = start, v, z
    free, second, third = _bounds(m, v, z, start)
    if abs(m.pull) + amplitude + free < 1.0:
        return until, 0
    left = min(start + _first_step(m, start, v, z, second + amplitude, third + amplitude), until)
    v_left, z_left = stick_state(m, start, v, z, left)
    h = 0.25
    while left < until:
        free, second, _ = _bounds(m, v_left, z_left, left)
        curvature = second + amplitude
        h_least = sqrt(8.0 * _ROUND_OFF / max(curvature, _ROUND_OFF))
        force = stick_force(m, v_left, z_left)
        slow = m.pull + big_s * sin(left) + big_c * cos(left)
        while True:
            right = min(left + h, until)
            step = right - left
            v_right, z_right = stick_state(m, start, v, z, right)
            force_right = stick_force(m, v_right, z_right)
            inside = max(abs(force), abs(force_right)) + 0.125 * curvature * step * step < 1.0
            if not inside:
                slow_right = m.pull + big_s * sin(right) + big_c * cos(right)
                inside = max(abs(slow), abs(slow_right)) + 0.125 * amplitude * step * step + free < 1.0
            if inside:
                break
            monotone = abs(_force_rate(m, v_right, z_right, right)) > curvature * step
            if monotone or h <= h_least:
                if abs(force_right) > 1.0 + _ROUND_OFF:
                    side = 1 if force_right > 0.0 else -1
                    return _limit(m, side, start, v, z, left, right), side
                break
            h = max(0.5 * h, h_least)
        left, v_left, z_left = right, v_right, z_right
        h = min(2.0 * h, 1.0)
    return until, 0


@njit(cache=True)
def _first_step(m: Model, start: float, v: float, z: float, second: float, third: float) -> float:
    """A step from a start on the limit, on which ρ provably leaves it and does not reach the other one; 0 for a start
    inside."""
    force = stick_force(m, v, z)
    if abs(force) < 1.0 - 1e-9:
        return 0.0
    side = 1.0 if force > 0.0 else -1.0
    rate = side * _force_rate(m, v, z, start)
    acceleration = side * (m.pull + m.shaking * sin(start) - force)
    if m.kind == SPRING and v == 0.0 and acceleration < 0.0:
        push = m.stiffness * -acceleration
        return min(0.5 * push / third, sqrt(1.0 / push))
    return min(0.5 * -rate / second, 0.8 / -rate) if rate < 0.0 else 0.0


@njit(cache=True)
def _limit(m: Model, side: int, start: float, v: float, z: float, left: float, right: float) -> float:
    """Instant at which ρ = side on a piece where it grows towards it: Newton's method inside the bracket."""
    t = 0.5 * (left + right)
    for _ in range(200):
        v_t, z_t = stick_state(m, start, v, z, t)
        value = side * stick_force(m, v_t, z_t) - 1.0
        if value < 0.0:
            left = t
        else:
            right = t
        slope = side * _force_rate(m, v_t, z_t, t)
        new = t - value / slope if slope > 0.0 else left
        if not left < new < right:
            new = 0.5 * (left + right)
        if abs(new - t) <= 1e-16 * t or not left < new < right:
            return new
        t = new
    return t
