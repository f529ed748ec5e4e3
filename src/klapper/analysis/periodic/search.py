"""``periodic_motion``: a periodic motion near a start, by shooting.

    motion = periodic_motion(system)

The motion is simulated for some periods; the sequence of events of the last one is kept, and Newton's method solves
for its times and state. What it finds must have these events when it is integrated; if it has others, they are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from klapper.analysis.periodic.drifting import drifting_numbers
from klapper.analysis.periodic.flow_map import require_phased, scheme_for
from klapper.analysis.periodic.forcing import forcing_period
from klapper.analysis.periodic.motion import PeriodicMotion
from klapper.analysis.periodic.shooting import (
    NotConverged,
    Shooting,
    shooting_from,
    solved,
    without_events,
)
from klapper.analysis.periodic.switch import switches_of
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import State, System, require_system
from klapper.schemes.base import StepFailed
from klapper.schemes.phase_map import PhaseMaps
from klapper.schemes.phase_record import Phase, record_phases
from klapper.schemes.phases import Phased

_ATTEMPTS = 8
_LOOK = 3.2  # rough periods in which a motion without forcing must return
_TRUE = -1e-8  # margins below are violations
_CLOSED = 1e-6  # misses by integration up to which a motion counts as the one that was found


class NoPeriodicMotion(RuntimeError):
    """No periodic motion was found near the start; the text says why, and what to try.

    >>> from klapper.analysis import periodic_motion
    >>> from klapper.mechanics import LinearSystem
    >>> falling = LinearSystem([1.0], force=[-1.0])
    >>> periodic_motion(falling, period=1.0, settle=1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    klapper.analysis.periodic.search.NoPeriodicMotion: No periodic motion of 'linear system' was found ...
    """


def periodic_motion(
    system: System,
    start: Any = None,
    *,
    period: float | None = None,
    order: int = 1,
    settle: int | None = None,
    drifting: Sequence[str] = (),
    scheme: Phased | None = None,
    tolerance: float = 1e-11,
) -> PeriodicMotion:
    """A periodic motion of ``system``.

    ``start``      a state to begin with: a :class:`~klapper.mechanics.State`, a motion or a run (its last state);
                   default: the start of the system
    ``period``     [s]: of the forcing, where it cannot be read off the system. Where nothing depends on time: about the
                   period of the motion, which is found
    ``order``      periods of the forcing in one period of the motion
    ``settle``     periods that are simulated first; default 20 without a start, none with one. A motion that repels is
                   found only from a start nearby
    ``drifting``   names of coordinates that need not return, since nothing depends on them: the motion goes on in them
                   by the same :attr:`~PeriodicMotion.drift` in every period
    ``scheme``     PiecewiseExact or EventDriven with Newton's law of impact; default: the first one if it can treat the
                   system
    ``tolerance``  of the last correction, relative to the size of the motion

    >>> from klapper.analysis import periodic_motion
    >>> from klapper.mechanics import Contact, Harmonic, LinearSystem
    >>> stop = Contact("stop", normal=[-1.0], restitution=0.8)
    >>> driven = LinearSystem([1.0], stiffness=[1.0], damping=[0.1], force=Harmonic([1.0], 2.2), contacts=[stop])
    >>> motion = periodic_motion(driven)
    >>> motion.stable, [event.kind for event in motion.events]
    (True, ['impact'])
    """
    require_system(system)
    scheme = scheme_for(system) if scheme is None else require_phased(scheme)
    if not (isinstance(order, int | np.integer) and order >= 1):
        raise InvalidModel(f"order is {order!r}; allowed are whole numbers from 1 on.")
    forcing = _forcing(system, period)
    if forcing is None and period is None:
        raise InvalidModel(
            f"nothing in '{system.name}' depends on time, so its period is to be found; give about how long it is as "
            f"period, in s."
        )
    length = (
        order * forcing
        if forcing is not None
        else number(period, "period", "numbers above 0, in s", above=0.0)
    )
    close = number(tolerance, "tolerance", "numbers above 0", above=0.0)
    search = MotionSearch(system, scheme, forcing, length, close, drifting_numbers(system, drifting))
    begin = _state(start, system)
    rounds = (20 if start is None else 0) if settle is None else settle
    if not (isinstance(rounds, int | np.integer) and rounds >= 0):
        raise InvalidModel(f"settle is {settle!r}; allowed are whole numbers of periods from 0 on.")
    return search.found(search.settled(begin, int(rounds)))


def _forcing(system: System, period: float | None) -> float | None:
    """The period [s] of the forcing, read off or given."""
    given = None if period is None else number(period, "period", "numbers above 0, in s", above=0.0)
    try:
        read = forcing_period(system)
    except InvalidModel:
        if given is None:
            raise
        return given
    if read is None or given is None:
        return read
    turns = given / read
    if abs(turns - round(turns)) > 1e-9 * turns or round(turns) < 1:
        raise InvalidModel(
            f"period is {given:.10g} s; the forcing has {read:.10g} s: give a multiple of it, or only the order."
        )
    return given


def _state(start: Any, system: System) -> State:
    if start is None:
        return system.start
    if isinstance(start, State):
        return start
    if isinstance(start, PeriodicMotion):
        return start.start
    if hasattr(start, "final"):
        time, position, velocity = start.final
        return State(time, position, velocity)
    raise InvalidModel(f"start is {start!r}; give a State, a periodic motion or a run.")


class MotionSearch:
    """From simulations to equations to a motion; ``period`` [s] is that of the motion, about so without a forcing."""

    def __init__(
        self,
        system: System,
        scheme: Phased,
        forcing: float | None,
        period: float,
        tolerance: float,
        drifting: tuple[int, ...] = (),
    ) -> None:
        self.system, self.scheme, self.forcing = system, scheme, forcing
        self.period, self.tolerance, self.drifting = period, tolerance, drifting
        self.maps = PhaseMaps(system)

    def settled(self, state: State, periods: int) -> State:
        """The state after some periods, at a time not long after the start."""
        for _ in range(periods):
            state = self._shifted(self._end(state, self.period))
        return self._shifted(state)

    def found(self, state: State, *, attempts: int = _ATTEMPTS) -> PeriodicMotion:
        """A periodic motion near that from a state."""
        why = "the motion does not return"
        for _ in range(attempts):
            try:
                for shooting, u in self._guesses(state):
                    u, passage = solved(shooting, self.maps, u, self.period, self.tolerance)
                    motion = PeriodicMotion.of(passage, self.forcing, shooting, u, self.scheme)
                    if motion.margin.value > _TRUE and motion.residual < _CLOSED:
                        return self._shortest(motion)
                    why = "what Newton's method finds has other events when it is integrated"
                    state = motion.start
            except (NotConverged, StepFailed) as error:
                why = str(error)
            state = self._shifted(self._end(state, self.period))
        raise NoPeriodicMotion(
            f"No periodic motion of '{self.system.name}' was found near the start in {attempts} attempts: {why}. Give "
            f"a better start, another order, or simulate longer first (settle)."
        )

    def _shortest(self, motion: PeriodicMotion) -> PeriodicMotion:
        """The same motion with the shortest period of which its own is a multiple."""
        passage, shooting, size = motion.passage, motion.shooting, len(motion.passage.end)
        turns = len(shooting.switches) if self.forcing is None else round(motion.period / self.forcing)
        scale = shooting.scale(motion.unknowns, passage, motion.period)[:size]
        for parts in range(turns, 1, -1):
            if turns % parts or not shooting.repeats(parts):
                continue
            period = motion.period / parts
            short = shooting.part(parts)
            u = short.unknowns(motion.unknowns[:size], passage.times[: len(short.switches)], period)
            try:
                u, reached = solved(short, self.maps, u, period, self.tolerance)
            except NotConverged:
                continue
            if np.abs((u[:size] - motion.unknowns[:size]) / scale).max() < _CLOSED:
                return PeriodicMotion.of(reached, self.forcing, short, u, self.scheme)
        return motion

    def _recorded(self, state: State, duration: float) -> list[Phase]:
        try:
            return record_phases(self.system, self.scheme, state, state.time + duration)
        except StepFailed as error:
            raise NoPeriodicMotion(f"The motion that was to lead to a periodic one fails. {error}") from error

    def _end(self, state: State, duration: float) -> State:
        phases = self._recorded(state, duration)
        n = len(phases[-1].after) // 2
        return State(phases[-1].end, phases[-1].after[:n], phases[-1].after[n:])

    def _shifted(self, state: State) -> State:
        """The same state at a time within the first period, with what may drift at 0."""
        begin = self.system.start.time
        time = begin if self.forcing is None else begin + (state.time - begin) % self.forcing
        position = state.position.copy()
        position[list(self.drifting)] = 0.0
        return State(time, position, state.velocity)

    def _guesses(self, state: State) -> Iterator[tuple[Shooting, np.ndarray]]:
        """Equations with a first guess, from one period of simulation."""
        if self.forcing is None:
            yield from self._returning(self._recorded(state, _LOOK * self.period))
            return
        phases = self._recorded(state, self.period)
        longest = max(phases, key=lambda phase: phase.end - phase.begin)
        middle = 0.5 * (longest.begin + longest.end)
        moved = self._end(state, middle - state.time) if middle > state.time else state
        phases = self._recorded(moved, self.period)
        made = shooting_from(self.maps, phases, self.period, forced=True, drifting=self.drifting)
        if made is not None:
            yield made

    def _returning(self, phases: list[Phase]) -> Iterator[tuple[Shooting, np.ndarray]]:
        """Without a forcing: from one switch to its best repetition."""
        switches = switches_of(self.maps, phases)
        if len(phases) == 1:
            yield self._closing(phases[0])
            return
        size = np.abs(np.array([phase.before for phase in phases])).max(axis=0)
        size = np.where(size > 0.0, size, 1.0)
        size[list(self.drifting)] = np.inf
        again = [
            (float(np.abs((phases[j].before - phases[1].before) / size).max()), j)
            for j in range(2, len(phases))
            if switches[j].same_as(switches[1])
        ]
        if not again:
            return
        nearest = min(again)[0]
        last = next(j for miss, j in again if miss <= max(2.0 * nearest, 1e-3))
        times = np.array([phase.begin for phase in phases[1 : last + 1]])
        shooting = Shooting(tuple(switches[1:last]), False, float(times[0]), drifting=self.drifting)
        yield shooting, shooting.unknowns(phases[1].before, times[:-1], float(times[-1] - times[0]))

    def _closing(self, phase: Phase) -> tuple[Shooting, np.ndarray]:
        """Without forcing and events: the time after which the motion is nearest to its begin."""
        flow = self.maps.of(phase.modes).flow(phase.begin, phase.before, phase.end)
        times = np.linspace(phase.begin + 0.3 * self.period, phase.end, 4000)
        states = np.hstack(flow.states(times))
        size = np.abs(states).max(axis=0)
        size = np.where(size > 0.0, size, 1.0)
        size[list(self.drifting)] = np.inf
        miss = np.abs((states - phase.before) / size).max(axis=1)
        low = 1 + np.flatnonzero((miss[1:-1] < miss[:-2]) & (miss[1:-1] <= miss[2:]))
        if low.size == 0:
            raise NotConverged("the motion does not return to where it was")
        at = next(i for i in low if miss[i] <= 2.0 * miss[low].min())
        period = float(times[at] - phase.begin)
        return without_events(
            self.maps, phase.modes, phase.begin, phase.before, period, forced=False, drifting=self.drifting
        )
