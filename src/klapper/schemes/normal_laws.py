"""Compliant normal laws branch by branch, so that between two switches they are smooth beyond their ends.

    pressing  λ_N = e(g) − d ġ,   idle  λ_N = 0,   e(g) = ±(c |g|)^κ, odd in g        Waltersberger (4.80), (4.77)
    touching  λ_N = −c g − d ġ,   free  λ_N = 0,   ṡ = −(c/d) s                        (4.82), (4.83)

A contact begins to press where its gap (with a layer: g + s) falls through zero, and stops where its force does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from klapper.mechanics.compliance import ApproachDamper, BoundaryLayer, CompliantNormal

NormalLaw = CompliantNormal | ApproachDamper | BoundaryLayer


@dataclass(frozen=True, eq=False)
class NormalBranches:
    """The parameters of one law for k contacts.

    ``stiffness`` c (k,), ``damping`` d (k,), ``exponent`` κ (k,); ``layered``: whether the law has an inner variable s
    """

    stiffness: np.ndarray
    damping: np.ndarray
    exponent: np.ndarray
    layered: bool

    @staticmethod
    def of(law: NormalLaw, contacts: int) -> NormalBranches:
        def each(value: Any) -> np.ndarray:
            return np.broadcast_to(np.asarray(value, dtype=float), (contacts,))

        if isinstance(law, ApproachDamper):
            return NormalBranches(each(0.0), each(law.damping), each(1.0), False)
        exponent = law.exponent if isinstance(law, CompliantNormal) else 1.0
        layered = isinstance(law, BoundaryLayer)
        return NormalBranches(each(law.stiffness), each(law.damping), each(exponent), layered)

    def at(self, which: np.ndarray) -> NormalBranches:
        return NormalBranches(self.stiffness[which], self.damping[which], self.exponent[which], self.layered)

    @cached_property
    def linear(self) -> bool:
        return bool(np.all(self.exponent == 1.0))

    def elastic(self, gap: np.ndarray) -> np.ndarray:
        """e(g) (k,) [N]: what the springs press."""
        if self.linear:
            return -self.stiffness * gap
        return -np.sign(gap) * (self.stiffness * np.abs(gap)) ** self.exponent

    def trial(self, gap: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """λ_N (k,) [N] of the pressing branch."""
        return self.elastic(gap) - self.damping * rate

    def trial_rate(self, gap: np.ndarray, rate: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """dλ_N/dt (k,) [N/s] of the pressing branch."""
        return -self._slope(gap) * rate - self.damping * acceleration

    def release(self, gap: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """What falls through zero where a pressing contact stops to press (k,): its force, without damping −g."""
        return np.where(self.damping > 0.0, self.trial(gap, rate), -gap)

    def release_terms(self, gap: np.ndarray, rate: np.ndarray, place: float, pace: float) -> np.ndarray:
        """Size of the terms of ``release`` (k,), for judging its rounding.

        ``place`` [m] and ``pace`` [m/s] are those of positions and velocities.
        """
        return np.where(self.damping > 0.0, self.trial_terms(gap, rate, place, pace), np.abs(gap) + place)

    def trial_terms(self, gap: np.ndarray, rate: np.ndarray, place: float, pace: float) -> np.ndarray:
        """Size of the terms of ``trial`` (k,) [N]: a gap is known to the round-off of positions, not to its own."""
        damper = self.damping * (np.abs(rate) + pace)
        return np.abs(self.elastic(gap)) + self._slope(gap) * place + damper

    def trial_rate_terms(
        self, gap: np.ndarray, rate: np.ndarray, pace: float, acceleration: np.ndarray
    ) -> np.ndarray:
        """Size of the terms of ``trial_rate`` (k,) [N/s]; ``acceleration`` (k,) is that of the terms of g̈."""
        return self._slope(gap) * (np.abs(rate) + pace) + self.damping * acceleration

    def _slope(self, gap: np.ndarray) -> np.ndarray:
        """|de/dg| (k,) [N/m]."""
        return self.exponent * self.stiffness * (self.stiffness * np.abs(gap)) ** (self.exponent - 1.0)

    def stored(self, gap: np.ndarray, layer: np.ndarray, inside: np.ndarray) -> np.ndarray:
        """Energy (k,) [J] in the springs; ``inside``: which contacts are not apart."""
        if self.layered:
            return 0.5 * self.stiffness * layer**2
        depth = np.where(inside, np.maximum(-np.nan_to_num(gap), 0.0), 0.0)
        return np.where(
            self.stiffness > 0.0,
            (self.stiffness * depth) ** self.exponent * depth / (self.exponent + 1.0),
            0.0,
        )

    def relaxation(self, layer: np.ndarray) -> np.ndarray:
        """ṡ (k,) [m/s] of a free layer."""
        return -self.stiffness / self.damping * layer
