"""Given motions and loads as solutions of a linear equation: sums of constants, ramps and harmonics.

    σ(t) = (1, t, t²/2, cos ω₁t, sin ω₁t, …),      σ' = S σ

so that a linear system under such loads is one homogeneous linear equation for its state together with σ. Everything
else has no closed form and is refused by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.signals import Constant, Harmonic, Ramp, Signal, Sum


class TimeFunctions:
    """σ(t) = (1, t, t²/2, cos ω₁t, sin ω₁t, …), closed under differentiation: σ' = ``derivative`` σ.

    A signal is a row of ``coefficients`` (…, s) over them.
    """

    def __init__(self, signals: Sequence[tuple[Signal, str]]) -> None:
        found = {abs(part.angular_frequency) for signal, name in signals for part in _harmonics(signal, name)}
        self.frequencies = np.array(sorted(found - {0.0}))
        self.count = 3 + 2 * len(self.frequencies)

    @cached_property
    def derivative(self) -> np.ndarray:
        matrix = np.zeros((self.count, self.count))
        matrix[1, 0] = matrix[2, 1] = 1.0
        for i, frequency in enumerate(self.frequencies):
            cos, sin = 3 + 2 * i, 4 + 2 * i
            matrix[cos, sin], matrix[sin, cos] = -frequency, frequency
        return matrix

    def values(self, time: float) -> np.ndarray:
        angles = self.frequencies * time
        return np.concatenate(
            [[1.0, time, 0.5 * time**2], np.column_stack([np.cos(angles), np.sin(angles)]).ravel()]
        )

    def coefficients(self, signal: Signal) -> np.ndarray:
        rows = np.zeros((*signal.shape, self.count))
        for part in _parts(signal):
            if isinstance(part, Constant):
                rows[..., 0] += part.amount
            elif isinstance(part, Ramp):
                rows[..., 0] += part.start
                rows[..., 1] += part.speed
            elif isinstance(part, Harmonic):
                self._add_harmonic(rows, part)
        return rows

    def _add_harmonic(self, rows: np.ndarray, part: Harmonic) -> None:
        frequency, phase = part.angular_frequency, part.phase
        if frequency == 0.0:
            rows[..., 0] += part.amplitude * np.cos(phase)
            return
        cos = 3 + 2 * int(np.searchsorted(self.frequencies, abs(frequency)))
        rows[..., cos] += part.amplitude * np.cos(phase)
        rows[..., cos + 1] -= part.amplitude * np.sin(phase) * np.sign(frequency)

    def integral(self, rows: np.ndarray) -> np.ndarray:
        """Coefficients of an antiderivative; that of t²/2 is not among the functions and must not be needed."""
        result = np.zeros_like(rows)
        result[..., 1:3] = rows[..., 0:2]
        for i, frequency in enumerate(self.frequencies):
            cos, sin = 3 + 2 * i, 4 + 2 * i
            result[..., sin], result[..., cos] = rows[..., cos] / frequency, -rows[..., sin] / frequency
        return result


def _parts(signal: Signal) -> list[Signal]:
    return [inner for part in signal.parts for inner in _parts(part)] if isinstance(signal, Sum) else [signal]


def _harmonics(signal: Signal, name: str) -> list[Harmonic]:
    parts = _parts(signal)
    for part in parts:
        if not isinstance(part, Constant | Ramp | Harmonic):
            raise InvalidModel(
                f"{name} is a {type(part).__name__}, which has no closed form; give it as a sum of Constant, Ramp and "
                f"Harmonic signals, or use EventDriven."
            )
    return [part for part in parts if isinstance(part, Harmonic)]
