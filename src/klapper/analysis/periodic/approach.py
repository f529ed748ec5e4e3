"""A long integration from beside a periodic motion: the check that a stable one is where its neighbours end.

After k periods a small distance has shrunk like |μ|ᵏ, μ being the largest of the deciding multipliers; k is chosen such
that nothing of it should be left. Only the integrator is used, with all events as they come, no derivative and no
equation of the shooting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from klapper.analysis.periodic.switch import switches_of
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import State
from klapper.schemes.phase_record import record_phases

if TYPE_CHECKING:
    from klapper.analysis.periodic.motion import PeriodicMotion

_FEWEST = 3  # periods, also of a motion whose neighbours become it at once
_MORE = 4.0  # times the distance that multipliers leave: they are no norm


@dataclass(frozen=True)
class Approach:
    """``periods`` that were integrated, and the largest ``distance`` from the motion that is left, in parts of its
    size; infinite if its events do not come any more."""

    periods: int
    distance: float


def approach(motion: PeriodicMotion, *, off: float, left: float, most: int) -> Approach:
    """From a start that is ``off`` the motion until ``left`` should be left; see :meth:`PeriodicMotion.approach`."""
    off = number(off, "off", "numbers above 0", above=0.0)
    left = number(left, "left", f"numbers above 0 and below off, {off:g}", above=0.0)
    if left >= off:
        raise InvalidModel(f"left is {left:g}; allowed are numbers below off, {off:g}.")
    if motion.forcing is None and motion.shooting.clocked:
        raise InvalidModel(
            "the motion has no event by which it is known again; there is no distance from it."
        )
    if not motion.stable:
        raise InvalidModel("the motion is not stable: nothing comes nearer to it. Ask for a stable one.")
    periods = _periods(motion, left / off)
    if periods > most:
        raise InvalidModel(
            f"{periods} periods would be needed, more than {most}; raise most, or be content with more left."
        )
    start = _beside(motion, off)
    if motion.forcing is not None and not motion.events:
        return Approach(periods, motion.distance(_without_events(motion, start, periods)))
    phases = record_phases(motion.system, motion.scheme, start, start.time + periods * motion.period)
    if motion.forcing is not None:
        last, n = phases[-1].after, len(motion.system.velocities)
        return Approach(periods, motion.distance(State(start.time, last[:n], last[n:])))
    passage = motion.passage
    recent = phases[-3 * (len(passage.switches) + 1) :]
    found = [
        phase.before
        for phase, switch in zip(recent, switches_of(passage.maps, recent), strict=True)
        if switch.same_as(passage.switches[0])
    ]
    if not found:
        raise InvalidModel(
            "the motion has no event by which it is known again; there is no distance from it."
        )
    return Approach(periods, motion.size_of(found[-1] - passage.before[0]))


def _without_events(motion: PeriodicMotion, start: State, periods: int) -> State:
    """The end of a motion that is one phase, begun anew with every period: only at events is it put back on contacts,
    from which round-off of their accelerations leads it away."""
    n = len(motion.system.velocities)
    for _ in range(periods):
        phases = record_phases(motion.system, motion.scheme, start, start.time + motion.period)
        last = phases[-1].after
        start = State(start.time, last[:n], last[n:])
    return start


def _periods(motion: PeriodicMotion, share: float) -> int:
    largest = float(np.abs(motion.deciding).max(initial=0.0))
    needed = np.log(share / _MORE) / np.log(largest) if largest > 0.0 else 0.0
    return max(int(np.ceil(needed)), _FEWEST)


def _beside(motion: PeriodicMotion, off: float) -> State:
    """A start whose velocities, and positions where no gap is below zero then, are smaller than those of the motion."""
    start, system = motion.start, motion.system
    slower = (1.0 - off) * start.velocity
    nearer = (1.0 - off) * start.position
    gaps = system.gaps(start.time, nearer, np.arange(system.contacts.count))
    return State(start.time, nearer if np.all(np.nan_to_num(gaps) >= 0.0) else start.position, slower)
