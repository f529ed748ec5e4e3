"""What a motion leaves open of its forces, contact state by contact state, in words for the audit of a run.

A contact state (which contacts are open, stick or slide) is looked at once, in the middle of its longest stay, so that
the cost does not grow with the number of samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from klapper.complementarity import ComplementarityError
from klapper.complementarity.selection import ForceSet
from klapper.complementarity.selection.force_set import are_points
from klapper.contact_states import IMPACT
from klapper.counting import counted
from klapper.mechanics.force_sets import closed_forces
from klapper.mechanics.system import System

_MOST_STATES = 6
_MOST_FORCES = 60
_MOST_ENTRIES = 20_000_000  # states times samples up to which they are compared
_WORDS = ("open", "stick", "slip")
_SHOWN = 6
_ACCURACY, _WIDTH = 1e-8, 1e-6  # of the forces: friction discs, and intervals that count as points


@dataclass(frozen=True, eq=False)
class StateForces:
    """The forces of one contact state of a run.

    ``state``    (m,) of all contacts: 0 open, 1 sticks, 2 slips
    ``samples``  how many samples have it, ``time`` [s] at which it was looked at
    ``forces``   the set of possible forces [N]
    """

    state: np.ndarray
    samples: int
    time: float
    forces: ForceSet
    names: tuple[str, ...]
    velocities: tuple[str, ...]

    @property
    def title(self) -> str:
        """Which contacts stick and slip, and when."""
        parts = []
        for number in (1, 2):
            who = [name for name, state in zip(self.names, self.state, strict=True) if state == number]
            if who:
                more = f" and {len(who) - _SHOWN} more" if len(who) > _SHOWN else ""
                parts.append(f"{', '.join(who[:_SHOWN])}{more} {_WORDS[number]}")
        return f"{'; '.join(parts) or 'no contact loaded'} (at {self.time:.4g} s, {counted(self.samples, 'sample')})"

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest forces (r,) [N], as accurate as they are written."""
        return self.forces.face.ranges(accuracy=_ACCURACY)

    @cached_property
    def open_rows(self) -> np.ndarray:
        """Rows of the forces that are not unique."""
        lower, upper = self.bounds
        return np.flatnonzero(~are_points(lower, upper, width=_WIDTH))

    @property
    def determined(self) -> bool:
        """Whether forces and motion are unique."""
        return self.forces.dimension == 0 or (self.open_rows.size == 0 and self.forces.motion_unique)

    def __str__(self) -> str:
        forces = self.forces
        freedom = f"rank {forces.rank} of {forces.rank + forces.dimension}"
        if self.determined:
            return f"{freedom}, forces and motion unique"
        motion = "motion unique" if forces.motion_unique else self._motions()
        rows, (lower, upper) = self.open_rows, self.bounds
        bounds = [f"{forces.names[i]} {lower[i]:.4g} … {upper[i]:.4g} N" for i in rows[:_SHOWN]]
        more = [f"{len(rows) - _SHOWN} more forces"] if len(rows) > _SHOWN else []
        return "; ".join([f"{freedom}, forces not unique, {motion}", *bounds, *more, *forces.words])

    def _motions(self) -> str:
        forces = self.forces
        if forces.mass is None or forces.load is None:
            return "the motion depends on the choice of forces"
        lower, upper = self.accelerations
        rows = np.flatnonzero(~are_points(lower, upper, width=_WIDTH))
        ranges = [f"{self.velocities[i]} {lower[i]:.4g} … {upper[i]:.4g}" for i in rows[:3]]
        return f"the motion depends on the choice of forces (accelerations in SI units: {', '.join(ranges)})"

    @property
    def accelerations(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest v̇ (nv,) over all forces of the state."""
        forces = self.forces
        assert forces.mass is not None and forces.load is not None
        response = np.linalg.solve(forces.mass, np.column_stack([forces.directions, forces.load]))
        lower, upper = forces.face.ranges(response[:, :-1])
        return lower + response[:, -1], upper + response[:, -1]


def forces_by_state(
    system: System,
    names: tuple[str, ...],
    time: np.ndarray,
    position: np.ndarray,
    velocity: np.ndarray,
    impulse: np.ndarray,
    state: np.ndarray,
    constraint_impulse: np.ndarray,
) -> list[StateForces]:
    """The forces of the contact states with most samples.

    ``time`` (s,), ``position`` (s, nq), ``velocity`` (s, nv); ``impulse`` (s, m, 1 + d) and ``constraint_impulse``
    (s, p) [N s] since the sample before; ``state`` (s, m) at the sample. States with impacts are left out: they have
    impulses and no forces.
    """
    if state.size > _MOST_ENTRIES or len(time) < 2 or system.compliance is not None:
        return []
    found = []
    for k, count in _places(time, state):
        duration = float(time[k] - time[k - 1])
        closed = closed_forces(
            system,
            float(time[k]),
            position[k],
            velocity[k],
            np.arange(len(names)),
            impulse[k] / duration,
            state=state[k],
            constraint_force=constraint_impulse[k] / duration,
            largest=_MOST_FORCES,
        )
        if closed is None or closed.set.size == 0:
            continue
        moves = tuple(system.velocities)
        found.append(StateForces(state[k], count, float(time[k]), closed.set, names, moves))
    return found


def summary(states: list[StateForces]) -> dict[str, Any]:
    """Entries of an audit: in how many states forces are determined, and what is known where they are not."""
    if not states:
        return {}
    open_states = {}
    for one in states:
        try:
            if not one.determined:
                open_states[one.title] = str(one)
        except ComplementarityError:
            continue  # the mean forces of an interval in which the state turned are no forces of the state
    known = len(states) - len(open_states)
    audit: dict[str, Any] = {"contact states": f"forces determined in {known} of {len(states)} looked at"}
    return audit | ({"undetermined forces": open_states} if open_states else {})


@lru_cache(maxsize=16)
def _weights(contacts: int) -> np.ndarray:
    """Numbers (m,) whose sums tell contact states apart."""
    return np.random.default_rng(0).integers(1, 2**62, size=contacts, dtype=np.int64)


def _places(time: np.ndarray, state: np.ndarray) -> list[tuple[int, int]]:
    """Sample numbers in the middle of the longest stay of each frequent state, and how many samples it has."""
    changed = np.flatnonzero(np.any(state[1:] != state[:-1], axis=1)) + 1
    first = np.concatenate([[0], changed])
    length = np.diff(np.concatenate([first, [len(state)]]))
    group = np.zeros(1, dtype=int)
    if len(first) > 1:
        _, group = np.unique(state[first].astype(np.int64) @ _weights(state.shape[1]), return_inverse=True)
    total = np.bincount(group, length).astype(int)
    order = np.lexsort((length, group))
    longest = order[np.searchsorted(group[order], np.arange(len(total)), side="right") - 1]
    places: list[tuple[int, int]] = []
    for k in np.argsort(-total, kind="stable"):
        start, count = int(first[longest[k]]), int(length[longest[k]])
        middle = min(start + (count + 1) // 2, start + count - 1)
        if np.any(state[start] == IMPACT) or middle == 0 or time[middle] <= time[middle - 1]:
            continue
        places.append((middle, int(total[k])))
        if len(places) == _MOST_STATES:
            break
    return places
