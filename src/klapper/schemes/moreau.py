"""Moreau's time stepping: impulses over a step, velocities at its end.

With the unknown jump Δ = v⁺ − v over a step h,

    M̂ Δ = h f̂ + J Λ,       M̂ = M − h θ G_v − h² θ² G_q                            Waltersberger (4.13)
    f̂ = f(t + θ h, q + θ h v, v)
    0 ≤ Λ_N ⟂ v_N⁺ + ε v_N⁻ ≥ 0,   −v_T⁺ ∈ N_D(Λ_T)                                (4.12)
    J_Bᵀ v_θ + a_B = 0,   q⁺ = q + h v_θ,   v_θ = (1 − θ) v + θ v⁺                 (4.15)

θ = 1 is the thesis' linearly implicit Euler step (order 1, damps vibrations by ωh/2), θ = ½ the Moreau–Jean midpoint
step (order 2 between jumps, no numerical damping). M, the directions and the contacts that take part (gap ≤ 0) belong
to q + (1 − θ) h v. Only forces with tangents are implicit; the others are taken at the middle of the step.
Moreau 1988; Jean 1999; Anitescu & Potra 2002.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.complementarity import SOLVERS, ComplementarityError
from klapper.mechanics.contacts import Laws
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import Directions, System, Tangents
from klapper.schemes.adaptive_step import joined
from klapper.schemes.base import (
    IMPACT,
    OPEN,
    SLIP,
    STICK,
    TOUCHING,
    Snapshot,
    Step,
    StepFailed,
    Stretch,
    snapshot_at_start,
)
from klapper.schemes.contact_step import ContactRows, contact_rows, solve_contacts
from klapper.schemes.energy import soft_contacts, spring_energy, step_energy
from klapper.schemes.mobility import Held, Inverse
from klapper.schemes.projection import project_position

_ROUND_OFF = 1e-12  # of the terms of a velocity: what is left of it where contacts hold it
_COARSEST = (
    1e-6  # residual beyond which a problem without a solution may pass for solved by enormous impulses
)
_UNLOADED = 1e-13  # of the velocities: impulses that change them by less are what solvers leave of none


@dataclass(frozen=True)
class Moreau:
    """θ time stepping with contact, friction and impact.

        M̂ (v⁺ − v) = h f̂ + J Λ,   0 ≤ Λ_N ⟂ v_N⁺ + ε v_N⁻ ≥ 0,   q⁺ = q + h ((1 − θ) v + θ v⁺)       (4.12), (4.13)

    ``step_size``   h [s]; with ``accuracy`` the largest one
    ``theta``       from ½ (midpoint) to 1 (implicit Euler)
    ``impact``      None: Newton's law inside the step; or a law of :mod:`klapper.mechanics.impact`, applied where
                    closed contacts approach, before the step goes on without restitution (Scheme 5.3)
    ``level``       "velocity": constraints on v⁺ (thesis); "position": on g(q⁺), for contact compliance, (5.70)
    ``projection``  whether penetration that came in before a contact was seen is removed at the end of the step
    ``accuracy``    allowed error of position [m] per step; None: all steps are equal
    ``solver``      of the contact problem, see :func:`klapper.complementarity.solve`
    ``selection``   rule of :mod:`klapper.complementarity.selection` for forces that are not unique; None: as solved
    ``tolerance``   allowed relative residual of the contact problem
    ``compiled``    whether a compiled loop is used where there is one

    A ball flies against a wall with 5 m/s and leaves it with 0.6 of that:

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.schemes import Moreau
    >>> from klapper.simulate import simulate
    >>> wall = Contact("wall", normal=[1.0], restitution=0.6)
    >>> ball = LinearSystem([1.0], position=[0.25], velocity=[-5.0], contacts=[wall])
    >>> simulate(ball, 0.3, Moreau(0.1, compiled=False)).velocity[:, 0].round(9)
    array([-5.,  3.,  3.,  3.])
    """

    step_size: float
    theta: float = 0.5
    impact: Any = None
    level: str = "velocity"
    projection: bool = False
    accuracy: float | None = None
    solver: Any = "auto"
    tolerance: float = 1e-9
    compiled: bool = True
    selection: Any = None
    _factors: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    name = "moreau"

    def __post_init__(self) -> None:
        _require(self.step_size, "the step size", "numbers above 0, in s", above=0.0)
        _require(self.theta, "theta", "numbers from 0.5 to 1", at_least=0.5, at_most=1.0)
        _require(self.tolerance, "tolerance", "numbers above 0 and below 1", above=0.0, at_most=1.0)
        if self.accuracy is not None:
            _require(self.accuracy, "accuracy", "numbers above 0, in m", above=0.0)
        if self.level not in ("velocity", "position"):
            raise InvalidModel(f"level is {self.level!r}; allowed are 'velocity' and 'position'.")
        if isinstance(self.solver, str) and self.solver not in ("auto", *SOLVERS):
            raise InvalidModel(f"solver is {self.solver!r}; allowed are auto, {', '.join(SOLVERS)}.")
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
            restitution = system.contacts.laws(np.arange(min(system.contacts.count, 1000))).restitution
            if np.any(restitution > 0.0):
                worst = system.contacts.name(int(np.argmax(restitution)))
                raise InvalidModel(
                    f"contact '{worst}' has restitution, which has no meaning with level='position'; use 'velocity'."
                )
        elif getattr(system, "compliance", None) is not None:
            raise InvalidModel(
                f"'{system.name}' has contact compliance, which acts on gaps: use Moreau(level='position')."
            )
        return replace(snapshot_at_start(system), memory=np.array([self.step_size, self.step_size]))

    def steps(self, system: System, until: float) -> int | None:
        if self.accuracy is not None:
            return None
        return max(int(np.ceil((until - system.start.time) / self.step_size - 1e-6)), 1)

    def stretch(self, system: System) -> Stretch | None:
        if not self.compiled or self.accuracy is not None or self.impact is not None or self.projection:
            return None
        if self.solver != "auto" or self.selection is not None:
            return None
        from klapper.schemes.stretches import stretch_for

        return stretch_for(system, self.step_size, self.theta, self.tolerance, self.level)

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "step": self.step_size,
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

    def refined(self, factor: float) -> Moreau:
        accuracy = None if self.accuracy is None else self.accuracy / factor
        return replace(self, step_size=self.step_size / factor, accuracy=accuracy)

    def step(self, system: System, snapshot: Snapshot, until: float = np.inf) -> Step:
        if self.accuracy is not None:
            return self._adaptive_step(system, snapshot, until)
        done = self._fixed_step(system, snapshot, self.step_size)
        time = system.start.time + done.after.step * self.step_size  # from the counter: no drift of the clock
        return replace(done, after=replace(done.after, time=time))

    def _adaptive_step(self, system: System, snapshot: Snapshot, until: float) -> Step:
        """Two half steps, checked against one whole step, with a step size that keeps the accuracy."""
        assert self.accuracy is not None
        h = min(float(snapshot.memory[0]), self.step_size, until - snapshot.time)
        smallest = 1e-6 * self.step_size
        while True:
            whole = self._fixed_step(system, snapshot, h)
            first = self._fixed_step(system, snapshot, 0.5 * h)
            second = self._fixed_step(system, first.after, 0.5 * h)
            error = float(np.abs(whole.after.position - second.after.position).max(initial=0.0))
            error = max(error, _unseen_penetration(system, second))
            factor = np.clip(0.9 * np.sqrt(self.accuracy / max(error, 1e-300)), 0.2, 2.0)
            if error <= self.accuracy or h <= smallest:
                break
            h = max(h * min(factor, 0.7), smallest)
        step = joined(first, second, snapshot.step + 1)
        notes = dict(step.notes)
        if error > self.accuracy:
            notes["accuracy"] = (
                f"at {snapshot.time:.6g} s the error of {error:.1e} m exceeds {self.accuracy:.1e} m even with the "
                f"smallest step {h:.1e} s"
            )
        after = replace(step.after, memory=np.array([min(h * factor, self.step_size), 0.5 * h]))
        return replace(step, after=after, notes=notes)

    def _fixed_step(self, system: System, snapshot: Snapshot, h: float) -> Step:
        try:
            return _OneStep(self, system, snapshot, h).done()
        except ComplementarityError as error:
            raise StepFailed(
                f"The step from {snapshot.time:.9g} s has no verified answer. {error} Try a smaller step than "
                f"{h:g} s."
            ) from error

    def _inverse(self, mass: Any, tangents: Tangents, h: float) -> Inverse:
        """M̂⁻¹, kept from the last step as long as the matrices are the same objects."""
        kept = self._factors.get("last")
        key = (mass, tangents.position, tangents.velocity, h)
        if (
            kept is not None
            and all(a is b for a, b in zip(kept[0][:3], key[:3], strict=True))
            and kept[0][3] == h
        ):
            return kept[1]
        matrix = mass
        if tangents.velocity is not None:
            matrix = matrix - (h * self.theta) * tangents.velocity
        if tangents.position is not None:
            matrix = matrix - (h * self.theta) ** 2 * tangents.position
        inverse = Inverse(matrix)
        self._factors["last"] = (key, inverse)
        return inverse


class _OneStep:
    """The quantities of one step, named as in the module's formulas."""

    def __init__(self, scheme: Moreau, system: System, snapshot: Snapshot, h: float) -> None:
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
        inverse = scheme._inverse(self.mass, self.tangents, h)
        self.held = Held(inverse, self.bilateral, system.constraints)
        self.bilateral_given, self.joints_jump = self._bilateral_given()
        self.force = self._force(inverse)
        self.pushed = inverse(h * self.force)

    def _closed_contacts(self) -> tuple[np.ndarray, Laws, Directions]:
        system, t, q = self.system, self.t_contact, self.q_contact
        near = system.near(t, q)
        contact = near
        if self.scheme.level == "velocity":
            gaps = system.gaps(t, q, near)
            contact = near[np.isnan(gaps) | (gaps <= TOUCHING)]  # (4.7)
        directions = system.directions(t, q, contact)
        speed = None
        if not system.contacts.constant:
            slip = directions.tangential_velocity(self.v).reshape(len(contact), system.contacts.tangential)
            speed = np.linalg.norm(slip, axis=1)
        return contact, system.contacts.laws(contact, speed), directions

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
        compliance = getattr(self.system, "compliance", None)
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

        known = len(self.before.contact) > 0
        previous = self._warm_start(rows) / self.before.memory[-1] if known else None
        chosen = choose(self.scheme.selection, solution, self.h, previous, self.t, dynamics)
        self.notes |= chosen.notes
        return chosen.solution.x

    def _normal_given(self) -> np.ndarray:
        """What is added to J_Nᵀ v_free in the normal law: rates and restitution, or the gap on position level."""
        rate = self.directions.normal_rate
        if self.scheme.level == "velocity":
            return rate + self.laws.restitution * self.directions.normal_velocity(self.v)
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
        push = largest_entries(response) * spread
        noise = _UNLOADED * motion.max(initial=0.0)
        self.loaded = np.where(table >= 0, push[table], 0.0).max(axis=1) > noise
        v_after[np.abs(v_after) < _ROUND_OFF * terms] = 0.0
        return v_after

    def _soft(self, rows: ContactRows, response: Any) -> np.ndarray:
        """Contacts whose compliance counts (k,)."""
        compliance = getattr(self.system, "compliance", None)
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
        if self.scheme.projection:
            q_after = project_position(system, self.t + h, q_after)
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
        limit = (
            self.laws.friction @ impulse[:, 0] if self.laws_coupled else self.laws.friction * impulse[:, 0]
        )
        holds = (limit + self.laws.limit * self.h) > 0.0
        state = np.where(loaded, np.where(holds & (speed <= 1e-9 * terms), STICK, SLIP), OPEN)
        hit = loaded & (impulse[:, 0] > 0.0) & (approach > 2.0 * smooth + 1e-12 * np.abs(approach))
        state[hit | (self.jump[:, 0] > 0.0)] = IMPACT
        return state.astype(np.int8)

    @property
    def laws_coupled(self) -> bool:
        return getattr(self.laws.friction, "ndim", 1) == 2


def _require(
    value: Any,
    name: str,
    allowed: str,
    *,
    above: float = -np.inf,
    at_least: float = -np.inf,
    at_most: float = np.inf,
) -> None:
    number = isinstance(value, int | float | np.number) and np.isfinite(value)
    if not (number and value > above and at_least <= value <= at_most):
        raise InvalidModel(f"{name} is {value!r}; allowed are {allowed}.")


def largest_entries(matrix: Any) -> np.ndarray:
    """Largest entry of each column of a matrix without negative ones."""
    largest = matrix.max(axis=0)
    return largest.toarray().ravel() if sparse.issparse(largest) else largest


def _unseen_penetration(system: System, step: Step) -> float:
    """Depth [m] of contacts that closed within a step without taking part in it."""
    t, q = step.after.time, step.after.position
    near = system.near(t, q)
    gaps = system.gaps(t, q, near)[~np.isin(near, step.contact)]
    return float(-np.nanmin(gaps, initial=0.0))
