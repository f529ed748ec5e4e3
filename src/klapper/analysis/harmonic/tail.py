"""How the harmonics that are left out give way at a contact.

A contact that sticks, slips or opens has forces of all harmonics. Those up to K move the structure; those above are
given the flexibility that the structure has at the first of them, a spring S and a damper d (both in m/N) in series
with each contact that only they can feel:

    x̃ − x = S (λ − λ*) + d ∫ (λ − λ*) dθ,       λ* = the harmonics 0 … K of λ

This is the dynamic Lagrangian method with 1/ε = S (Nacivet et al. 2003): at the solution x̃ and x agree in all balanced
harmonics, and λ obeys the law of the contact with x̃. As K grows, what is left out vanishes, and with it the choice of S
and d. Taken from the structure they make short series good: a friction element on a spring is already exact in its
describing function with K = 1. Where the mass of the contact governs, its flexibility has the sign of no spring; then
friction gets a damper of the same size. Normal directions always get a spring, which takes no energy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.analysis.harmonic.directions import ContactDirections

_AT_LEAST = 3  # harmonics beyond the balanced ones that are looked at


@dataclass(frozen=True, eq=False)
class Tail:
    """``spring`` S (c,) and ``damper`` d (c,) [m/N]."""

    spring: np.ndarray
    damper: np.ndarray

    def scaled(self, factor: float) -> Tail:
        return Tail(factor * self.spring, factor * self.damper)


def orders_beyond(count: int) -> np.ndarray:
    """The harmonics above K = ``count`` whose flexibility is averaged."""
    return np.arange(count + 1, count + 1 + max(_AT_LEAST, count // 2))


def tail_of(flexibility: np.ndarray, orders: np.ndarray, directions: ContactDirections) -> Tail:
    """From A_ii (b, c) at the ``orders`` (b,) that are left out, the first of them weighted most."""
    weights = 1.0 / orders**2
    mean = weights @ flexibility / weights.sum()
    mean[mean == 0.0] = 1.0  # held by constraints: any number will do
    spring, damper = np.maximum(mean.real, 0.0), orders[0] * np.hypot(mean.imag, np.minimum(mean.real, 0.0))
    normal = directions.is_normal
    spring[normal], damper[normal] = np.abs(mean[normal]), 0.0
    for part in directions.parts:
        across = list(part.tangential)
        if len(across) == 2:
            spring[across], damper[across] = spring[across].mean(), damper[across].mean()
    return Tail(spring, damper)
