"""The energy ledger of a run: where the energy went, and whether the books close.

    kinetic + potential + damping + friction + impact + numerical − loads = its value at the start

Kinetic and potential energy are present values. The others are sums since the start: ``loads`` is the work put in,
the rest is lost (``numerical`` by the scheme; it may have either sign).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from klapper.counting import counted
from klapper.results.samples import Samples
from klapper.results.tables import aligned, number
from klapper.shown import Card, Shown

EXACT = 1e-9
"""Closing error, as a share of the energy turned over, up to which the books close; above it the share is told."""
TRUSTED = 1e-7
"""Share of the energy turned over up to which a motion is trusted; above it the books do not close, the run failed."""

SIGN = {"loads": -1.0}
TITLES = {
    "kinetic": "kinetic energy",
    "potential": "potential energy",
    "damping": "lost in damping",
    "friction": "lost in friction",
    "impact": "lost in impacts",
    "numerical": "lost numerically",
    "loads": "work of the loads",
}
_KINETIC = list(TITLES).index("kinetic")


@dataclass(frozen=True, eq=False, repr=False)
class Ledger(Shown):
    """Energies over the s samples of a run, each (s,) in J.

        kinetic + potential + damping + friction + impact + numerical − loads = its value at the start

    ``time``                      (s,) [s], ``step`` (s,) number of the step
    ``kinetic``, ``potential``    present values
    ``loads``                     work put in since the start
    ``damping``, ``friction``, ``impact``, ``numerical``  lost since the start, the last one by the scheme

    A ball of 1 kg hits the floor with 5 m/s and leaves with 3 m/s: ½ (25 − 9) J are lost in the impact.

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> floor = Contact("floor", normal=[1.0], restitution=0.6)
    >>> ball = LinearSystem([1.0], force=[-10.0], position=[1.25], contacts=[floor])
    >>> ledger = simulate(ball, 1.0, EventDriven()).ledger
    >>> round(ledger.balance["impact"], 9), ledger.closes()
    (8.0, True)
    """

    step: np.ndarray
    time: np.ndarray
    kinetic: np.ndarray
    potential: np.ndarray
    loads: np.ndarray
    damping: np.ndarray
    friction: np.ndarray
    impact: np.ndarray
    numerical: np.ndarray

    @classmethod
    def of(cls, samples: Samples) -> Ledger:
        return cls(samples.step, samples.time, *samples.energy.T)

    @cached_property
    def total(self) -> np.ndarray:
        """(s,) J, present and lost energy minus the work of the loads: constant if the books close."""
        with np.errstate(invalid="ignore", over="ignore"):  # of energies that are not finite
            total = np.zeros(len(self.time))
            for name in TITLES:
                if name in SIGN:
                    total -= getattr(self, name)
                else:
                    total += getattr(self, name)
        total.flags.writeable = False
        return total

    @cached_property
    def residual(self) -> np.ndarray:
        """(s,) J, by how much the books do not close at each sample."""
        with np.errstate(invalid="ignore", over="ignore"):
            residual = self.total - self.total[:1]
        residual.flags.writeable = False
        return residual

    @cached_property
    def closing_error(self) -> float:
        """Largest absolute residual in J; nan if an energy is nan."""
        return _largest(np.min(self.residual, initial=0.0), np.max(self.residual, initial=0.0))

    @cached_property
    def _extremes(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest value (7,) [J] of each entry, in the order of ``TITLES``, of at least one sample."""
        entries = np.array([getattr(self, name) for name in TITLES])
        return entries.min(axis=1), entries.max(axis=1)

    @cached_property
    def scale(self) -> float:
        """Largest energy that was turned over, in J; the zero level of the potential energy plays no role."""
        if not len(self.time):
            return 0.0
        low, high = self._extremes
        with np.errstate(invalid="ignore", over="ignore"):
            turned = float((high - low).max())
        return max(_largest(low[_KINETIC], high[_KINETIC]), turned)

    @cached_property
    def round_off(self) -> float:
        """Closing error in J that the rounding of sums over so many steps may leave."""
        if not len(self.time):
            return 0.0
        largest = float(np.abs(self._extremes).max())
        steps = int(self.step[-1] - self.step[0])
        return float(8 * np.finfo(float).eps * np.sqrt(1 + max(steps, 0)) * largest)

    def closes(self, tolerance: float = TRUSTED) -> bool:
        """Whether the books close to ``tolerance`` times :attr:`scale`, or to round-off where nothing moved.

        Without a tolerance: whether the motion is trusted; :attr:`closing` tells how well, if not to ``EXACT``.
        """
        return self.closing_error <= max(tolerance * self.scale, self.round_off)

    @property
    def balance(self) -> dict[str, float]:
        """Entries at the end in J, the ``initial`` energy, and the ``residual``."""
        if not len(self.time):
            return {}
        end = {entry.name: float(getattr(self, entry.name)[-1]) for entry in fields(self)[2:]}
        return {"initial": float(self.total[0]), **end, "residual": float(self.residual[-1])}

    @property
    def closing(self) -> str:
        """Whether the books close, in a few words, e.g. "closes to 3.0e-08 of the energy only"."""
        if not self.closes(TRUSTED):
            return "does not close"
        if not self.closes(EXACT):
            return f"closes to {self.closing_error / self.scale:.1e} of the energy only"
        return "closes"

    @property
    def verdict(self) -> str:
        """Whether the books close, in a sentence."""
        scale, error = self.scale, self.closing_error
        share = f" ({error / scale:.1e} of it)" if scale > 0 else ""
        return f"The ledger {self.closing}: off by at most {error:.1e} J of {number(scale)} J turned over{share}."

    def __repr__(self) -> str:
        return f"Ledger({counted(len(self.time), 'sample')}: {self.closing}, off by at most {self.closing_error:.1e} J)"

    def __str__(self) -> str:
        return self.table()

    def _card(self) -> Card:
        return Card(repr(self), text=self.table())

    def table(self) -> str:
        """The ledger at the start and at the end, as text."""
        if not len(self.time):
            return "The ledger is empty."
        rows = []
        for name, title in TITLES.items():
            column, sign = getattr(self, name), "−" if name in SIGN else "+"
            rows.append([f"{sign} {title}", number(column[0]), number(column[-1]), number(_change(column))])
        total = self.total
        rows.append(["= sum", number(total[0]), number(total[-1]), number(_change(total))])
        return "\n".join([*aligned(["energy / J", "start", "end", "change"], rows), self.verdict])


def _largest(low: np.floating, high: np.floating) -> float:
    """The greatest absolute value between two; nan if they are."""
    return float(np.maximum(np.abs(low), np.abs(high)))


def _change(column: np.ndarray) -> float:
    """From the first to the last value; nan if they are infinite."""
    with np.errstate(invalid="ignore", over="ignore"):
        return float(column[-1] - column[0])
