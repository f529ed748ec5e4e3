"""Balances that are deformed into the one that is to be solved, and the way of a solution from one to the other.

    λ* − w(p) [λ(λ*, x; p)] = 0,      x = A(p) λ* + x_given,      0 ≤ p ≤ 1

At p = 0 a solution is known, at p = 1 it is wanted. The way between is a curve like others, which may turn back on p;
it is followed through such folds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from klapper.algebra import NoCurve, follow_curve
from klapper.analysis.harmonic.balance import Balance
from klapper.analysis.harmonic.fourier import packed
from klapper.analysis.harmonic.lifted import LiftedBalance
from klapper.analysis.harmonic.tail import Tail

_SOFTEST = 30.0  # compliance of contacts that are to become rigid, in parts of the structure's
_SPACING = 1e-7  # of differences over p
_LARGEST, _DETAIL, _SMALLEST, _TOLERANCE, _MOST = 0.2, 0.01, 1e-7, 1e-6, 400


@dataclass(frozen=True, eq=False)
class Deformed:
    """Balances ``at`` p, and the ``weights`` (u,) of the forces that the laws give."""

    at: Callable[[float], Balance]
    weights: Callable[[float], np.ndarray]


def hardened(balance: Balance, omega: float) -> Deformed:
    """From compliant contacts to those of the balance."""
    own = np.abs(np.einsum("kii->ki", balance.seen(omega).flexibility[1:2]))[0]
    least = np.log1p(_SOFTEST)

    def at(p: float) -> Balance:
        return balance.compliant(np.expm1(least * (1.0 - p)) * own)

    return Deformed(at, lambda p: np.ones(balance.size))


def added(few: Balance, many: Balance) -> Deformed:
    """From the harmonics of one balance to the more of another."""
    known = np.arange(many.grid.count + 1) <= few.grid.count
    one, other = few.laws.tail, many.laws.tail

    def at(p: float) -> Balance:
        tail = Tail((1.0 - p) * one.spring + p * other.spring, (1.0 - p) * one.damper + p * other.damper)
        return replace(many, laws=replace(many.laws, tail=tail))

    def weights(p: float) -> np.ndarray:
        by_harmonic = np.where(known, 1.0, p)[:, None] * np.ones(many.directions.count)
        return packed(by_harmonic * (1.0 + 1.0j))

    return Deformed(at, weights)


def followed(deformed: Deformed, omega: float, forces: np.ndarray) -> np.ndarray | None:
    """Forces (K + 1, c) [N] at p = 1 from those at p = 0, or None if the way does not lead there."""
    first = deformed.at(0.0)
    start = np.zeros((first.grid.count + 1, first.directions.count), dtype=complex)
    start[: len(forces)] = forces
    hertz = omega * first.source.order / (2.0 * np.pi)
    sizes = LiftedBalance.of(first, (hertz, hertz, 2.0 * hertz))

    def equations(point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        size, p = first.size, float(point[-1])
        unknowns, motion = point[:size], point[size:-1]
        balance, weights = deformed.at(p), deformed.weights(p)
        residual, by_force, by_motion, _ = balance.laws_at(unknowns, motion, omega)
        moved, _ = balance.motion_by(unknowns, omega)
        own = np.diag(1.0 + balance.least)

        def whole(balance: Balance, weights: np.ndarray, residual: np.ndarray) -> np.ndarray:
            star = balance.forces(unknowns)
            stray = motion - packed(balance.seen(omega).displacement(star))
            weighted = weights * residual + (1.0 - weights) * (own @ unknowns)
            return np.concatenate([weighted, stray])

        here = whole(balance, weights, residual)
        ahead = deformed.at(p + _SPACING)
        beside = whole(ahead, deformed.weights(p + _SPACING), ahead.laws_residual(unknowns, motion, omega))
        mixed = weights[:, None] * by_force + (1.0 - weights)[:, None] * own
        jacobian = np.block([[mixed, weights[:, None] * by_motion], [-moved, np.eye(size)]])
        return here, np.column_stack([jacobian, (beside - here) / _SPACING])

    def scale(point: np.ndarray) -> np.ndarray:
        return np.append(sizes.sizes(np.append(point[:-1], hertz))[:-1], 1.0)

    motion = first.seen(omega).displacement(start)
    begin = np.concatenate([packed(start), packed(motion), [0.0]])
    try:
        curve = follow_curve(
            equations,
            begin,
            high=1.0,
            low=-0.1,
            step=0.5 * _LARGEST,
            smallest=_SMALLEST,
            largest=_LARGEST,
            tolerance=_TOLERANCE,
            detail=_DETAIL,
            scale=scale,
            most=_MOST,
        )
    except NoCurve:
        return None
    return first.forces(curve.points[-1][: first.size]) if curve.end == "high" else None
