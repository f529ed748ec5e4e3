"""What is given over time, as Fourier amplitudes: loads, moving stops, belts, guided constraints.

    f(t) = Re Σ_j F_j e^{i j ω t},   j = 0, 1, 2, …

The course of one period is what counts: played at another frequency than that of the system, it is the same course,
faster or slower.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.analysis.harmonic.directions import ContactDirections
from klapper.analysis.harmonic.fourier import amplitudes_of, series
from klapper.analysis.periodic.forcing import forcing_period
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem

_SAMPLES = 8  # of a given course per harmonic that is kept


@dataclass(frozen=True, eq=False)
class Courses:
    """Amplitudes of what is given, by harmonics k = 0 … K of the motion.

    ``load``      (K + 1, n) [N]
    ``offset``    (K + 1, c) [m]: of gaps, zero for tangential directions
    ``rate``      (K + 1, c) [m/s]: of sliding velocities, zero for normal directions
    ``guide``     (K + 1, p) [m]: offsets of constraints
    ``left_out``  share of the load that harmonics above K would have
    """

    load: np.ndarray
    offset: np.ndarray
    rate: np.ndarray
    guide: np.ndarray
    left_out: float

    @classmethod
    def of(
        cls, system: LinearSystem, directions: ContactDirections, period: float, harmonics: int, order: int
    ) -> Courses:
        """``period`` [s] of the given functions, ``harmonics`` H that are kept of them; K = H · ``order``."""
        count = _SAMPLES * (harmonics + 1)
        times = period * np.arange(count) / count
        loads = system.load.value(times)
        load = amplitudes_of(loads, harmonics)
        size = float(np.abs(loads).max(initial=0.0))
        rest = float(np.abs(loads - series(load, count)).max(initial=0.0))
        none = np.zeros((count, system.contacts.count))
        across = np.zeros((count, system.tangential_directions.shape[1]))
        offset = directions.seen(system.gap_offsets(times), across)
        rate = directions.seen(none, system.tangential_rates(times))
        guides = [part.offset.value(times) for part in system.constraint_parts]
        guide = np.stack(guides, axis=-1) if guides else np.zeros((count, 0))
        return cls(
            spread(load, order),
            spread(amplitudes_of(offset, harmonics), order),
            spread(amplitudes_of(rate, harmonics), order),
            spread(amplitudes_of(guide, harmonics), order),
            rest / size if size > 0.0 else 0.0,
        )

    def displacement(self, omega: float) -> np.ndarray:
        """Given parts (K + 1, c) [m] of gaps and sliding displacements at Ω [rad/s], without steady drift."""
        orders = np.arange(1, len(self.rate))[:, None]
        given = self.offset.copy()
        given[1:] += self.rate[1:] / (1j * omega * orders)
        return given

    def displacement_rate(self, omega: float) -> np.ndarray:
        """Their derivative by Ω."""
        orders = np.arange(1, len(self.rate))[:, None]
        change = np.zeros_like(self.rate)
        change[1:] = -self.rate[1:] / (1j * omega**2 * orders)
        return change

    @property
    def drift(self) -> np.ndarray:
        """Mean sliding velocities (c,) [m/s] that are given: belts."""
        return self.rate[0].real


def course_period(system: LinearSystem, period: float | None) -> float:
    """The period [s] of what is given over time, read off the system unless it is given."""
    if period is not None:
        return number(period, "period", "numbers above 0, in s", above=0.0)
    found = forcing_period(system)
    if found is None:
        raise InvalidModel(
            f"nothing in '{system.name}' depends on time; harmonic balance needs a forcing. For self-excited motions "
            f"use periodic_motion."
        )
    return found


def spread(amplitudes: np.ndarray, order: int) -> np.ndarray:
    """Amplitudes (H + 1, …) by harmonics of a motion that takes ``order`` periods."""
    spread = np.zeros((order * (len(amplitudes) - 1) + 1, *amplitudes.shape[1:]), dtype=complex)
    spread[::order] = amplitudes
    return spread
