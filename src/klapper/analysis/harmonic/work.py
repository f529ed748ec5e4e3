"""Work per period of a motion in harmonics.

    ∫ a ḃ dt = T/2 Σ_{k ≥ 1} Re(ā_k i k Ω b_k)

The loads, the circulatory forces and what moves stops, belts and guides put in what damping, friction and normal
contact take; the balance of every harmonic makes both equal. A normal contact takes nothing but what the harmonics left
out would give back: contacts without friction conserve energy, as if impacts had the restitution 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from klapper.analysis.harmonic.equations_of_motion import reactions

if TYPE_CHECKING:
    from klapper.analysis.harmonic.response import HarmonicResponse


@dataclass(frozen=True, eq=False)
class HarmonicWork:
    """[J] per period of the motion.

    ``load``, ``circulatory``, ``guides``  put in by loads, by circulatory forces, and by given motions (stops, belts,
                                           constraints)
    ``damping``                            taken by viscous damping
    ``friction``, ``normal``               (m,) taken by friction and by normal forces of each contact
    """

    load: float
    circulatory: float
    guides: float
    damping: float
    friction: np.ndarray
    normal: np.ndarray

    @property
    def put_in(self) -> float:
        return self.load + self.circulatory + self.guides

    @property
    def taken(self) -> float:
        return self.damping + float(self.friction.sum()) + float(self.normal.sum())

    def __str__(self) -> str:
        return (
            f"work per period: {self.put_in:.6g} J put in; damping takes {self.damping:.6g} J, friction "
            f"{self.friction.sum():.6g} J"
        )


def work_of(response: HarmonicResponse) -> HarmonicWork:
    system, period, omega = response.system, response.period, response.omega
    q, forces, moved = response.amplitudes, response.contact_amplitudes, response.relative_amplitudes
    courses = response.played.courses(response.harmonics)
    orders = np.arange(len(q))[:, None]
    rates = 1j * omega * orders * q

    def work(force: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """∫ of products (…,) over a period, of amplitudes (K + 1, …); means included."""
        return period * (0.5 * (force[1:].conj() * rate[1:]).real.sum(axis=0) + (force[0] * rate[0]).real)

    def total(force: np.ndarray, rate: np.ndarray) -> float:
        return float(work(force, rate).sum())

    sliding = 1j * omega * orders * moved
    sliding[0] += courses.drift
    given = 1j * omega * orders * courses.displacement(omega)
    given[0] += courses.drift
    taken = -work(forces, sliding)
    guides = -total(forces, given) - total(reactions(response), 1j * omega * orders * courses.guide)
    friction, normal = np.zeros(system.contacts.count), np.zeros(system.contacts.count)
    for column, amount in zip(response.balance.directions.columns, taken, strict=True):
        (normal if column.is_normal else friction)[column.contact] += amount
    circulatory = 0.0 if system.circulatory is None else -total((system.circulatory @ q.T).T, rates)
    damping = 0.0 if system.damping is None else total((system.damping @ rates.T).T, rates)
    return HarmonicWork(total(courses.load, rates), circulatory, guides, damping, friction, normal)
