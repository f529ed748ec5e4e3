"""Ranges of speed in which something is positive: samples on a grid, and bisection of all changes at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel


@dataclass(frozen=True)
class Band:
    """A range of speeds from ``low`` to ``high`` [Hz]; ``largest`` is the largest sampled value of what defines it.

    A band that begins or ends with the range looked at is not ``closed`` there: (left, right).

    >>> 1.5 in Band(1.0, 2.0, largest=0.3)
    True
    """

    low: float
    high: float
    largest: float
    closed: tuple[bool, bool] = (True, True)

    def __contains__(self, speed: float) -> bool:
        return self.low <= speed <= self.high


def speed_grid(low: float, high: float, samples: int, special: np.ndarray) -> np.ndarray:
    """Equally spaced speeds, special ones, and the middles between neighbouring special ones."""
    if not 0.0 <= low < high:
        raise InvalidModel(f"speeds from {low} to {high} Hz; expected 0 ≤ low < high.")
    inside = special[(special > low) & (special < high)]
    middles = 0.5 * (inside[1:] + inside[:-1])
    return np.unique(np.concatenate([np.linspace(low, high, max(int(samples), 2)), inside, middles]))


def positive_bands(
    function: Callable[[np.ndarray], np.ndarray], grid: np.ndarray, accuracy: float, shift: float = 0.0
) -> list[Band]:
    """Ranges in which a function of speed is positive, from samples on a grid and bisection of all changes at once."""
    number(accuracy, "accuracy", "numbers above 0, in Hz", above=0.0)
    values = function(grid)
    inside = values > 0.0
    change = np.flatnonzero(inside[1:] != inside[:-1])
    left, right, rising = grid[change], grid[change + 1], inside[change + 1]
    while change.size and np.any(right - left > accuracy):
        middle = 0.5 * (left + right)
        if np.all((middle <= left) | (middle >= right)):
            break
        reached = (function(middle) > 0.0) == rising
        left, right = np.where(reached, left, middle), np.where(reached, middle, right)
    limits = 0.5 * (left + right)
    starts, ends = limits[rising], limits[~rising]
    closed_left, closed_right = not inside[0], not inside[-1]
    starts = starts if closed_left else np.append(grid[0], starts)
    ends = ends if closed_right else np.append(ends, grid[-1])
    return [
        Band(
            float(low),
            float(high),
            float(values[(grid >= low) & (grid <= high)].max() + shift),
            (bool(closed_left or low > grid[0]), bool(closed_right or high < grid[-1])),
        )
        for low, high in zip(starts, ends, strict=True)
    ]
