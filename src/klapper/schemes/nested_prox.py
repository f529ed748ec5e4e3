"""Moreau's step with nested fixed-point iterations, as in Seiwald's thesis, chapters 3 and 4.

    midpoint   v⁺ = v + M⁻¹ (h_M Δt + W_M Λ),  q⁺ = q + ½ (v + v⁺) Δt,  h_M, W_M at q + ½ v Δt        (3.11)-(3.14)
    implicit   M̂₁ v⁺ = M̂₂ v + h Δt + ½ H_t Δt² + W_M Λ,  q⁺ = q + v⁺ Δt                               (3.22)-(3.30)
               M̂₁ = M − ½ H_q Δt² − ½ H_v Δt,  M̂₂ = M − ½ H_v Δt
    Λ_N = prox(Λ_N − r v_N⁺),  Λ_T = prox(Λ_T − r v_T⁺) for contacts with a gap of at most g_TOL at the middle   (3.15)

The impulses are found in three levels, see :mod:`klapper.schemes.nested_iteration`, with r = 2/(ξ_min + ξ_max) from
the eigenvalues of Wᵀ M̂⁻¹ W (C.11). Where a rigid body leaves the split of friction open, this scheme is the place to
choose it: by start value and factors of the iteration, or by a strategy of :mod:`klapper.schemes.friction_strategies`.
Impacts are inelastic. For motion alone :class:`klapper.schemes.Moreau` is faster and more exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from klapper.effort import report
from klapper.mechanics.arguments import finite, number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System
from klapper.schemes.base import Snapshot, Step, StepFailed, snapshot_at_start
from klapper.schemes.equal_steps import EqualSteps
from klapper.schemes.friction_strategies import strategy_of
from klapper.schemes.nested_iteration import Counter, Diverged, IterationLog, Limits
from klapper.schemes.nested_step import NestedStep
from klapper.schemes.stick_flags import sticking
from klapper.schemes.work import StepIterations, Work

if TYPE_CHECKING:
    from klapper.schemes.block_stretch import BlockStretch


@dataclass(frozen=True)
class NestedProx(EqualSteps):
    """Time stepping by nested prox iterations, for contacts in the plane.

    ``step_size``        Δt [s]
    ``integrator``       "midpoint" or "implicit"
    ``friction``         "prox", "pinv", "pinv-redistributed", "functional-1", "functional-2", "functional-3",
                         "equal-utilisation", or a
                         strategy (:class:`FunctionalFriction`, :class:`PseudoInverseFriction`, or one of your own,
                         :class:`FrictionStrategy`); strategies act where at least two closed contacts push in one
                         direction
    ``start``            where the iteration of every step begins: None for zero, "previous" for the forces of the step
                         before, or forces ((N, T), …) [N] of all contacts, normal and tangential
    ``weights``          factor of r of each contact's friction, dimensionless; None: one
    ``projection``       "none"; "thesis": states of closed and sticking contacts are projected, (D.4), (D.5), and a
                         contact sticks up to ``slip_speed``; "step-safe": only while normal forces press, and a contact
                         sticks up to the speed that ``slip_force`` gives it in a step, so that the start of sliding
                         converges with the step
    ``slip_speed``       ġ_T,TOL [m/s], ``slip_force`` [N], ``gap_tolerance`` g_TOL [m]
    ``force_tolerance``  change of forces [N] that ends an iteration
    ``max_rounds``, ``max_iterations``, ``max_reductions``, ``reduction``  limits of the levels, and ν of (C.12),
                         dimensionless
    ``compiled``         whether a compiled loop is used where there is one

    A block of 16 kg on two feet is pushed with 10 N and sticks; the feet share alike:

    >>> from klapper.bodies import FootedBlock, rigid_block
    >>> from klapper.mechanics import Constant
    >>> from klapper.schemes import NestedProx
    >>> from klapper.simulation import simulate
    >>> block = rigid_block(FootedBlock(0.2, 0.1, 16.0, friction=(0.5, 0.5)), load=Constant([10.0, 0.0, 0.0]))
    >>> run = simulate(block, 0.002, NestedProx(1e-3, friction="functional-3", compiled=False))
    >>> run.force[-1, :, 1].round(6), run.force[-1, :, 0].sum().round(6)  # 16 kg · 9.81 m/s²
    (array([-5., -5.]), np.float64(156.96))
    """

    step_size: float
    integrator: Literal["midpoint", "implicit"] = "midpoint"
    friction: Any = "prox"
    start: Any = None
    weights: tuple[float, ...] | None = None
    projection: Literal["none", "thesis", "step-safe"] = "none"
    slip_speed: float = 1e-6
    slip_force: float = 0.01
    gap_tolerance: float = 1e-6
    force_tolerance: float = 1e-4
    max_rounds: int = 20
    max_iterations: int = 100
    max_reductions: int = 30
    reduction: float = 0.5
    compiled: bool = True
    name = "nested-prox"

    def __post_init__(self) -> None:
        for argument in ("step_size", "slip_speed", "slip_force", "force_tolerance"):
            number(getattr(self, argument), argument, "numbers above 0", above=0.0)
        number(self.gap_tolerance, "gap_tolerance", "numbers from 0 on, in m", at_least=0.0)
        if not 0.0 < self.reduction < 1.0:
            raise InvalidModel(f"reduction is {self.reduction!r}; allowed are numbers between 0 and 1.")
        for argument, least in (("max_rounds", 1), ("max_iterations", 1), ("max_reductions", 0)):
            if not getattr(self, argument) >= least:
                raise InvalidModel(
                    f"{argument} is {getattr(self, argument)!r}; allowed are numbers from {least} on."
                )
        for argument, allowed in (
            ("integrator", ("midpoint", "implicit")),
            ("projection", ("none", "thesis", "step-safe")),
        ):
            if getattr(self, argument) not in allowed:
                raise InvalidModel(
                    f"{argument} is {getattr(self, argument)!r}; allowed are {', '.join(map(repr, allowed))}."
                )
        for weight in self.weights or ():
            number(weight, "weights", "numbers above 0", above=0.0)
        if self.strategy is not None and self.integrator == "implicit":
            raise InvalidModel(
                f"friction {self.strategy.name!r} needs the forces at the middle of the step; use "
                f"integrator='midpoint', or friction='prox'."
            )
        if self.start is not None and not isinstance(self.start, str):
            object.__setattr__(self, "start", _start_forces(self.start))
        elif self.start not in (None, "previous"):
            raise InvalidModel(
                f"start is {self.start!r}; allowed are None, 'previous' and forces ((N, T), …) in N."
            )

    @property
    def strategy(self) -> Any:
        """The strategy for friction, None for the prox iteration."""
        return strategy_of(self.friction)

    @property
    def limits(self) -> Limits:
        return Limits(
            self.force_tolerance * self.step_size,
            self.max_iterations,
            self.max_rounds,
            self.max_reductions,
            self.reduction,
        )

    def init(self, system: System) -> Snapshot:
        self._require(system)
        start, every = system.start, np.arange(system.contacts.count)
        closed = system.gaps(start.time, start.position, every) <= self.gap_tolerance
        slip = np.zeros(len(every))
        if system.contacts.tangential:
            directions = system.directions(start.time, start.position, every)
            slip = directions.tangential_velocity(start.velocity)
        flags = sticking(closed, slip, slip, self.slip_speed)
        return replace(snapshot_at_start(system), memory=np.concatenate([flags.astype(float), np.zeros(4)]))

    def _require(self, system: System) -> None:
        """Refuse what the step does not treat, by name."""
        count = system.contacts.count
        laws = system.contacts.laws(np.arange(count))
        if system.contacts.tangential > 1:
            raise InvalidModel(
                f"'{system.name}' has contacts with two tangential directions; NestedProx is for the plane, use Moreau."
            )
        if system.constraints:
            raise InvalidModel(f"'{system.name}' has the constraint '{system.constraints[0]}'; use Moreau.")
        if system.compliance is not None:
            raise InvalidModel(
                f"'{system.name}' has contact compliance; use Moreau(theta=1, level='position')."
            )
        if np.any(laws.restitution > 0.0):
            worst = system.contacts.name(int(np.argmax(laws.restitution)))
            raise InvalidModel(
                f"contact '{worst}' has restitution, but impacts are inelastic here; use Moreau."
            )
        if laws.coupled:
            raise InvalidModel(
                f"'{system.name}' has friction that depends on other contacts' normal forces; use Moreau."
            )
        for argument in ("weights", "start", "stiffness", "preload", "contact_weights", "contact_linear"):
            given = getattr(self, argument, None) or getattr(self.strategy, argument, None)
            if given is not None and not isinstance(given, str) and len(given) != count:
                raise InvalidModel(
                    f"{argument} has {len(given)} entries, but '{system.name}' has {count} contacts."
                )

    def stretch(self, system: System) -> BlockStretch | None:
        if not self.compiled or not hasattr(system, "block_form"):
            return None
        from klapper.schemes.block_stretch import BlockStretch, obstacle

        return None if obstacle(self, system) else BlockStretch(self, system)

    def step(
        self, system: System, snapshot: Snapshot, until: float = np.inf, work: Work | None = None
    ) -> Step:
        counter = Counter()
        step = self.finish(NestedStep(self, system, snapshot, counter))
        report("contact_problems")
        report("contact_iterations", int(counter.inner.sum()))
        if work is not None:
            work.iterations = StepIterations(counter.totals, counter.label)
        return step

    def iterations(self, system: System, snapshot: Snapshot) -> IterationLog:
        """Every iterate of the step that begins with ``snapshot``, of all three levels."""
        counter = Counter(entries=[])
        step = NestedStep(self, system, snapshot, counter)
        self.finish(step)
        return counter.log(step.contact)

    def finish(self, step: NestedStep) -> Step:
        """Iterate the impulses of a step that was set up; in the words of the scheme if that fails."""
        try:
            return step.done()
        except Diverged as error:
            raise StepFailed(
                f"The step from {step.t:.9g} s has no verified answer: {error}. Allow more rounds or iterations "
                f"or a larger force_tolerance, begin with start='previous', or take another friction strategy; if the "
                f"forces are stiff, a smaller step than {self.step_size:g} s or integrator='implicit'."
            ) from None

    @property
    def settings(self) -> dict[str, Any]:
        strategy = self.strategy
        plain = strategy is None or strategy.name == self.friction
        return {
            "step_size": self.step_size,
            "integrator": self.integrator,
            "friction": self.friction if plain else repr(strategy),
            "start": "zero" if self.start is None else self.start,
            "weights": self.weights,
            "projection": self.projection,
            "slip_speed": self.slip_speed,
            "slip_force": self.slip_force,
            "gap_tolerance": self.gap_tolerance,
            "force_tolerance": self.force_tolerance,
            "max_rounds": self.max_rounds,
            "max_iterations": self.max_iterations,
            "max_reductions": self.max_reductions,
            "reduction": self.reduction,
        }

    @property
    def citations(self) -> tuple[str, ...]:
        return ("moreau1988", "seiwald2014")


def _start_forces(given: Any) -> tuple[tuple[float, float], ...]:
    forces = finite(given, "start")
    if forces.ndim != 2 or forces.shape[1] != 2:
        raise InvalidModel(
            f"start has shape {forces.shape}; expected (contacts, 2): normal and tangential force in N."
        )
    return tuple((float(normal), float(tangential)) for normal, tangential in forces)
