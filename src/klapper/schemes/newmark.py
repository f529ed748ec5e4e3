"""Newmark's method and its relatives: accelerations that vary linearly within a step.

    M q̈₁ = f(t₁, q₁, v₁) + J_B λ₁,   Φ(t₁, q₁) = 0
    (1 − α_m) a₁ + α_m a₀ = (1 − α_f) q̈₁ + α_f q̈₀
    q₁ = q₀ + h v₀ + h² ((½ − β) a₀ + β a₁),   v₁ = v₀ + h ((1 − γ) a₀ + γ a₁)

α_m = α_f = 0 is Newmark (1959), others are in :mod:`klapper.schemes.generalised_alpha`; with constraints after
Arnold & Brüls (2007). Momentum is kept, angular momentum and, in nonlinear systems, energy are not. With γ = ½
and constraints, multipliers may oscillate from step to step: the method does not damp them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import ForceTangents, System, difference_tangents
from klapper.schemes.adaptive_step import AccurateSteps
from klapper.schemes.base import Snapshot, Step, StepFailed, registered
from klapper.schemes.consistent_start import (
    consistent_start,
    present,
    require_constant_mass,
    require_no_restitution,
    require_same_mass,
)
from klapper.schemes.direction_slope import direction_slope
from klapper.schemes.implicit_step import least_size
from klapper.schemes.newton import NewtonIteration, NotConverged, Residual, require_newton
from klapper.schemes.penalty_contact import PenaltyContact, loaded_contacts
from klapper.schemes.saddle_point import saddle_point
from klapper.schemes.smooth_ledger import End, step_sums
from klapper.schemes.sparse_factor import Solve
from klapper.schemes.work import Work


class Weights(NamedTuple):
    """α_m, α_f, γ, β of the formulas above."""

    inertia: float
    force: float
    gamma: float
    beta: float


@dataclass(frozen=True)
class NewmarkFamily(AccurateSteps):
    """What all methods of the family have in common, see :class:`Newmark`."""

    step_size: float
    contact: PenaltyContact | None = field(default=None, kw_only=True)
    newton: NewtonIteration = field(default_factory=NewtonIteration, kw_only=True)
    accuracy: float | None = field(default=None, kw_only=True)

    name = "newmark"
    compliant_contacts = True
    rebound = "the springs of the contacts"

    def __post_init__(self) -> None:
        require_newton(self.newton)
        self.require_lengths()
        if not isinstance(self.contact, PenaltyContact | None):
            raise InvalidModel(
                f"contact is {self.contact!r}; allowed are None and PenaltyContact(stiffness)."
            )

    @property
    def weights(self) -> Weights:
        raise NotImplementedError

    def init(self, system: System) -> Snapshot:
        require_constant_mass(system, self.name)
        require_no_restitution(system, self)
        require_contact(system, self.contact, self.name)
        start = consistent_start(system, self.contact)
        memory = _Memory(start.acceleration, start.acceleration, start.multipliers, self.step_size, 0)
        return replace(start.snapshot, memory=memory.packed())

    def step(
        self, system: System, snapshot: Snapshot, until: float = np.inf, work: Work | None = None
    ) -> Step:
        if self.accuracy is None:
            t1 = self.end_of_step(system, snapshot)
            return _OneStep(self, system, snapshot, self.step_size, t1).done()
        return self.adapted(
            lambda before, h: _OneStep(self, system, before, h, before.time + h).done(),
            snapshot,
            until,
            order=2,
        )

    def stored_energy(self, system: System, snapshot: Snapshot) -> float:
        """Energy [J] of the springs of closed contacts."""
        return 0.0 if self.contact is None else self.contact.energy(system, snapshot.time, snapshot.position)

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "step_size": self.step_size,
            "contact": None if self.contact is None else repr(self.contact),
            "accuracy": self.accuracy,
            "newton": repr(self.newton),
        }

    @property
    def citations(self) -> tuple[str, ...]:
        return ("newmark1959",)


@registered
@dataclass(frozen=True)
class Newmark(NewmarkFamily):
    """Newmark's method for systems with a constant mass matrix.

        q₁ = q₀ + h v₀ + h² ((½ − β) a₀ + β a₁),   v₁ = v₀ + h ((1 − γ) a₀ + γ a₁),   M a₁ = f(t₁, q₁, v₁)

    ``step_size``      h [s]; with ``accuracy`` the largest one
    ``gamma, beta``    γ and β, dimensionless; ½ and ¼ (default): second order, unconditionally stable in linear
                       systems, no damping
    ``contact``        ``PenaltyContact(ε)`` for one-sided contacts
    ``newton``         how the equations of a step are solved
    ``accuracy``       allowed error of position [m] per step; None: all steps are equal

    With ω h = 2 an oscillator turns by 2 arctan 1 in a step, a quarter; its amplitude stays:

    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import Newmark
    >>> from klapper.simulation import simulate
    >>> oscillator = LinearSystem([1.0], stiffness=[4.0], position=[1.0])
    >>> abs(simulate(oscillator, 4.0, Newmark(1.0)).position[:, 0]).round(9)
    array([1., 0., 1., 0., 1.])
    """

    gamma: float = 0.5
    beta: float = 0.25

    def __post_init__(self) -> None:
        super().__post_init__()
        number(self.gamma, "gamma", "numbers from 0.5 to 1", at_least=0.5, at_most=1.0)
        number(self.beta, "beta", "numbers above 0 and up to 1", above=0.0, at_most=1.0)

    @property
    def weights(self) -> Weights:
        return Weights(0.0, 0.0, self.gamma, self.beta)

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "gamma": self.gamma, "beta": self.beta}


def require_contact(system: System, contact: PenaltyContact | None, name: str) -> None:
    """Refuse one-sided contacts that the scheme would not see."""
    if not system.contacts.count:
        return
    if contact is None:
        raise InvalidModel(
            f"'{system.name}' has one-sided contacts, which {name} steps treat only as springs: give "
            f"contact=PenaltyContact(stiffness), or use Moreau."
        )
    contact.require(system)


class _Memory(NamedTuple):
    """a₀, q̈₀ (n,) and λ₀ (p,) at the end of the last step, the length wanted of the next, Newton's rounds."""

    mean: np.ndarray
    acceleration: np.ndarray
    multipliers: np.ndarray
    step_size: float
    rounds: int

    def packed(self) -> np.ndarray:
        return np.concatenate(
            [self.mean, self.acceleration, self.multipliers, [self.step_size, float(self.rounds)]]
        )

    @classmethod
    def unpacked(cls, memory: np.ndarray, n: int) -> _Memory:
        return cls(memory[:n], memory[n : 2 * n], memory[2 * n : -2], float(memory[-2]), int(memory[-1]))


class _OneStep:
    """The equations of one step; unknowns are u = q₁ − predicted position (n,) and λ₁ (p,)."""

    def __init__(self, scheme: NewmarkFamily, system: System, before: Snapshot, h: float, t1: float) -> None:
        self.scheme, self.system, self.before, self.h, self.t1 = scheme, system, before, h, t1
        self.weights = scheme.weights
        self.q0, self.v0 = before.position, before.velocity
        self.n, self.p = len(self.q0), len(system.constraints)
        self.mass = system.mass(self.q0)
        self.memory = _Memory.unpacked(before.memory, self.n)
        self.predicted = self.q0 + h * self.v0 + h * h * (0.5 - self.weights.beta) * self.memory.mean
        self.least = 0.0  # known with the first derivative
        self.ratio = (1.0 - self.weights.inertia) / (1.0 - self.weights.force)

    def motion(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """q₁, v₁, a₁, q̈₁ (n,)."""
        w, h, memory = self.weights, self.h, self.memory
        mean = x[: self.n] / (w.beta * h * h)
        velocity = self.v0 + h * ((1.0 - w.gamma) * memory.mean + w.gamma * mean)
        share = 1.0 / (1.0 - w.force)
        acceleration = self.ratio * mean + share * (w.inertia * memory.mean - w.force * memory.acceleration)
        return self.predicted + x[: self.n], velocity, mean, acceleration

    def residual(self, x: np.ndarray) -> Residual:
        """(M q̈₁ − f₁ − J λ₁, Φ₁)."""
        q, v, mean, acceleration = self.motion(x)
        inertia = self.mass @ acceleration
        force = np.asarray(self.system.force(self.t1, q, v), dtype=float)
        if self.scheme.contact is not None:
            force = force + self.scheme.contact.force(self.system, self.t1, q)
        terms = (inertia, force, self.mass @ mean, self.mass @ self.v0 / self.h)
        size = max(self.least, *(float(np.abs(term).max(initial=0.0)) for term in terms))
        if not self.p:
            return Residual(inertia - force, np.full(self.n, size))
        directions = self.system.constraint_directions(self.t1, q)[0]
        held, active = directions @ x[self.n :], present(directions)
        size = max(size, float(np.abs(held).max(initial=0.0)))
        reach = max(float(np.abs(q).max(initial=0.0)), 1e-300)
        value = np.where(active, self.system.constraint_residuals(self.t1, q), x[self.n :])
        return Residual(
            np.concatenate([inertia - force - held, value]),
            np.concatenate([np.full(self.n, size), np.where(active, reach, 1.0)]),
        )

    def inverse(self, x: np.ndarray) -> Solve:
        q, v, _, _ = self.motion(x)
        w, h, system = self.weights, self.h, self.system
        matrix = (self.ratio / (w.beta * h * h)) * self.mass
        tangents = self._tangents(q, v)
        if tangents.position is not None:
            matrix = matrix - tangents.position
        if tangents.velocity is not None:
            matrix = matrix - (w.gamma / (w.beta * h)) * tangents.velocity
        springs = None if self.scheme.contact is None else self.scheme.contact.tangent(system, self.t1, q)
        if springs is not None:
            matrix = matrix - springs
        self.least = least_size(matrix, q)
        directions = system.constraint_directions(self.t1, q)[0]
        if self.p and not system.affine_constraints:
            matrix = matrix - direction_slope(
                lambda at: system.constraint_directions(self.t1, at)[0], q, x[self.n :]
            )
        return saddle_point(matrix, -directions, directions, present(directions))

    def _tangents(self, q: np.ndarray, v: np.ndarray) -> ForceTangents:
        system = self.system
        tangents = system.tangents(self.t1, q, v)
        return (
            tangents
            if tangents.complete
            else difference_tangents(system.force, system.advance, self.t1, q, v)
        )

    def done(self) -> Step:
        x, rounds, residual = self._solved()
        q, v, alpha, acceleration = self.motion(x)
        require_same_mass(self.system, self.mass, self.t1, q, self.scheme.name)
        multipliers = x[self.n :]
        memory = _Memory(alpha, acceleration, multipliers, self.memory.step_size, rounds)
        ends = ((self.before.time, self.q0), (self.t1, q))
        late = (
            self.weights.gamma + self.weights.inertia - self.weights.force
        )  # ½ in every method of second order
        shares = ((1.0 - late) * self.h, late * self.h)
        loaded = loaded_contacts(self.scheme.contact, self.system, ends, shares)
        held = shares[0] * self.memory.multipliers + shares[1] * multipliers
        mean = 0.5 * self.h * (self.memory.multipliers + multipliers)
        before, end = End(*ends[0], self.v0), End(*ends[1], v)
        after = Snapshot(
            step=self.before.step + 1,
            time=self.t1,
            position=q,
            velocity=v,
            contact=loaded.contact,
            impulse=loaded.impulse,
            sums=self.before.sums + step_sums(self.system, before, end, mean, self.scheme.contact),
            memory=memory.packed(),
        )
        return Step(after, *loaded, held, residual)

    def _solved(self) -> tuple[np.ndarray, int, float]:
        """Newton's method from an unchanged acceleration; if that fails, from none."""
        failure: Exception | None = None
        size = self.weights.beta * self.h * self.h
        for start in (size * self.memory.mean, np.zeros(self.n)):
            try:
                return self.scheme.newton.solve(
                    self, np.concatenate([start, self.memory.multipliers]), self.n
                )
            except NotConverged as error:
                failure = error
        raise StepFailed(
            f"at {self.before.time:.6g} s the step of {self.h:.3g} s was not solved: {failure}. Use a smaller step, or "
            f"NewtonIteration(largest=…) to cap its corrections."
        )
