"""The table of all contacts of bodies: listed ones first, then those of groups that are found by search.

Listed contacts have the numbers 0 … k − 1. In a group of ng balls and gp half-spaces that begins at number s, the a-th
and b-th ball, a < b, have s + a·ng + b, and the p-th half-space and the a-th ball have s + ng² + p·ng + a.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from klapper.bodies.contact_geometry import Balls, ContactGeometry, Pairs, Planes
from klapper.bodies.layout import Poses
from klapper.bodies.search import near_pairs
from klapper.mechanics.contact_table import ContactLaws
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.friction import Friction


@dataclass(frozen=True, eq=False)
class ListedContact:
    """A ball that may touch another ball or a half-space."""

    name: str
    ball: int
    other: int
    with_plane: bool
    friction: Friction
    restitution: float


@dataclass(frozen=True, eq=False)
class Group:
    """Balls of which any two may touch, and half-spaces that any of them may touch.

    ``friction``, ``restitution``  between two balls, between ball and half-space
    ``margin``                     gap [m] below which two of them count as near
    """

    balls: np.ndarray
    planes: np.ndarray
    friction: tuple[Friction, Friction]
    restitution: tuple[float, float]
    margin: float
    begin: int = field(default=0)

    @property
    def size(self) -> int:
        """How many numbers its contacts take."""
        return len(self.balls) * (len(self.balls) + len(self.planes))


class RigidContacts:
    """The contact table of a system of bodies."""

    def __init__(
        self,
        listed: Sequence[ListedContact],
        groups: Sequence[Group],
        balls: Balls,
        planes: Planes,
        dimension: int,
    ) -> None:
        self.listed, self.groups = tuple(listed), tuple(groups)
        self._balls, self._planes = balls, planes
        self.tangential = dimension - 1
        names = [contact.name for contact in listed]
        self._number = {name: i for i, name in enumerate(names)}
        if len(self._number) < len(names):
            repeated = next(name for i, name in enumerate(names) if name in names[:i])
            raise InvalidModel(f"two contacts are called '{repeated}'; give one of them another name=.")
        self.pairs = Pairs(
            np.array([contact.ball for contact in listed], dtype=int),
            np.array([contact.other for contact in listed], dtype=int),
            np.array([contact.with_plane for contact in listed], dtype=bool),
        )
        self.friction_laws: list[Friction] = [contact.friction for contact in listed]
        restitution = [contact.restitution for contact in listed]
        for group in groups:
            self.friction_laws += group.friction
            restitution += group.restitution
        self.restitution = np.array(restitution, dtype=float)
        self._coefficient = np.array([law.coefficient(0.0) for law in self.friction_laws], dtype=float)
        self.ratio = np.array([law.ratio for law in self.friction_laws], dtype=float)
        self.constant = all(law.constant for law in self.friction_laws)

    @property
    def count(self) -> int:
        return len(self.listed) + sum(group.size for group in self.groups)

    def name(self, contact: int) -> str:
        if 0 <= contact < len(self.listed):
            return self.listed[contact].name
        if not 0 <= contact < self.count:
            raise IndexError(f"contact {contact} is outside of 0 to {self.count - 1}.")
        pair = self.decode(np.array([contact]))
        other = (self._planes if pair.with_plane[0] else self._balls).labels[pair.other[0]]
        return f"{self._balls.labels[pair.ball[0]]} – {other}"

    def number(self, name: str) -> int:
        """The number of a listed contact."""
        if name in self._number:
            return self._number[name]
        near = difflib.get_close_matches(name, self._number, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise InvalidModel(f"there is no contact '{name}'.{hint}")

    def decode(self, which: np.ndarray) -> Pairs:
        """Ball and other of the contacts ``which`` (k,)."""
        which = np.asarray(which, dtype=int)
        ball, other = np.empty(len(which), dtype=int), np.empty(len(which), dtype=int)
        with_plane = np.empty(len(which), dtype=bool)
        mine = which < len(self.listed)
        ball[mine], other[mine], with_plane[mine] = (part[which[mine]] for part in self.pairs)
        for group in self.groups:
            mine = (which >= group.begin) & (which < group.begin + group.size)
            count = len(group.balls)
            row, column = np.divmod(which[mine] - group.begin, count)
            on_plane = row >= count
            first = np.where(on_plane, column, row)
            second = group.balls[column]
            if len(group.planes):
                second = np.where(on_plane, group.planes[np.maximum(row - count, 0)], second)
            ball[mine], other[mine], with_plane[mine] = group.balls[first], second, on_plane
        return Pairs(ball, other, with_plane)

    def unused(self, which: np.ndarray) -> np.ndarray:
        """Which of the numbers (k,) name no contact: in a group only a < b of different bodies do."""
        which = np.asarray(which, dtype=int)
        found = np.zeros(len(which), dtype=bool)
        for group in self.groups:
            count, within = len(group.balls), which - group.begin
            row, column = np.divmod(within, count)
            of_balls = (within >= 0) & (row < count)
            body = self._balls.body[group.balls]
            row, column = np.where(of_balls, row, 0), np.where(of_balls, column, 0)
            found |= of_balls & ((row >= column) | (body[row] == body[column]))
        return found

    def laws(self, which: np.ndarray, speed: np.ndarray | None = None) -> ContactLaws:
        law = self._law_numbers(np.asarray(which, dtype=int))
        friction = self._coefficient[law]
        if not self.constant and speed is not None:
            for row in np.flatnonzero([not self.friction_laws[i].constant for i in law]):
                friction[row] = self.friction_laws[law[row]].coefficient(float(speed[row]))
        count = len(law)
        return ContactLaws(
            np.ones(count, dtype=bool), self.restitution[law], friction, np.zeros(count), self.ratio[law]
        )

    def _law_numbers(self, which: np.ndarray) -> np.ndarray:
        law = which.copy()
        for i, group in enumerate(self.groups):
            mine = (which >= group.begin) & (which < group.begin + group.size)
            on_plane = which[mine] >= group.begin + len(group.balls) ** 2
            law[mine] = len(self.listed) + 2 * i + on_plane
        return law

    def near(self, t: float, poses: Poses, geometry: ContactGeometry) -> np.ndarray:
        """All listed contacts, and those of the groups with a gap below the margin, in rising order."""
        found = [np.arange(len(self.listed))]
        for group in self.groups:
            found.append(self._near_balls(poses, group))
            found.append(self._near_planes(t, poses, group, geometry))
        return np.concatenate(found)

    def _near_balls(self, poses: Poses, group: Group) -> np.ndarray:
        balls = self._balls
        centre = balls.centres(poses, group.balls)[:, : self.tangential + 1]
        a, b = near_pairs(centre, balls.radius[group.balls], group.margin)
        apart = balls.body[group.balls[a]] != balls.body[group.balls[b]]
        return group.begin + a[apart] * len(group.balls) + b[apart]

    def _near_planes(self, t: float, poses: Poses, group: Group, geometry: ContactGeometry) -> np.ndarray:
        count, planes = len(group.balls), len(group.planes)
        pairs = Pairs(
            np.tile(group.balls, planes), np.repeat(group.planes, count), np.ones(count * planes, dtype=bool)
        )
        near = np.flatnonzero(geometry.touch(t, poses, pairs).gap < group.margin)
        return group.begin + count * count + near
