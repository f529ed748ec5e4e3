"""Given functions of time, with their derivatives: forcing, moving walls, belts.

A signal is a number or an array over time, x(t), together with ẋ and ẍ. Harmonic signals keep their phase
analytically, x = Re(X e^{jωt}), so that a long run sees the same forcing as a short one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.mechanics.errors import InvalidModel


class Signal(ABC):
    """x(t): ``value``, ``rate`` and ``acceleration`` take a time or an array of times (k,) and return (k, …)."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of one value."""

    @abstractmethod
    def value(self, time: Any) -> np.ndarray: ...

    @abstractmethod
    def rate(self, time: Any) -> np.ndarray: ...

    @abstractmethod
    def acceleration(self, time: Any) -> np.ndarray: ...

    def __add__(self, other: Any) -> Signal:
        return Sum((self, as_signal(other)))

    __radd__ = __add__

    @property
    def constant(self) -> bool:
        return False


@dataclass(frozen=True, eq=False)
class Constant(Signal):
    """The same at all times."""

    amount: Any = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "amount", _finite(self.amount, "amount"))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.amount.shape

    @property
    def constant(self) -> bool:
        return True

    def value(self, time: Any) -> np.ndarray:
        return np.broadcast_to(self.amount, np.shape(time) + self.shape).copy()

    def rate(self, time: Any) -> np.ndarray:
        return np.zeros(np.shape(time) + self.shape)

    def acceleration(self, time: Any) -> np.ndarray:
        return self.rate(time)


@dataclass(frozen=True, eq=False)
class Harmonic(Signal):
    """amplitude · cos(ω t + phase); ``angular_frequency`` ω in rad/s, ``phase`` in rad.

    >>> float(Harmonic(2.0, np.pi).value(1.0))
    -2.0
    """

    amplitude: Any
    angular_frequency: float
    phase: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "amplitude", _finite(self.amplitude, "amplitude"))
        _finite(self.angular_frequency, "angular_frequency")
        _finite(self.phase, "phase")

    @property
    def shape(self) -> tuple[int, ...]:
        return self.amplitude.shape

    def value(self, time: Any) -> np.ndarray:
        return self._times(np.cos(self._angle(time)))

    def rate(self, time: Any) -> np.ndarray:
        return self._times(-self.angular_frequency * np.sin(self._angle(time)))

    def acceleration(self, time: Any) -> np.ndarray:
        return self._times(-(self.angular_frequency**2) * np.cos(self._angle(time)))

    def _angle(self, time: Any) -> np.ndarray:
        return self.angular_frequency * np.asarray(time, dtype=float) + self.phase

    def _times(self, course: np.ndarray) -> np.ndarray:
        return np.multiply.outer(course, self.amplitude)


@dataclass(frozen=True, eq=False)
class Ramp(Signal):
    """start + speed · t, e.g. a wall that moves steadily."""

    start: Any
    speed: Any

    def __post_init__(self) -> None:
        start, speed = np.broadcast_arrays(_finite(self.start, "start"), _finite(self.speed, "speed"))
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "speed", speed)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.start.shape

    def value(self, time: Any) -> np.ndarray:
        return self.start + np.multiply.outer(np.asarray(time, dtype=float), self.speed)

    def rate(self, time: Any) -> np.ndarray:
        return np.broadcast_to(self.speed, np.shape(time) + self.shape).copy()

    def acceleration(self, time: Any) -> np.ndarray:
        return np.zeros(np.shape(time) + self.shape)


class FunctionOfTime(Signal):
    """Any function of time; the derivatives are central differences where they are not given.

    ``step`` [s] is the spacing of those differences.
    """

    def __init__(
        self,
        function: Callable[[float], Any],
        rate: Callable[[float], Any] | None = None,
        acceleration: Callable[[float], Any] | None = None,
        *,
        step: float = 1e-5,
    ) -> None:
        self._function, self._rate, self._acceleration, self._step = function, rate, acceleration, step
        self._shape = _finite(function(0.0), "the value at time 0").shape

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    def value(self, time: Any) -> np.ndarray:
        return self._at(self._function, time)

    def rate(self, time: Any) -> np.ndarray:
        if self._rate is not None:
            return self._at(self._rate, time)
        d = self._step
        return (self.value(np.asarray(time) + d) - self.value(np.asarray(time) - d)) / (2 * d)

    def acceleration(self, time: Any) -> np.ndarray:
        if self._acceleration is not None:
            return self._at(self._acceleration, time)
        d = self._step if self._rate is not None else 10 * self._step
        return (self.rate(np.asarray(time) + d) - self.rate(np.asarray(time) - d)) / (2 * d)

    @staticmethod
    def _at(function: Callable[[float], Any], time: Any) -> np.ndarray:
        if np.ndim(time) == 0:
            return np.asarray(function(float(time)), dtype=float)
        return np.array([function(float(t)) for t in np.asarray(time).ravel()], dtype=float)


@dataclass(frozen=True, eq=False)
class Sum(Signal):
    """Signals added up."""

    parts: tuple[Signal, ...]

    def __post_init__(self) -> None:
        shapes = {part.shape for part in self.parts}
        if len(shapes) > 1:
            raise InvalidModel(f"signals of different shape cannot be added: {sorted(shapes)}.")

    @property
    def shape(self) -> tuple[int, ...]:
        return self.parts[0].shape

    @property
    def constant(self) -> bool:
        return all(part.constant for part in self.parts)

    def value(self, time: Any) -> np.ndarray:
        return sum((part.value(time) for part in self.parts[1:]), self.parts[0].value(time))

    def rate(self, time: Any) -> np.ndarray:
        return sum((part.rate(time) for part in self.parts[1:]), self.parts[0].rate(time))

    def acceleration(self, time: Any) -> np.ndarray:
        return sum((part.acceleration(time) for part in self.parts[1:]), self.parts[0].acceleration(time))


def as_signal(given: Any) -> Signal:
    """A signal from a signal, a number, an array, or a function of time."""
    if isinstance(given, Signal):
        return given
    return FunctionOfTime(given) if callable(given) else Constant(given)


def _finite(given: Any, name: str) -> np.ndarray:
    try:
        values = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise InvalidModel(f"{name} is {given!r}; allowed are numbers.") from None
    if not np.all(np.isfinite(values)):
        raise InvalidModel(f"{name} is {given!r}; allowed are finite numbers.")
    return values
