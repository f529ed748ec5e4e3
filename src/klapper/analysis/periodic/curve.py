"""A curve of solutions followed through its folds: pseudo-arclength continuation.

    F(x) = 0,   x = (u, p) ∈ R^{N+1},   |dx/ds| = 1 in scaled unknowns

A step goes along the tangent and is corrected across it. On the way are found and located: folds (the parameter p turns
back), zeros of monitors (functions of x given by the caller), simple branch points (another curve crosses) with the
tangent of the other curve, and edges (functions given by the caller that are positive on the curve, which ends where
one of them vanishes). Keller 1977; Allgower and Georg, Introduction to Numerical Continuation Methods, 2003.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from klapper.analysis.periodic.branch_point import between_nodes, locate_branch_point
from klapper.analysis.periodic.corrector import Corrector, CurvePoint, Equations, StepRefused
from klapper.analysis.periodic.span import Span
from klapper.mechanics.arguments import finite, number
from klapper.mechanics.errors import InvalidModel

__all__ = ["Curve", "SpecialPoint", "StepRefused", "follow_curve"]

FOLD, BRANCH_POINT = "fold", "branch point"
Monitor = Callable[[np.ndarray], float]

_GROWTH, _SHRINK = 1.6, 0.5
_QUICK, _SLOW = 3, 5  # rounds of Newton's method up to which steps grow, from which they shrink
_TURN = 0.92  # cosine of the largest turn of the tangent in one step
_ZERO = 1e-9  # of the largest value seen: values of monitors that say nothing
_JUMP = 1e-4  # of its values on both sides: what a monitor may have left at a zero
_SHORT = 1e-3  # of the largest step: steps after which a jump over an edge is believed


@dataclass(frozen=True, eq=False)
class SpecialPoint:
    """Something named on a curve.

    ``kind``      "fold", "branch point", or the name of a monitor or of an edge
    ``point``     (N + 1,), parameter last
    ``place``     arclength in scaled unknowns, from the start
    ``tangent``   (N + 1,), of length 1 in scaled unknowns
    ``other``     tangent (N + 1,) of the other curve through a branch point; None elsewhere
    ``accuracy``  estimated error of the point in scaled unknowns; inf where it could only be bracketed between two
                  points of the curve
    """

    kind: str
    point: np.ndarray
    place: float
    tangent: np.ndarray
    other: np.ndarray | None = None
    accuracy: float = 0.0

    @property
    def parameter(self) -> float:
        return float(self.point[-1])


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve that was followed.

    ``points``    (k, N + 1), parameter last
    ``tangents``  (k, N + 1), of length 1 in scaled unknowns
    ``places``    (k,) arclength in scaled unknowns
    ``special``   points with a name, in the order of their places
    ``end``       why it ended, in a word: "low", "high", "closed", "edge", "stuck", "most" or "interrupted"
    ``ended``     the same in a sentence
    """

    points: np.ndarray
    tangents: np.ndarray
    places: np.ndarray
    special: tuple[SpecialPoint, ...]
    end: str
    ended: str

    @property
    def parameters(self) -> np.ndarray:
        """(k,)."""
        return self.points[:, -1]

    def named(self, kind: str) -> tuple[SpecialPoint, ...]:
        """The special points of one kind."""
        return tuple(special for special in self.special if special.kind == kind)


def follow_curve(
    equations: Equations,
    start: Any,
    *,
    direction: Any = 1.0,
    low: float = -np.inf,
    high: float = np.inf,
    step: float = 0.01,
    smallest: float = 1e-9,
    largest: float | Monitor = 0.1,
    tolerance: float = 1e-10,
    scale: Any = None,
    monitors: Mapping[str, Monitor] | None = None,
    edges: Mapping[str, Monitor] | None = None,
    most: int = 1000,
    progress: Callable[[np.ndarray, int], None] | None = None,
) -> Curve:
    """Follow F(x) = 0 from a point on it, or near it, until its parameter leaves [``low``, ``high``].

    ``equations``  x (N + 1,) → F (N,) and ∂F/∂x (N, N + 1), dense or sparse; may raise :class:`StepRefused`
    ``start``      (N + 1,), parameter last; corrected at its parameter, or across the direction where that is given
    ``direction``  +1 or −1: sign of the change of the parameter; or a vector (N + 1,) to go along
    ``step``       first step; ``smallest`` and ``largest`` bound the others; lengths in scaled unknowns x / ``scale``.
                   ``largest`` may be a function of the point
    ``tolerance``  of points, in scaled unknowns
    ``scale``      (N + 1,) or one number, sizes of the unknowns; default 1
    ``monitors``   functions by name whose zeros are to be located
    ``edges``      functions by name, positive on the curve, which ends where the first of them falls to zero; the
                   equations must go on a little beyond
    ``most``       number of points after which to stop
    ``progress``   called with every new point and the number of points so far

    Ctrl-C ends the curve early and keeps what there is (end "interrupted").

    >>> circle = lambda x: (np.array([x @ x - 1.0]), 2.0 * x[None])
    >>> curve = follow_curve(circle, [-1.0, 0.0], largest=0.2)
    >>> curve.end, [round(fold.parameter, 10) for fold in curve.named("fold")]
    ('closed', [1.0, -1.0])
    """
    x = finite(start, "start")
    if x.ndim != 1 or len(x) < 2:
        raise InvalidModel(f"start has shape {x.shape}, expected (N + 1,): the unknowns and the parameter.")
    longest = largest if callable(largest) else lambda _: largest
    if not 0.0 < smallest <= step <= longest(x):
        raise InvalidModel(
            f"smallest, step and largest are {smallest}, {step} and {longest(x)}; allowed are numbers above 0 in this "
            f"order."
        )
    if not low <= x[-1] <= high:
        raise InvalidModel(f"the start has the parameter {x[-1]}, which is not between {low} and {high}.")
    sizes = np.broadcast_to(finite(1.0 if scale is None else scale, "scale"), x.shape)
    if np.any(sizes <= 0.0):
        raise InvalidModel("scale has entries that are not above 0; give the sizes of the unknowns.")
    corrector = Corrector(equations, sizes, number(tolerance, "tolerance", "numbers above 0", above=0.0))
    walk = _Walk(corrector, (low / sizes[-1], high / sizes[-1]), dict(monitors or {}), dict(edges or {}))
    walk.begin(x / sizes, direction)
    try:
        end, ended = walk.go(step, smallest, longest, most, progress)
    except KeyboardInterrupt:
        end, ended = "interrupted", f"interrupted after {len(walk.path)} points"
    return walk.curve(end, ended)


@dataclass(eq=False)
class _Walk:
    corrector: Corrector
    bounds: tuple[float, float]
    monitors: dict[str, Monitor]
    edges: dict[str, Monitor]
    path: list[CurvePoint] = field(default_factory=list)
    places: list[float] = field(default_factory=list)
    special: list[SpecialPoint] = field(default_factory=list)
    values: dict[str, list[float]] = field(default_factory=dict)

    def begin(self, y: np.ndarray, direction: Any) -> None:
        """The first point, and which way to go."""
        along = np.zeros(len(y))
        along[-1] = 1.0
        if np.ndim(direction) == 0:
            sense, along = (1.0 if direction >= 0.0 else -1.0), along
        else:
            given = finite(direction, "direction", y.shape) / self.corrector.scale
            sense, along = 1.0, given / np.linalg.norm(given)
        try:
            first = self.corrector.correct(y, along)
        except StepRefused:
            first = self._across(y)
        turned = first.tangent @ along * sense < 0.0
        if turned:
            first = _reversed(first)
        self._keep(first, 0.0)

    def _across(self, y: np.ndarray) -> CurvePoint:
        """A start at a fold of the parameter: corrected across the curve."""
        try:
            return self.corrector.correct(y, self.corrector.tangent_at(y))
        except StepRefused as error:
            raise InvalidModel(
                f"the start is not on the curve and no point of it was found near ({error}); give a better start."
            ) from None

    def go(
        self,
        step: float,
        smallest: float,
        largest: Monitor,
        most: int,
        progress: Callable[[np.ndarray, int], None] | None,
    ) -> tuple[str, str]:
        failed = ""
        while len(self.path) < most:
            if step < smallest:
                return "stuck", f"no further point was found within the smallest step: {failed}"
            bound = self._bound_ahead(step)
            try:
                after = self._stepped(step, bound)
            except (StepRefused, InvalidModel) as error:
                failed = str(error)
                step *= _SHRINK
                continue
            closed = self._closes(after)
            if closed:
                after = self.path[0]
            gone = float(np.linalg.norm(after.y - self.path[-1].y))
            before = self.path[-1]
            try:
                self._keep(after, self.places[-1] + gone)
            except StepRefused as error:
                failed, step = str(error), _SHRINK * step
                continue
            try:
                edge = self._first_edge(
                    before, after, step <= _SHORT * largest(before.y * self.corrector.scale)
                )
            except StepRefused as error:
                failed, step = str(error), _SHRINK * step
                self._drop()
                continue
            if edge is not None:
                return edge
            self._look_between(before, after)
            if progress is not None:
                progress(after.y * self.corrector.scale, len(self.path))
            if closed:
                return "closed", "the curve closes in its start"
            if bound is not None:
                name = "low" if bound == self.bounds[0] else "high"
                return name, f"the parameter has reached {bound * self.corrector.scale[-1]:.8g}"
            if failed:  # one step of the same size before growing again
                failed = ""
            else:
                step *= _GROWTH if after.rounds <= _QUICK else _SHRINK if after.rounds >= _SLOW else 1.0
            step = min(step, largest(after.y * self.corrector.scale))
        return "most", f"{most} points were computed, the most that were allowed"

    def _bound_ahead(self, step: float) -> float | None:
        """The bound of the parameter that the next step would pass."""
        here = self.path[-1]
        ahead = here.y[-1] + step * here.tangent[-1]
        low, high = self.bounds
        if ahead <= low and here.tangent[-1] < 0.0:
            return low
        return high if ahead >= high and here.tangent[-1] > 0.0 else None

    def _stepped(self, step: float, bound: float | None) -> CurvePoint:
        here = self.path[-1]
        if bound is None:
            after = self.corrector.correct(here.y + step * here.tangent, here.tangent, eager=True)
        else:
            across = np.zeros(len(here.y))
            across[-1] = 1.0
            guess = here.y + (bound - here.y[-1]) / here.tangent[-1] * here.tangent
            guess[-1] = bound
            after = self.corrector.correct(guess, across, along=here.tangent)
        if after.tangent @ here.tangent < _TURN:
            raise StepRefused("the curve turns too sharply, or was left for another one")
        if np.linalg.norm(after.y - here.y) > 2.0 * step:
            raise StepRefused("the corrected point is too far from the predicted one")
        if not self.bounds[0] <= after.y[-1] <= self.bounds[1]:
            raise StepRefused("the curve passes the bound of the parameter within this step")
        return after

    def _first_edge(self, before: CurvePoint, after: CurvePoint, short: bool) -> tuple[str, str] | None:
        """The last point drawn back to the first edge that it has passed.

        Where the edge cannot be found between both points, one of them may lie on another curve: then the step is
        refused, unless it is ``short``.
        """
        passed = [name for name in self.edges if self.values[name][-1] < 0.0]
        if not passed:
            return None
        found = {name: self._edge_point(name, before, after) for name in passed}
        name = min(passed, key=lambda name: found[name][0])
        _, last, accuracy = found[name]
        if not short and not np.isfinite(accuracy):
            raise StepRefused(f"'{name}' was passed in a jump")
        self._drop()
        self._keep(last, self.places[-1] + float(np.linalg.norm(last.y - before.y)))
        self._look_between(before, last)
        self.special.append(self._named(name, last, self.places[-1] - self.places[-2], accuracy))
        parameter = float(last.y[-1] * self.corrector.scale[-1])
        return "edge", f"the curve ends at the parameter {parameter:.10g}, where '{name}' vanishes"

    def _edge_point(
        self, name: str, before: CurvePoint, after: CurvePoint
    ) -> tuple[float, CurvePoint, float]:
        """Share of the way at which an edge is passed, the point there, and its accuracy: inf if it cannot be found."""
        ends = self.values[name][-2], self.values[name][-1]
        if ends[0] <= 0.0:
            return 0.0, before, self.corrector.tolerance
        value, span = self._monitored(self.edges[name]), Span(self.corrector, before, after)
        share = span.crossing(value)
        if share is None:
            return between_nodes(span, value)
        point = span.point(share)
        if abs(value(point)) > _JUMP * (ends[0] - ends[1]):
            return 0.0, before, np.inf
        return share, point, self.corrector.tolerance

    def _drop(self) -> None:
        self.path.pop()
        self.places.pop()
        for values in self.values.values():
            values.pop()

    def _closes(self, after: CurvePoint) -> bool:
        here, first = self.path[-1], self.path[0]
        if len(self.path) < 4:
            return False
        way, back = after.y - here.y, first.y - here.y
        share = float(way @ back) / float(way @ way)
        aside = float(np.linalg.norm(back - share * way))
        near = 0.0 < share <= 1.0 and aside < 0.1 * np.linalg.norm(way)
        return bool(near and first.tangent @ here.tangent > _TURN)

    def _keep(self, point: CurvePoint, place: float) -> None:
        x = point.y * self.corrector.scale
        values = {name: float(function(x)) for name, function in (self.monitors | self.edges).items()}
        for name, value in values.items():
            self.values.setdefault(name, []).append(value)
        self.path.append(point)
        self.places.append(place)

    def _look_between(self, before: CurvePoint, after: CurvePoint) -> None:
        """Everything that has a name between the last two points."""
        found: list[SpecialPoint] = []
        if before.orientation * after.orientation < 0.0:
            found.append(self._branch_point(before, after))
        if before.tangent[-1] * after.tangent[-1] < 0.0 and not found:
            found.append(self._zero(FOLD, lambda point: float(point.tangent[-1]), before, after))
        for name, function in self.monitors.items():
            if self._crossed(name):
                found.append(self._zero(name, self._monitored(function), before, after))
        self.special += sorted((s for s in found if s is not None), key=lambda special: special.place)

    def _monitored(self, function: Monitor) -> Callable[[CurvePoint], float]:
        return lambda point: float(function(point.y * self.corrector.scale))

    def _crossed(self, name: str) -> bool:
        values = np.array(self.values[name])
        certain = np.abs(values) > _ZERO * np.abs(values[np.isfinite(values)]).max(initial=0.0)
        if not certain[-1] or not certain[:-1].any():
            return False
        return bool(values[:-1][certain[:-1]][-1] * values[-1] < 0.0)

    def _zero(
        self, kind: str, value: Callable[[CurvePoint], float], before: CurvePoint, after: CurvePoint
    ) -> Any:
        """Where a function of the point vanishes between two points; None if it only jumps."""
        span, ends = Span(self.corrector, before, after), (value(before), value(after))
        share = span.crossing(value)
        if share is None:
            share = ends[0] / (ends[0] - ends[1])
            point = CurvePoint(*span.cubic(share), before.jacobian, 0.0, 0, 0.0)
            return self._named(kind, point, share * span.length, np.inf)
        point = span.point(share)
        if abs(value(point)) > _JUMP * max(abs(ends[0]), abs(ends[1])):
            return None
        return self._named(kind, point, share * span.length, self.corrector.tolerance)

    def _branch_point(self, before: CurvePoint, after: CurvePoint) -> SpecialPoint:
        span = Span(self.corrector, before, after)
        found = locate_branch_point(span)
        other = None if found.other is None else found.other * self.corrector.scale
        return self._named(BRANCH_POINT, found.point, found.share * span.length, found.accuracy, other)

    def _named(
        self, kind: str, point: CurvePoint, beyond: float, accuracy: float, other: np.ndarray | None = None
    ) -> SpecialPoint:
        scale = self.corrector.scale
        return SpecialPoint(
            kind, point.y * scale, self.places[-2] + beyond, point.tangent * scale, other, accuracy
        )

    def curve(self, end: str, ended: str) -> Curve:
        scale = self.corrector.scale
        kept = slice(len(self.places))
        return Curve(
            np.array([point.y for point in self.path[kept]]) * scale,
            np.array([point.tangent for point in self.path[kept]]) * scale,
            np.array(self.places),
            tuple(self.special),
            end,
            ended,
        )


def _reversed(point: CurvePoint) -> CurvePoint:
    return CurvePoint(point.y, -point.tangent, point.jacobian, -point.orientation, point.rounds, point.first)
