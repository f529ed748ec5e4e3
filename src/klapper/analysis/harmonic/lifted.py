"""The equations of harmonic balance with the motions of the contacts as unknowns of their own, along a curve.

    λ* − [λ(λ*, x)] = 0,      x − A(Ω) λ* − x_given(Ω) = 0

Where x follows from λ*, a small error of a force moves the contact by the flexibility of the whole structure, and the
trial force λ* − x/S by much more than there is: contacts open and slip turns in the trial where nothing of the kind
happens, and Newton's method is led astray by them. As unknowns of their own the motions change as little as they do on
the curve, and so do the states of the contacts. (Lifted Newton method, Albersmeyer and Diehl 2010.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from klapper.algebra import StepRefused
from klapper.analysis.harmonic.balance import Balance
from klapper.analysis.harmonic.fourier import packed

_SMALL = 1e-3  # of the largest force of a contact: the least one that others are given
_UNMEASURED = (
    1e4  # times their sizes: motions follow from forces and count for nothing in the length of a curve
)


@dataclass(frozen=True, eq=False)
class LiftedBalance:
    """Unknowns (λ*, x, f): forces [N] and motions [m] :func:`~klapper.analysis.harmonic.fourier.packed`, the frequency
    [Hz] of the forcing last.

    ``least``  (c,) [N] sizes of forces where they are smaller; ``width`` [Hz] size of the frequency
    """

    balance: Balance
    least: np.ndarray
    width: float

    @classmethod
    def of(cls, balance: Balance, frequencies: Sequence[float]) -> LiftedBalance:
        """By a look at some frequencies [Hz], of which the first and the last are the ends."""
        turn = 2.0 * np.pi / balance.source.order
        seen = [balance.seen(turn * f) for f in frequencies]
        gives = np.array([np.abs(np.einsum("kii->ki", one.flexibility)) for one in seen])
        moved = np.array([np.abs(one.given) for one in seen])
        held = (moved / np.where(gives > 0.0, gives, np.inf)).max(axis=(0, 1))
        least = np.maximum(held, _SMALL * held.max(initial=0.0))
        for part in balance.directions.parts:
            across = list(part.tangential)
            if part.limit > 0.0 and across:
                least[across] = np.minimum(least[across], part.limit)
        least[least == 0.0] = 1.0
        return cls(balance, least, abs(frequencies[-1] - frequencies[0]))

    def omega(self, frequency: float) -> float:
        """Ω [rad/s] of the motion."""
        if frequency <= 0.0:
            raise StepRefused("the frequency is not above 0")
        return 2.0 * np.pi * frequency / self.balance.source.order

    def lifted(self, unknowns: np.ndarray, frequency: float) -> np.ndarray:
        """(λ*, x, f) with the motions that belong to the forces."""
        motion = self.balance.seen(self.omega(frequency)).displacement(self.balance.forces(unknowns))
        return np.concatenate([unknowns, packed(motion), [frequency]])

    def __call__(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Both equations (2 u,) and their derivatives (2 u, 2 u + 1)."""
        size, omega = self.balance.size, self.omega(float(point[-1]))
        turn = omega / float(point[-1])
        forces, motion = point[:size], point[size:-1]
        residual, by_force, by_motion, slope = self.balance.laws_at(forces, motion, omega)
        moved, turned = self.balance.motion_by(forces, omega)
        stray = motion - packed(self.balance.seen(omega).displacement(self.balance.forces(forces)))
        jacobian = np.block(
            [[by_force, by_motion, turn * slope[:, None]], [-moved, np.eye(size), -turn * turned[:, None]]]
        )
        return np.concatenate([residual, stray]), jacobian

    def sizes(self, point: np.ndarray) -> np.ndarray:
        """Of the unknowns at a point: in every direction what the impulse is there, whose harmonics are λ_k / k.

        So lengths do not depend on the number of harmonics, nor, being means, on that of the contacts.
        """
        size, grid = self.balance.size, self.balance.grid
        orders = np.maximum(grid.orders, 1)[:, None]
        impulse = np.linalg.norm(self.balance.forces(point[:size]) / orders, axis=0)
        sizes = np.sqrt(len(impulse)) * np.maximum(impulse, self.least) * orders
        moved = self.balance.seen(self.omega(float(point[-1]))).given
        reach = max(np.abs(point[size:-1]).max(), np.abs(moved).max()) or 1.0
        motion = np.full(size, _UNMEASURED * reach)
        return np.concatenate([packed(sizes + 1j * sizes), motion, [self.width]])

    def ahead(self, point: np.ndarray, tangent: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
        """Forces and motions a step ahead, shifted in time by what of their change is a shift.

        In a resonance the phase turns, and the k-th harmonic k times as fast: there the tangent alone leads away.
        """
        size = self.balance.size
        found = [
            _shifted(self.balance.forces(point[part]), self.balance.forces(tangent[part]), step)
            for part in (slice(size), slice(size, 2 * size))
        ]
        there, way = ([packed(one) for one in both] for both in zip(*found, strict=True))
        frequency = point[-1] + step * tangent[-1]
        return np.concatenate([*there, [frequency]]), np.concatenate([*way, [tangent[-1]]])


def _shifted(value: np.ndarray, change: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Harmonics (K + 1, c) a step ahead and their rate there: a shift in time goes on as such, the rest as a line."""
    orders = np.arange(len(value))[:, None]
    shift, weights = 1j * orders * value, 1.0 / np.maximum(orders, 1) ** 2
    size = (weights * np.abs(shift) ** 2).sum(axis=0)
    rate = (weights * (shift.conj() * change).real).sum(axis=0) / np.where(size > 0.0, size, 1.0)
    turned, rest = np.exp(1j * step * orders * rate), change - rate * shift
    there = (value + step * rest) * turned
    return there, rest * turned + 1j * rate * orders * there
