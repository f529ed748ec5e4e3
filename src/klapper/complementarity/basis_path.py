"""Paths of solutions of a complementarity problem along a parameter: pieces of equal closed contacts, and what lies
between them.

    0 ≤ λ ⟂ g ≥ 0,   M(s) [y, λ] + q(s) = (0, g)

On a piece the solution is a smooth curve over the parameter, u = u(s), which :func:`klapper.algebra.follow_curve`
follows to one of these edges: a force or a gap that vanishes, singular equations of the closed contacts, growth without
bound. Where a force or a gap reaches zero, the contacts that are on the verge there are exchanged in all ways; what
continues forwards is followed, or, if nothing does, what leads backwards on another way: a fold. Where the equations of
the closed contacts become singular, either the solution stays bounded and others branch off, or it grows without bound.
This is the pivoting that Waltersberger & Wauer (2005) found to work above the critical speed, without the inverse of K,
which does not exist there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from scipy.optimize import brentq

from klapper.algebra import Curve, NoCurve, StepRefused, follow_curve
from klapper.complementarity.basis_exchange import ADMISSIBLE, VERGE, Exchange, solved, touches
from klapper.complementarity.basis_point import BasisForm, HeldPoint
from klapper.complementarity.lemke import Lemke

_PROBES = (1e-3, 1e-5, 1e-7)  # of a step: how far from an exchange its continuations are looked at
_AT_START = 0.1  # of a step: the same, of a start with contacts on the verge
_LOCATED = 1e-13  # of a step: how well places are located
_SAME_PLACE = 1e-8  # of a step: changes of contact nearer to each other are one
_ARRIVED = 1e-9  # of a step: nearer to the end than this is there
_BESIDE = (1e-6, 1e-8)  # of a step: where solutions are compared to tell a pole from a bounded one
_ROUND_OFF = 1e-9  # of the size of positions and gaps: changes up to it are no growth
_SLOPE = 1e-5  # of a step: distance of the differences that give the direction of a path
_CLOSE, _STEEP = 1e-3, 1e-9  # the same beside a pole: of the distance from it; and the least of a step
_FIRST = 0.25  # of the longest step: the first one of a piece
_SMALLEST = 1e-9  # the same: where it is refused, the path is lost
_GROWTH = 1e3  # of its size at the begin of a piece: a solution that exceeds it may have a pole ahead
_OPPOSITE = -0.9  # cosine between solutions before and behind a pole
_FADES = 1e-3  # of a step: how long what was zero at the begin of a piece is taken for positive
_AT_POLE = 1e-4  # of a step: a solution that would grow without bound so near has a pole there
PathKind = Literal[
    "closes",
    "opens",
    "loads",
    "unloads",
    "fold",
    "critical",
    "branching",
    "unbounded",
    "lost",
    "resumed",
    "end",
]
_SINGULAR, _LARGE, _POLE = "singular", "large", "pole"


class BasisFamily(Protocol):
    """Problems over a parameter, all with the same contacts.

    ``poles``  whether they may be infinite somewhere, e.g. where the stiffness is singular whose inverse they hold
    ``word``   for one solution
    """

    poles: bool
    word: str

    def form(self, s: float) -> BasisForm:
        """The problem at s; raises :class:`klapper.algebra.StepRefused` where there is none."""

    def names(self, s: float) -> tuple[str, ...]:
        """Of the contacts (c,)."""

    def course(self, point: HeldPoint) -> tuple[np.ndarray, ...]:
        """What moves on a path, by groups of one unit each, smoothly with s. It must show where a solution grows
        without bound; forces of nearly dependent contacts, which are known to few digits, should stay out of it."""

    def keep(self, s: float, point: HeldPoint, number: int) -> str:
        """Keep a solution of the branch with this number if it is verified; else why not."""

    def passed(self, left: float, right: float) -> Iterable[tuple[float, str]]:
        """Critical parameters between two of a path, with words for them."""

    def growing(self, s: float, change: np.ndarray) -> str:
        """Words for what grows most at a pole, by the change of y."""


@dataclass(eq=False)
class BasisPath:
    """One pursuit: where it is, which contacts are closed, in which direction it goes, and what it met.

    ``events``  kind, parameter, and a name or words; ``count`` is told the number of steps done
    """

    family: BasisFamily
    start: float
    end: float
    steps: int
    jump: bool
    sense: float = 1.0  # +1 towards the end, −1 back to the start
    number: int = 0
    points: int = 0
    events: list[tuple[PathKind, float, str]] = field(default_factory=list)
    count: Callable[[int], None] = lambda done: None

    def __post_init__(self) -> None:
        self.length = abs(self.end - self.start) / self.steps
        self.limit = 20 * self.steps + 1000
        self.here = self.start
        self.closed = np.zeros(0, dtype=bool)
        self.interrupted = False
        self._refused = ""
        self._changes: list[tuple[float, float, bytes]] = []
        self._at_one_place = 0

    def follow(self) -> None:
        """Go as far as possible, from where :meth:`begin` has left it."""
        try:
            while self.points < self.limit and self._piece():
                pass
        except KeyboardInterrupt:
            self.interrupted = True
        if self.interrupted:
            self.note("end", self.here, "interrupted")
        elif self.points >= self.limit:
            self.note("end", self.here, f"{self.limit} points; take fewer steps or a shorter range")

    @property
    def direction(self) -> float:
        """Sign of the change of the parameter."""
        return self.sense * float(np.sign(self.end - self.start))

    @property
    def last(self) -> float:
        return self.end if self.sense > 0 else self.start

    def at(self, s: float) -> HeldPoint | None:
        """The solution at s with the closed contacts; None if their equations are singular, or there are none."""
        try:
            return self.family.form(s).held(self.closed)
        except StepRefused:
            return None

    def note(self, kind: PathKind, s: float, name: str = "") -> None:
        self.events.append((kind, s, name))

    def begin(self, point: HeldPoint) -> str:
        """Contacts that hold the first solution and what follows; why there are none, if so."""
        exchange = self._exchange(point, self.start)
        self.closed = point.closed
        regular = self.at(self.start) is not None
        if not regular:
            lost = self._first_closed(exchange)
            if lost:
                return lost
        if not self._record(self.start):
            return f"it cannot be verified: {self.events[-1][2]}"
        return self._first_closed(exchange) if regular and len(exchange.verge) else ""

    def _first_closed(self, exchange: Exchange) -> str:
        """Take contacts that hold what follows from a start with contacts on the verge, or with dependent ones."""
        for probe in (_AT_START, *_PROBES):
            found = self._ways(exchange.ahead, self.start + self.direction * probe * self.length)
            if found:
                self.closed = found[0].closed
                return ""
        if self.at(self.start) is None:
            return f"nothing continues it in the direction of {self.end:g}"
        return ""

    def _exchange(self, point: HeldPoint, place: float, contact: int | None = None) -> Exchange:
        return Exchange(self.family.form, self.family.names(place), place, point, contact)

    def _ways(self, look: Callable[[float], list[HeldPoint]], s: float) -> list[HeldPoint]:
        if not min(self.start, self.end) <= s <= max(self.start, self.end):
            return []
        try:
            return look(s)
        except StepRefused:
            return []

    # -- one piece

    def _piece(self) -> bool:
        """Follow the closed contacts as far as they go, and find what continues there; False at the end."""
        if abs(self.here - self.last) <= _ARRIVED * self.length:
            self.note("end", self.here, "" if self.sense > 0 else "back at the start")
            return False
        try:
            curve = self._followed()
        except (NoCurve, StepRefused) as error:
            return self._resume(self.here, str(error))
        if curve.end == "interrupted":
            self.interrupted = True
            return False
        if curve.end == "stopped":
            return not self._refused
        if curve.end == "edge":
            edge = curve.special[-1]
            place = edge.parameter
            if edge.kind in (_SINGULAR, _POLE):
                return self._pass_singular(place, edge.kind)
            if edge.kind == _LARGE:
                return self._move(place) and self._beside_pole(place)
            return self._change(place, int(edge.kind))
        if curve.end in ("low", "high", "most"):
            return True
        return self._resume(self.here, self._why_stuck(curve))

    def _why_stuck(self, curve: Curve) -> str:
        return "it cannot be followed any further: " + curve.ended

    def _followed(self) -> Curve:
        """The curve of the closed contacts, from here to an edge."""
        course = self._course()
        first = course.point(self.here)
        u = course.value(self.here)
        size = self._size(course, u)
        return follow_curve(
            course,
            np.append(u, self.here),
            direction=self.direction,
            low=min(self.start, self.end),
            high=max(self.start, self.end),
            step=_FIRST,
            smallest=_SMALLEST,
            largest=1.0,
            scale=lambda x: np.append(np.maximum(size, course.sizes(x[:-1])), self.length),
            graph=True,
            edges=self._edges(course, first, size),
            stop=self._arrived,
            most=self.limit,
        )

    def _course(self) -> _Course:
        low, high = min(self.start, self.end), max(self.start, self.end)
        point = self.at(self.here)
        if point is None:
            raise StepRefused("its equations are singular")
        groups = tuple(len(group) for group in self.family.course(point))
        return _Course(self.family, self.closed, self.length, low, high, self.direction, groups)

    def _size(self, course: _Course, u: np.ndarray) -> np.ndarray:
        """Sizes of what moves on a piece, by its begin; where that is as good as zero, by the change in one step.

        The change is that of the slope, and over the whole step where the slope is none: what grows with the square of
        the parameter has none at zero, and is round-off there. Beside a pole the slope is steep.
        """
        size, change = course.sizes(u), course.sizes(course.slope(self.here)) * self.length
        ahead, far = float(np.clip(self.here + self.direction * self.length, course.low, course.high)), change
        with suppress(StepRefused):
            far = np.maximum(change, course.sizes(course.value(ahead) - u))
        flat = (change <= size) & (size < _AT_POLE * far)
        size = np.where((size < _AT_POLE * change) | flat, far, size)
        return np.where(size > 0.0, size, 1.0)

    def _edges(
        self, course: _Course, first: HeldPoint, size: np.ndarray
    ) -> dict[str, Callable[[np.ndarray], float]]:
        """Functions that are positive on a piece: margins, regularity, and what is left of its largest size."""
        shares = _shares(first)  # what is zero at the begin may not be taken for an edge
        slack = np.where(shares <= VERGE, ADMISSIBLE - np.minimum(shares, 0.0), 0.0)
        here = self.here

        def margin(contact: int) -> Callable[[np.ndarray], float]:
            def share(x: np.ndarray) -> float:
                gone = abs(float(x[-1]) - here) / (_FADES * self.length)
                left = slack[contact] * max(1.0 - gone, 0.0)
                return float(_shares(course.point(float(x[-1])))[contact] + left)

            return share

        edges = {str(i): margin(i) for i in range(len(shares))}
        edges[_SINGULAR] = self._regular(self.closed)
        if self.family.poles:  # those of all contacts closed
            edges[_POLE] = self._regular(np.ones(len(self.closed), dtype=bool))
        edges[_LARGE] = lambda x: 1.0 - float(np.max(np.abs(x[:-1]) / size, initial=0.0)) / _GROWTH
        return edges

    def _regular(self, closed: np.ndarray) -> Callable[[np.ndarray], float]:
        since = self.family.form(self._inward(self.here)).orientation(closed)
        return lambda x: self.family.form(float(x[-1])).regularity(closed, since)

    def _inward(self, s: float) -> float:
        """A little ahead, where equations that are singular here are not."""
        return s + self.direction * _BESIDE[1] * self.length

    def _arrived(self, x: np.ndarray) -> bool:
        """Keep a new point; True if that fails."""
        return not self._move(float(x[-1]))

    def _move(self, s: float) -> bool:
        """Keep the solution at s, and note critical values on the way."""
        self._note_critical(self.here, s)
        self._at_one_place = self._at_one_place if abs(s - self.here) <= _LOCATED * self.length else 0
        self.here = s
        return self._record(s)

    def _record(self, s: float) -> bool:
        point = self.at(s)
        self._refused = "its equations are singular" if point is None else ""
        if point is not None:
            self._refused = self.family.keep(s, point, self.number)
        if self._refused:
            self.note("end", s, self._refused)
            return False
        self.points += 1
        self.count(round(abs(s - self.start) / self.length))
        return True

    def _note_critical(self, left: float, right: float) -> None:
        for place, words in self.family.passed(left, right):
            self.note("critical", place, words)

    # -- between pieces

    def _change(self, place: float, contact: int) -> bool:
        """Exchange the contacts on the verge at ``place``, among them that with this number, and go on forwards, or
        backwards at a fold."""
        point = self.at(place)
        if point is None:
            return self._resume(place, "its equations are singular where a contact changes")
        if self._was_here(place):
            self.note("end", place, f"it comes back to a {self.family.word} that it has passed")
            return False
        stays = abs(place - self.here) <= _LOCATED * self.length
        count = self._at_one_place + 1 if stays else 0
        if not self._move(place):
            return False
        self._at_one_place = count
        ways = self._exchange(point, place, contact)
        for probe in self._probes():
            found = self._ways(ways.ahead, place + probe * self.length * self.direction)
            if found:
                return self._go_on(found, place, probe)
        for probe in _PROBES:
            found = self._ways(ways.back, place - probe * self.length * self.direction)
            if found:
                return self._turn(found, place, probe)
        return self._resume(place, "no contact that changes continues it")

    def _was_here(self, place: float) -> bool:
        """Whether these contacts have ended here before in the same direction."""
        now = self.direction, self.closed.tobytes()
        found = any(
            (way, closed) == now and abs(before - place) <= _SAME_PLACE * self.length
            for before, way, closed in self._changes
        )
        self._changes.append((place, *now))
        return found and self._at_one_place == 0

    def _probes(self) -> tuple[float, ...]:
        """Distances at which continuations are looked at, larger ones where the path did not get on."""
        if self._at_one_place == 0:
            return _PROBES
        return tuple(min(probe * 10.0**self._at_one_place, 0.5) for probe in _PROBES[:1])

    def _go_on(self, found: list[HeldPoint], place: float, probe: float) -> bool:
        if self._at_one_place > 8:
            return self._resume(place, "contacts change back and forth")
        self._name_exchange(found[0], place, probe)
        if len(found) > 1:
            self.note("branching", place, f"{len(found)} {self.family.word}s lead on from here")
        self.closed = found[0].closed
        if self.at(place) is None:  # dependent contacts: held just beyond the place only
            return self._move(place + probe * self.length * self.direction)
        return True

    def _turn(self, found: list[HeldPoint], place: float, probe: float) -> bool:
        self._name_exchange(found[0], place, probe)
        changed = int(np.flatnonzero(found[0].closed != self.closed)[0])
        self.note("fold", place, self.family.names(place)[changed])
        if self.jump:
            return self._resume(place, "it turns back")
        self.sense, self.closed = -self.sense, found[0].closed
        return True

    def _name_exchange(self, found: HeldPoint, place: float, probe: float) -> None:
        """Note which contacts close, open, take load or lose it."""
        earlier = self._ways(self._held_list, place - probe * self.length * self.direction)
        was, now = (touches(earlier[0]) if earlier else self.closed), touches(found)
        for i, name in enumerate(self.family.names(place)):
            if now[i] != was[i]:
                self.note("closes" if now[i] else "opens", place, name)
            elif found.closed[i] != self.closed[i]:
                self.note("loads" if found.closed[i] else "unloads", place, name)

    def _held_list(self, s: float) -> list[HeldPoint]:
        point = self.at(s)
        return [] if point is None else [point]

    def _pass_singular(self, place: float, kind: str) -> bool:
        """Go past a point where the closed contacts' equations are singular, or the problems have a pole, if the
        solution stays bounded there."""
        far, near = (self.at(place - share * self.length * self.direction) for share in _BESIDE)
        beyond = place + _BESIDE[0] * self.length * self.direction
        if far is None or near is None:
            return self._resume(place, "its equations are singular")
        change = np.abs(near.y - far.y).max(initial=0.0)
        grows = change > 0.01 * np.abs(far.y).max(initial=0.0)
        if grows and change > _ROUND_OFF * self.family.form(self.here).reach(far):
            return self._lose(place, near.y - far.y)
        if kind == _SINGULAR:
            self.note("branching", place, self._reached(place, far))
        if (beyond - self.last) * self.direction >= 0.0 or self.at(beyond) is None:
            return self._resume(place, "its equations are singular")
        return self._move(beyond)

    def _beside_pole(self, place: float) -> bool:
        """Tell a pole ahead from mere growth: behind a simple pole the solution is the opposite one, and at every pole
        the distance at which it would be infinite vanishes."""
        course = self._course()
        u, slope = course.value(place), course.slope(place)
        size = float(np.linalg.norm(u))
        distance = size / float(np.linalg.norm(slope)) * self.direction

        def along(s: float) -> float:
            try:
                return size * size / float(course.value(s) @ u)
            except (StepRefused, ZeroDivisionError):
                return 0.0

        pole = place + distance if abs(distance) < _AT_POLE * self.length else None
        try:
            there = course.value(place + 2.0 * distance)
            if there @ u < _OPPOSITE * np.linalg.norm(there) * size:
                pole = float(brentq(along, place, place + 2.0 * distance, xtol=_LOCATED * self.length))
        except StepRefused:
            pass
        near = pole is not None and abs(pole - place) < _AT_POLE * self.length
        if pole is None or (not near and self._changes_before(pole)):
            return True
        return self._lose(pole, course.point(place).y)

    def _changes_before(self, pole: float) -> bool:
        """Whether a contact changes between here and a pole."""
        for share in 10.0 ** -np.arange(1, 6):
            point = self.at(pole - share * (pole - self.here))
            if point is not None and not point.admissible(ADMISSIBLE):
                return True
        return False

    def _lose(self, place: float, change: np.ndarray) -> bool:
        self.note("unbounded", place, self.family.growing(self.here, change))
        return self._resume(
            place, f"it grows without bound, and no {self.family.word} is near on the other side"
        )

    def _resume(self, place: float, reason: str) -> bool:
        """Look for another solution beyond a lost point, ever farther away."""
        self.note("lost", place, reason)
        ahead = _BESIDE[0] * self.length
        while ahead <= abs(self.last - place):
            s = place + ahead * self.direction
            closed = self._other(s)
            if closed is not None:
                self._note_critical(self.here, s)
                self.number += 1
                self.here, self.closed = s, closed
                if self._record(s):
                    self.note("resumed", s)
                    return True
                return False
            ahead = 4.0 * ahead if ahead < self.length else ahead + self.length
        self.note("end", place, f"no {self.family.word} was found beyond")
        return False

    def _other(self, s: float) -> np.ndarray | None:
        """Contacts that hold some solution at s: those of the path, or what Lemke finds from them, or any solver."""
        point = self.at(s)
        if point is not None and point.admissible(ADMISSIBLE):
            return self.closed
        try:
            form = self.family.form(s)
        except StepRefused:
            return None
        for solver in (Lemke(basis=self.closed), "auto"):
            found = solved(form, self.family.names(s), self.closed, solver)
            if found is not None:
                return found.closed
        return None

    def _reached(self, place: float, point: HeldPoint) -> str:
        """Contacts that the solutions which branch off reach first, on both sides."""
        slopes = self.family.form(place).crossing(self.closed)
        reached = []
        for sign in (1.0, -1.0):
            falling = np.flatnonzero(sign * slopes < -VERGE)
            if len(falling):
                first = falling[np.argmin(point.margins[falling] / np.abs(slopes[falling]))]
                reached.append(f"'{self.family.names(place)[first]}'")
        towards = f"other {self.family.word}s leave it, towards {' and '.join(reached)}"
        leaves = towards if reached else "no contact limits what leaves it"
        return f"the stiffness with the closed contacts is singular; {leaves}"


@dataclass(frozen=True, eq=False)
class _Course:
    """A piece as a curve u − u(s) = 0, with u of :meth:`BasisFamily.course`."""

    family: BasisFamily
    closed: np.ndarray
    length: float
    low: float
    high: float
    direction: float
    groups: tuple[int, ...]

    def point(self, s: float) -> HeldPoint:
        point = self.family.form(s).held(self.closed)
        if point is None:
            raise StepRefused("its equations are singular")
        return point

    def value(self, s: float) -> np.ndarray:
        return np.concatenate(self.family.course(self.point(s)))

    def slope(self, s: float) -> np.ndarray:
        """du/ds by a difference backwards, as far as there is a piece; over a small part of the distance at which u
        would be infinite."""
        here = self.value(s)
        slope = self._slope(s, here, _SLOPE * self.length)
        size, rate = np.abs(here).max(initial=0.0), np.abs(slope).max(initial=0.0)
        if size > 0.0 and size * _CLOSE < rate * _SLOPE * self.length:
            return self._slope(s, here, max(_CLOSE * size / rate, _STEEP * self.length))
        return slope

    def _slope(self, s: float, here: np.ndarray, share: float) -> np.ndarray:
        back = -share * self.direction
        step = back if self.low <= s + back <= self.high else -back
        try:
            return (self.value(s + step) - here) / step
        except StepRefused:
            return (self.value(s - step) - here) / -step

    def sizes(self, u: np.ndarray) -> np.ndarray:
        """The largest of each group, for each of its members."""
        ends = np.cumsum(self.groups)[:-1]
        return np.concatenate([np.full(len(g), np.abs(g).max(initial=0.0)) for g in np.split(u, ends)])

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        s = float(x[-1])
        return x[:-1] - self.value(s), np.column_stack([np.eye(len(x) - 1), -self.slope(s)])


def _shares(point: HeldPoint) -> np.ndarray:
    """Margins (c,) in parts of the largest force and gap."""
    return point.margins / np.where(point.sizes > 0.0, point.sizes, 1.0)
