"""One step of :mod:`klapper.schemes.nested_prox`: problem, impulses, flags, projection, ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from klapper.complementarity.dense import dense
from klapper.complementarity.prox import global_factor
from klapper.contact_states import OPEN, SLIP, STICK
from klapper.mechanics.ledger import Increment
from klapper.mechanics.system import Directions, System
from klapper.schemes.base import Snapshot, Step, StepFailed, kinetic_energy
from klapper.schemes.friction_strategies import Round, impulses_of, share_direction
from klapper.schemes.mobility import Inverse
from klapper.schemes.nested_iteration import NORMAL, TANGENTIAL, Counter, Diverged, projected, rounds
from klapper.schemes.stick_flags import onto_contacts, sliding_mobility, sticking, without_sliding

if TYPE_CHECKING:
    from klapper.schemes.nested_prox import NestedProx

_VERIFIED = 1e-3  # of the largest impulse: what one more sweep with r = 1/G_ii may change
_LAW = 0.01  # of the friction limit: what Coulomb's law may be missed by before a strategy says so


class NestedStep:
    """The quantities of one step, named as in the formulas of the scheme."""

    def __init__(self, scheme: NestedProx, system: System, snapshot: Snapshot, counter: Counter) -> None:
        self.scheme, self.system, self.before, self.counter = scheme, system, snapshot, counter
        self.h = h = scheme.step_size
        self.t, self.q, self.v = snapshot.time, snapshot.position, snapshot.velocity
        self.t_after = scheme.end_of_step(system, snapshot)
        self.t_middle, self.q_middle = self.t + 0.5 * h, system.advance(self.q, 0.5 * h * self.v)
        self.mass = system.mass(self.q_middle)
        self._drive()
        self.near = system.near(self.t_middle, self.q_middle)
        gaps = system.gaps(self.t_middle, self.q_middle, self.near)
        self.taking_part = np.isnan(gaps) | (gaps <= scheme.gap_tolerance)
        self.contact = self.near[self.taking_part]
        self.directions = self._two(system.directions(self.t_middle, self.q_middle, self.contact))
        self.slip_before = self._slip(self.t, self.q, self.v, self.near)
        speed = None if system.contacts.constant else np.abs(self.slip_before[self.taking_part])
        self.laws = system.contacts.laws(self.contact, speed)
        self.presses = self.laws.normal
        columns = np.stack([self.directions.normal, self.directions.tangential], axis=2)
        self.columns = columns.reshape(len(self.v), -1)  # contact by contact: normal, tangential
        self.response = self.inverse(self.columns)
        self.factor = self._factors()

    def _drive(self) -> None:
        """v⁺ without contacts, M̂⁻¹, and the impulse of the applied forces as a function of v⁺."""
        system, h = self.system, self.h
        if self.scheme.integrator == "midpoint":
            self.force = system.force(self.t_middle, self.q_middle, self.v)
            self.inverse = Inverse(self.mass)
            self.free = self.v + self.inverse(h * self.force)
            return
        self.force = system.force(self.t, self.q, self.v)
        tangents = system.tangents(self.t, self.q, self.v)
        nothing = np.zeros(self.mass.shape)
        self.by_position = nothing if tangents.position is None else dense(tangents.position)
        self.by_velocity = nothing if tangents.velocity is None else dense(tangents.velocity)
        self.by_time = np.zeros(len(self.v)) if tangents.time is None else tangents.time
        matrix = dense(self.mass) - 0.5 * h**2 * self.by_position - 0.5 * h * self.by_velocity  # (3.30)
        self.inverse = Inverse(matrix)
        pushed = h * self.force + 0.5 * h**2 * (self.by_time + self.by_position @ self.v)
        self.free = self.v + self.inverse(pushed)  # (3.29) without v on both sides

    def _applied(self, v_after: np.ndarray) -> np.ndarray:
        """Impulse (nv,) [N s] of all forces but those of contacts, (3.28)."""
        if self.scheme.integrator == "midpoint":
            return self.h * self.force
        h, jump = self.h, v_after - self.v
        return (
            h * self.force
            + 0.5 * h**2 * (self.by_position @ v_after + self.by_time)
            + 0.5 * h * (self.by_velocity @ jump)
        )

    def _factors(self) -> np.ndarray:
        """r (k, 2) [kg], (C.11)."""
        factor = np.ones((len(self.contact), 2))
        if factor.size:
            factor *= global_factor(self.columns.T @ self.response)
        if self.scheme.weights is not None:
            factor[:, TANGENTIAL] *= np.array(self.scheme.weights)[self.contact]
        return factor

    def _two(self, directions: Directions) -> Directions:
        """Dense directions with one tangential column for every contact, zero if there is no friction."""
        normal, tangential = dense(directions.normal), dense(directions.tangential)
        rate = directions.tangential_rate
        if self.system.contacts.tangential == 0:
            tangential, rate = np.zeros(normal.shape), np.zeros(normal.shape[1])
        return Directions(normal, directions.normal_rate, tangential, rate)

    def _slip(self, t: float, q: np.ndarray, v: np.ndarray, which: np.ndarray) -> np.ndarray:
        return self._two(self.system.directions(t, q, which)).tangential_velocity(v)

    def velocity(self, impulse: np.ndarray) -> np.ndarray:
        """Normal and tangential velocities (k, 2) [m/s] at the end of the step."""
        v_after = self.free + self.response @ impulse.ravel()
        directions = self._two(self.system.directions(self.t_after, self._moved(v_after), self.contact))
        return np.column_stack([directions.normal_velocity(v_after), directions.tangential_velocity(v_after)])

    def limit(self, normal: np.ndarray) -> np.ndarray:
        return self.laws.friction * normal + self.laws.limit * self.h

    def _moved(self, v_after: np.ndarray) -> np.ndarray:
        """q⁺ (3.14), (3.22)."""
        mean = 0.5 * (self.v + v_after) if self.scheme.integrator == "midpoint" else v_after
        return self.system.advance(self.q, self.h * mean)

    def done(self) -> Step:
        strategy = self.scheme.strategy
        applies = strategy is not None and share_direction(self.directions.tangential)
        impulse = rounds(
            self,
            self._start(),
            self._chosen if applies else None,
            strategy.name if applies else "",
            self.scheme.limits,
            self.counter,
        )
        notes: dict[str, str] = {}
        missed = self._verified(impulse, applies, notes)
        v_after = self.free + self.response @ impulse.ravel()
        q_after = self._moved(v_after)
        if not (np.all(np.isfinite(q_after)) and np.all(np.isfinite(v_after))):
            raise StepFailed(
                f"The motion left the range of numbers in the step from {self.t:.6g} s; the step of {self.h:g} s is "
                f"probably too large for forces that are taken explicitly: use integrator='implicit' or a smaller step."
            )
        sums = self.before.sums + self._energy(impulse, q_after, v_after)
        closed, sticks = self._flags(q_after, v_after)
        q_after, v_after, lost = self._projected(q_after, v_after, closed, sticks, impulse)
        sums[4] += lost
        return self._step(impulse, q_after, v_after, sums, closed, sticks, missed, notes)

    def _start(self) -> np.ndarray:
        start = np.zeros((len(self.contact), 2))
        given = self.scheme.start
        if given == "previous":
            _, mine, old = np.intersect1d(self.contact, self.before.contact, return_indices=True)
            impulse = self.before.impulse[old]
            start[mine, : impulse.shape[1]] = impulse
        elif given is not None:
            start[:] = np.array(given)[self.contact] * self.h
        start[~self.presses, NORMAL] = 0.0
        return start

    def _chosen(self, impulse: np.ndarray) -> tuple[np.ndarray, str]:
        """Friction impulses (k,) by the strategy."""
        v_after = self.free + self.response @ impulse.ravel()
        bend = self.system.curvature(self.t_middle, self.q_middle, v_after, self.contact)
        pressed = impulse[:, NORMAL]
        return impulses_of(
            self.scheme.strategy,
            Round(
                self.mass,
                self.inverse,
                self.force,
                self.directions.normal,
                self.directions.tangential,
                *bend,
                self.contact,
                self.laws.friction,
                pressed,
                self.limit(pressed),
                self.before.memory[self.contact] > 0.0,
                self.slip_before[self.taking_part],
                self.h,
            ),
        )

    def _verified(self, impulse: np.ndarray, chosen: bool, notes: dict[str, str]) -> float:
        """Largest change by one more sweep with r = 1/G_ii over the largest impulse; too large a change is refused."""
        scale = np.abs(impulse).max(initial=0.0)
        if scale == 0.0:
            return 0.0
        change = np.zeros(2)
        mobility = np.einsum("ij,ij->j", self.columns, self.response).reshape(-1, 2)
        own = np.divide(1.0, mobility, out=np.zeros(mobility.shape), where=mobility > 0.0)
        for level in (NORMAL, TANGENTIAL):
            swept = projected(self, impulse, level, own[:, level])
            change[level] = np.abs(swept - impulse).max()
        limit = self.limit(impulse[:, NORMAL])
        if chosen:
            if change[TANGENTIAL] > _LAW * limit.max():
                notes["friction law"] = (
                    f"at {self.t:.6g} s the friction of '{self.scheme.strategy.name}' does not agree with the sliding "
                    f"velocities: it should change by {change[TANGENTIAL] / self.h:.3g} N"
                )
            change[TANGENTIAL] = (np.abs(impulse[:, TANGENTIAL]) - limit).max(initial=0.0)
        if not change.max() <= _VERIFIED * scale:
            raise Diverged(
                f"one more iteration would change the impulses by {change.max():.2e} N s of {scale:.2e} N s"
            )
        return float(change.max() / scale)

    def _flags(self, q_after: np.ndarray, v_after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """γ and κ of the near contacts at the end of the step."""
        gaps = self.system.gaps(self.t_after, q_after, self.near)
        closed = np.isnan(gaps) | (gaps <= self.scheme.gap_tolerance)
        tolerance = np.full(len(self.near), self.scheme.slip_speed)
        if self.scheme.projection == "step-safe" and len(self.contact):
            columns = np.hstack([self.directions.normal, self.directions.tangential])
            delassus = columns.T @ self.inverse(columns)
            mobility = sliding_mobility(delassus, len(self.contact))
            tolerance[self.taking_part] = self.scheme.slip_force * self.h * mobility
        slip = self._slip(self.t_after, q_after, v_after, self.near)
        return closed, sticking(closed, slip, self.slip_before, tolerance)

    def _projected(
        self, q: np.ndarray, v: np.ndarray, closed: np.ndarray, sticks: np.ndarray, impulse: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """The state by the projection, and the energy [J] that it takes away."""
        contact = self.near[closed]
        if self.scheme.projection == "none" or len(contact) < 2:
            return q, v, 0.0
        directions = self._two(self.system.directions(self.t_after, q, contact))
        if not share_direction(directions.tangential):
            return q, v, 0.0
        before = kinetic_energy(self.system, q, v) + self.system.potential(q)
        pressed = np.zeros(len(self.near))
        pressed[self.taking_part] = impulse[:, NORMAL]
        if self.scheme.projection == "thesis" or np.all(pressed[closed] > 0.0):
            q = onto_contacts(self.system, self.t_after, q, contact)
        if np.all(sticks[closed]):
            directions = self._two(self.system.directions(self.t_after, q, contact))
            v = without_sliding(self.system, q, v, directions)
        return q, v, before - kinetic_energy(self.system, q, v) - self.system.potential(q)

    def _energy(self, impulse: np.ndarray, q_after: np.ndarray, v_after: np.ndarray) -> np.ndarray:
        """Increments (5,) [J], as in :mod:`klapper.schemes.energy`."""
        system, h, directions = self.system, self.h, self.directions
        middle = 0.5 * (self.v + v_after)
        load, damping = system.powers(self.t_middle, system.advance(self.q, 0.5 * h * middle), middle)
        stored = system.potential(q_after) - system.potential(self.q)
        mass_before, mass_after = system.mass(self.q), system.mass(q_after)
        gained = v_after @ ((mass_after - self.mass) @ v_after) - self.v @ (
            (mass_before - self.mass) @ self.v
        )
        walls = (
            impulse[:, NORMAL] @ directions.normal_rate + impulse[:, TANGENTIAL] @ directions.tangential_rate
        )
        return np.array(
            Increment(
                loads=h * load - float(walls),
                damping=h * damping,
                friction=-float(impulse[:, TANGENTIAL] @ directions.tangential_velocity(middle)),
                impact=-float(impulse[:, NORMAL] @ directions.normal_velocity(middle)),
                numerical=h * (load - damping)
                - stored
                - float(middle @ self._applied(v_after))
                - 0.5 * float(gained),
            )
        )

    def _step(
        self,
        impulse: np.ndarray,
        q_after: np.ndarray,
        v_after: np.ndarray,
        sums: np.ndarray,
        closed: np.ndarray,
        sticks: np.ndarray,
        residual: float,
        notes: dict[str, str],
    ) -> Step:
        width = 1 + self.system.contacts.tangential
        full = np.zeros((len(self.near), width))
        full[self.taking_part] = impulse[:, :width]
        flags = np.zeros(self.system.contacts.count)
        flags[self.near] = sticks
        totals = self.before.memory[-4:] + self.counter.totals
        loaded = np.any(full != 0.0, axis=1)
        after = Snapshot(
            step=self.before.step + 1,
            time=self.t_after,
            position=q_after,
            velocity=v_after,
            contact=self.near[loaded].astype(np.int64),
            impulse=full[loaded],
            sums=sums,
            memory=np.concatenate([flags, totals]),
        )
        holds = sticks & self.system.contacts.laws(self.near).rough
        state = np.where(closed, np.where(holds, STICK, SLIP), OPEN).astype(np.int8)
        return Step(after, self.near.astype(np.int64), full, state, np.zeros(0), residual, notes)
