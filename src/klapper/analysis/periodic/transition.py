"""What becomes of a sequence of events where a contact grazes, sticking begins or vanishes, or two impacts meet.

At grazing the motion with an impact without speed and the motion without it are the same one, so each of both
sequences has a solution there, and both branches go on from it; so it is with sticking that takes no time. Two impacts
that do not act on each other's contacts may come in either order. Which way the other sequence is true, its margin
says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from klapper.analysis.periodic.impact_pattern import ImpactPattern
from klapper.analysis.periodic.margins import (
    ADDING_SLIDING,
    COINCIDENCE,
    CROSSING_SLIDING,
    GRAZING,
    GRAZING_SLIDING,
    LIFT_OFF,
    Margin,
)
from klapper.analysis.periodic.passage import Passage
from klapper.analysis.periodic.shooting import Shooting, without_events
from klapper.analysis.periodic.switch import Switch
from klapper.schemes.phase_impact import newton_impact
from klapper.schemes.phase_map import PhaseMaps
from klapper.schemes.phase_modes import RELEASE, SLIP_BEGINS, STICKING, STOP, TOUCH
from klapper.schemes.phase_record import Jump
from klapper.schemes.touching import Touching

_APPROACH = 1e-6  # of the fastest velocity: that of the impact whose pattern is asked for
_BRIEF = 1e-6  # of the period: a slip that takes no time
_TOUCH = 1e-6  # of the largest coordinate: gaps that count as closed at the grazing


def other_sequence(
    passage: Passage, shooting: Shooting, vanishing: Sequence[Margin]
) -> tuple[Shooting, np.ndarray] | None:
    """The other sequence and its solution where margins vanish; None if there is none of these kinds.

    Symmetric motions graze, begin or cease to stick several times at once.
    """
    first = vanishing[0]
    if first.kind == COINCIDENCE:
        return _exchanged(passage, shooting, first)
    same = [margin for margin in vanishing if (margin.kind, margin.inside) == (first.kind, first.inside)]
    distinct = {(margin.switch, margin.contact): margin for margin in same}
    period = float(passage.times[-1] - passage.times[0])
    changed = None
    for margin in sorted(distinct.values(), key=lambda margin: (-margin.switch, -margin.time)):
        made = _changed(passage, shooting, margin)
        if made is not None:
            changed = made
            shooting, passage = made[0], made[0].passage(passage.maps, made[1], period)
    return changed


def _changed(passage: Passage, shooting: Shooting, margin: Margin) -> tuple[Shooting, np.ndarray] | None:
    """The sequence changed where one margin vanishes; switches before it keep their numbers."""
    if margin.kind == GRAZING:
        return (_with_impact if margin.inside else _without_impact)(passage, shooting, margin)
    if margin.kind in (LIFT_OFF, ADDING_SLIDING) and not margin.inside:
        return _without_pair(passage, shooting, margin)
    if margin.kind in (CROSSING_SLIDING, GRAZING_SLIDING) and not margin.inside:
        for change in (_without_turn, _with_stick, _without_stick, _with_turn):
            made = change(passage, shooting, margin)
            if made is not None:
                return made
    return None


def _exchanged(passage: Passage, shooting: Shooting, margin: Margin) -> tuple[Shooting, np.ndarray] | None:
    """Two impacts in the other order; the period begins with them."""
    i, k = margin.switch, len(shooting.switches)
    j = (i + 1) % k
    one, two = shooting.switches[i], shooting.switches[j]
    bounces = one.kind == two.kind == TOUCH and one.contact != two.contact
    if not bounces or len({shooting.switches[i - 1].after.key, one.after.key, two.after.key}) > 1:
        return None
    period = float(passage.times[-1] - passage.times[0])
    order = [j, i, *((i + m) % k for m in range(2, k))]
    begin = passage.times[i] % period if shooting.forced else passage.times[i]
    times = np.array(
        [begin, begin, *(begin + (passage.times[m] - passage.times[i]) % period for m in order[2:])]
    )
    switches = tuple(shooting.switches[m] for m in order)
    made = replace(shooting, switches=switches, origin=0.0 if shooting.forced else float(begin))
    return made, made.unknowns(passage.before[i], times, period)


def _with_stick(passage: Passage, shooting: Shooting, margin: Margin) -> tuple[Shooting, np.ndarray] | None:
    """With sticking for no time where slip has turned."""
    i = margin.switch
    turn = shooting.switches[i]
    if turn.kind != STOP or margin.contact != turn.contact:
        return None
    at = turn.after.contact == turn.contact
    grip, sense = turn.after.grip.copy(), turn.after.sense.copy()
    side = -float(np.sign(sense[at][0, 0]))
    if side == 0.0:  # it sticks already
        return None
    grip[at], sense[at] = STICKING, 0.0
    stop = replace(turn, after=replace(turn.after, grip=grip, sense=sense))
    slip = Switch(SLIP_BEGINS, turn.contact, side, (), turn.after)
    switches = (*shooting.switches[:i], stop, slip, *shooting.switches[i + 1 :])
    times = np.insert(passage.times[:-1], i + 1, passage.times[i])
    period = float(passage.times[-1] - passage.times[0])
    made = replace(shooting, switches=switches)
    return made, made.unknowns(passage.before[0], times, period)


def _without_turn(passage: Passage, shooting: Shooting, margin: Margin) -> tuple[Shooting, np.ndarray] | None:
    """Without the slip between a turn and the stop that follows at once: it sticks, or slips as before."""
    i, k = margin.switch, len(shooting.switches)
    j = i + 1
    if j >= k:
        return None
    turn, stop = shooting.switches[i], shooting.switches[j]
    short = abs(passage.times[j] - passage.times[i]) < _BRIEF * (passage.times[-1] - passage.times[0])
    if (turn.kind, stop.kind) != (STOP, STOP) or turn.contact != stop.contact or not short:
        return None
    if shooting.switches[i - 1].after.key == stop.after.key:
        return _without(passage, shooting, [i, j])
    switches = (*shooting.switches[:i], replace(turn, after=stop.after), *shooting.switches[j + 1 :])
    period = float(passage.times[-1] - passage.times[0])
    made = replace(shooting, switches=switches)
    return made, made.unknowns(passage.before[0], np.delete(passage.times[:-1], j), period)


def _with_turn(passage: Passage, shooting: Shooting, margin: Margin) -> tuple[Shooting, np.ndarray] | None:
    """With slip the other way for no time before sticking, where the friction needed to stick exceeds its limit."""
    i = margin.switch
    stop, before = shooting.switches[i], shooting.switches[i - 1].after
    if stop.kind != STOP or margin.contact != stop.contact:
        return None
    at, was = stop.after.contact == stop.contact, before.contact == stop.contact
    if not np.all(stop.after.grip[at] == STICKING) or not np.any(was):
        return None
    grip, sense = stop.after.grip.copy(), stop.after.sense.copy()
    grip[at], sense[at] = before.grip[was], -before.sense[was]
    turn = replace(stop, after=replace(stop.after, grip=grip, sense=sense))
    switches = (*shooting.switches[:i], turn, replace(stop, impacts=()), *shooting.switches[i + 1 :])
    times = np.insert(passage.times[:-1], i + 1, passage.times[i])
    period = float(passage.times[-1] - passage.times[0])
    made = replace(shooting, switches=switches)
    return made, made.unknowns(passage.before[0], times, period)


def _with_impact(passage: Passage, shooting: Shooting, margin: Margin) -> tuple[Shooting, np.ndarray] | None:
    i, t = margin.switch, margin.time
    modes = passage.switches[i].after
    x = passage.maps.of(modes).destination(passage.times[i], passage.entered[i], t)
    pattern = _bounce(passage.maps, margin.contact, t, x)
    if pattern is None:
        return None
    new = Switch(TOUCH, margin.contact, 0.0, (pattern,), modes)
    period = float(passage.times[-1] - passage.times[0])
    if shooting.clocked:
        made = replace(shooting, switches=(new,), origin=t, turning=None)
        return made, made.unknowns(x, np.array([t]), period)
    switches = (*shooting.switches[: i + 1], new, *shooting.switches[i + 1 :])
    times = np.insert(passage.times[:-1], i + 1, t)
    made = replace(shooting, switches=switches)
    return made, made.unknowns(passage.before[0], times, period)


def _without_impact(
    passage: Passage, shooting: Shooting, margin: Margin
) -> tuple[Shooting, np.ndarray] | None:
    return _without(passage, shooting, [margin.switch])


def _without_stick(
    passage: Passage, shooting: Shooting, margin: Margin
) -> tuple[Shooting, np.ndarray] | None:
    """Without sticking between a stop and the onset of slip that meet: slip goes on, or turns."""
    k = len(shooting.switches)
    first = margin.switch if shooting.switches[margin.switch].kind == STOP else margin.switch - 1
    i, j = first % k, (first + 1) % k
    stop, slip = shooting.switches[i], shooting.switches[j]
    if (stop.kind, slip.kind) != (STOP, SLIP_BEGINS):
        return None
    if shooting.switches[i - 1].after.key == slip.after.key:
        return _without(passage, shooting, [i, j])
    if j == 0:
        return None
    switches = (*shooting.switches[:i], replace(stop, after=slip.after), *shooting.switches[j + 1 :])
    period = float(passage.times[-1] - passage.times[0])
    made = replace(shooting, switches=switches)
    return made, made.unknowns(passage.before[0], np.delete(passage.times[:-1], j), period)


def _without_pair(passage: Passage, shooting: Shooting, margin: Margin) -> tuple[Shooting, np.ndarray] | None:
    """Without a flight or slip that takes no time."""
    i, j = margin.switch, (margin.switch + 1) % len(shooting.switches)
    pair = shooting.switches[i].kind, shooting.switches[j].kind
    return _without(passage, shooting, [i, j]) if pair in ((RELEASE, TOUCH), (SLIP_BEGINS, STOP)) else None


def _without(passage: Passage, shooting: Shooting, dropped: list[int]) -> tuple[Shooting, np.ndarray] | None:
    """Without some successive switches, if they leave the modes as they were."""
    k = len(shooting.switches)
    modes = shooting.switches[dropped[0] - 1].after
    if modes.key != shooting.switches[dropped[-1]].after.key:
        return None
    period = float(passage.times[-1] - passage.times[0])
    kept = [i for i in range(k) if i not in dropped]
    if kept:
        times = passage.times[kept]
        origin = 0.0 if shooting.forced else float(times[0])
        made = replace(shooting, switches=tuple(shooting.switches[i] for i in kept), origin=origin)
        return made, made.unknowns(passage.before[kept[0]], times, period)
    last = dropped[-1]
    middle = 0.5 * (passage.times[last] + passage.times[last + 1])
    x = passage.maps.of(modes).destination(passage.times[last], passage.entered[last], middle)
    return without_events(
        passage.maps, modes, float(middle), x, period, forced=shooting.forced, drifting=shooting.drifting
    )


def _bounce(maps: PhaseMaps, contact: int, t: float, x: np.ndarray) -> ImpactPattern | None:
    """The pattern of a slow impact of a contact, if it leaves again."""
    system, n = maps.system, len(x) // 2
    q, v = x[:n], x[n:]
    which = np.array([contact])
    if system.contacts.laws(which).restitution[0] == 0.0:
        return None
    directions = maps.directions(t, q, which)
    normal = directions.normal[:, 0]
    response = np.asarray(maps.inverse(q)(normal))
    fast = float(np.abs(v).max())
    wanted = -_APPROACH * fast - float(directions.approach(v)[0])
    slow = v + response * (wanted / float(normal @ response))
    reach = max(float(np.abs(q).max()), 1e-12)
    touching = Touching(system, t, q, slow, touch=_TOUCH * reach, still=1e-3 * _APPROACH * fast)
    if contact not in touching.contact:
        return None
    impact = newton_impact(touching)
    return ImpactPattern.of(maps, t, q, Jump(slow, impact.velocity, impact.contact, impact.impulse))
