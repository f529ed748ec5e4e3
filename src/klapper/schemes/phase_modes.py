"""Contact modes: what every contact does during one smooth phase of the motion, and how that is remembered.

A contact is open, or held: it presses (A_N1) and sticks (A_T1) or slides. Waltersberger (4.50), (4.51). In the plane a
sliding contact keeps its sense ±1 until it stops; in space the sense follows the sliding velocity, except just after
slip has begun, where it is that of v̇_T, (3.48i).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from klapper.schemes.base import within

SMOOTH, STICKING, SLIDING, STARTING = 0, 1, 2, 3
"""What friction does: none; holds the patch; its sense follows v_T; its sense is a given one."""

TOUCH, STOP, RELEASE, SLIP_BEGINS, TURN = 1, 2, 3, 4, 5
"""Events i) to iv) of Waltersberger's Definition 4.1, and the renewal of a sliding sense, which is none of them."""

_HEAD = 9  # numbers before the events in what is written


def most_events(contacts: int) -> int:
    """Events at the end of one phase, of all contacts together."""
    return 4 * contacts + 4


@dataclass(frozen=True, eq=False)
class Modes:
    """The contacts that can carry forces in a phase.

    ``contact``    numbers (k,), rising, friction elements included
    ``pressed``    (k,) whether a normal force acts; a closed contact that is not pressed follows from the others
    ``grip``       (k,) SMOOTH, STICKING, SLIDING or STARTING
    ``sense``      (k, d) unit vectors of sliding, zero where nothing slides
    ``reference``  forces (r,) [N] of the last decision, in the order of the phase's rows: normal forces of the pressed
                   contacts, friction of the patches that are not SMOOTH, two-sided constraints
    """

    contact: np.ndarray
    pressed: np.ndarray
    grip: np.ndarray
    sense: np.ndarray
    reference: np.ndarray

    @property
    def rough(self) -> np.ndarray:
        """Which of the contacts have friction rows (k,)."""
        return self.grip != SMOOTH

    @staticmethod
    def none(tangential: int, constraints: int) -> Modes:
        """Free motion: all contacts are open."""
        nothing = np.zeros(0, dtype=np.int64)
        return Modes(
            nothing,
            np.zeros(0, dtype=bool),
            nothing,
            np.zeros((0, tangential)),
            np.zeros(constraints),
        )

    @property
    def key(self) -> tuple[bytes, ...]:
        """Equal for equal modes, whatever the forces."""
        return tuple(part.tobytes() for part in (self.contact, self.pressed, self.grip, self.sense))

    def same_as(self, other: Modes) -> bool:
        names = ("contact", "pressed", "grip", "sense", "reference")
        return self is other or all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in names
        )


@dataclass(frozen=True, eq=False)
class PhaseMemory:
    """What is remembered from step to step.

    ``decided``  whether the modes hold; otherwise an event, or the start, asks for a new decision
    ``size``     [s] proposed for the next step of the integrator, 0 if unknown
    ``impacts``  number of impacts so far
    ``stalled``  number of events since ``since`` [s], when the time last went on
    ``events``   (e, 2): kind and contact number of what ended the last phase
    """

    modes: Modes
    decided: bool = False
    size: float = 0.0
    impacts: int = 0
    stalled: int = 0
    since: float = -np.inf
    events: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))

    def of(self, kind: int) -> np.ndarray:
        """Numbers of the contacts with this event."""
        return self.events[self.events[:, 0] == kind, 1]

    def after_impact(self) -> PhaseMemory:
        """A velocity jump asks for a new decision, whatever ended the phase before."""
        return replace(
            self, decided=False, impacts=self.impacts + 1, stalled=self.stalled + 1, events=self.events[:0]
        )

    def written(self) -> np.ndarray:
        """As one array of numbers."""
        modes = self.modes
        head = [self.decided, self.size, self.impacts, self.stalled, self.since]
        counts = [len(self.events), len(modes.contact), modes.sense.shape[1], len(modes.reference)]
        parts = (
            head,
            counts,
            self.events.ravel(),
            modes.contact,
            modes.pressed,
            modes.grip,
            modes.sense.ravel(),
            modes.reference,
        )
        return np.concatenate([np.asarray(part, dtype=float) for part in parts])

    @staticmethod
    def require(array: np.ndarray, contacts: int, tangential: int, constraints: int) -> None:
        """:class:`ValueError` if an array from a file is not what is written for a system of these sizes."""
        if array.dtype.kind != "f" or array.ndim != 1 or array.size < _HEAD or np.any(np.isnan(array)):
            raise ValueError("memory is not an array of numbers")
        counts = array[2:4].tolist() + array[5:_HEAD].tolist()
        if not all(0 <= count < 2**53 and count == int(count) for count in counts):
            raise ValueError("memory holds counts that are none")
        e, k, d, r = (int(count) for count in array[5:_HEAD])
        if d != tangential or array.size != _HEAD + 2 * e + 3 * k + k * d + r:
            raise ValueError("memory is not as long as it says")
        found = PhaseMemory.read(array)
        modes, (kinds, numbers) = found.modes, found.events.T
        rows = np.count_nonzero(modes.pressed) + d * np.count_nonzero(modes.rough) + constraints
        if not (
            within(numbers, contacts)
            and within(modes.contact, contacts)
            and np.all(np.diff(modes.contact) > 0)
            and within(modes.grip, STARTING + 1)
            and within(kinds - TOUCH, TURN)
            and e <= most_events(contacts)
            and r == rows
            and np.all(np.isfinite(array[_HEAD:]))
        ):
            raise ValueError("memory holds modes that are none of these contacts")

    @staticmethod
    def read(array: np.ndarray) -> PhaseMemory:
        e, k, d, _ = (int(count) for count in array[5:_HEAD])
        events, contact, pressed, grip, sense, reference = np.split(
            array[_HEAD:], np.cumsum([2 * e, k, k, k, k * d])
        )
        modes = Modes(
            contact.astype(np.int64),
            pressed.astype(bool),
            grip.astype(np.int64),
            sense.reshape(k, d),
            reference.copy(),
        )
        return PhaseMemory(
            modes,
            decided=bool(array[0]),
            size=float(array[1]),
            impacts=int(array[2]),
            stalled=int(array[3]),
            since=float(array[4]),
            events=events.reshape(e, 2).astype(np.int64),
        )


def not_unique(t: float) -> str:
    """What is told of a phase that begins at t [s] with forces that are not unique."""
    return (
        f"at {t:.6g} s the held contacts depend on each other: the motion is unique, their forces are not; "
        f"those closest to the last ones are given"
    )
