"""How a path of solutions goes on where contacts change.

At such a place some contacts are on the verge: neither force nor gap. With each choice of those that are closed from
there on, the equations give a way on; it counts if the forces and gaps on the verge do not become negative. Ahead of a
convex problem there is exactly one, which a convex solver finds at once, however many contacts are on the verge. Else
all choices are tried, or, of too many contacts, what Lemke's method finds from the last closed ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from klapper.complementarity.basis_point import BasisForm, HeldPoint
from klapper.complementarity.dispatch import solve
from klapper.complementarity.errors import ComplementarityError
from klapper.complementarity.lemke import Lemke

ADMISSIBLE = 2e-11  # of the largest: by how much forces and gaps may be negative
VERGE = 1e-8  # of the largest: forces and gaps up to this are on the verge
_SAME = 1e-4  # relative difference of changes of position up to which they are one
_CONTINUOUS = 1e-6  # of the size of positions and gaps: difference of positions at one place
_NEAR = 0.05  # the same, of a position a little farther on
_TOGETHER = 6  # contacts on the verge of which all choices are tried


class Exchange:
    """The ways that lead on from one state.

    ``form(s)`` gives the equations at a parameter; ``point`` is the state at ``place``, held by its closed contacts;
    ``contact``    is the number of one that is known to change there
    """

    def __init__(
        self,
        form: Callable[[float], BasisForm],
        names: tuple[str, ...],
        place: float,
        point: HeldPoint,
        contact: int | None = None,
    ) -> None:
        self.form, self.names, self.place, self.point = form, names, place, point
        on_verge = point.margins <= VERGE * point.sizes
        if contact is not None:
            on_verge[contact] = True
        self.verge = np.flatnonzero(on_verge)

    def ahead(self, s: float) -> list[HeldPoint]:
        """States at s, beyond the place, on the ways that lead on; of each way one."""
        if self.form(s).monotone:
            found = solved(self.form(s), self.names, self.point.closed, "auto")
            if found is not None:
                return [found]
        return self._ways(s, [])

    def back(self, s: float) -> list[HeldPoint]:
        """States at s, before the place, on other ways than the one on which the place was reached."""
        own = self.form(s).held(self.point.closed)
        return self._ways(s, [] if own is None else [own.y - self.point.y])

    def _ways(self, s: float, known: list[np.ndarray]) -> list[HeldPoint]:
        if len(self.verge) > _TOGETHER:
            found = solved(self.form(s), self.names, self.point.closed, Lemke(basis=self.point.closed))
            candidates = [] if found is None or not self._near(found) else [found]
        else:
            candidates = list(self._choices(s))
        distinct = []
        for there in candidates:
            way = there.y - self.point.y
            reach = np.abs(way).max(initial=0.0)
            if all(np.abs(way - other).max(initial=0.0) > _SAME * reach for other in known):
                known.append(way)
                distinct.append(there)
        return distinct

    def _choices(self, s: float) -> Iterator[HeldPoint]:
        """Admissible states at s with other contacts on the verge closed, those with the fewest exchanges first."""
        for count in range(1, len(self.verge) + 1):
            for group in combinations(self.verge.tolist(), count):
                closed = self.point.closed.copy()
                closed[list(group)] = ~closed[list(group)]
                there, here = self.form(s).held(closed), self.form(self.place).held(closed)
                if there is None or here is None or not self._keeps(there):
                    continue
                if np.abs(here.y - self.point.y).max(initial=0.0) <= _CONTINUOUS * self._size:
                    yield there

    def _keeps(self, there: HeldPoint) -> bool:
        """Whether the contacts on the verge are admissible."""
        return bool(np.all(there.margins[self.verge] >= -ADMISSIBLE * there.sizes[self.verge]))

    def _near(self, there: HeldPoint) -> bool:
        return bool(np.abs(there.y - self.point.y).max(initial=0.0) <= _NEAR * self._size)

    @property
    def _size(self) -> float:
        return self.form(self.place).reach(self.point)


def solved(form: BasisForm, names: tuple[str, ...], closed: np.ndarray, solver: Any) -> HeldPoint | None:
    """An admissible state found by a solver that starts from the contacts ``closed`` (c,); None if it finds none."""
    condensed = form.condensed(names)
    if condensed is None:
        return None
    try:
        loaded = solve(condensed, solver, start=closed.astype(float)).x > 0.0
    except ComplementarityError:
        return None
    point = form.held(loaded)
    return point if point is not None and point.admissible(ADMISSIBLE) else None


def touches(point: HeldPoint) -> np.ndarray:
    """Which contacts (c,) are closed, loaded or not."""
    return point.closed | (point.gaps <= 10 * ADMISSIBLE * point.sizes)
