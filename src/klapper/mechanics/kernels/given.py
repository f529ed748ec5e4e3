"""Signals at a time and friction laws at a speed, from tables that ``klapper.mechanics.compiled_form.Tables`` packs."""

from __future__ import annotations

import math

import numpy as np

from klapper.machine_code import njit
from klapper.mechanics.compiled_form import (
    CONSTANT,
    COULOMB,
    EXPONENTIAL,
    HARMONIC,
    PIECES,
    RAMP,
    STRIBECK,
    SWEEP,
    WAVE,
)
from klapper.mechanics.kernels.signatures import form_function


@njit(cache=True, error_model="numpy")
def _add(data: np.ndarray, place: int, amplitude: int, size: int, course: tuple[float, float, float]) -> None:
    """A number over time with its derivatives, times an amplitude."""
    value, rate, acceleration = course
    for k in range(size):
        data[place + k] += value * data[amplitude + k]
        data[place + size + k] += rate * data[amplitude + k]
        data[place + 2 * size + k] += acceleration * data[amplitude + k]


@njit(cache=True, error_model="numpy")
def _swept(given: np.ndarray, t: float) -> tuple[float, float, float]:
    """cos θ(t) of a sweep, as :class:`klapper.mechanics.courses.Sweep` describes it."""
    first, last, start, duration, logarithm, phase = given
    since = t - start
    inside = min(max(since, 0.0), duration)
    if logarithm != 0.0:
        frequency = first * math.exp(logarithm * (inside / duration))
        turns, growth = (frequency - first) * duration / logarithm, frequency * logarithm / duration
    else:
        growth = (last - first) / duration
        frequency, turns = (
            first + (last - first) * (inside / duration),
            inside * (first + 0.5 * growth * inside),
        )
    if since < 0.0:
        turns, growth = turns + since * first, 0.0
    elif since > duration:
        turns, growth = turns + (since - duration) * last, 0.0
    angle, speed = 2.0 * math.pi * turns + phase, 2.0 * math.pi * frequency
    sin, cos = math.sin(angle), math.cos(angle)
    return cos, -speed * sin, -(speed**2) * cos - 2.0 * math.pi * growth * sin


@njit(cache=True, error_model="numpy")
def _wave(given: np.ndarray, t: float) -> tuple[float, float, float]:
    """mean + height · cos(ω τ + phase) from its start to its end, and nothing before and after."""
    start, end, mean, height, omega, phase = given
    if t < start or t > end:
        return 0.0, 0.0, 0.0
    angle = omega * (t - start) + phase
    sin, cos = math.sin(angle), math.cos(angle)
    return mean + height * cos, -height * omega * sin, -height * omega**2 * cos


@njit(cache=True, error_model="numpy")
def _add_pieces(data: np.ndarray, place: int, table: int, size: int, t: float) -> None:
    """The cubics of a table; before and after it its first and last values."""
    count = int(data[table])
    times = data[table + 1 : table + 1 + count]
    i = min(max(int(np.searchsorted(times, t, side="right")) - 1, 0), count - 2)
    tau = min(max(t, times[0]), times[count - 1]) - times[i]
    inside = 1.0 if times[0] <= t <= times[count - 1] else 0.0
    piece = table + 1 + count + 4 * i * size
    for k in range(size):
        a, b = data[piece + k], data[piece + size + k]
        c, d = data[piece + 2 * size + k], data[piece + 3 * size + k]
        data[place + k] += ((a * tau + b) * tau + c) * tau + d
        data[place + size + k] += inside * ((3.0 * a * tau + 2.0 * b) * tau + c)
        data[place + 2 * size + k] += inside * (6.0 * a * tau + 2.0 * b)


@form_function("bring")
def bring(index: np.ndarray, data: np.ndarray, t: float) -> None:
    """Value, rate and acceleration of every signal; what functions of a user give stands in its term already."""
    at = index[1]
    for _ in range(index[0]):
        size, place, terms = index[at], index[at + 1], index[at + 2]
        at += 3
        for k in range(3 * size):
            data[place + k] = 0.0
        for _ in range(terms):
            kind, from_ = index[at], index[at + 1]
            at += 3
            if kind == CONSTANT:
                for k in range(size):
                    data[place + k] += data[from_ + k]
            elif kind == HARMONIC:
                omega = data[from_ + size]
                angle = omega * t + data[from_ + size + 1]
                cos, sin = math.cos(angle), math.sin(angle)
                for k in range(size):
                    amplitude = data[from_ + k]
                    data[place + k] += cos * amplitude
                    data[place + size + k] += -omega * sin * amplitude
                    data[place + 2 * size + k] += -(omega**2) * cos * amplitude
            elif kind == RAMP:
                for k in range(size):
                    data[place + k] += data[from_ + k] + t * data[from_ + size + k]
                    data[place + size + k] += data[from_ + size + k]
            elif kind == SWEEP:
                _add(data, place, from_, size, _swept(data[from_ + size : from_ + size + 6], t))
            elif kind == WAVE:
                _add(data, place, from_, size, _wave(data[from_ + size : from_ + size + 6], t))
            elif kind == PIECES:
                _add_pieces(data, place, from_, size, t)
            else:
                for k in range(3 * size):
                    data[place + k] += data[from_ + k]


@njit(cache=True, error_model="numpy")
def coefficient(index: np.ndarray, data: np.ndarray, law: int, speed: float) -> float:
    """μ of a friction law by its number, at a sliding speed; nan for a function of a user's."""
    kind, at = index[index[3] + 2 * law], index[index[3] + 2 * law + 1]
    if kind == COULOMB:
        return data[at]
    if kind == STRIBECK:
        fall = 1.0 + (abs(speed) / data[at + 2]) ** data[at + 3]
        return data[at + 1] + (data[at] - data[at + 1]) / fall
    if kind == EXPONENTIAL:
        fallen = math.exp(-((abs(speed) / data[at + 2]) ** data[at + 3]))
        return data[at + 1] + (data[at] - data[at + 1]) * fallen + data[at + 4] * abs(speed)
    return math.nan
