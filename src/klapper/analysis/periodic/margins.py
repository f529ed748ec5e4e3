"""How far a motion through a given sequence of switches is from having another one.

Every event function of every phase (gaps, normal forces, friction forces short of their limits, sliding speeds) must
stay above zero until the one that ends the phase falls to zero, and that one must fall with some speed. The least of
all these, each in parts of its own size, is the margin: below zero the solution of the equations is no motion. Where
it vanishes, the sequence changes; what vanishes gives the bifurcation its name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.analysis.periodic.passage import Passage
from klapper.schemes.phase_modes import RELEASE, SLIP_BEGINS, STOP, TOUCH
from klapper.schemes.phase_watch import PhaseWatch

GRAZING, GRAZING_SLIDING, ADDING_SLIDING = "grazing", "grazing-sliding", "adding-sliding"
CROSSING_SLIDING, LIFT_OFF = "crossing-sliding", "lift-off"
COINCIDENCE, IMPACT_PATTERN = "events coincide", "impact changes"
_INSIDE = {TOUCH: GRAZING, STOP: GRAZING_SLIDING, SLIP_BEGINS: ADDING_SLIDING, RELEASE: LIFT_OFF}
_PAIRS = {
    (TOUCH, TOUCH): GRAZING,
    (RELEASE, TOUCH): LIFT_OFF,
    (SLIP_BEGINS, STOP): ADDING_SLIDING,
    (STOP, STOP): CROSSING_SLIDING,
}
_BEGINS_AT_ZERO = {(TOUCH, TOUCH), (RELEASE, TOUCH), (STOP, STOP), (SLIP_BEGINS, STOP)}
"""Kinds of a switch and of a function of the same contact that vanishes there by the equations: its value, the residual
of Newton's method, says nothing."""
_AT_START = {TOUCH: GRAZING, STOP: CROSSING_SLIDING, SLIP_BEGINS: CROSSING_SLIDING, RELEASE: LIFT_OFF}

_TOLERANCE, _SLIP_SPEED = 1e-10, 1e-9  # those of the schemes with phases
_PER_PIECE, _FEWEST, _MOST = 12, 32, 4000  # samples of a phase
_NEAR = 0.1  # of the size of a function: minima below are refined
_ROUNDS = 4
_ZERO = 1e-7
_BRIEF = 1e-2  # of the period: flights and slips that are about to vanish
_FOLLOWS = 1e3  # times the noise: functions that are never larger say nothing


@dataclass(frozen=True)
class Margin:
    """``value`` in parts of the size of what it measures, below zero if it is violated.

    ``kind``     name of the bifurcation where it vanishes
    ``contact``  its number, −1 if there is none
    ``switch``   number of the switch that begins the phase, or that is meant itself
    ``time``     [s] at which the value is taken
    ``inside``   whether this is in the course of a phase; otherwise at a switch
    """

    value: float
    kind: str
    contact: int
    switch: int
    time: float
    inside: bool = True


def least_margin(passage: Passage) -> Margin:
    """The least margin of a periodic passage."""
    return min(margins(passage), key=lambda margin: margin.value)


def vanishing_margins(passage: Passage) -> list[Margin]:
    """All margins that count as zero, the least first; the least one if there is none.

    A flight or slip about to vanish comes first: its forces and speeds vanish with the square of its duration, or
    faster, and are the least margins long before.
    """
    found = sorted(margins(passage), key=lambda margin: margin.value)
    vanishing = [margin for margin in found if abs(margin.value) < _ZERO] or found[:1]
    return [margin for margin in _brief(passage) if margin.contact == vanishing[0].contact] + vanishing


def _brief(passage: Passage) -> list[Margin]:
    """Flights and slips so short that they are about to vanish."""
    total, found = float(passage.times[-1] - passage.times[0]), []
    for i, duration in enumerate(np.diff(passage.times)):
        kind = _vanishing(passage, i)
        if kind in (LIFT_OFF, ADDING_SLIDING) and duration < _BRIEF * total:
            begin = float(passage.times[i])
            found.append(
                Margin(float(duration) / total, kind, passage.switches[i].contact, i, begin, inside=False)
            )
    return found


def margins(passage: Passage) -> list[Margin]:
    """The least margins of every function in every phase; of durations alone if one is negative, for then the phases
    are not those of a motion."""
    reversed_phases = np.flatnonzero(np.diff(passage.times) < 0.0)
    if len(reversed_phases):
        return [_duration(passage, int(i)) for i in reversed_phases]
    found: list[Margin] = []
    for i in range(len(passage.switches)):
        found += _of_phase(passage, i) + _of_impacts(passage, i)
    return found


def _of_phase(passage: Passage, i: int) -> list[Margin]:
    """Of the phase that begins with the switch number i."""
    begin, end = float(passage.times[i]), float(passage.times[i + 1])
    after = (i + 1) % len(passage.switches)
    here, next_switch = passage.switches[i], passage.switches[after]
    found = [_duration(passage, i)]
    if end <= begin:
        return found
    course_map = passage.maps.of(passage.switches[i].after)
    flow = course_map.flow(begin, passage.entered[i], end)
    watch = PhaseWatch(course_map.equations, flow, _TOLERANCE, _SLIP_SPEED)
    course = _Course(watch, begin, end, flow.pieces)
    triggered = (next_switch.kind, next_switch.contact)
    for j, (kind, contact) in enumerate(course.meanings):
        size = course.size[j]
        if size <= _FOLLOWS * watch.noise[j]:
            continue
        value, time = course.lowest_inside(j)
        found.append(Margin(value / size, _INSIDE[kind], contact, i, time))
        first, last = course.values[0, j], course.values[-1, j]
        begun = contact == here.contact and (here.kind, kind) in _BEGINS_AT_ZERO
        if abs(first) > watch.noise[j] and not begun:
            found.append(Margin(first / size, _AT_START[kind], contact, i, begin, inside=False))
        if (kind, contact) == (here.kind, here.contact) == (STOP, here.contact):  # slip has turned
            rises = _turned_rate(passage, i) * (end - begin) / size
            found.append(Margin(rises, CROSSING_SLIDING, contact, i, begin, inside=False))
        if (kind, contact) == triggered and not _other_side(course, j, next_switch.side):
            falls = -passage.rates[after] * (end - begin) / size
            found.append(Margin(float(falls), _INSIDE[kind], contact, after, end, inside=False))
        elif abs(last) > watch.noise[j]:
            found.append(Margin(last / size, _INSIDE[kind], contact, i, end))
    return found


def _duration(passage: Passage, i: int) -> Margin:
    """Of the phase that begins with the switch number i, in parts of the period."""
    begin, end = float(passage.times[i]), float(passage.times[i + 1])
    share = (end - begin) / float(passage.times[-1] - passage.times[0])
    return Margin(share, _vanishing(passage, i), passage.switches[i].contact, i, begin, inside=False)


def _turned_rate(passage: Passage, i: int) -> float:
    """How fast the sliding speed grows after a switch in which slip has turned."""
    switch, t, x = passage.switches[i], float(passage.times[i]), passage.entered[i]
    course = passage.maps.of(switch.after)
    speed = switch.trigger(passage.maps, course, t, x)
    return float(speed.by_time + speed.by_state @ course.slope(t, x))


def _vanishing(passage: Passage, i: int) -> str:
    """The name of what happens where no time is left in the phase number i: sticking, a slip or a flight vanishes, or
    two events meet."""
    first, second = passage.switches[i], passage.switches[(i + 1) % len(passage.switches)]
    if first.contact != second.contact:
        return COINCIDENCE
    if (first.kind, second.kind) in _PAIRS:
        return _PAIRS[first.kind, second.kind]
    if (first.kind, second.kind) != (STOP, SLIP_BEGINS):
        return COINCIDENCE
    old, new = (
        modes.sense[modes.contact == first.contact] for modes in (passage.switches[i - 1].after, second.after)
    )
    return GRAZING_SLIDING if np.array_equal(old, new) else CROSSING_SLIDING


class _Course:
    """Event functions sampled over a phase, with the lowest of their inner minima."""

    def __init__(self, watch: PhaseWatch, begin: float, end: float, pieces: int) -> None:
        self._watch = watch
        self.meanings = [(int(kind), int(contact)) for kind, contact in watch.meanings]
        count = int(np.clip(_PER_PIECE * pieces, _FEWEST, _MOST))
        self.times = np.linspace(begin, end, count + 1)
        self.values = self._functions(self.times)
        self.size = np.abs(self.values).max(axis=0, initial=0.0)

    def _functions(self, times: np.ndarray) -> np.ndarray:
        if not self.meanings:
            return np.zeros((len(times), 0))
        values = self._watch.functions(times)
        values[:, : len(self._watch.depth)] -= self._watch.depth
        return values

    def lowest_inside(self, j: int) -> tuple[float, float]:
        """Value and time of the lowest inner minimum; infinite if there is none."""
        f = self.values[:, j]
        inner = 1 + np.flatnonzero((f[1:-1] < f[:-2]) & (f[1:-1] <= f[2:]))
        if inner.size == 0:
            return np.inf, float(self.times[0])
        at = int(inner[np.argmin(f[inner])])
        if f[at] > _NEAR * self.size[j]:
            return float(f[at]), float(self.times[at])
        return self._refined(j, float(self.times[at - 1]), float(self.times[at + 1]))

    def _refined(self, j: int, low: float, high: float) -> tuple[float, float]:
        for _ in range(_ROUNDS):
            times = np.linspace(low, high, 9)
            f = self._functions(times)[:, j]
            at = int(np.clip(np.argmin(f), 1, 7))
            low, high = float(times[at - 1]), float(times[at + 1])
        bend = f[at - 1] - 2.0 * f[at] + f[at + 1]
        slope = 0.5 * (f[at + 1] - f[at - 1])
        if bend <= 0.0:
            return float(f[at]), float(times[at])
        return float(f[at] - 0.5 * slope**2 / bend), float(times[at] - slope / bend * (times[1] - times[0]))


def _other_side(course: _Course, j: int, side: float) -> bool:
    """Of the two functions of a sticking contact, limit − λ_T and limit + λ_T, whether j is not the one on ``side``."""
    kind, contact = course.meanings[j]
    if kind != SLIP_BEGINS:
        return False
    first = course.meanings.index((kind, contact))
    return (j == first) != (side > 0.0)


def _of_impacts(passage: Passage, i: int) -> list[Margin]:
    """That contacts press and slip in the impacts of a switch as its pattern says."""
    t, x, found = float(passage.times[i]), passage.before[i], []
    for impact in passage.switches[i].impacts:
        for contact, value in impact.margins(passage.maps, t, x):
            found.append(Margin(value, IMPACT_PATTERN, contact, i, t, inside=False))
        x = impact.linearised(passage.maps, t, x).value
    return found
