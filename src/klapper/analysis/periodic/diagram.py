"""Bifurcation diagrams by simulation: where motions settle, over a parameter.

For every value the motion is simulated for a while and then looked at: at its returns to a section (every period of the
forcing, if nothing else is said). Nothing is assumed about what it settles to; therefore this is the check of branches
that were followed. From value to value the motion goes on from where it was, so that of several attractors the one is
seen that it comes from: go up and down to see hysteresis.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.analysis.periodic.flow_map import scheme_for
from klapper.analysis.periodic.forcing import forcing_period
from klapper.analysis.poincare_section import PoincareSection, Stroboscope
from klapper.counting import counted
from klapper.mechanics.arguments import finite, number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import State, System, require_system
from klapper.progress import tally_for
from klapper.results import Run
from klapper.schemes.base import Scheme, require_scheme
from klapper.schemes.phases import Phased
from klapper.shown import Shown, drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SAMPLES = 200  # per period, between which a section is looked for


@dataclass(frozen=True, eq=False, repr=False)
class BifurcationDiagram(Shown):
    """What is seen of the motion at every value of a parameter.

    ``values``  (v,) in the unit of the parameter
    ``seen``    one array (k, …) for each of them, in the units of what is looked at
    ``last``    the states at the end

    x'' + x' + x = cos Ωt, seen once per period: at Ω = 1 it is sin t, at Ω = 2 its velocity is 4/13:

    >>> from klapper.analysis import bifurcation_diagram
    >>> from klapper.mechanics import Harmonic, LinearSystem
    >>> driven = lambda speed: LinearSystem([1.0], damping=[1.0], stiffness=[1.0], force=Harmonic([1.0], speed))
    >>> seen = bifurcation_diagram(driven, [1.0, 2.0], settle=20, keep=1).seen
    >>> [float((states[-1, 1] * 13.0).round(6)) for states in seen]
    [13.0, 4.0]
    """

    values: np.ndarray
    seen: tuple[np.ndarray, ...]
    last: tuple[State, ...]

    def __str__(self) -> str:
        points = sum(len(seen) for seen in self.seen)
        return (
            f"Bifurcation diagram: {counted(points, 'point')} at {counted(len(self.seen), 'value')} of the parameter "
            f"from {self.values[0]:.6g} to {self.values[len(self.seen) - 1]:.6g}"
        )

    def plot(
        self, onto: Any = None, *, column: int = 0, parameter: str = "parameter", quantity: str = ""
    ) -> Figure:
        """What was seen over the parameter, as points; ``column`` of what has several, texts for the axes."""
        figure = onto if onto is not None else drawing()
        axes = figure.subplots() if hasattr(figure, "subplots") else figure
        several = any(seen.ndim > 1 for seen in self.seen)
        values, seen = self.scatter(column if several else None)
        axes.plot(values, seen, ".", markersize=2.0)
        axes.set(xlabel=parameter, ylabel=quantity or (f"column {column}" if several else "seen"))
        return axes.figure

    def scatter(self, column: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Parameters (N,) and what was seen (N,), ready for a plot; ``column`` of what has several."""
        parts = [seen if column is None else seen[:, column] for seen in self.seen]
        return np.repeat(self.values[: len(parts)], [len(part) for part in parts]), np.concatenate(parts)


def bifurcation_diagram(
    family: Callable[[float], System],
    values: Sequence[float] | np.ndarray,
    *,
    settle: int = 100,
    keep: int = 32,
    period: float | Callable[[float], float] | None = None,
    section: PoincareSection | Stroboscope | None = None,
    quantity: Callable[[Run], Any] | None = None,
    start: State | None = None,
    scheme: Scheme | None = None,
    progress: bool | None = None,
) -> BifurcationDiagram:
    """Settle at every value of a parameter, and look.

    ``family``    parameter → system
    ``values``    (v,) in the unit of the parameter, in the order in which they are visited
    ``settle``    periods before looking, ``keep`` periods of looking
    ``period``    [s], a number or a function of the parameter: of the forcing, where it cannot be read off; where
                  nothing depends on time, a length of time to count in
    ``section``   at whose returns the states (k, 2n) are taken; default: once per period, from the start time on
    ``quantity``  of the run that is kept instead: run → (k, …), e.g. impulses of impacts
    ``start``     state to begin with; default: the start of the first system. Every run takes whole periods from the
                  start time of its system on
    ``scheme``    default PiecewiseExact if it can treat the system, else EventDriven
    ``progress``  show how many values are done; None: on a terminal

    Ctrl-C ends the diagram early and keeps what there is.

    x'' + x' + x = cos t is x = sin t in the long run, and has the velocity 1 at the times 2π k:

    >>> from klapper.analysis import bifurcation_diagram
    >>> from klapper.mechanics import Harmonic, LinearSystem
    >>> driven = lambda speed: LinearSystem([1.0], damping=[1.0], stiffness=[1.0], force=Harmonic([1.0], speed))
    >>> values, velocities = bifurcation_diagram(driven, [1.0], settle=20, keep=2).scatter(1)
    >>> velocities.round(6)
    array([1., 1.])
    """
    wanted = finite(values, "values")
    if wanted.ndim != 1 or len(wanted) == 0:
        raise InvalidModel(f"values has shape {wanted.shape}, expected (v,): values of the parameter.")
    if scheme is not None:
        require_scheme(scheme)
    if settle < 0 or keep < 1:
        raise InvalidModel(f"settle is {settle} and keep {keep}; allowed are numbers from 0 and from 1 on.")
    seen: list[np.ndarray] = []
    last: list[State] = []
    try:
        with tally_for(progress, len(wanted), "values") as shown:
            for value in wanted:
                system = family(float(value))
                require_system(system)
                length = _length(system, float(value), period)
                before = last[-1] if last else start or system.start
                begin = State(system.start.time, before.position, before.velocity)
                method: Any = scheme or _sampled(scheme_for(system), length, section, quantity)
                run = _run(system, begin, length, settle, keep, method)
                seen.append(np.asarray(_look(run, section, quantity, length, keep)))
                last.append(State(*run.final))
                shown.count(len(last))
    except KeyboardInterrupt:
        pass
    return BifurcationDiagram(wanted[: len(seen)], tuple(seen), tuple(last[: len(seen)]))


def _length(system: System, value: float, period: Any) -> float:
    if period is not None:
        given = period(value) if callable(period) else period
        return number(given, "period", "numbers above 0, in s", above=0.0)
    length = forcing_period(system)
    if length is None:
        raise InvalidModel(f"nothing in '{system.name}' depends on time; give a period to count in, in s.")
    return length


def _sampled(scheme: Phased, length: float, section: Any, quantity: Any) -> Phased:
    """With the samples that are needed to look."""
    if quantity is not None:
        return scheme
    return replace(scheme, sample=length if section is None else length / _SAMPLES)


def _run(system: System, begin: State, length: float, settle: int, keep: int, scheme: Scheme) -> Run:
    """The part of the motion that is looked at."""
    from klapper.simulation import simulate

    begun = copy.copy(system)
    begun.start = begin
    if settle:
        begun.start = State(*simulate(begun, begin.time + settle * length, scheme, progress=False).final)
    return simulate(begun, begun.start.time + keep * length, scheme, progress=False)


def _look(run: Run, section: Any, quantity: Any, length: float, keep: int) -> Any:
    if quantity is not None:
        return quantity(run)
    if section is not None:
        return section.returns(run).states
    ends = Stroboscope(length, float(run.time[0])).returns(run).states
    return ends[-keep:]  # of the periods that are kept, without the beginning of the first
