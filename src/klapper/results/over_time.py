"""SignalStatistics of a motion over time: least, largest, mean and root mean square of every coordinate, gap and force.

    mean = 1/T ∫ x dt,   rms² = 1/T ∫ x² dt

A method that knows the motion between its samples has them from there; else they are those of the saved samples:
positions, velocities and gaps by straight lines, forces as they are, means over the interval before a sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.contact_states import IMPACT
from klapper.results.errors import ResultsError

if TYPE_CHECKING:
    from klapper.results.run import Run
    from klapper.results.samples import Layout, Samples

QUANTITIES = ("position", "velocity", "gap", "force", "friction")


@dataclass(frozen=True, eq=False)
class SignalStatistics:
    """Of n histories over time; nan where there is none, as the gap of a friction element.

    ``least``, ``largest``, ``mean``, ``rms``  (n,) in the unit of the quantity

    >>> import numpy as np
    >>> from klapper.results import SignalStatistics
    >>> SignalStatistics(np.array([-1.0]), np.array([2.0]), np.array([0.5]), np.array([1.0])).span
    array([3.])
    """

    least: np.ndarray
    largest: np.ndarray
    mean: np.ndarray
    rms: np.ndarray

    @property
    def span(self) -> np.ndarray:
        """(n,) largest − least."""
        return self.largest - self.least


@dataclass(frozen=True, eq=False)
class OverTime:
    """SignalStatistics of everything that a run keeps a history of, see :attr:`klapper.results.Run.over_time`.

    ``position``  of the nq coordinates [m, rad], ``velocity`` of the nv velocities [m/s, rad/s]
    ``gap``       of the m contacts [m]
    ``force``     of their normal forces, ``friction`` of their tangential forces [N], in space of its size; impacts
                  have impulses and no forces, so that they are left out

    A ball thrown up with 10 m/s under 10 m/s² reaches 5 m; its height is 10/3 m in the mean of 2 s:

    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> height = simulate(LinearSystem([1.0], force=[-10.0], velocity=[10.0]), 2.0, EventDriven()).over_time.position
    >>> height.largest.round(9), height.mean.round(9)
    (array([5.]), array([3.33333333]))
    """

    position: SignalStatistics
    velocity: SignalStatistics
    gap: SignalStatistics
    force: SignalStatistics
    friction: SignalStatistics

    @staticmethod
    def of(run: Run) -> OverTime:
        """What the run brings along, else the statistics of its samples."""
        stored = run.about.get("over_time")
        if stored is not None:
            try:
                return OverTime(*(_read(stored[name]) for name in QUANTITIES))
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
                raise ResultsError("The statistics over time of this run are damaged.") from error
        tally = Tally(run.layout)
        tally.take_samples(run.samples)
        return tally.over_time

    def plain(self) -> dict[str, Any]:
        """As numbers by name, for a file."""
        return {name: vars(getattr(self, name)) for name in QUANTITIES}


class Tally:
    """Sums from which statistics follow, taken piece by piece: five arrays (n,), plain enough to be stored.

    The n signals are the coordinates, velocities and, of contacts that are listed, gaps, normal forces and friction.
    """

    def __init__(self, layout: Layout) -> None:
        m = len(layout.contacts)
        sizes = (len(layout.coordinates), len(layout.velocities), m, m, m if layout.tangential else 0)
        self.edges = np.cumsum([0, *sizes])
        n = int(self.edges[-1])
        self.least, self.largest = np.full(n, np.inf), np.full(n, -np.inf)
        self.sums, self.squares, self.time = np.zeros(n), np.zeros(n), np.zeros(n)

    @property
    def empty(self) -> bool:
        return not self.time.any()

    def written(self) -> np.ndarray:
        """(5, n)."""
        return np.array([self.least, self.largest, self.sums, self.squares, self.time])

    def read(self, written: np.ndarray) -> None:
        self.least, self.largest, self.sums, self.squares, self.time = (row.copy() for row in written)

    def take_extremes(self, values: np.ndarray, first: int = 0) -> None:
        """Values (k, j) of the j signals from number ``first`` on; nan is left out."""
        at = slice(first, first + values.shape[1])
        self.least[at] = np.fmin(self.least[at], np.fmin.reduce(values, axis=0))
        self.largest[at] = np.fmax(self.largest[at], np.fmax.reduce(values, axis=0))

    def take_samples(self, samples: Samples) -> None:
        """Samples that follow each other; the first one only begins."""
        if len(samples) == 0:
            return
        lines = np.hstack([samples.position, samples.velocity, samples.gap])
        count = lines.shape[1]
        self.take_extremes(lines)
        duration = np.diff(samples.time)
        before, after = lines[:-1], lines[1:]
        self.sums[:count] += 0.5 * (duration @ (before + after))
        self.squares[:count] += duration @ (before**2 + before * after + after**2) / 3.0
        self.time[:count] += duration.sum()
        if len(self.least) > count and len(duration):
            self._take_forces(samples, duration)

    def _take_forces(self, samples: Samples, duration: np.ndarray) -> None:
        first = int(self.edges[3])
        with np.errstate(divide="ignore", invalid="ignore"):
            forces = samples.impulse[1:] / duration[:, None, None]
        seen = seen_forces(forces)[:, : len(self.least) - first]
        felt = np.tile(
            (samples.state[1:] != IMPACT) & (duration > 0.0)[:, None], seen.shape[1] // len(forces[0])
        )
        seen = np.where(felt, seen, 0.0)
        weight = np.where(felt, duration[:, None], 0.0)
        self.take_extremes(np.where(felt, seen, np.nan), first)
        self.sums[first:] += np.sum(weight * seen, axis=0)
        self.squares[first:] += np.sum(weight * seen**2, axis=0)
        self.time[first:] += weight.sum(axis=0)

    @property
    def over_time(self) -> OverTime:
        with np.errstate(divide="ignore", invalid="ignore"):
            mean, rms = self.sums / self.time, np.sqrt(self.squares / self.time)
        least = np.where(np.isfinite(self.least), self.least, np.nan)
        largest = np.where(np.isfinite(self.largest), self.largest, np.nan)
        # a run of no duration is at rest where it is
        mean, rms = np.where(self.time > 0.0, mean, least), np.where(self.time > 0.0, rms, np.abs(least))
        columns = (least, largest, mean, rms)
        return OverTime(
            *(
                SignalStatistics(*(column[begin:end] for column in columns))
                for begin, end in zip(self.edges[:-1], self.edges[1:], strict=True)
            )
        )


def seen_forces(forces: np.ndarray) -> np.ndarray:
    """Normal forces and, with friction, tangential ones (k, m or 2 m) from (k, m, 1 + d); in space their size."""
    normal = forces[:, :, 0]
    if forces.shape[2] == 1:
        return normal
    across = forces[:, :, 1] if forces.shape[2] == 2 else np.hypot(forces[:, :, 1], forces[:, :, 2])
    return np.hstack([normal, across])


def _read(stored: dict[str, Any]) -> SignalStatistics:
    return SignalStatistics(
        *(np.array(stored[name], dtype=float) for name in ("least", "largest", "mean", "rms"))
    )
