"""One step of a method with phases: smooth motion up to an event, or the jump of an impact.

1. Closed contacts that approach make an impact: a step of no duration.
2. Else the acceleration-level problem decides the modes, and the method's flow is followed up to the first event in
   it, a sample, or the end of an integrator's step.
3. At the end drift is removed, and the books are closed: what energy the balance lacks is numerical.

An event that comes at once is decided about again. Waltersberger, section 4.2 and Definition 4.1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from klapper.contact_states import OPEN, SLIP, STICK
from klapper.mechanics.system import System
from klapper.schemes.base import TOUCHING, Snapshot, Step, StepFailed
from klapper.schemes.force_distribution import motion_depends_on_forces, with_margin
from klapper.schemes.force_selection import distributed
from klapper.schemes.mode_decision import Painleve
from klapper.schemes.phase_equations import PhaseEquations
from klapper.schemes.phase_flow import Flow
from klapper.schemes.phase_impact import Impact, newton_impact
from klapper.schemes.phase_modes import (
    RELEASE,
    SLIDING,
    SLIP_BEGINS,
    STICKING,
    TOUCH,
    TURN,
    Modes,
    PhaseMemory,
    not_unique,
)
from klapper.schemes.phase_motion import PhaseMotion
from klapper.schemes.phase_projection import held_position, held_velocity
from klapper.schemes.phase_watch import LOOKS, PhaseWatch, stops_or_turns
from klapper.schemes.touching import Touching

if TYPE_CHECKING:
    from klapper.schemes.compiled_phases import CompiledFlow
    from klapper.schemes.phases import Phased
    from klapper.schemes.work import Work

_STALLED = 24  # events without progress of the time, and four more for every contact, before a step fails
_TOUCH = 1e-2  # of the tolerance: gaps that count as closed
_ROUND_OFF = 256.0 * float(np.finfo(float).eps)
_DEEP = 10.0  # times what counts as closed: gaps below zero that are no round-off
_STILL = 1e-3  # of the slip speed: normal velocities that count as zero
_APPROACH = 0.25  # of the margin of a search: what two parts may come closer between two looks
_LOOK_AHEAD = 6  # events without progress after which the forces a little later decide


class PhaseStep:
    """One step: an impact, or a piece of smooth motion up to an event, a sample or the end of an integrator's step."""

    def __init__(self, scheme: Phased, system: System, snapshot: Snapshot, until: float, work: Work) -> None:
        self.scheme, self.system, self.before, self.work = scheme, system, snapshot, work
        self.t, self.q, self.v = snapshot.time, snapshot.position, snapshot.velocity
        self.memory = PhaseMemory.read(snapshot.memory)
        self.until = self._limit(until)
        self.notes: dict[str, str] = {}
        self.walls = 0.0  # work [J] of moving walls on what was brought to rest relative to them

    def _limit(self, until: float) -> float:
        scheme, begin = self.scheme, self.system.start.time
        if scheme.largest_step is not None:
            until = min(until, self.t + scheme.largest_step)
        until = min(until, self.t + self._search_limit(), self.t + self._emerging())
        if scheme.sample is not None:
            count = np.floor((self.t - begin) / scheme.sample * (1.0 + 4e-16) + 1e-9) + 1.0
            until = min(until, begin + count * scheme.sample)
        return until

    def _search_limit(self) -> float:
        """Duration [s] in which no two parts come closer by more than some margins of a search for contacts."""
        margin = self.system.search_margin
        if not np.isfinite(margin):
            return np.inf
        way = 0.5 * LOOKS * _APPROACH * margin  # of each of the two
        pushes = np.abs(self.system.force(self.t, self.q, self.v) / self.system.mass(self.q).diagonal())
        speed, push = float(np.abs(self.v).max(initial=0.0)), float(pushes.max(initial=0.0))
        return 2.0 * way / max(speed + np.sqrt(speed**2 + 2.0 * push * way), 1e-300)

    def _emerging(self) -> float:
        """Duration [s] in which contacts that start below zero and separate are open: only then are they watched."""
        near = self.system.near(self.t, self.q)
        gaps = self.system.gaps(self.t, self.q, near)
        deep = gaps < -_DEEP * self._touch
        if not np.any(deep):
            return np.inf
        speed = self.system.directions(self.t, self.q, near[deep]).normal_velocity(self.v)
        leaves = speed > _STILL * self.scheme.slip_speed
        return float(np.min(-2.0 * gaps[deep][leaves] / speed[leaves], initial=np.inf))

    def done(self) -> Step:
        """Decide if that is due, and go on; an event at once is decided about again."""
        if self.memory.decided:
            step = self._smooth(self.memory.modes)
            if step is not None:
                return step
        while True:
            self._require_progress()
            touching = self._touching()
            if touching.collides:
                return self._impact(self.scheme.collide(touching))
            try:
                modes = self._decided(touching)
            except Painleve:
                if self.scheme.painleve == "stop":
                    raise
                return self._painleve_jump(touching)
            step = self._smooth(modes)
            if step is not None:
                return step

    def _touching(self) -> Touching:
        still = _STILL * self.scheme.slip_speed
        inverse = self.scheme.inverse(self.system, self.work)
        return Touching(self.system, self.t, self.q, self.v, touch=self._touch, still=still, inverse=inverse)

    @property
    def _touch(self) -> float:
        """Gaps [m] that count as closed: the round-off of positions is that of the time, too."""
        reach = float(np.abs(self.q).max(initial=0.0))
        late = 8.0 * float(np.spacing(abs(self.t)) * np.abs(self.v).max(initial=0.0))
        return max(_TOUCH * self.scheme.tolerance, TOUCHING, _ROUND_OFF * reach, late)

    def _require_progress(self) -> None:
        memory = self.memory
        if self.t > memory.since + self.scheme.shortest_flight:
            self.memory = replace(memory, stalled=0, since=self.t)
        elif memory.stalled > _STALLED + 4 * len(memory.modes.contact):
            names = {self.system.contacts.name(int(i)) for i in self._touching().contact}
            raise StepFailed(
                f"At {self.t:.9g} s the motion does not get on: {memory.stalled} events within "
                f"{self.scheme.shortest_flight:g} s at {', '.join(sorted(names)) or 'no contact'}. Contacts switch "
                f"there without end; raise shortest_flight, change the start a little, or use Moreau."
            )

    def _decided(self, touching: Touching) -> Modes:
        """Modes of the next phase; velocities that only round-off keeps from rest are brought to rest."""
        memory = self.memory
        spread = self._other_forces(memory)
        if spread is not None:
            return spread
        ahead = 0.0
        if memory.stalled > _LOOK_AHEAD or (memory.stalled and memory.of(TOUCH).size):
            ahead = self.scheme.shortest_flight * 10.0 ** min(max(memory.stalled - _LOOK_AHEAD, 1), 5)
        decision = self.scheme.decide(memory, touching, ahead, self.work)
        self.notes.update(decision.notes)
        if decision.accumulated.size:
            names = ", ".join(self.system.contacts.name(int(i)) for i in decision.accumulated)
            self.notes["impacts accumulate"] = (
                f"at {self.t:.9g} s, after {memory.impacts} impacts of the run, the next flight of {names} would be "
                f"shorter than {self.scheme.shortest_flight:g} s, or lower than the round-off of positions: closed "
                f"without restitution"
            )
        equations = self.scheme.equations(self.system, decision.modes, self.work)
        still = decision.still[equations.patch]
        rows = np.concatenate([equations.placed, equations.patch_rows[still].ravel()]).astype(int)
        rows = rows[self._off(equations, rows)]
        rest = held_velocity(equations, self.t, self.q, self.v, rows, np.zeros(len(self.v)))
        self.walls += self._work_of_walls(equations, rows, rest - self.v)
        self.v = rest
        return decision.modes

    def _work_of_walls(self, equations: PhaseEquations, rows: np.ndarray, change: np.ndarray) -> float:
        """−Λ · a of the impulses Λ that bring velocities to rest relative to moving walls [J]."""
        given = equations.rows(self.t, self.q, self.v)
        if not np.any(given.rates[rows]) or not np.any(change):
            return 0.0
        momentum = np.asarray(self.system.mass(self.q) @ change)
        impulses = np.linalg.lstsq(given.columns[:, rows], momentum, rcond=None)[0]
        return -float(impulses @ given.rates[rows])

    def _off(self, equations: PhaseEquations, rows: np.ndarray) -> bool | slice:
        """All rows if any of them moves, else none."""
        given = equations.rows(self.t, self.q, self.v)
        moves = given.columns[:, rows].T @ self.v + given.rates[rows]
        return slice(None) if np.any(moves) else slice(0)

    def _other_forces(self, memory: PhaseMemory) -> Modes | None:
        """The same modes with other forces, where these are not unique and one of them has reached its limit."""
        kinds = set(memory.events[:, 0].tolist())
        if not kinds or not kinds <= {SLIP_BEGINS, RELEASE} or memory.stalled > _LOOK_AHEAD:
            return None
        equations = self.scheme.equations(self.system, memory.modes, self.work)
        forces = with_margin(equations, self.t, self.q, self.v)
        if forces is None:
            return None
        self._say_forces_are_not_unique(equations)
        return replace(memory.modes, reference=forces)

    def _say_forces_are_not_unique(self, equations: PhaseEquations) -> None:
        if motion_depends_on_forces(equations, self.t, self.q, self.v):
            rule = self.scheme.selection
            self.notes["motion by selection"] = (
                f"at {self.t:.6g} s the motion depends on forces that the model leaves open, and follows "
                f"{'those of the solver' if rule is None else f'those of {rule.name}'}"
            )
            return
        self.notes["contact forces"] = not_unique(self.t)

    def _smooth(self, modes: Modes) -> Step | None:
        """A piece of smooth motion; None if an event comes at once."""
        scheme, t = self.scheme, self.t
        equations = scheme.equations(self.system, modes, self.work)
        run = scheme.run(equations, t, self.q, self.v, self.until, self.memory.size, self.work)
        if run is not None:
            if not run.unique:
                self._say_forces_are_not_unique(equations)
            return self._after_run(equations, modes, run)
        flow = self._flow(equations)
        if equations.determined is False:
            self._say_forces_are_not_unique(equations)
        found = PhaseWatch(equations, flow, scheme.tolerance, scheme.slip_speed).first()
        if found is not None:
            flow, found = self._sharpened(equations, flow, found)
        end, events = found if found is not None else (flow.end, np.zeros((0, 2), dtype=np.int64))
        turns = bool(len(events)) and bool(np.all(events[:, 0] == TURN))
        if len(events) and end <= t + 4.0 * np.spacing(abs(t)):
            reference = flow.reactions(np.array([t]))[0]
            events = self._with_earlier(events)
            self.memory = self._next_memory(replace(modes, reference=reference), events, flow, turns=False)
            return None
        q, v = (x[0] for x in flow.states(np.array([end])))
        self._require_finite(q, v)
        forces = flow.reactions(np.array([end]))[0]
        q = held_position(equations, end, q)
        pushed = np.abs(self.v) + (end - t) * np.abs(equations.inverse(q)(self.system.force(end, q, v)))
        v = held_velocity(equations, end, q, v, equations.held, pushed)
        if len(events) and not turns:
            modes = replace(modes, reference=forces)
        modes = self._renewed(equations, modes, end, q, v)
        self.memory = self._next_memory(modes, events, flow, turns)
        return self._step(equations, flow, end, q, v)

    def _after_run(self, equations: PhaseEquations, modes: Modes, run: CompiledFlow) -> Step:
        """The step that compiled code has done up to an event, or without one."""
        events = stops_or_turns(equations, run, run.time, run.events, self.scheme.slip_speed)
        turns = bool(len(events)) and bool(np.all(events[:, 0] == TURN))
        if len(events) and not turns:
            modes = replace(modes, reference=run.forces_at_end)
        if equations.d == 2 and len(equations.sliding):
            grip, sense = run.modes_after(modes)
            modes = replace(modes, grip=grip, sense=sense)
        self.memory = self._next_memory(modes, events, run, turns)
        q, v = run.final[: run.nq].copy(), run.final[run.nq : run.nq + run.nv].copy()
        return self._step(equations, run, run.time, q, v)

    def _with_earlier(self, events: np.ndarray) -> np.ndarray:
        """Events at once, together with the releases and onsets of slip that came before them at the same instant:
        contacts that depend on each other reach their limits together, but are found one after the other. If one of
        them brings a closed contact to press, the limit is not reached after all."""
        if np.any(events[:, 0] == TOUCH):
            return events
        earlier = self.memory.events
        kinetic = np.isin(earlier[:, 0], (RELEASE, SLIP_BEGINS))
        return np.unique(np.concatenate([earlier[kinetic], events]), axis=0)

    def _flow(self, equations: PhaseEquations) -> Flow:
        try:
            return self.scheme.flow(
                equations, self.t, self.q, self.v, self.until, self.memory.size, self.work
            )
        except StepFailed as error:
            if len(equations.sliding) == 0 or len(equations.normal) == 0:
                raise
            names = ", ".join(self.system.contacts.name(int(i)) for i in equations.which[equations.normal])
            raise StepFailed(
                f"{error} While {names} press and slide, forces can grow without bound where friction turns a normal "
                f"force against itself (Painlevé); time stepping (Moreau) would pass with a velocity jump."
            ) from error

    def _sharpened(
        self, equations: PhaseEquations, flow: Flow, found: tuple[float, np.ndarray]
    ) -> tuple[Flow, tuple[float, np.ndarray]]:
        """The event once more, on a flow that ends close to it."""
        scheme = self.scheme
        if found[0] >= flow.end or found[0] <= self.t + 64.0 * np.spacing(abs(self.t)):
            return flow, found
        sharp = scheme.sharpened(equations, self.t, self.q, self.v, found[0], self.work)
        if sharp is None:
            return flow, found
        again = PhaseWatch(equations, sharp, scheme.tolerance, scheme.slip_speed).first()
        return (flow, found) if again is None else (sharp, again)

    def _next_memory(self, modes: Modes, events: np.ndarray, flow: Flow, turns: bool) -> PhaseMemory:
        decided = len(events) == 0 or turns
        stalled = self.memory.stalled + (0 if decided else 1)
        size = flow.next_size
        return replace(
            self.memory,
            modes=modes,
            decided=decided,
            events=events if not decided else events[:0],
            stalled=stalled,
            size=size,
        )

    def _renewed(
        self, equations: PhaseEquations, modes: Modes, t: float, q: np.ndarray, v: np.ndarray
    ) -> Modes:
        """Senses in space follow the sliding velocities."""
        if equations.d != 2:
            return modes
        slip = equations.slips(np.array([t]), q[None], v[None])[0]
        sense, grip = modes.sense.copy(), modes.grip.copy()
        for patch in equations.sliding:
            speed = float(np.linalg.norm(slip[patch]))
            place = equations.patch[patch]
            if speed > 1.5 * self.scheme.slip_speed:
                sense[place] = slip[patch] / speed
                grip[place] = SLIDING
        return replace(modes, sense=sense, grip=grip)

    def _require_finite(self, q: np.ndarray, v: np.ndarray) -> None:
        if not (np.all(np.isfinite(q)) and np.all(np.isfinite(v))):
            raise StepFailed(
                f"The motion left the range of numbers in the step from {self.t:.9g} s: a force grows without bound."
            )

    def _step(self, equations: PhaseEquations, flow: Flow, end: float, q: np.ndarray, v: np.ndarray) -> Step:
        modes, distribution = equations.modes, None
        if self.scheme.selection is not None and end > self.t:
            distribution = distributed(self.scheme.selection, equations, flow, end)
            self.notes |= distribution.remarks
        motion = PhaseMotion(equations, flow, self.before, end, self.walls, distribution)
        reached = motion.progress(np.array([end]), (q[None], v[None]))
        impulse, constraint, sums = reached.impulse[0], reached.constraint[0], reached.energy[0, 2:]
        done = self._written(end, q, v, modes.contact, impulse, _states(modes), constraint, sums, 0.0)
        return replace(done, motion=motion) if end > self.t else done

    def _impact(self, impact: Impact) -> Step:
        self.notes.update(impact.notes)
        self.memory = self.memory.after_impact()
        return self._written(
            self.t,
            self.q,
            impact.velocity,
            impact.contact,
            impact.impulse,
            impact.state,
            impact.constraint,
            self.before.sums + impact.losses,
            impact.residual,
        )

    def _painleve_jump(self, touching: Touching) -> Step:
        """An impact without collision: all closed contacts count as approaching, and sliding stops where it must."""
        push = 1e-9 * float(np.abs(self.v).max(initial=0.0))
        impact = newton_impact(touching, self.scheme.solver, push=push)
        if np.abs(impact.velocity - self.v).max(initial=0.0) <= 1e-6 * np.abs(self.v).max(initial=0.0):
            raise StepFailed(
                f"At {self.t:.9g} s the contact forces have no solution, and an impact without collision changes "
                f"nothing: use Moreau, or make the contact compliant."
            )
        self.notes["impact without collision"] = (
            f"at {self.t:.9g} s rigid bodies with this friction have no finite acceleration (Painlevé): the velocity "
            f"jumps, as it would in time stepping"
        )
        return self._impact(impact)

    def _written(
        self,
        t: float,
        q: np.ndarray,
        v: np.ndarray,
        contact: np.ndarray,
        impulse: np.ndarray,
        state: np.ndarray,
        constraint: np.ndarray,
        sums: np.ndarray,
        residual: float,
    ) -> Step:
        loaded = np.any(impulse != 0.0, axis=1)
        after = Snapshot(
            step=self.before.step + 1,
            time=t,
            position=q,
            velocity=v,
            contact=contact[loaded].astype(np.int64),
            impulse=impulse[loaded],
            sums=sums,
            memory=self.memory.written(),
        )
        return Step(
            after,
            contact.astype(np.int64),
            impulse,
            np.asarray(state, dtype=np.int8),
            constraint,
            residual,
            self.notes,
        )


class BareStep(PhaseStep):
    """A step whose impulses and works nobody asks for."""

    def _step(self, equations: PhaseEquations, flow: Flow, end: float, q: np.ndarray, v: np.ndarray) -> Step:
        modes = equations.modes
        impulse = np.zeros((len(modes.contact), 1 + equations.d))
        constraint, sums = np.zeros(len(self.system.constraints)), self.before.sums
        return self._written(end, q, v, modes.contact, impulse, _states(modes), constraint, sums, 0.0)


def _states(modes: Modes) -> np.ndarray:
    """STICK, SLIP or OPEN of every contact (k,)."""
    held = np.where(modes.grip == STICKING, STICK, SLIP)
    return np.where(modes.pressed | modes.rough, held, OPEN)
