"""Where the displacements at the contacts come from: one system at any frequency, or a system for every frequency.

    x_k = A_k(Ω) λ_k + x_given,k(Ω)

x_given holds the response to loads and guided constraints, moving stops and belts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from klapper.analysis.harmonic.courses import Courses, course_period
from klapper.analysis.harmonic.directions import ContactDirections
from klapper.analysis.harmonic.flexibility import Dynamics, dynamics_of
from klapper.analysis.harmonic.room import require_room
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem

_DIFFERENCE = 1e-6  # of Ω, for families of systems


@dataclass(frozen=True, eq=False)
class Seen:
    """The structure from its contacts at one Ω, and the derivatives by Ω.

    ``flexibility`` A (K + 1, c, c) [m/N], ``given`` (K + 1, c) [m], ``drift`` (c,) [m/rad]
    """

    flexibility: np.ndarray
    given: np.ndarray
    drift: np.ndarray
    flexibility_rate: np.ndarray
    given_rate: np.ndarray
    drift_rate: np.ndarray

    def displacement(self, forces: np.ndarray) -> np.ndarray:
        """x (K + 1, c) [m] under forces (K + 1, c)."""
        return np.einsum("kij,kj->ki", self.flexibility, forces) + self.given

    def displacement_rate(self, forces: np.ndarray) -> np.ndarray:
        """dx/dΩ."""
        return np.einsum("kij,kj->ki", self.flexibility_rate, forces) + self.given_rate


class Source(Protocol):
    """``order`` periods of the forcing make one period of the motion."""

    @property
    def order(self) -> int: ...

    def at(self, omega: float) -> PlayedSystem:
        """The system at Ω [rad/s]."""
        ...

    def seen(self, omega: float, harmonics: int) -> Seen:
        """By ``harmonics`` H of the forcing: K = H · order."""
        ...


@dataclass(frozen=True, eq=False)
class PlayedSystem:
    """One system whose given courses, of the ``period`` [s], are played at any frequency."""

    system: LinearSystem
    directions: ContactDirections
    dynamics: Dynamics
    period: float
    order: int

    @classmethod
    def of(cls, system: LinearSystem, period: float | None, order: int) -> PlayedSystem:
        if not isinstance(system, LinearSystem):
            raise InvalidModel(
                f"the system is a {type(system).__name__}; harmonic balance takes a LinearSystem. Use periodic_motion."
            )
        directions = ContactDirections.of(system)
        dynamics = dynamics_of(system, directions.matrix(system.size))
        played = course_period(system, period)
        require_room(system, played)
        return cls(system, directions, dynamics, played, order)

    def at(self, omega: float) -> PlayedSystem:
        return self

    def courses(self, harmonics: int) -> Courses:
        return _courses(self, harmonics)

    def seen(self, omega: float, harmonics: int) -> Seen:
        courses = self.courses(harmonics)
        parts = self.dynamics.condensed(omega, self.dynamics.right(courses.load, courses.guide))
        return Seen(
            parts.flexibility + self._compliance,
            parts.free + courses.displacement(omega),
            courses.drift / omega,
            parts.flexibility_rate,
            parts.free_rate + courses.displacement_rate(omega),
            -courses.drift / omega**2,
        )

    @property
    def _compliance(self) -> np.ndarray:
        """Contact flexibility of condensed coordinates (c, c) [m/N]."""
        count = self.directions.count
        whole = np.zeros((count, count))
        if self.system.compliance is not None:
            normals = np.flatnonzero(self.directions.is_normal)
            owners = [self.directions.columns[i].contact for i in normals]
            whole[np.ix_(normals, normals)] = self.system.compliance[np.ix_(owners, owners)]
        return whole


@dataclass(frozen=True, eq=False)
class SystemFamily:
    """A system for every forcing frequency [Hz], e.g. with the gyroscopic terms and the unbalance of a speed."""

    family: Callable[[float], LinearSystem]
    period: float | None
    order: int

    def at(self, omega: float) -> PlayedSystem:
        return PlayedSystem.of(self.family(self.order * omega / (2.0 * np.pi)), self.period, self.order)

    def seen(self, omega: float, harmonics: int) -> Seen:
        here = self.at(omega).seen(omega, harmonics)
        step = _DIFFERENCE * omega
        ahead, behind = (self.at(w).seen(w, harmonics) for w in (omega + step, omega - step))
        return Seen(
            here.flexibility,
            here.given,
            here.drift,
            (ahead.flexibility - behind.flexibility) / (2.0 * step),
            (ahead.given - behind.given) / (2.0 * step),
            (ahead.drift - behind.drift) / (2.0 * step),
        )


@lru_cache(maxsize=16)
def _courses(played: PlayedSystem, harmonics: int) -> Courses:
    return Courses.of(played.system, played.directions, played.period, harmonics, played.order)
