"""Given functions of time, with their derivatives: forcing, moving walls, belts.

A signal is a number or an array over time, x(t), together with ẋ and ẍ. Harmonic signals keep their phase
analytically, x = Re(X e^{jωt}), so that a long run sees the same forcing as a short one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.mechanics.arguments import answer, finite, naming, number
from klapper.mechanics.errors import InvalidModel

Linear = Callable[[np.ndarray], np.ndarray]
"""A linear function of the values of a signal."""


class Signal(ABC):
    """Something given over time, x(t).

    ``value``, ``rate`` and ``acceleration`` take a time or an array of times (k,) and return (k, …).

    A signal of one's own states its ``shape`` and the three methods. Signals add up with ``+``, and take factors:

    >>> wall = Ramp(0.01, -0.5) + 0.02  # 0.03 m away, comes with 0.5 m/s
    >>> isinstance(wall, Signal), float(wall.value(0.02).round(12)), float(wall.rate(0.02))
    (True, 0.02, -0.5)
    >>> (9.81 * Harmonic([0.5, 1.0], frequency=2.0)).value(0.0).tolist()
    [4.905, 9.81]
    """

    __array_ufunc__ = None  # array + signal is left to the signal

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

    def through(self, change: Linear) -> Signal:
        """change(x(t)), for a function of values that is linear."""
        return FunctionOfTime(
            lambda t: change(self.value(t)),
            lambda t: change(self.rate(t)),
            lambda t: change(self.acceleration(t)),
            breaks=self.breaks,
        )

    def mapped(self, matrix: Any) -> Signal:
        """matrix · x(t), for a matrix (k, n) or a row (n,) and a signal of shape (n,)."""
        return self.through(lambda x: matrix @ x)

    def __add__(self, other: Any) -> Signal:
        return Sum((self, as_signal(other)))

    __radd__ = __add__

    def __mul__(self, factor: Any) -> Signal:
        """A number times the signal, or a pattern (n,) times a signal of one number."""
        given = finite(factor, "the factor of a signal")
        if given.shape and self.shape:
            raise InvalidModel(
                f"a factor of shape {given.shape} takes a signal of one number, not {self.shape}."
            )
        return self._scaled(given)

    __rmul__ = __mul__

    def __neg__(self) -> Signal:
        return self * -1.0

    def __sub__(self, other: Any) -> Signal:
        return self + -1.0 * as_signal(other)

    def __rsub__(self, other: Any) -> Signal:
        return as_signal(other) + -1.0 * self

    def _scaled(self, factor: np.ndarray) -> Signal:
        return self.through(lambda x: x * factor)

    @property
    def constant(self) -> bool:
        return False

    @property
    def breaks(self) -> np.ndarray:
        """Times (k,) [s] at which the signal or its rate has a kink, in rising order: no integrator steps over them."""
        return np.zeros(0)

    def twice_differentiated(self) -> Signal:
        """ẍ(t) as a signal of its own, e.g. the acceleration of a support that is given by its place."""
        return FunctionOfTime(lambda t: self.acceleration(t), breaks=self.breaks)


@dataclass(frozen=True, eq=False)
class Constant(Signal):
    """A signal that is the same at all times.

    ``amount`` is a number or an array (n,), in the unit of what it stands for, e.g. N.

    >>> weight = Constant([0.0, -9.81])
    >>> weight.value(3.0).tolist(), weight.rate(3.0).tolist()
    ([0.0, -9.81], [0.0, 0.0])
    """

    amount: Any = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "amount", finite(self.amount, "amount"))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.amount.shape

    @property
    def constant(self) -> bool:
        return True

    def through(self, change: Linear) -> Constant:
        return Constant(change(self.amount))

    def twice_differentiated(self) -> Constant:
        return Constant(0.0 * self.amount)

    def value(self, time: Any) -> np.ndarray:
        return np.broadcast_to(self.amount, np.shape(time) + self.shape).copy()

    def rate(self, time: Any) -> np.ndarray:
        return np.zeros(np.shape(time) + self.shape)

    def acceleration(self, time: Any) -> np.ndarray:
        return self.rate(time)


@dataclass(frozen=True, eq=False, init=False)
class Harmonic(Signal):
    """A harmonic signal, amplitude · cos(ω t + phase).

    ``angular_frequency`` ω [rad/s] or ``frequency`` ω/2π [Hz], one of them; ``phase`` [rad]; ``amplitude`` is a number
    or an array (n,), in the unit of what it stands for.

    >>> float(Harmonic(2.0, np.pi).value(1.0)), float(Harmonic(2.0, frequency=0.5).value(1.0))
    (-2.0, -2.0)
    """

    amplitude: Any
    angular_frequency: float
    phase: float

    def __init__(
        self,
        amplitude: Any,
        angular_frequency: float | None = None,
        phase: float = 0.0,
        *,
        frequency: float | None = None,
    ) -> None:
        if (angular_frequency is None) == (frequency is None):
            raise InvalidModel(
                "a harmonic signal needs either angular_frequency [rad/s] or frequency [Hz]; "
                f"{'none' if frequency is None else 'both'} was given."
            )
        if frequency is not None:
            angular_frequency = 2.0 * np.pi * number(frequency, "frequency")
        object.__setattr__(self, "amplitude", finite(amplitude, "amplitude"))
        object.__setattr__(self, "angular_frequency", number(angular_frequency, "angular_frequency"))
        object.__setattr__(self, "phase", number(phase, "phase"))

    @property
    def frequency(self) -> float:
        """ω / 2π [Hz]."""
        return self.angular_frequency / (2.0 * np.pi)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.amplitude.shape

    def through(self, change: Linear) -> Harmonic:
        return Harmonic(change(self.amplitude), self.angular_frequency, self.phase)

    def twice_differentiated(self) -> Harmonic:
        return Harmonic(-(self.angular_frequency**2) * self.amplitude, self.angular_frequency, self.phase)

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
    """A signal that grows steadily, start + speed · t, e.g. the place of a wall.

    ``start`` [unit of the signal] and ``speed`` [unit per s] are numbers or arrays (n,).

    >>> Ramp(0.01, -0.5).value([0.0, 0.02]).round(12).tolist()
    [0.01, 0.0]
    """

    start: Any
    speed: Any

    def __post_init__(self) -> None:
        start, speed = finite(self.start, "start"), finite(self.speed, "speed")
        if start.shape != speed.shape and start.ndim and speed.ndim:
            raise InvalidModel(
                f"start has shape {start.shape} and speed {speed.shape}; give both the same shape, or one number."
            )
        start, speed = np.broadcast_arrays(start, speed)
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "speed", speed)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.start.shape

    def through(self, change: Linear) -> Ramp:
        return Ramp(change(self.start), change(self.speed))

    def twice_differentiated(self) -> Constant:
        return Constant(0.0 * self.start)

    def value(self, time: Any) -> np.ndarray:
        return self.start + np.multiply.outer(np.asarray(time, dtype=float), self.speed)

    def rate(self, time: Any) -> np.ndarray:
        return np.broadcast_to(self.speed, np.shape(time) + self.shape).copy()

    def acceleration(self, time: Any) -> np.ndarray:
        return np.zeros(np.shape(time) + self.shape)


class FunctionOfTime(Signal):
    """A signal from any function of time; the derivatives are central differences where they are not given.

    ``step`` [s] is the spacing of those differences; ``breaks`` [s] are times at which the function has a kink, such as
    the ends of a short pulse: no integrator steps over them.

    ``function``, ``rate`` and ``acceleration`` take t [s] and return x, ẋ, ẍ: a number or (n,).

    >>> falling = FunctionOfTime(lambda t: -5.0 * t**2)
    >>> float(falling.rate(2.0).round(6)), float(falling.acceleration(2.0).round(3))
    (-20.0, -10.0)
    """

    def __init__(
        self,
        function: Callable[[float], Any],
        rate: Callable[[float], Any] | None = None,
        acceleration: Callable[[float], Any] | None = None,
        *,
        step: float = 1e-5,
        breaks: Any = (),
    ) -> None:
        self.function, self.given_rate, self.given_acceleration = function, rate, acceleration
        self.step = number(step, "step", "numbers above 0, in s", above=0.0)
        self._breaks = np.unique(finite(breaks, "breaks"))
        self._shape = finite(answer(function, "the function", t=0.0), "the value at time 0").shape
        for name, derivative in (("rate", rate), ("acceleration", acceleration)):
            if derivative is not None:
                finite(answer(derivative, name, t=0.0), f"{name} at time 0", self._shape)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def breaks(self) -> np.ndarray:
        return self._breaks

    def mapped(self, matrix: Any) -> Signal:
        if type(self) is not FunctionOfTime or not isinstance(matrix, np.ndarray):
            return super().mapped(matrix)
        parts = (
            self.function,
            self.given_rate,
            self.given_acceleration,
        )  # functions that can be compiled, not methods
        value, *given = (None if part is None else _product(matrix, part) for part in parts)
        assert value is not None
        return FunctionOfTime(value, *given, step=self.step, breaks=self.breaks)

    def _scaled(self, factor: np.ndarray) -> Signal:
        if type(self) is not FunctionOfTime:
            return super()._scaled(factor)
        parts = (self.function, self.given_rate, self.given_acceleration)
        value, *given = (None if part is None else _times(factor, part) for part in parts)
        assert value is not None
        return FunctionOfTime(value, *given, step=self.step, breaks=self.breaks)

    def twice_differentiated(self) -> Signal:
        return (
            super().twice_differentiated()
            if self.given_acceleration is None
            else FunctionOfTime(self.given_acceleration)
        )

    def value(self, time: Any) -> np.ndarray:
        return self._at(self.function, time)

    def rate(self, time: Any) -> np.ndarray:
        if self.given_rate is not None:
            return self._at(self.given_rate, time)
        d = self.step
        return (self.value(np.asarray(time) + d) - self.value(np.asarray(time) - d)) / (2 * d)

    def acceleration(self, time: Any) -> np.ndarray:
        if self.given_acceleration is not None:
            return self._at(self.given_acceleration, time)
        d = self.step if self.given_rate is not None else 10 * self.step
        return (self.rate(np.asarray(time) + d) - self.rate(np.asarray(time) - d)) / (2 * d)

    @staticmethod
    def _at(function: Callable[[float], Any], time: Any) -> np.ndarray:
        if np.ndim(time) == 0:
            return np.array(function(float(time)), dtype=float)
        return np.array([function(float(t)) for t in np.asarray(time).ravel()], dtype=float)


def _product(matrix: np.ndarray, function: Callable[[float], Any]) -> Callable[[float], Any]:
    return lambda t: matrix @ np.asarray(function(t))


def _times(factor: np.ndarray, function: Callable[[float], Any]) -> Callable[[float], Any]:
    if not factor.shape:
        scale = float(factor)
        return lambda t: scale * np.asarray(function(t))
    return lambda t: factor * function(t)


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

    @property
    def breaks(self) -> np.ndarray:
        return breaks_of(self.parts)

    def through(self, change: Linear) -> Sum:
        return Sum(tuple(part.through(change) for part in self.parts))

    def mapped(self, matrix: Any) -> Sum:
        return Sum(tuple(part.mapped(matrix) for part in self.parts))

    def _scaled(self, factor: np.ndarray) -> Sum:
        return Sum(tuple(part * factor for part in self.parts))

    def twice_differentiated(self) -> Sum:
        return Sum(tuple(part.twice_differentiated() for part in self.parts))

    def value(self, time: Any) -> np.ndarray:
        return sum((part.value(time) for part in self.parts[1:]), self.parts[0].value(time))

    def rate(self, time: Any) -> np.ndarray:
        return sum((part.rate(time) for part in self.parts[1:]), self.parts[0].rate(time))

    def acceleration(self, time: Any) -> np.ndarray:
        return sum((part.acceleration(time) for part in self.parts[1:]), self.parts[0].acceleration(time))


def breaks_of(signals: Iterable[Signal]) -> np.ndarray:
    """The times (k,) [s] at which one of the signals has a kink, in rising order."""
    return np.unique(np.concatenate([np.zeros(0), *[signal.breaks for signal in signals]]))


def as_signal(given: Any, name: str = "the signal") -> Signal:
    """A signal from a signal, a number, an array, or a function of time."""
    if isinstance(given, Signal):
        return given
    if not callable(given):
        return Constant(finite(given, name))
    with naming(name):
        return FunctionOfTime(given)
