"""Signals and friction coefficients by functions of users, in the tables of ``klapper.mechanics.compiled_form``.

A term of a signal that is a function has, after its value, rate and acceleration, its number and where its captured
numbers are; a friction law of a user's has these in place of its parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import int64, void

from klapper.mechanics.compiled_form import FUNCTION, OWN_FRICTION
from klapper.mechanics.kernels import given
from klapper.mechanics.kernels.answers import as_number, fill
from klapper.mechanics.kernels.signatures import DATA, INDEX, VECTOR

COEFFICIENTS = void(INDEX, DATA, int64, VECTOR, VECTOR)
"""(index, data, law, speeds (k,), out (k,))"""
_given_bring, _given_coefficient = given.bring, given.coefficient


def signal_of(function: Any) -> Callable[..., None]:
    """(data, captured, t, out (k,))"""

    def signal(data: np.ndarray, captured: int, t: float, out: np.ndarray) -> None:
        for k in range(out.size):
            out[k] = math.nan
        fill(out, function(t))

    return signal


def difference_of(function: Any, spacings: float) -> Callable[..., None]:
    """The derivative of a signal, by central differences over so many of its spacings to both sides."""

    def difference(data: np.ndarray, captured: int, t: float, out: np.ndarray) -> None:
        d = spacings * data[captured]
        behind = np.empty(out.size)
        function(data, captured, t + d, out)
        function(data, captured, t - d, behind)
        for k in range(out.size):
            out[k] = (out[k] - behind[k]) / (2.0 * d)

    return difference


def motion_of(value: Any, rate: Any, acceleration: Any) -> Callable[..., None]:
    """(data, captured, t, out (3 k,))"""

    def motion(data: np.ndarray, captured: int, t: float, out: np.ndarray) -> None:
        size = out.size // 3
        value(data, captured, t, out[:size])
        rate(data, captured, t, out[size : 2 * size])
        acceleration(data, captured, t, out[2 * size :])

    return motion


def bring_of(chosen: Any) -> Callable[..., None]:
    """``bring`` of a form; ``chosen`` (number, data, captured, t, out (3 k,)) is the motion of that number."""

    def bring(index: np.ndarray, data: np.ndarray, t: float) -> None:
        at = index[1]
        for _ in range(index[0]):
            size, terms = index[at], index[at + 2]
            at += 3
            for _ in range(terms):
                kind, place = index[at], index[at + 1]
                at += 3
                if kind == FUNCTION:
                    end = place + 3 * size
                    for k in range(place, end):
                        data[k] = math.nan
                    chosen(int(data[end]), data, int(data[end + 1]), t, data[place:end])
        _given_bring(index, data, t)

    return bring


def friction_of(function: Any) -> Callable[..., float]:
    def friction(speed: float) -> float:
        return as_number(function(speed))

    return friction


def coefficient_of(chosen: Any) -> Callable[..., float]:
    """As :func:`klapper.mechanics.kernels.given.coefficient`, with functions of users."""

    def coefficient(index: np.ndarray, data: np.ndarray, law: int, speed: float) -> float:
        kind, at = index[index[3] + 2 * law], index[index[3] + 2 * law + 1]
        if kind != OWN_FRICTION:
            return _given_coefficient(index, data, law, speed)
        captured = int(data[at + 1])  # noqa: F841
        return chosen(int(data[at]), speed)

    return coefficient


def coefficients_of(coefficient: Any) -> Callable[..., None]:
    """μ at several speeds."""

    def coefficients(
        index: np.ndarray, data: np.ndarray, law: int, speeds: np.ndarray, out: np.ndarray
    ) -> None:
        for k in range(out.size):
            out[k] = math.nan
        for k in range(out.size):
            out[k] = coefficient(index, data, law, speeds[k])

    return coefficients
