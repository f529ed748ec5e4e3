"""Given numbers and vectors, checked and named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.signals import Signal, as_signal


def number(where: str, name: str, given: Any) -> float:
    try:
        value = float(given)
    except (TypeError, ValueError):
        raise InvalidModel(f"{where}: {name} is {given!r}; allowed are numbers.") from None
    if not np.isfinite(value):
        raise InvalidModel(f"{where}: {name} is {given!r}; allowed are finite numbers.")
    return value


def positive(where: str, name: str, given: Any, unit: str) -> float:
    value = number(where, name, given)
    if not value > 0.0:
        raise InvalidModel(f"{where}: {name} is {value:g} {unit}; allowed are numbers above 0.")
    return value


def not_negative(where: str, name: str, given: Any, unit: str) -> float:
    value = number(where, name, given)
    if value < 0.0:
        raise InvalidModel(f"{where}: {name} is {value:g} {unit}; allowed are numbers from 0 on.")
    return value


def vector(where: str, name: str, given: Any, size: int) -> np.ndarray:
    """A vector (3,), with zeros behind the ``size`` entries that were given."""
    try:
        values = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise InvalidModel(f"{where}: {name} is {given!r}; expected {size} numbers.") from None
    if values.shape != (size,):
        raise InvalidModel(f"{where}: {name} has shape {values.shape}, expected ({size},).")
    if not np.all(np.isfinite(values)):
        raise InvalidModel(f"{where}: {name} is {given!r}; allowed are finite numbers.")
    return np.concatenate((values, np.zeros(3 - size))) if size < 3 else values


def unit_vector(where: str, name: str, given: Any, size: int) -> np.ndarray:
    """A vector (3,) of length one in the direction that was given."""
    values = vector(where, name, given, size)
    length = float(np.linalg.norm(values))
    if length == 0.0:
        raise InvalidModel(f"{where}: {name} has no length; give a direction.")
    return values / length


def signal(where: str, name: str, given: Any, shape: tuple[int, ...]) -> Signal:
    """A signal whose values have the given shape."""
    course = named(where, as_signal, given)
    if course.shape != shape:
        expected = f"shape {shape}" if shape else "one number"
        raise InvalidModel(f"{where}: {name} has values of shape {course.shape}, expected {expected}.")
    return course


def named(where: str, convert: Callable[[Any], Any], given: Any) -> Any:
    """What ``convert`` makes of it; if it refuses, with the name of the part."""
    try:
        return convert(given)
    except InvalidModel as error:
        raise InvalidModel(f"{where}: {error}") from None
