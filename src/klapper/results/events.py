"""Events of a run: contacts close and open, stick and slip, and hit.

They are read off the contact states of the samples. An impact is the state of a whole interval between two samples,
so what a contact does otherwise is told against its last state that was no impact: a ball that bounces has impacts
only, and the impact after which it stays is followed by "closes". Without tangential directions there is neither
sticking nor slipping, a contact is open or closed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from klapper.contact_states import IMPACT, OPEN, SLIP, STATE_NAMES, STICK
from klapper.results.samples import Layout, Loaded, Samples

KINDS = ("impact", "closes", "opens", "sticks", "slips")


@dataclass(frozen=True)
class Event:
    """What a ``contact`` did between the sample before and the one at ``time`` [s].

    ``before``, ``after``  "open", "stick", "slip", "impact"; "closed" if there is no tangential direction
    ``impulse``            (normal, tangential …) [N s] between the two samples

    A ball that hits the floor with 5 m/s and leaves with 3 m/s takes 8 N s per kg:

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> floor = Contact("floor", normal=[1.0], restitution=0.6)
    >>> ball = LinearSystem([1.0], force=[-10.0], position=[1.25], contacts=[floor])
    >>> event = simulate(ball, 1.0, EventDriven()).events()[0]
    >>> event.kind, event.contact, round(event.time, 9), round(event.impulse[0], 9)
    ('impact', 'floor', 0.5, 8.0)
    """

    time: float
    contact: str
    before: str
    after: str
    impulse: tuple[float, ...]

    @property
    def kind(self) -> str:
        """One of "impact", "closes", "opens", "sticks", "slips"."""
        return KINDS[int(_kind(np.array(_code(self.before)), np.array(_code(self.after))))]


@dataclass(frozen=True, eq=False)
class Impacts:
    """Intervals between samples in which a contact was hit; those of several contacts are in the order of time.

    ``time``     (k,) [s], end of the interval
    ``contact``  names of the contacts, k of them
    ``impulse``  (k, 1+tangential) [N s] of the interval

    The ball of :class:`Event` flies for 0.5 s, 0.6 s, 0.36 s between its impacts:

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> floor = Contact("floor", normal=[1.0], restitution=0.6)
    >>> ball = LinearSystem([1.0], force=[-10.0], position=[1.25], contacts=[floor])
    >>> impacts = simulate(ball, 1.5, EventDriven()).impacts()
    >>> impacts.time.round(9), impacts.impulse[:, 0].round(9)
    (array([0.5 , 1.1 , 1.46]), array([8.  , 4.8 , 2.88]))
    """

    time: np.ndarray
    contact: tuple[str, ...]
    impulse: np.ndarray

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True, eq=False)
class Changes:
    """The events of a run as arrays (k,), in the order of time and contact; ``kind`` counts in ``KINDS``."""

    sample: np.ndarray
    contact: np.ndarray
    before: np.ndarray
    after: np.ndarray
    kind: np.ndarray
    impulse: np.ndarray

    def of(self, chosen: np.ndarray) -> Changes:
        """The chosen ones."""
        return Changes(*(getattr(self, name)[chosen] for name in Changes.__dataclass_fields__))


def changes(samples: Samples, layout: Layout) -> Changes:
    """All changes of contact states."""
    found = [_ragged(samples.loaded, len(samples))] if samples.loaded is not None else []
    found += [
        (np.full(len(samples), i), np.arange(len(samples)), samples.state[:, i])
        for i in range(samples.gap.shape[1])
    ]
    parts = [_compare(contact, sample, state, layout.tangential == 0) for contact, sample, state in found]
    if not parts:
        parts = [(np.zeros(0, dtype=int),) * 4]
    contact, sample, before, after = (np.concatenate([part[k] for part in parts]) for k in range(4))
    order = np.lexsort((contact, sample))
    contact, sample, before, after = contact[order], sample[order], before[order], after[order]
    impulse = _impulse(samples, contact, sample)
    return Changes(sample, contact, before, after, _kind(before, after), impulse)


def as_events(found: Changes, samples: Samples, layout: Layout) -> Iterator[Event]:
    """The changes as events."""
    names = STATE_NAMES if layout.tangential else ("open", "closed", "closed", "impact")
    for k in range(len(found.sample)):
        yield Event(
            time=float(samples.time[found.sample[k]]),
            contact=contact_name(layout, int(found.contact[k])),
            before=names[found.before[k]],
            after=names[found.after[k]],
            impulse=tuple(float(part) for part in found.impulse[k]),
        )


def contact_name(layout: Layout, contact: int) -> str:
    """The name of a contact, or its number if the run logs contacts by number."""
    return layout.contacts[contact] if layout.contacts else str(contact)


def _compare(
    contact: np.ndarray, sample: np.ndarray, state: np.ndarray, frictionless: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Contact, sample, state before and state after of each change; entries are sorted by contact, then sample."""
    if frictionless:
        state = np.where(state == SLIP, STICK, state)
    entry = np.arange(len(state))
    begin = np.r_[True, contact[1:] != contact[:-1]][: len(state)]
    first = np.maximum.accumulate(np.where(begin, entry, 0))
    settled = np.maximum.accumulate(np.where(state == IMPACT, -1, entry))
    last = np.r_[-1, settled[:-1]][: len(state)]
    known = last >= first
    before = np.where(known, state[np.where(known, last, 0)], OPEN)
    changed = (state == IMPACT) | (known & (state != before))
    return contact[changed], sample[changed], before[changed], state[changed]


def _ragged(loaded: Loaded, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The log by contact and sample, with the open samples around each loaded stretch written out."""
    order = np.lexsort((loaded.sample, loaded.contact))
    contact, sample, state = loaded.contact[order], loaded.sample[order], loaded.state[order]
    same = np.r_[contact[1:] == contact[:-1], False][: len(contact)]
    released = ~(same & (np.r_[sample[1:], 0][: len(sample)] == sample + 1)) & (sample + 1 < count)
    appeared = np.r_[True, ~same[:-1]][: len(contact)] & (sample > 0)
    contact = np.concatenate([contact, contact[released], contact[appeared]])
    sample = np.concatenate([sample, sample[released] + 1, sample[appeared] - 1])
    state = np.concatenate([state, np.full(released.sum() + appeared.sum(), OPEN, dtype=state.dtype)])
    order = np.lexsort((sample, contact))
    return contact[order], sample[order], state[order]


def _impulse(samples: Samples, contact: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """(k, 1+tangential) N s of contacts at samples; zero where a contact is not in the log."""
    loaded = samples.loaded
    if loaded is None:
        return samples.impulse[sample, contact]
    impulse = np.zeros((len(contact), loaded.impulse.shape[1]))
    if not len(loaded.contact):
        return impulse
    span = int(max(loaded.contact.max(), contact.max(initial=0))) + 1
    key = loaded.sample * span + loaded.contact
    order = np.argsort(key)
    wanted = sample * span + contact
    found = order[np.minimum(np.searchsorted(key, wanted, sorter=order), len(key) - 1)]
    there = key[found] == wanted
    impulse[there] = loaded.impulse[found[there]]
    return impulse


def _kind(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Number in ``KINDS`` of the change between two states."""
    settled = np.where(after == STICK, 3, 4)
    return np.select([after == IMPACT, after == OPEN, before == OPEN], [0, 2, 1], settled)


def _code(name: str) -> int:
    return STICK if name == "closed" else STATE_NAMES.index(name)
