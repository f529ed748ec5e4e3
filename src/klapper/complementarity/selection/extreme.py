"""Rules that go to the border of the set, or as far from it as possible: linear programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from klapper.complementarity.errors import InvalidProblem
from klapper.complementarity.selection.force_set import ForceSet
from klapper.complementarity.selection.least_squares import MinimumNorm
from klapper.complementarity.selection.reading import require_coordinate
from klapper.complementarity.selection.rule import Selection, chosen

_MARGIN = 1e-6  # of the largest force: less is no margin
_ROUGH = 1e-6  # of the largest force: accuracy that tells whether there are bounds


@dataclass(frozen=True)
class Extreme:
    """The least or greatest value that one force can take, all others as small as they then can be.

    Assumes nothing: it answers what the worst case is, e.g. for the design of a foot or a bolt. A force without a bound
    is refused by a fall back to the minimum norm, and the note says so.

    ``force``  name of the force: that of its contact and a component, e.g. "A normal", "A tangential 1"
    ``end``    "min" or "max"

    >>> pair = ForceSet.from_arrays([-2.0, 0.0], [[1.0, 1.0]], patches=[[0], [1]], limit=[3.0, 3.0],
    ...     names=["A tangential", "B tangential"])
    >>> Extreme("A tangential", "max").select(pair).forces.round(12).tolist()
    [1.0, -3.0]
    """

    force: str
    end: Literal["min", "max"]

    def __post_init__(self) -> None:
        if self.end not in ("min", "max"):
            raise InvalidProblem(f"end is {self.end!r}; allowed are 'min' and 'max'.")

    @property
    def name(self) -> str:
        return f"{self.end} of {self.force}"

    def select(self, forces: ForceSet, previous: np.ndarray | None = None) -> Selection:
        if self.force not in forces.names:
            other = MinimumNorm().select(forces)
            return Selection(
                other.forces,
                self.name,
                other.exact,
                f"there is no force '{self.force}' here (forces are {', '.join(forces.names[:6])}): the minimum norm "
                f"was used",
            )
        face = forces.face
        direction = np.zeros((1, forces.size))
        direction[0, forces.names.index(self.force)] = 1.0 if self.end == "min" else -1.0
        t = face.extreme(direction[0])
        if t is None:
            other = MinimumNorm().select(forces)
            return Selection(
                other.forces,
                self.name,
                other.exact,
                f"'{self.force}' has no bound on this side: the minimum norm was used",
            )
        edge = face.through(t, direction)
        return chosen(forces, edge.at(edge.nearest(np.zeros(forces.size), np.ones(forces.size))), self.name)


@dataclass(frozen=True)
class ExtremeMotion:
    """The forces that make one acceleration least or greatest, all of them as small as they then can be.

    Assumes nothing: it answers how far the motion depends on what the model leaves open. Where all members move the
    system the same way, or the set of forces has no mass, the minimum norm is used, and the note says so.

    ``coordinate``  number of the velocity coordinate
    ``end``         "min" or "max"

    A mass of 1 kg under a load of 2 N with friction of at most 0.5 N and 1 N, not known otherwise:

    >>> feet = ForceSet.from_arrays([0.0, 0.0], [[1.0, 1.0]], patches=[[0], [1]], limit=[0.5, 1.0],
    ...     held=np.zeros((0, 2)), mass=[[1.0]], load=[2.0])
    >>> [ExtremeMotion(0, end).select(feet).forces.round(9).tolist() for end in ("min", "max")]
    [[-0.5, -1.0], [0.5, 1.0]]
    """

    coordinate: int
    end: Literal["min", "max"]

    def __post_init__(self) -> None:
        require_coordinate(self.coordinate)
        if self.end not in ("min", "max"):
            raise InvalidProblem(f"end is {self.end!r}; allowed are 'min' and 'max'.")

    @property
    def name(self) -> str:
        return f"{self.end} of acceleration {self.coordinate}"

    def select(self, forces: ForceSet, previous: np.ndarray | None = None) -> Selection:
        t, note = None, "all members give the same accelerations"
        if not forces.motion_unique:
            note = "the set of forces has no mass"
            if forces.mass is not None:
                require_coordinate(self.coordinate, len(forces.mass))
                row = np.linalg.solve(forces.mass, forces.directions)[[self.coordinate]]
                t = forces.face.extreme(row[0] if self.end == "min" else -row[0])
                note = "this acceleration has no bound"
        if t is None:
            other = MinimumNorm().select(forces)
            return Selection(other.forces, self.name, other.exact, f"{note}: the minimum norm was used")
        edge = forces.face.through(t, row)
        return chosen(forces, edge.at(edge.nearest(np.zeros(forces.size), np.ones(forces.size))), self.name)


@dataclass(frozen=True)
class LargestMargin:
    """The member that keeps furthest from all its limits: the least of all margins is as large as possible.

    Assumes that contacts which could hold do hold: of all distributions this one survives the largest change of the
    load. Margins of normal forces and of friction are measured alike, in N, and count up to the largest force at hand;
    where that leaves a choice, it is taken in the middle. A set without bounds has no middle: of its members with that
    margin the smallest is taken. Where there is no margin to spare the minimum norm is used. The note says so.

    >>> pair = ForceSet.from_arrays([-2.0, 0.0], [[1.0, 1.0]], patches=[[0], [1]], limit=[1.0, 2.0])
    >>> LargestMargin().select(pair).forces.round(12).tolist()
    [-0.5, -1.5]

    A wedge of 10 N jammed between two walls can be pressed by any force:

    >>> jammed = ForceSet.from_arrays([10.0, 10.0], [[1.0, -1.0]], normal=[0, 1])
    >>> found = LargestMargin().select(jammed)
    >>> found.forces.round(3).tolist(), found.note
    ([10.0, 10.0], 'forces have no bound: the smallest with a margin of 10 N were taken')
    """

    name = "largest margin"

    def select(self, forces: ForceSet, previous: np.ndarray | None = None) -> Selection:
        found = _largest_margin(forces)
        if found is None:
            other = MinimumNorm().select(forces)
            return Selection(
                other.forces, self.name, other.exact, "there is no margin to spare: the minimum norm was used"
            )
        return chosen(forces, found[0], self.name, found[1])


def with_margin(forces: ForceSet) -> np.ndarray | None:
    """Forces (r,) with the largest margin s of all inequalities; None if there is none.

    max s:   x_N ≥ s,   ‖x_T‖ ≤ limit + μ x_N − s,   s ≤ largest force
    """
    found = _largest_margin(forces)
    return None if found is None else found[0]


def _largest_margin(forces: ForceSet) -> tuple[np.ndarray, str] | None:
    """Those forces (r,) and what is to be said about them."""
    face = forces.face
    if face.dimension == 0 or len(face.offsets) + len(face.discs.radius) == 0:
        return None
    t, margin = face.with_margin()
    if margin <= _MARGIN * face.size:
        return None
    if not np.isfinite(face.ranges(accuracy=_ROUGH)).all():
        inner = face.with_room((1.0 - _MARGIN) * margin)
        smallest = inner.at(inner.nearest(np.zeros(forces.size), np.ones(forces.size)))
        return smallest, f"forces have no bound: the smallest with a margin of {margin:.6g} N were taken"
    return face.at(t), ""
