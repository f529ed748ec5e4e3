"""Bodies in contact at large strains: the choice of scheme, and what a motion kept.

    scheme                              H      L     J
    energy-momentum, consistent         yes    yes   yes     gaps that close stay as wide as they were    Hesch (3.59)
    energy-momentum, gradient           yes    yes   yes     gaps close without work                      (3.63)
    energy-momentum, momentum-update    where a root is real, yes, yes                                    (3.41)
    energy-momentum, none               no     yes   yes     closing gaps give or take energy
    midpoint-penalty                    no     yes   yes                                                  (3.2), (3.3)
    newmark, with a penalty             no     yes   no
    central-difference, with a penalty  no     yes   yes     explicit, up to its stability limit

H is the energy of the bodies and what friction took from them; springs of a penalty do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from klapper.gallery.check import Check
from klapper.gallery.parameter import Parameter

if TYPE_CHECKING:
    from klapper.continuum import Continuum
    from klapper.results import Run
    from klapper.schemes import Scheme

EnergyOption = Literal["none", "consistent", "gradient", "momentum-update"]
ContactScheme = Literal["energy-momentum", "midpoint-penalty", "newmark", "central-difference"]
ClosingGaps = Annotated[
    EnergyOption, Parameter("what becomes of the energy of gaps that close (energy-momentum)")
]
Penalty = Annotated[
    float, Parameter("stiffness of contact springs, where there are any", unit="N/m", above=0.0)
]

_ROUND_OFF = 1e-10  # of an explicit scheme, which has no tolerance


def contact_scheme(name: ContactScheme, step: float, energy: EnergyOption, penalty: float) -> Scheme:
    """The scheme by its name, with a ``step`` [s]; a ``penalty`` [N/m] where contacts are springs."""
    from klapper.schemes import CentralDifference, EnergyMomentum, Newmark
    from klapper.schemes.contact_rounds import HardContact
    from klapper.schemes.penalty_contact import PenaltyContact

    if name == "energy-momentum":
        return EnergyMomentum(step, contact=HardContact(energy))
    if name == "midpoint-penalty":
        return EnergyMomentum(step, forces="midpoint", contact=PenaltyContact(penalty))
    if name == "newmark":
        return Newmark(step, contact=PenaltyContact(penalty))
    return CentralDifference(step, PenaltyContact(penalty))


def kept_by(name: ContactScheme, energy: EnergyOption) -> tuple[str, ...]:
    """Quantities that a scheme keeps whatever its step."""
    if name == "newmark":
        return ("momentum",)
    if name == "energy-momentum" and energy in ("consistent", "gradient"):
        return ("energy", "momentum", "angular momentum")
    return ("momentum", "angular momentum")


@dataclass(frozen=True, eq=False)
class Balance:
    """Energy, momentum and angular momentum of the bodies of a ``world`` over a ``run`` from ``since`` [s] on."""

    world: Continuum
    run: Run
    since: float = 0.0

    @cached_property
    def chosen(self) -> slice:
        """Samples from ``since`` on."""
        return slice(int(np.searchsorted(self.run.time, self.since - 1e-9)), None)

    @property
    def steps(self) -> int:
        return int(np.diff(self.run.samples.step[self.chosen][[0, -1]])[0])

    @cached_property
    def elastic(self) -> np.ndarray:
        """(s,) [J]."""
        return np.array([self.world.elastic_energy(q) for q in self.run.position[self.chosen]])

    @property
    def kinetic(self) -> np.ndarray:
        """(s,) [J]."""
        return self.run.ledger.kinetic[self.chosen]

    @property
    def friction(self) -> np.ndarray:
        """Energy (s,) [J] that friction took since the start of the run."""
        return self.run.ledger.friction[self.chosen]

    @cached_property
    def energy(self) -> np.ndarray:
        """H (s,) [J] of the bodies and what friction took."""
        return self.kinetic + self.elastic + self.friction

    @cached_property
    def momentum(self) -> np.ndarray:
        """L (s, 2) [kg m/s]."""
        return np.array([self.world.linear_momentum(v) for v in self.run.velocity[self.chosen]])

    @cached_property
    def angular_momentum(self) -> np.ndarray:
        """J (s,) [kg m²/s] about the origin."""
        moved = zip(self.run.position[self.chosen], self.run.velocity[self.chosen], strict=True)
        return np.array([self.world.angular_momentum(q, v)[0] for q, v in moved])

    @cached_property
    def drift(self) -> dict[str, float]:
        """Largest change of each since the first sample, in units of the terms that it is the sum of."""
        from klapper.mechanics.momenta import momentum_sizes

        part = self.chosen
        sizes = momentum_sizes(self.world, self.run.position[part], self.run.velocity[part])
        histories = {
            "energy": (self.energy, float(np.abs(self.energy).max())),
            "momentum": (self.momentum, sizes[0]),
            "angular momentum": (self.angular_momentum, sizes[1]),
        }
        return {
            name: float(np.abs(history - history[0]).max()) / (size or 1.0)
            for name, (history, size) in histories.items()
        }

    @property
    def numbers(self) -> dict[str, float]:
        """The drifts under the names of outcomes."""
        return {f"{name.replace(' ', '_')}_drift": value for name, value in self.drift.items()}

    def kept_checks(self, scheme: ContactScheme, energy: EnergyOption) -> list[Check]:
        """That everything which the scheme keeps was kept."""
        tolerance = self.run.about["settings"].get("tolerance", _ROUND_OFF)
        return [
            Check(
                f"{name}{' with what friction took' if name == 'energy' else ''}, change over its size",
                value=self.drift[name],
                expected=0.0,
                tolerance=tolerance * max(self.steps, 1),
                source="kept by construction, in each step to the tolerance of Newton's method",
            )
            for name in kept_by(scheme, energy)
        ]

    def friction_checks(self) -> list[Check]:
        """That friction never gave energy."""
        least = float(np.diff(self.friction).min(initial=0.0))
        return [
            Check(
                "friction work, least of all steps",
                value=least,
                at_least=-1e-10 * float(np.abs(self.energy).max()),
                source="second law: friction takes energy; tolerance of Newton's method",
            )
        ]


DRIFT_UNITS = {
    "energy_drift": "of the energy",
    "momentum_drift": "of the sum of its terms",
    "angular_momentum_drift": "of the sum of its terms",
}


def penetration(run: Run) -> float:
    """Deepest [m] of all contacts and samples."""
    return max(0.0, -float(np.nanmin(run.gap, initial=0.0)))
