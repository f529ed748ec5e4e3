"""Fourier series of a motion with a known period, and its samples.

    x(θ) = Re Σ_k X_k e^{ikθ},   k = 0 … K,   θ_n = 2π n / N

One period of the motion is θ = 0 … 2π; X_0 is real. A linear functional of the amplitudes is kept as complex numbers b
with the value Re Σ_k b_k X_k.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Grid:
    """``count`` K harmonics besides the mean, ``samples`` N > 2 K of a period."""

    count: int
    samples: int

    @property
    def orders(self) -> np.ndarray:
        """k (K + 1,)."""
        return np.arange(self.count + 1)

    @cached_property
    def angles(self) -> np.ndarray:
        """θ (N,) [rad]."""
        return 2.0 * np.pi * np.arange(self.samples) / self.samples

    @property
    def spacing(self) -> float:
        """[rad]."""
        return 2.0 * np.pi / self.samples

    @cached_property
    def waves(self) -> np.ndarray:
        """e^{ikθ} (N, K + 1): the functionals "value at a sample"."""
        return np.exp(1j * np.multiply.outer(self.angles, self.orders))

    def to_time(self, amplitudes: np.ndarray) -> np.ndarray:
        """Samples (N, …) of amplitudes (K + 1, …)."""
        return series(amplitudes, self.samples)

    def to_harmonics(self, values: np.ndarray) -> np.ndarray:
        """Amplitudes (K + 1, …) of samples (N, …)."""
        return amplitudes_of(values, self.count)

    def derivative_rows(self, functionals: np.ndarray) -> np.ndarray:
        """Amplitudes of what has the functionals b (N, …) at its samples, as rows (2 K + 1, …) of functionals.

        The first K + 1 rows are real parts, the others imaginary parts.
        """
        whole = np.fft.fft(functionals, axis=0) * (2.0 / self.samples)
        ahead = whole[self.orders]
        behind = whole[-self.orders]
        real = 0.5 * (ahead + behind)
        real[0] *= 0.5
        return np.concatenate([real, (0.5j * (behind - ahead))[1:]])


def series(amplitudes: np.ndarray, samples: int) -> np.ndarray:
    """x at ``samples`` N equal steps of a period, (N, …), of amplitudes (K + 1, …) with 2 K < N."""
    spectrum = np.zeros((samples // 2 + 1, *amplitudes.shape[1:]), dtype=complex)
    spectrum[: len(amplitudes)] = 0.5 * samples * amplitudes
    spectrum[0] = samples * amplitudes[0].real
    return np.fft.irfft(spectrum, samples, axis=0)


def amplitudes_of(values: np.ndarray, count: int) -> np.ndarray:
    """Amplitudes (count + 1, …) of N samples (N, …), 2 · count < N."""
    spectrum = np.fft.rfft(values, axis=0)[: count + 1] * (2.0 / len(values))
    spectrum[0] *= 0.5
    return spectrum


def packed(amplitudes: np.ndarray) -> np.ndarray:
    """Amplitudes (K + 1, c) as real numbers ((2 K + 1) c,): real parts, then imaginary parts from k = 1 on."""
    return np.concatenate([amplitudes.real.ravel(), amplitudes[1:].imag.ravel()])


def unpacked(numbers: np.ndarray, count: int, columns: int) -> np.ndarray:
    """Amplitudes (K + 1, c) of :func:`packed` numbers."""
    real, imaginary = np.split(numbers, [(count + 1) * columns])
    amplitudes = real.reshape(count + 1, columns).astype(complex)
    amplitudes[1:] += 1j * imaginary.reshape(count, columns)
    return amplitudes
