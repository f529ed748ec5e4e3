"""``follow_periodic``: a branch of periodic motions over a parameter, by pseudo-arclength continuation.

    branch = follow_periodic(lambda frequency: oscillator(frequency), 2.0, 3.0, first=motion)

With the sequence of events kept, the equations are smooth, through folds and also where an impact loses its speed.
Located on the way: folds and branch points, multipliers that pass −1 or the unit circle, and the place where the
sequence of events changes (grazing and its relatives). From there the branch goes on with the new sequence, if one is
found; a grazing contact is given an impact, or loses it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from klapper.algebra import BRANCH_POINT, Corrector, Curve, SpecialPoint, StepRefused, follow_curve
from klapper.analysis.periodic.branch import (
    HOPF,
    NEIMARK_SACKER,
    PERIOD_DOUBLING,
    Bifurcation,
    PeriodicBranch,
)
from klapper.analysis.periodic.family import Family, PeriodicEquations
from klapper.analysis.periodic.flow_map import require_phased, scheme_for
from klapper.analysis.periodic.margins import (
    ADDING_SLIDING,
    COINCIDENCE,
    LIFT_OFF,
    Margin,
    vanishing_margins,
)
from klapper.analysis.periodic.motion import PeriodicMotion
from klapper.analysis.periodic.options import Options, require_motion_of
from klapper.analysis.periodic.search import MotionSearch, NoPeriodicMotion, periodic_motion
from klapper.analysis.periodic.shooting import Shooting
from klapper.analysis.periodic.transition import other_sequence
from klapper.counting import counted
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System
from klapper.progress import Silent, Tally, tally_for
from klapper.schemes.phases import Phased

_EDGE = "other events"
_ACROSS = (1e-2, 3e-2, 3e-3, 1e-3)  # first steps on another branch, in scaled unknowns
_BEYOND = (1e-4, 1e-3, 1e-2)  # of the range of the parameter: where motions with other events are looked for
_NEAR = 0.2  # of its size: how much a motion may change there
_MOST_CHANGES = 30
_SAME_PLACE = 1e-5  # along the branch: where a curve ends, nothing else is named
_SAME_MOTION = 1e-6
_HALVES = 1e-3  # difference of both halves of a period, in parts of the size of the motion
_ATTEMPTS = 2


def follow_periodic(
    family: Callable[[float], System],
    start: float,
    end: float,
    *,
    first: PeriodicMotion | None = None,
    back: float | None = None,
    period: Callable[[float], float] | None = None,
    step: float = 0.01,
    largest: float = 0.05,
    tolerance: float = 1e-10,
    most: int = 1000,
    scheme: Phased | None = None,
    progress: bool | None = None,
) -> PeriodicBranch:
    """The branch of periodic motions from ``first`` on, while the parameter stays between ``start`` and ``end``.

    ``start``, ``end``  in the unit of the parameter
    ``family``     parameter → system; all of them with the same coordinates and contacts
    ``first``      the motion at ``start``, where the branch begins; None: the one that :func:`periodic_motion` finds
    ``back``       parameter, in its unit, to which the branch may turn back, beyond ``start``
    ``period``     parameter → period of the forcing [s], where it cannot be read off the system
    ``step``       first step, ``largest`` the largest one: relative to the range of the parameter and of the size of
                   the motion
    ``tolerance``  of points, in the same unit
    ``most``       number of motions after which to stop
    ``scheme``     as for :func:`periodic_motion`
    ``progress``   show how many motions there are; None: on a terminal

    Ctrl-C ends the branch early and keeps what there is.

    x'' + x' + x = cos Ωt, of velocity Ω²/((1 − Ω²)² + Ω²) at the times of full force:

    >>> from klapper.analysis import follow_periodic
    >>> from klapper.mechanics import Harmonic, LinearSystem
    >>> driven = lambda speed: LinearSystem([1.0], damping=[1.0], stiffness=[1.0], force=Harmonic([1.0], speed))
    >>> branch = follow_periodic(driven, 1.0, 2.0, step=0.5, largest=1.0)
    >>> velocity = branch.values(lambda motion: motion.start.velocity[0])
    >>> velocity[0].round(6), (velocity[-1] * 13.0).round(6)
    (np.float64(1.0), np.float64(4.0))
    """
    begins, ends = number(start, "start"), number(end, "end")
    if begins == ends:
        raise InvalidModel(f"start and end are both {begins:g}; give a range of the parameter.")
    turned = begins if back is None else number(back, "back")
    options = Options(min(begins, ends, turned), max(begins, ends, turned), step, largest, tolerance, most)
    known = Family(family, period)
    maps, _ = known.at(begins)
    scheme = scheme_for(maps.system) if scheme is None else require_phased(scheme)
    motion = first
    if motion is None:
        given = None if period is None else period(begins)
        motion = periodic_motion(maps.system, period=given, scheme=scheme)
    require_motion_of(maps.system, motion)
    turns = 1 if motion.forcing is None else round(motion.period / motion.forcing)
    walk = _Walk(known, turns, options, scheme)
    with tally_for(progress, most, "motions") as shown:
        walk.go(motion.shooting, np.append(motion.unknowns, begins), 1.0 if ends > begins else -1.0, shown)
    return walk.branch()


def follow_other(branch: PeriodicBranch, at: Bifurcation, side: float, **given: Any) -> PeriodicBranch:
    """The other branch at a period doubling or branch point; see :meth:`PeriodicBranch.switch`."""
    if at.kind not in (PERIOD_DOUBLING, BRANCH_POINT):
        raise InvalidModel(
            f"at a {at.kind} no other branch begins; give a period doubling or a branch point."
        )
    if side == 0.0:
        raise InvalidModel("side is 0; allowed are +1 and -1: which way to go on the other branch.")
    low = number(given.pop("start", np.min(branch.parameters)), "start")
    high = number(given.pop("end", np.max(branch.parameters)), "end")
    progress = given.pop("progress", None)
    unknown = sorted(given.keys() - {"step", "largest", "tolerance", "most"})
    if unknown:
        raise InvalidModel(
            f"'{unknown[0]}' is no option here; there are start, end, step, largest, tolerance, most and progress."
        )
    options = Options(min(low, high), max(low, high), **given)
    motion = at.motion
    turns = 1 if motion.forcing is None else round(motion.period / motion.forcing)
    if at.kind == PERIOD_DOUBLING:
        shooting, u = motion.shooting.doubled(motion.unknowns, motion.period, motion.passage)
        turns = 2 * turns
        walk = _Walk(branch.family, turns, options, motion.scheme)
        x = np.append(u, at.parameter)
        direction = _neutral(walk.equations(shooting), x)
    else:
        if at.other is None:
            raise InvalidModel(
                f"the other branch at {at.parameter:.8g} is not determined; look for it by periodic_motion."
            )
        shooting, x, direction = motion.shooting, np.append(motion.unknowns, at.parameter), at.other
        walk = _Walk(branch.family, turns, options, motion.scheme)
    with tally_for(progress, options.most, "motions") as shown:
        walk.aside(shooting, x, np.sign(side) * direction, shown)
    return walk.branch()


@dataclass(eq=False)
class _Walk:
    family: Family
    turns: int
    options: Options
    scheme: Phased
    parameters: list[float] = field(default_factory=list)
    motions: list[PeriodicMotion] = field(default_factory=list)
    found: list[Bifurcation] = field(default_factory=list)
    ended: str = ""

    def equations(self, shooting: Shooting) -> PeriodicEquations:
        return PeriodicEquations(self.family, shooting, self.turns, self.options.width, self.scheme)

    def branch(self) -> PeriodicBranch:
        return PeriodicBranch(
            self.family, np.array(self.parameters), tuple(self.motions), tuple(self.found), self.ended
        )

    def aside(self, shooting: Shooting, x: np.ndarray, direction: np.ndarray, shown: Tally | Silent) -> None:
        """Leave a branch across it."""
        equations = self.equations(shooting)
        scale = equations.scale(x)
        way = direction / np.linalg.norm(direction / scale)
        for share in _ACROSS:
            try:
                Corrector(equations, scale, self.options.tolerance).correct(
                    (x + share * way) / scale, way / scale
                )
            except StepRefused:
                continue
            self.go(shooting, x + share * way, way, shown)
            return
        raise NoPeriodicMotion(
            f"the other branch at {x[-1]:.8g} was not found within {max(_ACROSS)} of the size of the motion."
        )

    def go(self, shooting: Shooting, x: np.ndarray, direction: Any, shown: Tally | Silent) -> None:
        """Follow, from one sequence of events to the next."""
        for _ in range(_MOST_CHANGES):
            equations = self.equations(shooting)
            curve = self._followed(equations, x, direction, shown)
            edge = self._take(equations, curve)
            if edge is None:
                self.ended = self.ended or self._why(curve)
                return
            if self._seen_before():
                self.ended = f"it closes: {self.found.pop()} was passed before"
                return
            try:
                on = self._beyond(equations, curve, edge)
            except KeyboardInterrupt:
                self.ended = f"it was interrupted after {counted(len(self.motions), 'motion')}"
                return
            if on is None:
                where = self.found[-1]
                self.ended = f"the events change by {where}, and no motion with other ones was found beyond"
                return
            shooting, x, direction = on
            if not self.options.low <= x[-1] <= self.options.high:
                self.ended = f"the parameter has reached {x[-1]:.8g}"
                return
        self.ended = f"its sequence of events has changed {_MOST_CHANGES} times"

    def _why(self, curve: Curve) -> str:
        """The end of the branch in words."""
        count = len(self.motions)
        return {
            "most": f"{counted(count, 'motion')} were computed, the most that were allowed",
            "interrupted": f"it was interrupted after {counted(count, 'motion')}",
            "edge": f"the motion shrinks to a state of rest at {self.parameters[-1]:.10g}",
        }.get(curve.end, curve.ended)

    def _followed(
        self, equations: PeriodicEquations, x: np.ndarray, direction: Any, shown: Tally | Silent
    ) -> Curve:
        options, done, scale = self.options, len(self.motions), equations.scale(x)

        def largest(point: np.ndarray) -> float:
            """In parts of the size that the motion has now."""
            return options.largest * max(1.0, float(np.max(equations.scale(point)[:-1] / scale[:-1])))

        return follow_curve(
            equations,
            x,
            direction=direction,
            low=options.low,
            high=options.high,
            step=options.step,
            largest=largest,
            tolerance=options.tolerance,
            scale=scale,
            monitors={PERIOD_DOUBLING: equations.doubling, NEIMARK_SACKER: equations.torus},
            edges={_EDGE: equations.margin, HOPF: equations.liveliness},
            most=max(options.most - done, 2),
            progress=lambda _, count: shown.count(done + count),
        )

    def _take(self, equations: PeriodicEquations, curve: Curve) -> Margin | None:
        """Keep what a curve has, and say what is zero at its end if that is an edge."""
        meeting = next((s for s in curve.special if self._meets_half(equations, s)), None)
        last = curve.special[-1] if curve.end == "edge" and meeting is None else None
        edge = None
        if last is not None and last.kind == _EDGE:
            edge = vanishing_margins(equations.passage(last.point))[0]
        for point, place in zip(curve.points, curve.places, strict=True):
            if meeting is None or place < meeting.place:
                self.parameters.append(float(point[-1]))
                self.motions.append(equations.motion(point))
        for special in curve.special:
            if meeting is not None and special.place >= meeting.place:
                self.ended = f"it meets the branch of half its period at {meeting.parameter:.10g}"
                break
            if special is last:
                self.found.append(self._bifurcation(equations, special, edge))
            elif last is None or abs(special.place - last.place) > _SAME_PLACE:
                self.found.append(self._bifurcation(equations, special, None))
        return edge

    def _meets_half(self, equations: PeriodicEquations, special: SpecialPoint) -> bool:
        """Whether a branch point is where a doubled branch comes back to the one that it has left."""
        if special.kind != BRANCH_POINT or self.turns % 2:
            return False
        passage, shooting = equations.passage(special.point), equations.shooting
        half, odd = divmod(len(shooting.switches), 2)
        size = len(passage.end)
        if shooting.clocked:
            later = passage.maps.of(shooting.switches[0].after).destination(
                passage.times[0], passage.entered[0], float(passage.times.mean())
            )
        elif odd:
            return False
        else:
            later = passage.before[half]
        apart = (later - passage.before[0]) / equations.scale(special.point)[:size]
        return bool(np.abs(np.delete(apart, shooting.drifting)).max() < _HALVES)

    def _seen_before(self) -> bool:
        """Whether the last change of events was met before, by the same motion."""
        last = self.found[-1]
        return any(
            (one.kind, one.contact) == (last.kind, last.contact)
            and abs(one.parameter - last.parameter) < _SAME_MOTION * self.options.width
            and last.motion.distance(one.motion.start) < _SAME_MOTION
            for one in self.found[:-1]
        )

    def _bifurcation(
        self, equations: PeriodicEquations, special: SpecialPoint, margin: Margin | None
    ) -> Bifurcation:
        motion = equations.motion(special.point)
        kind, contact = special.kind, ""
        if margin is not None:
            kind = margin.kind
            contact = motion.system.contacts.name(margin.contact) if margin.contact >= 0 else ""
        return Bifurcation(kind, special.parameter, motion, contact, special.accuracy, special.other)

    def _beyond(
        self, equations: PeriodicEquations, curve: Curve, edge: Margin
    ) -> tuple[Shooting, np.ndarray, Any] | None:
        """Equations, start and direction on the other side of a change of events."""
        x = curve.points[-1]
        passage = equations.passage(x)
        changed = other_sequence(passage, equations.shooting, vanishing_margins(passage))
        if changed is not None:
            shooting, u = changed
            found = self._true_side(shooting, np.append(u, x[-1]))
            if found is not None:
                if edge.kind == COINCIDENCE:  # both orders are the same motion: nothing happens to it
                    self.found.pop()
                if edge.kind in (LIFT_OFF, ADDING_SLIDING):
                    self._locate_from(*found)
                return found
        return self._simulated(x, curve.tangents[-1], self.motions[-1])

    def _locate_from(self, shooting: Shooting, x: np.ndarray, direction: Any) -> None:
        """Where a flight or slip vanishes, from the side without it: on the other side the equations are singular
        there."""
        equations = self.equations(shooting)
        curve = self._followed(equations, x, -np.asarray(direction), Silent())
        last = curve.special[-1] if curve.end == "edge" else None
        if last is not None and last.kind == _EDGE:
            margin = vanishing_margins(equations.passage(last.point))[0]
            self.found[-1] = self._bifurcation(equations, last, margin)

    def _true_side(self, shooting: Shooting, x: np.ndarray) -> tuple[Shooting, np.ndarray, Any] | None:
        """Which way the events of a new sequence really happen."""
        equations = self.equations(shooting)
        scale = equations.scale(x)
        corrector = Corrector(equations, scale, self.options.tolerance)
        try:
            tangent = corrector.tangent_at(x / scale)
        except StepRefused:
            return None
        for sign in (1.0, -1.0):
            for share in (1e-3, 1e-4):
                try:
                    near = corrector.correct(x / scale + sign * share * tangent, sign * tangent)
                except StepRefused:
                    continue
                close = np.linalg.norm(near.y - x / scale) < 10.0 * share
                if close and equations.margin(near.y * scale) > 0.0:
                    return shooting, near.y * scale, sign * tangent * scale
        return None

    def _simulated(
        self, x: np.ndarray, tangent: np.ndarray, last: PeriodicMotion
    ) -> tuple[Shooting, np.ndarray, Any] | None:
        """A motion with other events near the end of the branch, by simulation a little beyond."""
        ahead = 1.0 if tangent[-1] >= 0.0 else -1.0
        for share in _BEYOND:
            parameter = float(x[-1] + ahead * share * self.options.width)
            if not self.options.low <= parameter <= self.options.high:
                continue
            try:
                maps, forcing = self.family.at(parameter)
                length = last.period if forcing is None else self.turns * forcing
                search = MotionSearch(
                    maps.system,
                    self.scheme,
                    forcing,
                    length,
                    self.options.tolerance,
                    last.shooting.drifting,
                )
                motion = search.found(search.settled(last.start, 0), attempts=_ATTEMPTS)
            except (NoPeriodicMotion, InvalidModel):
                continue
            if last.distance(motion.start) < _NEAR:
                return motion.shooting, np.append(motion.unknowns, parameter), ahead
        return None


def _neutral(equations: PeriodicEquations, x: np.ndarray) -> np.ndarray:
    """The direction (N + 1,), without change of the parameter, in which solutions branch off."""
    scale = equations.scale(x)
    jacobian = equations(x)[1][:, :-1] * scale[:-1]
    return np.append(np.linalg.svd(jacobian)[2][-1], 0.0) * scale
