"""The period with which a system is driven, read from its loads, moving stops, belts and guides."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np

from klapper.mechanics.contacts import Contact
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem
from klapper.mechanics.signals import Harmonic, Signal, Sum
from klapper.mechanics.system import System

_PROBES = np.array([0.0, 0.37, 1.618, 7.389, 31.006])  # s after the start
_MOST_TURNS = 200  # of a forcing in the common period of several


def forcing_period(system: System) -> float | None:
    """The least period [s] of all given functions of time; None if nothing depends on time.

    Refuses functions of time whose period cannot be read off.
    """
    if not isinstance(system, LinearSystem):
        if not _depends_on_time(system):
            return None
        raise InvalidModel(
            f"'{system.name}' depends on time in a way that cannot be read off; give its period, in s."
        )
    signals = [(system.load, "the force")]
    for part in system.contacts.parts:
        if isinstance(part, Contact):
            signals.append((part.gap, f"the gap of {part.called}"))
        signals.append((part.tangential_rate, f"the tangential_rate of {part.called}"))
    signals += [(part.offset, f"the offset of {part.called}") for part in system.constraint_parts]
    frequencies = sorted({f for signal, name in signals for f in _frequencies(signal, name)})
    return 2.0 * np.pi / _common(frequencies) if frequencies else None


def _frequencies(signal: Signal, name: str) -> list[float]:
    """Angular frequencies [rad/s] of a signal."""
    if isinstance(signal, Sum):
        return [f for part in signal.parts for f in _frequencies(part, name)]
    if signal.constant:
        return []
    if isinstance(signal, Harmonic):
        return (
            [abs(signal.angular_frequency)] if np.any(signal.amplitude) and signal.angular_frequency else []
        )
    raise InvalidModel(
        f"{name} is a {type(signal).__name__}, whose period cannot be read off; give the period, in s."
    )


def _common(frequencies: list[float]) -> float:
    """The frequency [rad/s] of which all are whole multiples."""
    lowest = frequencies[0]
    ratios = [Fraction(f / lowest).limit_denominator(_MOST_TURNS) for f in frequencies]
    turns = lcm(*(ratio.denominator for ratio in ratios))
    if turns > _MOST_TURNS or any(
        abs(float(ratio) - f / lowest) > 1e-12 * f / lowest
        for ratio, f in zip(ratios, frequencies, strict=True)
    ):
        listed = ", ".join(f"{f:.8g}" for f in frequencies)
        raise InvalidModel(
            f"the forcing has the frequencies {listed} rad/s, which have no common period; there is no periodic motion."
        )
    return lowest / turns


def _depends_on_time(system: System) -> bool:
    """Whether forces, gaps or constraints are others at other times: at the start, and a little beside it, where also
    what multiplies a position or velocity of zero acts."""
    q, v = system.start.position, system.start.velocity
    return any(_changes(system, q + side * _aside(q), v + side * _aside(v)) for side in (0.0, 1.0))


def _aside(values: np.ndarray) -> np.ndarray:
    return 1e-3 * (1.0 + np.abs(values)) * np.cos(1.0 + np.arange(len(values)))


def _changes(system: System, q: np.ndarray, v: np.ndarray) -> bool:
    which = np.arange(system.contacts.count)

    def answers(time: float) -> np.ndarray:
        gaps = np.nan_to_num(system.gaps(time, q, which))
        given = system.directions(time, q, which)
        rates = np.concatenate([given.normal_rate, given.tangential_rate])
        return np.concatenate([system.force(time, q, v), gaps, rates, system.constraint_residuals(time, q)])

    first = answers(system.start.time)
    return any(not np.allclose(answers(system.start.time + t), first, rtol=1e-12, atol=0.0) for t in _PROBES)
