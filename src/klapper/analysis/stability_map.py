"""Stability over one and two parameters, with the borders traced.

The verdict is asked for on a grid. Wherever two neighbours differ the border is bracketed on the line between them, and
what grows on its unstable side gives it a name: flutter (oscillations) or divergence. The crossings are linked to
curves. What happens between neighbours of the same verdict is not seen; choose the grid accordingly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.analysis.borders import Edges, bracketed, crossing_edges, linked
from klapper.analysis.stability_samples import NONE, STABLE, Judge, Samples
from klapper.mechanics.arguments import finite
from klapper.mechanics.errors import InvalidModel
from klapper.progress import tally_for
from klapper.results.drawing import axes_of, figure_of
from klapper.shown import Shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXISTENCE = "existence"
ACCURACY = 1e-10
_ROUGH = 1e-6  # accuracy of borders of existence
_LINES = {"flutter": ("#D55E00", "-"), "divergence": ("#0072B2", "--"), EXISTENCE: ("#555555", ":")}


@dataclass(frozen=True)
class StabilityChange:
    """Where the verdict changes along one parameter.

    ``at``         the parameter in its unit; ``before`` and ``after`` the verdicts on both sides
    ``angular_frequency``  [rad/s] of what grows there; nan if it is an end of existence

    A stiffness of 1 − load vanishes at the load 1:

    >>> from klapper.analysis import stability_over
    >>> course = stability_over(lambda load: ([[1.0]], [[0.1]], [[1.0 - load]]), [0.0, 0.6, 1.2])
    >>> change = course.changes[0]
    >>> round(change.at, 6), change.before, change.after, change.kind
    (1.0, 'stable', 'divergence', 'divergence')
    """

    at: float
    before: str
    after: str
    angular_frequency: float

    @property
    def kind(self) -> str:
        """ "flutter" or "divergence", what is unstable there; "existence" where the stationary state ends."""
        if NONE in (self.before, self.after):
            return EXISTENCE
        return self.after if self.before == STABLE else self.before


@dataclass(frozen=True, eq=False)
class StabilityCourse:
    """Stability along one parameter.

    ``x``          (a,) values of the parameter, in its unit
    ``growth``     (a,) [1/s] largest real part; nan: no stationary state
    ``angular_frequency``  (a,) [rad/s] of what grows fastest, likewise
    ``verdict``    (a,) one of "stable", "flutter", "divergence" or "none"
    ``changes``    where the verdict changes, rising

    A stiffness of 1 − load vanishes at the load 1; at 1.2 the motion grows with s² + 0.1 s − 0.2 = 0, s = 0.4 1/s:

    >>> from klapper.analysis import stability_over
    >>> course = stability_over(lambda load: ([[1.0]], [[0.1]], [[1.0 - load]]), [0.0, 0.6, 1.2])
    >>> round(course.critical, 6), float(course.growth[-1].round(9))
    (1.0, 0.4)
    """

    x: np.ndarray
    growth: np.ndarray
    angular_frequency: np.ndarray
    verdict: np.ndarray
    changes: tuple[StabilityChange, ...]

    @property
    def critical(self) -> float:
        """Where a stable motion first becomes unstable; nan if it does not."""
        found = (change.at for change in self.changes if change.before == STABLE and change.after != NONE)
        return next(found, float("nan"))

    def __str__(self) -> str:
        lines = [f"from {self.x[0]:.6g} to {self.x[-1]:.6g}: {self.verdict[0]} at the beginning"]
        lines += [f"  {change.at:.9g}: {change.before} → {change.after}" for change in self.changes]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class BorderCurve:
    """A traced border in the plane of two parameters.

    ``kind``       "flutter" or "divergence": what is unstable beside it; "existence": there the stationary state ends
    ``points``     (p, 2), x and y in their units, in order; the first and the last are the same if the curve is closed
    ``angular_frequency``  (p,) [rad/s] of what grows there; nan on borders of existence

    A stiffness x − y vanishes where x = y:

    >>> from klapper.analysis import stability_map
    >>> plane = stability_map(lambda x, y: ([[1.0]], [[0.1]], [[x - y]]), [0.5, 1.5, 2.5], [1.0, 2.0])
    >>> border = plane.curves[0]
    >>> border.kind, border.points.round(6).tolist()
    ('divergence', [[1.0, 1.0], [1.5, 1.5], [2.0, 2.0]])
    """

    kind: str
    points: np.ndarray
    angular_frequency: np.ndarray

    @property
    def closed(self) -> bool:
        return len(self.points) > 2 and bool(np.all(self.points[0] == self.points[-1]))


@dataclass(frozen=True, eq=False, repr=False)
class StabilityMap(Shown):
    """Verdicts over two parameters.

    ``x``, ``y``   (a,) and (b,) values of the parameters, in their units
    ``growth``     (b, a) [1/s] largest real part, nan where there is no stationary state
    ``angular_frequency``  (b, a) [rad/s] of what grows fastest, likewise
    ``verdict``    (b, a) one of "stable", "flutter", "divergence", or "none" where there is no stationary state
    ``boundary``   (b,), in the unit of x: for every y the smallest x at which a stable motion becomes unstable or back;
                   nan if none
    ``curves``     all borders between stable and unstable, and those of existence

    A stiffness x − y is negative where x < y:

    >>> from klapper.analysis import stability_map
    >>> plane = stability_map(lambda x, y: ([[1.0]], [[0.1]], [[x - y]]), [0.5, 1.5, 2.5], [1.0, 2.0])
    >>> plane.verdict[0].tolist(), plane.boundary.round(6)
    (['divergence', 'stable', 'stable'], array([1., 2.]))
    """

    x: np.ndarray
    y: np.ndarray
    growth: np.ndarray
    angular_frequency: np.ndarray
    verdict: np.ndarray
    boundary: np.ndarray
    curves: tuple[BorderCurve, ...]

    def table(self, x_name: str = "x", y_name: str = "y") -> str:
        """One line for every y: where the verdict changes, and the largest growth."""
        lines = [f"{y_name:>12}  {'critical ' + x_name:>18}  {'largest growth 1/s':>18}"]
        for y, x, growth in zip(self.y, self.boundary, self.growth, strict=True):
            largest = growth[~np.isnan(growth)].max(initial=-np.inf)
            lines.append(f"{y:>12.6g}  {'none' if np.isnan(x) else f'{x:.10g}':>18}  {largest:>18.6g}")
        return "\n".join(lines)

    def plot(
        self,
        onto: Figure | Axes | None = None,
        *,
        x_name: str = "x",
        y_name: str = "y",
        scale: tuple[float, float] = (1.0, 1.0),
        unit: str = "(1/s)",
    ) -> Figure:
        """Growth rates of unstable motions over both parameters (white: stable), borders by kind.

        ``scale`` multiplies x and y, e.g. for other units in the names of the axes; ``unit`` is that of the growth.
        """
        axes = axes_of(onto)
        a, b = scale
        shown = np.where((self.verdict != STABLE) & (self.verdict != NONE), self.growth, np.nan)
        if np.isfinite(shown).any():
            cells = axes.pcolormesh(
                a * self.x, b * self.y, shown, cmap="YlOrBr", shading="nearest", vmin=0.0, rasterized=True
            )
            figure_of(axes).colorbar(cells, ax=axes, label=f"growth rate / {unit}")
        if (self.verdict == NONE).any():
            missing = np.where(self.verdict == NONE, 1.0, np.nan)
            axes.pcolormesh(
                a * self.x, b * self.y, missing, cmap="Greys", vmin=0.0, vmax=4.0, shading="nearest"
            )
        for curve in self.curves:
            colour, line = _LINES[curve.kind]
            axes.plot(
                a * curve.points[:, 0], b * curve.points[:, 1], color=colour, linestyle=line, linewidth=1.8
            )
        for kind in dict.fromkeys(curve.kind for curve in self.curves):
            colour, line = _LINES[kind]
            name = "end of the stationary state" if kind == EXISTENCE else f"onset of {kind}"
            axes.plot([], [], color=colour, linestyle=line, linewidth=1.8, label=name)
        axes.set(xlabel=x_name, ylabel=y_name)
        axes.set(xlim=(a * self.x[0], a * self.x[-1]), ylim=(b * self.y[0], b * self.y[-1]))
        axes.grid(False)
        if self.curves:
            axes.legend(
                loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.3, frameon=False, ncols=3
            )
        return figure_of(axes)


def stability_over(
    judge: Callable[[float], Any],
    x: Sequence[float] | np.ndarray,
    *,
    accuracy: float = ACCURACY,
    neutral: float | None = None,
    progress: bool | None = None,
) -> StabilityCourse:
    """Stability at rising values of a parameter, and where it changes between them.

    ``x``         (a,) values of the parameter, in its unit
    ``judge``     a function of the parameter: :class:`Stability`, or matrices (M, D, K) (n, n), which is faster. Where
                  it raises :class:`~klapper.mechanics.InvalidModel` there is no stationary state
    ``accuracy``  of the changes, relative to the distance of neighbouring values
    ``neutral``   growth [1/s] that still counts as none; None: 1e-12 of the largest eigenvalue
    ``progress``  show how many values are done; None: on a terminal

    >>> from klapper.analysis import stability_over
    >>> course = stability_over(lambda load: ([[1.0]], [[0.1]], [[1.0 - load]]), [0.0, 0.6, 1.2])
    >>> [(round(change.at, 9), change.after) for change in course.changes]
    [(1.0, 'divergence')]
    """
    places, asked = _rising(x, "x"), Judge(judge, neutral)
    with tally_for(progress, len(places), "values") as shown:
        found = asked.at(places[:, None], shown)
    pairs = np.flatnonzero(found.verdict[1:] != found.verdict[:-1])
    before = found.verdict[pairs]
    starts, steps = places[pairs], places[pairs + 1] - places[pairs]

    def side(which: np.ndarray, share: np.ndarray) -> np.ndarray:
        samples = asked.at((starts[which] + share * steps[which])[:, None])
        return np.where(samples.verdict == before[which], -np.inf, np.inf)

    ends = np.full(len(pairs), np.inf)
    low, high = bracketed(side, -ends, ends, accuracy)
    around = [asked.at((starts + share * steps)[:, None]) for share in (low, high)]
    changes = []
    for k, at in enumerate(starts + 0.5 * (low + high) * steps):
        unstable = around[1] if around[0].verdict[k] in (STABLE, NONE) else around[0]
        words = (str(around[0].verdict[k]), str(around[1].verdict[k]))
        frequency = float("nan") if NONE in words else float(unstable.angular_frequency[k])
        changes.append(StabilityChange(float(at), *words, frequency))
    return StabilityCourse(places, found.growth, found.angular_frequency, found.verdict, tuple(changes))


def stability_map(
    judge: Callable[[float, float], Any],
    x: Sequence[float] | np.ndarray,
    y: Sequence[float] | np.ndarray,
    *,
    accuracy: float = ACCURACY,
    neutral: float | None = None,
    progress: bool | None = None,
) -> StabilityMap:
    """Judge every pair of two rising parameters, and trace the borders between the verdicts.

    ``x``, ``y``  (a,) and (b,) values of the parameters, in their units
    ``judge``     a function of x and y: :class:`Stability`, or matrices (M, D, K) (n, n), which is faster. Where
                  it raises :class:`~klapper.mechanics.InvalidModel` there is no stationary state
    ``accuracy``  of the borders on the edges of the grid, relative to their length; 1e-6 where the state ends
    ``neutral``   growth [1/s] that still counts as none; None: 1e-12 of the largest eigenvalue
    ``progress``  show how many points are done; None: on a terminal

    A stiffness x − y is negative where x < y:

    >>> from klapper.analysis import stability_map
    >>> plane = stability_map(lambda x, y: ([[1.0]], [[0.1]], [[x - y]]), [0.5, 1.5, 2.5], [1.0, 2.0])
    >>> plane.curves[0].kind, plane.boundary.round(6)
    ('divergence', array([1., 2.]))
    """
    xs, ys = _rising(x, "x"), _rising(y, "y")
    grid = _Grid(xs, ys, Judge(judge, neutral), accuracy)
    with tally_for(progress, len(xs) * len(ys), "points") as shown:
        found = grid.judge.at(np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2), shown)
    found = found.reshaped(len(ys), len(xs))
    curves, boundary = grid.stability_borders(found)
    return StabilityMap(
        xs,
        ys,
        found.growth,
        found.angular_frequency,
        found.verdict,
        boundary,
        (*curves, *grid.existence_borders(found)),
    )


@dataclass(frozen=True, eq=False)
class _Grid:
    x: np.ndarray
    y: np.ndarray
    judge: Judge
    accuracy: float

    def stability_borders(self, found: Samples) -> tuple[list[BorderCurve], np.ndarray]:
        """Curves between stable and unstable, and the first crossing of every line of the grid (b,)."""
        edges = crossing_edges(found.stable, found.known)
        start, end = self._ends(edges)
        first, last = edges.ends(found.excess)

        def value(which: np.ndarray, share: np.ndarray) -> np.ndarray:
            return self.judge.at(start[which] + share[:, None] * (end - start)[which]).excess

        low, high = bracketed(value, first, last, self.accuracy)
        unstable = np.where(np.signbit(first), high, low)
        beyond = self.judge.at(start + unstable[:, None] * (end - start))
        points = start + 0.5 * (low + high)[:, None] * (end - start)
        curves = []
        for chain in linked(edges, found.stable, lambda cells: self._centres(cells).stable):
            curves += _by_kind(chain, points, beyond.verdict, beyond.angular_frequency)
        boundary = np.full(len(self.y), np.inf)
        along = ~edges.upward
        np.minimum.at(boundary, edges.row[along], points[along, 0])
        return curves, np.where(np.isinf(boundary), np.nan, boundary)

    def existence_borders(self, found: Samples) -> list[BorderCurve]:
        edges = crossing_edges(found.known, np.ones_like(found.known))
        start, end = self._ends(edges)

        def value(which: np.ndarray, share: np.ndarray) -> np.ndarray:
            samples = self.judge.at(start[which] + share[:, None] * (end - start)[which])
            return np.where(samples.known, -np.inf, np.inf)

        first, last = edges.ends(np.where(found.known, -np.inf, np.inf))
        low, high = bracketed(value, first, last, max(self.accuracy, _ROUGH))
        points = start + 0.5 * (low + high)[:, None] * (end - start)
        chains = linked(edges, found.known, lambda cells: self._centres(cells).known)
        return [
            BorderCurve(EXISTENCE, points[chain], np.full(len(chain), np.nan))
            for chain in chains
            if len(chain) > 1
        ]

    def _ends(self, edges: Edges) -> tuple[np.ndarray, np.ndarray]:
        return edges.ends(np.stack(np.meshgrid(self.x, self.y), axis=-1))

    def _centres(self, cells: np.ndarray) -> Samples:
        row, column = cells.T
        middles = np.stack([self.x[column] + self.x[column + 1], self.y[row] + self.y[row + 1]], axis=1)
        return self.judge.at(0.5 * middles)


def _by_kind(
    chain: list[int], points: np.ndarray, verdict: np.ndarray, frequency: np.ndarray
) -> list[BorderCurve]:
    """A chain of crossings cut where its kind changes; the pieces touch."""
    if len(chain) < 2:
        return []
    kinds = verdict[chain]
    cuts = np.flatnonzero(kinds[1:] != kinds[:-1]) + 1
    curves = []
    for begin, end in zip(np.r_[0, cuts], np.r_[cuts, len(chain)], strict=True):
        which = chain[max(begin - 1, 0) : end]
        own = frequency[which].copy()
        own[: begin - max(begin - 1, 0)] = np.nan
        curves.append(BorderCurve(str(kinds[begin]), points[which], own))
    return [curve for curve in curves if len(curve.points) > 1]


def _rising(given: Any, name: str) -> np.ndarray:
    values = finite(given, name)
    if values.ndim != 1 or len(values) < 2 or np.any(np.diff(values) <= 0.0):
        raise InvalidModel(f"{name} has shape {values.shape}; expected at least two rising values (k,).")
    return values
