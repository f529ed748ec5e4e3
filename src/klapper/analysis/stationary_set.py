"""The set of stationary states that friction leaves: everywhere a system may stay, and the forces that keep it there.

    K q = f + J_N λ_N + J_T λ_T + J_B λ_B,   0 ≤ g ⟂ λ_N ≥ 0,   |λ_T| ≤ ρ = limit + μ λ_N

For each combination of closed contacts this is a convex set in (q, λ): with planar friction a polytope, whose corners
are the extreme states, with friction discs a set whose extreme values are found direction by direction. Contacts over
moving belts slide, λ_T = −ρ v_T/|v_T|.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from klapper.analysis.contact_state import numbers_of
from klapper.analysis.resting_forces import RestingForces
from klapper.analysis.stationary_problem import StationaryProblem
from klapper.analysis.stationary_state import StationaryState
from klapper.counting import counted
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem

MOST_CONTACTS = 20


@dataclass(frozen=True, eq=False)
class StationaryPiece:
    """The stationary states with the same closed contacts, a convex set.

    ``closed``  names of the contacts that are closed; all others are open, and carry nothing
    ``forces``  the set of contact forces [N] that hold these states

    A mass of 20 N on a rough table (μ = 0.3) rests wherever its spring of 50 N/m pulls with at most 6 N:

    >>> from klapper.analysis import stationary_set
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> table = Contact("table", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.3)
    >>> mass = LinearSystem([2.0, 2.0], stiffness=[50.0, 0.0], force=[0.0, -20.0], contacts=[table])
    >>> piece = stationary_set(mass).pieces[0]
    >>> piece.closed, piece.dimension, [float(end.position[0].round(9)) for end in piece.vertices]
    (('table',), 1, [-0.12, 0.12])
    """

    closed: tuple[str, ...]
    forces: RestingForces

    @property
    def dimension(self) -> int:
        """Of the set, 0 for a single state."""
        return self.forces.dimension

    @cached_property
    def inside(self) -> StationaryState:
        """A state far from the borders of the set, as far as it has an inside: no contact is at its limit."""
        x = self.forces.set.point
        assert x is not None
        return self.forces.stationary_state(x)

    @cached_property
    def vertices(self) -> tuple[StationaryState, ...]:
        """The extreme states of a set with planar friction. There contacts at their friction limit are SLIP."""
        return tuple(self.forces.stationary_state(x) for x in self.forces.set.vertices)

    def range(self, row: Any) -> tuple[float, float]:
        """Least and greatest value of ``row`` (n,) · q."""
        direction, offset = self.forces.of_position(row)
        low, high = self.forces.set.range(direction)
        return low + offset, high + offset

    def extreme(self, row: Any) -> StationaryState:
        """The stationary state at which ``row`` (n,) · q is greatest."""
        x = self.forces.set.greatest(self.forces.of_position(row)[0])[1]
        if x is None:
            raise InvalidModel("there is no bound in this direction; nothing holds the system there.")
        return self.forces.stationary_state(x)

    @cached_property
    def position_range(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest value of every coordinate, (n,) [m] each."""
        ends = np.array([self.range(row) for row in np.eye(self.forces.problem.system.size)])
        return ends[:, 0], ends[:, 1]

    @cached_property
    def force_range(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest value of every contact force, (m, 1 + d) [N] each."""
        return self.forces.force_range()


@dataclass(frozen=True, eq=False)
class StationarySet:
    """All stationary states of a system, piece by piece.

    ``pieces``  one for each combination of closed contacts that can rest; neighbours share their borders

    A mass of 20 N on a rough table (μ = 0.3) rests wherever its spring of 50 N/m pulls with at most 6 N:

    >>> from klapper.analysis import stationary_set
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> table = Contact("table", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.3)
    >>> mass = LinearSystem([2.0, 2.0], stiffness=[50.0, 0.0], force=[0.0, -20.0], contacts=[table])
    >>> tuple(round(end, 9) for end in stationary_set(mass).range([1.0, 0.0]))
    (-0.12, 0.12)
    """

    system: LinearSystem
    pieces: tuple[StationaryPiece, ...]

    def __len__(self) -> int:
        return len(self.pieces)

    @cached_property
    def vertices(self) -> tuple[StationaryState, ...]:
        """The extreme stationary states of all pieces; planar friction only."""
        return tuple(state for piece in self.pieces for state in piece.vertices)

    def range(self, row: Any) -> tuple[float, float]:
        """Least and greatest value of ``row`` (n,) · q over all stationary states."""
        self._require_some()
        ends = [piece.range(row) for piece in self.pieces]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def extreme(self, row: Any) -> StationaryState:
        """The stationary state at which ``row`` (n,) · q is greatest."""
        self._require_some()
        return max(self.pieces, key=lambda piece: piece.range(row)[1]).extreme(row)

    @cached_property
    def position_range(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest value of every coordinate, (n,) [m] each."""
        return self._over_pieces(lambda piece: piece.position_range)

    @cached_property
    def force_range(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest value of every contact force, (m, 1 + d) [N] each."""
        return self._over_pieces(lambda piece: piece.force_range)

    def _over_pieces(
        self, ends: Callable[[StationaryPiece], tuple[np.ndarray, np.ndarray]]
    ) -> tuple[np.ndarray, np.ndarray]:
        self._require_some()
        low, high = zip(*(ends(piece) for piece in self.pieces), strict=True)
        return np.min(low, axis=0), np.max(high, axis=0)

    def _require_some(self) -> None:
        if not self.pieces:
            raise InvalidModel(
                f"'{self.system.name}' has no stationary state: friction does not hold it under this load."
            )

    def __str__(self) -> str:
        if not self.pieces:
            return "No stationary state: friction does not hold the system under this load."
        lines = [f"Stationary states with {counted(len(self), 'combination')} of closed contacts"]
        for piece in self.pieces:
            what = "one state" if piece.dimension == 0 else f"a set of dimension {piece.dimension}"
            lines.append(f"  {', '.join(piece.closed) or 'all open'}: {what}")
        low, high = self.position_range
        width = max(len(name) for name in self.system.coordinates)
        for name, a, b in zip(self.system.coordinates, low, high, strict=True):
            lines.append(f"  {name:<{width}}  {a:.6g} … {b:.6g}")
        return "\n".join(lines)


def stationary_set(
    system: LinearSystem, *, closed: Iterable[str | int] | None = None, time: float | None = None
) -> StationarySet:
    """All states of rest of a system with friction.

    ``closed``  names or numbers of the closed contacts, all others open; None: every combination, up to 20 contacts
    ``time``    [s] at which loads and gaps that change are frozen; None: they must be constant

    The stiffness may be singular or indefinite. Friction laws that depend on the speed are taken at rest.

    A mass of 2 kg on a rough table (μ = 0.3), pulled by a spring of 50 N/m:

    >>> from klapper.analysis import stationary_set
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> table = Contact("table", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.3)
    >>> mass = LinearSystem([2.0, 2.0], stiffness=[50.0, 0.0], force=[0.0, -20.0], contacts=[table])
    >>> print(stationary_set(mass))
    Stationary states with 1 combination of closed contacts
      table: a set of dimension 1
      q1  -0.12 … 0.12
      q2  0 … 0
    """
    problem = StationaryProblem.of(system, time)
    if closed is None:
        if len(problem.contacts) > MOST_CONTACTS:
            raise InvalidModel(
                f"the system has {len(problem.contacts)} contacts; combinations are tried for up to {MOST_CONTACTS}. "
                f"Say which ones are closed."
            )
        found = list(_combinations(problem, np.full(len(problem.contacts), _OPEN_OR_CLOSED)))
    else:
        wanted = np.isin(problem.contacts, numbers_of(system, closed))
        found = [RestingForces.of(problem, wanted, wanted)]
    pieces = [
        StationaryPiece(
            tuple(name for name, shut in zip(problem.names, forces.closed, strict=True) if shut), forces
        )
        for forces in found
        if forces.set.point is not None
    ]
    return StationarySet(system, tuple(pieces))


_OPEN, _CLOSED, _OPEN_OR_CLOSED = 0, 1, 2


def _combinations(problem: StationaryProblem, choice: np.ndarray) -> Iterator[RestingForces]:
    """Sets of closed contacts with a stationary state: contact by contact, as long as the rest leaves room."""
    forces = RestingForces.of(problem, choice == _CLOSED, choice != _OPEN)
    if forces.set.point is None:
        return
    undecided = np.flatnonzero(choice == _OPEN_OR_CLOSED)
    if not len(undecided):
        if forces.opens_all():
            yield forces
        return
    for decision in (_CLOSED, _OPEN):
        decided = choice.copy()
        decided[undecided[0]] = decision
        yield from _combinations(problem, decided)
