"""Implicit steps that keep energy and momentum at any step size.

    2/h M (q₁ − q₀) − 2 M v₀ = h f̄(q₀, q₁) + h ∇̄Φ λ,   Φ(q₁) = 0,   v₁ = 2 (q₁ − q₀)/h − v₀        Hesch (2.145), (3.35)

``forces`` says what f̄ is: the discrete gradient of the potential ("discrete"), or the force in the middle of the step
("midpoint", which keeps momentum but not energy), or that with velocities corrected afterwards so that the energy is
right ("projected", (2.159)-(2.166)). ``constraint_forces`` says the same of ∇̄Φ, see
:mod:`klapper.schemes.constraint_between`. Constraints are held by multipliers, by a penalty, or by both in turn.
One-sided contacts are closed and opened by :mod:`klapper.schemes.contact_rounds`, or are springs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System
from klapper.schemes.adaptive_step import AccurateSteps, joined
from klapper.schemes.base import (
    Snapshot,
    Step,
    StepFailed,
    kinetic_energy,
    registered,
    snapshot_at_start,
)
from klapper.schemes.consistent_start import (
    require_constant_mass,
    require_no_restitution,
    require_pressed_contacts,
    require_same_mass,
)
from klapper.schemes.constraint_between import ConstraintForce, ConstraintStep
from klapper.schemes.constraint_springs import AugmentedLagrange, ConstraintSprings, Penalty
from klapper.schemes.contact_rounds import ContactRounds, HardContact
from klapper.schemes.force_between import potential_gradient
from klapper.schemes.held_contacts import HeldContacts
from klapper.schemes.implicit_step import ImplicitStep
from klapper.schemes.motion_balance import MotionBalance
from klapper.schemes.newton import NewtonIteration, NotConverged, require_newton
from klapper.schemes.penalty_contact import PenaltyContact
from klapper.schemes.saddle_point import Reduction
from klapper.schemes.settled_step import Settled
from klapper.schemes.work import Work

_SMALLEST = 2.0**-6  # of a step: the smallest part that it is cut into where contacts find no states


@dataclass(frozen=True)
class Multipliers:
    """Constraints hold exactly: Φ(q₁) = 0 with forces ∇̄Φ λ as further unknowns.           Hesch (3.35)

    ``reduction``  how they are solved for: with the positions ("saddle", default), after those along the constraints
                   ("null-space"), or before the positions ("condensed")

    >>> from klapper.mechanics import Constraint, LinearSystem
    >>> from klapper.schemes import EnergyMomentum, Multipliers
    >>> from klapper.simulation import simulate
    >>> hung = LinearSystem([1.0], force=[-10.0], constraints=[Constraint("rope", [1.0])])
    >>> run = simulate(hung, 0.1, EnergyMomentum(0.05, enforcement=Multipliers()))
    >>> run.constraint_force[-1].round(9)
    array([10.])
    """

    reduction: Reduction = "saddle"


@registered
@dataclass(frozen=True)
class EnergyMomentum(AccurateSteps):
    """Implicit steps for systems with a constant mass matrix.

    ``step_size``          h [s]; with ``accuracy`` the largest one
    ``forces``             "discrete" (default), "midpoint" or "projected"
    ``constraint_forces``  "discrete" (default), "midpoint", "modified" or "projected"
    ``enforcement``        ``Multipliers()`` (default), ``Penalty(ε)`` or ``AugmentedLagrange(ε)``
    ``contact``            ``HardContact()`` (default), or ``PenaltyContact(ε)``
    ``newton``             how the equations of a step are solved
    ``accuracy``           allowed error of position [m] per step; None: all steps are equal

    An oscillator with ω h = 2 turns by 2 arctan 1 in a step, a quarter; its amplitude stays:

    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import EnergyMomentum
    >>> from klapper.simulation import simulate
    >>> oscillator = LinearSystem([1.0], stiffness=[4.0], position=[1.0])
    >>> abs(simulate(oscillator, 4.0, EnergyMomentum(1.0)).position[:, 0]).round(9)
    array([1., 0., 1., 0., 1.])
    """

    step_size: float
    forces: Literal["discrete", "midpoint", "projected"] = "discrete"
    constraint_forces: Literal["discrete", "midpoint", "modified", "projected"] = "discrete"
    enforcement: Multipliers | Penalty | AugmentedLagrange = field(default_factory=Multipliers)
    contact: HardContact | PenaltyContact = field(default_factory=HardContact)
    newton: NewtonIteration = field(default_factory=NewtonIteration)
    accuracy: float | None = None

    name = "energy-momentum"
    rebound = "the bodies, whose waves carry energy away"

    def __post_init__(self) -> None:
        require_newton(self.newton)
        self.require_lengths()
        for given, name, allowed in (
            (self.forces, "forces", ("discrete", "midpoint", "projected")),
            (self.constraint_forces, "constraint_forces", ("discrete", "midpoint", "modified", "projected")),
        ):
            if given not in allowed:
                raise InvalidModel(f"{name} is {given!r}; allowed are {', '.join(allowed)}.")
        for argument, kinds in (
            ("enforcement", (Multipliers, Penalty, AugmentedLagrange)),
            ("contact", (HardContact, PenaltyContact)),
        ):
            if not isinstance(getattr(self, argument), kinds):
                known = ", ".join(f"{kind.__name__}(…)" for kind in kinds)
                raise InvalidModel(f"{argument} is {getattr(self, argument)!r}; allowed are {known}.")
        if self.constraint_forces == "modified" and not isinstance(self.enforcement, Multipliers):
            raise InvalidModel("modified constraints are held by multipliers; leave the penalty out.")

    def init(self, system: System) -> Snapshot:
        require_constant_mass(system, self.name)
        require_no_restitution(system, self)
        if system.contacts.count:
            self.contact.require(system)
            require_pressed_contacts(system, self.name)
        memory = np.append(np.zeros(len(system.constraints)), [self.step_size, 0.0])
        return replace(snapshot_at_start(system), memory=memory)

    def step(
        self, system: System, snapshot: Snapshot, until: float = np.inf, work: Work | None = None
    ) -> Step:
        if self.accuracy is None:
            t1 = self.end_of_step(system, snapshot)
            done = self._halved(system, snapshot, t1, 1.0)
            return replace(done, after=replace(done.after, step=snapshot.step + 1))
        return self.adapted(
            lambda before, h: _OneStep(self, system, before, h, before.time + h).done(),
            snapshot,
            until,
            order=1 if self.forces == "projected" else 2,
        )

    def _halved(self, system: System, before: Snapshot, t1: float, share: float) -> Step:
        """One step to t₁ [s], or two of half its length where contacts find no states: each keeps what a step keeps."""
        h = share * self.step_size
        try:
            return _OneStep(self, system, before, h, t1).done()
        except StepFailed:
            if share <= _SMALLEST or not (system.contacts.count and isinstance(self.contact, HardContact)):
                raise
        middle = t1 - 0.5 * h
        first = self._halved(system, before, middle, 0.5 * share)
        second = self._halved(system, first.after, t1, 0.5 * share)
        done = joined(first, second, before.step + 1)
        told = f"at {before.time:.6g} s a step of {h:.3g} s was not solved and was done in halves"
        return replace(done, notes={**done.notes, "step halved": told})

    def stored_energy(self, system: System, snapshot: Snapshot) -> float:
        """Of penalties, for constraints and for contacts [J]."""
        total = 0.0
        if isinstance(self.enforcement, Penalty):
            total += self.enforcement.energy(system, snapshot.time, snapshot.position)
        if isinstance(self.contact, PenaltyContact):
            total += self.contact.energy(system, snapshot.time, snapshot.position)
        return total

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "step_size": self.step_size,
            "forces": self.forces,
            "constraint_forces": self.constraint_forces,
            "enforcement": repr(self.enforcement),
            "contact": repr(self.contact),
            "accuracy": self.accuracy,
            "newton": repr(self.newton),
        }

    @property
    def citations(self) -> tuple[str, ...]:
        return ("gonzalez1996", "hesch2007")


class _OneStep:
    """One step of the scheme, with what belongs to it."""

    def __init__(self, scheme: EnergyMomentum, system: System, before: Snapshot, h: float, t1: float) -> None:
        self.scheme, self.system, self.before = scheme, system, before
        self.h, self.t1 = h, t1
        self.middle = 0.5 * (before.time + self.t1)
        self.q0, self.v0 = before.position, before.velocity
        self.p = len(system.constraints)
        self.missed: list[
            tuple[str, float, float]
        ] = []  # directions, surplus [J], kinetic energy along them [J]
        how: ConstraintForce = (
            "midpoint" if scheme.constraint_forces == "projected" else scheme.constraint_forces
        )
        self.constraints = ConstraintStep(system, before.time, self.t1, self.q0, how)
        self.springs: ConstraintSprings | None = None
        if self.p and not isinstance(scheme.enforcement, Multipliers):
            self.springs = ConstraintSprings(scheme.enforcement, self.constraints, self.middle)
        self.balance = MotionBalance(
            system,
            self.q0,
            self.v0,
            self.middle,
            h,
            exact=scheme.forces == "discrete",
            springs=self.springs,
            contact=scheme.contact if isinstance(scheme.contact, PenaltyContact) else None,
        )

    def done(self) -> Step:
        found = self._augmented()
        q1, held = found.equations.split(found.x)
        require_same_mass(self.system, self.balance.mass, self.t1, q1, self.scheme.name)
        v1 = self.system.carried_velocity((2.0 / self.h) * (q1 - self.q0) - self.v0)
        multipliers = held[: self.p] if self.springs is None else self.springs.multipliers(q1)
        notes = dict(found.notes)
        work = 0.0
        if self.p:
            work = float(multipliers @ (self.constraints.at(q1).push.T @ (q1 - self.q0)))
        if self.scheme.constraint_forces == "projected" and self.p:
            v1 = self._constraints_projected(q1, v1, multipliers, notes)
        if self._momentum_update:
            v1 = self._contacts_projected(q1, v1, found, notes)
        if self.scheme.forces == "projected":
            v1 = self._energy_projected(q1, v1, work, found, notes)
        contact, impulse, state = self._loaded(found, q1)
        after = Snapshot(
            step=self.before.step + 1,
            time=self.t1,
            position=q1,
            velocity=v1,
            contact=contact,
            impulse=impulse,
            sums=self.before.sums + self._sums(q1, v1, work, found),
            memory=np.append(multipliers, [self.before.memory[-2], float(found.rounds)]),  # next step, rounds
        )
        return Step(after, contact, impulse, state, self.h * multipliers, found.residual, notes)

    @property
    def _momentum_update(self) -> bool:
        rule = self.scheme.contact
        return isinstance(rule, HardContact) and rule.energy == "momentum-update"

    def _solved(self) -> Settled:
        """The step with its contacts, from the predicted position."""
        rule = self.scheme.contact
        scheme = self.scheme
        rounds = ContactRounds(
            rule if isinstance(rule, HardContact) else HardContact(),
            self.system,
            self.before,
            self.h,
            self.t1,
            "middle" if self._momentum_update else "between",
            scheme.newton,
            self._equations,
            hard=isinstance(rule, HardContact),
        )
        start = self.before.memory[: self.p] if self.springs is None else np.zeros(0)
        try:
            return rounds.settle(self.q0 + self.h * self.v0, start)
        except NotConverged as failure:
            raise StepFailed(
                f"at {self.before.time:.6g} s the step of {self.h:.3g} s was not solved: {failure}. Use a smaller "
                f"step, or NewtonIteration(largest=…) to cap its corrections."
            ) from failure

    def _equations(self, contacts: HeldContacts) -> ImplicitStep:
        enforcement = self.scheme.enforcement
        if isinstance(enforcement, Multipliers):
            return ImplicitStep(self.balance, [self.constraints, contacts], enforcement.reduction)
        return ImplicitStep(self.balance, [contacts])

    def _augmented(self) -> Settled:
        """Multipliers of an augmentation are carried over until the constraints hold."""
        enforcement = self.scheme.enforcement
        if not isinstance(enforcement, AugmentedLagrange) or self.springs is None:
            return self._solved()
        self.springs.offset = self.before.memory[: self.p].copy()
        rounds = 0
        for _ in range(enforcement.most):
            found = self._solved()
            rounds += found.rounds
            value = self.constraints.at(found.equations.split(found.x)[0]).value
            self.springs.offset = self.springs.offset - enforcement.stiffness * value
            if np.abs(value).max() <= enforcement.tolerance:
                return replace(found, rounds=rounds)
        raise StepFailed(
            f"at {self.before.time:.6g} s constraints are violated by {np.abs(value).max():.1e} m after "
            f"{enforcement.most} augmentations; use a stiffer penalty, or Multipliers()."
        )

    def _loaded(self, found: Settled, q1: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Contacts that took part, their impulses (k, 1 + d) [N s] and states."""
        if isinstance(self.scheme.contact, PenaltyContact) and self.system.contacts.count:
            return self.scheme.contact.impulses(self.system, [(self.middle, 0.5 * (self.q0 + q1))], [self.h])
        return found.loaded(self.system.contacts.tangential, self.h)

    def _sums(self, q1: np.ndarray, v1: np.ndarray, constraint_work: float, found: Settled) -> np.ndarray:
        """loads, damping, friction, impact, numerical [J]: what moving supports and belts do counts as load."""
        system, h = self.system, self.h
        change = q1 - self.q0
        load, damping = system.powers(self.middle, 0.5 * (self.q0 + q1), change / h)
        moved = bool(np.any(system.constraint_directions(self.middle, q1)[1])) if self.p else False
        friction = found.friction(q1)
        loads = h * load + (constraint_work if moved else 0.0) + found.belts()
        gained = kinetic_energy(system, q1, v1) - kinetic_energy(system, self.q0, self.v0)
        gained += system.potential(q1) - system.potential(self.q0)
        for spring in (self.scheme.enforcement, self.scheme.contact):
            if isinstance(spring, Penalty | PenaltyContact):
                gained += spring.energy(system, self.t1, q1) - spring.energy(
                    system, self.before.time, self.q0
                )
        rest = loads - h * damping - friction - gained
        return np.array([loads, h * damping, friction, 0.0, rest])

    def _energy_projected(
        self, q1: np.ndarray, v1: np.ndarray, work: float, found: Settled, notes: dict[str, str]
    ) -> np.ndarray:
        """p₁ ← p₁ + κ ∂V/∂q: the energy of the step becomes right.                         Hesch (2.160)-(2.166)"""
        wrong = -float(self._sums(q1, v1, work, found)[4])
        return self._kicked(v1, potential_gradient(self.system, q1), wrong, "the forces", notes)

    def _constraints_projected(
        self, q1: np.ndarray, v1: np.ndarray, multipliers: np.ndarray, notes: dict[str, str]
    ) -> np.ndarray:
        """p₁ ← p₁ + κ ∇Φ, constraint by constraint, for the work that each one did.         (3.39)-(3.41)"""
        found = self.constraints.at(q1)
        work = multipliers * (found.push.T @ (q1 - self.q0))
        for k in np.flatnonzero(found.active):
            what = f"constraint '{self.system.constraints[k]}'"
            v1 = self._kicked(v1, _column(found.slope, k), float(work[k]), what, notes)
        return v1

    def _contacts_projected(
        self, q1: np.ndarray, v1: np.ndarray, found: Settled, notes: dict[str, str]
    ) -> np.ndarray:
        """The same for contacts, the work of their normal forces."""
        contacts = found.contacts
        push = contacts.pairing.slope(0.5 * (self.q0 + q1))
        slope = contacts.pairing.slope(q1)
        work = found.normal * (push.T @ (q1 - self.q0))
        for k in contacts.closed:
            what = f"contact '{self.system.contacts.name(int(found.numbers[k]))}'"
            v1 = self._kicked(v1, _column(slope, k), float(work[k]), what, notes)
        return v1

    def _kicked(
        self, v: np.ndarray, push: np.ndarray, surplus: float, what: str, notes: dict[str, str]
    ) -> np.ndarray:
        """v + κ M⁻¹ push with a κ² + b κ + surplus = 0, a = ½ push · M⁻¹ push, the smaller root.

        κ = −b/2a takes the most, b²/4a: the kinetic energy along ``push``. A surplus above that has no real root, and
        stays in the motion.
        """
        kick = self.balance.mobility(push)
        a, b = 0.5 * float(push @ kick), float(push @ v)
        discriminant = b * b - 4.0 * a * surplus
        if a == 0.0 or surplus == 0.0:
            return v
        if discriminant < 0.0:
            self.missed.append((what, surplus, 0.25 * b * b / a))
            notes["energy not projected"] = self._told()
            return v
        root = np.sqrt(discriminant)
        factor = -2.0 * surplus / (b + root) if b >= 0.0 else -2.0 * surplus / (b - root)
        return v + factor * kick

    def _told(self) -> str:
        """What the step could not give back, in words."""
        names, surplus, most = zip(*self.missed, strict=True)
        along = names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")
        return (
            f"at {self.t1:.6g} s no correction of the velocities gives back {sum(surplus):.3g} J (along {along} the "
            f"motion has {sum(most):.3g} J to take them from)"
        )


def _column(matrix: Any, k: Any) -> np.ndarray:
    return matrix[:, [k]].toarray().ravel() if sparse.issparse(matrix) else matrix[:, k]
