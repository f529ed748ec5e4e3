"""Periodic motion as equations: with a sequence of switches that is kept, all of them smooth.

The unknowns are the state x₁ before the first switch and the times of the switches, in parts of the period,

    h_i(t_i, x_i) = 0,   i = 1 … k,        x_{k+1} − x₁ = 0  at  t_{k+1} = t₁ + T.

A motion without any event begins at a given time instead (a clock). Under a forcing T is known. Without, T is an
unknown and t₁ is given; a motion without any event then begins where one of its coordinates turns back, v_j = 0.
Coordinates that may drift need not return; they are 0 in x₁ (:mod:`klapper.analysis.periodic.drifting`).
With the times as unknowns nothing is singular where an impact loses its speed: branches of solutions go smoothly
through grazing, and only whether they can be true changes there (:mod:`klapper.analysis.periodic.margins`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

from klapper.analysis.periodic.passage import Passage, pass_only, pass_through
from klapper.analysis.periodic.switch import CLOCK, Switch, switches_of
from klapper.schemes.phase_map import PhaseMaps
from klapper.schemes.phase_modes import STOP, TOUCH, Modes
from klapper.schemes.phase_record import Phase

_MOST_ROUNDS = 30
_SAMPLES = 400  # of a period, among which turning points are looked for
_AGAIN = {
    (STOP, STOP),
    (TOUCH, TOUCH),
}  # events after which the function that has triggered them may do so again
_NO_TIME = 1e-9  # of the period: a duration by which nothing is divided
_SMALLEST_SHARE = 2.0**-8  # of a correction that is still taken


class NotConverged(ArithmeticError):
    """Newton's method found no solution."""


@dataclass(frozen=True, eq=False)
class Shooting:
    """The equations of one sequence of switches.

    ``switches``  in the order of one period; one clock if there is no event
    ``origin``    [s] of the clock; without a forcing of the first switch
    ``turning``   without a forcing and events: number j of the coordinate
    ``drifting``  numbers of the coordinates that may drift
    """

    switches: tuple[Switch, ...]
    forced: bool
    origin: float = 0.0
    turning: int | None = None
    drifting: tuple[int, ...] = ()

    @property
    def clocked(self) -> bool:
        return self.switches[0].is_clock

    @property
    def free_times(self) -> int:
        """Number of times among the unknowns."""
        return 0 if self.clocked else len(self.switches) - (0 if self.forced else 1)

    def unknowns(self, x: np.ndarray, times: np.ndarray, period: float) -> np.ndarray:
        """u = (x₁, times / T) or (x₁, times / T, T), from the times (k,) [s] of the switches."""
        x = x.copy()
        x[list(self.drifting)] = 0.0
        if self.forced:
            return np.concatenate([x, times[: self.free_times] / period])
        return np.concatenate([x, (times[1 : 1 + self.free_times] - times[0]) / period, [period]])

    def without_shifts(self, multipliers: np.ndarray) -> np.ndarray:
        """Without those that are 1 whatever the motion: of a shift in time, if nothing depends on time, and of shifts
        in coordinates that may drift."""
        for _ in range(len(self.drifting) + (0 if self.forced else 1)):
            multipliers = np.delete(multipliers, np.argmin(np.abs(multipliers - 1.0)))
        return multipliers

    def period(self, u: np.ndarray, forcing: float) -> float:
        return forcing if self.forced else float(u[-1])

    def times(self, u: np.ndarray, forcing: float) -> tuple[np.ndarray, np.ndarray]:
        """Times (k + 1,) [s] of the switches and of the end, and their derivatives (k + 1, len(u))."""
        k, size = len(self.switches), len(u)
        period = self.period(u, forcing)
        shares = u[size - self.free_times - (0 if self.forced else 1) :][: self.free_times]
        first = size - self.free_times - (0 if self.forced else 1)
        times, by = np.zeros(k + 1), np.zeros((k + 1, size))
        if self.forced and not self.clocked:
            times[:k], times[k] = period * shares, period * (shares[0] + 1.0)
            by[np.arange(k), first + np.arange(k)] = period
            by[k, first] = period
            return times, by
        relative = np.concatenate([[0.0], shares, [1.0]])
        times = self.origin + period * relative
        by[1 : 1 + self.free_times, first : first + self.free_times] = period * np.eye(self.free_times)
        if not self.forced:
            by[:, -1] = relative
        return times, by

    def passage(self, maps: PhaseMaps, u: np.ndarray, forcing: float) -> Passage:
        size = 2 * len(maps.system.velocities)
        times, _ = self.times(u, forcing)
        return pass_through(maps, self.switches[-1].after, self.switches, u[:size], times)

    def equations(self, passage: Passage, u: np.ndarray, forcing: float) -> tuple[np.ndarray, np.ndarray]:
        """F (len(u),) and ∂F/∂u."""
        size = len(passage.end)
        _, by_times = self.times(u, forcing)
        inner = np.zeros((size + len(by_times), len(u)))
        inner[:size, :size] = np.eye(size)
        inner[size:] = by_times
        miss_by = passage.end_by @ inner
        miss_by[:, :size] -= np.eye(size)
        miss_by[list(self.drifting)] = np.eye(len(u))[list(self.drifting)]
        rows = [miss_by]
        if not self.clocked:
            rows.append(passage.triggers_by @ inner)
        elif self.turning is not None:
            rows.append(np.eye(len(u))[size // 2 + self.turning][None])
        triggers = np.array([h.value for h in passage.triggers if h is not None])
        if not self.clocked:
            self._divide(triggers, passage.times, rows[1], by_times)
        return self._values(u, triggers, passage.end), np.vstack(rows)

    def residual(self, maps: PhaseMaps, u: np.ndarray, forcing: float) -> np.ndarray:
        """F (len(u),) alone."""
        size = 2 * len(maps.system.velocities)
        times, _ = self.times(u, forcing)
        triggers, end = pass_only(maps, self.switches[-1].after, self.switches, u[:size], times)
        if not self.clocked:
            self._divide(triggers, times)
        return self._values(u, triggers, end)

    def _divide(
        self,
        triggers: np.ndarray,
        times: np.ndarray,
        rows: np.ndarray | None = None,
        by_times: np.ndarray | None = None,
    ) -> None:
        """Divide triggers that vanish where their phase begins by the duration of the phase, h → h/δ.

        A speed that has just turned, or a gap just hit, is zero for δ = 0 too: without that solution the equations are
        regular where the phase vanishes, and go on through it.
        """
        for i, (before, switch) in enumerate(pairwise(self.switches), start=1):
            if (before.kind, switch.kind) not in _AGAIN or before.contact != switch.contact:
                continue
            duration = times[i] - times[i - 1]
            if abs(duration) <= _NO_TIME * abs(times[-1] - times[0]):
                continue
            triggers[i] /= duration
            if rows is not None and by_times is not None:
                rows[i] = (rows[i] - triggers[i] * (by_times[i] - by_times[i - 1])) / duration

    def _values(self, u: np.ndarray, triggers: np.ndarray, end: np.ndarray) -> np.ndarray:
        turning = [] if self.turning is None else [u[len(end) // 2 + self.turning]]
        miss = end - u[: len(end)]
        miss[list(self.drifting)] = u[list(self.drifting)]
        return np.concatenate([miss, triggers, turning])

    def scale(self, u: np.ndarray, passage: Passage, forcing: float) -> np.ndarray:
        """Sizes (len(u),) of the unknowns: those of a vibration with this period through the states at the switches."""
        sizes = np.ones(len(u))
        n = len(passage.end) // 2
        visited = np.abs(np.vstack([passage.before, passage.entered, passage.end[None]]))
        period = self.period(u, forcing)
        place = max(visited[:, :n].max(), visited[:, n:].max() * period / (2.0 * np.pi)) or 1.0
        sizes[:n], sizes[n : 2 * n] = place, max(visited[:, n:].max(), 2.0 * np.pi * place / period)
        if not self.forced:
            sizes[-1] = period
        return sizes

    def repeats(self, parts: int) -> bool:
        """Whether the same switches come in the same order in every one of some equal parts."""
        count, odd = divmod(len(self.switches), parts)
        if self.clocked:
            return True
        return not odd and all(
            switch.same_as(self.switches[i % count]) for i, switch in enumerate(self.switches)
        )

    def part(self, parts: int) -> Shooting:
        """The first of some equal parts of the sequence."""
        if self.clocked:
            return self
        return replace(self, switches=self.switches[: len(self.switches) // parts])

    def doubled(self, u: np.ndarray, forcing: float, passage: Passage) -> tuple[Shooting, np.ndarray]:
        """The same motion as one of two periods; ``forcing`` is one period."""
        twice = replace(self, switches=self.switches if self.clocked else self.switches * 2)
        period = self.period(u, forcing)
        times = passage.times[:-1]
        return twice, twice.unknowns(
            u[: len(passage.end)], np.concatenate([times, times + period]), 2.0 * period
        )


def shooting_from(
    maps: PhaseMaps, phases: list[Phase], period: float, *, forced: bool, drifting: tuple[int, ...] = ()
) -> tuple[Shooting, np.ndarray] | None:
    """Equations and first guess from a record of one period; None if it does not end in the modes of its begin."""
    switches = switches_of(maps, phases)
    if phases[0].modes.key != phases[-1].modes.key or any(switch.is_clock for switch in switches[1:]):
        return None
    if len(switches) == 1:
        first = phases[0]
        return without_events(
            maps, first.modes, first.begin, first.before, period, forced=forced, drifting=drifting
        )
    times = np.array([phase.begin for phase in phases[1:]])
    origin = 0.0 if forced else float(times[0])
    shooting = Shooting(tuple(switches[1:]), forced, origin, drifting=drifting)
    return shooting, shooting.unknowns(phases[1].before, times, period)


def without_events(
    maps: PhaseMaps,
    modes: Modes,
    t: float,
    x: np.ndarray,
    period: float,
    *,
    forced: bool,
    drifting: tuple[int, ...] = (),
) -> tuple[Shooting, np.ndarray]:
    """Equations and first guess of a motion in one phase, which is in the state x (2n,) at the time t [s]."""
    turning = None
    if not forced:
        t, x, turning = _turning_point(maps, modes, t, x, period, drifting)
    shooting = Shooting((Switch(CLOCK, -1, 0.0, (), modes),), forced, t, turning, drifting)
    return shooting, shooting.unknowns(x, np.array([t]), period)


def _turning_point(
    maps: PhaseMaps, modes: Modes, t: float, x: np.ndarray, period: float, drifting: tuple[int, ...]
) -> tuple[float, np.ndarray, int]:
    """Where the coordinate that moves most and does not drift is largest: time, state and number."""
    flow = maps.of(modes).flow(t, x, t + period)
    times = np.linspace(t, t + period, _SAMPLES)
    q, v = flow.states(times)
    reach = np.ptp(q, axis=0)
    reach[list(drifting)] = -1.0
    j = int(np.argmax(reach))
    falls = np.flatnonzero((v[:-1, j] > 0.0) & (v[1:, j] <= 0.0))
    if falls.size == 0:
        return t, x, j
    i = int(falls[np.argmax(q[falls, j])])
    time = float(brentq(lambda s: flow.states(np.array([s]))[1][0, j], times[i], times[i + 1], xtol=1e-15))
    return time, np.concatenate([part[0] for part in flow.states(np.array([time]))]), j


def solved(
    shooting: Shooting, maps: PhaseMaps, u: np.ndarray, forcing: float, tolerance: float
) -> tuple[np.ndarray, Passage]:
    """u by Newton's method with shortened corrections; of a set of solutions that nearest to the guess."""
    passage = shooting.passage(maps, u, forcing)
    scale = shooting.scale(u, passage, forcing)
    for _ in range(_MOST_ROUNDS):
        residual, jacobian = shooting.equations(passage, u, forcing)
        units = np.linalg.norm(jacobian * scale, axis=1)
        units = np.where(units > 0.0, units, 1.0)
        if not (np.all(np.isfinite(residual)) and np.all(np.isfinite(jacobian))):
            raise NotConverged("the motion leaves the range of numbers")
        change = np.linalg.lstsq(jacobian * scale / units[:, None], -residual / units, rcond=1e-11)[0]
        size, share = float(np.abs(change).max()), 1.0
        if size <= tolerance:
            u = u + change * scale
            return u, shooting.passage(maps, u, forcing)
        while True:
            trial = u + share * change * scale
            reached = shooting.passage(maps, trial, forcing)
            left = np.linalg.norm(shooting.equations(reached, trial, forcing)[0] / units)
            if left <= (1.0 - 0.25 * share) * np.linalg.norm(residual / units) or size <= 1e-6:
                break
            share *= 0.5
            if share < _SMALLEST_SHARE:
                raise NotConverged("Newton's method does not get nearer")
        u, passage = trial, reached
    raise NotConverged(f"Newton's method has not converged in {_MOST_ROUNDS} rounds")
