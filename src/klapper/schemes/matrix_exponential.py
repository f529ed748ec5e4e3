"""Solutions of x' = A x at many times, without eigenvectors.

    x(j h + r) = e^{A r} (e^{A h})^j x(0),      ‖A h‖ ≤ 1,  |r| ≤ h/2,

a Taylor polynomial and products of powers e^{A h 2^i}: rigid motion, resonance and critical damping are cases like all
others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_TERMS = 16  # of the Taylor polynomial over half a step: 2^-17 / 17! is far below round-off
_FIRST, _FIRST_TERMS = 16, 12  # e^{A h} is the 16th power of a Taylor polynomial over h/16
_QUICK = 48  # states up to which extended precision, which is not threaded, costs no more than milliseconds


class Exponential:
    """x(τ) = e^{A τ} x₀ at many times.

    ``units``    (N,) powers of two in which the states are measured
    ``precise``  products of powers in extended precision
    """

    def __init__(self, matrix: np.ndarray, units: np.ndarray, *, precise: bool = True) -> None:
        self._units, self._extended = units, precise and len(matrix) <= _QUICK
        scaled = matrix * units / units[:, None]
        size = float(np.linalg.norm(scaled, 2)) if matrix.size else 0.0
        self.step = 2.0 ** -np.ceil(np.log2(size)) if size > 0.0 else 1.0
        self._matrix = scaled * self.step
        terms = [np.eye(len(matrix))]
        for k in range(1, _TERMS + 1):
            terms.append(self._matrix @ terms[-1] / k)
        self._taylor = np.array(terms)
        self._powers: list[np.ndarray] = []
        self._precise: Any = None

    def __call__(self, durations: np.ndarray, start: np.ndarray) -> np.ndarray:
        """States (k, N) after the durations (k,) [s] from the state (N,)."""
        number = np.rint(durations / self.step)
        rest = durations / self.step - number
        which, place = np.unique(number.astype(np.int64), return_inverse=True)
        powers = rest ** np.arange(_TERMS + 1)[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            series = self._taylor @ self._after_steps(which, start / self._units)
            return np.einsum("knj,kj->jn", series[:, :, place], powers) * self._units

    def matrix(self, duration: float) -> np.ndarray:
        """e^{A τ} (N, N) after one duration τ [s]."""
        if duration < 0.0:
            return np.linalg.inv(self.matrix(-duration))
        number = int(np.rint(duration / self.step))
        rest = duration / self.step - number
        total = np.einsum("kij,k->ij", self._taylor, rest ** np.arange(_TERMS + 1))
        for i in range(number.bit_length()):
            if (number >> i) & 1:
                total = self._power(i) @ total
        return total * self._units[:, None] / self._units

    def _after_steps(self, number: np.ndarray, start: np.ndarray) -> np.ndarray:
        """States (N, J) after whole numbers (J,) of steps."""
        states = np.tile(start[:, None], len(number))
        for i in range(int(number.max(initial=0)).bit_length()):
            odd = (number >> i) & 1 == 1
            if odd.all():
                states = self._power(i) @ states
            elif odd.any():
                states[:, odd] = self._power(i) @ states[:, odd]
        return states

    def _power(self, i: int) -> np.ndarray:
        """e^{A h 2^i}; products in extended precision where that is quick, so that phases stay right for long."""
        if self._precise is None:
            precision: Any = np.longdouble if self._extended else np.double
            first: Any = self._matrix.astype(precision) / _FIRST
            total: Any = np.eye(len(first), dtype=precision)
            term = total
            for k in range(1, _FIRST_TERMS + 1):
                term = first @ term / k
                total = total + term
            for _ in range(_FIRST.bit_length() - 1):
                total = total @ total
            self._precise = total
            self._powers.append(total.astype(float))
        while len(self._powers) <= i:
            self._precise = self._precise @ self._precise
            self._powers.append(self._precise.astype(float))
        return self._powers[i]
