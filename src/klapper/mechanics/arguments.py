"""The checks that every number, array and function given by a user passes before a model keeps it.

What is refused is refused in one sentence: its name, what was given, what is allowed.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from klapper.mechanics.errors import InvalidModel


@contextmanager
def naming(part: str) -> Iterator[None]:
    """Whatever is refused inside is refused with the name of the part."""
    try:
        yield
    except InvalidModel as error:
        raise InvalidModel(f"{part}: {error}") from None


def numbers(given: Any, name: str, allowed: str = "numbers") -> np.ndarray:
    """A copy of what is given, as an array of numbers."""
    try:
        values = np.array(given)
        if values.dtype.kind in "biufO":
            return values.astype(float, copy=False)
    except (TypeError, ValueError, OverflowError):
        pass
    raise _refused(given, name, allowed)


def finite(given: Any, name: str, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """A copy of what is given, as an array of finite numbers, of the expected shape if there is one."""
    values = numbers(given, name, "finite numbers")
    if shape is not None and values.shape != shape:
        raise InvalidModel(f"{name} has shape {values.shape}, expected {shape or 'one number'}.")
    if not np.all(np.isfinite(values)):
        raise _refused(given, name, "finite numbers")
    return values


def number(
    given: Any,
    name: str,
    allowed: str = "single finite numbers",
    *,
    above: float = -np.inf,
    at_least: float = -np.inf,
    at_most: float = np.inf,
) -> float:
    """One finite number within its bounds."""
    value = numbers(given, name, allowed)
    if value.shape or not (np.isfinite(value) and value > above and at_least <= value <= at_most):
        raise _refused(given, name, allowed)
    return float(value)


def answer(function: Any, name: str, **arguments: Any) -> Any:
    """What a function says to these arguments, given by position; refused if it does not take so many."""
    expected = ", ".join(arguments)
    if not callable(function):
        raise InvalidModel(f"{name} is {_shown(function)}; expected a function of ({expected}).")
    try:
        signature = inspect.signature(function)
    except ValueError:  # some compiled functions do not tell their arguments
        return function(*arguments.values())
    try:
        signature.bind(*arguments.values())
    except TypeError:
        raise InvalidModel(
            f"{name} cannot be called with ({expected}); write it as a function of these arguments."
        ) from None
    return function(*arguments.values())


def _refused(given: Any, name: str, allowed: str) -> InvalidModel:
    return InvalidModel(f"{name} is {_shown(given)}; allowed are {allowed}.")


def _shown(given: Any) -> str:
    """In one short line."""
    text = str(given) if isinstance(given, np.generic) else repr(given)
    return textwrap.shorten(text, 80, placeholder=" …")


def whole(given: Any, name: str, least: int = 1) -> int:
    """A whole number, not below the ``least``."""
    allowed = f"whole numbers from {least} on"
    value = number(given, name, allowed, at_least=least)
    if value != int(value):
        raise _refused(given, name, allowed)
    return int(value)
