"""One step of regularised contact: a smooth piece of motion, and the switches at its end.

    M v̇ = f + J_N λ_N(g, ġ) + J_T λ_T(v_T, ρ) + J_B λ_B                             Waltersberger (4.76)-(4.95)

is integrated with all contacts in their branches up to the first switch on the dense output. There the branches change,
drift of constraints is removed, and the ledger takes the works that were integrated along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from klapper.complementarity.dense import dense
from klapper.contact_states import OPEN, SLIP, STICK
from klapper.mechanics.smooth_friction import ArctanFriction
from klapper.mechanics.system import System
from klapper.schemes.base import Snapshot, Step, StepFailed, kinetic_energy
from klapper.schemes.contact_modes import PRESSING, STICKING, ContactModes
from klapper.schemes.friction_branches import NOISE
from klapper.schemes.mobility import Held
from klapper.schemes.regularised_motion import RegularisedMotion
from klapper.schemes.regularised_phase import Phase
from klapper.schemes.smooth_step import SmoothStep, smooth_step
from klapper.schemes.switch_search import SwitchSearch

if TYPE_CHECKING:
    from klapper.schemes.regularised import Regularised
    from klapper.schemes.work import Work

_MARGIN = 0.02  # of the way to a switch, by which a stiff step goes past it when it is repeated
_SWITCHES_AT_ONCE = 50
_SHORTER_AFTER = 4  # switches at once, after which each try is shorter than the one before
_SHORTER = 0.25  # by this factor
_OF_VISCOUS_SPEED = 0.01  # of the speed at which friction saturates: allowed errors of velocities
_DRIFT_ROUNDS = 5
COUNTS = ("right-hand sides", "Jacobians", "looks for switches", "switches", "steps")


@dataclass(frozen=True, eq=False)
class RegularisedMemory:
    """Step size [s] to try next (0: to be chosen), counters, and the modes of all contacts."""

    size: float
    counts: np.ndarray
    modes: ContactModes

    def packed(self) -> np.ndarray:
        return np.concatenate([[self.size], self.counts, self.modes.packed()])

    @staticmethod
    def read(memory: np.ndarray, system: System) -> RegularisedMemory:
        first = 1 + len(COUNTS)
        modes = ContactModes.unpacked(memory[first:], system.contacts.count, system.contacts.tangential)
        return RegularisedMemory(float(memory[0]), memory[1:first].copy(), modes)


@dataclass(frozen=True, eq=False)
class _Piece:
    """A smooth piece of motion up to ``end`` [s] with y there, and the labels of the switches that end it."""

    smooth: SmoothStep
    end: float
    y: np.ndarray
    labels: Sequence[tuple[str, int]]


class RegularisedStep:
    """One step: a smooth piece of motion, and the switches at its end."""

    def __init__(
        self, scheme: Regularised, system: System, snapshot: Snapshot, until: float, work: Work
    ) -> None:
        self.scheme, self.system, self.before = scheme, system, snapshot
        self.t, self.q = snapshot.time, snapshot.position
        self.until = until
        self.target = scheme.target(system, self.t, until)
        self.memory = RegularisedMemory.read(snapshot.memory, system)
        self.size = self.memory.size
        self.counts = dict(zip(COUNTS, self.memory.counts, strict=True))
        self.relative = min(scheme.tolerance, self._slow_enough())
        self.switches = replace(scheme.switches(system, work), blur=max(self.relative / NOISE, 1.0))
        self.notes: dict[str, str] = {}

    def done(self) -> Step:
        phase, piece = self._smooth_piece()
        q, v, _, _ = phase.parts(piece.y)
        during = modes = phase.settled(piece.end, piece.y)
        q, v = self.without_drift(phase, piece.end, q, v)
        if piece.labels:
            modes, v = self._switched(phase, during, piece.labels, piece.end, q, v)
        self.counts["steps"] += 1
        return self._step(phase, piece, during, modes, q, v)

    def _smooth_piece(self) -> tuple[Phase, _Piece]:
        modes, v = self.memory.modes, self.before.velocity
        for switches in range(_SWITCHES_AT_ONCE + 4 * self.system.contacts.count):
            phase = self.switches.phase(modes, self.t, self.q, v)
            piece = self._piece(phase, phase.begin(self.q, v))
            if not (piece.labels and piece.end <= self.t):
                return phase, piece
            modes, v = self._switched(phase, modes, piece.labels, self.t, self.q, v)
            if switches >= _SHORTER_AFTER:
                # a step much longer than the decay by a strong damper has ripples of force in its dense output
                tried = piece.smooth.end - piece.smooth.start
                self.size = max(_SHORTER * tried, 64.0 * np.spacing(self.t))
        names = ", ".join(sorted({f"'{self.system.contacts.name(i)}' {what}" for what, i in piece.labels}))
        raise StepFailed(
            f"At {self.t:.9g} s contacts switch without end: {names}. Two branches of their laws exclude each other "
            f"there; give the contacts some damping, or use another friction law."
        )

    def _piece(self, phase: Phase, y: np.ndarray) -> _Piece:
        size = self.size or None
        smooth = self._integrate(phase, y, self.target, size)
        piece = self._up_to_switch(phase, smooth)
        if piece.labels and self.scheme.method == "radau" and piece.end > self.t:
            # the dense output is most accurate near its end: repeat the step so that it ends just behind the switch
            behind = piece.end + _MARGIN * (piece.end - self.t)
            smooth = self._integrate(phase, y, min(behind, self.target), behind - self.t)
            piece = self._up_to_switch(phase, smooth)
        return piece

    def _integrate(self, phase: Phase, y: np.ndarray, until: float, size: float | None) -> SmoothStep:
        def rate(t: float, y: np.ndarray) -> np.ndarray:
            self.counts["right-hand sides"] += 1
            return phase.rate(t, y)

        def jacobian(t: float, y: np.ndarray) -> np.ndarray:
            self.counts["Jacobians"] += 1
            self.counts["right-hand sides"] += phase.core + 1
            return phase.jacobian(t, y)

        share = np.sqrt(
            phase.core / phase.size
        )  # the sums are not controlled and must not thin out the error
        absolute = np.full(phase.size, np.inf)
        absolute[: phase.core] = share * self.scheme.absolute_error
        return smooth_step(
            self.scheme.method,
            rate,
            self.t,
            y,
            until=until,
            size=size,
            relative=share * self.relative,
            absolute=absolute,
            jacobian=jacobian if self.scheme.method == "radau" else None,
        )

    def _slow_enough(self) -> float:
        """Relative tolerance that resolves the speed below which smooth friction is viscous."""
        speed = getattr(self.scheme.friction, "speed", np.inf)
        return _OF_VISCOUS_SPEED * speed / max(float(np.abs(self.before.velocity).max(initial=0.0)), speed)

    def _up_to_switch(self, phase: Phase, smooth: SmoothStep) -> _Piece:
        """The step, cut at the first switch in it."""
        came_near = self.system.near(smooth.end, phase.parts(smooth.after)[0])
        phase = self.switches.watching(phase, came_near)
        search = SwitchSearch(phase, smooth)
        crossing = search.first() if phase.labels else None
        self.counts["looks for switches"] += search.looks
        if crossing is None:
            return _Piece(smooth, smooth.end, smooth.after, ())
        y = smooth.dense(np.array([crossing.time]))[0] if crossing.time < smooth.end else smooth.after
        return _Piece(smooth, float(crossing.time), y, [phase.labels[i] for i in crossing.which])

    def _switched(
        self,
        phase: Phase,
        modes: ContactModes,
        labels: Sequence[tuple[str, int]],
        t: float,
        q: np.ndarray,
        v: np.ndarray,
    ) -> tuple[ContactModes, np.ndarray]:
        self.counts["switches"] += len(labels)
        return self.switches.after(phase, modes, labels, t, q, v)

    def without_drift(
        self, phase: Phase, t: float, q: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity that meet the constraints, and sticking patches that stick."""
        system = self.system
        for _ in range(_DRIFT_ROUNDS if system.constraints else 0):
            residual = system.constraint_residuals(t, q)
            if np.abs(residual).max() <= 1e-14 * (1.0 + np.abs(q).max(initial=0.0)):
                break
            held = Held(
                self.switches.inverse_of(system.mass(q)), dense(system.constraint_directions(t, q)[0])
            )
            q = system.advance(q, held.push(held.impulses(residual)))
        return q, self.switches.held(t, q, v, phase.closed[phase.stuck])

    def _step(
        self,
        phase: Phase,
        piece: _Piece,
        during: ContactModes,
        modes: ContactModes,
        q: np.ndarray,
        v: np.ndarray,
    ) -> Step:
        impulse, constraint, works = phase.sums(piece.y)
        sums = self.before.sums + self.energies(works, modes, piece.end, q, v)
        took_part = np.union1d(phase.closed, modes.closed).astype(np.int64)
        full = np.zeros((len(took_part), 1 + phase.d))
        full[np.searchsorted(took_part, phase.closed)] = impulse
        loaded = np.any(full != 0.0, axis=1)
        time = self.target if piece.end >= self.target - 4.0 * np.spacing(abs(self.target)) else piece.end
        if not (np.all(np.isfinite(q)) and np.all(np.isfinite(v))):
            raise StepFailed(f"The motion left the range of numbers in the step from {self.t:.6g} s.")
        after = Snapshot(
            step=self.before.step + 1,
            time=time,
            position=q,
            velocity=v,
            contact=took_part[loaded],
            impulse=full[loaded],
            sums=sums,
            memory=RegularisedMemory(
                self._next_size(piece), np.array(list(self.counts.values())), modes
            ).packed(),
        )
        if time >= self.until:
            self.notes["cost"] = ", ".join(f"{int(count)} {what}" for what, count in self.counts.items())
        state = self._states(during, took_part, time, q, v)
        motion = (
            RegularisedMotion(self, phase, piece.smooth, piece.end, took_part) if piece.end > self.t else None
        )
        return Step(after, took_part, full, state, constraint, 0.0, self.notes, motion)

    def _next_size(self, piece: _Piece) -> float:
        if piece.labels:
            return 0.0
        cut_short = piece.end >= self.target
        return max(piece.smooth.next_size, self.memory.size if cut_short else 0.0)

    def energies(
        self, works: np.ndarray, modes: ContactModes, t: float, q: np.ndarray, v: np.ndarray
    ) -> np.ndarray:
        """Increments (5,) [J]; the numerical one is what the balance lacks."""
        system, before = self.system, self.before
        springs_before = self.scheme.spring_energies(system, self.memory.modes, self.t, self.q)
        springs_after = self.scheme.spring_energies(system, modes, t, q)
        loads, damping = works[0], works[1]
        impact = works[2]
        friction = works[3] - (springs_after[1] - springs_before[1])
        gain = kinetic_energy(system, q, v) - kinetic_energy(system, before.position, before.velocity)
        gain += system.potential(q) - system.potential(before.position)
        gain += sum(springs_after) - sum(springs_before)
        return np.array([loads, damping, friction, impact, loads - gain - damping - friction - impact])

    def _states(
        self, modes: ContactModes, contacts: np.ndarray, t: float, q: np.ndarray, v: np.ndarray
    ) -> np.ndarray:
        sticks = modes.tangential[contacts] == STICKING
        if isinstance(self.scheme.friction, ArctanFriction) and len(contacts):
            slip = self.system.directions(t, q, contacts).tangential_velocity(v)
            speed = np.linalg.norm(slip.reshape(len(contacts), -1), axis=1)
            sticks &= speed <= self.scheme.friction.speed
        presses = modes.normal[contacts] == PRESSING
        return np.where(presses, np.where(sticks, STICK, SLIP), OPEN).astype(np.int8)
