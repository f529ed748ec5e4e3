"""The first moment at which one of several smooth functions of time falls below zero, and none is missed.

Every function is replaced, interval by interval, by its Chebyshev series

    f(t) = Σ c_k T_k(x),   −1 ≤ x ≤ 1,        min f ≥ c_0 − Σ_{k≥1} |c_k|

An interval is halved until the last coefficients are below what counts as zero, or no longer become smaller: those are
noise of the function, as of forces with curvatures by differences. The bound on the right then proves that there is no
event, or the series is cut into pieces until it does, or until a piece is left in which the function falls below zero
for the first time. The moment itself is a bracketed root of the function, not of the series.
Boyd 2006; Trefethen, Approximation Theory and Approximation Practice, chapter 18.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial import chebyshev

Functions = Callable[[np.ndarray], np.ndarray]

COARSE, FINE_DEGREE = 16, 32  # degrees of the series
PARTS = 8  # into which a series is cut
CHECKS = np.array(
    [-0.7301, 0.1237, 0.6143]
)  # places between the nodes at which a series must fit its function
_MOST_PIECES_AT_ONCE = 32
_EPS = float(np.finfo(float).eps)
_FLAT = 1e-9  # coefficients that stop to decay at this share of the largest are round-off of the function
_DOUBTFUL = 32.0  # times its error: as far above zero must a series stay that is not resolved, to be safe
_HALVINGS = 12  # over which an error that does not shrink is noise: an oscillation would turn 10⁴ times in the interval
_STAYS = 0.5  # share of an error that is left then; that of a kink would be 1/4000
_NOISY = 4.0  # times its noise: errors of a series that are noise of its function
_ROUNDS = 60
_SHORTEST = 64.0 * _EPS  # of the time: intervals are not halved further


@dataclass(frozen=True, eq=False)
class Crossing:
    """The first event.

    ``time``         [s] of the zero crossing from above
    ``which``        numbers of the functions that cross there, rising
    ``evaluations``  number of times at which the functions were evaluated
    """

    time: float
    which: np.ndarray
    evaluations: int


def first_crossing(
    functions: Functions, start: float, end: float, noise: np.ndarray, *, pieces: int = 1
) -> Crossing | None:
    """The first event between ``start`` and ``end`` [s], or None.

    ``functions``  times (k,) ↦ values (k, m)
    ``noise``      (m,), above 0: what counts as zero. The event of a function is that it falls below −noise; its time
                   is the zero crossing just before, or ``start`` if the function was not above zero since
    ``pieces``     number of intervals to begin with: one for every oscillation, or fewer

    A function that starts at zero and rises has no event, and neither has a touch of zero not deeper than the noise.

    >>> found = first_crossing(lambda t: np.cos(t)[:, None], 0.0, 4.0, np.array([1e-12]))
    >>> float(found.time) == np.pi / 2, found.which.tolist()
    (True, [0])
    """
    noise = np.asarray(noise, dtype=float)
    if noise.ndim != 1 or not np.all(noise > 0.0):
        raise ValueError("noise must be one number above 0 for every function.")
    if not (np.isfinite(start) and np.isfinite(end) and start <= end):
        raise ValueError(f"the interval from {start} to {end} is empty or not finite.")
    if noise.size == 0:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        return _Search(functions, float(start), float(end), noise).first(max(int(pieces), 1))


@dataclass(frozen=True, eq=False)
class _Fall:
    """Function ``number`` is not yet below −noise at ``before`` and is so at ``after`` [s]."""

    number: int
    before: float
    after: float


@dataclass(frozen=True, eq=False)
class _Series:
    """Chebyshev series (degree + 1, m) on an interval: how far they are off, and below what they have an event."""

    coefficients: np.ndarray
    error: np.ndarray
    resolved: np.ndarray
    level: np.ndarray

    @property
    def safe(self) -> np.ndarray:
        """Functions (m,) that are proven to have no event, resolved or not."""
        rest = np.abs(self.coefficients[1:]).sum(axis=0)
        lowest = self.coefficients[0] - rest
        settled = self.resolved | (self.error <= 1e-3 * rest)
        return settled & (lowest > np.where(self.resolved, -self.level, _DOUBTFUL * self.error))


class _Search:
    """One search: the functions with a counter, and what was given."""

    def __init__(self, functions: Functions, start: float, end: float, noise: np.ndarray) -> None:
        self.functions, self.start, self.end, self.noise = functions, start, end, noise
        self.evaluations = 0
        self.roughness = np.zeros(len(noise))  # found of functions that are no smoother on shorter intervals

    def first(self, pieces: int) -> Crossing | None:
        if self.end - self.start <= _SHORTEST * abs(self.end):
            return self._at_once()
        edges = np.linspace(self.start, self.end, pieces + 1)
        done, at_once = 0, 1
        while done < pieces:
            count = min(at_once, pieces - done)
            left, right = edges[done : done + count], edges[done + 1 : done + count + 1]
            for i, series in enumerate(self._series(left, right, COARSE)):
                doubtful = np.flatnonzero(~series.safe)
                if doubtful.size:
                    found = self._through(float(left[i]), float(right[i]), doubtful, series)
                    if found is not None:
                        return found
            done += count
            at_once = min(2 * at_once, _MOST_PIECES_AT_ONCE)
        return None

    def _at_once(self) -> Crossing | None:
        below = np.flatnonzero(self._values(np.array([self.end]))[0] < -self.noise)
        return Crossing(self.start, below, self.evaluations) if below.size else None

    def _values(self, times: np.ndarray) -> np.ndarray:
        self.evaluations += len(times)
        return np.asarray(self.functions(times), dtype=float).reshape(len(times), -1)

    def _series(self, left: np.ndarray, right: np.ndarray, degree: int) -> list[_Series]:
        """Series on several intervals from one evaluation."""
        nodes, to_coefficients, at_checks = _nodes(degree)
        places = np.concatenate([nodes, CHECKS])
        times = left[:, None] + (right - left)[:, None] * (0.5 * (1.0 + places))
        times[:, degree] = right
        values = self._values(times.ravel()).reshape(len(left), len(places), -1)
        return [
            self._judged(to_coefficients @ value[: degree + 1], value, at_checks, (a, b))
            for value, a, b in zip(values, left, right, strict=True)
        ]

    def _judged(
        self, c: np.ndarray, values: np.ndarray, at_checks: np.ndarray, interval: tuple[float, float]
    ) -> _Series:
        degree = len(c) - 1
        size = np.abs(c)
        tail = size[-2:].max(axis=0)
        tail = np.maximum(tail, np.abs(at_checks @ c - values[degree + 1 :]).max(axis=0))
        largest = size.max(axis=0)
        steepest = np.abs(np.diff(values[: degree + 1], axis=0)).max(axis=0) * degree
        clock = _EPS * max(abs(interval[0]), abs(interval[1])) / (interval[1] - interval[0])
        round_off = 8.0 * _EPS * largest + clock * steepest
        quarter = size[degree // 2 : degree // 2 + degree // 4].max(axis=0)
        flat = (tail <= _FLAT * largest) & (quarter <= _FLAT * largest) & (tail >= 0.1 * quarter)
        resolved = (tail <= np.maximum(0.125 * self.noise, round_off)) | flat
        resolved &= ~self._better_halved(size, tail)
        resolved |= tail <= _NOISY * self.roughness
        level = np.maximum(self.noise, np.where(resolved, 4.0 * tail, 0.0))
        return _Series(c, tail, resolved, level)

    def _better_halved(self, size: np.ndarray, tail: np.ndarray) -> np.ndarray:
        """Functions (m,) that vary so much that their round-off hides the noise, which halving a few times cures."""
        largest, varies = size.max(axis=0), size[1:].sum(axis=0)
        hidden = (4.0 * tail > self.noise) & (tail <= 64.0 * _EPS * largest) & (varies >= 0.5 * largest)
        return hidden & (self.noise > _EPS * largest)

    def _through(self, left: float, right: float, doubtful: np.ndarray, series: _Series) -> Crossing | None:
        """The first event in one interval among the doubtful functions; halved where they are not resolved."""
        waiting: list[tuple[float, float, np.ndarray, _Series | None, tuple[np.ndarray, ...]]]
        waiting = [(left, right, doubtful, series, ())]
        while waiting:
            a, b, which, known, errors = waiting.pop()
            series = known or self._series(np.array([a]), np.array([b]), COARSE)[0]
            which = which[~series.safe[which]]
            if not np.all(series.resolved[which]):
                series = self._series(np.array([a]), np.array([b]), FINE_DEGREE)[0]
                if len(errors) == _HALVINGS:
                    self._find_roughness(a, b, series.error >= _STAYS * errors[0])
                errors = (*errors, series.error)[-_HALVINGS:]
                which = which[~series.safe[which]]
            if which.size == 0:
                continue
            middle = 0.5 * (a + b)
            long = b - a > _SHORTEST * max(abs(a), abs(b))
            if not long and not np.all(np.isfinite(series.coefficients)):
                raise ValueError(f"the functions are not finite at {middle}.")
            if long and not np.all(series.resolved[which]):
                waiting += [(middle, b, which, None, errors), (a, middle, which, None, errors)]
                continue
            falls = [fall for j in which if (fall := _first_fall(int(j), series, a, b)) is not None]
            if falls:
                return self._earliest(falls)
        return None

    def _find_roughness(self, left: float, right: float, which: np.ndarray) -> None:
        """Take what both halves of an interval have in common for noise of the functions ``which`` (m,): a jump is in
        one of them only."""
        if np.any(which):
            middle = 0.5 * (left + right)
            halves = self._series(np.array([left, middle]), np.array([middle, right]), FINE_DEGREE)
            common = np.minimum(*(half.error for half in halves))
            self.roughness = np.where(which & (common > self.roughness), common, self.roughness)

    def _earliest(self, falls: list[_Fall]) -> Crossing:
        falls = sorted(falls, key=lambda fall: fall.before)
        first, time, later = falls[0], self._zero(falls[0]), falls[1:]
        for fall in falls[1:]:
            if fall.before > time + self._same:
                break
            if (zero := self._zero(fall)) < time:
                first, time, later = fall, zero, falls
        zero_now, which = self._falling_at(time, first)
        for fall in later:
            if zero_now[fall.number] and not which[fall.number]:
                which[fall.number] = self._zero(fall) <= time + self._same
        return Crossing(time, np.flatnonzero(which), self.evaluations)

    @property
    def _same(self) -> float:
        """Times not further apart are the same [s]."""
        return 4.0 * _EPS * max(abs(self.start), abs(self.end))

    def _zero(self, fall: _Fall) -> float:
        """The zero crossing from above before the fall."""
        j = fall.number
        times = np.array([fall.after, fall.before])
        values = self._values(times)[:, j]
        if values[0] >= 0.0:
            return fall.after
        if values[1] <= 0.0:
            shares = 0.5 ** np.arange(52)
            times = self.start + (fall.before - self.start) * np.concatenate([shares, 1.0 - shares])
            times = np.unique(times)[::-1]
            values = self._values(times)[:, j]
            values[0] = min(values[0], 0.0)
        above = np.flatnonzero(values > 0.0)
        if above.size == 0:
            return self.start
        i = int(above[0])
        return self._root(j, (float(times[i]), values[i]), (float(times[i - 1]), values[i - 1]))

    def _root(self, number: int, above: tuple[float, float], below: tuple[float, float]) -> float:
        """The zero between a time with a value above zero and a later one with a value not above, to round-off.

        Every round looks around the secant's zero, and at equal distances in case that the function is not straight.
        """
        around = 0.1 ** np.arange(1, 16)
        shares = np.concatenate([-around, [0.0], around])
        for _ in range(_ROUNDS):
            (a, high), (b, low) = above, below
            if low == 0.0:
                break
            secant = a + (b - a) * (high / (high - low))
            times = np.concatenate([secant + (b - a) * shares, np.linspace(a, b, 10)[1:-1]])
            times = np.unique(times[(times > a) & (times < b)])
            if times.size == 0:
                break
            values = self._values(times)[:, number]
            first = int(np.argmax(values <= 0.0)) if np.any(values <= 0.0) else len(times)
            if first < len(times):
                below = (float(times[first]), float(values[first]))
            if first > 0:
                above = (float(times[first - 1]), float(values[first - 1]))
        return above[0] if above[1] < -below[1] else below[0]

    def _falling_at(self, time: float, first: _Fall) -> tuple[np.ndarray, np.ndarray]:
        """Functions (m,) that count as zero at ``time``, and those that fall from there as soon as the first one."""
        longest = max(first.after - time, self._same)
        times = np.minimum(time + longest * 2.0 ** np.arange(-51, 5), max(self.end, first.after))
        values = self._values(np.concatenate([[time], times]))
        zero = np.abs(values[0]) <= self.noise
        below = values[1:] < -self.noise
        soon = int(np.argmax(below[:, first.number])) + 5
        falling = zero & np.any(below[:soon], axis=0)
        falling[first.number] = True
        return zero, falling


def _first_fall(number: int, series: _Series, left: float, right: float) -> _Fall | None:
    """Where the series of one function falls below its level for the first time."""
    level = float(series.level[number])
    waiting = [(-1.0, 1.0, series.coefficients[:, number])]
    parts = _parts(len(series.coefficients) - 1)
    signs = (-1.0) ** np.arange(len(series.coefficients))
    squares = np.arange(2, len(series.coefficients)) ** 2.0

    def fall(before: float, after: float) -> _Fall:
        time = [right if x == 1.0 else left + (right - left) * 0.5 * (1.0 + x) for x in (before, after)]
        return _Fall(number, time[0], time[1])

    while waiting:
        a, b, c = waiting.pop()
        if float(signs @ c) < -level:
            return fall(a, a)
        falling = -c[1] > squares @ np.abs(c[2:])
        if falling or b - a <= 1e-14 or np.abs(c[1:]).sum() <= 0.05 * level:
            if c.sum() < -level:
                return fall(a, b)
            continue
        pieces = parts @ c
        low = pieces[:, 0] - np.abs(pieces[:, 1:]).sum(axis=1) < -level * (1.0 + 1e-6)
        edges = a + (b - a) * np.arange(PARTS + 1) / PARTS
        waiting += [(edges[i], edges[i + 1], pieces[i]) for i in np.flatnonzero(low)[::-1]]
    return None


@lru_cache(maxsize=4)
def _nodes(degree: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chebyshev nodes (degree + 1,), the matrix from values there to coefficients, and T_k at the checks."""
    nodes = -np.cos(np.pi * np.arange(degree + 1) / degree)
    nodes[degree // 2] = 0.0
    return nodes, np.linalg.inv(chebyshev.chebvander(nodes, degree)), chebyshev.chebvander(CHECKS, degree)


@lru_cache(maxsize=4)
def _parts(degree: int) -> np.ndarray:
    """Matrices (parts, degree + 1, degree + 1) from the coefficients of a series to those of its parts."""
    nodes, to_coefficients, _ = _nodes(degree)
    middles = -1.0 + (2.0 * np.arange(PARTS) + 1.0) / PARTS
    return np.array([to_coefficients @ chebyshev.chebvander(m + nodes / PARTS, degree) for m in middles])
