"""Steps without inertia: rest under loads and supports that change with time.

    f(t₁, q₁) + J_B λ_B + J_N λ_N + J_T λ_T = 0,   Φ(t₁, q₁) = 0,   0 ≤ g(q₁) ⟂ λ_N ≥ 0

Time orders the loads; velocities are zero. Friction acts on the slip of each step, so that the history of a load
counts. A step that is not solved is done in parts. What is out of balance at the beginning of a run, as under a load
that is there from the start, is let go in these parts bit by bit: halves of a constant load are the same problem again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System
from klapper.schemes.base import Snapshot, Step, StepFailed, registered, snapshot_at_start
from klapper.schemes.consistent_start import require_plain_velocities, require_pressed_contacts
from klapper.schemes.constraint_between import ConstraintStep
from klapper.schemes.contact_rounds import ContactRounds, HardContact
from klapper.schemes.equal_steps import EqualSteps
from klapper.schemes.held_contacts import HeldContacts
from klapper.schemes.implicit_step import Balanced, ImplicitStep, least_size
from klapper.schemes.newton import NewtonIteration, NotConverged, require_newton
from klapper.schemes.settled_step import Settled
from klapper.schemes.work import Work

_SMALLEST = 2.0**-10  # of a step: the smallest part that it is cut into
_MOST = 30  # parts of a step that are not solved; twice what the way down to the smallest and back takes


@registered
@dataclass(frozen=True)
class QuasiStatic(EqualSteps):
    """State of rest after state of rest, with one- and two-sided constraints and friction.

    ``step_size``  [s] of the time that loads and supports depend on
    ``contact``    how contacts are found; what becomes of energy does not matter here
    ``newton``     how the equations of a step are solved

    The system must have a position derivative of its force; what can float freely until it touches needs a support.

    A spring of 4 N/m under a load that grows by 8 N/s, up to a stop at 1 m:

    >>> from klapper.mechanics import Contact, LinearSystem, Ramp
    >>> from klapper.schemes import QuasiStatic
    >>> from klapper.simulation import simulate
    >>> stop = Contact("stop", normal=[-1.0], gap=1.0)
    >>> spring = LinearSystem([1.0], stiffness=[4.0], force=Ramp([0.0], [8.0]), contacts=[stop])
    >>> run = simulate(spring, 1.0, QuasiStatic(0.25))
    >>> run.position[:, 0].round(9), run.contact("stop").force[-1].round(9)
    (array([0. , 0.5, 1. , 1. , 1. ]), array([4.]))
    """

    step_size: float
    contact: HardContact = field(default_factory=HardContact)
    newton: NewtonIteration = field(default_factory=NewtonIteration)

    name = "quasi-static"
    inertia = False
    rebound = "nothing, there are no impacts"

    def __post_init__(self) -> None:
        require_newton(self.newton)
        number(self.step_size, "step_size", "numbers above 0, in s", above=0.0)
        if not isinstance(self.contact, HardContact):
            raise InvalidModel(f"contact is {self.contact!r}; allowed is HardContact(…).")

    def init(self, system: System) -> Snapshot:
        require_plain_velocities(system, self.name)
        if system.contacts.count:
            self.contact.require(system)
            require_pressed_contacts(system, self.name)
        start = snapshot_at_start(system)
        if system.tangents(start.time, start.position, np.zeros_like(start.velocity)).position is None:
            raise InvalidModel(
                f"'{system.name}' has no stiffness, or gives none; {self.name} steps need the derivative of its force "
                f"by position."
            )
        return replace(
            start, velocity=np.zeros_like(start.velocity), memory=np.zeros(len(system.constraints) + 1)
        )

    def step(
        self, system: System, snapshot: Snapshot, until: float = np.inf, work: Work | None = None
    ) -> Step:
        t1 = self.end_of_step(system, snapshot)
        lag = _Lag(np.zeros_like(snapshot.position), snapshot.time, t1)
        try:
            done = _RestAtEnd(self, system, snapshot, t1, lag).done()
        except StepFailed:
            lag = _Lag.of(system, snapshot, t1)
            if not np.any(lag.force) and _lasting(system, snapshot, t1):
                raise
            done = self._in_parts(system, snapshot, t1, lag)
        return replace(done, after=replace(done.after, step=snapshot.step + 1))

    @property
    def settings(self) -> dict[str, Any]:
        return {"step_size": self.step_size, "contact": repr(self.contact), "newton": repr(self.newton)}

    @property
    def citations(self) -> tuple[str, ...]:
        return ("hesch2007",)

    def _in_parts(self, system: System, start: Snapshot, t1: float, lag: _Lag) -> Step:
        """The step to t₁ [s] in parts that are halved where they are not solved.

        They are doubled again after two that were, and after twice as many each time that this failed. Forces are those
        at the end, as of a step that is done at once.
        """
        h, gone, part, failures = t1 - start.time, 0.0, 0.5, 1
        solved, wanted = 0, 2
        done: list[Step] = []
        while gone < 1.0:
            part = min(part, 1.0 - gone)
            before = done[-1].after if done else start
            end = t1 if gone + part == 1.0 else start.time + (gone + part) * h
            try:
                step = _RestAtEnd(self, system, before, end, lag).done()
            except StepFailed as failure:
                grown = bool(done) and solved == 0
                part, failures, solved, wanted = 0.5 * part, failures + 1, 0, wanted * (1 + grown)
                if part < _SMALLEST:
                    raise
                if failures > _MOST:
                    raise StepFailed(
                        f"{failure} {failures} parts of the step from {start.time:.6g} s were not solved, and it "
                        f"was given up: refine meshes where they touch, or use another interface."
                    ) from failure
                continue
            gone += part
            done.append(step)
            solved += 1
            if solved >= wanted:
                part, solved = 2.0 * part, 0
        last, longer = done[-1], h / (done[-1].after.time - before.time)
        return replace(
            last,
            after=replace(last.after, impulse=longer * last.after.impulse),
            impulse=longer * last.impulse,
            constraint=longer * last.constraint,
            residual=max(each.residual for each in done),
            notes={name: note for each in done for name, note in each.notes.items()},
        )


@dataclass(frozen=True)
class _Lag:
    """The ``force`` (n,) [N] out of balance at the ``begin`` of a step [s], which is let go until its ``end`` [s]."""

    force: np.ndarray
    begin: float
    end: float

    @classmethod
    def of(cls, system: System, before: Snapshot, t1: float) -> _Lag:
        """Only a run begins out of balance; steps begin where others ended at rest."""
        force = np.zeros_like(before.velocity)
        if before.step == 0:
            force = np.asarray(system.force(before.time, before.position, force))
        return cls(force, before.time, t1)

    def at(self, t: float) -> np.ndarray:
        """What is still held at the time t [s]."""
        return self.force * ((self.end - t) / (self.end - self.begin))


def _lasting(system: System, before: Snapshot, t1: float) -> bool:
    """Whether loads, supports and surfaces are the same at both ends of a step, so that its parts are, too."""
    rest = np.zeros_like(before.velocity)

    def given(t: float) -> list[np.ndarray]:
        values = [system.force(t, before.position, rest), system.constraint_residuals(t, before.position)]
        if system.contacts.count:
            which = np.arange(system.contacts.count)
            values += [system.gaps(t, before.position, which)]
        return [np.asarray(value) for value in values]

    belts = (
        system.contacts.count
        and system.directions(t1, before.position, np.arange(system.contacts.count)).tangential_rate
    )
    return not np.any(belts) and all(
        np.array_equal(one, other, equal_nan=True)
        for one, other in zip(given(before.time), given(t1), strict=True)
    )


class _Forces:
    """r = −f(t₁, q₁) + what lags.

    Elastic forces are sums of terms of the size of stiffness times position: what is far below these, as where a body
    only moves as a whole, is rounding.
    """

    weight = 1.0

    def __init__(self, system: System, t: float, q0: np.ndarray, lag: np.ndarray) -> None:
        self.system, self.t, self.lag = system, t, lag
        self.rest = np.zeros(len(system.velocities))
        self.least = least_size(self.matrix(q0), q0)

    def residual(self, q1: np.ndarray) -> Balanced:
        force = np.asarray(self.system.force(self.t, q1, self.rest))
        return Balanced(self.lag - force, max(float(np.abs(force).max(initial=0.0)), self.least))

    def matrix(self, q1: np.ndarray) -> Any:
        tangent = self.system.tangents(self.t, q1, self.rest).position
        assert tangent is not None  # asked in init
        return -tangent


class _RestAtEnd:
    """The state of rest at the end of one step."""

    def __init__(self, scheme: QuasiStatic, system: System, before: Snapshot, t1: float, lag: _Lag) -> None:
        self.scheme, self.system, self.before, self.t1 = scheme, system, before, t1
        self.h, self.p = t1 - before.time, len(system.constraints)
        self.constraints = ConstraintStep(system, before.time, t1, before.position, "end")
        self.balance = _Forces(system, t1, before.position, lag.at(t1))

    def done(self) -> Step:
        found = self._solved()
        q1, held = found.equations.split(found.x)
        multipliers = held[: self.p]
        contact, impulse, state = found.loaded(self.system.contacts.tangential, self.h)
        after = Snapshot(
            step=self.before.step + 1,
            time=self.t1,
            position=q1,
            velocity=np.zeros_like(self.before.velocity),
            contact=contact,
            impulse=impulse,
            sums=self.before.sums + self._sums(q1, multipliers, found),
            memory=np.append(multipliers, float(found.rounds)),
        )
        return Step(after, contact, impulse, state, self.h * multipliers, found.residual, found.notes)

    def _solved(self) -> Settled:
        rounds = ContactRounds(
            self.scheme.contact,
            self.system,
            self.before,
            self.h,
            self.t1,
            "end",
            self.scheme.newton,
            self._equations,
        )
        try:
            return rounds.settle(self.before.position.copy(), self.before.memory[: self.p])
        except NotConverged as failure:
            raise StepFailed(
                f"at {self.t1:.6g} s no state of rest was found: {failure}. {self._advice(rounds.lost)}"
            ) from failure

    def _advice(self, lost: np.ndarray) -> str:
        if not len(lost):
            return "Use smaller steps of the load, or support what can move freely."
        names = ", ".join(f"'{self.system.contacts.name(int(i))}'" for i in lost[:3])
        return (
            f"Contact {names} carried a force and has left the end of the other surface, whose nodes nothing holds: "
            f"use finer meshes, a mortar interface, or a longer surface."
        )

    def _equations(self, contacts: HeldContacts) -> ImplicitStep:
        return ImplicitStep(self.balance, [self.constraints, contacts])

    def _sums(self, q1: np.ndarray, multipliers: np.ndarray, found: Settled) -> np.ndarray:
        """loads, damping, friction, impact, numerical [J]; loads and moving supports by the mean of both ends."""
        system, h, before = self.system, self.h, self.before
        rate = (q1 - before.position) / h
        load = 0.5 * sum(
            system.powers(t, q, rate)[0] for t, q in ((before.time, before.position), (self.t1, q1))
        )
        work = h * load + found.belts()
        if self.p:
            moved = system.constraint_directions(0.5 * (before.time + self.t1), q1)[1]
            work -= h * 0.5 * float((before.memory[: self.p] + multipliers) @ moved)
        friction = found.friction(q1)
        gained = system.potential(q1) - system.potential(before.position)
        return np.array([work, 0.0, friction, 0.0, work - friction - gained])
