"""What contacts do in the course of a motion, in order and in words."""

from __future__ import annotations

from dataclasses import dataclass

from klapper.analysis.periodic.passage import Passage
from klapper.analysis.periodic.switch import described

KINDS = ("impact", "closes", "opens", "sticks", "slips", "turns")


@dataclass(frozen=True)
class MotionEvent:
    """One ``contact`` at one instant ``time`` [s].

    ``kind``     "impact", "closes" (and stays), "opens", "sticks", "slips" (after sticking) or "turns" (slip reverses)
    ``speed``    [m/s] of approach before an impact, else 0
    ``impulse``  [N s] of an impact, normal; 0 else

    A ball of 1 kg falls 1 m under 2 m/s², hits with 2 m/s after a second and leaves with half of that:

    >>> from klapper.analysis import flow_map
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> floor = Contact("floor", normal=[1.0], restitution=0.5)
    >>> event = flow_map(LinearSystem([1.0], force=[-2.0], position=[1.0], contacts=[floor]), 1.5).events[0]
    >>> event.kind, round(event.time, 9), round(event.speed, 9), round(event.impulse, 9)
    ('impact', 1.0, 2.0, 3.0)
    """

    time: float
    kind: str
    contact: str
    speed: float = 0.0
    impulse: float = 0.0

    def __str__(self) -> str:
        how = f" with {self.speed:.6g} m/s" if self.kind == "impact" else ""
        return f"{self.time:.6g} s: {self.contact} {'impact' if self.kind == 'impact' else self.kind}{how}"


def events_of(passage: Passage) -> tuple[MotionEvent, ...]:
    """The events of a passage in the order of time."""
    system, found = passage.maps.system, []
    for i, switch in enumerate(passage.switches):
        before = passage.switches[i - 1].after if i else passage.first
        hits = _hits(passage, i)
        for kind, contact in described(before, switch):
            speed, impulse = hits.get(contact, (0.0, 0.0)) if kind == "impact" else (0.0, 0.0)
            found.append(
                MotionEvent(float(passage.times[i]), kind, system.contacts.name(contact), speed, impulse)
            )
    return tuple(found)


def _hits(passage: Passage, i: int) -> dict[int, tuple[float, float]]:
    """Speeds of approach and impulses of the contacts that are hit at one switch."""
    maps, t, x = passage.maps, float(passage.times[i]), passage.before[i]
    n = len(x) // 2
    found: dict[int, tuple[float, float]] = {}
    for impact in passage.switches[i].impacts:
        approach = -maps.directions(t, x[:n], impact.contact).approach(x[n:])
        impulses = impact.impulses(maps, t, x)
        for contact, speed, impulse in zip(impact.contact, approach, impulses, strict=True):
            if impulse != 0.0:
                found[int(contact)] = (float(speed), float(impulse))
        x = impact.linearised(maps, t, x).value
    return found
