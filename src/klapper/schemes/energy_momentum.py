"""Implicit steps that keep energy and momentum at any step size.

    2/h M (q₁ − q₀) − 2 M v₀ = h f̄(q₀, q₁) + h ∇̄Φ λ,   Φ(q₁) = 0,   v₁ = 2 (q₁ − q₀)/h − v₀        Hesch (2.145), (3.35)

``forces`` says what f̄ is: the discrete gradient of the potential ("discrete"), or the force in the middle of the step
("midpoint", which keeps momentum but not energy), or that with velocities corrected afterwards so that the energy is
right ("projected", (2.159)-(2.166)). ``constraint_forces`` says the same of ∇̄Φ, see
:mod:`klapper.schemes.constraint_between`. Constraints are held by multipliers, by a penalty, or by both in turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.signals import number
from klapper.mechanics.system import System
from klapper.schemes.base import Snapshot, Step, StepFailed, Stretch, kinetic_energy, snapshot_at_start
from klapper.schemes.constraint_between import ConstraintForce, ConstraintStep
from klapper.schemes.force_between import mean_force, potential_gradient
from klapper.schemes.newton import Newton, NotConverged, Residual
from klapper.schemes.saddle_point import Reduction, saddle_point
from klapper.schemes.sparse_factor import Solve, factorised


@dataclass(frozen=True)
class Multipliers:
    """Constraints hold exactly."""

    reduction: Reduction = "saddle"


@dataclass(frozen=True)
class Penalty:
    """A spring of ``stiffness`` ε [N/m] for each constraint, V = ½ ε Φ²: they hold to about force/ε.   Hesch (3.2)"""

    stiffness: float

    def __post_init__(self) -> None:
        number(self.stiffness, "stiffness", "numbers above 0, in N/m", above=0.0)


@dataclass(frozen=True)
class AugmentedLagrange:
    """A penalty whose forces are carried over until constraints hold to a ``tolerance`` [m].   Hesch (3.11)-(3.13)"""

    stiffness: float
    tolerance: float = 1e-10
    most: int = 200

    def __post_init__(self) -> None:
        number(self.stiffness, "stiffness", "numbers above 0, in N/m", above=0.0)
        number(self.tolerance, "tolerance", "numbers above 0, in m", above=0.0)


@dataclass(frozen=True)
class EnergyMomentum:
    """Implicit steps of a fixed length for systems without one-sided contacts and with a constant mass matrix.

    ``step_size``          h [s]
    ``forces``             "discrete" (default), "midpoint" or "projected"
    ``constraint_forces``  "discrete" (default), "midpoint", "modified" or "projected"
    ``enforcement``        ``Multipliers()`` (default), ``Penalty(ε)`` or ``AugmentedLagrange(ε)``
    ``newton``             how the equations of a step are solved
    """

    step_size: float
    forces: Literal["discrete", "midpoint", "projected"] = "discrete"
    constraint_forces: Literal["discrete", "midpoint", "modified", "projected"] = "discrete"
    enforcement: Multipliers | Penalty | AugmentedLagrange = field(default_factory=Multipliers)
    newton: Newton = field(default_factory=Newton)

    name = "energy-momentum"

    def __post_init__(self) -> None:
        number(self.step_size, "step_size", "numbers above 0, in s", above=0.0)
        for given, name, allowed in (
            (self.forces, "forces", ("discrete", "midpoint", "projected")),
            (self.constraint_forces, "constraint_forces", ("discrete", "midpoint", "modified", "projected")),
        ):
            if given not in allowed:
                raise InvalidModel(f"{name} is {given!r}; allowed are {', '.join(allowed)}.")
        if self.constraint_forces == "modified" and not isinstance(self.enforcement, Multipliers):
            raise InvalidModel("modified constraints are held by multipliers; leave the penalty out.")

    def init(self, system: System) -> Snapshot:
        if system.contacts.count:
            raise InvalidModel(
                f"'{system.name}' has one-sided contacts, which {self.name} steps do not treat; use Moreau."
            )
        return replace(snapshot_at_start(system), memory=np.zeros(len(system.constraints) + 1))

    def steps(self, system: System, until: float) -> int | None:
        return max(round((until - system.start.time) / self.step_size), 1)

    def stretch(self, system: System) -> Stretch | None:
        return None

    def step(self, system: System, snapshot: Snapshot, until: float = np.inf) -> Step:
        return _OneStep(self, system, snapshot).done()

    def stored_energy(self, system: System, snapshot: Snapshot) -> float:
        """½ ε Φ² of a penalty [J]."""
        if not isinstance(self.enforcement, Penalty):
            return 0.0
        value = system.constraint_residuals(snapshot.time, snapshot.position)
        return 0.5 * self.enforcement.stiffness * float(value @ value)

    def refined(self, factor: float) -> EnergyMomentum:
        return replace(self, step_size=self.step_size / factor)

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "step": self.step_size,
            "forces": self.forces,
            "constraint_forces": self.constraint_forces,
            "enforcement": repr(self.enforcement),
            "tolerance": self.newton.tolerance,
        }

    @property
    def citations(self) -> tuple[str, ...]:
        return ("gonzalez1996", "hesch2007")


class _OneStep:
    """One step of the scheme, with what belongs to it."""

    def __init__(self, scheme: EnergyMomentum, system: System, before: Snapshot) -> None:
        self.scheme, self.system, self.before = scheme, system, before
        self.h = scheme.step_size
        self.t1 = system.start.time + (before.step + 1) * self.h
        self.middle = 0.5 * (before.time + self.t1)
        self.q0, self.v0 = before.position, before.velocity
        self.n, self.p = len(self.q0), len(system.constraints)
        self.mass = system.mass(self.q0)
        self.exact = scheme.forces == "discrete"
        how: ConstraintForce = (
            "midpoint" if scheme.constraint_forces == "projected" else scheme.constraint_forces
        )
        self.constraints = ConstraintStep(system, before.time, self.t1, self.q0, how)
        self.offset = np.zeros(self.p)  # multipliers carried over by augmentation

    @cached_property
    def penalty(self) -> float:
        enforcement = self.scheme.enforcement
        return 0.0 if isinstance(enforcement, Multipliers) else enforcement.stiffness

    @property
    def unknowns(self) -> int:
        return self.n + (self.p if not self.penalty else 0)

    def residual(self, x: np.ndarray) -> Residual:
        """(2/h M Δ − 2 M v₀ − h f̄ − h ∇̄Φ λ, Φ)."""
        q1 = x[: self.n]
        inertia = self.mass @ ((2.0 / self.h) * (q1 - self.q0) - 2.0 * self.v0)
        force = self.h * mean_force(self.system, self.middle, self.q0, q1, self.h, exact=self.exact).force
        momentum = np.abs(self.mass @ (2.0 * self.v0)).max(initial=0.0)
        if not self.p:
            size = max(np.abs(inertia).max(initial=0.0), np.abs(force).max(initial=0.0), momentum)
            return Residual(inertia - force, np.full(self.n, size))
        found = self.constraints.at(q1)
        held = self.h * (found.push @ self._multipliers(x, found.value))
        terms = (np.abs(inertia), np.abs(force), np.abs(held))
        size = max(momentum, *(float(term.max(initial=0.0)) for term in terms))
        value = inertia - force - held
        if self.penalty:
            return Residual(value, np.full(self.n, size))
        reach = max(float(np.abs(q1).max(initial=0.0)), 1e-300)
        return Residual(
            np.concatenate([value, np.where(found.active, found.value, x[self.n :])]),
            np.concatenate([np.full(self.n, size), np.where(found.active, reach, 1.0)]),
        )

    def inverse(self, x: np.ndarray) -> Solve:
        q1 = x[: self.n]
        slope = mean_force(self.system, self.middle, self.q0, q1, self.h, exact=self.exact, slope=True).slope
        matrix = (2.0 / self.h) * self.mass - self.h * slope
        if not self.p:
            return factorised(matrix)
        found = self.constraints.at(q1)
        multipliers = self._multipliers(x, found.value)
        curved = self.constraints.curvature(q1, multipliers)
        if curved is not None:
            matrix = matrix - self.h * curved
        if self.penalty:
            return factorised(
                matrix + self.h * self.penalty * _outer(found.push, self._penalty_slope(q1, found))
            )
        enforcement = self.scheme.enforcement
        assert isinstance(enforcement, Multipliers)
        return saddle_point(matrix, -self.h * found.push, found.slope, found.active, enforcement.reduction)

    def _multipliers(self, x: np.ndarray, value: np.ndarray) -> np.ndarray:
        """λ (p,) [N], positive along ∇Φ."""
        if not self.penalty:
            return x[self.n :]
        return self.offset - self.penalty * self._penalty_value(x[: self.n], value)

    def _penalty_value(self, q1: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Φ whose spring acts: the mean of both ends with exact forces, that of the middle with midpoint forces."""
        if isinstance(self.scheme.enforcement, AugmentedLagrange):
            return value
        if self.constraints.how == "discrete" or self.constraints.affine:
            return 0.5 * (self.constraints._at_start + value)
        return self.system.constraint_residuals(self.middle, 0.5 * (self.q0 + q1))

    def _penalty_slope(self, q1: np.ndarray, found: Any) -> Any:
        if isinstance(self.scheme.enforcement, AugmentedLagrange):
            return found.slope
        if self.constraints.how == "discrete" or self.constraints.affine:
            return 0.5 * found.slope
        return 0.5 * self.system.constraint_directions(self.middle, 0.5 * (self.q0 + q1))[0]

    def done(self) -> Step:
        x, rounds, residual = self._solved()
        q1 = x[: self.n]
        v1 = (2.0 / self.h) * (q1 - self.q0) - self.v0
        multipliers = np.zeros(0)
        notes: dict[str, str] = {}
        work = 0.0
        if self.p:
            found = self.constraints.at(q1)
            multipliers = self._multipliers(x, found.value)
            work = float(multipliers @ (found.push.T @ (q1 - self.q0)))
        if self.scheme.constraint_forces == "projected" and self.p:
            v1, notes = self._constraints_projected(q1, v1, multipliers)
        if self.scheme.forces == "projected":
            v1, more = self._energy_projected(q1, v1, work)
            notes.update(more)
        after = Snapshot(
            step=self.before.step + 1,
            time=self.t1,
            position=q1,
            velocity=v1,
            contact=np.zeros(0, dtype=np.int64),
            impulse=np.zeros((0, 1 + self.system.contacts.tangential)),
            sums=self.before.sums + self._sums(q1, v1, work),
            memory=np.append(multipliers, float(rounds)),
        )
        none = np.zeros(0, dtype=np.int64)
        return Step(
            after, none, after.impulse, none.astype(np.int8), self.h * multipliers, residual, notes
        )  # fmt: skip

    def _solved(self) -> tuple[np.ndarray, int, float]:
        """Newton's method from the predicted position; if that fails, once more from where the step begins."""
        last = self.before.memory[: self.p]
        failure: Exception | None = None
        for start in (self.q0 + self.h * self.v0, self.q0):
            x = start if self.penalty else np.concatenate([start, last])
            try:
                return self._augmented(x)
            except NotConverged as error:
                failure = error
        raise StepFailed(
            f"at {self.before.time:.6g} s the step of {self.h:.3g} s was not solved: {failure}. Use a smaller step, or "
            f"Newton(largest=…) to cap its corrections."
        )

    def _augmented(self, x: np.ndarray) -> tuple[np.ndarray, int, float]:
        enforcement, newton = self.scheme.enforcement, self.scheme.newton
        if not isinstance(enforcement, AugmentedLagrange) or not self.p:
            return newton.solve(self, x, self.n)
        self.offset = self.before.memory[: self.p].copy()
        rounds = 0
        for _ in range(enforcement.most):
            x, more, residual = newton.solve(self, x, self.n)
            rounds += more
            value = self.constraints.at(x).value
            self.offset = self.offset - enforcement.stiffness * value
            if np.abs(value).max() <= enforcement.tolerance:
                return x, rounds, residual
        raise NotConverged(
            f"constraints are violated by {np.abs(value).max():.1e} m after {enforcement.most} augmentations; use a "
            f"stiffer penalty, or Multipliers()"
        )

    def _sums(self, q1: np.ndarray, v1: np.ndarray, constraint_work: float) -> np.ndarray:
        """loads, damping, friction, impact, numerical [J]: what moving supports do counts as load."""
        system, h = self.system, self.h
        change = q1 - self.q0
        load, damping = system.powers(self.middle, 0.5 * (self.q0 + q1), change / h)
        moved = bool(np.any(system.constraint_directions(self.middle, q1)[1])) if self.p else False
        loads = h * load + (constraint_work if moved else 0.0)
        gained = kinetic_energy(system, q1, v1) - kinetic_energy(system, self.q0, self.v0)
        gained += system.potential(q1) - system.potential(self.q0)
        if isinstance(self.scheme.enforcement, Penalty):
            before, after = (
                system.constraint_residuals(t, q) for t, q in ((self.before.time, self.q0), (self.t1, q1))
            )
            gained += 0.5 * self.penalty * float(after @ after - before @ before)
        return np.array([loads, h * damping, 0.0, 0.0, loads - h * damping - gained])

    def _energy_projected(
        self, q1: np.ndarray, v1: np.ndarray, constraint_work: float
    ) -> tuple[np.ndarray, dict[str, str]]:
        """p₁ ← p₁ + κ ∂V/∂q: the energy of the step becomes right.                         Hesch (2.160)-(2.166)"""
        wrong = -float(self._sums(q1, v1, constraint_work)[4])
        push = potential_gradient(self.system, q1)
        return self._kicked(v1, push, wrong, "energy")

    def _constraints_projected(
        self, q1: np.ndarray, v1: np.ndarray, multipliers: np.ndarray
    ) -> tuple[np.ndarray, dict[str, str]]:
        """p₁ ← p₁ + κ ∇Φ, constraint by constraint, for the work that each one did.         (3.39)-(3.41)"""
        found = self.constraints.at(q1)
        push, slope = (m.toarray() if sparse.issparse(m) else m for m in (found.push, found.slope))
        notes: dict[str, str] = {}
        for k in np.flatnonzero(found.active):
            work = multipliers[k] * float(push[:, k] @ (q1 - self.q0))
            v1, more = self._kicked(v1, slope[:, k], work, f"constraint '{self.system.constraints[k]}'")
            notes.update(more)
        return v1, notes

    def _kicked(
        self, v: np.ndarray, push: np.ndarray, surplus: float, what: str
    ) -> tuple[np.ndarray, dict[str, str]]:
        """v + κ M⁻¹ push with ½ κ² a + κ b + surplus = 0, the smaller root."""
        kick = factorised(self.mass)(push)
        a, b = 0.5 * float(push @ kick), float(push @ v)
        discriminant = b * b - 4.0 * a * surplus
        if a == 0.0 or surplus == 0.0:
            return v, {}
        if discriminant < 0.0:
            text = f"at {self.t1:.6g} s no correction of the velocities gives back {surplus:.3g} J ({what})"
            return v, {"energy not projected": text}
        root = np.sqrt(discriminant)
        factor = -2.0 * surplus / (b + root) if b >= 0.0 else -2.0 * surplus / (b - root)
        return v + factor * kick, {}


def _outer(push: Any, slope: Any) -> Any:
    """Σ_k push_k ⊗ slope_k (n, n), sparse where both are."""
    if sparse.issparse(push) or sparse.issparse(slope):
        return sparse.csr_array(push) @ sparse.csr_array(slope).T
    return push @ slope.T
