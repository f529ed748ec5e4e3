"""A periodic motion as a Fourier series: amplitudes, histories, energies, contact states, residuals.

    q(t) = Re Σ_k q_k e^{ikΩt},   k = 0 … K,   Ω = ω / p

ω belongs to the forcing, p is the number of its periods in one period of the motion.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.analysis.harmonic.balance import Balance
from klapper.analysis.harmonic.contact_forces import Alternation
from klapper.analysis.harmonic.fourier import series
from klapper.analysis.harmonic.outputs import amplitudes_at
from klapper.analysis.harmonic.residual import HarmonicResidual, residual_of
from klapper.analysis.harmonic.sources import PlayedSystem
from klapper.analysis.harmonic.work import HarmonicWork, work_of
from klapper.contact_states import OPEN, SLIP, STICK
from klapper.mechanics.contacts import unused_restitution
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem
from klapper.results.citations import references

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class HarmonicResponse:
    """The periodic motion of a system under periodic forcing, in balance of ``harmonics``.

    ``frequency``  of the forcing [Hz]
    ``balance``    the equations that it solves
    ``unknowns``   (p,) [N] their solution: the contact forces in harmonics

    In its resonance an oscillator of 1 kg and 1 N/m with 0.5 N s/m moves by F/(d ω) under 1 N:

    >>> from klapper.analysis import harmonic_response
    >>> from klapper.mechanics import Harmonic, LinearSystem
    >>> oscillator = LinearSystem([1.0], damping=[0.5], stiffness=[1.0], force=Harmonic([1.0], 1.0))
    >>> response = harmonic_response(oscillator, harmonics=1)
    >>> round(response.amplitude("q1"), 6), round(response.omega, 9)
    (2.0, 1.0)
    """

    frequency: float
    balance: Balance
    unknowns: np.ndarray

    @property
    def harmonics(self) -> int:
        """H: harmonics of the forcing that are balanced."""
        return self.balance.harmonics

    @property
    def order(self) -> int:
        """p: periods of the forcing in one period of the motion."""
        return self.balance.source.order

    @property
    def unused_restitution(self) -> str:
        """A sentence if the contacts have a restitution, which harmonic balance does not use; else empty."""
        return unused_restitution(self.system.contacts, "the balance, as with a restitution of 1")

    @property
    def omega(self) -> float:
        """Ω [rad/s] of the motion."""
        return 2.0 * np.pi * self.frequency / self.order

    @property
    def period(self) -> float:
        """Of the motion [s]."""
        return self.order / self.frequency

    @cached_property
    def played(self) -> PlayedSystem:
        """The system with what is given over time."""
        return self.balance.source.at(self.omega)

    @property
    def system(self) -> LinearSystem:
        return self.played.system

    @cached_property
    def alternation(self) -> Alternation:
        """The contact forces in time."""
        return self.balance.alternation(self.unknowns, self.omega)

    @property
    def contact_amplitudes(self) -> np.ndarray:
        """λ_k (K + 1, c) [N] in the directions of the balance."""
        return self.balance.forces(self.unknowns)

    @cached_property
    def relative_amplitudes(self) -> np.ndarray:
        """Gaps and sliding displacements x_k (K + 1, c) [m] in the directions of the balance."""
        return self.balance.seen(self.omega).displacement(self.contact_amplitudes)

    @cached_property
    def amplitudes(self) -> np.ndarray:
        """q_k (K + 1, n), complex; q_0 is the mean."""
        courses = self.played.courses(self.harmonics)
        dynamics = self.played.dynamics
        return dynamics.motion(
            self.omega, dynamics.right(courses.load, courses.guide), self.contact_amplitudes
        )

    @property
    def time(self) -> np.ndarray:
        """(N,) [s] of the histories: one period from 0 on, its end left out."""
        return self.balance.grid.angles / self.omega

    @property
    def position(self) -> np.ndarray:
        """(N, n)."""
        return self.balance.grid.to_time(self.amplitudes)

    @property
    def velocity(self) -> np.ndarray:
        """(N, n)."""
        return self.balance.grid.to_time(self._rates(self.amplitudes))

    def displacement(self, what: Any, *, samples: int | None = None) -> np.ndarray:
        """A displacement over the period, (N,) [m]: of a coordinate by its name, of a row (n,), or of a place of a
        reduced structure, (reduced, name or row of the full system).

        ``samples``  other than the N of the histories, more than 2 K
        """
        if samples is not None and samples <= 2 * self.balance.grid.count:
            raise InvalidModel(
                f"samples is {samples}; {self.balance.grid.count} harmonics need more than twice as many."
            )
        return series(amplitudes_at(self, what), samples or self.balance.grid.samples)

    def harmonic_amplitudes(self, what: Any) -> np.ndarray:
        """Sizes (K + 1,) [m] of the harmonics of a displacement, given as for :meth:`displacement`."""
        return np.abs(amplitudes_at(self, what))

    def amplitude(self, what: Any) -> float:
        """Half the distance [m] between the extremes of a displacement, given as for :meth:`displacement`."""
        return float(0.5 * np.ptp(self.displacement(what)))

    @property
    def gap(self) -> np.ndarray:
        """(N, m) [m], of the series; not a number for friction elements."""
        gaps = np.full((self.balance.grid.samples, self.system.contacts.count), np.nan)
        values = self.balance.grid.to_time(self.relative_amplitudes)
        for part in self.balance.directions.parts:
            if part.normal is not None:
                gaps[:, part.contact] = values[:, part.normal]
        return gaps

    @property
    def force(self) -> np.ndarray:
        """(N, m, 1 + d) [N] normal and tangential, as the contact laws give them; :attr:`contact_amplitudes` are their
        harmonics."""
        return self._by_contact(self.alternation.force, forces=True)

    @property
    def sliding(self) -> np.ndarray:
        """Sliding velocities (N, m, d) [m/s] of the series."""
        rates = self._rates(self.relative_amplitudes)
        rates[0] += self.omega * self.balance.seen(self.omega).drift
        return self._by_contact(self.balance.grid.to_time(rates), forces=False)[:, :, 1:]

    @property
    def slip(self) -> np.ndarray:
        """Sliding displacements (N, m, d) [m] of the series, without the steady drift of belts."""
        return self._by_contact(self.balance.grid.to_time(self.relative_amplitudes), forces=False)[:, :, 1:]

    @property
    def state(self) -> np.ndarray:
        """(N, m): ``OPEN``, ``STICK`` (closed, where there is no friction) or ``SLIP`` of :mod:`klapper.results`."""
        return self.alternation.states

    @property
    def shares(self) -> np.ndarray:
        """(m, 3): parts of the period in which a contact is open, sticks (or is closed without friction), slips."""
        return np.stack([(self.state == code).mean(axis=0) for code in (OPEN, STICK, SLIP)], axis=-1)

    @cached_property
    def work(self) -> HarmonicWork:
        """Work per period of the motion [J]."""
        return work_of(self)

    @cached_property
    def residual(self) -> HarmonicResidual:
        """How far the equations of motion and the contact laws are violated, found from the system itself."""
        return residual_of(self)

    def contact(self, name: str) -> int:
        """Number of a contact."""
        return self.system.contacts.number(name)

    def citation(self, *, bibtex: bool = False) -> str:
        """The publication behind the method, as a line of text or as BibTeX."""
        return references(["nacivet2003"], bibtex=bibtex)

    def plot(self, onto: Figure | None = None) -> Figure:
        """Displacements, contact forces and contact states over a period."""
        from klapper.analysis.harmonic.plots import draw_response

        return draw_response(self, onto)

    def _rates(self, amplitudes: np.ndarray) -> np.ndarray:
        return 1j * self.omega * self.balance.grid.orders[:, None] * amplitudes

    def _by_contact(self, values: np.ndarray, *, forces: bool) -> np.ndarray:
        """Values (N, c) as (N, m, 1 + d); zero where a contact has no such direction."""
        table = self.system.contacts
        whole = np.zeros((len(values), table.count, 1 + table.tangential))
        for column, values_of in zip(self.balance.directions.columns, values.T, strict=True):
            place_of = 0 if column.is_normal else 1 + column.source % table.tangential
            scale = column.scale if forces else 1.0 / column.scale
            whole[:, column.contact, place_of] = scale * values_of
        return whole

    def __repr__(self) -> str:
        return f"HarmonicResponse({self.frequency:.6g} Hz, {self.harmonics} harmonics, '{self.system.name}')"

    def __str__(self) -> str:
        lines = [
            f"{self.system.name}: {self.frequency:.8g} Hz, {self.harmonics} harmonics"
            + (f", period of {self.order} forcings" if self.order > 1 else "")
        ]
        lines += [
            f"  {name}: open {100 * a:.1f} %, {'stick' if slips else 'closed'} {100 * b:.1f} %, slip {100 * c:.1f} %"
            for name, (a, b, c), slips in zip(
                self.system.contacts.names,
                self.shares,
                [bool(part.tangential) for part in self.balance.directions.parts],
                strict=True,
            )
        ]
        if self.unused_restitution:
            lines.append(f"  {self.unused_restitution}")
        return "\n".join([*lines, f"  {self.work}", f"  {self.residual}"])
