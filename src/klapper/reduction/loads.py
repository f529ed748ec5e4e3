"""The load of a system, by its patterns over the coordinates: which shapes it needs, what it deforms statically."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.mechanics import Constant, Signal

_LOOKS = np.concatenate(
    [[0.0], np.geomspace(1e-4, 1e2, 16)]
)  # s after the start, where functions of time are asked
_SAME = 1e-10  # relative size below which a pattern is a combination of others


class _Operator:
    """A linear map that is known by what it does, in the place of a matrix."""

    def __init__(self, action: Callable[[np.ndarray], np.ndarray], size: int) -> None:
        self._action, self.shape = action, (size, size)

    def __matmul__(self, vector: np.ndarray) -> np.ndarray:
        return self._action(vector)


def is_nothing(load: Signal) -> bool:
    return load.constant and not np.any(load.value(0.0))


def response(load: Signal, respond: Callable[[np.ndarray], np.ndarray]) -> Signal | None:
    """F f(t) (n,) of a load f(t) (n,) and a static response F; None if there is no load."""
    return None if is_nothing(load) else load.mapped(_Operator(respond, load.shape[0]))


def patterns(load: Signal, start: float) -> np.ndarray:
    """Independent patterns (n, k) of unit length that the load consists of.

    Exact for loads that are patterns times courses in time; of a function of time, those it shows at some times.
    """
    seen: list[np.ndarray] = []

    def noted(pattern: np.ndarray) -> np.ndarray:
        seen.append(np.array(pattern, dtype=float))
        return pattern

    load.mapped(_Operator(noted, load.shape[0])).value(start + _LOOKS)
    columns = np.array([pattern / np.linalg.norm(pattern) for pattern in seen if np.any(pattern)])
    if not len(columns):
        return np.zeros((load.shape[0], 0))
    left, values, _ = np.linalg.svd(columns.T, full_matrices=False)
    return left[:, values > _SAME * values[0]]


class _Remembered:
    """A signal of many numbers, of which each is asked at the same times: the last answers are kept."""

    def __init__(self, signal: Signal) -> None:
        self._signal = signal
        self._last: dict[str, tuple[Any, np.ndarray]] = {}

    def at(self, what: str, time: Any) -> np.ndarray:
        """``what`` is value, rate or acceleration."""
        when, answer = self._last.get(what, (None, np.zeros(0)))
        same = (
            when == time
            if isinstance(when, float) and isinstance(time, float)
            else np.array_equal(when, time)
        )
        if when is None or not same:
            answer = getattr(self._signal, what)(time)
            self._last[what] = (time if isinstance(time, float) else np.array(time), answer)
        return answer


@dataclass(frozen=True, eq=False)
class _Component(Signal):
    """One number of a signal of many, and a constant ``offset``."""

    whole: _Remembered
    number: int
    offset: float = 0.0

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def value(self, time: Any) -> np.ndarray:
        return self.whole.at("value", time)[..., self.number] + self.offset

    def rate(self, time: Any) -> np.ndarray:
        return self.whole.at("rate", time)[..., self.number]

    def acceleration(self, time: Any) -> np.ndarray:
        return self.whole.at("acceleration", time)[..., self.number]


def gap_shifts(load: Signal, by_force: np.ndarray) -> Sequence[Signal] | None:
    """Jᵀ F f(t), contact by contact, from F J (n, m), F being symmetric; None if there is no load."""
    if is_nothing(load):
        return None
    whole = load.mapped(by_force.T)
    if whole.constant:
        return [Constant(shift) for shift in whole.value(0.0)]
    shared = _Remembered(whole)
    return [_Component(shared, number) for number in range(by_force.shape[1])]


def shifted(gap: Signal, shift: Signal) -> Signal:
    """The sum of a gap and its shift, as one signal where that is possible: it is asked in every step."""
    if not gap.constant:
        return gap + shift
    offset = float(gap.value(0.0))
    if shift.constant:
        return Constant(float(shift.value(0.0)) + offset)
    if isinstance(shift, _Component):
        return _Component(shift.whole, shift.number, shift.offset + offset)
    return shift + offset
