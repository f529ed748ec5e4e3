"""Poincaré sections: where a motion returns to a surface, or to a phase of its forcing, and whether the returns repeat.

A section is a surface s(t, q, v) = 0 crossed in one direction, or every period of a forcing (a stroboscope). The motion
is periodic of order p if its return points repeat after p of them,

    x_{k+p} = x_k,   x_{k+1} = P(x_k)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.analysis.sampled_motion import Between, Motion, Quantity
from klapper.mechanics.errors import InvalidModel

_DISTINCT = 100.0  # how much worse shorter steps must repeat than a period


@dataclass(frozen=True, eq=False)
class PoincareSection:
    """The surface s(t, q, v) = 0 crossed from below (``rising``) or from above.

    ``function`` takes t (k,), q (k, nq), v (k, nv) and returns (k,).

    q = t − 1.5 rises through zero at 1.5 s:

    >>> import numpy as np
    >>> from klapper.analysis import PoincareSection, Trajectory
    >>> time = np.arange(4.0)
    >>> PoincareSection.coordinate(0).returns(Trajectory(time, time[:, None] - 1.5, np.ones((4, 1)))).time
    array([1.5])
    """

    function: Quantity
    rising: bool = True

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidModel(
                f"the function of a section is {self.function!r}; give a function of (t, q, v)."
            )

    @classmethod
    def coordinate(cls, number: int, value: float = 0.0, *, rising: bool = True) -> PoincareSection:
        """Where a position coordinate, by its number, passes a value [m or rad]."""
        return cls(lambda t, q, v: q[:, number] - value, rising)

    @classmethod
    def turning(cls, number: int, *, rising: bool = True) -> PoincareSection:
        """Where a velocity coordinate, by its number, changes its sign; rising: at the lowest points of its
        coordinate."""
        return cls(lambda t, q, v: v[:, number], rising)

    def returns(self, motion: Motion) -> Returns:
        """The points where the motion passes the section, located between its samples to round-off; where it passes in
        a jump, the state after it."""
        between = Between.of(motion)
        values = self._values(between.time, between.position, between.velocity)
        intervals = np.flatnonzero((values[:-1] < 0.0) & (values[1:] >= 0.0))
        low, high = np.where(between.regular[intervals], 0.0, 1.0), np.ones(len(intervals))
        for _ in range(60):
            middle = 0.5 * (low + high)
            below = self._values(*between.at(intervals, middle)) < 0.0
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return Returns(*between.at(intervals, high))

    def _values(self, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        values = np.asarray(self.function(t, q, v), dtype=float)
        if values.shape != t.shape:
            raise InvalidModel(f"the section function returned the shape {values.shape}, expected {t.shape}.")
        return values if self.rising else -values


@dataclass(frozen=True)
class Stroboscope:
    """One point in every ``period`` [s] of a forcing, at the times ``phase`` + k ``period``.

    q = t − 1.5, seen at 0.5 s, 1.5 s and 2.5 s:

    >>> import numpy as np
    >>> from klapper.analysis import Stroboscope, Trajectory
    >>> time = np.arange(4.0)
    >>> motion = Trajectory(time, time[:, None] - 1.5, np.ones((4, 1)))
    >>> Stroboscope(1.0, phase=0.5).returns(motion).position[:, 0]
    array([-1.,  0.,  1.])
    """

    period: float
    phase: float = 0.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.period) and self.period > 0.0):
            raise InvalidModel(f"the period is {self.period}; allowed are finite numbers above 0, in s.")

    def returns(self, motion: Motion) -> Returns:
        between = Between.of(motion)
        t = between.time
        slack = 1e-9 * self.period
        first = np.ceil((t[0] - slack - self.phase) / self.period)
        last = np.floor((t[-1] + slack - self.phase) / self.period)
        times = np.clip(self.phase + self.period * np.arange(first, last + 1), t[0], t[-1])
        intervals = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
        lengths = t[intervals + 1] - t[intervals]
        share = np.divide(times - t[intervals], lengths, out=np.ones(len(times)), where=lengths > 0.0)
        return Returns(*between.at(intervals, share))


@dataclass(frozen=True, eq=False)
class Returns:
    """Points of a motion on a section: ``time`` (k,) [s], ``position`` (k, nq), ``velocity`` (k, nv)."""

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray

    def __len__(self) -> int:
        return len(self.time)

    @property
    def states(self) -> np.ndarray:
        """(k, nq + nv)."""
        return np.hstack([self.position, self.velocity])


def order_of_period(
    points: Any, size: Any, *, tolerance: float = 1e-6, most: int = 16, repeats: int = 3
) -> int | None:
    """Smallest p ≤ ``most`` after which the last return points (k, n) repeat, or None if there is none.

    They repeat if x_{k+p} and x_k differ by at most ``tolerance``, dimensionless, times ``size`` (n,) for the last
    ``repeats`` p points, but at least four. Fewer points decide nothing. A motion that still spirals towards a shorter
    cycle nearly repeats after several turns; therefore shorter steps must miss a hundred times as much as p does.

    >>> import numpy as np
    >>> from klapper.analysis import order_of_period
    >>> order_of_period(np.tile([[0.0], [1.0]], (10, 1)), 1.0)
    2
    """
    values = np.asarray(points, dtype=float) / np.maximum(np.asarray(size, dtype=float), 1e-300)
    nearest = np.inf
    for p in range(1, most + 1):
        wanted = max(repeats * p, 4)
        if len(values) < wanted + p:
            return None
        last = values[-(wanted + p) :]
        miss = float(np.abs(last[p:] - last[:-p]).max())
        if miss <= tolerance:
            return p if _DISTINCT * miss <= nearest else None
        nearest = min(nearest, miss)
    return None
