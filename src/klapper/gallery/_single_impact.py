"""Closed form of an oscillator that hits a stop once in every period of its forcing; see ``impact-oscillator``."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from klapper.analysis import PeriodicMotion
    from klapper.mechanics import LinearSystem, State


@dataclass(frozen=True)
class SingleImpact:
    """A motion with one impact per period, in closed form: speed ``u`` [m/s] before the impact, its ``phase`` ωt [rad],
    multipliers, and whether it stays off the stop in between."""

    u: float
    phase: float
    trace: float
    determinant: float
    possible: bool

    @property
    def multipliers(self) -> np.ndarray:
        root = np.sqrt(complex(self.trace**2 / 4 - self.determinant))
        values = np.array([self.trace / 2 + root, self.trace / 2 - root])
        return values[np.argsort(-np.abs(values), kind="stable")]

    @property
    def stable(self) -> bool:
        return bool(np.abs(self.multipliers).max() < 1.0)


@dataclass(frozen=True)
class Oscillator:
    """The parameters, and what is known in closed form."""

    frequency: float
    gap: float
    restitution: float
    damping: float
    mass: float
    stiffness: float
    force: float

    @property
    def natural(self) -> float:
        """ω₀ [rad/s]."""
        return float(np.sqrt(self.stiffness / self.mass))

    @property
    def period(self) -> float:
        return 2.0 * np.pi / self.frequency

    @property
    def amplitude(self) -> float:
        """A [m] of the vibration without stop."""
        return self.force / self.mass / abs(self._dynamic)

    @property
    def lag(self) -> float:
        """φ [rad]."""
        return float(np.angle(self._dynamic))

    @property
    def _dynamic(self) -> complex:
        """ω₀² − ω² + 2 j ζ ω₀ ω."""
        return complex(
            self.natural**2 - self.frequency**2, 2.0 * self.damping * self.natural * self.frequency
        )

    @cached_property
    def free(self) -> np.ndarray:
        """Φ(T) of the free vibration."""
        return self._free(np.array([self.period]))[:, :, 0]

    def _free(self, times: np.ndarray) -> np.ndarray:
        """(2, 2, k)."""
        decay, turn = self.damping * self.natural, self.natural * np.sqrt(1.0 - self.damping**2)
        c, s = np.cos(turn * times), np.sin(turn * times) / turn
        both = [[c + decay * s, s], [-(self.natural**2) * s, c - decay * s]]
        return np.exp(-decay * times) * np.array(both)

    @cached_property
    def single_impacts(self) -> tuple[SingleImpact, ...]:
        """Both solutions of the quadratic equation, the faster impact first; none if they are complex."""
        driven = np.array([0.0, 1.0]) + self.restitution * self.free[:, 1]
        a, b = np.linalg.solve(self.free - np.eye(2), driven)  # g − x_p = a u, −ẋ_p = b u
        square, line = a**2 + (b / self.frequency) ** 2, -self.gap * a
        root = line**2 - square * (self.gap**2 - self.amplitude**2)
        if root < 0.0:
            return ()
        return tuple(self._single((-line + sign * np.sqrt(root)) / square, a, b) for sign in (1.0, -1.0))

    def _single(self, u: float, a: float, b: float) -> SingleImpact:
        place, speed = self.gap - a * u, -b * u  # x_p, ẋ_p
        phase = np.arctan2(-speed / self.frequency, place) + self.lag
        push = self.force / self.mass * np.cos(phase) - self.natural**2 * self.gap
        drag, e = 2.0 * self.damping * self.natural, self.restitution
        lower = (push + drag * e * u + e * (push - drag * u)) / u
        jump = np.array([[-e, 0.0], [lower, -e]])
        times = self.period * np.linspace(0.0, 1.0, 402)[1:-1]
        apart = np.einsum("ijk,j->ik", self._free(times), np.array([self.gap - place, -e * u - speed]))[0]
        x = self.amplitude * np.cos(phase + self.frequency * times - self.lag) + apart
        possible = bool(u > 0.0 and np.all(x < self.gap))
        matrix = jump @ self.free
        return SingleImpact(
            float(u), float(phase), float(np.trace(matrix)), float(np.linalg.det(matrix)), possible
        )

    def after(self, motion: SingleImpact) -> "State":
        """The state just after the impact."""
        from klapper.mechanics import State

        time = motion.phase % (2 * np.pi) / self.frequency
        return State(time, np.array([self.gap]), np.array([-self.restitution * motion.u]))

    def system(self) -> "LinearSystem":
        from klapper.mechanics import Contact, Harmonic, LinearSystem

        stop = Contact("stop", normal=[-1.0], gap=self.gap, restitution=self.restitution)
        return LinearSystem(
            [self.mass],
            stiffness=[self.stiffness],
            damping=[2.0 * self.damping * self.natural * self.mass],
            force=Harmonic([self.force], self.frequency),
            contacts=[stop],
            coordinates=["displacement"],
            position=[min(0.0, self.gap)],
            name="impact oscillator",
        )

    def at(self, frequency: float) -> "Oscillator":
        return replace(self, frequency=float(frequency))


def impact_speeds(motion: "PeriodicMotion") -> list[float]:
    """[m/s], in the order of one period."""
    return [event.speed for event in motion.events if event.kind == "impact"]
