"""Moreau's time stepping: impulses over a step, velocities at its end.

With the unknown jump Δ = v⁺ − v over a step h,

    M̂ Δ = h f̂ + J Λ,       M̂ = M − h θ G_v − h² θ² G_q                            Waltersberger (4.13)
    f̂ = f(t + θ h, q + θ h v, v)
    0 ≤ Λ_N ⟂ v_N⁺ + ε v_N⁻ ≥ 0,   −v_T⁺ ∈ N_D(Λ_T)                                (4.12)
    J_Bᵀ v_θ + a_B = 0,   q⁺ = q + h v_θ,   v_θ = (1 − θ) v + θ v⁺                 (4.15)

θ = 1 is the thesis' linearly implicit Euler step (order 1, damps vibrations by ωh/2), θ = ½ the Moreau–Jean midpoint
step (order 2 between jumps, no numerical damping). M, the directions and the contacts that take part (gap ≤ 0) belong
to q + (1 − θ) h v. Contacts that last obey a law that keeps their gap, see
:mod:`klapper.schemes.lasting_contacts`. Only forces with tangents are implicit; the others are taken at the middle of
the step.
Moreau 1988; Jean 1999; Anitescu & Potra 2002.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from klapper.complementarity import ComplementarityError
from klapper.mechanics.arguments import number
from klapper.mechanics.compiled_form import NotCompiled
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import ForceTangents, System
from klapper.schemes.adaptive_step import AccurateSteps, adaptive_step
from klapper.schemes.base import (
    Snapshot,
    Step,
    StepFailed,
    Stretch,
    registered,
    require_known_solver,
    snapshot_at_start,
)
from klapper.schemes.energy import spring_energy
from klapper.schemes.lasting_contacts import closed_at_start
from klapper.schemes.work import Work

if TYPE_CHECKING:
    from klapper.schemes.mobility import Inverse


@registered
@dataclass(frozen=True)
class Moreau(AccurateSteps):
    """θ time stepping with contact, friction and impact.

        M̂ (v⁺ − v) = h f̂ + J Λ,   0 ≤ Λ_N ⟂ v_N⁺ + ε v_N⁻ ≥ 0,   q⁺ = q + h ((1 − θ) v + θ v⁺)       (4.12), (4.13)

    ``step_size``   h [s]; with ``accuracy`` the largest one
    ``theta``       θ, dimensionless, from ½ (midpoint) to 1 (implicit Euler)
    ``impact``      None: Newton's law inside the step; or a law of :mod:`klapper.mechanics.impact`, applied where
                    closed contacts approach, before the step goes on without restitution (Scheme 5.3)
    ``level``       "velocity": constraints on v⁺ (thesis); "position": on g(q⁺), for contact compliance, (5.70)
    ``projection``  whether penetration and drift of joints are removed from the position at the end of the step; None:
                    where directions depend on q, and contacts that last keep the O(h²) of their law; of rigid bodies
                    drift of joints only
    ``accuracy``    allowed error of position [m] per step; None: all steps are equal
    ``solver``      of the contact problem, see :func:`klapper.complementarity.solve`
    ``selection``   rule of :mod:`klapper.complementarity.selection` for forces that are not unique; None: as solved
    ``tolerance``   allowed relative residual of the contact problem
    ``compiled``    True: in compiled code where the model allows it; "require": refuse other models, with the reason;
                    False: step by step in Python

    A ball flies against a wall with 5 m/s and leaves it with 0.6 of that:

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.schemes import Moreau
    >>> from klapper.simulation import simulate
    >>> wall = Contact("wall", normal=[1.0], restitution=0.6)
    >>> ball = LinearSystem([1.0], position=[0.25], velocity=[-5.0], contacts=[wall])
    >>> simulate(ball, 0.3, Moreau(0.1, compiled=False)).velocity[:, 0].round(9)
    array([-5.,  3.,  3.,  3.])
    """

    step_size: float
    theta: float = 0.5
    impact: Any = None
    level: str = "velocity"
    projection: bool | None = None
    accuracy: float | None = None
    solver: Any = "auto"
    tolerance: float = 1e-9
    compiled: bool | Literal["require"] = True
    selection: Any = None
    name = "moreau"

    def __post_init__(self) -> None:
        self.require_lengths()
        number(self.theta, "theta", "numbers from 0.5 to 1", at_least=0.5, at_most=1.0)
        number(self.tolerance, "tolerance", "numbers above 0 and up to 1", above=0.0, at_most=1.0)
        if self.projection not in (None, True, False):
            raise InvalidModel(
                f"projection is {self.projection!r}; allowed are None (where directions turn), True and False."
            )
        if self.compiled not in (True, False, "require"):
            raise InvalidModel(f"compiled is {self.compiled!r}; it must be True, False or 'require'.")
        if self.level not in ("velocity", "position"):
            raise InvalidModel(f"level is {self.level!r}; allowed are 'velocity' and 'position'.")
        require_known_solver(self.solver)
        if self.impact is not None and not hasattr(self.impact, "resolve"):
            raise InvalidModel(
                f"impact is {self.impact!r}; allowed are None (Newton's law in the step) and laws of "
                f"klapper.mechanics.impact, e.g. Sequential()."
            )
        if self.level == "position" and (self.theta != 1.0 or self.impact is not None):
            raise InvalidModel(
                f"level='position' holds gaps at the end of the step, so theta must be 1 and impact None; theta is "
                f"{self.theta} and impact {self.impact!r}."
            )

        if self.selection is not None:
            from klapper.schemes.force_selection import require_rule

            require_rule(self.selection)

    def init(self, system: System) -> Snapshot:
        if self.level == "position":
            restitution = system.contacts.laws(np.arange(system.contacts.count)).restitution
            if np.any(restitution > 0.0):
                worst = system.contacts.name(int(np.argmax(restitution)))
                raise InvalidModel(
                    f"contact '{worst}' has restitution, which has no meaning with level='position'; use 'velocity'."
                )
        elif system.compliance is not None:
            raise InvalidModel(
                f"'{system.name}' has contact compliance, which acts on gaps: use Moreau(theta=1, level='position')."
            )
        start = snapshot_at_start(system)
        closed = closed_at_start(system) if self.level == "velocity" else start.contact
        return replace(
            start,
            contact=closed,
            impulse=np.zeros((len(closed), start.impulse.shape[1])),
            memory=np.array([self.step_size, self.step_size]),
        )

    def projects(self, system: System) -> bool:
        """Whether positions are projected at the end of steps of this system."""
        if self.projection is not None:
            return self.projection
        if self.level == "position" or system.singular_mass:
            return False  # gaps of the end of the step are in its law; no metric to project in
        if len(system.constraints) > 0 and not system.affine_constraints:
            return True
        # of rigid bodies joints only: contacts that last keep their gap by their law, and after impacts a body that is
        # moved out of a wall would not fly on the parabola on which it came
        return not system.rigid_bodies and system.contacts.count > 0 and not system.affine_gaps

    def clears(self, system: System) -> bool:
        """Whether penetration is taken out of positions that are projected, and not only the drift of joints."""
        return bool(self.projection) or not system.rigid_bodies

    def stretch(self, system: System) -> Stretch | None:
        if not self.compiled:
            return None
        for option, general in (
            ("selection", None),
            ("solver", "auto"),
        ):
            if getattr(self, option) != general:
                raise NotCompiled(
                    f"steps with {option}={getattr(self, option)!r} are done by the general code"
                )
        from klapper.schemes.stretches import stretch_for

        return stretch_for(
            system,
            self.step_size,
            self.theta,
            self.tolerance,
            self.level,
            projects=self.projects(system),
            clears=self.clears(system),
            keeps_lasting=self.projection is None,
            jumps=self.impact is not None,
            accuracy=self.accuracy,
        )

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "step_size": self.step_size,
            "theta": self.theta,
            "impact": "newton" if self.impact is None else repr(self.impact),
            "level": self.level,
            "projection": self.projection,
            "accuracy": self.accuracy,
            "solver": self.solver if isinstance(self.solver, str) else repr(self.solver),
            "tolerance": self.tolerance,
        } | ({} if self.selection is None else {"selection": repr(self.selection)})

    @property
    def citations(self) -> tuple[str, ...]:
        keys = ["moreau1988", "waltersberger2007"]
        keys.append("anitescu2002" if self.theta == 1.0 else "jean1999")
        return (*keys, *getattr(self.impact, "citations", ()))

    def stored_energy(self, system: System, snapshot: Snapshot) -> float:
        """½ λᵀ C λ of contact compliance: it depends on forces, which are the scheme's, and not on positions."""
        return spring_energy(system, snapshot.contact, snapshot.impulse, snapshot.memory[-1])

    def step(
        self, system: System, snapshot: Snapshot, until: float = np.inf, work: Work | None = None
    ) -> Step:
        work = work or Work()
        if self.accuracy is not None:
            return self._adaptive_step(system, snapshot, until, work)
        done = self._fixed_step(system, snapshot, self.step_size, work)
        time = self.end_of_step(system, snapshot)
        return replace(done, after=replace(done.after, time=time))

    def _adaptive_step(self, system: System, snapshot: Snapshot, until: float, work: Work) -> Step:
        """Two half steps, checked against one whole step, with a step size that keeps the accuracy."""
        assert self.accuracy is not None
        step, following = adaptive_step(
            lambda before, h: self._fixed_step(system, before, h, work),
            snapshot,
            wanted=float(snapshot.memory[0]),
            largest=self.step_size,
            until=until,
            accuracy=self.accuracy,
            order=1,
            unseen=lambda half: _unseen_penetration(system, half),
        )
        memory = np.array([following, step.after.memory[-1]])
        return replace(step, after=replace(step.after, memory=memory))

    def _fixed_step(self, system: System, snapshot: Snapshot, h: float, work: Work) -> Step:
        from klapper.schemes.moreau_step import MoreauStep

        try:
            return MoreauStep(self, system, snapshot, h, work).done()
        except ComplementarityError as error:
            raise StepFailed(
                f"The step from {snapshot.time:.9g} s has no verified answer. {error} Try a smaller step than "
                f"{h:g} s."
            ) from error

    def inverse(self, mass: Any, tangents: ForceTangents, h: float, work: Work) -> Inverse:
        """M̂⁻¹, kept from the last step as long as the matrices are the same objects."""

        def made() -> Inverse:
            from klapper.schemes.mobility import Inverse

            matrix = mass
            if tangents.velocity is not None:
                matrix = matrix - (h * self.theta) * tangents.velocity
            if tangents.position is not None:
                matrix = matrix - (h * self.theta) ** 2 * tangents.position
            return Inverse(matrix)

        made_from = (mass, tangents.position, tangents.velocity, h)
        return work.kept("inverse", made_from, made, lambda a, b: a is b or (b is h and a == b))


def _unseen_penetration(system: System, step: Step) -> float:
    """Depth [m] of contacts that closed within a step without taking part in it."""
    t, q = step.after.time, step.after.position
    near = system.near(t, q)
    gaps = system.gaps(t, q, near)[~np.isin(near, step.contact)]
    return float(-np.nanmin(gaps, initial=0.0))
