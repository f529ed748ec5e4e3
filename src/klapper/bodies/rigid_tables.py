"""Rigid bodies as tables for compiled code: every part of a system becomes entries of ``index`` and ``data``.

The layout is described in :mod:`klapper.bodies.kernels.slots`. A signal that several parts share is put in once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.bodies.joints import AngleRow, AxisRow, PointRow, Row
from klapper.bodies.kernels import slots
from klapper.bodies.point_pairs import PointPairs
from klapper.mechanics.compiled_form import Tables
from klapper.mechanics.signals import Signal, breaks_of

if TYPE_CHECKING:
    from klapper.bodies.rigid_system import Parts


class RigidTables:
    """The tables of a system of bodies; ``tables`` is what they are packed into."""

    def __init__(self, parts: Parts) -> None:
        self.tables = Tables()
        self._ground = parts.mass.size
        self._signals: dict[int, int] = {}
        self._given: list[Signal] = []
        self._entries = np.zeros(slots.NOTHING + 1 - Tables.HEADER, dtype=np.int64)
        self.tables.integers(self._entries)
        self._nothing = self.tables.numbers(np.zeros(9))
        self._set(slots.NOTHING, self._nothing)
        self._bodies(parts)
        self._shapes(parts)
        self._contacts(parts)
        self._joints(parts)
        self._forces(parts)

    @property
    def over_time(self) -> bool:
        """Whether something that is given changes with time."""
        return not all(signal.constant for signal in self._given)

    @property
    def breaks(self) -> np.ndarray:
        """Times (k,) [s] at which something that is given has a kink."""
        return breaks_of(self._given)

    def packed(self) -> tuple[np.ndarray, np.ndarray]:
        """``index`` and ``data``."""
        index, data = self.tables.packed()
        index[Tables.HEADER : Tables.HEADER + self._entries.size] = self._entries
        return index, data

    def _set(self, slot: int, entry: int) -> None:
        self._entries[slot - Tables.HEADER] = entry

    def _put(self, slot: int, integers: Any) -> None:
        self._set(slot, self.tables.integers(integers))

    def _put_numbers(self, slot: int, numbers: Any) -> None:
        self._set(slot, self.tables.numbers(numbers))

    def _body(self, body: Any) -> Any:
        """The number of a body, the last for the ground."""
        return np.where(np.asarray(body) < 0, self._ground, body)

    def _signal(self, signal: Signal | None) -> int:
        if signal is None:
            return self._nothing
        if id(signal) not in self._signals:
            self._signals[id(signal)] = self.tables.signal(signal)
            self._given.append(signal)
        return self._signals[id(signal)]

    def _signals_of(self, count: int, given: Iterable[tuple[int, Signal]]) -> np.ndarray:
        places = np.full(count, self._nothing)
        for i, signal in given:
            places[i] = self._signal(signal)
        return places

    def _bodies(self, parts: Parts) -> None:
        layout = parts.layout
        self._set(slots.BODIES, self._ground)
        self._put(slots.BODY, body_table(layout))
        self._put_numbers(slots.MASS, parts.mass_diagonal)
        self._put_numbers(slots.WEIGHT, parts.weight)
        self._put_numbers(slots.GRAVITY, parts.mass[:, None] * parts.gravity)
        self._put_numbers(slots.INERTIA, parts.inertia)

    def _shapes(self, parts: Parts) -> None:
        balls, planes = parts.geometry.balls, parts.geometry.planes
        self._put(slots.BALL, self._body(balls.body))
        self._put_numbers(slots.BALL_NUMBERS, np.column_stack((balls.place, balls.radius)))
        motion = self._signals_of(len(planes.body), planes.motions)
        sliding = self._signals_of(len(planes.body), planes.slidings)
        self._put(slots.PLANE, np.column_stack((self._body(planes.body), motion, sliding)))
        self._put_numbers(slots.PLANE_NUMBERS, np.column_stack((planes.point, planes.normal)))

    def _contacts(self, parts: Parts) -> None:
        contacts, pairs = parts.contacts, parts.contacts.pairs
        self._set(slots.LISTED_COUNT, len(contacts.listed))
        self._put(slots.LISTED, np.column_stack((pairs.ball, pairs.other, pairs.with_plane)))
        self._put(slots.LAW, [self.tables.friction(law) for law in contacts.friction_laws])
        self._put_numbers(slots.LAW_NUMBERS, np.column_stack((contacts.restitution, contacts.ratio)))
        self._set(slots.GROUP_COUNT, len(contacts.groups))
        self._put_numbers(slots.GROUP_NUMBERS, [group.margin for group in contacts.groups])
        groups = [
            (
                group.begin,
                len(group.balls),
                len(group.planes),
                self.tables.integers(group.balls),
                self.tables.integers(group.planes),
            )
            for group in contacts.groups
        ]
        self._put(slots.GROUP, groups)

    def _joints(self, parts: Parts) -> None:
        rows = parts.joints.rows
        numbers = np.zeros((len(rows), slots.JOINT_WIDTH))
        entries = np.zeros((len(rows), slots.JOINT_SIZE), dtype=np.int64)
        references = iter(parts.joints.references)
        for i, row in enumerate(rows):
            kind, given, turns, first, second = self._row(row)
            if isinstance(row, AngleRow):
                given = np.append(given, next(references))
            numbers[i, : len(given)] = given
            entries[i] = kind, *self._body(row.bodies), turns, first, second
        self._set(slots.JOINT_COUNT, len(rows))
        self._put(slots.JOINT, entries)
        self._put_numbers(slots.JOINT_NUMBERS, numbers)

    def _row(self, row: Row) -> tuple[int, np.ndarray, bool, int, int]:
        """Kind, numbers, whether the direction turns, and signals at a and b."""
        if isinstance(row, AngleRow):
            return slots.ANGLE_ROW, row.pair.axis, False, self._signal(row.motion), self._nothing
        if isinstance(row, AxisRow):
            axes = np.concatenate((row.axis_a, row.axis_b))
            return slots.AXIS_ROW, axes, False, self._nothing, self._nothing
        places = np.concatenate((row.a.place, row.b.place))
        moved = self._signal(row.a.motion), self._signal(row.b.motion)
        if isinstance(row, PointRow):
            return slots.POINT_ROW, np.append(places, row.direction), row.turns, *moved
        return slots.DISTANCE_ROW, np.append(places, row.length), False, *moved

    def _forces(self, parts: Parts) -> None:
        springs, torsion, loads = parts.springs, parts.torsion, parts.loads
        self._set(slots.SPRING_COUNT, springs.count)
        self._put(slots.SPRING, self._point_pairs(springs.pairs))
        places = springs.pairs.places.reshape(-1, 6)
        self._put_numbers(
            slots.SPRING_NUMBERS,
            np.column_stack((places, springs.stiffness, springs.length, springs.damping)),
        )
        self._set(slots.TORSION_COUNT, torsion.count)
        self._put(slots.TORSION, self._body(torsion.angles.bodies))
        reference = np.zeros((torsion.count, 4))
        width = 1 if parts.layout.dimension == 2 else 4
        reference[:, :width] = torsion.angles.reference.reshape(torsion.count, width)
        self._put_numbers(
            slots.TORSION_NUMBERS,
            np.column_stack(
                (torsion.angles.axis, reference, torsion.stiffness, torsion.rest, torsion.damping)
            ),
        )
        self._set(slots.LOAD_COUNT, loads.count)
        entries = [
            (self._body(load.point.body), self._signal(load.force), self._signal(load.moment))
            for load in loads.loads
        ]
        self._put(slots.LOAD, entries)
        self._put_numbers(slots.LOAD_NUMBERS, [load.point.place for load in loads.loads])

    def _point_pairs(self, pairs: PointPairs) -> np.ndarray:
        moved = np.full((pairs.count, 2), self._nothing)
        for row, side, motion in pairs.motions:
            moved[row, side] = self._signal(motion)
        return np.column_stack((self._body(pairs.bodies), moved, pairs.moved))


def body_table(layout: Any) -> np.ndarray:
    """First position, first velocity and number of velocities (nb + 1, 3) of every body, the ground last."""
    dimension, rotates = layout.dimension, layout.rotates
    turns, spins = (1, 1) if dimension == 2 else (4, 3)
    count = dimension + spins * rotates
    places = dimension + turns * rotates
    count[-1] = places[-1] = 0
    return np.column_stack((np.cumsum(places) - places, np.cumsum(count) - count, count))
