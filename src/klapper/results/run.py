"""A run: the motion that was computed, and everything that can be asked of it.

Impulses are kept apart from forces. A contact force is the impulse between two samples divided by their distance in
time, and exists only where no impact happened in between; an impact has an impulse and no force.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from klapper.contact_states import IMPACT, OPEN
from klapper.results import overview
from klapper.results.citations import references
from klapper.results.conservation import Conservation
from klapper.results.errors import ResultsError, place
from klapper.results.events import Changes, Event, Impacts, as_events, changes, contact_name
from klapper.results.ledger import Ledger
from klapper.results.over_time import OverTime
from klapper.results.plain import plain
from klapper.results.samples import Layout, Samples
from klapper.results.statistics import Statistics
from klapper.shown import Card, Shown

if TYPE_CHECKING:
    import pandas
    import xarray

    from klapper.results.harmonics import Harmonics
    from klapper.results.plots import Plots

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ContactHistory:
    """One contact over the s samples of a run.

    ``name``     of the contact
    ``time``     (s,) [s]
    ``gap``      (s,) [m]; nan where a contact that is logged by number was not loaded
    ``impulse``  (s, 1+tangential) [N s], normal and tangential, since the previous sample; where possible contacts are
                 too many to be listed, in the last step before the sample
    ``force``    (s, 1+tangential) [N], mean since the previous sample; nan where an impact happened since then
    ``state``    (s,) one of the numbers ``OPEN``, ``STICK``, ``SLIP`` or ``IMPACT``

    A block of 1 kg rests on the floor under its weight of 10 N:

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> block = LinearSystem([1.0], force=[-10.0], contacts=[Contact("floor", normal=[1.0])])
    >>> floor = simulate(block, 1.0, EventDriven()).contact("floor")
    >>> floor.force[-1].round(9), floor.impulse.sum().round(9)
    (array([10.]), np.float64(10.0))
    """

    name: str
    time: np.ndarray
    gap: np.ndarray
    impulse: np.ndarray
    force: np.ndarray
    state: np.ndarray

    @property
    def impacts(self) -> Impacts:
        """Intervals with an impact: their times and impulses."""
        hit = np.flatnonzero(self.state == IMPACT)
        return Impacts(self.time[hit], (self.name,) * len(hit), self.impulse[hit])


@dataclass(frozen=True, eq=False, repr=False)
class Run(Shown):
    """A computed motion with its contact impulses, energies and origin.

    ``layout``   what the columns of the samples mean
    ``samples``  s saved samples
    ``about``    plain data about the run: "system", "scheme", "settings", "version", "steps", "wall_time" (s),
                 "status" ("complete", "interrupted" or "failed"), "message", "audit", "citations" (keys of
                 :mod:`klapper.results.citations`), "conservation", "statistics", "iterations"; any of them may be
                 missing

    A ball dropped from 1.25 m hits the floor after 0.5 s with 5 m/s, leaves with 3 m/s and is 0.25 m up at 1 s:

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> floor = Contact("floor", normal=[1.0], restitution=0.6)
    >>> ball = LinearSystem([1.0], force=[-10.0], position=[1.25], contacts=[floor], coordinates=["height"])
    >>> run = simulate(ball, 1.0, EventDriven())
    >>> run.coordinate("height")[-1].round(9), run.speed("height")[-1].round(9), len(run.impacts().time)
    (np.float64(0.25), np.float64(-2.0), 1)
    """

    layout: Layout
    samples: Samples
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.samples.require(self.layout)
        if not isinstance(self.about, Mapping):
            raise ResultsError(
                f"about is a {type(self.about).__name__}; allowed are names with their values."
            )
        object.__setattr__(self, "about", plain(self.about, "about"))

    def told(self, about: Mapping[str, Any]) -> Run:
        """The same run with other data about it; samples and ledger are not judged again."""
        other = object.__new__(Run)
        for name, value in (
            ("layout", self.layout),
            ("samples", self.samples),
            ("about", plain(about, "about")),
        ):
            object.__setattr__(other, name, value)
        if "ledger" in self.__dict__:
            other.__dict__["ledger"] = self.ledger
        return other

    def __len__(self) -> int:
        return len(self.samples)

    def __repr__(self) -> str:
        return f"Run({overview.headline(self)})"

    def _card(self) -> Card:
        rows = overview.rows(self)
        return Card(
            f"Run of {overview.headline(self)}",
            sentence=self.ledger.verdict,
            rows=[(title, text) for title, text in rows if title not in ("run", "ledger")],
            draw=self.plot.positions if len(self) > 1 and self.layout.coordinates else None,
        )

    @property
    def time(self) -> np.ndarray:
        """(s,) s."""
        return self.samples.time

    @property
    def position(self) -> np.ndarray:
        """(s, nq) generalised coordinates in m, rad."""
        return self.samples.position

    @property
    def velocity(self) -> np.ndarray:
        """(s, nv) generalised velocities in m/s, rad/s."""
        return self.samples.velocity

    @property
    def gap(self) -> np.ndarray:
        """(s, m) m."""
        return self.samples.gap

    @property
    def impulse(self) -> np.ndarray:
        """(s, m, 1+tangential) N s, normal and tangential, since the previous sample."""
        return self.samples.impulse

    @property
    def state(self) -> np.ndarray:
        """(s, m) ``OPEN``, ``STICK``, ``SLIP`` or ``IMPACT``."""
        return self.samples.state

    @cached_property
    def force(self) -> np.ndarray:
        """(s, m, 1+tangential) N, mean since the previous sample; nan where the contact was hit since then."""
        return mean_force(self.impulse, self.time, self.state == IMPACT)

    @cached_property
    def constraint_force(self) -> np.ndarray:
        """(s, p) N, mean since the previous sample; nan where any contact was hit since then."""
        hit = np.any(self.state == IMPACT, axis=1)
        if self.samples.loaded is not None:
            hit = hit.copy()
            hit[self.samples.loaded.sample[self.samples.loaded.state == IMPACT]] = True
        return mean_force(self.samples.constraint_impulse, self.time, hit)

    @property
    def final(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Time, position (nq,) and velocity (nv,) of the last sample."""
        if not len(self):
            raise ResultsError("The run has no samples, so there is no final state.")
        return float(self.time[-1]), self.position[-1], self.velocity[-1]

    def position_at(self, times: Any) -> np.ndarray:
        """(k, nq) position at ``times`` (k,) [s] within the run.

        Between samples by cubic polynomials that meet the velocities; by straight lines where a contact was hit in
        between, and where velocities are not the rates of the coordinates (quaternions).
        """
        times = np.asarray(times, dtype=float)
        slack = 1e-9 * max(float(np.ptp(self.time)), 0.0)
        if not len(self) or np.any(times < self.time[0] - slack) or np.any(times > self.time[-1] + slack):
            reach = f"{self.time[0]:g} s to {self.time[-1]:g} s" if len(self) else "no samples"
            raise ResultsError(f"times must lie within the run, which has {reach}.")
        after = np.clip(np.searchsorted(self.time, times, side="left"), 1, max(len(self) - 1, 1))
        if len(self) == 1:
            return np.repeat(self.position, len(times), axis=0)
        before = after - 1
        size = self.time[after] - self.time[before]
        share = np.divide(times - self.time[before], size, out=np.ones(len(times)), where=size > 0.0)[:, None]
        one, two = self.position[before], self.position[after]
        straight = (1.0 - share) * one + share * two
        if len(self.layout.coordinates) != len(self.layout.velocities):
            return straight
        bend = size[:, None] * np.stack([self.velocity[before], self.velocity[after]])
        curved = straight + share * (1.0 - share) * (
            (1.0 - share) * (bend[0] - (two - one)) - share * (bend[1] - (two - one))
        )
        hit = np.any(self.state[after] == IMPACT, axis=1)[:, None]
        return np.where(hit, straight, curved)

    def harmonics(
        self,
        output: Any,
        frequency: float,
        *,
        count: int = 10,
        periods: int = 1,
        quantity: str | None = None,
    ) -> Harmonics:
        """Amplitude and phase of each harmonic of an output in the last ``periods`` of the run.

        ``output``     name of a coordinate or contact, a row (nq,) of coordinates, or values (s,) at the samples
        ``frequency``  of the fundamental [Hz], of the load or a part of it; ``count`` harmonics besides the mean
        ``quantity``   "position", "velocity" or "acceleration" of a coordinate or row; "gap", "force" or "friction" of
                       a contact; None: the first

        >>> from klapper.mechanics import Harmonic, LinearSystem
        >>> from klapper.schemes import PiecewiseExact
        >>> from klapper.simulation import simulate
        >>> swing = LinearSystem([1.0], stiffness=[5.0], damping=[2.0], force=Harmonic([4.0], 1.0), coordinates=["x"])
        >>> run = simulate(swing, 60.0, PiecewiseExact())
        >>> round(float(run.harmonics("x", 0.5 / np.pi).amplitude[1]), 4)  # 4/|5 − 1 + 2i|
        0.8944
        """
        from klapper.results.harmonics import harmonics

        return harmonics(self, output, frequency, count=count, periods=periods, quantity=quantity)

    def coordinate(self, name: str) -> np.ndarray:
        """(s,) the coordinate called ``name``, in m or rad."""
        return self.position[:, place(name, self.layout.coordinates, "coordinate")]

    def speed(self, name: str) -> np.ndarray:
        """(s,) the generalised velocity called ``name``, in m/s or rad/s, with its sign."""
        return self.velocity[:, place(name, self.layout.velocities, "velocity")]

    def contact(self, name: str | int) -> ContactHistory:
        """The contact called ``name``, or the one of that number."""
        number = self._number(name)
        if self.samples.loaded is None:
            force = mean_force(self.impulse[:, number], self.time, self.state[:, number] == IMPACT)
            gap, impulse, state = self.gap[:, number], self.impulse[:, number], self.state[:, number]
        else:
            gap, impulse, state = self._logged(number)
            force = mean_force(impulse, self.log_time, state == IMPACT)
        return ContactHistory(contact_name(self.layout, number), self.time, gap, impulse, force, state)

    def impacts(self) -> Impacts:
        """Intervals between samples in which a contact was hit, in the order of time."""
        hit = self.changes.of(self.changes.after == IMPACT)
        names = tuple(contact_name(self.layout, contact) for contact in hit.contact.tolist())
        return Impacts(self.time[hit.sample], names, hit.impulse)

    def events(self, contact: str | int | None = None) -> list[Event]:
        """What the contacts did, or one of them, in the order of time."""
        found = (
            self.changes
            if contact is None
            else self.changes.of(self.changes.contact == self._number(contact))
        )
        return list(as_events(found, self.samples, self.layout))

    @cached_property
    def changes(self) -> Changes:
        """The events as arrays, for runs that have very many."""
        return changes(self.samples, self.layout)

    @cached_property
    def ledger(self) -> Ledger:
        """The energies over time, and whether they balance."""
        return Ledger.of(self.samples)

    @cached_property
    def over_time(self) -> OverTime:
        """Least, largest, mean and rms of every coordinate, velocity, gap and force, of the motion itself."""
        return OverTime.of(self)

    @property
    def conservation(self) -> Conservation:
        """Whether energy, momentum and angular momentum were kept, for systems that know their momenta."""
        stored = self.about.get("conservation")
        if stored is None:
            raise ResultsError(
                "The system of this run does not know its momentum, so nothing is told of it; see run.ledger for "
                "the energy."
            )
        return _read("conservation", Conservation.read, stored)

    @property
    def statistics(self) -> Statistics:
        """Steps, iterations and factorisations of the run, and the time [s] by part."""
        stored = self.about.get("statistics")
        if stored is None:
            raise ResultsError(
                "This run tells nothing about its iterations: it was stored by an older version."
            )
        return _read("statistics", Statistics.read, stored)

    @property
    def plot(self) -> Plots:
        """Figures of the run, such as ``run.plot.positions()``."""
        from klapper.results.plots import Plots

        return Plots(self)

    def summary(self) -> str:
        """The run in a few lines of text."""
        return "\n".join(overview.summary(self))

    def citation(self, *, bibtex: bool = False) -> str:
        """The publications behind the run, as lines of text or as BibTeX."""
        keys = self.about.get("citations") or ()
        if not isinstance(keys, list | tuple) or not all(isinstance(key, str) for key in keys):
            raise ResultsError("The citations of this run are damaged.")
        return references(keys, bibtex=bibtex)

    def save(self, path: str | Path) -> Path:
        """Write the run into an HDF5 file, whole or not at all; the path of the file."""
        from klapper.results.files import write_run

        return write_run(Path(path), self)

    def export(self, path: str | Path) -> Path:
        """Write every history as a column of a .csv or .npz file, for other programs; the path of the file."""
        from klapper.results.histories import write_histories

        return write_histories(Path(path), self)

    def to_pandas(self) -> pandas.DataFrame:
        """The histories as a table over time, a column for each number, as :meth:`export` writes them."""
        from klapper.results.dataset import frame

        return frame(self)

    def to_xarray(self) -> xarray.Dataset:
        """The samples as a labelled dataset with units."""
        from klapper.results.dataset import dataset

        return dataset(self)

    @property
    def log_time(self) -> np.ndarray:
        """(s,) s, whose differences are the durations over which impulses of logged contacts act: one step."""
        settings = self.about.get("settings", {})
        step = settings.get("step_size", settings.get("step"))  # older files call it step
        if self.samples.loaded is None or step is None or settings.get("accuracy") is not None:
            return self.time
        return np.arange(len(self)) * float(step)

    def _number(self, name: str | int) -> int:
        """The number of a contact."""
        if isinstance(name, str):
            if self.samples.loaded is not None:
                raise ResultsError(
                    f"This run logs its contacts by number: give a number instead of '{name}'."
                )
            return place(name, self.layout.contacts, "contact")
        if self.samples.loaded is None and not 0 <= name < len(self.layout.contacts):
            raise ResultsError(
                f"There is no contact {name}: the run has {len(self.layout.contacts)}, counted from 0."
            )
        return int(name)

    def _logged(self, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gap, impulse and state of a contact that is logged by number."""
        loaded = self.samples.loaded
        assert loaded is not None
        gap = np.full(len(self), np.nan)
        impulse = np.zeros((len(self), loaded.impulse.shape[1]))
        state = np.full(len(self), OPEN, dtype=np.int8)
        entries = np.flatnonzero(loaded.contact == number)
        samples = np.searchsorted(loaded.start, entries, side="right") - 1
        gap[samples], impulse[samples], state[samples] = (
            loaded.gap[entries],
            loaded.impulse[entries],
            loaded.state[entries],
        )
        return gap, impulse, state


def _read(name: str, reader: Callable[[Any], T], stored: Any) -> T:
    """What a file tells about a run, which may be anything."""
    try:
        return reader(stored)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ResultsError(f"The {name} of this run are damaged.") from error


def mean_force(impulse: np.ndarray, time: np.ndarray, hit: np.ndarray) -> np.ndarray:
    """Impulse divided by the time since the previous sample; nan at the first sample and where ``hit``."""
    interval = np.full(len(time), np.nan)
    interval[1:] = np.diff(time)
    interval[interval <= 0] = np.nan
    interval = interval.reshape((-1,) + (1,) * (hit.ndim - 1))
    interval = np.where(hit, np.nan, interval)
    return impulse / interval.reshape(interval.shape + (1,) * (impulse.ndim - interval.ndim))
