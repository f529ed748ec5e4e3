"""Verdicts at many values of the parameters, many at once where matrices are given.

A judge is a function of the parameters. It returns a :class:`~klapper.analysis.Stability`, or the matrices (M, D, K) of
the motion, whose eigenvalues are then computed in batches on all cores. Where it raises
:class:`~klapper.mechanics.InvalidModel` there is no stationary state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.analysis.batched_eigenvalues import in_mass_units, quadratic_eigenvalues
from klapper.analysis.linear_stability import NEUTRAL, SINGULAR, Stability, checked_matrices, stability
from klapper.mechanics.errors import InvalidModel
from klapper.progress import Silent, Tally

STABLE, FLUTTER, DIVERGENCE, NONE = "stable", "flutter", "divergence", "none"
_SMALL = 1e-5  # of the largest eigenvalue: a smaller one may be a zero that the null spaces decide on
_NAMES = ("growth", "angular_frequency", "verdict", "excess")
_PIECE = 512  # points judged between two reports of progress


@dataclass(frozen=True, eq=False)
class Samples:
    """What was found at p points.

    ``growth``     (p,) [1/s] largest real part, nan where there is no stationary state
    ``angular_frequency``  (p,) [rad/s] of what grows fastest, nan where there is no stationary state
    ``verdict``    (p,) "stable", "flutter", "divergence", or "none" where there is no stationary state
    ``excess``     (p,) growth less what still counts as none; −inf where nothing grows or decays, +inf: no state
    """

    growth: np.ndarray
    angular_frequency: np.ndarray
    verdict: np.ndarray
    excess: np.ndarray

    @property
    def known(self) -> np.ndarray:
        """Where there is a stationary state (p,)."""
        return self.verdict != NONE

    @property
    def stable(self) -> np.ndarray:
        return self.verdict == STABLE

    def reshaped(self, *shape: int) -> Samples:
        return Samples(*(getattr(self, name).reshape(shape) for name in _NAMES))

    @classmethod
    def unknown(cls, count: int) -> Samples:
        nothing = np.full(count, np.nan)
        return cls(nothing, nothing.copy(), np.full(count, NONE, dtype="<U10"), np.full(count, np.inf))

    def note(self, which: Any, growth: Any, frequency: Any, neutral: Any) -> None:
        """Fill in what was found at the points ``which``."""
        self.growth[which], self.angular_frequency[which] = growth, frequency
        kind = np.where(np.asarray(frequency) <= neutral, DIVERGENCE, FLUTTER)
        self.verdict[which] = np.where(growth <= neutral, STABLE, kind)
        self.excess[which] = np.where(np.abs(growth) <= neutral, -np.inf, growth - neutral)


@dataclass(frozen=True, eq=False)
class Judge:
    """A judge of one or more parameters; growth up to ``neutral`` [1/s] counts as none, None: 1e-12 of the largest
    eigenvalue."""

    ask: Callable[..., Any]
    neutral: float | None = None

    def __post_init__(self) -> None:
        if not callable(self.ask):
            raise InvalidModel(
                f"judge is {self.ask!r}; give a function of the parameters that returns a Stability or matrices "
                f"(M, D, K)."
            )

    def at(self, points: np.ndarray, progress: Tally | Silent | None = None, done: int = 0) -> Samples:
        """Judge the points (p, parameters); ``done`` pieces of work have been reported before."""
        parts = []
        for first in range(0, len(points), _PIECE):
            parts.append(self._some(points[first : first + _PIECE]))
            if progress is not None:
                progress.count(done + min(first + _PIECE, len(points)))
        if not parts:
            return Samples.unknown(0)
        return Samples(*(np.concatenate([getattr(part, name) for part in parts]) for name in _NAMES))

    def _some(self, points: np.ndarray) -> Samples:
        answers = [self._answer(point) for point in points]
        samples = Samples.unknown(len(points))
        for i, answer in enumerate(answers):
            if isinstance(answer, Stability):
                self._note(samples, i, answer)
        matrices = {i: answer for i, answer in enumerate(answers) if isinstance(answer, tuple)}
        for size in {len(answer[0]) for answer in matrices.values()}:
            self._batch(samples, {i: answer for i, answer in matrices.items() if len(answer[0]) == size})
        return samples

    def _answer(self, point: np.ndarray) -> Any:
        try:
            answer = self.ask(*(float(value) for value in point))
        except InvalidModel:
            return None
        if isinstance(answer, Stability):
            return answer
        if not isinstance(answer, tuple | list) or len(answer) != 3:
            raise InvalidModel(
                f"judge returned a {type(answer).__name__}; it must return a Stability or the matrices (M, D, K)."
            )
        return checked_matrices(*answer)

    def _batch(self, samples: Samples, matrices: dict[int, tuple[np.ndarray, ...]]) -> None:
        """Judge matrices of one size; those with zero eigenvalues one by one."""
        which = np.array(list(matrices))
        mass, damping, stiffness = (np.array(kind) for kind in zip(*matrices.values(), strict=True))
        values = quadratic_eigenvalues(mass, damping, stiffness)
        largest, smallest = np.abs(values).max(axis=1), np.abs(values).min(axis=1)
        free = smallest <= _SMALL * largest
        free[free] = _singular(in_mass_units(mass[free], stiffness[free]))
        fastest = values[np.arange(len(which)), np.argmax(values.real, axis=1)]
        neutral = NEUTRAL * largest if self.neutral is None else np.full(len(which), self.neutral)
        samples.note(which, fastest.real, np.abs(fastest.imag), neutral)
        for i in which[free]:
            self._note(samples, int(i), stability(*matrices[int(i)]))

    def _note(self, samples: Samples, i: int, judged: Stability) -> None:
        neutral = judged.neutral if self.neutral is None else self.neutral
        samples.note(i, judged.growth, judged.angular_frequency, neutral)


def _singular(matrices: np.ndarray) -> np.ndarray:
    """Which of the matrices (k, n, n) are singular but for round-off."""
    values = np.linalg.svd(matrices, compute_uv=False)
    return values[:, -1] <= SINGULAR * values[:, 0]
