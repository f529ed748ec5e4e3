"""The first switch of regularised contacts in a smooth step, found with few looks at the contacts.

A function whose fall through zero ends a branch of a law is sampled at the nodes of Chebyshev over the step,
x_j = −cos(π j / n), and written as Σ_k c_k T_k(x). It is far from zero all the time if

    c_0 − Σ_{k≥1} |c_k| > 10 (|c_{n−1}| + |c_n|)

since the last terms tell the error of the series.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.polynomial import chebyshev

from klapper.schemes.first_crossing import Crossing, first_crossing
from klapper.schemes.friction_branches import NOISE
from klapper.schemes.regularised_phase import Phase
from klapper.schemes.smooth_step import SmoothStep

_NODES = -np.cos(np.pi * np.arange(17) / 16)  # every fourth of them is enough for a first look
_TO_SERIES = np.linalg.inv(chebyshev.chebvander(_NODES, 16))
_TO_SHORT_SERIES = np.linalg.inv(chebyshev.chebvander(_NODES[::4], 4))


class SwitchSearch:
    """The search for the first switch in a step, with few looks at the contacts.

    Five looks show in most steps that all functions stay far from zero. Else seventeen give Chebyshev series, which the
    search uses instead of the functions if they are as good.
    """

    def __init__(self, phase: Phase, smooth: SmoothStep) -> None:
        self.phase, self.smooth, self.looks = phase, smooth, 0
        self.middle, self.half = 0.5 * (smooth.start + smooth.end), 0.5 * (smooth.end - smooth.start)

    def first(self) -> Crossing | None:
        values, terms = self._look(self.middle + self.half * _NODES[::4])
        if np.all(_far_from_zero(values)):
            return None
        noise = NOISE * terms.max(axis=0) + np.finfo(float).tiny
        between = np.arange(len(_NODES)) % 4 != 0
        finer = np.empty((len(_NODES), values.shape[1]))
        finer[~between], finer[between] = values, self._values(self.middle + self.half * _NODES[between])
        series = _TO_SERIES @ finer
        functions = self._values
        if np.all(np.abs(series[-3:]).max(axis=0) <= 0.1 * noise):
            functions = partial(_series_values, series, self.middle, self.half)
        return first_crossing(functions, self.smooth.start, self.smooth.end, noise)

    def _values(self, times: np.ndarray) -> np.ndarray:
        return self._look(times)[0]

    def _look(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The functions (k, m) whose fall through zero ends the phase, and the size of their terms."""
        self.looks += len(times)
        looks = [self.phase.ends(t, y) for t, y in zip(times, self.smooth.dense(times), strict=True)]
        return np.array([look[0] for look in looks]), np.array([look[1] for look in looks])


def _series_values(series: np.ndarray, middle: float, half: float, times: np.ndarray) -> np.ndarray:
    return chebyshev.chebval((times - middle) / half, series).T


def _far_from_zero(values: np.ndarray) -> np.ndarray:
    """Functions (m,) that stay above zero by far, from their values (5, m) at the few Chebyshev nodes.

    Their series of the degree 4 must stay above ten times its last two terms.
    """
    series = _TO_SHORT_SERIES @ values
    size = np.abs(series)
    lowest = series[0] - size[1:].sum(axis=0)
    return lowest > 10.0 * (size[3] + size[4])
