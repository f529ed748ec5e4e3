"""The books of an impact: where its kinetic energy went, and which contact gave if there is more than before.

    ⁺T − ⁻T = walls − Σ normal − Σ friction                                   Waltersberger (3.118)-(3.121)
    normal_i   = −½ Λ_N (⁺v_N + ⁻v_N)        friction_i = −½ Λ_T · (⁺v_T + ⁻v_T)        walls = −Λ · a

An identity for any impulses: it closes to round-off whatever the law. A law of several stages (compression and
restitution, fast impacts) is booked stage by stage, because only then a contact that first takes energy and
later passes it on is not called a source. A positive entry is dissipated, a negative one given by that contact.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from klapper.mechanics.impact.problem import ImpactProblem
    from klapper.mechanics.impact.result import Stage

NOISE = 1e-9
"""Energies below this part of the energy at hand are not called a gain: the tolerance of the contact problems."""


@dataclass(frozen=True, eq=False)
class ImpactAudit:
    """Energies of one impact [J].

    ``law``  by name; ``names`` (m,), ``patch_names`` (s,), ``constraint_names`` (k,) of those that the books are about
    ``energy_before``, ``energy_after``  kinetic energy
    ``normal`` (m,), ``friction`` (s,), ``bilateral`` (k,)  dissipated by each contact, friction patch, constraint
    ``walls``             work put in by moving walls, belts and drives (the rates of the problem)
    ``restitution_loss``  ½ Λ_Nᵀ (ε − 1) ⁻v_N, the loss by (3.118); None unless Newton's law without friction

    ⁺T − ⁻T = walls − dissipated. A ball of 2 kg with −3 m/s and ε = 0.5 keeps ε² = 1/4 of its 9 J:

    >>> from klapper.mechanics.impact import ImpactProblem, Newton
    >>> audit = Newton().resolve(ImpactProblem([2.0], [-3.0], [[1.0]], restitution=0.5)).audit
    >>> audit.energy_before, round(audit.energy_after, 12), round(audit.dissipated, 12), audit.gain
    (9.0, 2.25, 6.75, 0.0)
    """

    law: str
    names: tuple[str, ...]
    patch_names: tuple[str, ...]
    constraint_names: tuple[str, ...]
    energy_before: float
    energy_after: float
    normal: np.ndarray
    friction: np.ndarray
    bilateral: np.ndarray
    walls: float
    restitution_loss: float | None = None

    @property
    def dissipated(self) -> float:
        """What contacts and friction took in sum; negative if they gave."""
        return float(self.normal.sum() + self.friction.sum() + self.bilateral.sum())

    @property
    def residual(self) -> float:
        """By how much the books do not close: ⁺T − ⁻T − walls + dissipated."""
        return self.energy_after - self.energy_before - self.walls + self.dissipated

    @property
    def gain(self) -> float:
        """Energy that the law made from nothing; zero for a dissipative impact."""
        return -self.dissipated if -self.dissipated > self._noise else 0.0

    @property
    def givers(self) -> dict[str, float]:
        """Contacts and friction patches that gave energy, by name, the largest first.

        Without a ``gain`` this is no fault: others took at least as much.
        """
        entries = [
            *zip(self.names, self.normal, strict=True),
            *(
                (f"friction of {name}", work)
                for name, work in zip(self.patch_names, self.friction, strict=True)
            ),
            *zip(self.constraint_names, self.bilateral, strict=True),
        ]
        gave = [(name, -float(work)) for name, work in entries if -work > self._noise]
        return dict(sorted(gave, key=lambda entry: -entry[1]))

    @property
    def words(self) -> str:
        """One or two sentences; begins with "Energy gain" if the law made energy from nothing."""
        driven = f" Moving walls put in {self.walls:.6g} J." if abs(self.walls) > self._noise else ""
        gave = ", ".join(f"{name} gives {work:.6g} J" for name, work in self.givers.items())
        if self.gain:
            return (
                f"Energy gain of {self.gain:.6g} J by {self.law} ({self.energy_before:.6g} J before the impact): "
                f"{gave}. {self._advice}{driven}"
            )
        back = f" In the exchange between contacts {gave}." if gave else ""
        lost = f"{self.dissipated:.6g} J of {self.energy_before:.6g} J are dissipated"
        if abs(self.dissipated) <= self._noise:
            lost = f"All of {self.energy_before:.6g} J is kept"
        return f"{lost} by {self.law}.{back}{driven}"

    @property
    def _advice(self) -> str:
        if self.friction.any():
            return "With friction only restitution 0 rules this out, (3.121)."
        return "Pass approaching contacts only, (3.118), or take one restitution for all."

    @property
    def _noise(self) -> float:
        return NOISE * (self.energy_before + self.energy_after + abs(self.walls))

    def __str__(self) -> str:
        return self.words


def audit_stages(
    problem: ImpactProblem, law: str, stages: Iterable[Stage], restitution_loss: float | None = None
) -> ImpactAudit:
    """The books of an impact that went through ``stages``."""
    work = np.zeros(problem.rates.size)
    walls, after = 0.0, problem.before
    for stage in stages:
        mean = 0.5 * (problem.contact_velocity(stage.before) + problem.contact_velocity(stage.after))
        work -= stage.impulse * mean
        walls -= float(stage.impulse @ problem.rates)
        after = stage.after
    contacts, tangential = problem.contacts, problem.patches * problem.dimension
    patchwise = work[contacts : contacts + tangential].reshape(problem.patches, problem.dimension)
    return ImpactAudit(
        law=law,
        names=problem.names,
        patch_names=problem.patch_names,
        constraint_names=problem.constraint_names,
        energy_before=problem.kinetic_energy(problem.before),
        energy_after=problem.kinetic_energy(after),
        normal=work[:contacts],
        friction=patchwise.sum(axis=1),
        bilateral=work[contacts + tangential :],
        walls=walls,
        restitution_loss=restitution_loss,
    )
