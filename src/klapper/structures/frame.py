"""Frames in the plane and in space: members between named joints.

    q = (displacements and rotations of the joints, inner coordinates of the members),   M = Σ BᵀM_mB,   K = Σ BᵀK_mB

B ties the ends of a member to its joints: rotated into the member's axes, over rigid offsets, and without the motions
that are released (multi-point coupling by elimination). A joint has 3 coordinates in the plane (x, y, rz) and 6 in
space (x, y, z, rx, ry, rz).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import splu

from klapper.mechanics import InvalidModel, Picture
from klapper.mechanics.arguments import finite, naming, number
from klapper.structures.coupling import elimination, projected
from klapper.structures.line import Line
from klapper.structures.loads import along
from klapper.structures.member import (
    PLANE_MOTIONS,
    SECTION_FORCES,
    SPACE_MOTIONS,
    Member,
    MemberFields,
    member_fields,
    released,
)
from klapper.structures.picture import frame_picture
from klapper.structures.structure import Structure

_DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
_PLANE = ("x", "y", "rz")

Place = str | tuple[str, float]


class Frame(Structure):
    """Beams that meet in joints, M q̈ + K q = f, in the plane or in space.

    ``joints``    by name, coordinates (2,) or (3,) [m]
    ``members``   :class:`Member` by name
    ``supports``  joint: "clamped", "pinned" (no displacement), or a list of directions that are held: names of
                  coordinates ("y", "rz") or vectors of the displacement, e.g. [(0.6, 0.8)] for an inclined roller

    >>> from klapper.structures import Material, Section
    >>> steel, square = Material(210e9, 7850.0, 81e9), Section.rectangle(0.1, 0.1)
    >>> arm = Frame({"A": (0, 0), "B": (2, 0)}, {"arm": Member("A", "B", steel, square)}, supports={"A": "clamped"})
    >>> tip = arm.with_point_load("B", "y", -1000.0)
    >>> round(float(arm.row("B", "y") @ tip.deflection() * 1e3), 4)  # −P L³/3EI − P L/G A_S in mm
    -1.5268
    """

    def __init__(
        self,
        joints: Mapping[str, Any],
        members: Mapping[str, Member],
        *,
        supports: Mapping[str, Any] | None = None,
        name: str = "frame",
    ) -> None:
        self.joints, self.spatial = _joints(joints)
        self.members = dict(members)
        if not self.members:
            raise InvalidModel("a frame needs at least one member.")
        self._fields = {title: self._field(title, member) for title, member in self.members.items()}
        ties, names = self._ties()
        self._ties_free = ties
        mass, stiffness = self._whole("mass"), self._whole("stiffness")
        held = sparse.vstack([self._unattached(mass, stiffness), self._held(supports or {}, len(names))])
        self._basis, self._kept = elimination(held)
        super().__init__(
            projected(mass, self._basis),
            projected(stiffness, self._basis),
            coordinates=[names[i] for i in self._kept],
            name=name,
        )

    def rows(self, place: str, at: Any, direction: Any, side: str = "right") -> np.ndarray:
        """(k, n): a quantity of the member ``place`` at the coordinates ``at`` (k,) [m] along it; see :meth:`row`."""
        fields, x = self._fields[self._member(place)], np.atleast_1d(np.asarray(at, dtype=float))
        if isinstance(direction, str) and direction in SECTION_FORCES:
            rows = fields.force_rows(x, direction, side)
        else:
            displacement, rotation = self._direction(direction)
            rows = fields.displacement_rows(x, displacement) + fields.rotation_rows(x, rotation)
        return (rows @ self._ties_free[place] @ self._basis).toarray()

    def row(self, place: Place, direction: Any, side: str = "right") -> np.ndarray:
        """(n,): displacement, rotation or section force at one place.

        ``place``      a joint, or (member, coordinate along it [m])
        ``direction``  "x", "y", "z" [m], "rx", "ry", "rz" [rad], a vector (2,) or (3,) of displacement, or on members
                       "normal", "shear", "lateral shear" [N], "moment", "lateral moment", "torque" [N m]
        """
        if not isinstance(place, str):
            return self.rows(place[0], [place[1]], direction, side)[0]
        return np.asarray(self._joint_row(place, direction) @ self._basis)

    def line(self, member: str, direction: Any) -> Line:
        """A displacement, rotation or section force along a member, for contacts; see :meth:`row`."""
        fields = self._fields[self._member(member)]
        return Line(lambda x: self.rows(member, x, direction), fields.mesh.ends, fields.bending.degree)

    def with_point_load(self, place: Place, direction: Any, load: Any) -> Self:
        """With a force [N] or moment [N m] (number, signal, function of time) at a place; see :meth:`row`."""
        return self.with_load(load, self.row(place, direction))

    def with_line_load(self, member: str, density: Any, *, course: Any = 1.0) -> Self:
        """With a constant load per length of a member, global (2,) or (3,) [N/m], times ``course`` in time."""
        fields = self._fields[self._member(member)]
        pattern = fields.line_load(self._vector(density, "density"), 0.0, fields.mesh.length)
        return self.with_load(along(self._basis.T @ (self._ties_free[member].T @ pattern), course))

    def with_gravity(self, acceleration: float = 9.81, *, direction: Any = None) -> Self:
        """With its weight; ``direction`` is that of the fall, downwards (−y in the plane, −z in space) if not given."""
        down = np.array([0.0, 0.0, -1.0] if self.spatial else [0.0, -1.0, 0.0])
        fall = down if direction is None else self._vector(direction, "direction")
        g = number(acceleration, "acceleration") * fall / np.linalg.norm(fall)
        loaded = self
        for title, fields in self._fields.items():
            density = fields.material.density * fields.section.area * g
            loaded = loaded.with_line_load(title, density if self.spatial else density[:2])
        return loaded

    def _carried(self, direction: Any) -> np.ndarray:
        """``direction``: a name or a vector of displacement; upwards (y in the plane, z in space) if not given."""
        way = ("z" if self.spatial else "y") if direction is None else direction
        axis, rotation = self._direction(way)
        if np.any(rotation) or not np.any(axis):
            raise InvalidModel(f"the base of a frame moves along a line; the direction is {direction!r}.")
        axis = axis / np.linalg.norm(axis)
        whole, stiffness = self._whole("mass"), self._whole("stiffness")
        forces = sum(
            tie.T
            @ self._fields[title].line_load(
                self._fields[title].material.density * self._fields[title].section.area * axis,
                0.0,
                self._fields[title].mesh.length,
            )
            for title, tie in self._ties_free.items()
        )
        used = np.flatnonzero((whole.diagonal() > 0.0) | (stiffness.diagonal() > 0.0))
        motion = np.zeros(whole.shape[0])  # a translation has no stiffness: (a K + M) r = M r for every a
        both = whole + whole.diagonal().max() / stiffness.diagonal().max() * stiffness
        motion[used] = splu(sparse.csc_array(both)[used][:, used]).solve(forces[used])
        return self._carried_with_supports(whole, self._basis, self._kept, motion)

    def _whole(self, matrix: str) -> Any:
        """A matrix (N, N) of all members before supports."""
        return sum(
            tie.T @ getattr(self._fields[title], matrix) @ tie for title, tie in self._ties_free.items()
        )

    def with_external_damping(self, coefficient: float, members: Sequence[str] | None = None) -> Self:
        """With viscous damping per length [N s/m²] of all displacements, of these members or of all."""
        d = number(coefficient, "coefficient", "numbers from 0 on, in N s/m²", at_least=0.0)
        damped = self
        for title in self.members if members is None else members:
            fields = self._fields[self._member(title)]
            points, weights = fields.mesh.quadrature(fields.bending.degree + 1)
            for axis in np.eye(3)[: 3 if self.spatial else 2]:
                rows = fields.displacement_rows(points, axis) @ self._ties_free[title] @ self._basis
                damped = damped.with_damping(d * (rows.T @ sparse.diags_array(weights) @ rows))
        return damped

    def length(self, member: str) -> float:
        """Length [m] of a member between its offsets."""
        return self._fields[self._member(member)].mesh.length

    def picture(self, until: float = 0.0) -> Picture:
        """The members of the frame."""
        return frame_picture(self)

    @property
    def _per_joint(self) -> tuple[str, ...]:
        return _DIRECTIONS if self.spatial else _PLANE

    def _field(self, title: str, member: Member) -> MemberFields:
        with naming(f"member '{title}'"):
            for end in (member.start, member.end):
                if end not in self.joints:
                    raise InvalidModel(f"there is no joint {end!r}; joints are {', '.join(self.joints)}.")
        first = self.joints[member.start] + self._offset(title, member.start_offset)
        last = self.joints[member.end] + self._offset(title, member.end_offset)
        return member_fields(title, member, first, last, self.spatial)

    def _offset(self, title: str, given: Any) -> np.ndarray:
        with naming(f"member '{title}'"):
            return np.zeros(3) if given is None else self._vector(given, "offset")

    def _ties(self) -> tuple[dict[str, Any], list[str]]:
        """B (member coordinates, N) for every member, and the N names of all coordinates."""
        names = [f"{joint} {direction}" for joint in self.joints for direction in self._per_joint]
        entries = {}
        for title, member in self.members.items():
            fields = self._fields[title]
            entries[title] = self._end_entries(title, member, fields)
            tied = {row for row, _, _ in entries[title]}
            own = [row for row in range(fields.size) if row not in tied]
            entries[title] += [(row, len(names) + k, 1.0) for k, row in enumerate(own)]
            names += [f"{title} {row}" for row in own]
        ties = {}
        for title, triples in entries.items():
            rows, columns, values = zip(*triples, strict=True)
            shape = (self._fields[title].size, len(names))
            ties[title] = sparse.csr_array((values, (rows, columns)), shape=shape)
        return ties, names

    def _end_entries(self, title: str, member: Member, fields: MemberFields) -> list[tuple[int, int, float]]:
        motions = SPACE_MOTIONS if self.spatial else PLANE_MOTIONS
        columns = [_DIRECTIONS.index(direction) for direction in self._per_joint]
        entries = []
        for last, joint, given in (
            (False, member.start, member.start_offset),
            (True, member.end, member.end_offset),
        ):
            with naming(f"member '{title}'"):
                free = released(member, last, self.spatial)
            values = fields.end_motions(self._offset(title, given))[: len(motions), columns]
            first = self._first(joint)
            for motion, row, line in zip(motions, fields.end_numbers(last), values, strict=True):
                if motion not in free:
                    entries += [(int(row), first + j, float(value)) for j, value in enumerate(line)]
        return entries

    def _first(self, joint: str) -> int:
        return list(self.joints).index(joint) * len(self._per_joint)

    def _unattached(self, mass: Any, stiffness: Any) -> Any:
        """Coordinates of joints that nothing moves with (all members released there) are left out."""
        idle = np.flatnonzero((mass.diagonal() == 0.0) & (stiffness.diagonal() == 0.0))
        return sparse.csr_array(
            (np.ones(idle.size), (np.arange(idle.size), idle)), shape=(idle.size, mass.shape[0])
        )

    def _held(self, supports: Mapping[str, Any], size: int) -> Any:
        rows = [np.zeros((0, size))]
        for joint, given in supports.items():
            directions = given
            if isinstance(given, str):
                kinds = {"clamped": self._per_joint, "pinned": [d for d in self._per_joint if len(d) == 1]}
                if given not in kinds:
                    raise InvalidModel(
                        f"the support of joint '{joint}' is {given!r}; allowed are clamped, pinned, or a list of "
                        f"directions such as ['y']."
                    )
                directions = kinds[given]
            rows += [self._joint_row(joint, direction)[None, :] for direction in directions]
        return sparse.csr_array(np.vstack(rows))

    def _joint_row(self, joint: str, direction: Any) -> np.ndarray:
        """(N,): before supports."""
        if joint not in self.joints:
            raise InvalidModel(f"there is no joint {joint!r}; joints are {', '.join(self.joints)}.")
        if isinstance(direction, str) and direction in SECTION_FORCES:
            raise InvalidModel(
                f"a joint has no {direction}; ask for it on a member, at (member, coordinate)."
            )
        whole = np.concatenate(self._direction(direction))
        row = np.zeros(next(iter(self._ties_free.values())).shape[1])
        first = self._first(joint)
        chosen = [_DIRECTIONS.index(each) for each in self._per_joint]
        row[first : first + len(chosen)] = whole[chosen]
        return row

    def _direction(self, direction: Any) -> tuple[np.ndarray, np.ndarray]:
        """Displacement (3,) and rotation (3,) that a direction asks for."""
        if not isinstance(direction, str):
            return self._vector(direction, "direction"), np.zeros(3)
        if direction not in self._per_joint:
            known = ", ".join(self._per_joint)
            raise InvalidModel(
                f"there is no direction {direction!r}; allowed are {known}, section forces, or a vector."
            )
        unit = np.eye(6)[_DIRECTIONS.index(direction)]
        return unit[:3], unit[3:]

    def _vector(self, given: Any, what: str) -> np.ndarray:
        size = 3 if self.spatial else 2
        return np.concatenate((finite(given, what, (size,)), np.zeros(3 - size)))

    def _member(self, name: str) -> str:
        if name not in self.members:
            raise InvalidModel(f"there is no member {name!r}; members are {', '.join(self.members)}.")
        return name


def _joints(given: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], bool]:
    """Coordinates (3,) by name, and whether they are given in space."""
    points = {name: finite(point, f"joint '{name}'") for name, point in given.items()}
    sizes = {point.shape for point in points.values()}
    if sizes not in ({(2,)}, {(3,)}):
        raise InvalidModel(
            f"joints have coordinates of shapes {sorted(sizes)}; expected (2,) for all or (3,) for all."
        )
    spatial = sizes == {(3,)}
    return {name: np.concatenate((p, np.zeros(3 - p.size))) for name, p in points.items()}, spatial
