"""How many modes does a motion need? One system, reduced to more and more coordinates.

    study = mode_convergence(system, [3, 6, 10, 15], 0.25, Moreau(1e-4), rows={"A": beam.row(0.4)})
    print(study)
    study.plot()

Every run is measured against the richest one, over time, in displacements r · q of the full structure and in gaps.
Distances of impacting motions grow at every impact; look at them over time before trusting their means.
Waltersberger Figs. 5.22-5.25.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.counting import counted
from klapper.mechanics import InvalidModel, LinearSystem
from klapper.reduction import Reduced, modal
from klapper.results import Run
from klapper.results.drawing import colours, figure_of, is_figure
from klapper.results.errors import ResultsError, place
from klapper.results.tables import aligned, number
from klapper.schemes.base import Scheme
from klapper.shown import drawing
from klapper.simulation import SimulationFailed, simulate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_SHOWN = 6  # outputs with a column of their own in the printed table


@dataclass(frozen=True, eq=False)
class ModeConvergence:
    """The same motion with different numbers of modes.

    ``counts``   numbers of modes that gave a run, rising; the last one is the reference
    ``times``    (k,) [s] at which runs are compared
    ``values``   by the name of the output: (c, k) [m or rad], one line per count
    ``reduced``  the reductions, ``runs`` the runs of their systems, by count
    ``refused``  counts that gave no run, and why

    Two masses between walls, let go in the shape of the first mode, need one mode:

    >>> from klapper.analysis import mode_convergence
    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import PiecewiseExact
    >>> chain = LinearSystem([1.0, 1.0], stiffness=[[2.0, -1.0], [-1.0, 2.0]], position=[0.1, 0.1])
    >>> compared = mode_convergence(chain, [1, 2], 1.0, PiecewiseExact(), rows={"first": [1.0, 0.0]}, samples=4)
    >>> compared.enough(1e-9), compared.reference
    (1, 2)
    """

    counts: tuple[int, ...]
    times: np.ndarray
    values: Mapping[str, np.ndarray]
    reduced: Mapping[int, Reduced]
    runs: Mapping[int, Run]
    refused: Mapping[int, str] = field(default_factory=dict)

    @property
    def reference(self) -> int:
        return self.counts[-1]

    def distance(self, count: int, output: str | None = None) -> np.ndarray:
        """(k,) distance to the reference over time [m or rad]: of one output, or the largest of all."""
        if count not in self.counts:
            raise ResultsError(
                f"there is no run with {counted(count, 'mode')}; counts are {', '.join(map(str, self.counts))}."
            )
        line = self.counts.index(count)
        names = (
            list(self.values)
            if output is None
            else [list(self.values)[place(output, list(self.values), "output")]]
        )
        apart = [np.abs(self.values[name][line] - self.values[name][-1]) for name in names]
        return np.max(apart, axis=0)

    @cached_property
    def deviations(self) -> dict[str, np.ndarray]:
        """Root mean square distances (c,) to the reference over time, by output [m or rad]."""
        return {
            name: np.sqrt(np.mean((lines - lines[-1]) ** 2, axis=1)) for name, lines in self.values.items()
        }

    def enough(self, tolerance: float, output: str | None = None) -> int:
        """The smallest count from which on all distances to the reference stay within ``tolerance`` [m or rad].

        The reference itself is the answer if no other count is good enough: then compute with more modes.
        """
        answer = self.reference
        for count in reversed(self.counts[:-1]):
            if self.distance(count, output).max() > tolerance:
                break
            answer = count
        return answer

    @property
    def table(self) -> list[dict[str, Any]]:
        """One row per count: size, reach, estimate of the reduction, cost, distances by output [m or rad]."""
        rows = []
        for line, count in enumerate(self.counts):
            reduced = self.reduced[count]
            rows.append(
                {
                    "modes": count,
                    "coordinates": reduced.system.size,
                    "highest frequency": reduced.error.highest,
                    "lost flexibility": float(np.nanmax(reduced.error.contact, initial=0.0)),
                    "seconds": float(self.runs[count].about.get("wall_time", np.nan)),
                    "largest distance": float(self.distance(count).max(initial=0.0)),
                    **{f"rms {name}": float(values[line]) for name, values in self.deviations.items()},
                }
            )
        return rows

    def __str__(self) -> str:
        shown = list(self.values)[:_MOST_SHOWN]
        header = ["modes", "coordinates", "up to / Hz", "lost flexibility", "time / s", "largest"]
        header += [f"rms {name}" for name in shown]
        rows = []
        for row in self.table:
            last = row["modes"] == self.reference
            apart = [row["largest distance"], *(row[f"rms {name}"] for name in shown)]
            cells = [f"{row['modes']}{' *' if last else ''}", str(row["coordinates"])]
            cells += [number(row["highest frequency"]), f"{100 * row['lost flexibility']:.2g} %"]
            cells += [f"{row['seconds']:.3g}", *("–" if last else f"{value:.2e}" for value in apart)]
            rows.append(cells)
        lines = aligned(header, rows)
        more = len(self.values) - len(shown)
        also = f"; {more} further outputs in largest" if more > 0 else ""
        lines.append(f"* reference; distances to it in m or rad at {len(self.times)} times{also}")
        lines += [f"{counted(count, 'mode')} gave no run: {why}" for count, why in self.refused.items()]
        return "\n".join(lines)

    def plot(self, onto: Figure | None = None, *, output: str | None = None) -> Figure:
        """One output by every count, its distances over time, their means over modes, the estimated losses."""
        if not is_figure(onto):
            raise ResultsError("A study of modes has four panels: give a figure to draw on, not axes.")

        figure = drawing(figsize=(9.0, 6.5)) if onto is None else onto
        (motion, means), (apart, losses) = figure.subplots(2, 2, width_ratios=(3, 2))
        names = list(self.values)
        name = names[0 if output is None else place(output, names, "output")]
        hues = colours(len(self.counts))
        for line, (count, hue) in enumerate(zip(self.counts, hues, strict=True)):
            motion.plot(
                self.times,
                self.values[name][line],
                color=hue,
                label=counted(count, "mode"),
                linewidth=1.2,
            )
            if count != self.reference:
                distance = self.distance(count, name)
                apart.semilogy(
                    self.times, np.where(distance > 0.0, distance, np.nan), color=hue, linewidth=1.0
                )
        span = (self.times[0], self.times[-1])
        motion.set(xlabel="time / s", ylabel=f"{name} / m or rad", xlim=span)
        apart.set(xlabel="time / s", ylabel=f"distance of {name} / m or rad", xlim=span)
        self._draw_means(means)
        self._draw_losses(losses)
        handles, _ = motion.get_legend_handles_labels()
        figure.legend(handles=handles, loc="outside upper left", ncols=6, frameon=False)
        return figure_of(motion)

    def _draw_means(self, axes: Axes) -> None:
        shown = list(self.values)[:_MOST_SHOWN]
        for name, hue in zip(shown, colours(len(shown)), strict=True):
            values = self.deviations[name][:-1]
            axes.semilogy(
                self.counts[:-1], np.where(values > 0.0, values, np.nan), "o-", color=hue, label=name
            )
        axes.set(xlabel="modes", ylabel="rms distance / m or rad")
        axes.legend(frameon=False)

    def _draw_losses(self, axes: Axes) -> None:
        lost = [100 * max(row["lost flexibility"], 1e-16) for row in self.table]
        axes.semilogy(self.counts, lost, "s-", color="0.3")
        axes.set(xlabel="modes", ylabel="lost contact flexibility / %")


def mode_convergence(
    system: LinearSystem,
    counts: Sequence[int],
    until: float,
    scheme: Scheme,
    *,
    reduce: Callable[[LinearSystem, int], Reduced] = modal,
    rows: Mapping[str, Any] | None = None,
    contacts: Sequence[str] | None = None,
    samples: int = 400,
    progress: bool | None = None,
) -> ModeConvergence:
    """Integrate ``system`` to the time ``until`` [s] with every number of modes, and compare with the richest.

    ``counts``    numbers of modes; ``scheme`` integrates all of them
    ``reduce``    a reduction of :mod:`klapper.reduction`: modal, quasi_static, attachment, craig_bampton, …
    ``rows``      rows r (n,) of the full system by the names that the displacements r · q shall have
    ``contacts``  names of contacts whose gaps are compared; None: all if no rows are given, else none
    ``samples``   number of common times at which runs are compared
    ``progress``  see :func:`klapper.simulate`

    Two masses between walls, let go in the shape of the second mode: the first mode alone stands still, 0.1 m off.

    >>> import numpy as np
    >>> from klapper.analysis import mode_convergence
    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import PiecewiseExact
    >>> chain = LinearSystem([1.0, 1.0], stiffness=[[2.0, -1.0], [-1.0, 2.0]], position=[0.1, -0.1])
    >>> period = 2.0 * np.pi / 3.0**0.5
    >>> compared = mode_convergence(chain, [1, 2], period, PiecewiseExact(), rows={"first": [1.0, 0.0]}, samples=2)
    >>> compared.distance(1).round(6), compared.enough(1e-9)  # at the start, after half a period and a whole one
    (array([0.1, 0.1, 0.1]), 2)
    """
    if not (isinstance(samples, int) and samples >= 2):
        raise InvalidModel(f"samples is {samples!r}; allowed are whole numbers from 2 on.")
    wanted = sorted({int(count) for count in counts})
    if len(wanted) < 2:
        raise InvalidModel(f"counts is {counts!r}; give at least two different numbers of modes.")
    named = _checked_rows(system, rows or {})
    watched = _watched(system, contacts, bool(named))
    times = np.linspace(system.start.time, float(until), samples + 1)
    reduced: dict[int, Reduced] = {}
    runs: dict[int, Run] = {}
    refused: dict[int, str] = {}
    for count in wanted:
        try:
            reduced[count] = reduce(system, count)
            runs[count] = simulate(
                reduced[count].system, until, scheme.sampled(float(times[1] - times[0])), progress=progress
            )
        except (InvalidModel, SimulationFailed) as error:
            refused[count] = str(error)
    if len(runs) < 2:
        told = "; ".join(f"{counted(count, 'mode')}: {reason}" for count, reason in refused.items())
        raise InvalidModel(f"fewer than two numbers of modes gave a run to compare. {told}")
    kept = tuple(runs)
    outputs = [_outputs(reduced[count], runs[count], named, watched, times) for count in kept]
    values = {name: np.array([output[name] for output in outputs]) for name in outputs[0]}
    return ModeConvergence(kept, times, values, {count: reduced[count] for count in kept}, runs, refused)


def _outputs(
    reduced: Reduced, run: Run, rows: Mapping[str, np.ndarray], watched: Sequence[str], times: np.ndarray
) -> dict[str, np.ndarray]:
    """(k,) by name."""
    found: dict[str, np.ndarray] = {}
    if rows:
        lines = reduced.output(run, np.array(list(rows.values())), times)
        found.update(zip(rows, lines.T, strict=True))
    if watched:
        gaps = reduced.gaps(run, times)
        found.update({f"gap {name}": gaps[:, reduced.system.contacts.number(name)] for name in watched})
    return found


def _checked_rows(system: LinearSystem, rows: Mapping[str, Any]) -> dict[str, np.ndarray]:
    checked = {name: np.asarray(row, dtype=float) for name, row in rows.items()}
    for name, row in checked.items():
        if row.shape != (system.size,):
            raise InvalidModel(f"row '{name}' has shape {row.shape}, expected ({system.size},).")
    return checked


def _watched(system: LinearSystem, contacts: Sequence[str] | None, has_rows: bool) -> list[str]:
    with_gap = system.contacts.has_normal
    if contacts is None:
        contacts = (
            []
            if has_rows
            else [name for name, has in zip(system.contacts.names, with_gap, strict=True) if has]
        )
    for name in contacts:
        if not with_gap[system.contacts.number(name)]:
            raise InvalidModel(
                f"friction element '{name}' has no gap to compare; name contacts, or give rows."
            )
    if not contacts and not has_rows:
        raise InvalidModel(
            "there is nothing to compare: the system has no gaps, so give rows={name: row (n,)}."
        )
    return list(contacts)
