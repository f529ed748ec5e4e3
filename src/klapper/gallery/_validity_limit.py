"""The beam on one-sided supports, shaken below a stop: its rest, its linear answer, its motion with contact.

    (Bᵀ K B + i ω Bᵀ D B − ω² Bᵀ M B) ẑ = F Bᵀ r                             Waltersberger & Wauer (10), corrected

with the columns of B spanning the motions that keep the contacts.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from klapper.analysis import FrequencyResponse, StationaryState
    from klapper.results import Run
    from klapper.structures import Beam

STEPS = 1000  # per period, of the simulation
PERIODS = 3
BELOW, ABOVE, FAR = 0.99, 1.01, 1.4  # of the limit
SETTLED = 9.0  # times the slowest decay, after which transients are gone
LONGEST = 400  # periods of a long integration


@dataclass(frozen=True, eq=False)
class Shaken:
    """A beam on supports with a stop above it and a force on it."""

    beam: "Beam"
    supports: tuple[float, ...]
    stop: float
    play: float
    at: float
    force: float
    frequency: float

    @cached_property
    def rest(self) -> "StationaryState":
        from klapper.analysis.stationary_search import stationary_state
        from klapper.mechanics import Contact

        contacts = [Contact(f"support {i + 1}", normal=self.beam.row(x)) for i, x in enumerate(self.supports)]
        contacts.append(Contact("stop", normal=-self.beam.row(self.stop), gap=self.play))
        return stationary_state(self.beam.system(contacts))

    @property
    def row(self) -> np.ndarray:
        """Of the deflection at the force."""
        return self.beam.row(self.at)

    def answer(self, frequencies: np.ndarray) -> "FrequencyResponse":
        from klapper.analysis.frequency_response import frequency_response

        return frequency_response(self.rest, self.force * self.row, frequencies)

    @cached_property
    def here(self) -> "FrequencyResponse":
        """At the one frequency of the force."""
        return self.answer(np.array([self.frequency]))

    @property
    def limit(self) -> float:
        """[N]."""
        return float(self.here.limit.factor[0]) * self.force

    @property
    def contact(self) -> str:
        return str(self.here.limit.contact[0])

    @property
    def number(self) -> int:
        return self.rest.system.contacts.number(self.contact)

    @property
    def closes(self) -> bool:
        return str(self.here.limit.change[0]) == "closes"

    def simulated(self, part: float) -> "Run":
        """The motion with contact under this part of the limit, begun on the linear vibration."""
        from klapper.schemes.moreau import Moreau
        from klapper.simulation import simulate

        system = self.here.driven(0, factor=part * self.here.limit.factor[0])
        period = 1 / self.frequency
        return simulate(system, PERIODS * period, Moreau(period / STEPS, theta=0.5), progress=False)

    @cached_property
    def runs(self) -> "dict[float, Run]":
        return {part: self.simulated(part) for part in (BELOW, ABOVE, FAR)}

    def changed(self, part: float) -> list[str]:
        """Names of the contacts that leave their state of rest in the simulation."""
        from klapper.contact_states import OPEN

        run, opened = self.runs[part], self.rest.states == OPEN
        pressed = run.impulse[1:, :, 0] > 0.0
        left = np.any(pressed == opened, axis=0)
        return [name for name, moved in zip(self.rest.system.contacts.names, left, strict=True) if moved]

    def margin(self, part: float) -> np.ndarray:
        """Force of the limiting contact or, if it is open, its gap, over the value at rest, in the simulation."""
        run, number = self.runs[part], self.number
        if self.closes:
            return run.gap[1:, number] / self.rest.gaps[number]
        return run.impulse[1:, number, 0] * STEPS * self.frequency / self.rest.forces[number, 0]

    @property
    def settling(self) -> int:
        """Periods of the force until transients are gone; more than LONGEST if they hardly decay."""
        assert self.here.stability is not None
        decay = -self.here.stability.growth
        return int(np.ceil(SETTLED / decay * self.frequency)) if decay > 0.0 else LONGEST + 1

    def settled_amplitude(self, part: float) -> complex:
        """Amplitude [m] of the deflection at the force after a long integration from rest, with part of the limit."""
        from klapper.mechanics import Harmonic
        from klapper.schemes.moreau import Moreau
        from klapper.simulation import simulate

        rest, omega, steps = self.rest, 2 * np.pi * self.frequency, STEPS // 2
        loaded = self.beam.with_load(Harmonic(part * self.limit, omega), self.row)
        system = loaded.system(rest.system.contacts.parts, position=rest.position)
        period = 1 / self.frequency
        run = simulate(system, self.settling * period, Moreau(period / steps, theta=0.5), progress=False)
        wave = np.exp(-1j * omega * run.time[-steps:])
        return complex(2.0 * np.mean((run.position[-steps:] - rest.position) @ self.row * wave))
