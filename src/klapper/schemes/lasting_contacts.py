"""Contacts that stay closed from step to step: a law that keeps their gap where directions turn.

With the velocity law v_N⁺ ≥ 0 in directions of the middle of a step, the gap x of a closed contact changes by

    x_next = x + h v_N⁺ + ½ h² b,       g̈ = J_Nᵀ v̇ + b

so that it drifts by ½ h² b per step: in a ring to the outside, over a bump until the contact is lost. The law

    0 ≤ Λ_N ⟂ v_N⁺ + x/h ≥ 0                                       for contacts loaded in the last step

leaves x = ½ h² b, whatever it was before. In steady motion v_N = ½ h b before the step and −½ h b after it, so that the
contact does no work; what is left of its work is a numerical entry of the ledger. Restitution is for approaches faster
than directions turn. A contact lasts while x ≤ h² |b|, with the larger of b now and a step ago, where x comes from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.mechanics.system import Directions, System
from klapper.schemes.base import TOUCHING

NOISE = 1e-8
"""Of the largest velocity: turning h |b| below it is rounding of differences, and moves a contact by less than 1e-8 of
the way of a step."""
APPROACH = 2.0
"""Of h |b|: velocity from which on a contact hits. In steady motion it approaches with half of h |b|, in the step after
an impact with all of it, and half of h |b| is left for a curvature that changes."""


@dataclass(frozen=True)
class Lasting:
    """Which of k contacts last.

    ``which``    (k,) whether it lasts
    ``shift``    (k,) [m/s] x/h, what is added to v_N⁺ in the law; 0 for the others
    ``allowed``  (k,) [m] penetration that the law leaves, h² |b|; 0 for the others
    """

    which: np.ndarray
    shift: np.ndarray
    allowed: np.ndarray

    def of(self, chosen: np.ndarray) -> Lasting:
        return Lasting(self.which[chosen], self.shift[chosen], self.allowed[chosen])


def none_lasts(count: int) -> Lasting:
    return Lasting(np.zeros(count, dtype=bool), np.zeros(count), np.zeros(count))


def lasting(
    system: System,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    contact: np.ndarray,
    gap: np.ndarray,
    *,
    held: np.ndarray,
    step: float,
    longest: float,
) -> Lasting:
    """Which of the contacts (k,) with gaps (k,) [m] at t, q last.

    ``held`` numbers of those that were loaded in the last step; ``longest`` [s] of this step and the last.
    """
    found = none_lasts(len(contact))
    kept = np.flatnonzero(np.isin(contact, held) & np.isfinite(gap))
    if len(kept) == 0:
        return found
    turning = np.abs(system.curvature(t, q, v, contact[kept])[0])
    back = min(longest, t - system.start.time)
    if back > 0.0:
        before = system.curvature(t - back, system.advance(q, -back * v), v, contact[kept])[0]
        turning = np.maximum(turning, np.abs(before))
    turning *= longest
    reach = longest * turning
    turns = (turning > NOISE * np.abs(v).max(initial=0.0)) & (gap[kept] <= np.maximum(reach, TOUCHING))
    kept, turning, reach = kept[turns], turning[turns], reach[turns]
    if len(kept) == 0:
        return found
    directions: Directions = system.directions(t, q, contact[kept])
    slow = directions.normal_velocity(v) >= -APPROACH * turning
    kept, turning, reach = kept[slow], turning[slow], reach[slow]
    found.which[kept] = True
    found.shift[kept] = np.maximum(gap[kept] / step, -turning)
    found.allowed[kept] = reach
    return found


def closed_at_start(system: System) -> np.ndarray:
    """Numbers of the contacts that are closed at the start, as if they had been loaded before."""
    t, q = system.start.time, system.start.position
    near = system.near(t, q)
    return near[np.abs(system.gaps(t, q, near)) <= TOUCHING].astype(np.int64)
