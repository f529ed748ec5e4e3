"""The equations of harmonic balance in the contact forces.

    F(λ*, Ω) = λ* − [λ(λ*, x)]_{0 … K} = 0,        x_k = A_k(Ω) λ*_k + x_given,k(Ω)

The structure moves under the harmonics λ* of the contact forces; the forces λ that the contact laws give for this
motion in time must have these harmonics. Unknowns are the forces of the contacts only, whatever the size of the
structure. Where the laws leave forces open, e.g. the mean of a friction force that always sticks, or its distribution
to contacts that act on the same coordinate, the least ones are taken. Nacivet, Pierre, Thouverez and Jezequel 2003,
here with forces as unknowns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.fft import next_fast_len

from klapper.analysis.harmonic.contact_forces import Alternation, ContactLaws
from klapper.analysis.harmonic.directions import ContactDirections
from klapper.analysis.harmonic.fourier import Grid, packed, unpacked
from klapper.analysis.harmonic.sources import PlayedSystem, Seen, Source
from klapper.analysis.harmonic.tail import Tail, orders_beyond, tail_of

_SAMPLES, _AT_LEAST = 64, 2048  # of a period to begin with: per harmonic, and in all
_MOST_SAMPLES = 2**16
_SAMPLED = (
    1e-5  # of the impulses: what twice as many samples may change; errors of the method are 100 times larger
)
_LEAST = 1e-7  # of forces that nothing determines, added to their equations: the least ones are taken
_DEPENDENT = 1e-9  # singular value, in parts of the largest, below which directions depend on each other


@dataclass(frozen=True, eq=False)
class Balance:
    """Unknowns are :func:`~klapper.analysis.harmonic.fourier.packed` forces λ* [N].

    ``harmonics``  H of the forcing
    ``laws``       the contacts, with the grid of K = H · order harmonics and the flexibility of those left out
    ``compliance``  (c,) [m/N] of the contacts themselves; zero but on the way to a first solution
    ``least``      (u,) weights of the unknowns in their own equations, where nothing else determines them
    """

    source: Source
    harmonics: int
    laws: ContactLaws
    compliance: np.ndarray
    least: np.ndarray

    @classmethod
    def of(cls, source: Source, omega: float, harmonics: int, *, samples: int | None = None) -> Balance:
        """The flexibility of what is left out is that at Ω [rad/s]."""
        count = harmonics * source.order
        wanted = samples or max(_SAMPLES * (count + 1), _AT_LEAST)
        played = source.at(omega)
        tail = _tail(played, omega, count)
        laws = ContactLaws(played.directions, Grid(count, next_fast_len(wanted, real=True)), tail)
        least = packed(_least(played, omega, count))
        return cls(source, harmonics, laws, np.zeros(played.directions.count), least)

    def compliant(self, compliance: np.ndarray) -> Balance:
        """The same with contacts that give way by a compliance (c,) [m/N]."""
        tail = replace(self.laws.tail, spring=self.laws.tail.spring + compliance)
        return replace(self, laws=replace(self.laws, tail=tail), compliance=self.compliance + compliance)

    def refined(self) -> Balance:
        """The same with twice as many samples."""
        grid = Grid(self.grid.count, 2 * self.grid.samples)
        return replace(self, laws=replace(self.laws, grid=grid))

    def sampled_well(self, unknowns: np.ndarray, omega: float) -> bool:
        """Whether twice as many samples would give the same impulses of the contacts."""
        if 2 * self.grid.samples > _MOST_SAMPLES:
            return True
        orders = np.maximum(self.grid.orders, 1)[:, None]
        forces = (one.alternation(unknowns, omega).harmonics / orders for one in (self, self.refined()))
        here, finer = forces
        return bool(np.linalg.norm(finer - here) <= _SAMPLED * np.linalg.norm(finer))

    def softened(self, factor: float) -> Balance:
        """The same with ``factor`` times the flexibility of what is left out."""
        if factor == 1.0:
            return self
        return replace(self, laws=replace(self.laws, tail=self.laws.tail.scaled(factor)))

    @property
    def grid(self) -> Grid:
        return self.laws.grid

    @property
    def directions(self) -> ContactDirections:
        return self.laws.directions

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return (2 * self.grid.count + 1) * self.directions.count

    def seen(self, omega: float) -> Seen:
        return _seen(self, omega)

    def forces(self, unknowns: np.ndarray) -> np.ndarray:
        """λ* (K + 1, c) [N]."""
        return unpacked(unknowns, self.grid.count, self.directions.count)

    def alternation(self, unknowns: np.ndarray, omega: float) -> Alternation:
        star, seen = self.forces(unknowns), self.seen(omega)
        return self.laws.forces(star, seen.displacement(star), self.grid.spacing * seen.drift)

    def residual(self, unknowns: np.ndarray, omega: float) -> np.ndarray:
        """F [N]."""
        return (1.0 + self.least) * unknowns - packed(self.alternation(unknowns, omega).harmonics)

    def linearised(self, unknowns: np.ndarray, omega: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """F (u,), ∂F/∂λ* (u, u) and ∂F/∂Ω (u,)."""
        star, seen = self.forces(unknowns), self.seen(omega)
        residual, by_force, by_motion, slope = self.laws_at(unknowns, packed(seen.displacement(star)), omega)
        moved, turned = self.motion_by(unknowns, omega)
        return residual, by_force + by_motion @ moved, slope + by_motion @ turned

    def laws_at(
        self, unknowns: np.ndarray, motion: np.ndarray, omega: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """λ* − [λ(λ*, x)] (u,) for motions x (u,) of their own, and its derivatives by λ*, by x and by Ω."""
        star, seen = self.forces(unknowns), self.seen(omega)
        found = self.laws.forces(star, self.forces(motion), self.grid.spacing * seen.drift)
        rows, count = 2 * self.grid.count + 1, self.directions.count
        by_force, by_motion = np.zeros((2, rows, count, rows, count))
        slope = np.zeros((rows, count))
        for part in found.dependences():
            by_force[:, part.row, :, part.column] -= _columns(part.by_force)
            by_motion[:, part.row, :, part.column] -= _columns(part.by_displacement)
        self._add_drift(found, seen, slope)
        square = by_force.reshape(self.size, self.size)
        square[np.diag_indices(self.size)] += 1.0 + self.least
        residual = (1.0 + self.least) * unknowns - packed(found.harmonics)
        return residual, square, by_motion.reshape(self.size, self.size), slope.ravel()

    def laws_residual(self, unknowns: np.ndarray, motion: np.ndarray, omega: float) -> np.ndarray:
        """λ* − [λ(λ*, x)] (u,) alone."""
        drift = self.grid.spacing * self.seen(omega).drift
        found = self.laws.forces(self.forces(unknowns), self.forces(motion), drift)
        return (1.0 + self.least) * unknowns - packed(found.harmonics)

    def motion_by(self, unknowns: np.ndarray, omega: float) -> tuple[np.ndarray, np.ndarray]:
        """∂x/∂λ* (u, u) and ∂x/∂Ω (u,) of the motions of the contacts."""
        seen, count, last = self.seen(omega), self.directions.count, self.grid.count
        whole = np.zeros((2 * last + 1, count, 2 * last + 1, count))
        for k, flexibility in enumerate(seen.flexibility):
            whole[k, :, k] = flexibility.real
            if k:
                whole[last + k, :, last + k] = flexibility.real
                whole[k, :, last + k], whole[last + k, :, k] = -flexibility.imag, flexibility.imag
        turned = packed(seen.displacement_rate(self.forces(unknowns)))
        return whole.reshape(self.size, self.size), turned

    def _add_drift(self, found: Alternation, seen: Seen, slope: np.ndarray) -> None:
        for part in self.directions.parts:
            for component, column in enumerate(part.tangential):
                rate = self.grid.spacing * seen.drift_rate[column]
                if rate != 0.0:
                    slope[:, part.tangential] -= rate * found.by_drift(part, component)


def _columns(functionals: np.ndarray) -> np.ndarray:
    """Functionals (r, K + 1, …) as columns (r, 2 K + 1, …) for packed amplitudes."""
    return np.concatenate([functionals.real, -functionals[:, 1:].imag], axis=1)


def _tail(played: PlayedSystem, omega: float, count: int) -> Tail:
    orders = orders_beyond(count)
    harmonics = -(-int(orders[-1]) // played.order)
    flexibility = played.seen(omega, harmonics).flexibility
    return tail_of(np.einsum("kii->ki", flexibility[orders]), orders, played.directions)


def _least(played: PlayedSystem, omega: float, count: int) -> np.ndarray:
    """Weights (K + 1, c): of the mean of friction forces; of all forces if directions depend on each other."""
    flexibility = played.seen(omega, 1).flexibility[1]
    size = np.sqrt(np.abs(np.diag(flexibility)))
    size[size == 0.0] = 1.0
    values = np.linalg.svd(flexibility / np.outer(size, size), compute_uv=False)
    dependent = bool(np.any(values < _DEPENDENT * values.max(initial=0.0)))
    weights = np.full((count + 1, played.directions.count), _LEAST if dependent else 0.0)
    weights[0, ~played.directions.is_normal] = _LEAST
    return weights * (1.0 + 1.0j)


@lru_cache(maxsize=4)
def _seen(balance: Balance, omega: float) -> Seen:
    seen = balance.source.seen(omega, balance.harmonics)
    return replace(seen, flexibility=seen.flexibility + np.diag(balance.compliance))
