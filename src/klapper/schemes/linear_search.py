"""Where a linear motion over many oscillations can have an event: all pieces at once, by products of matrices.

In a phase of a linear system all event functions are rows times the extended state x, x' = A x. With pieces of one
length h, the states at their beginnings are e^{A h j} x(0), by doubling, and the values at the nodes of a Chebyshev
series in every piece follow from one product with W e^{A τ_k}. A piece whose series stays above zero by far more than
round-off has no event; only the others are searched by :mod:`klapper.schemes.first_crossing`.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import chebyshev

from klapper.schemes.matrix_exponential import Exponential

_DEGREE = 16
_NODES = -np.cos(np.pi * np.arange(_DEGREE + 1) / _DEGREE)
_TO_SERIES = np.linalg.inv(chebyshev.chebvander(_NODES, _DEGREE))
_CLEAR = 1e-9  # of the terms of a function: far above the round-off of products of powers
_TAIL = 32.0  # times the last two coefficients: what the series may err
_FIRST, _MOST = 16, 1024  # pieces at once


class Pieces:
    """Pieces of the length ``length`` [s] of the solutions of x' = A x."""

    def __init__(self, exponential: Exponential, length: float) -> None:
        self.length = length
        self._nodes = np.array([exponential.matrix(0.5 * length * (1.0 + x)) for x in _NODES])
        self._powers = [self._nodes[-1]]

    def starts(self, first: np.ndarray, count: int) -> np.ndarray:
        """States (N, count) at the beginnings of pieces, from the first one (N,)."""
        states, at = first[:, None], 0
        while states.shape[1] < count:
            if at == len(self._powers):
                self._powers.append(self._powers[-1] @ self._powers[-1])
            states = np.hstack([states, self._powers[at] @ states])
            at += 1
        return states[:, :count]

    def first_doubtful(self, rows: np.ndarray, offset: np.ndarray, first: np.ndarray, count: int) -> int:
        """Number of the first of ``count`` pieces in which a function (f, N) x + (f,) may come near zero, or count."""
        of_nodes = rows @ self._nodes  # (17, f, N)
        done, at_once = 0, _FIRST
        while done < count:
            states = self.starts(first, min(at_once, count - done) + 1)
            values = of_nodes @ states[:, :-1] + offset[:, None]  # (17, f, c)
            terms = np.abs(rows) @ np.abs(states[:, :-1]) + np.abs(offset)[:, None]
            series = np.tensordot(_TO_SERIES, values, axes=1)
            size = np.abs(series)
            lowest = series[0] - size[1:].sum(axis=0)
            clear = lowest > _TAIL * (size[-1] + size[-2]) + _CLEAR * terms
            doubtful = np.flatnonzero(~clear.all(axis=0))
            if doubtful.size:
                return done + int(doubtful[0])
            done += states.shape[1] - 1
            first, at_once = states[:, -1], min(2 * at_once, _MOST)
        return count
