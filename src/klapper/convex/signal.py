"""A velocity that jumps: samples, one-sided limits, differential measure and total variation.

    ∫_[a,b] dv = v⁺(b) - v⁻(a),   dv({t}) = v⁺(t) - v⁻(t)                 Waltersberger (C.5), (C.6)
    var v = sup Σ |v(t_{i+1}) - v(t_i)|                                     Waltersberger (C.3)

A jump is a time that stands twice in the list of samples, first with v⁻, then with v⁺.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from klapper.convex._arguments import Array, frozen_array


@dataclass(frozen=True, eq=False)
class PiecewiseSignal:
    """Piecewise smooth signal of bounded variation, linear between its samples and constant beyond them.

    ``times``   (K,) [s], not decreasing; a time given twice marks a jump
    ``values``  (K, n), v(t) in its unit; where a time stands twice v⁻ comes first

    The unit step at t = 1 s:

    >>> step = PiecewiseSignal([0.0, 1.0, 1.0, 2.0], [[0.0], [0.0], [1.0], [1.0]])
    >>> step.atom(1.0).tolist(), step.variation()
    ([1.0], 1.0)
    >>> step.measure(0.0, 1.0).tolist(), step.measure(0.0, 0.5).tolist()
    ([1.0], [0.0])
    """

    times: Array
    values: Array

    def __post_init__(self) -> None:
        times = frozen_array("times", self.times, (None,))
        if times.size < 1 or (np.diff(times) < 0.0).any():
            raise ValueError("times must hold at least one instant and must not decrease")
        if (times[2:] == times[:-2]).any():
            raise ValueError("times holds an instant three times, a jump has two values: before and after")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", frozen_array("values", self.values, (times.size, None)))

    @classmethod
    def from_pieces(
        cls, breaks: ArrayLike, pieces: Sequence[Callable[[Array], ArrayLike]], samples: int = 1001
    ) -> "PiecewiseSignal":
        """Sample smooth pieces, one function t ↦ v(t), (K,) → (K, n), for each interval between ``breaks``.

        >>> fall, rise = lambda t: -t[:, None], lambda t: 1.5 - t[:, None]
        >>> bounce = PiecewiseSignal.from_pieces([0.0, 1.0, 2.0], [fall, rise])
        >>> bounce.atom(1.0).tolist(), round(bounce.variation(), 12)
        ([1.5], 3.5)
        """
        ends = frozen_array("breaks", breaks, (len(pieces) + 1,))
        if (np.diff(ends) <= 0.0).any():
            raise ValueError("breaks must increase strictly")
        grids = [np.linspace(start, end, samples) for start, end in pairwise(ends)]
        sampled = [np.asarray(piece(grid), dtype=float) for piece, grid in zip(pieces, grids, strict=True)]
        return cls(np.concatenate(grids), np.concatenate(sampled))

    def before(self, time: float) -> Array:
        """v⁻(t), shape (n,)."""
        return self._limit(time, "left")

    def after(self, time: float) -> Array:
        """v⁺(t), shape (n,)."""
        return self._limit(time, "right")

    def atom(self, time: float) -> Array:
        """dv({t}) = v⁺(t) - v⁻(t), shape (n,); zero where the signal is continuous. Waltersberger (C.6)."""
        return self.after(time) - self.before(time)

    def atoms(self) -> tuple[Array, Array]:
        """Times (J,) and heights (J, n) of all jumps."""
        heights = np.diff(self.values, axis=0)
        jump = (np.diff(self.times) == 0.0) & heights.any(axis=1)
        return self.times[:-1][jump], heights[jump]

    def measure(self, start: float, end: float) -> Array:
        """∫_[start, end] dv = v⁺(end) - v⁻(start), shape (n,), ends included. Waltersberger (C.5)."""
        if not start <= end:
            raise ValueError(f"start is {start:g} and end is {end:g}, start <= end is required")
        return self.after(end) - self.before(start)

    def variation(self) -> float:
        """Total variation in the Euclidean norm, atoms included. Waltersberger (C.3)."""
        return float(np.linalg.norm(np.diff(self.values, axis=0), axis=1).sum())

    def integral(self, weight: Callable[[Array], ArrayLike]) -> float:
        """∫ wᵀdv over all time, weight t ↦ w(t) continuous, (K,) → (K, n), by the trapezoidal rule.

        At a jump it adds w(t)ᵀ(v⁺ - v⁻), Waltersberger (C.2).
        """
        weights = np.asarray(weight(self.times), dtype=float).reshape(self.values.shape)
        return float(np.sum(0.5 * (weights[1:] + weights[:-1]) * np.diff(self.values, axis=0)))

    def smooth_part(self) -> "PiecewiseSignal":
        """The signal without its jumps: starts from the same value and has the same rate."""
        steps = np.diff(self.values, axis=0) * (np.diff(self.times) > 0.0)[:, None]
        return PiecewiseSignal(
            self.times, self.values[0] + np.vstack([np.zeros(steps.shape[1]), steps.cumsum(axis=0)])
        )

    def jump_part(self) -> "PiecewiseSignal":
        """The jumps alone, starting from zero, so that smooth part + jump part is the signal."""
        return PiecewiseSignal(self.times, self.values - self.smooth_part().values)

    def __add__(self, other: "PiecewiseSignal") -> "PiecewiseSignal":
        """Sum of two signals, sampled at the instants of both; a jump of either is a jump of the sum."""
        if self.values.shape[1] != other.values.shape[1]:
            raise ValueError(
                f"the signals have {self.values.shape[1]} and {other.values.shape[1]} components, "
                "both must have the same number"
            )
        jumps = np.union1d(self.atoms()[0], other.atoms()[0])
        instants = np.union1d(self.times, other.times)
        times = np.sort(np.concatenate([instants, jumps]))
        second = np.append(False, times[1:] == times[:-1])
        values = [
            self.after(t) + other.after(t) if late else self.before(t) + other.before(t)
            for t, late in zip(times, second, strict=True)
        ]
        return PiecewiseSignal(times, np.array(values))

    def _limit(self, time: float, side: str) -> Array:
        # the sample next to ``time`` from the asked side, then linear interpolation within its piece
        last = self.times.size - 1
        if side == "right":
            left = int(np.searchsorted(self.times, time, side="right")) - 1
            right = left if left >= 0 and self.times[left] == time else left + 1
        else:
            right = int(np.searchsorted(self.times, time, side="left"))
            left = right if right <= last and self.times[right] == time else right - 1
        left, right = (min(max(index, 0), last) for index in (left, right))
        width = self.times[right] - self.times[left]
        share = (time - self.times[left]) / width if width > 0.0 else 0.0
        return (1.0 - share) * self.values[left] + share * self.values[right]
