"""A curve of solutions followed to its end: pseudo-arclength continuation, through folds and kinks.

    F(x) = 0,   x = (u, p) ∈ R^{N+1},   |dx/ds| = 1 in scaled unknowns

A step goes along the tangent and is corrected across it; its length follows from how well the predictor was and how
much the tangent has turned. F may be piecewise smooth: where it has a kink, the curve goes on along the tangent of the
equations beyond that keeps the sign of the bordered determinant, whatever the corner. On the way are found and located:
folds (the parameter p turns back), zeros of monitors (functions of x given by the caller), simple branch points
(another curve crosses) with the tangent of the other curve, and edges (functions given by the caller that are positive
on the curve, which ends where one of them vanishes). A curve that comes back to a point of its own ends there.
Keller 1977; Allgower and Georg, Introduction to Numerical Continuation Methods, 2003.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from klapper.algebra.branch_point import between_nodes, locate_branch_point
from klapper.algebra.corrector import Corrector, CurvePoint, Equations, StepRefused
from klapper.algebra.span import Span

FOLD, BRANCH_POINT = "fold", "branch point"
Monitor = Callable[[np.ndarray], float]
Predictor = Callable[[np.ndarray, np.ndarray, float], tuple[np.ndarray, np.ndarray]]

_GROWTH, _SHRINK = 3.0, 0.5
_SLOW = 5  # rounds of Newton's method from which steps shrink
_TURN = 0.4  # rad, the largest turn of the tangent in one step
_ZERO = 1e-9  # of the largest value seen: values of monitors that say nothing
_JUMP = 1e-4  # of its values on both sides: what a monitor may have left at a zero
_ROUGH = 1e-8  # in scaled unknowns: edges that are known less well are looked for in shorter steps
_INSIDE = 1e-13, 1e-12, 1e-11  # of a step: from an edge back to where it is not passed
_SHORT = 1e-3  # of the largest step: steps after which a jump over an edge is believed
_DIPS = 0.1  # of the largest step: longer ones are refused where an edge may have been passed twice; values that are
# noise look so at any step
_KINK = 1.0 / 32.0  # of the largest step: refused steps from here on may have met a kink
_BACK = -0.97  # cosine between the ways before and behind a kink: nearer to −1 the curve would retrace itself
_SAME = 100.0  # tolerances within which two points are one
_MISS, _ANGLE = (
    0.2,
    0.25,
)  # what a step should have: error of its predictor in parts of it, turn of the tangent in rad


class NoCurve(ValueError):
    """No point of a curve was found near its start."""


class _Turned(StepRefused):
    """At the point ``after`` the tangent is not the expected one, by the angle ``turn`` [rad]."""

    def __init__(self, after: CurvePoint, turn: float) -> None:
        super().__init__("the curve turns too sharply, or was left for another one")
        self.after, self.turn = after, turn


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
    ``end``       why it ended, in a word: "low", "high", "closed", "edge", "stopped", "stuck", "most" or "interrupted"
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
    detail: float = 0.0,
    scale: Any = None,
    graph: bool = False,
    predictor: Predictor | None = None,
    monitors: Mapping[str, Monitor] | None = None,
    edges: Mapping[str, Monitor] | None = None,
    stop: Callable[[np.ndarray], bool] | None = None,
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
    ``detail``     distance from the tangent, in scaled unknowns, within which the curve may turn unseen: points are
                   computed as well as elsewhere, only not more of them
    ``scale``      (N + 1,) or one number, sizes of the unknowns; default 1. It may be a function of the point: then the
                   sizes are those of the unknowns there, and lengths are measured by them from step to step
    ``graph``      whether the curve is known to be a graph over its parameter: then points are corrected at theirs,
                   which takes fewer evaluations of the equations, and steps in which a smooth edge may have been passed
                   twice are refused
    ``predictor``  point x, tangent dx/ds, step → the point (N + 1,) to be expected there and the tangent; default:
                   along the tangent
    ``monitors``   functions by name whose zeros are to be located
    ``edges``      functions by name, positive on the curve, which ends where the first of them falls to zero; the
                   equations must go on a little beyond
    ``stop``       called with every new point beyond the start that is not on an edge; True ends the curve there
    ``most``       number of points after which to stop
    ``progress``   called with every new point and the number of points so far

    Ctrl-C ends the curve early and keeps what there is (end "interrupted").

    >>> circle = lambda x: (np.array([x @ x - 1.0]), 2.0 * x[None])
    >>> curve = follow_curve(circle, [-1.0, 0.0], largest=0.2)
    >>> curve.end, [round(fold.parameter, 10) for fold in curve.named("fold")]
    ('closed', [1.0, -1.0])
    """
    x = np.array(start, dtype=float)
    if x.ndim != 1 or len(x) < 2 or not np.all(np.isfinite(x)):
        raise ValueError(
            f"start has shape {x.shape}, expected (N + 1,): the unknowns and the parameter, finite."
        )
    longest = largest if callable(largest) else lambda _: largest
    if not 0.0 < smallest <= step <= longest(x):
        raise ValueError(
            f"smallest, step and largest are {smallest}, {step} and {longest(x)}; they must be > 0 and in ascending "
            f"order."
        )
    if not low <= x[-1] <= high:
        raise ValueError(f"the start has the parameter {x[-1]}, which is not between {low} and {high}.")
    if not tolerance > 0.0:
        raise ValueError(f"tolerance is {tolerance}; it must be > 0.")
    sizes = scale if callable(scale) else (lambda _: scale if scale is not None else 1.0)
    walk = _Walk(
        equations,
        sizes,
        graph,
        predictor or _straight,
        tolerance,
        detail,
        (low, high),
        dict(monitors or {}),
        dict(edges or {}),
    )
    walk.begin(x, direction)
    try:
        end, ended = walk.go(step, smallest, longest, most, stop, progress)
    except KeyboardInterrupt:
        end, ended = "interrupted", f"interrupted after {len(walk.path)} points"
    return walk.curve(end, ended)


@dataclass(eq=False)
class _Walk:
    """Points are kept in the scaled unknowns of the step that has found them."""

    equations: Equations
    sizes: Callable[[np.ndarray], Any]
    graph: bool
    predictor: Predictor
    tolerance: float
    detail: float
    bounds: tuple[float, float]
    monitors: dict[str, Monitor]
    edges: dict[str, Monitor]
    path: list[CurvePoint] = field(default_factory=list)
    points: list[np.ndarray] = field(default_factory=list)
    scales: list[np.ndarray] = field(default_factory=list)
    places: list[float] = field(default_factory=list)
    special: list[SpecialPoint] = field(default_factory=list)
    values: dict[str, list[float]] = field(default_factory=dict)

    def begin(self, x: np.ndarray, direction: Any) -> None:
        """The first point, and which way to go."""
        self.corrector = self._corrector(x)
        y, along = x / self.corrector.scale, np.zeros(len(x))
        along[-1] = 1.0
        if np.ndim(direction) == 0:
            sense, along = (1.0 if direction >= 0.0 else -1.0), along
        else:
            given = np.asarray(direction, dtype=float) / self.corrector.scale
            sense, along = 1.0, given / np.linalg.norm(given)
        try:
            first = self.corrector.correct(y, along)
        except StepRefused:
            first = self._across(y)
        if first.tangent @ along * sense < 0.0:
            first = first.reversed()
        self._keep(first, 0.0)

    def _corrector(self, x: np.ndarray) -> Corrector:
        """In the unknowns scaled by their sizes at a point."""
        scale = np.array(np.broadcast_to(np.asarray(self.sizes(x), dtype=float), x.shape))
        if not np.all(np.isfinite(scale) & (scale > 0.0)):
            raise ValueError("scale has entries that are not above 0; give the sizes of the unknowns.")
        return Corrector(self.equations, scale, self.tolerance, self.graph)

    def _across(self, y: np.ndarray) -> CurvePoint:
        """A start at a fold of the parameter: corrected across the curve."""
        try:
            return self.corrector.correct(y, self.corrector.tangent_at(y))
        except StepRefused as error:
            raise NoCurve(
                f"the start is not on the curve and no point of it was found near ({error}); give a better start."
            ) from None

    def go(
        self,
        step: float,
        smallest: float,
        largest: Monitor,
        most: int,
        stop: Callable[[np.ndarray], bool] | None,
        progress: Callable[[np.ndarray, int], None] | None,
    ) -> tuple[str, str]:
        failed = ""
        while len(self.path) < most:
            if step < smallest:
                return "stuck", f"no further point was found within the smallest step: {failed}"
            self.corrector = self._corrector(self.points[-1])
            before = self._here()
            longest = largest(self.points[-1])
            try:
                after, bound, kink = self._ahead(before, step, step <= _KINK * longest)
                met = self._met(before, after)
                if met is not None:
                    after = met[1]
                gone = float(np.linalg.norm(after.y - before.y))
                self._keep(after, self.places[-1] + gone)
            except (StepRefused, ValueError) as error:
                failed, step = str(error), _SHRINK * step
                continue
            try:
                edge = self._first_edge(before, after, step <= _SHORT * longest)
                if edge is None and self.graph and step > _DIPS * longest:
                    self._require_no_dip()
            except StepRefused as error:
                failed, step = str(error), _SHRINK * step
                self._drop()
                continue
            if edge is not None:
                return edge
            self._look_between(before, after)
            if progress is not None:
                progress(self.points[-1], len(self.path))
            if stop is not None and stop(self.points[-1]):
                return "stopped", f"it was stopped at the parameter {self.points[-1][-1]:.8g}"
            if met is not None:
                return "closed", self._closing(met[0])
            if bound is not None:
                return bound, f"the parameter has reached {self.points[-1][-1]:.8g}"
            step *= 1.0 if kink else self._growth(before, after, step)
            step = min(step, largest(self.points[-1]))
        return "most", f"{most} points were computed, the most that were allowed"

    def _here(self) -> CurvePoint:
        """The last point, in the unknowns of the next step."""
        return self.path[-1].rescaled(self.corrector.scale / self.scales[-1])

    def _ahead(self, here: CurvePoint, step: float, short: bool) -> tuple[CurvePoint, str | None, bool]:
        """The next point, the name of the bound of the parameter that it has reached, and whether a kink was passed."""
        expected = self._expected(here, step)
        bound = self._bound_ahead(here, expected)
        try:
            return self._stepped(here, expected, step, bound), bound, False
        except _Turned as turned:
            if not (short or self._jumps(here, step, turned)):
                raise
            near = np.linalg.norm(turned.after.y - here.y) <= 2.0 * step
            if near and turned.after.orientation * here.orientation > 0.0:
                return self._accepted(here, turned.after, step), bound, True
            refused: StepRefused = turned
        except StepRefused as error:
            if not short:
                raise
            refused = error
        beyond = self.corrector.oriented(expected[0], here.orientation)
        if beyond @ here.tangent < _BACK:
            raise refused
        expected = here.y + step * beyond, beyond
        bound = self._bound_ahead(here, expected)
        after = self._stepped(here, expected, step, bound)
        if after.orientation * here.orientation < 0.0 or self._leads_back(here, after):
            raise refused
        return after, bound, True

    def _leads_back(self, here: CurvePoint, after: CurvePoint) -> bool:
        """Whether a step behind a corner goes where the curve has come from."""
        if len(self.path) < 2:
            return False
        back = self.points[-2] / self.corrector.scale - here.y
        way = after.y - here.y
        return float(way @ back) > -_BACK * float(np.linalg.norm(way) * np.linalg.norm(back))

    def _expected(self, here: CurvePoint, step: float) -> tuple[np.ndarray, np.ndarray]:
        """Point and unit tangent that the predictor gives a step ahead."""
        scale = self.corrector.scale
        point, way = self.predictor(here.y * scale, here.tangent * scale, step)
        return point / scale, way / scale / np.linalg.norm(way / scale)

    def _jumps(self, here: CurvePoint, step: float, turned: _Turned) -> bool:
        """Whether the tangent turns at one place of a step, not along it: then it has turned by half of the step either
        not at all or wholly."""
        point, way = self._expected(here, 0.5 * step)
        half = _angle(way, self.corrector.correct(point, way, eager=True).tangent)
        return not 0.25 * turned.turn < half < 0.75 * turned.turn

    def _bound_ahead(self, here: CurvePoint, expected: tuple[np.ndarray, np.ndarray]) -> str | None:
        """The bound of the parameter that the next step would pass."""
        low, high = np.array(self.bounds) / self.corrector.scale[-1]
        ahead = expected[0][-1]
        if ahead <= low and ahead < here.y[-1]:
            return "low"
        return "high" if ahead >= high and ahead > here.y[-1] else None

    def _stepped(
        self, here: CurvePoint, expected: tuple[np.ndarray, np.ndarray], step: float, bound: str | None
    ) -> CurvePoint:
        """The point near the expected one."""
        point, way = expected
        if bound is None:
            after = self.corrector.correct(point, way, eager=True)
        else:
            limit = self.bounds[0 if bound == "low" else 1] / self.corrector.scale[-1]
            across = np.zeros(len(here.y))
            across[-1] = 1.0
            share = (limit - here.y[-1]) / (point[-1] - here.y[-1])
            guess = here.y + share * (point - here.y)
            guess[-1] = limit
            after = self.corrector.correct(guess, across, along=way)
        turn = _angle(way, after.tangent)
        other = after.orientation * here.orientation < 0.0  # behind a corner or past a crossing of curves
        if turn > (_TURN if other else max(_TURN, 2.0 * self.detail / step)):
            raise _Turned(after, turn)
        return self._accepted(here, after, step)

    def _accepted(self, here: CurvePoint, after: CurvePoint, step: float) -> CurvePoint:
        low, high = np.array(self.bounds) / self.corrector.scale[-1]
        if np.linalg.norm(after.y - here.y) > 2.0 * step:
            raise StepRefused("the corrected point is too far from the predicted one")
        if not low <= after.y[-1] <= high:
            raise StepRefused("the curve passes the bound of the parameter within this step")
        return after

    def _growth(self, before: CurvePoint, after: CurvePoint, step: float) -> float:
        """Of the step: by the rounds of Newton's method, the error of the predictor and the turn of the tangent."""
        if after.rounds >= _SLOW:
            return _SHRINK
        turn = _angle(self._expected(before, step)[1], after.tangent) / max(_ANGLE, self.detail / step)
        wanted = max(np.sqrt(after.first / max(_MISS * step, self.detail)), turn)
        return float(1.0 / np.clip(wanted, 1.0 / _GROWTH, 1.0 / _SHRINK))

    def _first_edge(self, before: CurvePoint, after: CurvePoint, short: bool) -> tuple[str, str] | None:
        """The last point drawn back to the first edge that it has passed.

        Where the edge cannot be found between both points, one of them may lie on another curve: then the step is
        refused, unless it is ``short``.
        """
        passed = [name for name in self.edges if self.values[name][-1] < 0.0]
        if not passed:
            return None
        name, last, accuracy = "", after, 0.0
        while (
            passed
        ):  # what is positive again at the end of the step may have been passed before the first edge
            found = {name: self._edge_point(name, before, last) for name in passed}
            name = min(passed, key=lambda name: found[name][0])
            _, last, accuracy = found[name]
            passed = [
                other
                for other, function in self.edges.items()
                if other != name and self.values[other][-2] > 0.0 > self._monitored(function)(last)
            ]
        if not short and not accuracy <= max(_ROUGH, self.tolerance):
            raise StepRefused(f"'{name}' was passed in a jump")
        self._drop()
        self._keep(last, self.places[-1] + float(np.linalg.norm(last.y - before.y)))
        self._look_between(before, last)
        self.special.append(self._named(name, last, self.places[-1] - self.places[-2], accuracy))
        parameter = float(self.points[-1][-1])
        return "edge", f"the curve ends at the parameter {parameter:.10g}, where '{name}' vanishes"

    def _require_no_dip(self) -> None:
        """Refuse a step in which an edge seems to be passed twice: by the parabola through its last three values."""
        if len(self.places) < 3:
            return
        places = np.array(self.places[-3:]) - self.places[-1]
        for name in self.edges:
            values = np.array(self.values[name][-3:])
            if not np.all(np.isfinite(values) & (values > 0.0)):
                continue
            bent, slope, last = _parabola(places, values)
            least = -0.5 * slope / bent if bent > 0.0 else 0.0
            if places[1] < least < 0.0 and last - 0.25 * slope**2 / bent < 0.0:
                raise StepRefused(f"'{name}' may have been passed twice")

    def _edge_point(
        self, name: str, before: CurvePoint, after: CurvePoint
    ) -> tuple[float, CurvePoint, float]:
        """Share of the way at which an edge is passed, the point there, and its accuracy: inf if it cannot be found."""
        value, span = self._monitored(self.edges[name]), Span(self.corrector, before, after)
        ends = self.values[name][-2], value(after)
        if ends[0] <= 0.0:
            return 0.0, before, self.tolerance
        share = span.crossing(value)
        if share is None:
            return between_nodes(span, value)
        point = span.point(share)
        if abs(value(point)) > _JUMP * (ends[0] - ends[1]):
            return 0.0, before, np.inf
        for back in _INSIDE if self.graph else ():
            if value(point) >= 0.0:
                break
            point = span.point(share := max(share - back, 0.0))
        return share, point, self.tolerance

    def _drop(self) -> None:
        self.path.pop()
        self.points.pop()
        self.scales.pop()
        self.places.pop()
        for values in self.values.values():
            values.pop()

    def _met(self, before: CurvePoint, after: CurvePoint) -> tuple[int, CurvePoint] | None:
        """The first point of the curve that this step passes again, with its number: the curve ends there.

        A curve that only crosses itself has another tangent there.
        """
        if len(self.path) < 4:
            return None
        way = after.y - before.y
        points = np.array(self.points[:-2]) / self.corrector.scale - before.y
        shares = points @ way / float(way @ way)
        aside = np.linalg.norm(points - shares[:, None] * way, axis=1)
        near = np.flatnonzero((shares > 0.0) & (shares <= 1.0) & (aside < 0.1 * np.linalg.norm(way)))
        for i in near:
            earlier = self.path[i].rescaled(self.corrector.scale / self.scales[i])
            if abs(float(earlier.tangent @ before.tangent)) < np.cos(_TURN):
                continue
            try:
                here = Span(self.corrector, before, after).point(float(shares[i]))
            except StepRefused:
                continue
            # the earlier curve, where it passes the plane across this one
            beside = earlier.y - ((earlier.y - here.y) @ here.tangent) * here.tangent
            try:
                there = self.corrector.correct(beside, here.tangent)
            except StepRefused:
                continue
            limit = _SAME * self.tolerance * max(1.0, float(np.linalg.norm(here.y)))
            if np.linalg.norm(there.y - here.y) <= limit:
                if earlier.tangent @ here.tangent < 0.0:
                    raise StepRefused("the step leads back along the curve")
                return int(i), earlier
        return None

    def _closing(self, number: int) -> str:
        if number == 0:
            return "the curve closes in its start"
        return f"it comes back to itself at the parameter {self.points[number][-1]:.8g}"

    def _keep(self, point: CurvePoint, place: float) -> None:
        x = point.y * self.corrector.scale
        for bound in self.bounds:  # exactly there, not but for round-off of the scale
            if np.isfinite(bound) and abs(x[-1] - bound) <= 4.0 * np.finfo(float).eps * abs(bound):
                x[-1] = bound
        values = {name: float(function(x)) for name, function in (self.monitors | self.edges).items()}
        for name, value in values.items():
            self.values.setdefault(name, []).append(value)
        if len(self.path) > 1:  # only the last two are ever gone on from; the others keep no matrix
            self.path[-2] = replace(self.path[-2], jacobian=None)
        self.path.append(point)
        self.points.append(x)
        self.scales.append(self.corrector.scale)
        self.places.append(place)

    def _look_between(self, before: CurvePoint, after: CurvePoint) -> None:
        """Everything that has a name between the last two points."""
        found: list[SpecialPoint] = []
        if before.orientation * after.orientation < 0.0:
            found.append(self._branch_point(before, after))
        if self._turned_back(after) and not found:
            found.append(self._zero(FOLD, lambda point: float(point.tangent[-1]), before, after, corner=True))
        for name, function in self.monitors.items():
            if self._crossed(name):
                found.append(self._zero(name, self._monitored(function), before, after))
        self.special += sorted((s for s in found if s is not None), key=lambda special: special.place)

    def _turned_back(self, after: CurvePoint) -> bool:
        """Whether the parameter turns back before a point, since the last one at which it did not stand still."""
        earlier = (point.tangent[-1] for point in self.path[-2::-1])
        return next((rate for rate in earlier if rate != 0.0), 0.0) * after.tangent[-1] < 0.0

    def _monitored(self, function: Monitor) -> Callable[[CurvePoint], float]:
        scale = self.corrector.scale
        return lambda point: float(function(point.y * scale))

    def _crossed(self, name: str) -> bool:
        values = np.array(self.values[name])
        certain = np.abs(values) > _ZERO * np.abs(values[np.isfinite(values)]).max(initial=0.0)
        if not certain[-1] or not certain[:-1].any():
            return False
        return bool(values[:-1][certain[:-1]][-1] * values[-1] < 0.0)

    def _zero(
        self,
        kind: str,
        value: Callable[[CurvePoint], float],
        before: CurvePoint,
        after: CurvePoint,
        corner: bool = False,
    ) -> Any:
        """Where a function of the point vanishes between two points; where it only jumps, None, or the ``corner``."""
        span, ends = Span(self.corrector, before, after), (value(before), value(after))
        share = span.crossing(value)
        if share is None:
            share = ends[0] / (ends[0] - ends[1])
            point = CurvePoint(*span.cubic(share), before.jacobian, 0.0, 0, 0.0)
            return self._named(kind, point, share * span.length, np.inf)
        point = span.point(share)
        if not corner and abs(value(point)) > _JUMP * max(abs(ends[0]), abs(ends[1])):
            return None
        return self._named(kind, point, share * span.length, self.tolerance)

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
        kept = slice(len(self.places))
        tangents = [point.tangent * scale for point, scale in zip(self.path, self.scales, strict=False)]
        return Curve(
            np.array(self.points[kept]),
            np.array(tangents[kept]),
            np.array(self.places),
            tuple(self.special),
            end,
            ended,
        )


def _straight(x: np.ndarray, tangent: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    return x + step * tangent, tangent


def _parabola(places: np.ndarray, values: np.ndarray) -> tuple[float, float, float]:
    """a, b, c of a x² + b x + c through three values, the last one at x = 0."""
    (early, late, _), last = places, float(values[2])
    one, other = (values[0] - last) / early, (values[1] - last) / late
    bent = float((one - other) / (early - late))
    return bent, float(other - bent * late), last


def _angle(one: np.ndarray, other: np.ndarray) -> float:
    """Between unit vectors [rad]."""
    return float(np.arccos(np.clip(one @ other, -1.0, 1.0)))


def joined(pieces: Sequence[Curve]) -> Curve:
    """Pieces of a curve as one; a piece that begins where the last one has ended does not repeat that point."""
    offsets = np.cumsum([0.0, *(piece.places[-1] for piece in pieces[:-1])])
    return Curve(
        np.concatenate([piece.points for piece in pieces]),
        np.concatenate([piece.tangents for piece in pieces]),
        np.concatenate([piece.places + offset for piece, offset in zip(pieces, offsets, strict=True)]),
        tuple(
            replace(special, place=special.place + offset)
            for piece, offset in zip(pieces, offsets, strict=True)
            for special in piece.special
        ),
        pieces[-1].end,
        pieces[-1].ended,
    )
