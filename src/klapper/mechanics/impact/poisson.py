"""Poisson's law at a jump: what was compressed comes back as impulse.

    compression   v_K = ⁻v + M⁻¹(J_N Λ_K + J_T Λ_TK)                               Waltersberger (5.11)
                  0 ≤ Λ_K ⟂ v_NK ≥ 0,   −v_TK ∈ N_D(Λ_TK),  |D| = μ Λ_K
    restitution   ⁺v = v_K + M⁻¹(J_N (e Λ_K + Λ_+) + J_T Λ_TE)                      (5.13)
                  0 ≤ Λ_+ ⟂ ⁺v_N ≥ 0,   −⁺v_T ∈ N_D(Λ_TE),  |D| = μ (e Λ_K + Λ_+)

The source is frictionless; friction acts in both phases, limited by the normal impulse of its phase, as in Glocker and
Pfeiffer (Nonlinear Dynamics 7, 1995) without tangential restitution. Λ_+ prevents penetration where neighbours push
back harder. A compression impulse that several contacts share in an undetermined way leaves ⁺v undetermined as soon as
their e differ; ``unique`` tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from klapper.complementarity import NotApplicable, Uniqueness, uniqueness
from klapper.complementarity.unique import Verdict
from klapper.mechanics.impact.law import ImpactLaw, impact_law
from klapper.mechanics.impact.problem import ImpactProblem
from klapper.mechanics.impact.result import Impact, ImpactDeterminacy, Stage, worst

_VERIFIED = 1e-8
_DIFFERENT = 1e-7


@dataclass(frozen=True, eq=False)
class PoissonImpact(Impact):
    """An impact by Poisson's law; its stages are compression and restitution.

    Fields as of :class:`Impact`; ``rule`` is the law with its options, which tries other splits of the impulses.

    >>> impact = Poisson().resolve(ImpactProblem([2.0], [-3.0], [[1.0]], restitution=0.5))
    >>> impact.compression.tolist(), impact.compressed.tolist(), impact.after.tolist()
    ([6.0], [0.0], [1.5])
    """

    rule: Poisson

    @property
    def compression(self) -> np.ndarray:
        """Λ_K (m,) [N s]."""
        return self.stages[0].impulse[: self.problem.contacts]

    @property
    def compressed(self) -> np.ndarray:
        """v_K (n,) [m/s, rad/s], the velocities at the end of compression."""
        return self.stages[0].after

    def determinacy(self) -> ImpactDeterminacy:
        """As always, and additionally whether another split of the compression impulses gives another motion."""
        first, last = (stage.solution for stage in self.stages)
        if first is None or last is None:
            return super().determinacy()
        try:
            compression, restitution = uniqueness(first), uniqueness(last)
        except NotApplicable as error:
            return ImpactDeterminacy("undecided", "undecided", str(error))
        split = self._split_matters(compression)
        answers = (compression, restitution)
        words = f"Compression: {compression} Restitution: {restitution}"
        if split != "unique":
            words += f" Another split of the compression impulses: the motion after the impact is {split}."
        return ImpactDeterminacy(
            worst([compression.motion, restitution.motion, split]),
            worst(["unique" if answer.forces.all() else "not unique" for answer in answers]),
            words,
            answers,
        )

    def _split_matters(self, compression: Uniqueness) -> Verdict:
        """Whether undetermined compression impulses change ⁺v, found by restitution from other splits of them."""
        if compression.forces.all():
            return "unique"
        problem, contacts = self.problem, self.problem.contacts
        returned = compression.null_space[:contacts] * problem.restitution[:, None]
        pushed = np.abs(problem.response[:, :contacts] @ returned).max(initial=0.0)
        limits = np.abs(problem.friction @ returned).max(initial=0.0)
        if max(pushed, limits) <= _DIFFERENT * np.abs(problem.response).max(initial=0.0):
            return "unique"
        speed = np.abs(problem.contact_velocity(problem.before)).max(initial=0.0)
        for impulse in self._other_splits(compression):
            after = self.rule.restitution_stage(problem, impulse, self.compressed).after
            if np.abs(problem.directions.T @ (after - self.after)).max(initial=0.0) > _DIFFERENT * speed:
                return "not unique"
        return "undecided"

    def _other_splits(self, compression: Uniqueness) -> list[np.ndarray]:
        """Compression impulses (m + s d + k,) that satisfy the same problem, at the ends of the null directions."""
        solution: Any = self.stages[0].solution
        contacts, splits = self.problem.contacts, []
        for direction in (*compression.null_space.T, *-compression.null_space.T):
            falling = direction[:contacts] < 0.0
            room = solution.x[:contacts][falling] / -direction[:contacts][falling]
            x = solution.x + room.min(initial=np.abs(solution.x).max()) * direction
            if solution.problem.residuals(x).worst <= _VERIFIED:
                impulse = np.zeros_like(self.stages[0].impulse)
                impulse[:contacts] = x[:contacts]
                splits.append(impulse)
        return splits


@impact_law("poisson")
@dataclass(frozen=True, kw_only=True)
class Poisson(ImpactLaw):
    """Poisson's law for all given contacts; ``restitution`` of the problem is e.

    0 ≤ Λ_E − e Λ_K ⟂ ⁺v_N ≥ 0. Options as of :class:`ImpactLaw`.

    Three balls of 1 kg in a row; compression brings all to 1/3 m/s with 2/3 and 1/3 N s. The second contact returns its
    1/3 N s, which stops the ball in the middle, so that the first one pushes it on:

    >>> row = ImpactProblem([1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [[-1.0, 0.0], [1.0, -1.0], [0, 1]], restitution=[0, 1])
    >>> Poisson().resolve(row).after.round(6).tolist()
    [0.166667, 0.166667, 0.666667]
    """

    name: ClassVar[str] = "Poisson's law"

    def resolve(self, impact: ImpactProblem) -> PoissonImpact:
        velocity = impact.contact_velocity(impact.before)
        impulse, solution = self.contact_impulses(
            impact, impact.delassus, velocity, f"{self.name}, compression"
        )
        compressed = impact.before + impact.response @ impulse
        compression = Stage("compression", impulse, impact.before, compressed, solution)
        restitution = self.restitution_stage(impact, impulse, compressed)
        return PoissonImpact(impact, self.name, (compression, restitution), rule=self)

    def restitution_stage(
        self, impact: ImpactProblem, compression: np.ndarray, compressed: np.ndarray
    ) -> Stage:
        """The second phase from impulses Λ_K (first m entries of ``compression``) and velocities v_K (n,)."""
        returned = np.zeros_like(compression)
        returned[: impact.contacts] = impact.restitution * compression[: impact.contacts]
        free = impact.contact_velocity(compressed) + impact.delassus @ returned
        limit = impact.friction_limits(returned[: impact.contacts])
        extra, solution = self.contact_impulses(
            impact, impact.delassus, free, f"{self.name}, restitution", limit=limit
        )
        impulse = returned + extra
        return Stage("restitution", impulse, compressed, compressed + impact.response @ impulse, solution)
