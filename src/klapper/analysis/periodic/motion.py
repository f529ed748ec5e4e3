"""A periodic motion: its events in order, its multipliers, and the motion itself."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from klapper.analysis.periodic.approach import Approach, approach
from klapper.analysis.periodic.events import MotionEvent, events_of
from klapper.analysis.periodic.margins import Margin, least_margin
from klapper.analysis.periodic.passage import Passage
from klapper.analysis.periodic.shooting import Shooting
from klapper.counting import counted
from klapper.mechanics.system import State, System
from klapper.results import Run
from klapper.schemes.phase_map import PhaseMaps
from klapper.schemes.phase_record import record_phases
from klapper.schemes.phases import Phased

_SAMPLES = 400  # of the run over one period, besides the events
_SUPERSTABLE = 1e-9  # multipliers below count as zero


@dataclass(frozen=True, eq=False, repr=False)
class PeriodicMotion:
    """A periodic motion, x(t + T) = x(t), but for coordinates that may drift.

    ``system``     whose motion it is
    ``period``     T [s]
    ``forcing``    period [s] of the forcing; None if nothing depends on time, then T was found
    ``shooting``   the equations that it solves; ``unknowns`` (p,) their solution: a state
                   [m, rad, m/s, rad/s], the times of the switches in parts of T, and T [s] if it was found
    ``scheme``     by which it is integrated

    x'' + x' + x = cos t ends in x = sin t:

    >>> from klapper.analysis import periodic_motion
    >>> from klapper.mechanics import Harmonic, LinearSystem
    >>> motion = periodic_motion(LinearSystem([1.0], damping=[1.0], stiffness=[1.0], force=Harmonic([1.0], 1.0)))
    >>> round(motion.period, 6), motion.start.velocity.round(6), motion.stable  # T = 2π s
    (6.283185, array([1.]), True)
    """

    system: System
    period: float
    forcing: float | None
    shooting: Shooting
    unknowns: np.ndarray
    scheme: Phased

    @classmethod
    def of(
        cls, passage: Passage, forcing: float | None, shooting: Shooting, u: np.ndarray, scheme: Phased
    ) -> PeriodicMotion:
        """From a passage that was computed, which is not kept: it is large."""
        period = float(passage.times[-1] - passage.times[0])
        motion = cls(passage.maps.system, period, forcing, shooting, u, scheme)
        motion.__dict__["monodromy"] = passage.monodromy
        return motion

    @property
    def passage(self) -> Passage:
        """The motion from switch to switch, with its derivatives."""
        return _passage(self)

    @property
    def period_ratio(self) -> float:
        """Period over the period of the forcing; not a number without a forcing."""
        return float("nan") if self.forcing is None else self.period / self.forcing

    @cached_property
    def start(self) -> State:
        """A state on the motion: at the start time of the system; without a forcing in the middle of a phase."""
        passage, time = self.passage, self.system.start.time
        if self.forcing is None:
            lengths = np.diff(passage.times)
            i = int(np.argmax(lengths))
            at = passage.times[i] + 0.5 * lengths[i]
        else:
            at = passage.times[0] + (time - passage.times[0]) % self.period
            i = int(np.searchsorted(passage.times[:-1], at, side="right")) - 1
        course = passage.maps.of(passage.switches[i].after)
        x = course.destination(passage.times[i], passage.entered[i], at)
        n = len(x) // 2
        return State(time, x[:n], x[n:])

    @cached_property
    def drift(self) -> np.ndarray:
        """How far (n,) [m, rad] coordinates have gone on after a period: 0 but for those that may drift."""
        drifting, gone = list(self.shooting.drifting), np.zeros(len(self.system.velocities))
        gone[drifting] = (self.passage.end - self.passage.before[0])[drifting]
        return gone

    @cached_property
    def events(self) -> tuple[MotionEvent, ...]:
        """What the contacts do in one period from the start on, in the order of time."""
        found = events_of(self.passage)
        if self.forcing is None:
            lengths = np.diff(self.passage.times)
            begin = self.passage.times[np.argmax(lengths)] + 0.5 * lengths.max()
            shift = self.start.time - begin
        else:
            shift = 0.0
        within = [
            replace(event, time=self.start.time + (event.time + shift - self.start.time) % self.period)
            for event in found
        ]
        return tuple(sorted(within, key=lambda event: event.time))

    @cached_property
    def monodromy(self) -> np.ndarray:
        """∂x(t + T)/∂x(t) (2n, 2n) just before the first switch, by saltation matrices."""
        return self.passage.monodromy

    @cached_property
    def multipliers(self) -> np.ndarray:
        """Floquet multipliers (2n,), complex, the largest first.

        Zeros belong to what contacts hold for a while: there neighbours become one. Without a forcing one of them is 1,
        along the motion itself; and one for every coordinate that may drift.
        """
        return multipliers_of(self.monodromy)

    @property
    def deciding(self) -> np.ndarray:
        """The multipliers without those of shifts in time and in coordinates that may drift, the largest first."""
        return self.shooting.without_shifts(self.multipliers)

    @property
    def stable(self) -> bool:
        """Whether neighbours come nearer: all multipliers inside the unit circle but those of shifts."""
        return bool(np.all(np.abs(self.deciding) < 1.0))

    @property
    def superstable(self) -> bool:
        """Whether all neighbours become this motion within a period: all multipliers vanish."""
        return bool(np.all(np.abs(self.deciding) < _SUPERSTABLE))

    @cached_property
    def margin(self) -> Margin:
        """How far the sequence of events is from another one."""
        return least_margin(self.passage)

    @cached_property
    def residual(self) -> float:
        """|x(t + T) − x(t)| in parts of the size of the motion, by integration from the start."""
        last = record_phases(self.system, self.scheme, self.start, self.start.time + self.period)[-1].after
        n = len(last) // 2
        return self.distance(State(self.start.time, last[:n], last[n:]))

    def distance(self, state: State) -> float:
        """Largest difference of a state from the start, in parts of the size of the motion; not of coordinates that may
        drift."""
        apart = np.concatenate([state.position - self.start.position, state.velocity - self.start.velocity])
        return self.size_of(apart)

    def size_of(self, apart: np.ndarray) -> float:
        """Largest part of a difference (2n,) of states, in parts of the size of the motion; not of coordinates that may
        drift."""
        return float(np.abs(np.delete(apart / self.size, self.shooting.drifting)).max())

    def approach(self, *, off: float = 1e-3, left: float = 1e-9, most: int = 2000) -> Approach:
        """A long integration of a stable motion from beside it: how near it comes.

        The start is ``off`` by so much of its positions and velocities. As many periods are integrated, up to ``most``,
        as leave ``left`` of that by the multipliers.
        """
        return approach(self, off=off, left=left, most=most)

    @cached_property
    def size(self) -> np.ndarray:
        """Sizes (2n,) of positions [m] and velocities [m/s]."""
        return self.shooting.scale(self.unknowns, self.passage, self.period)[: len(self.passage.end)]

    @cached_property
    def run(self) -> Run:
        """The motion over one period from the start."""
        return self.over(1)

    def over(self, periods: int, *, samples: int = _SAMPLES) -> Run:
        """The motion over some periods from the start, integrated, with some samples per period besides the events."""
        from klapper.simulation import simulate

        begun = copy.copy(self.system)
        begun.start = self.start
        scheme: Any = replace(self.scheme, sample=self.period / samples)
        return simulate(begun, self.start.time + periods * self.period, scheme, progress=False)

    def __repr__(self) -> str:
        return f"PeriodicMotion({self.period:.8g} s, {counted(len(self.events), 'event')}, {self._judgement})"

    @property
    def _judgement(self) -> str:
        return "superstable" if self.superstable else "stable" if self.stable else "unstable"

    def __str__(self) -> str:
        how = "" if self.forcing is None else f" = {self.period_ratio:.6g} × the period of the forcing"
        values = ", ".join(_number(value) for value in self.multipliers[:4])
        more = " …" if len(self.multipliers) > 4 else ""
        lines = [
            f"Periodic motion of '{self.system.name}': {self.period:.10g} s{how}, {self._judgement}.",
            f"  multipliers {values}{more}",
            *(
                f"  {self.system.coordinates[j]} goes on by {self.drift[j]:.6g} in a period"
                for j in self.shooting.drifting
            ),
            *(f"  {event}" for event in self.events),
        ]
        return "\n".join(lines)


def multipliers_of(monodromy: np.ndarray) -> np.ndarray:
    """Eigenvalues (2n,), complex, the largest first."""
    values = np.linalg.eigvals(monodromy).astype(complex)
    return values[np.argsort(-np.abs(values), kind="stable")]


@lru_cache(maxsize=4)
def _passage(motion: PeriodicMotion) -> Passage:
    return motion.shooting.passage(PhaseMaps(motion.system), motion.unknowns, motion.period)


def _number(value: complex) -> str:
    return f"{value.real:.6g}" if abs(value.imag) <= 1e-12 * abs(value) else f"{value:.6g}"
