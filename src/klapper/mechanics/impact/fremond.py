"""Frémond's law at a jump, generalised to many contacts: a percussion against the mean normal velocity.

    M (⁺v − ⁻v) = J_N (λ_N + λ_D) + J_T Λ_T
    λ_D = −m (⁺v_N + ⁻v_N),   0 ≤ λ_N ⟂ ⁺v_N ≥ 0                                    Waltersberger (3.113), (3.115)

The masses m ≥ 0 replace the coefficient of restitution: a body heavier than m sticks, a lighter one rebounds. With
M̂ = M + J_N m J_Nᵀ this is one contact problem, always solvable without friction, (3.116), (3.117), and dissipative if
no contact opens before the impact, (3.119). M̂⁻¹ appears only between contacts, W − W_N m (I + W_NN m)⁻¹ W_Nᵀ, so that M
is not factorised again. λ_D pulls at a contact whose velocities have a positive mean; ``words`` says so.

With friction: Coulomb's law on ⁺v, limited by μ (λ_N + max(λ_D, 0)), the whole pressing percussion, so that a
rebounding contact (λ_N = 0) rubs too. The limit depends on ⁺v and is found by repetition, which at a single contact
shrinks the error by less than μ |W_NT| / W_NN, the ratio that must stay below one for a rigid contact not to jam.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sparse

from klapper.complementarity import IterationLimit, Solution
from klapper.complementarity.checking import as_vector
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.impact.law import ImpactLaw, impact_law
from klapper.mechanics.impact.problem import ImpactProblem, read_array
from klapper.mechanics.impact.result import Impact, Stage
from klapper.mechanics.options import Option

_REPETITIONS = 300


@dataclass(frozen=True, eq=False)
class FremondImpact(Impact):
    """An impact by Frémond's law: ``normal`` = ``reaction`` λ_N + ``dissipative`` λ_D, (m,) [N s] each.

    A wall with m = 3 kg throws a ball of 1 kg back by λ_D = −3 (0.5 − 1) N s alone:

    >>> impact = Fremond(3.0).resolve(ImpactProblem([1.0], [-1.0], [[1.0]]))
    >>> impact.reaction.round(12).tolist(), impact.dissipative.round(12).tolist()
    ([0.0], [1.5])
    """

    reaction: np.ndarray
    dissipative: np.ndarray


@impact_law("fremond")
@dataclass(frozen=True)
class Fremond(ImpactLaw):
    """Frémond's law with ``mass_parameters`` m, one number or (m,) [kg]; the problem's restitution is not used.

    λ_D = −m (⁺v_N + ⁻v_N). Options as of :class:`ImpactLaw`. A ball of 1 kg with 1 m/s sticks up to
    m = 1 kg, and else leaves with (m − 1)/(m + 1) m/s:

    >>> wall = ImpactProblem([1.0], [-1.0], [[1.0]])
    >>> [float(Fremond(m).resolve(wall).after[0].round(12)) for m in (1.0, 2.0, 3.0)]
    [0.0, 0.333333333333, 0.5]
    """

    mass_parameters: Annotated[Any, Option("mass parameters m", "kg", at_least=0.0, example=2.0)]
    name: ClassVar[str] = "Frémond's law"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.all(np.asarray(self.mass_parameters, dtype=float) >= 0.0):
            raise InvalidModel(f"mass_parameters is {self.mass_parameters}; allowed are masses from 0 on.")

    def resolve(self, impact: ImpactProblem) -> FremondImpact:
        masses = read_array(as_vector, self.mass_parameters, "mass_parameters", impact.contacts)
        impulse, dissipative, solution = self._percussions(impact, masses)
        reaction = impulse[: impact.contacts].copy()
        impulse[: impact.contacts] += dissipative
        after = impact.before + impact.response @ impulse
        stage = Stage("impact", impulse, impact.before, after, solution)
        return FremondImpact(impact, self.name, (stage,), reaction=reaction, dissipative=dissipative)

    def _percussions(
        self, impact: ImpactProblem, masses: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, Solution[Any] | None]:
        """(λ_N, Λ_T, Λ_B), λ_D, and the solved problem; repeated until the friction limits fit to λ_D."""
        delassus, free, mean = damped_contacts(impact, masses)
        limit, guess = np.zeros(impact.patches), None
        for _ in range(_REPETITIONS):
            impulse, solution = self.contact_impulses(
                impact, delassus, free, self.name, limit=limit, start=guess
            )
            raised = 2.0 * mean + (delassus @ impulse)[: impact.contacts]
            dissipative = -masses * raised  # Waltersberger (3.113)
            wanted = impact.friction_limits(np.maximum(dissipative, 0.0))
            if np.abs(wanted - limit).max(initial=0.0) <= self.tolerance * wanted.max(initial=0.0):
                return impulse, dissipative, solution
            limit, guess = wanted, impulse
        raise IterationLimit(
            f"{self.name}: the friction limits did not settle within {_REPETITIONS} repetitions; normal and tangential "
            f"motion are coupled too strongly for this friction. Use Newton's or Poisson's law."
        )


def damped_contacts(impact: ImpactProblem, masses: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ŵ = Jᵀ M̂⁻¹ J; the contact velocities after the impact and the mean normal ones, both without reactions, (3.116).

    Written with (I + W_NN m)⁻¹ so that nothing cancels for large m.
    """
    delassus = impact.delassus.toarray() if sparse.issparse(impact.delassus) else impact.delassus
    normal, other = slice(0, impact.contacts), slice(impact.contacts, None)
    velocity = impact.contact_velocity(impact.before)
    relief = np.eye(impact.contacts) + delassus[normal, normal] * masses
    solved = np.linalg.solve(relief, np.column_stack([delassus[normal], velocity[normal]]))
    damped, mean = delassus.copy(), solved[:, -1]
    damped[normal] = solved[:, :-1]
    damped[other, other] -= delassus[other, normal] * masses @ damped[normal, other]
    damped[other, normal] = damped[normal, other].T
    free = np.concatenate([2.0 * mean, velocity[other] - 2.0 * delassus[other, normal] @ (masses * mean)])
    free[normal] -= velocity[normal]
    return 0.5 * (damped + damped.T), free, mean
