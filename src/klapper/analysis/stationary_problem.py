"""The equations of a stationary state as arrays.

    K q = f + F λ + J_B λ_B,   0 ≤ g = J_Nᵀ q + g₀ ⟂ λ ≥ 0,   J_Bᵀ q + φ₀ = 0          Waltersberger & Wauer (1)–(3)

F = J_N + R holds in R the friction of contacts that slide over moving belts; friction of contacts at rest is left out.
K may be singular or unsymmetric, contacts and constraints may depend on each other. The complementarity problem (3) has
the matrix J_Nᵀ K⁻¹ F, which does not exist at a critical speed; what is solved here are the equations themselves, in
coordinates y that satisfy the two-sided constraints and have a mass matrix of ones: q = q₀ + B y.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse

from klapper.analysis.contact_state import has_friction, require_linear, scale, tangential_at_rest
from klapper.analysis.held_directions import independent_columns
from klapper.analysis.stationary_form import StationaryForm
from klapper.analysis.stationary_state import StationaryState
from klapper.complementarity.dense import dense
from klapper.contact_states import OPEN, SLIP, STICK
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem

LARGEST = 2000  # coordinates up to which dense matrices are formed
_APART = 1e-9  # relative: by how much two-sided constraints may disagree
_LOADED = 1e-12  # of the largest contact force: forces above it are a load
_TOUCHING = 1e-11  # of the largest gap: gaps up to it are closed


@dataclass(frozen=True, eq=False)
class StationaryProblem:
    """The stationary state of a system with n coordinates, c contacts with a gap and p two-sided constraints.

    ``contacts``    numbers (c,) of the contacts with a gap
    ``stiffness``   K (n, n) [N/m]; ``load`` f (n,) [N], with the given friction of sliding contacts
    ``normal``      J_N (n, c); ``force`` F (n, c)
    ``gap``         g₀ (c,) [m]
    ``constraint``  J_B (n, p); ``offset`` φ₀ (p,) [m]
    ``sliding``     (m,) whether a contact or friction element slides over a moving belt
    ``reference``   a force [N/√kg] known to be large, against which others are judged where all of them are small
    """

    system: LinearSystem
    contacts: np.ndarray
    stiffness: np.ndarray
    load: np.ndarray
    normal: np.ndarray
    force: np.ndarray
    gap: np.ndarray
    constraint: np.ndarray
    offset: np.ndarray
    sliding: np.ndarray
    reference: float

    @classmethod
    def of(
        cls, system: LinearSystem, time: float | None = None, *, reference: float = 0.0
    ) -> StationaryProblem:
        """The problem of a system, its loads and gaps taken at ``time`` [s]; they must be constant if None."""
        require_linear(system)
        _require_size(system)
        if time is None:
            _require_steady(system)
        t = system.start.time if time is None else float(time)
        n = system.size
        contacts = np.flatnonzero(system.contacts.has_normal)
        normal = dense(system.normal_directions)[:, contacts]
        sliding = np.any(tangential_at_rest(system), axis=1) & has_friction(system)
        pushes, friction, limit = _friction_of_belts(system, sliding)
        stiffness = system.position_matrix
        return cls(
            system,
            contacts,
            np.zeros((n, n)) if stiffness is None else dense(stiffness),
            np.asarray(system.load.value(t), dtype=float) + pushes @ limit,
            normal,
            normal + pushes @ friction[:, contacts],
            system.gap_offsets(t)[contacts],
            dense(system.constraint_matrix),
            system.constraint_residuals(t, np.zeros(n)),
            sliding,
            reference,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Of the contacts with a gap (c,)."""
        return tuple(self.system.contacts.name(int(i)) for i in self.contacts)

    @cached_property
    def form(self) -> StationaryForm:
        """The same without units and two-sided constraints."""
        factor = np.linalg.cholesky(dense(self.system.mass_matrix))
        origin, basis = self._allowed(factor)
        return StationaryForm.of(
            origin,
            basis,
            basis.T @ self.stiffness @ basis,
            basis.T @ (self.load - self.stiffness @ origin),
            basis.T @ self.normal,
            basis.T @ self.force,
            self.gap + self.normal.T @ origin,
            self.reference,
        )

    def reactions(self, position: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """λ_B (p,) [N] of a position (n,) and contact forces (c,); the smallest ones if constraints are redundant."""
        needed = self.stiffness @ position - self.load - self.force @ forces
        return np.linalg.lstsq(self.constraint, needed, rcond=None)[0]

    def residual(self, position: np.ndarray, forces: np.ndarray) -> float:
        """Of a position (n,) and normal forces (c,) [N], relative to the largest forces and gaps that occur."""
        left = np.abs(self.constraint.T @ position + self.offset)
        terms = np.abs(self.constraint).T @ np.abs(position) + np.abs(self.offset)
        apart = np.max(left / np.where(terms > 0.0, terms, 1.0), initial=0.0)
        return max(self.form.residual(self._reduced(position), forces / self.form.force_unit), float(apart))

    def gaps(self, position: np.ndarray) -> np.ndarray:
        """(c,) [m], those zero to round-off exactly zero."""
        gaps = self.normal.T @ position + self.gap
        form, y = self.form, self._reduced(position)
        small = _TOUCHING * form.largest(y, np.zeros(len(gaps)))[1]
        return np.where(np.abs(form.normal.T @ y + form.gap) <= small, 0.0, gaps)

    def _reduced(self, position: np.ndarray) -> np.ndarray:
        """y (r,) of a position (n,)."""
        return self.form.basis.T @ (self.system.mass_matrix @ (position - self.form.origin))

    def stationary_state(self, position: np.ndarray, forces: np.ndarray, **judgement: Any) -> StationaryState:
        """The state at a position (n,) with normal forces (c,) [N]; ``judgement``: further fields."""
        contacts = self.system.contacts
        normal = np.zeros(contacts.count)
        normal[self.contacts] = np.where(forces > _LOADED * np.abs(forces).max(initial=0.0), forces, 0.0)
        gaps = np.full(contacts.count, np.nan)
        gaps[self.contacts] = self.gaps(position)
        touching = ~(gaps > 0.0) | (normal > 0.0)
        friction, limits = self.friction_forces(normal)
        rough = has_friction(self.system)
        loaded = np.where(contacts.has_normal, normal > 0.0, limits > 0.0)
        states = np.where(loaded, np.where(rough & ~self.sliding, STICK, SLIP), OPEN)
        return StationaryState(
            self.system,
            position,
            np.column_stack([normal, friction]),
            gaps,
            states,
            touching,
            self.reactions(position, normal[self.contacts]),
            self.residual(position, normal[self.contacts]),
            **judgement,
        )

    def friction_forces(self, normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forces (m, d) of contacts that slide over belts, zero for all others, and friction limits (m,) [N]."""
        friction, limit = friction_rows(self.system)
        limits = friction @ normal + limit
        return limits[:, None] * _friction_directions(self.system, self.sliding), limits

    def _allowed(self, factor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A position q₀ (n,) that satisfies the two-sided constraints, and the motions B (n, r) that keep them."""
        n, p = self.constraint.shape
        back = scipy.linalg.solve_triangular(factor, np.eye(n), lower=True, trans="T")
        if p == 0:
            return np.zeros(n), back
        chosen = independent_columns(self.constraint)
        directions = scipy.linalg.solve_triangular(factor, self.constraint[:, chosen], lower=True)
        orthogonal, triangle = scipy.linalg.qr(directions)
        rank = len(chosen)
        inner = scipy.linalg.solve_triangular(triangle[:rank], -self.offset[chosen], trans="T")
        origin = back @ (orthogonal[:, :rank] @ inner)
        left = np.abs(self.constraint.T @ origin + self.offset)
        terms = np.abs(self.constraint).T @ np.abs(origin) + np.abs(self.offset)
        if np.any(left > _APART * terms):
            name = self.system.constraints[int(np.argmax(left))]
            raise InvalidModel(
                f"two-sided constraint '{name}' contradicts the others; no position satisfies all."
            )
        return origin, back @ orthogonal[:, rank:]


def _require_size(system: LinearSystem) -> None:
    if system.size > LARGEST:
        raise InvalidModel(
            f"the system has {system.size} coordinates; stationary states are computed for up to {LARGEST}. Reduce it "
            f"first (klapper.reduction)."
        )


def _require_steady(system: LinearSystem) -> None:
    """Refuse loads, gaps, constraints and belts that change with time."""
    changing = [] if system.load.constant else ["the load"]
    parts = system.contacts.parts
    normals = [parts[i] for i in np.flatnonzero(system.contacts.has_normal)]
    changing += [f"the gap of '{p.name}'" for p in normals if not p.gap.constant]
    changing += [f"the belt of '{p.name}'" for p in parts if not p.tangential_rate.constant]
    changing += [f"constraint '{p.name}'" for p in system.constraint_parts if not p.offset.constant]
    if changing:
        raise InvalidModel(
            f"{changing[0]} changes with time, so that nothing rests; make it constant (a rotor: gravity=(0, 0)), or "
            f"give the time at which it is to be frozen."
        )


def _friction_of_belts(system: LinearSystem, sliding: np.ndarray) -> tuple[np.ndarray, Any, np.ndarray]:
    """What friction of 1 N does (n, m), friction over normal forces (m, m), and given limits (m,) [N]."""
    m, d = system.contacts.count, system.contacts.tangential
    if not sliding.any():
        return np.zeros((system.size, m)), np.zeros((m, m)), np.zeros(m)
    friction, limit = friction_rows(system)
    for contact in np.flatnonzero(sliding & system.contacts.has_normal & (limit > 0.0)):
        raise InvalidModel(
            f"contact '{system.contacts.name(int(contact))}' slides over a belt with a given friction limit, which "
            f"would act through an open gap; give the limit to a FrictionElement."
        )
    tangents = dense(system.tangential_directions).reshape(system.size, m, d)
    pushes = np.einsum("nmd,md->nm", tangents, _friction_directions(system, sliding))
    return pushes, friction.toarray(), limit


def _friction_directions(system: LinearSystem, sliding: np.ndarray) -> np.ndarray:
    """(m, d): friction forces per friction limit of contacts over belts, zero for all others."""
    factors = scale(system)
    velocity = tangential_at_rest(system) * factors
    speed = np.linalg.norm(velocity, axis=1, keepdims=True)
    against = np.divide(-velocity, speed, out=np.zeros_like(velocity), where=(speed > 0.0) & sliding[:, None])
    return against * factors


def friction_rows(system: LinearSystem, speeds: Any = None) -> tuple[sparse.csr_array, np.ndarray]:
    """Friction limits over normal forces (m, m) and their given parts (m,) [N].

    ``speeds``  (m,) [m/s] of sliding, for coefficients that depend on it; None: those of belts under a system at rest
    """
    m = system.contacts.count
    if m == 0:
        return sparse.csr_array((0, 0)), np.zeros(0)
    sliding = np.linalg.norm(tangential_at_rest(system), axis=1) if speeds is None else speeds
    laws = system.contacts.laws(np.arange(m), sliding)
    friction = laws.friction
    if np.ndim(friction) == 1:
        friction = sparse.diags_array(np.asarray(friction, dtype=float))
    return sparse.csr_array(friction), np.asarray(laws.limit, dtype=float)
