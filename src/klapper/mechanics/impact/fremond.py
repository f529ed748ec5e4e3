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
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse

from klapper.complementarity import IterationLimit, Solution
from klapper.complementarity.checking import as_vector
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.impact.law import ImpactLaw
from klapper.mechanics.impact.problem import ImpactProblem, read_array
from klapper.mechanics.impact.result import Impact, Stage

_REPETITIONS = 300


@dataclass(frozen=True, eq=False)
class FremondImpact(Impact):
    """An impact by Frémond's law: ``normal`` = ``reaction`` λ_N + ``dissipative`` λ_D, (m,) [N s] each."""

    reaction: np.ndarray
    dissipative: np.ndarray


@dataclass(frozen=True)
class Fremond(ImpactLaw):
    """Frémond's law with ``mass_parameters`` m, one number or (m,) [kg]; the problem's restitution is not used.

    >>> wall = ImpactProblem([1.0], [-1.0], [[1.0]])
    >>> [float(Fremond(m).resolve(wall).after[0].round(12)) for m in (1.0, 2.0, 3.0)]
    [0.0, 0.333333333333, 0.5]
    """

    mass_parameters: Any
    name = "Frémond's law"

    def __post_init__(self) -> None:
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
        delassus, free = damped_contacts(impact, masses)
        before, contacts = impact.normal_velocity(impact.before), impact.contacts
        limit, guess = np.zeros(impact.patches), None
        for _ in range(_REPETITIONS):
            impulse, solution = self.contact_impulses(
                impact, delassus, free, self.name, limit=limit, start=guess
            )
            dissipative = -masses * (before + (free + delassus @ impulse)[:contacts])  # Waltersberger (3.113)
            wanted = impact.friction_limits(np.maximum(dissipative, 0.0))
            if np.abs(wanted - limit).max(initial=0.0) <= self.accuracy * wanted.max(initial=0.0):
                return impulse, dissipative, solution
            limit, guess = wanted, impulse
        raise IterationLimit(
            f"{self.name}: the friction limits did not settle within {_REPETITIONS} repetitions; normal and tangential "
            f"motion are coupled too strongly for this friction. Use Newton's or Poisson's law."
        )


def damped_contacts(impact: ImpactProblem, masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ŵ = Jᵀ M̂⁻¹ J and the contact velocities M̂⁻¹ (M − J_N m J_Nᵀ) gives without reactions, (3.116)."""
    delassus = impact.delassus.toarray() if sparse.issparse(impact.delassus) else impact.delassus
    contacts = impact.contacts
    root = np.sqrt(masses)
    inner = np.eye(contacts) + root[:, None] * delassus[:contacts, :contacts] * root
    coupling = root[:, None] * delassus[:contacts]
    velocity = impact.contact_velocity(impact.before)
    if contacts == 0:
        return delassus, velocity
    relieved = scipy.linalg.cho_solve(
        scipy.linalg.cho_factor(inner, check_finite=False),
        np.column_stack([coupling, 2.0 * root * velocity[:contacts]]),
        check_finite=False,
    )
    damped = delassus - coupling.T @ relieved[:, :-1]
    return 0.5 * (damped + damped.T), velocity - coupling.T @ relieved[:, -1]
