"""Newton's law at a jump: a closed contact that takes an impulse leaves with −ε times its velocity before.

    M (⁺v − ⁻v) = J_N Λ_N + J_T Λ_T
    0 ≤ Λ_N ⟂ ⁺v_N + ε ⁻v_N ≥ 0,   −⁺v_T ∈ N_D(Λ_T),  |D| = μ Λ_N                Waltersberger (3.95), (3.97), (3.98)

Without friction ⁺v is the projection of ⁻v in the metric of M, (3.111), hence unique. The least-squares problem
(3.103) of the source is not equivalent to the law and is not used. Friction opposes the slip after the impact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from klapper.mechanics.impact.law import ImpactLaw, impact_law
from klapper.mechanics.impact.problem import ImpactProblem
from klapper.mechanics.impact.result import Impact, Stage


@dataclass(frozen=True, eq=False)
class NewtonImpact(Impact):
    """An impact by Newton's law, as :meth:`Newton.resolve` returns it: an :class:`Impact` of one stage.

    Without friction its loss is also known in closed form, ½ Λ_N (1 − ε) |⁻v_N| = ½ · 9 · 0.5 · 3 J:

    >>> impact = Newton().resolve(ImpactProblem([2.0], [-3.0], [[1.0]], restitution=0.5))
    >>> round(impact.restitution_loss(), 12)
    6.75
    """

    def restitution_loss(self) -> float | None:
        """½ Λ_Nᵀ (ε − 1) ⁻v_N [J], (3.118); None with friction."""
        if not self.problem.frictionless:
            return None
        approach = self.problem.normal_velocity(self.problem.before)
        return 0.5 * float(self.normal @ ((self.problem.restitution - 1.0) * approach))


@impact_law("newton")
@dataclass(frozen=True, kw_only=True)
class Newton(ImpactLaw):
    """Newton's law for all given contacts at once: 0 ≤ Λ_N ⟂ ⁺v_N + ε ⁻v_N ≥ 0. Options as of :class:`ImpactLaw`.

    Three balls of 1 kg in a row, the first with 1 m/s: both contacts open with −ε times their speed, 1 and 0 m/s:

    >>> row = ImpactProblem([1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [[-1.0, 0.0], [1.0, -1.0], [0.0, 1.0]], restitution=1.0)
    >>> Newton().resolve(row).after.round(6).tolist()
    [-0.333333, 0.666667, 0.666667]
    """

    name: ClassVar[str] = "Newton's law"

    def resolve(self, impact: ImpactProblem) -> NewtonImpact:
        velocity = impact.contact_velocity(impact.before)
        impulse, solution = self.contact_impulses(
            impact, impact.delassus, newton_velocity(impact, velocity), self.name
        )
        after = impact.before + impact.response @ impulse
        return NewtonImpact(impact, self.name, (Stage("impact", impulse, impact.before, after, solution),))


def newton_velocity(impact: ImpactProblem, velocity: np.ndarray) -> np.ndarray:
    """What Newton's law sees without impulses: (1 + ε) v_N and the other contact velocities (m + s d + k,)."""
    free = velocity.copy()
    free[: impact.contacts] *= 1.0 + impact.restitution  # Waltersberger (3.97), rates included
    return free
