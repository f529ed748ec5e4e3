"""Numbers of a run by name: what a study over a scenario file can keep.

    position.ball y.largest     a coordinate; also velocity, by name or by number (position.2.end)
    gap.stop.least              the gap of a contact, its normal force, its friction: force, friction
    impacts    impacts.stop     how many impacts, in all or at one contact
    closed.stop                 share of the time in which a contact is closed
    energy.friction             an entry of the ledger at the end: kinetic, potential, loads, damping, …
    steps    residual           of the computation

Statistics over time are end, least, largest, span (largest − least), mean and rms (weighted by time), and samples,
which is the list of all saved values. They are those of the motion, ``run.over_time``, however densely it was saved. A
mean force is the impulse divided by the time, with impacts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.results.errors import place
from klapper.studies.errors import StudyError

if TYPE_CHECKING:
    from klapper.results import Run

UNITS = {"gap": "m", "force": "N", "friction": "N", "energy": "J"}
_OF_COORDINATES = ("position", "velocity")
_OF_CONTACTS = ("gap", "force", "friction")
_OVER_TIME = ("end", "least", "largest", "span", "mean", "rms", "samples")
_ENTRIES = ("initial", "kinetic", "potential", "loads", "damping", "friction", "impact", "numerical")
_EXPLAINED = (
    "outputs of a scenario are position.NAME.STATISTIC, velocity.…, gap.…, force.… and friction.… with the statistics "
    f"{', '.join(_OVER_TIME)}, impacts, impacts.NAME, closed.NAME, energy.ENTRY, steps, residual"
)


@dataclass(frozen=True)
class RunNumber:
    """One number of a run: ``quantity`` of a ``part`` (name or number, from 1 on), over time by a ``statistic``."""

    quantity: str
    part: str = ""
    statistic: str = ""

    @classmethod
    def named(cls, name: str) -> RunNumber:
        """The number that a name means; :class:`StudyError` if it means none."""
        quantity, _, rest = name.partition(".")
        if quantity in (*_OF_COORDINATES, *_OF_CONTACTS):
            part, _, statistic = rest.rpartition(".")
            if part and statistic in _OVER_TIME:
                return cls(quantity, part, statistic)
        elif quantity == "energy":
            if rest in _ENTRIES:
                return cls(quantity, rest)
            raise StudyError(f"there is no output '{name}': energies are {', '.join(_ENTRIES)}.")
        elif quantity == "impacts" or (quantity == "closed" and rest):
            return cls(quantity, rest)
        elif name in ("steps", "residual"):
            return cls(name)
        raise StudyError(f"there is no output '{name}': {_EXPLAINED}.")

    @property
    def unit(self) -> str:
        return UNITS.get(self.quantity, "")

    def require(self, coordinates: Sequence[str], velocities: Sequence[str], contacts: Sequence[str]) -> None:
        """Refuse a part that is not there; numbers are looked up in the run, since they may be varied."""
        if not self.part or self.part.isdigit() or self.quantity == "energy":
            return
        known = {"position": coordinates, "velocity": velocities}.get(self.quantity, contacts)
        place(self.part, known, "contact" if known is contacts else "coordinate")

    def of(self, run: Run) -> Any:
        """The number of this run."""
        if self.quantity in _OF_COORDINATES:
            names = run.layout.coordinates if self.quantity == "position" else run.layout.velocities
            place = self._place(names)
            return self._statistic(run, place, getattr(run, self.quantity)[:, place])
        if self.quantity in (*_OF_CONTACTS, "closed") or (self.quantity == "impacts" and self.part):
            return self._of_contact(run)
        whole: dict[str, Callable[[], Any]] = {
            "impacts": lambda: len(run.impacts().time),
            "energy": lambda: run.ledger.balance[self.part],
            "steps": lambda: run.about.get("steps"),
            "residual": lambda: float(np.max(run.samples.residual, initial=0.0)),
        }
        return whole[self.quantity]()

    def _place(self, names: Sequence[str]) -> int:
        number = int(self.part) - 1 if self.part.isdigit() else None
        if number is None:
            return place(self.part, names, "coordinate")
        if not 0 <= number < len(names):
            raise StudyError(f"{self.quantity}.{self.part} does not exist: the run has {len(names)}.")
        return number

    def _of_contact(self, run: Run) -> Any:
        names = run.layout.contacts
        number = int(self.part) - 1 if self.part.isdigit() else place(self.part, names, "contact")
        history = run.contact(number)
        if self.quantity == "impacts":
            return len(history.impacts.time)
        if self.quantity == "closed":
            interval = np.diff(run.time)
            return float(interval[history.state[1:] != 0].sum() / interval.sum())
        if self.quantity == "gap":
            return self._statistic(run, number, history.gap)
        across = self.quantity == "friction"
        if across and history.force.shape[1] == 1:
            raise StudyError(f"the contact '{history.name}' has no friction.")
        if self.statistic == "mean":
            return float(_seen(history.impulse, across)[1:].sum() / (run.time[-1] - run.time[0]))
        return self._statistic(run, number, _seen(history.force, across))

    def _statistic(self, run: Run, number: int, values: np.ndarray) -> Any:
        """Of history ``number`` of the quantity, whose samples are ``values`` (s,)."""
        if self.statistic == "samples":
            return values.tolist()
        if self.statistic == "end":
            return float(values[-1])
        statistics = getattr(run.over_time, self.quantity)
        found = float(getattr(statistics, self.statistic)[number])
        return found if np.isfinite(found) else None


def _seen(pairs: np.ndarray, across: bool) -> np.ndarray:
    """Normal entries (s,), or tangential ones ``across``; of two tangential directions their size."""
    if not across:
        return pairs[:, 0]
    return pairs[:, 1] if pairs.shape[1] == 2 else np.hypot(pairs[:, 1], pairs[:, 2])
