"""A motion as samples, and what it does between them: its values at any time, its extrema.

Over an interval of the length h, with the part 0 ≤ x ≤ 1 of it passed, what has the values a, b and the rates a', b' at
its ends follows the cubic polynomial of Hermite,

    a + x (b − a) + x (1 − x) [(1 − x) (h a' − (b − a)) + x ((b − a) − h b')]

Equal times of two samples are the two sides of a jump, between which there is nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import State

Advance = Callable[[State, float], "Motion"]
Quantity = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
_SUBDIVISION = 8  # of an interval between samples, for extrema
_REFINEMENTS = 8


class Motion(Protocol):
    """Samples of a motion, such as a :class:`~klapper.results.Run`: ``time`` (k,) [s], not falling, ``position``
    (k, nq) and ``velocity`` (k, nv). Equal times are the two sides of a jump. An attribute ``acceleration`` (k, nv)
    makes the values between the samples more exact."""

    @property
    def time(self) -> np.ndarray: ...

    @property
    def position(self) -> np.ndarray: ...

    @property
    def velocity(self) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Samples of a motion, as a function that advances a state returns them.

    ``time``          (k,) [s]
    ``position``      (k, nq) [m, rad], ``velocity`` (k, nv) [m/s, rad/s]
    ``acceleration``  (k, nv) [m/s², rad/s²], None: not known

    A throw, q = t − t², by its ends:

    >>> import numpy as np
    >>> from klapper.analysis import Trajectory, extrema
    >>> throw = Trajectory(np.array([0.0, 1.0]), np.zeros((2, 1)), np.array([[1.0], [-1.0]]))
    >>> tuple(round(end, 9) for end in extrema(throw, lambda t, q, v: q[:, 0]))
    (0.0, 0.25)
    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Between:
    """Values between the samples of a motion: cubic polynomials that fit values and rates at both ends.

    Positions follow (q, v) where q' = v, else straight lines; velocities follow (v, v̇) if v̇ is known, else the rate of
    the position polynomial, else straight lines.
    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray | None

    @classmethod
    def of(cls, motion: Motion) -> Between:
        if len(motion.time) < 2:
            raise InvalidModel(f"the motion has {len(motion.time)} samples; at least two are needed.")
        return cls(motion.time, motion.position, motion.velocity, getattr(motion, "acceleration", None))

    @property
    def regular(self) -> np.ndarray:
        """Intervals (k − 1,) that take time; the others are jumps."""
        return np.diff(self.time) > 0.0

    def at(self, interval: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Time, position and velocity at parts 0 … 1 of the numbered intervals."""
        h = (self.time[interval + 1] - self.time[interval])[:, None]
        x = share[:, None]
        time = self.time[interval] + share * h[:, 0]
        smooth = self.position.shape == self.velocity.shape
        q = self._fit(self.position, self.velocity if smooth else None, interval, h, x)
        if self.acceleration is not None or not smooth:
            v = self._fit(self.velocity, self.acceleration, interval, h, x)
        else:
            v = self._slope(interval, h, x)
        return time, q, v

    def _fit(
        self, values: np.ndarray, rates: np.ndarray | None, interval: np.ndarray, h: np.ndarray, x: np.ndarray
    ) -> np.ndarray:
        a, b = values[interval], values[interval + 1]
        line = a + x * (b - a)
        if rates is None:
            return line
        first, last = h * rates[interval] - (b - a), (b - a) - h * rates[interval + 1]
        return line + x * (1 - x) * ((1 - x) * first + x * last)

    def _slope(self, interval: np.ndarray, h: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The rate of the position polynomial; the velocity itself at its ends and over jumps."""
        a, b = self.velocity[interval], self.velocity[interval + 1]
        mean = np.divide(
            self.position[interval + 1] - self.position[interval], h, out=0.5 * (a + b), where=h > 0.0
        )
        return (1 - x) * (1 - 3 * x) * a + x * (3 * x - 2) * b + 6 * x * (1 - x) * mean


def extrema(motion: Motion, quantity: Quantity) -> tuple[float, float]:
    """Least and greatest value of a quantity over a motion, also between its samples.

    A throw, q = t − t², is highest in the middle between its two samples:

    >>> import numpy as np
    >>> from klapper.analysis import Trajectory, extrema
    >>> throw = Trajectory(np.array([0.0, 1.0]), np.zeros((2, 1)), np.array([[1.0], [-1.0]]))
    >>> tuple(round(end, 9) for end in extrema(throw, lambda t, q, v: q[:, 0]))
    (0.0, 0.25)
    """
    between = Between.of(motion)
    return -_greatest(between, lambda t, q, v: -np.asarray(quantity(t, q, v))), _greatest(between, quantity)


def _greatest(between: Between, quantity: Quantity) -> float:
    """The best of a grid over all intervals, then of finer and finer grids in its own and the neighbouring ones."""
    intervals = np.flatnonzero(between.regular)
    share = np.linspace(0.0, 1.0, _SUBDIVISION + 1)
    values = quantity(*between.at(np.repeat(intervals, len(share)), np.tile(share, len(intervals))))
    row = int(np.argmax(values)) // len(share)
    near = range(max(row - 1, 0), min(row + 2, len(intervals)))
    table = np.reshape(values, (len(intervals), len(share)))
    return max(_greatest_within(between, quantity, intervals[i], share[np.argmax(table[i])]) for i in near)


def _greatest_within(between: Between, quantity: Quantity, interval: int, best: float) -> float:
    """The greatest value in one interval, near the part ``best`` of it."""
    reach, greatest = 1.0 / _SUBDIVISION, -np.inf
    for _ in range(_REFINEMENTS):
        grid = np.clip(np.linspace(best - reach, best + reach, 2 * _SUBDIVISION + 1), 0.0, 1.0)
        values = quantity(*between.at(np.full(len(grid), interval), grid))
        best, greatest = float(grid[np.argmax(values)]), max(greatest, float(np.max(values)))
        reach /= _SUBDIVISION
    return greatest
