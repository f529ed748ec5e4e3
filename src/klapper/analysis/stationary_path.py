"""The way along a branch of stationary states: pieces of equal closed contacts, see
:mod:`klapper.complementarity.basis_path`, every state verified against the equations of its system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from klapper.analysis.stationary_event import StationaryEvent
from klapper.analysis.stationary_family import StationaryFamily
from klapper.analysis.stationary_search import TOLERANCE, stationary_state
from klapper.analysis.stationary_state import NoStationaryState, StationaryState
from klapper.complementarity.basis_path import BasisPath
from klapper.complementarity.basis_point import HeldPoint
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem
from klapper.progress import tally_for


@dataclass(frozen=True, eq=False)
class PathPoint:
    """One verified state; ``closed`` (m,) holds it, ``number`` counts the branches."""

    parameter: float
    state: StationaryState
    closed: np.ndarray
    number: int


class StationaryPath:
    """One pursuit of the states of a family of systems; see :func:`follow_stationary` for the arguments."""

    def __init__(
        self,
        family: Callable[[float], LinearSystem],
        start: float,
        end: float,
        *,
        steps: int,
        jump: bool,
        time: float | None,
    ) -> None:
        self.family = StationaryFamily(family, start, time)
        self.path = BasisPath(self.family, start, end, steps, jump)
        self.start, self.end, self.time = start, end, time

    @property
    def points(self) -> list[PathPoint]:
        return self.family.kept

    @property
    def events(self) -> tuple[StationaryEvent, ...]:
        return tuple(StationaryEvent(*event) for event in self.path.events)

    def follow(self, first: StationaryState | None, progress: bool | None) -> bool:
        """Go as far as possible; False if interrupted."""
        lost = self.path.begin(self._first(first))
        if lost:
            raise NoStationaryState(f"The state at {self.start:g} cannot be followed: {lost}.")
        with tally_for(progress, self.path.steps, "steps") as bar:
            self.path.count = bar.count
            self.path.follow()
        return not self.path.interrupted

    def _first(self, first: StationaryState | None) -> HeldPoint:
        """The state to begin with."""
        problem = self.family.problem(self.start)
        if first is None:
            try:
                first = stationary_state(problem.system, time=self.time)
            except NoStationaryState as error:
                raise NoStationaryState(
                    f"There is no state to start from at {self.start:g}. {error} Or give first, e.g. one of "
                    f"stationary_states(family(start))."
                ) from error
        forces, form = self._forces_of(first), problem.form
        y = np.linalg.lstsq(form.basis, first.position - form.origin, rcond=None)[0]
        return form.point(y, forces / form.force_unit, forces > 0.0)

    def _forces_of(self, first: StationaryState) -> np.ndarray:
        """Normal forces (c,) [N] of a state that must be one of the first system."""
        problem = self.family.problem(self.start)
        shapes = (problem.system.size,), (problem.system.contacts.count,)
        fits = isinstance(first, StationaryState) and (first.position.shape, first.gaps.shape) == shapes
        forces = first.forces[problem.contacts, 0] if fits else np.zeros(0)
        if not fits or not problem.residual(first.position, forces) <= TOLERANCE:
            raise InvalidModel(f"first is not a state of rest of family({self.start:g}).")
        return forces
