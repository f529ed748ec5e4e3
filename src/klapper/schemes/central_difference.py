"""Central differences: explicit steps, the yardstick of what a step may cost.

    v½ = v₀ + h/2 M⁻¹ (f(t₀, q₀, v₀) + J₀ λ),   q₁ = q₀ + h v½,   Φ(t₁, q₁) = 0
    v₁ = v½ + h/2 M⁻¹ (f(t₁, q₁, v₁) + J₁ μ),   J₁ᵀ v₁ + a₁ = 0

Without constraints it is (q₁ − 2 q₀ + q₋₁)/h² = M⁻¹ f₀, with them RATTLE (Andersen 1983): positions and velocities
meet every constraint. Second order, momentum is kept, stable up to :func:`klapper.schemes.stable_step` only. A force
that depends on v₁ is taken at a velocity predicted to second order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System
from klapper.schemes.base import Snapshot, Step, StepFailed, registered
from klapper.schemes.consistent_start import (
    consistent_start,
    present,
    require_constant_mass,
    require_no_restitution,
    require_same_mass,
)
from klapper.schemes.equal_steps import EqualSteps
from klapper.schemes.longest_step import stable_step
from klapper.schemes.newmark import require_contact
from klapper.schemes.penalty_contact import PenaltyContact, loaded_contacts
from klapper.schemes.smooth_ledger import End, step_sums
from klapper.schemes.sparse_factor import SingularMatrix, factorised
from klapper.schemes.work import Work

_ROUNDS, _MET = (
    30,
    1e-13,
)  # of Newton's method for constraints, and when they are met, in units of the positions


@registered
@dataclass(frozen=True)
class CentralDifference(EqualSteps):
    """Explicit steps for systems with a constant and diagonal mass matrix.

        q₁ = q₀ + h v½,   v½ = v₀ + h/2 M⁻¹ f₀,   v₁ = v½ + h/2 M⁻¹ f₁

    ``step_size``  h [s], below the stability limit at the start
    ``contact``    ``PenaltyContact(ε)`` for one-sided contacts; its springs lower the limit

    With ω h = 1 an oscillator goes q₁ = (1 − ½) q₀, q₂ = q₁ − q₀:

    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import CentralDifference
    >>> from klapper.simulation import simulate
    >>> oscillator = LinearSystem([1.0], stiffness=[4.0], position=[1.0])
    >>> simulate(oscillator, 1.0, CentralDifference(0.5)).position[:, 0]
    array([ 1. ,  0.5, -0.5])
    """

    step_size: float
    contact: PenaltyContact | None = None

    name = "central-difference"
    compliant_contacts = True
    rebound = "the springs of the contacts"

    def __post_init__(self) -> None:
        number(self.step_size, "step_size", "numbers above 0, in s", above=0.0)
        if not isinstance(self.contact, PenaltyContact | None):
            raise InvalidModel(
                f"contact is {self.contact!r}; allowed are None and PenaltyContact(stiffness)."
            )

    def init(self, system: System) -> Snapshot:
        require_constant_mass(system, self.name)
        require_no_restitution(system, self)
        require_contact(system, self.contact, self.name)
        _require_diagonal(system)
        limit = stable_step(system, contact=self.contact)
        if self.step_size > limit:
            raise InvalidModel(
                f"step_size is {self.step_size:.3g} s; central differences of '{system.name}' are stable up to "
                f"{limit:.3g} s: use a smaller step, or an implicit scheme."
            )
        start = consistent_start(system, self.contact)
        free = system.force(start.snapshot.time, start.snapshot.position, start.snapshot.velocity)
        tangents = system.tangents(start.snapshot.time, start.snapshot.position, start.snapshot.velocity)
        by_velocity = not tangents.complete or tangents.velocity is not None
        return replace(start.snapshot, memory=np.append(free, float(by_velocity)))

    def step(
        self, system: System, snapshot: Snapshot, until: float = np.inf, work: Work | None = None
    ) -> Step:
        t1 = self.end_of_step(system, snapshot)
        return _OneStep(self, system, snapshot, t1).done()

    def stored_energy(self, system: System, snapshot: Snapshot) -> float:
        """Energy [J] of the springs of closed contacts."""
        return 0.0 if self.contact is None else self.contact.energy(system, snapshot.time, snapshot.position)

    @property
    def settings(self) -> dict[str, Any]:
        return {"step_size": self.step_size, "contact": None if self.contact is None else repr(self.contact)}

    @property
    def citations(self) -> tuple[str, ...]:
        return ("andersen1983",)


class _OneStep:
    """One step, its quantities named as in the module's formulas."""

    def __init__(self, scheme: CentralDifference, system: System, before: Snapshot, t1: float) -> None:
        self.scheme, self.system, self.before, self.t1 = scheme, system, before, t1
        self.h = scheme.step_size
        self.t0, self.q0, self.v0 = before.time, before.position, before.velocity
        self.whole_mass = system.mass(self.q0)
        self.mass = self.whole_mass.diagonal()
        self.p = len(system.constraints)

    def done(self) -> Step:
        h = self.h
        half = self.v0 + 0.5 * h * (self.before.memory[:-1] + self._springs(self.t0, self.q0)) / self.mass
        half, first = self._on_constraints(half)
        q1 = self.q0 + h * half
        springs = self._springs(self.t1, q1)
        free = self._force(q1, half, springs)
        v1, second = self._along_constraints(q1, half + 0.5 * h * (free + springs) / self.mass)
        if not (np.all(np.isfinite(q1)) and np.all(np.isfinite(v1))):
            raise StepFailed(
                f"The motion left the range of numbers in the step from {self.t0:.6g} s; the step of {h:g} s is beyond "
                f"the stability limit that the system has reached: use a smaller one, or an implicit scheme."
            )
        require_same_mass(self.system, self.whole_mass, self.t1, q1, self.scheme.name)
        before, end = End(self.t0, self.q0, self.v0), End(self.t1, q1, v1)
        ends = (before[:2], end[:2])
        loaded = loaded_contacts(self.scheme.contact, self.system, ends, (0.5 * h, 0.5 * h))
        sums = step_sums(self.system, before, end, first + second, self.scheme.contact)
        after = Snapshot(
            step=self.before.step + 1,
            time=self.t1,
            position=q1,
            velocity=v1,
            contact=loaded.contact,
            impulse=loaded.impulse,
            sums=self.before.sums + sums,
            memory=np.append(free, self.before.memory[-1]),
        )
        return Step(after, *loaded, first + second, 0.0)

    def _springs(self, t: float, q: np.ndarray) -> np.ndarray:
        contact = self.scheme.contact
        return np.zeros(len(q)) if contact is None else contact.force(self.system, t, q)

    def _force(self, q1: np.ndarray, half: np.ndarray, springs: np.ndarray) -> np.ndarray:
        """f(t₁, q₁, v₁), once more where it may depend on v₁."""
        system, t1 = self.system, self.t1
        force = np.asarray(system.force(t1, q1, half), dtype=float)
        if not self.before.memory[-1]:
            return force
        ahead = half + 0.5 * self.h * (force + springs) / self.mass
        return np.asarray(system.force(t1, q1, ahead), dtype=float)

    def _on_constraints(self, half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """v½ with which q₁ meets the constraints, and their impulses (p,) [N s]."""
        impulse = np.zeros(self.p)
        if not self.p:
            return half, impulse
        system, h = self.system, self.h
        push = system.constraint_directions(self.t1, self.q0)[0]
        reach = max(float(np.abs(self.q0).max(initial=0.0)), h * float(np.abs(half).max(initial=0.0)), 1e-300)
        for _ in range(_ROUNDS):
            q1 = self.q0 + h * half
            slope = system.constraint_directions(self.t1, q1)[0]
            on = np.flatnonzero(present(push) & present(slope))
            value = system.constraint_residuals(self.t1, q1)[on]
            if np.abs(value).max(initial=0.0) <= _MET * reach:
                return half, impulse
            more = self._solved(slope[:, on], push[:, on], -value / h)
            impulse[on] += more
            half = half + (push[:, on] @ more) / self.mass
        raise StepFailed(
            f"at {self.t0:.6g} s constraints are violated by {np.abs(value).max():.1e} m after {_ROUNDS} rounds; use a "
            f"smaller step."
        )

    def _along_constraints(self, q1: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """v₁ along the constraints, and their impulses (p,) [N s]."""
        impulse = np.zeros(self.p)
        if not self.p:
            return v, impulse
        directions, rate = self.system.constraint_directions(self.t1, q1)
        on = np.flatnonzero(present(directions))
        columns = directions[:, on]
        impulse[on] = self._solved(columns, columns, -(columns.T @ v + rate[on]))
        return v + (columns @ impulse[on]) / self.mass, impulse

    def _solved(self, slope: Any, push: Any, right: np.ndarray) -> np.ndarray:
        """(slopeᵀ M⁻¹ push)⁻¹ right (k,)."""
        if not len(right):
            return right
        scaled = sparse.diags_array(1.0 / self.mass) @ sparse.csc_array(push)
        try:
            return factorised((sparse.csc_array(slope).T @ scaled).tocsc())(right)
        except SingularMatrix as error:
            raise StepFailed(
                f"at {self.t0:.6g} s constraints depend on each other; leave redundant ones out."
            ) from error


def _require_diagonal(system: System) -> None:
    mass = system.mass(system.start.position)
    diagonal = mass.diagonal()
    whole = sparse.csr_array(mass)
    if abs(whole - sparse.diags_array(diagonal)).max() > 1e-14 * diagonal.max():
        raise InvalidModel(
            f"the mass matrix of '{system.name}' is not diagonal, which explicit steps need; lump it, e.g. "
            f"Continuum(…, lumped=True), or use an implicit scheme."
        )
