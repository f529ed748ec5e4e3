"""Signals at a time and friction laws at a speed, from tables that ``klapper.mechanics.compiled_form.Tables`` packs."""

from __future__ import annotations

import math

import numpy as np

from klapper.machine_code import njit
from klapper.mechanics.compiled_form import CONSTANT, COULOMB, EXPONENTIAL, HARMONIC, RAMP, STRIBECK
from klapper.mechanics.kernels.signatures import form_function


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
