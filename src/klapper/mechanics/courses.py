"""Loads and motions as experiments give them: sine sweeps, shock pulses, tables of measured values.

All are continuous. Their kinks, the ends of a pulse or the points of a table, are ``breaks``: integrators that choose
their own steps end a step there, so that none is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sparse

from klapper.doors import Unreadable
from klapper.doors.files import content_of
from klapper.mechanics.arguments import finite, number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.signals import Linear, Signal, as_signal

Spacing = Literal["linear", "logarithmic"]
Form = Literal["half-sine", "haversine"]
Interpolation = Literal["linear", "cubic"]

MOST_BYTES = 200_000_000  # of a table in a file: some millions of rows, which a few seconds read


@dataclass(frozen=True, eq=False)
class _Profile(Signal):
    """``amplitude`` times a number over time, whose value, rate and acceleration ``_profile`` gives."""

    amplitude: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.amplitude)

    def _profile(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        raise NotImplementedError

    def _at(self, time: Any, derivative: int) -> np.ndarray:
        return np.multiply.outer(self._profile(np.asarray(time, dtype=float))[derivative], self.amplitude)

    def value(self, time: Any) -> np.ndarray:
        return self._at(time, 0)

    def rate(self, time: Any) -> np.ndarray:
        return self._at(time, 1)

    def acceleration(self, time: Any) -> np.ndarray:
        return self._at(time, 2)


@dataclass(frozen=True, eq=False)
class Sweep(_Profile):
    """A sine sweep: amplitude · cos(θ(t) + phase) whose frequency θ̇/2π goes from one value to another.

    ``start_frequency``, ``end_frequency``  f₀, f₁ [Hz]
    ``duration``                            T [s] of the sweep; before and after it the frequency is constant
    ``start``                               time [s] at which it begins
    ``spacing``                             "linear", f = f₀ + (f₁ − f₀) τ/T, or "logarithmic", f = f₀ (f₁/f₀)^(τ/T)
    ``phase``                               [rad]; −π/2 gives a sine

    >>> shaker = Sweep(2.0, 5.0, 50.0, duration=60.0)
    >>> float(shaker.value(0.0)), float(shaker.frequency(30.0))
    (2.0, 27.5)
    """

    start_frequency: float
    end_frequency: float
    duration: float
    start: float = 0.0
    spacing: Spacing = "linear"
    phase: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "amplitude", finite(self.amplitude, "amplitude"))
        for name in ("start_frequency", "end_frequency", "duration"):
            object.__setattr__(self, name, number(getattr(self, name), name, "numbers above 0", above=0.0))
        for name in ("start", "phase"):
            object.__setattr__(self, name, number(getattr(self, name), name))
        _one_of(self.spacing, "spacing", Spacing)

    @property
    def breaks(self) -> np.ndarray:
        return np.array([self.start, self.start + self.duration])

    @cached_property
    def logarithm(self) -> float:
        """ln(f₁/f₀) of a logarithmic sweep; 0 of a linear one and where both frequencies are the same."""
        return float(np.log(self.end_frequency / self.start_frequency)) if self.spacing != "linear" else 0.0

    def frequency(self, time: Any) -> np.ndarray:
        """θ̇/2π [Hz] at a time or times."""
        share = np.clip((np.asarray(time, dtype=float) - self.start) / self.duration, 0.0, 1.0)
        if self.logarithm:
            return self.start_frequency * np.exp(self.logarithm * share)
        return self.start_frequency + (self.end_frequency - self.start_frequency) * share

    def _profile(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        f0, f1, span = self.start_frequency, self.end_frequency, self.duration
        since = time - self.start
        inside = np.clip(since, 0.0, span)
        frequency = self.frequency(time)
        if self.logarithm:
            turns = (frequency - f0) * span / self.logarithm
            growth = frequency * self.logarithm / span
        else:
            turns = inside * (f0 + 0.5 * (f1 - f0) * inside / span)
            growth = np.full_like(since, (f1 - f0) / span)
        turns = turns + np.minimum(since, 0.0) * f0 + np.maximum(since - span, 0.0) * f1
        growth = np.where((since < 0.0) | (since > span), 0.0, growth)
        angle, speed, change = 2 * np.pi * turns + self.phase, 2 * np.pi * frequency, 2 * np.pi * growth
        sin, cos = np.sin(angle), np.cos(angle)
        return cos, -speed * sin, -(speed**2) * cos - change * sin

    def through(self, change: Linear) -> Sweep:
        return Sweep(
            change(self.amplitude),
            self.start_frequency,
            self.end_frequency,
            self.duration,
            self.start,
            self.spacing,
            self.phase,
        )


@dataclass(frozen=True, eq=False)
class Pulse(_Profile):
    """A shock: ``amplitude`` at its top, zero before ``start`` [s] and after ``duration`` T [s].

    ``form``  "half-sine", sin(πτ/T), or "haversine", ½ − ½ cos(2πτ/T), which begins and ends without a kink; for
              triangles and trapezia take :class:`Tabulated`

    >>> shock = Pulse(500.0, duration=0.011, start=0.1)
    >>> shock.value([0.05, 0.1055, 0.2]).round(9).tolist()
    [0.0, 500.0, 0.0]
    """

    duration: float
    start: float = 0.0
    form: Form = "half-sine"

    def __post_init__(self) -> None:
        object.__setattr__(self, "amplitude", finite(self.amplitude, "amplitude"))
        object.__setattr__(
            self, "duration", number(self.duration, "duration", "numbers above 0, in s", above=0.0)
        )
        object.__setattr__(self, "start", number(self.start, "start"))
        _one_of(self.form, "form", Form)

    @property
    def breaks(self) -> np.ndarray:
        return self.start + np.array([0.0, self.duration])

    @property
    def wave(self) -> tuple[float, float, float, float]:
        """m, a, ω [rad/s] and phase of m + a cos(ωτ + phase), which the pulse is while it lasts."""
        if self.form == "haversine":
            return 0.5, -0.5, 2 * np.pi / self.duration, 0.0
        return 0.0, 1.0, np.pi / self.duration, -0.5 * np.pi

    def _profile(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        since = time - self.start
        during = (since >= 0.0) & (since <= self.duration)
        mean, height, omega, phase = self.wave
        angle = omega * since + phase
        value, rate = mean + height * np.cos(angle), -height * omega * np.sin(angle)
        acceleration = -height * omega**2 * np.cos(angle)
        return np.where(during, value, 0.0), np.where(during, rate, 0.0), np.where(during, acceleration, 0.0)

    def through(self, change: Linear) -> Pulse:
        return Pulse(change(self.amplitude), self.duration, self.start, self.form)

    def twice_differentiated(self) -> Signal:
        if self.form != "haversine":
            raise InvalidModel(
                "a half-sine pulse jumps in its rate and has no acceleration; give a haversine, or the acceleration."
            )
        return super().twice_differentiated()


@dataclass(frozen=True, eq=False)
class Tabulated(Signal):
    """Values at given times, such as a measured acceleration; the nearest value before the first and after the last.

    ``times`` (k,) [s], rising; ``values`` (k,) or (k, n) in the unit of what they stand for.

    ``interpolation``  "linear", or "cubic": a twice differentiable spline, as the measured place of a support needs

    >>> push = Tabulated([0.0, 0.1, 0.3], [0.0, 20.0, 0.0])
    >>> push.value([0.05, 0.2, 1.0]).round(12).tolist()
    [10.0, 10.0, 0.0]
    """

    times: Any
    values: Any
    interpolation: Interpolation = "linear"

    def __post_init__(self) -> None:
        times, values = finite(self.times, "times"), finite(self.values, "values")
        least = 4 if self.interpolation == "cubic" else 2
        if times.ndim != 1 or len(times) < least or np.any(np.diff(times) <= 0.0):
            raise InvalidModel(
                f"times has shape {times.shape}; a {self.interpolation} table needs {least} rising times or more."
            )
        if values.ndim not in (1, 2) or len(values) != len(times):
            raise InvalidModel(
                f"values has shape {values.shape}; with {len(times)} times it must be ({len(times)},) or "
                f"({len(times)}, n)."
            )
        _one_of(self.interpolation, "interpolation", Interpolation)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)

    @classmethod
    def from_csv(
        cls,
        path: str | Path,
        column: str | int = 1,
        *,
        time: str | int = 0,
        factor: float = 1.0,
        interpolation: Interpolation = "linear",
    ) -> Tabulated:
        """A column of a CSV file over its times.

        ``column``, ``time``  columns, by their names in the first line or by number from 0
        ``factor``            takes the values of the file to SI units, e.g. 9.81 where they are in g

        Columns are separated by commas, semicolons, tabs or spaces; lines that begin with # are left out.

        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder, "shaker.csv")
        ...     _ = file.write_text("t, a\\n0.0, 0.0\\n0.5, 0.1\\n1.0, 0.0\\n")
        ...     float(Tabulated.from_csv(file, "a", time="t", factor=9.81).value(0.5).round(9))
        0.981
        """
        rows = _rows(Path(path))
        head = rows[0][1]
        named = None if _is_number(head[0]) else head
        places = [_place(given, named, len(head), path) for given in (time, column)]
        table = np.empty((len(rows) - (named is not None), 2))
        for entry, (line, cells) in zip(table, rows[len(rows) - len(table) :], strict=True):
            for k, place in enumerate(places):
                cell = cells[place] if place < len(cells) else ""
                if not _is_number(cell):
                    given = repr(cell) if cell else "nothing"
                    raise InvalidModel(
                        f"{path}, line {line} has {given} in column {place}; a number is required."
                    )
                entry[k] = float(cell)
        return cls(table[:, 0], number(factor, "factor") * table[:, 1], interpolation)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape[1:]

    @property
    def breaks(self) -> np.ndarray:
        return self.times

    @cached_property
    def pieces(self) -> np.ndarray:
        """Coefficients (k − 1, 4, …) of the cubics c₀ τ³ + c₁ τ² + c₂ τ + c₃ from each time to the next."""
        if self.interpolation == "cubic":
            from scipy.interpolate import CubicSpline

            return np.moveaxis(CubicSpline(self.times, self.values).c, 1, 0)
        steps = np.diff(self.times).reshape(-1, *[1] * len(self.shape))
        slopes = np.diff(self.values, axis=0) / steps
        nothing = np.zeros_like(slopes)
        return np.stack([nothing, nothing, slopes, self.values[:-1]], axis=1)

    def _at(self, time: Any, derivative: int) -> np.ndarray:
        t = np.asarray(time, dtype=float)
        i = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2)
        c = np.moveaxis(self.pieces[i], t.ndim, 0)
        tau = (np.clip(t, self.times[0], self.times[-1]) - self.times[i]).reshape(
            t.shape + (1,) * len(self.shape)
        )
        if derivative == 0:
            return ((c[0] * tau + c[1]) * tau + c[2]) * tau + c[3]
        inside = ((t >= self.times[0]) & (t <= self.times[-1])).reshape(tau.shape)
        slope = (3 * c[0] * tau + 2 * c[1]) * tau + c[2] if derivative == 1 else 6 * c[0] * tau + 2 * c[1]
        return np.where(inside, slope, 0.0)

    def value(self, time: Any) -> np.ndarray:
        return self._at(time, 0)

    def rate(self, time: Any) -> np.ndarray:
        return self._at(time, 1)

    def acceleration(self, time: Any) -> np.ndarray:
        return self._at(time, 2)

    def through(self, change: Linear) -> Tabulated:
        return Tabulated(self.times, np.array([change(value) for value in self.values]), self.interpolation)

    def twice_differentiated(self) -> Tabulated:
        if self.interpolation != "cubic":
            raise InvalidModel(
                "a linear table jumps in its rate and has no acceleration; give interpolation='cubic', "
                "or accelerations."
            )
        return Tabulated(self.times, self.acceleration(self.times))


def _one_of(given: Any, name: str, words: Any) -> None:
    if given not in get_args(words):
        raise InvalidModel(f"{name} is {given!r}; it must be one of {', '.join(map(repr, get_args(words)))}.")


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Number and cells of every line of a file of columns, without those that are empty or a comment."""
    try:
        text = content_of(path, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidModel(f"{path} is not a text file.") from None
    except (OSError, Unreadable) as error:
        raise InvalidModel(f"{path} cannot be read: {error}.") from None
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    lines = [(number, line) for number, line in lines if not line.lstrip().startswith("#")]
    if not lines:
        raise InvalidModel(f"{path} has no rows of numbers.")
    mark = next((mark for mark in ";,\t" if mark in lines[0][1]), None)
    return [(number, [cell.strip(' "\t') for cell in line.split(mark)]) for number, line in lines]


def _place(given: str | int, named: list[str] | None, count: int, path: Any) -> int:
    if isinstance(given, int) and 0 <= given < count:
        return given
    if named is not None and given in named:
        return named.index(str(given))
    there = f"columns {', '.join(map(repr, named))}" if named else f"{count} columns without names"
    raise InvalidModel(f"{path} has {there}; {given!r} is none of them.")


def _is_number(word: str) -> bool:
    try:
        return bool(np.isfinite(float(word)))
    except ValueError:
        return False


def base_load(mass: Any, direction: Any, *, acceleration: Any = None, displacement: Any = None) -> Signal:
    """The load (n,) [N] of a structure on a moving base, −M r a(t), in coordinates relative to the base.

    ``mass``          M (n, n), dense or sparse, or its diagonal (n,) [kg]
    ``direction``     r (n,): how much each coordinate moves with the base, 1 for displacements in its direction
    ``acceleration``  a(t) [m/s²] of the base: a signal, e.g. :class:`Tabulated`, or a function of time
    ``displacement``  its place [m] instead, which must be smooth: a = d²/dt²

    Positions, gaps and stops are then relative to the base, too. Two masses on a base that is shaken with 3 m/s²:

    >>> from klapper.mechanics import Harmonic
    >>> base_load([2.0, 1.0], [1.0, 1.0], acceleration=Harmonic(3.0, frequency=5.0)).value(0.0).tolist()
    [-6.0, -3.0]
    """
    return -1.0 * base_acceleration(acceleration, displacement) * _inertia(mass, direction)


def base_acceleration(acceleration: Any, displacement: Any) -> Signal:
    """a(t) [m/s²] of a base, given by itself or by the place [m]: one number over time."""
    if (acceleration is None) == (displacement is None):
        raise InvalidModel(
            "the motion of a base needs either acceleration or displacement; "
            f"{'none' if acceleration is None else 'both'} was given."
        )
    if displacement is None:
        motion = as_signal(acceleration, "acceleration")
    else:
        motion = as_signal(displacement, "displacement").twice_differentiated()
    if motion.shape != ():
        raise InvalidModel(
            f"the motion of a base has shape {motion.shape}; one number over time is required."
        )
    return motion


def _inertia(mass: Any, direction: Any) -> np.ndarray:
    """M r (n,) [kg]."""
    row = finite(direction, "direction")
    matrix = mass if sparse.issparse(mass) else finite(mass, "mass")
    if row.ndim != 1 or matrix.shape not in ((row.size,), (row.size, row.size)):
        raise InvalidModel(
            f"direction has shape {row.shape} and mass {matrix.shape}; (n,) and (n, n) or (n,) are required."
        )
    return matrix * row if matrix.ndim == 1 else matrix @ row
