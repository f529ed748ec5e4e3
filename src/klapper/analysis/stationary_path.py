"""The way along a branch of stationary states: piecewise smooth continuation.

While the set of closed contacts stays, the state is given by linear equations. Where a force or a gap reaches zero, the
contacts that are on the verge there are exchanged in all ways; what continues forwards is followed, or, if nothing
does, what leads backwards on another way: a fold. Where the equations of the closed contacts become singular, either
the state stays bounded and other states branch off, or it grows without bound. This is the pivoting that Waltersberger
& Wauer (2005) found to work above the critical speed, without the inverse of K, which does not exist there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from klapper.analysis.stationary_event import Kind, StationaryEvent
from klapper.analysis.stationary_exchange import ADMISSIBLE, VERGE, Exchange, length_of, solved, touches
from klapper.analysis.stationary_family import StationaryFamily
from klapper.analysis.stationary_form import HeldPoint
from klapper.analysis.stationary_search import TOLERANCE, stationary_state
from klapper.analysis.stationary_state import NoStationaryState, StationaryState
from klapper.complementarity import Lemke
from klapper.counting import counted
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem
from klapper.progress import tally_for

_PROBES = (1e-3, 1e-5, 1e-7)  # of a step: how far from an exchange its continuations are looked at
_AT_START = 0.1  # of a step: the same, of a start with contacts on the verge
_LOCATED = 1e-13  # of a step: how well exchanges are located
_ARRIVED = 1e-9  # of a step: nearer to the end than this is there
_BESIDE = (1e-6, 1e-8)  # of a step: where positions are compared to tell a pole from a bounded state
_ROUND_OFF = 1e-9  # of the size of positions and gaps: changes up to it are no growth


@dataclass(frozen=True, eq=False)
class PathPoint:
    """One verified state; ``closed`` (m,) holds it, ``number`` counts the branches."""

    parameter: float
    state: StationaryState
    closed: np.ndarray
    number: int


class Path:
    """One pursuit: where it is, which contacts are closed, in which direction it goes, and what it met."""

    def __init__(
        self,
        family: Callable[[float], LinearSystem],
        start: float,
        end: float,
        *,
        steps: int,
        jump: bool,
        time: float | None,
    ) -> None:
        self.start, self.end, self.time = start, end, time
        self.length = abs(end - start) / steps
        self.family = StationaryFamily(family, start, time, _LOCATED * self.length)
        self.limit = 20 * steps + 1000
        self.jump = jump
        self.sense = 1.0  # +1 towards the end, −1 back to the start
        self.number = 0
        self.points: list[PathPoint] = []
        self.events: list[StationaryEvent] = []
        self.here = start
        self.closed = np.zeros(0, dtype=bool)
        self._at_one_place = 0

    def follow(self, first: StationaryState | None, progress: bool | None) -> bool:
        """Go as far as possible; False if interrupted."""
        self.begin(first)
        steps = round(abs(self.end - self.start) / self.length)
        with tally_for(progress, steps, "steps") as bar:
            try:
                while len(self.points) < self.limit and self.advance():
                    bar.count(round(abs(self.here - self.start) / self.length))
            except KeyboardInterrupt:
                self.note("end", self.here, "interrupted")
                return False
        if len(self.points) >= self.limit:
            self.note("end", self.here, f"{self.limit} points; take fewer steps or a shorter range")
        return True

    @property
    def direction(self) -> float:
        """Sign of the change of the parameter."""
        return self.sense * float(np.sign(self.end - self.start))

    @property
    def last(self) -> float:
        return self.end if self.sense > 0 else self.start

    def at(self, s: float) -> HeldPoint | None:
        """The state at s with the closed contacts; None if their equations are singular."""
        return self.family.held(s, self.closed)

    def note(self, kind: Kind, s: float, name: str = "") -> None:
        self.events.append(StationaryEvent(kind, s, name))

    def begin(self, first: StationaryState | None) -> None:
        """The first state, and contacts that hold it and what follows."""
        problem = self.family.problem(self.start)
        if first is None:
            try:
                first = stationary_state(problem.system, time=self.time)
            except NoStationaryState as error:
                raise NoStationaryState(
                    f"There is no state to start from at {self.start:g}. {error} Or give first, e.g. one of "
                    f"stationary_states(family(start))."
                ) from error
        forces, form = self._forces_of(first), problem.form
        y = np.linalg.lstsq(form.basis, first.position - form.origin, rcond=None)[0]
        exchange = self._exchange(form.point(y, forces / form.force_unit, forces > 0.0), self.start)
        self.closed = exchange.point.closed
        regular = self.at(self.start) is not None
        if not regular:
            self.closed = self._first_closed(exchange)
        if not self.record(self.start):
            raise NoStationaryState(
                f"The state at {self.start:g} cannot be verified: {self.events[-1].name}."
            )
        if regular and len(exchange.verge):
            self.closed = self._first_closed(exchange)

    def _forces_of(self, first: StationaryState) -> np.ndarray:
        """Normal forces (c,) [N] of a state that must be one of the first system."""
        problem = self.family.problem(self.start)
        shapes = (problem.system.size,), (problem.system.contacts.count,)
        fits = isinstance(first, StationaryState) and (first.position.shape, first.gaps.shape) == shapes
        forces = first.forces[problem.contacts, 0] if fits else np.zeros(0)
        if not fits or not problem.residual(first.position, forces) <= TOLERANCE:
            raise InvalidModel(f"first is not a state of rest of family({self.start:g}).")
        return forces

    def _first_closed(self, exchange: Exchange) -> np.ndarray:
        """Contacts that hold what follows from a start with contacts on the verge, or with dependent ones."""
        for probe in (_AT_START, *_PROBES):
            found = exchange.ahead(self.start + self.direction * probe * self.length)
            if found:
                return found[0].closed
        if self.family.held(self.start, exchange.point.closed) is None:
            raise NoStationaryState(
                f"Nothing continues the state at {self.start:g} in the direction of {self.end:g}."
            )
        return exchange.point.closed

    def _exchange(self, point: HeldPoint, place: float) -> Exchange:
        return Exchange(self.family.form, self.family.problem(place).names, place, point)

    def advance(self) -> bool:
        """One step or one event; False at the end."""
        if abs(self.here - self.last) <= _ARRIVED * self.length:
            self.note("end", self.here, "" if self.sense > 0 else "back at the start")
            return False
        target = self.here + self.direction * self.length
        if (target - self.last) * self.direction >= -_ARRIVED * self.length:
            target = self.last
        left = self.here
        for right in (0.5 * (left + target), target):
            singular, right = self.regular_until(left, right)
            place = self.family.crossing(self.closed, left, right)
            if place is not None:
                return self.exchange(place)
            if singular is not None:
                return self.pass_singular(singular)
            left = right
        return self.move(target)

    def regular_until(self, left: float, right: float) -> tuple[float | None, float]:
        """The first singular point of the closed contacts' equations between two parameters, or None, and how far to
        look for exchanges: up to ``right``, or as near to the singular point as needed to find one."""
        first, last = (self.family.form(s).orientation(self.closed) for s in (left, right))
        if self.at(right) is not None and not last.differs(first):
            return None, right
        singular = self.family.singular_point(self.closed, left, right)
        nearest = left
        for share in 10.0 ** -np.arange(1, 10):
            point = self.at(s := singular - share * (singular - left))
            if point is None:
                break
            nearest = s
            if not point.admissible(ADMISSIBLE):
                break
        return singular, nearest

    def exchange(self, place: float) -> bool:
        """Exchange the contacts on the verge at ``place``, and go on forwards, or backwards at a fold."""
        point = self.at(place)
        if point is None:
            return self.resume(place, "its equations are singular where a contact changes")
        stays = abs(place - self.here) <= _LOCATED * self.length
        self._at_one_place = self._at_one_place + 1 if stays else 0
        if not self.move(place):
            return False
        ways = self._exchange(point, place)
        for probe in self._probes():
            s = place + probe * self.length * self.direction
            found = ways.ahead(s) if self._inside(s) else []
            if found:
                return self._go_on(found, place, probe)
        for probe in _PROBES:
            s = place - probe * self.length * self.direction
            found = ways.back(s) if self._inside(s) else []
            if found:
                return self._turn(found, place, probe)
        return self.resume(place, "no contact that changes continues it")

    def _probes(self) -> tuple[float, ...]:
        """Distances at which continuations are looked at, larger ones where the branch did not get on."""
        if self._at_one_place == 0:
            return _PROBES
        return tuple(min(probe * 10.0**self._at_one_place, 0.5) for probe in _PROBES[:1])

    def _go_on(self, found: list[HeldPoint], place: float, probe: float) -> bool:
        if self._at_one_place > 8:
            return self.resume(place, "contacts change back and forth")
        self._name_exchange(found[0], place, probe)
        if len(found) > 1:
            self.note("branching", place, f"{len(found)} states lead on from here")
        self.closed = found[0].closed
        return True

    def _turn(self, found: list[HeldPoint], place: float, probe: float) -> bool:
        self._name_exchange(found[0], place, probe)
        changed = int(np.flatnonzero(found[0].closed != self.closed)[0])
        self.note("fold", place, self.family.problem(place).names[changed])
        if self.jump:
            return self.resume(place, "it turns back")
        self.sense, self.closed = -self.sense, found[0].closed
        return True

    def pass_singular(self, place: float) -> bool:
        """Go past a point where the closed contacts' equations are singular, if the state stays bounded there."""
        far, near = (self.at(place - share * self.length * self.direction) for share in _BESIDE)
        beyond = place + _BESIDE[0] * self.length * self.direction
        if far is None or near is None:
            return self.resume(place, "its equations are singular")
        change = np.abs(near.y - far.y).max(initial=0.0)
        grows = change > 0.01 * np.abs(far.y).max(initial=0.0)
        if grows and change > _ROUND_OFF * length_of(self.family.form(self.here), far):
            self.note("unbounded", place, self._growing(far, near))
            return self.resume(place, "no state is near on the other side")
        self.note("branching", place, self._reached(place, far))
        if (beyond - self.last) * self.direction >= 0.0 or self.at(beyond) is None:
            return self.resume(place, "its equations are singular")
        return self.move(beyond)

    def move(self, s: float) -> bool:
        """Record the state at s, and critical values on the way."""
        self._note_critical(self.here, s)
        self.here = s
        return self.record(s)

    def record(self, s: float) -> bool:
        """Keep the state at s with the closed contacts, if it is verified."""
        point, problem = self.at(s), self.family.problem(s)
        if point is None:
            return self.resume(s, "its equations are singular")
        form = problem.form
        forces = form.physical_forces(np.maximum(point.forces, 0.0))
        state = problem.stationary_state(
            form.position(point.y), forces, convex=form.convex, negative=form.negative(self.closed)
        )
        if not state.residual <= TOLERANCE:
            self.note(
                "end", s, f"the residual {state.residual:.1e} exceeds {TOLERANCE:.0e}; badly conditioned"
            )
            return False
        self.family.reference = max(
            self.family.reference, form.largest(point.y, point.forces)[0] * form.force_scale
        )
        closed = np.zeros(len(self.family.contacts), dtype=bool)
        closed[problem.contacts] = self.closed
        self.points.append(PathPoint(s, state, closed, self.number))
        return True

    def resume(self, place: float, reason: str) -> bool:
        """Look for another state beyond a lost point, ever farther away."""
        self.note("lost", place, reason)
        ahead = _BESIDE[0] * self.length
        while ahead <= abs(self.last - place):
            s = place + ahead * self.direction
            closed = self._other(s)
            if closed is not None:
                self._note_critical(self.here, s)
                self.number += 1
                self.here, self.closed = s, closed
                self.note("resumed", s)
                return self.record(s)
            ahead = 4.0 * ahead if ahead < self.length else ahead + self.length
        self.note("end", place, "no state was found beyond")
        return False

    def _other(self, s: float) -> np.ndarray | None:
        """Contacts that hold some state at s: those of the branch, or what Lemke finds from them, or any solver."""
        point = self.at(s)
        if point is not None and point.admissible(ADMISSIBLE):
            return self.closed
        for solver in (Lemke(basis=self.closed), "auto"):
            found = solved(self.family.form(s), self.family.problem(s).names, self.closed, solver)
            if found is not None:
                return found.closed
        return None

    def _note_critical(self, left: float, right: float) -> None:
        """Note where the number of negative stiffnesses without contacts changes."""
        free = np.zeros(len(self.closed), dtype=bool)
        last = self.family.form(right).orientation(free)
        while (first := self.family.form(left).orientation(free)).differs(last):
            place = self.family.singular_point(free, left, right)
            beside = place + self.direction * _BESIDE[1] * self.length
            beside = beside if (right - beside) * self.direction > 0.0 else right
            count, new = self.family.form(left).negative(free), self.family.form(beside).negative(free)
            words = "beyond it the problem is not convex" if new else "beyond it the problem is convex"
            if count and new:
                words = f"beyond it the stiffness is negative in {counted(new, 'direction')}"
            self.note("critical", place, words)
            if not self.family.form(beside).orientation(free).differs(first):
                break
            left = beside

    def _name_exchange(self, found: HeldPoint, place: float, probe: float) -> None:
        """Note which contacts close, open, take load or lose it."""
        earlier = place - probe * self.length * self.direction
        before = self.at(earlier) if self._inside(earlier) else None
        was, now = self.closed if before is None else touches(before), touches(found)
        for i, name in enumerate(self.family.problem(place).names):
            if now[i] != was[i]:
                self.note("closes" if now[i] else "opens", place, name)
            elif found.closed[i] != self.closed[i]:
                self.note("loads" if found.closed[i] else "unloads", place, name)

    def _growing(self, far: HeldPoint, near: HeldPoint) -> str:
        """The coordinate that grows most."""
        change = self.family.form(self.here).basis @ (near.y - far.y)
        name = self.family.problem(self.here).system.coordinates[int(np.argmax(np.abs(change)))]
        return f"most of all '{name}'"

    def _reached(self, place: float, point: HeldPoint) -> str:
        """Contacts that the states which branch off reach first, on both sides."""
        form = self.family.form(place)
        matrix, _ = form.equations(self.closed)
        mode = np.linalg.svd(matrix)[2][-1]
        forces = np.zeros(len(form.gap))
        forces[self.closed] = mode[form.size :]
        slopes = np.where(self.closed, forces, form.normal.T @ mode[: form.size])
        reached = []
        for sign in (1.0, -1.0):
            falling = np.flatnonzero(sign * slopes < -VERGE)
            if len(falling):
                first = falling[np.argmin(point.margins[falling] / np.abs(slopes[falling]))]
                reached.append(f"'{self.family.problem(place).names[first]}'")
        towards = f"other states leave it, towards {' and '.join(reached)}"
        leaves = towards if reached else "no contact limits what leaves it"
        return f"the stiffness with the closed contacts is singular; {leaves}"

    def _inside(self, s: float) -> bool:
        return min(self.start, self.end) <= s <= max(self.start, self.end)
