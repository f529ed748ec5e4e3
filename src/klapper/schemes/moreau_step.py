"""One step of Moreau's scheme, with the quantities of its formulas by name.

    M̂ Δ = h f̂ + J Λ,       M̂ = M − h θ G_v − h² θ² G_q                            Waltersberger (4.13)
    0 ≤ Λ_N ⟂ v_N⁺ + ε v_N⁻ ≥ 0,   −v_T⁺ ∈ N_D(Λ_T)                                (4.12)

in the order of the computation: closed contacts, the jump of an impact law, forces, the velocity without contacts, the
contact problem, the velocity with them, the position, the ledger. :mod:`klapper.schemes.moreau` says the rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sparse

from klapper.contact_states import IMPACT, OPEN, SLIP, STICK
from klapper.mechanics.contact_table import ContactLaws
from klapper.mechanics.system import Directions, System
from klapper.schemes.base import TOUCHING, Snapshot, Step, StepFailed
from klapper.schemes.contact_step import ContactRows, contact_rows, solve_contacts
from klapper.schemes.energy import soft_contacts, step_energy
from klapper.schemes.lasting_contacts import lasting, none_lasts
from klapper.schemes.mobility import Held, Inverse
from klapper.schemes.projection import project_position

if TYPE_CHECKING:
    from klapper.schemes.moreau import Moreau
    from klapper.schemes.work import Work

_ROUND_OFF = 1e-12  # of the terms of a velocity: what is left of it where contacts hold it
_COARSEST = 1e-6  # residual beyond which an unsolvable problem may pass for solved by enormous impulses
_UNLOADED = 1e-13  # of the velocities: impulses that change them by less are what solvers leave of none


class MoreauStep:
    """The quantities of one step, named as in the module's formulas."""

    def __init__(self, scheme: Moreau, system: System, snapshot: Snapshot, h: float, work: Work) -> None:
        theta = scheme.theta
        self.scheme, self.system, self.before, self.h = scheme, system, snapshot, h
        self.t, self.q, self.v = snapshot.time, snapshot.position, snapshot.velocity
        self.notes: dict[str, str] = {}
        self.t_contact = self.t + (1.0 - theta) * h
        self.q_contact = system.advance(self.q, (1.0 - theta) * h * self.v)
        self.contact, self.laws, self.directions = self._closed_contacts()
        d = system.contacts.tangential
        self.jump = np.zeros((len(self.contact), 1 + d))
        self.jump_loss = np.zeros(3)  # friction, impact, loads at a jump before the step
        self.mass = system.mass(self.q_contact)
        self.bilateral, self.bilateral_rate = system.constraint_directions(self.t_contact, self.q_contact)
        self.jump_constraint = np.zeros(len(self.bilateral_rate))
        if scheme.impact is not None:
            self._jump()
        self.t_force = self.t + theta * h
        self.q_force = system.advance(self.q, theta * h * self.v)
        self.tangents = system.tangents(self.t_force, self.q_force, self.v)
        inverse = scheme.inverse(self.mass, self.tangents, h, work)
        self.held = Held(inverse, self.bilateral, system.constraints)
        self.bilateral_given, self.joints_jump = self._bilateral_given()
        self.force = self._force(inverse)
        self.pushed = inverse(h * self.force)

    def _closed_contacts(self) -> tuple[np.ndarray, ContactLaws, Directions]:
        system, t, q = self.system, self.t_contact, self.q_contact
        near = system.near(t, q)
        contact, self.lasting = near, none_lasts(len(near))
        if self.scheme.level == "velocity":
            gaps = system.gaps(t, q, near)
            self.lasting = lasting(
                system, t, q, self.v, near, gaps,
                held=self.before.contact, step=self.h, longest=max(self.h, float(self.before.memory[-1])),
            )  # fmt: skip
            closed = np.isnan(gaps) | (gaps <= TOUCHING) | self.lasting.which  # (4.7)
            contact, self.lasting = near[closed], self.lasting.of(closed)
        directions = system.directions(t, q, contact)
        speed = None
        if not system.contacts.constant:
            slip = directions.tangential_velocity(self.v).reshape(len(contact), system.contacts.tangential)
            speed = np.linalg.norm(slip, axis=1)
        laws = system.contacts.laws(contact, speed)
        if np.any(self.lasting.which):
            laws = replace(laws, restitution=np.where(self.lasting.which, 0.0, laws.restitution))
        return contact, laws, directions

    def _bilateral_given(self) -> tuple[np.ndarray, bool]:
        """What is added to J_Bᵀ v⁺ in J_Bᵀ v_θ + a_B = 0, and whether v jumps because it contradicts the constraints.

        In smooth motion J_Bᵀ v + a_B lies between (1 − θ) h b_B and θ h b_B, since directions turn over the step. If it
        differs by more, a joint has been closed or a guide has started: then v⁺ is made to meet the constraints at the
        end, J_Bᵀ v⁺ + a_B + θ h b_B = 0, for else the difference would alternate for ever.
        """
        theta, before = self.scheme.theta, self.bilateral.T @ self.v
        if not self.system.constraints:
            return before, False
        curvature = self.system.constraint_curvature(self.t_contact, self.q_contact, self.v)
        turning = self.h * curvature
        terms = abs(self.bilateral).T @ np.abs(self.v) + np.abs(self.bilateral_rate)
        off = np.abs(before + self.bilateral_rate - 0.5 * turning)
        jumps = bool(np.any(off > (theta - 0.25) * np.abs(turning) + 1e-8 * terms))
        if theta == 1.0:
            return self.bilateral_rate, jumps
        if jumps:
            return self.bilateral_rate + theta * turning, True
        return (before + self.bilateral_rate) / theta - before, False

    def _force(self, inverse: Inverse) -> np.ndarray:
        """f̂; what depends on v without a tangent is taken at the middle velocity of free motion."""
        force = self.system.force(self.t_force, self.q_force, self.v)
        if self.tangents.complete:
            return force
        ahead = self.scheme.theta * inverse(self.h * force)
        middle = self.system.force(self.t_force, self.q_force, self.v + ahead)
        return middle if self.tangents.velocity is None else middle - self.tangents.velocity @ ahead

    def _jump(self) -> None:
        """The impact law for closed contacts that approach, before the step."""
        from klapper.schemes.jump import resolve_jump

        approach = self.directions.normal_velocity(self.v)[~self.lasting.which]
        if np.any(self.lasting.which) and not np.any(approach < 0.0):
            return  # what lasts only turns

        jump = resolve_jump(
            self.scheme.impact,
            self.system,
            self.mass,
            (self.bilateral, self.bilateral_rate),
            self.v,
            self.contact,
            self.directions,
            self.laws,
        )
        self.v, self.jump, self.jump_loss = jump.velocity, jump.impulse, jump.losses
        self.jump_constraint = jump.constraint
        self.laws = replace(self.laws, restitution=np.where(jump.treated, 0.0, self.laws.restitution))
        if jump.finding:
            self.notes[jump.finding[0]] = f"at {self.t:.6g} s: {jump.finding[1]}"

    def done(self) -> Step:
        rows = contact_rows(self.directions, self.laws, self.system.contacts.tangential)
        free = self._free_velocity()
        impulse, residual = self._contact_impulses(rows, free)
        v_after = self._flushed(free, rows, impulse)
        bilateral = self._constraint_impulses(rows, impulse)
        return self._step(rows, impulse, v_after, bilateral, residual)

    def _free_velocity(self) -> np.ndarray:
        """v⁺ without contacts, constraints held."""
        velocity = self.v + self.pushed
        if not self.system.constraints:
            return velocity
        violation = self.bilateral.T @ velocity + self.bilateral_given
        name, by = self.held.contradiction(violation)
        if name:
            raise StepFailed(
                f"At {self.t:.6g} s constraint '{name}' contradicts the others: {by:.3g} m/s cannot be met. Remove "
                f"it, or make its motion agree with theirs."
            )
        if self.held.redundant:
            self.notes["constraint forces"] = (
                f"{len(self.system.constraints)} two-sided constraints have rank {self.held.rank}: the motion is "
                f"unique, the constraint forces are not; the smallest ones are given"
            )
        return velocity + self.held.push(self.held.impulses(violation))

    def _contact_impulses(self, rows: ContactRows, free: np.ndarray) -> tuple[np.ndarray, float]:
        """Impulses in the order of the rows, and the residual of the problem they solve."""
        if rows.size == 0:
            return np.zeros(0), 0.0
        has = self.laws.normal
        velocity = rows.columns.T @ free
        velocity[rows.normal[has]] += self._normal_given()[has]
        if rows.tangential.shape[1]:
            rate = self.directions.tangential_rate.reshape(rows.scale.shape) * rows.scale
            velocity[rows.tangential.ravel()] += rate.ravel()
        compliance = self.system.compliance
        if compliance is not None:
            compliance = compliance[np.ix_(self.contact, self.contact)] / (self.scheme.theta * self.h**2)
        quiet = np.all(velocity[rows.normal[has]] >= 0.0) and rows.tangential.shape[1] == 0
        if quiet:
            return np.zeros(rows.size), 0.0
        solution = solve_contacts(
            rows,
            self.held,
            self.laws,
            velocity,
            self.h,
            compliance=compliance,
            start=self._warm_start(rows),
            solver=self.scheme.solver,
            tolerance=min(self.scheme.tolerance, _COARSEST),
            names=[self.system.contacts.name(int(i)) for i in self.contact],
        )
        residual = float(solution.residuals.worst)
        if self.scheme.selection is None:
            return solution.x, residual
        return self._selected(solution, rows, free), residual

    def _selected(self, solution: Any, rows: ContactRows, free: np.ndarray) -> np.ndarray:
        """Impulses as the selection rule wants them."""
        from klapper.schemes.force_selection import Dynamics, choose

        def dynamics() -> Dynamics:
            response = self.held.respond(rows.columns)
            mass, response = (x.toarray() if sparse.issparse(x) else x for x in (self.mass, response))
            return Dynamics(mass, mass @ (free - self.v) / self.h, mass @ response)

        known = bool(np.any(self.before.impulse))
        previous = self._warm_start(rows) / self.before.memory[-1] if known else None
        chosen = choose(self.scheme.selection, solution, self.h, previous, self.t, dynamics)
        self.notes |= chosen.notes
        return chosen.solution.x

    def _normal_given(self) -> np.ndarray:
        """What is added to J_Nᵀ v_free in the normal law: rates and restitution, or the gap on position level."""
        rate = self.directions.normal_rate
        if self.scheme.level == "velocity":
            given = rate + self.laws.restitution * self.directions.normal_velocity(self.v)
            return given + self.lasting.shift
        gap = np.nan_to_num(self.system.gaps(self.t, self.q, self.contact))  # (5.70), divided by θ h²
        theta = self.scheme.theta
        return gap / (theta * self.h) + ((1.0 - theta) * (self.directions.normal.T @ self.v) + rate) / theta

    def _warm_start(self, rows: ContactRows) -> np.ndarray:
        start = np.zeros(rows.size)
        _, mine, old = np.intersect1d(self.contact, self.before.contact, return_indices=True)
        if len(mine):
            impulse = self.before.impulse[old]
            has = self.laws.normal[mine]
            start[rows.normal[mine[has]]] = impulse[has, 0]
            if rows.tangential.shape[1]:
                start[rows.tangential[mine]] = impulse[:, 1:] / np.where(
                    rows.scale[mine] > 0, rows.scale[mine], 1.0
                )
        return start

    def _velocity_change(self, rows: ContactRows, impulse: np.ndarray) -> np.ndarray:
        """A J Λ (nv,)."""
        if rows.size == 0 or not np.any(impulse):
            return np.zeros(len(self.v))
        return self.held.respond(np.asarray(rows.columns @ impulse))

    def _flushed(self, free: np.ndarray, rows: ContactRows, impulse: np.ndarray) -> np.ndarray:
        """v⁺, with exact zeros where contacts leave only the rounding of its terms: what sticks does not creep."""
        self.loaded, self.soft = np.zeros((2, len(self.contact)), dtype=bool)
        if rows.size == 0 or not np.any(impulse):
            return free
        v_after = free + self._velocity_change(rows, impulse)
        response = self.held.respond(rows.columns)
        self.soft = self._soft(rows, response)
        response = abs(response)
        table = np.column_stack([rows.normal, rows.tangential])
        largest = np.where(table >= 0, np.abs(impulse)[table], 0.0).max(axis=1)  # of each contact
        spread = np.zeros(rows.size)
        spread[table[table >= 0]] = np.broadcast_to(largest[:, None], table.shape)[table >= 0]
        motion = np.abs(self.v) + np.abs(self.pushed)
        terms = motion + response @ spread
        push = _largest_entries(response) * spread
        noise = _UNLOADED * motion.max(initial=0.0)
        self.loaded = np.where(table >= 0, push[table], 0.0).max(axis=1) > noise
        v_after[np.abs(v_after) < _ROUND_OFF * terms] = 0.0
        return v_after

    def _soft(self, rows: ContactRows, response: Any) -> np.ndarray:
        """Contacts whose compliance counts (k,)."""
        compliance = self.system.compliance
        if compliance is None:
            return self.soft
        own = np.asarray(sparse.csc_array(rows.columns).multiply(response).sum(axis=0)).ravel()
        mobility = np.where(rows.normal >= 0, own[rows.normal], 0.0)
        return soft_contacts(compliance[np.ix_(self.contact, self.contact)], mobility, self.h)

    def _constraint_impulses(self, rows: ContactRows, impulse: np.ndarray) -> np.ndarray:
        if not self.system.constraints:
            return np.zeros(0)
        velocity = self.v + self.pushed
        if rows.size and np.any(impulse):
            velocity = velocity + self.held.inverse(np.asarray(rows.columns @ impulse))
        return self.held.impulses(self.bilateral.T @ velocity + self.bilateral_given)

    def _step(
        self,
        rows: ContactRows,
        impulse: np.ndarray,
        v_after: np.ndarray,
        bilateral: np.ndarray,
        residual: float,
    ) -> Step:
        system, theta, h = self.system, self.scheme.theta, self.h
        q_after = system.advance(self.q, h * ((1.0 - theta) * self.v + theta * v_after))
        if self.scheme.projects(system):
            lasts = (
                self.lasting.which
                if self.scheme.projection is None
                else np.zeros(len(self.contact), dtype=bool)
            )
            q_after = project_position(
                system,
                self.t + h,
                q_after,
                self.contact[lasts],
                self.lasting.allowed[lasts],
                penetration=self.scheme.clears(system),
            )
        full = self._by_contact(rows, impulse)
        sums = self.before.sums + step_energy(self, full, bilateral, q_after, v_after)
        state = self._states(full, v_after)
        total = full + self.jump
        loaded = np.any(full != 0.0, axis=1)
        after = Snapshot(
            step=self.before.step + 1,
            time=self.t + h,
            position=q_after,
            velocity=v_after,
            contact=self.contact[loaded].astype(np.int64),
            impulse=full[loaded],
            sums=sums,
            memory=np.array([self.before.memory[0], h]),  # the next step and the duration of the last
        )
        if not (np.all(np.isfinite(q_after)) and np.all(np.isfinite(v_after))):
            raise StepFailed(
                f"The motion left the range of numbers in the step from {self.t:.6g} s; the step of {h:g} s is "
                f"probably too large for forces that are taken explicitly: give their tangents, or a smaller step."
            )
        constraint = bilateral + self.jump_constraint
        return Step(after, self.contact.astype(np.int64), total, state, constraint, residual, self.notes)

    def _by_contact(self, rows: ContactRows, impulse: np.ndarray) -> np.ndarray:
        """Impulses (k, 1 + d) [N s] of the contacts that take part."""
        full = np.zeros((len(self.contact), 1 + self.system.contacts.tangential))
        has = self.laws.normal
        full[has, 0] = impulse[rows.normal[has]]
        if rows.tangential.shape[1]:
            full[:, 1:] = impulse[rows.tangential] * rows.scale
        return full

    def _states(self, impulse: np.ndarray, v_after: np.ndarray) -> np.ndarray:
        directions = self.directions
        approach = -directions.normal_velocity(self.v)
        smooth = np.abs(directions.normal.T @ self.pushed)
        shape = (len(self.contact), self.system.contacts.tangential)
        slip = directions.tangential_velocity(v_after).reshape(shape)
        moved = abs(directions.tangential).T @ (np.abs(self.v) + np.abs(self.pushed))
        terms = (moved + np.abs(directions.tangential_rate)).reshape(shape).max(axis=1, initial=0.0)
        speed = np.linalg.norm(slip, axis=1)
        loaded = self.loaded
        holds = (self.laws.friction_from(impulse[:, 0]) + self.laws.limit * self.h) > 0.0
        state = np.where(loaded, np.where(holds & (speed <= 1e-9 * terms), STICK, SLIP), OPEN)
        hit = loaded & (impulse[:, 0] > 0.0) & (approach > 2.0 * smooth + 1e-12 * np.abs(approach))
        hit &= ~self.lasting.which
        state[hit | (self.jump[:, 0] > 0.0)] = IMPACT
        return state.astype(np.int8)


def _largest_entries(matrix: Any) -> np.ndarray:
    """Largest entry of each column of a matrix without negative ones."""
    largest = matrix.max(axis=0)
    return largest.toarray().ravel() if sparse.issparse(largest) else largest
