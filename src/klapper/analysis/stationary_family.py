"""Linear systems over a parameter, and where their stationary states with given closed contacts end.

    K(s) y − J_N λ = f(s),   g = 0 where closed,   margins λ ≥ 0 and g ≥ 0

While its equations are regular, a set of closed contacts gives one state for every parameter; it ends where a margin
vanishes or the equations become singular.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from klapper.analysis.stationary_exchange import ADMISSIBLE
from klapper.analysis.stationary_form import HeldPoint, StationaryForm
from klapper.analysis.stationary_problem import StationaryProblem
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem

_KEPT = 64  # systems kept in memory


class StationaryFamily:
    """``system_at`` a parameter, all with the contacts and coordinates of that at ``start``, at a ``time`` [s] or None;
    places are found to ``accuracy``, in the unit of the parameter."""

    def __init__(
        self,
        system_at: Callable[[float], LinearSystem],
        start: float,
        time: float | None,
        accuracy: float,
    ) -> None:
        self._system_at, self._start, self._time, self._accuracy = system_at, start, time, accuracy
        self._problems: dict[float, StationaryProblem] = {}
        self.contacts: tuple[str, ...] = ()
        self.coordinates = 0
        self.reference = 0.0  # the largest force so far, against which small ones are judged

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

    def held(self, s: float, closed: np.ndarray) -> HeldPoint | None:
        """The solution at s with the closed contacts (c,); None if their equations are singular."""
        return self.form(s).held(closed)

    def singular_point(self, closed: np.ndarray, left: float, right: float) -> float:
        """Where the orientation of the equations of the contacts ``closed`` (c,) stops to be that at the left, by
        bisection."""
        first = self.form(left).orientation(closed)
        for _ in range(60):
            middle = 0.5 * (left + right)
            if middle in (left, right):
                break
            same = not self.form(middle).orientation(closed).differs(first)
            left, right = (middle, right) if same else (left, middle)
        return 0.5 * (left + right)

    def crossing(self, closed: np.ndarray, left: float, right: float) -> float | None:
        """Where the first margin becomes negative with the contacts ``closed`` (c,) between parameters, or None; the
        equations must be regular in between."""
        place = None
        while right != left:
            point = self.held(right, closed)
            if point is None or point.admissible(ADMISSIBLE):
                break
            violated = np.flatnonzero(point.margins < -ADMISSIBLE * point.sizes)
            roots = [self._root(closed, int(i), left, right) for i in violated]
            place = min(roots, key=lambda s: abs(s - left))
            if place == right:
                break
            right = place
        return place

    def _root(self, closed: np.ndarray, i: int, left: float, right: float) -> float:
        """Where margin i vanishes; ``left`` itself if it is negative at once."""

        def margin(s: float) -> float:
            point = self.held(s, closed)
            return -1.0 if point is None else float(point.margins[i])

        for share in (0.0, 1e-6, 1e-3):
            near = left + share * (right - left)
            if margin(near) > 0.0:
                return float(brentq(margin, near, right, xtol=self._accuracy, rtol=1e-15))
        return left
