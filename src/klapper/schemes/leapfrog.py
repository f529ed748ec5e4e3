"""Leapfrog with contact: explicit steps with impulses, no spring at a contact and no matrix but the mass.

    q½ = q + h/2 v
    M (v⁺ − v) = h f(t½, q½, v½) + J(q½) Λ,     0 ≤ Λ_N ⟂ v_N⁺ + ε v_N⁻ ≥ 0,   −v_T⁺ ∈ N_D(Λ_T)
    q⁺ = q½ + h/2 v⁺

This is how Moreau wrote his scheme first: forces at the middle of the step, where they are known. Without contacts it
is the leapfrog (Verlet) method: second order, symplectic, stable up to h = 2/ω. Contacts are rigid all the same, and do
not lower that limit as the springs of a penalty do. Moreau 1988; as explicit dynamics of elastic bodies with
impacts it is known as CD-Lagrange, Fekak, Brun, Gravouil & Depale, Comput. Mech. 60 (2017) 1-21.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.options import Option
from klapper.mechanics.system import ForceTangents, System
from klapper.schemes.base import Snapshot, Step, registered
from klapper.schemes.equal_steps import EqualSteps
from klapper.schemes.longest_step import stable_step
from klapper.schemes.moreau import Moreau
from klapper.schemes.work import Work


@registered
@dataclass(frozen=True)
class Leapfrog(EqualSteps):
    """Explicit steps with rigid contact, friction and impact.

        M (v⁺ − v) = h f(q + h/2 v) + J Λ,   0 ≤ Λ_N ⟂ v_N⁺ + ε v_N⁻ ≥ 0,   q⁺ = q + h/2 (v + v⁺)

    ``step_size``  h [s], below the limit 2/ω of :func:`stable_step`, whatever the contacts are
    ``impact``     None: Newton's law inside the step; or a law of :mod:`klapper.mechanics.impact`

    With ω h = 1 the middle is q½ = 1 and v⁺ = −ω² h q½ = −2:

    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import Leapfrog
    >>> from klapper.simulation import simulate
    >>> run = simulate(LinearSystem([1.0], stiffness=[4.0], position=[1.0]), 0.5, Leapfrog(0.5))
    >>> run.position[-1], run.velocity[-1]
    (array([0.5]), array([-2.]))
    """

    step_size: Annotated[float, Option("step size h", "s", above=0.0, example=1e-3)]
    impact: Any = None
    _moreau: Moreau = field(init=False, repr=False, compare=False)
    name = "leapfrog"

    def __post_init__(self) -> None:
        number(self.step_size, "step_size", "numbers above 0, in s", above=0.0)
        object.__setattr__(
            self, "_moreau", Moreau(self.step_size, theta=0.5, impact=self.impact, compiled=False)
        )

    def init(self, system: System) -> Snapshot:
        start = self._moreau.init(system)
        limit = stable_step(system)
        if self.step_size > limit:
            raise InvalidModel(
                f"step_size is {self.step_size:.3g} s; leapfrog steps of '{system.name}' are stable up to "
                f"{limit:.3g} s: use a smaller step, or Moreau, which is implicit."
            )
        return start

    def step(
        self, system: System, snapshot: Snapshot, until: float = np.inf, work: Work | None = None
    ) -> Step:
        explicit: Any = _Explicit(system)
        return self._moreau.step(explicit, snapshot, until, work)

    @property
    def settings(self) -> dict[str, Any]:
        return {"step_size": self.step_size, "impact": "newton" if self.impact is None else repr(self.impact)}

    @property
    def citations(self) -> tuple[str, ...]:
        return ("moreau1988", "jean1999", *getattr(self.impact, "citations", ()))


class _Explicit:
    """A system none of whose forces is linearised."""

    def __init__(self, system: System) -> None:
        self._system = system

    def __getattr__(self, name: str) -> Any:
        return getattr(self._system, name)

    def tangents(self, t: float, q: np.ndarray, v: np.ndarray) -> ForceTangents:
        given = self._system.tangents(t, q, v)
        return ForceTangents(None, None, complete=given.complete and given.velocity is None)
