"""Linear systems over a parameter, and the stationary states of them that are kept.

K(s) y − J_N λ = f(s),   g = 0 where closed,   margins λ ≥ 0 and g ≥ 0
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from klapper.analysis.stationary_form import StationaryForm
from klapper.analysis.stationary_problem import StationaryProblem
from klapper.analysis.stationary_search import TOLERANCE
from klapper.complementarity.basis_point import HeldPoint, Orientation
from klapper.counting import counted
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem

if TYPE_CHECKING:
    from klapper.analysis.stationary_path import PathPoint

_KEPT = 64  # systems kept in memory
_LOCATED = 1e-13  # of the way between two parameters: how well a critical one is located
_BESIDE = 1e-8  # of the way between two parameters: how far behind a critical one its other side is looked at


class StationaryFamily:
    """``system_at`` a parameter, all with the contacts and coordinates of that at ``start``, at a ``time`` [s] or
    None."""

    poles = False
    word = "state"

    def __init__(self, system_at: Callable[[float], LinearSystem], start: float, time: float | None) -> None:
        self._system_at, self._start, self._time = system_at, start, time
        self._problems: dict[float, StationaryProblem] = {}
        self.contacts: tuple[str, ...] = ()
        self.coordinates = 0
        self.reference = (
            0.0  # the largest force of the last state, against which those that vanish are judged
        )
        self.kept: list[PathPoint] = []

    def problem(self, s: float) -> StationaryProblem:
        """What is asked of the system at s."""
        if s not in self._problems:
            system = self._system_at(s)
            if not isinstance(system, LinearSystem):
                raise InvalidModel(f"family({s:g}) is a {type(system).__name__}; expected a LinearSystem.")
            if self._problems and (system.contacts.names, system.size) != (self.contacts, self.coordinates):
                raise InvalidModel(
                    f"family({s:g}) has other contacts or coordinates than at {self._start:g}; they must stay the same."
                )
            self.contacts, self.coordinates = system.contacts.names, system.size
            if len(self._problems) >= _KEPT:
                del self._problems[next(iter(self._problems))]
            self._problems[s] = StationaryProblem.of(system, self._time, reference=self.reference)
        return self._problems[s]

    def form(self, s: float) -> StationaryForm:
        return self.problem(s).form

    def names(self, s: float) -> tuple[str, ...]:
        return self.problem(s).names

    def course(self, point: HeldPoint) -> tuple[np.ndarray, ...]:
        """The coordinates: gaps follow from them, and where forces grow without bound they do, too."""
        return (point.y,)

    def keep(self, s: float, point: HeldPoint, number: int) -> str:
        """Keep the state at s if it is verified; else why not."""
        from klapper.analysis.stationary_path import PathPoint

        problem = self.problem(s)
        form = problem.form
        forces = form.physical_forces(np.maximum(point.forces, 0.0))
        state = problem.stationary_state(
            form.position(point.y), forces, convex=form.convex, negative=form.negative(point.closed)
        )
        if not state.residual <= TOLERANCE:
            return f"the residual {state.residual:.1e} exceeds {TOLERANCE:.0e}; badly conditioned"
        self.reference = form.largest_force(point.y, point.forces) * form.force_scale
        closed = np.zeros(len(self.contacts), dtype=bool)
        closed[problem.contacts] = point.closed
        self.kept.append(PathPoint(s, state, closed, number))
        return ""

    def passed(self, left: float, right: float) -> Iterator[tuple[float, str]]:
        """Where the number of negative stiffnesses without contacts changes between two parameters."""
        free = np.zeros(len(self.form(right).gap), dtype=bool)
        last = self.form(right).orientation(free)
        while (first := self.form(left).orientation(free)).differs(last):
            place = self._singular(free, first, left, right)
            beside = place + _BESIDE * (right - left)
            beside = beside if (right - beside) * (right - left) > 0.0 else right
            count, new = self.form(left).negative(free), self.form(beside).negative(free)
            words = "beyond it the problem is not convex" if new else "beyond it the problem is convex"
            if count and new:
                words = f"beyond it the stiffness is negative in {counted(new, 'direction')}"
            yield place, words
            if not self.form(beside).orientation(free).differs(first):
                break
            left = beside

    def _singular(self, closed: np.ndarray, since: Orientation, left: float, right: float) -> float:
        """Where the equations of the contacts ``closed`` (c,) are singular between two parameters."""

        def value(s: float) -> float:
            return self.form(s).regularity(closed, since)

        if value(left) <= 0.0:
            return left
        if value(right) >= 0.0:
            return right
        return float(brentq(value, left, right, xtol=_LOCATED * abs(right - left)))

    def growing(self, s: float, change: np.ndarray) -> str:
        """The coordinate that grows most."""
        moved = self.form(s).basis @ change
        name = self.problem(s).system.coordinates[int(np.argmax(np.abs(moved)))]
        return f"most of all '{name}'"
