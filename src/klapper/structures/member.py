"""A straight member of a frame: it stretches, bends in one or two planes, and twists.

Local axes: e₁ along the member, e₂ the direction of the deflection w, e₃ = e₁ × e₂ that of the lateral deflection v.
Displacement d and rotation ω of a cross-section are

    u = e₁·d,   w = e₂·d,   θ = e₃·ω (= w′),   v = e₃·d,   θ_v = −e₂·ω (= v′),   φ = e₁·ω

An end with an offset o from its joint moves with it as one rigid body, d = d_joint + ω × o.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics import InvalidModel
from klapper.mechanics.arguments import finite, naming
from klapper.structures.beam import Theory, bending_of
from klapper.structures.bending import Bending
from klapper.structures.line_mesh import LineField, LineMesh, continuous
from klapper.structures.material import Material
from klapper.structures.section import Section

PLANE_MOTIONS = ("axial", "w", "rotation")
SPACE_MOTIONS = ("axial", "w", "rotation", "v", "lateral rotation", "torsion")
SECTION_FORCES = ("normal", "moment", "shear", "lateral moment", "lateral shear", "torque")


@dataclass(frozen=True)
class Member:
    """A beam between the joints ``start`` and ``end`` of a frame.

    ``elements``, ``degree``, ``theory``   as of :class:`~klapper.structures.Beam`
    ``start_offset``, ``end_offset``       from the joint to the member's axis [m], rigid; (2,) in plane, (3,) in space
    ``start_release``, ``end_release``     motions free of the joint: "axial", "w", "rotation", in space also "v",
                                           "lateral rotation", "torsion"; "hinge" frees all bending rotations
    ``up``                                 in space, a direction (3,): e₂ is the one nearest to it; if not given,
                                           (0, 0, 1), or (0, 1, 0) for vertical members

    ``start``, ``end``                     names of the joints; ``material`` and ``section`` of the beam

    A column of 2 m with EA = 2 · 10⁹ N becomes F L/EA = 1 µm shorter under 1 kN:

    >>> from klapper.structures import Frame
    >>> column = Member("foot", "head", Material(200e9, 7850.0, 77e9), Section.rectangle(0.1, 0.1), elements=1)
    >>> frame = Frame({"foot": (0, 0), "head": (0, 2)}, {"column": column}, supports={"foot": "clamped"})
    >>> pressed = frame.with_point_load("head", "y", -1000.0)
    >>> round(float(frame.row("head", "y") @ pressed.deflection()) * 1e6, 9)
    -1.0
    """

    start: str
    end: str
    material: Material
    section: Section
    elements: Any = 4
    degree: int = 3
    theory: Theory = "timoshenko"
    start_offset: Any = None
    end_offset: Any = None
    start_release: tuple[str, ...] = field(default=())
    end_release: tuple[str, ...] = field(default=())
    up: Any = None


@dataclass(frozen=True, eq=False)
class MemberFields:
    """A member as matrices on its own coordinates: axial field, bending, lateral bending and twist one after the other.

    ``axes`` (3, 3): rows e₁, e₂, e₃.
    """

    axes: np.ndarray
    mesh: LineMesh
    spatial: bool
    material: Material
    section: Section
    stretch: LineField
    bending: Bending
    lateral: Bending | None
    twist: LineField | None

    @property
    def parts(self) -> list[LineField | Bending]:
        return [part for part in (self.stretch, self.bending, self.lateral, self.twist) if part is not None]

    @property
    def starts(self) -> np.ndarray:
        """Number of the first coordinate of every part, and the size of all."""
        return np.concatenate(([0], np.cumsum([part.size for part in self.parts])))

    @property
    def size(self) -> int:
        return int(self.starts[-1])

    @property
    def mass(self) -> Any:
        density, area = self.material.density, self.section.area
        blocks = [density * area * self.stretch.gram(), self.bending.mass]
        if self.lateral is not None and self.twist is not None:
            blocks += [self.lateral.mass, density * self.section.polar_second_moment * self.twist.gram()]
        return sparse.block_diag(blocks, format="csr")

    @property
    def stiffness(self) -> Any:
        young, area = self.material.young, self.section.area
        blocks = [young * area * self.stretch.gram(1), self.bending.stiffness]
        if self.lateral is not None and self.twist is not None:
            blocks += [self.lateral.stiffness, self._torsional_stiffness * self.twist.gram(1)]
        return sparse.block_diag(blocks, format="csr")

    @property
    def _torsional_stiffness(self) -> float:
        constant = self.section.required("torsion_constant", "a frame in space")
        return self.material.shear_modulus("a frame in space") * constant

    def end_numbers(self, last: bool) -> np.ndarray:
        """Numbers (3,) or (6,) of the coordinates that are the motions of one end, in the order of the motions."""
        starts, pick = self.starts, slice(2, 4) if last else slice(0, 2)
        numbers = [self.stretch.size - 1 if last else 0, *(starts[1] + self.bending.ends[pick])]
        if self.lateral is not None and self.twist is not None:
            numbers += [
                *(starts[2] + self.lateral.ends[pick]),
                starts[3] + (self.twist.size - 1 if last else 0),
            ]
        return np.array(numbers, dtype=int)

    def end_motions(self, offset: np.ndarray) -> np.ndarray:
        """(6, 6): motions of an end from displacement (3) and rotation (3) of its joint."""
        e1, e2, e3 = self.axes
        lever = -_cross(offset)  # ω × o = −o × ω
        zero = np.zeros(3)
        return np.array(
            [
                np.concatenate((e1, e1 @ lever)),
                np.concatenate((e2, e2 @ lever)),
                np.concatenate((zero, e3)),
                np.concatenate((e3, e3 @ lever)),
                np.concatenate((zero, -e2)),
                np.concatenate((zero, e1)),
            ]
        )

    def displacement_rows(self, x: np.ndarray, direction: np.ndarray) -> Any:
        """Sparse (k, size): displacement in a global direction (3,) at ``x`` (k,) [m]."""
        along, across, lateral = self.axes @ direction
        rows = along * self._placed(0, self.stretch.rows(x)) + across * self._placed(
            1, self.bending.rows(x, "deflection")
        )
        if self.lateral is not None:
            rows = rows + lateral * self._placed(2, self.lateral.rows(x, "deflection"))
        return rows.tocsr()

    def rotation_rows(self, x: np.ndarray, direction: np.ndarray) -> Any:
        """Sparse (k, size): rotation about a global direction (3,) at ``x`` (k,) [m]."""
        about_axis, about_up, about_side = self.axes @ direction
        rows = about_side * self._placed(1, self.bending.rows(x, "rotation"))
        if self.lateral is not None and self.twist is not None:
            rows = rows - about_up * self._placed(2, self.lateral.rows(x, "rotation"))
            rows = rows + about_axis * self._placed(3, self.twist.rows(x))
        return rows.tocsr()

    def force_rows(self, x: np.ndarray, force: str, side: str) -> Any:
        """Sparse (k, size): a section force at ``x`` (k,) [m]; one of ``SECTION_FORCES``."""
        if force == "normal":
            strain = self._placed(0, self.stretch.rows(x, 1, side))
            return self.material.young * self.section.area * strain
        if force in ("moment", "shear"):
            return self._placed(1, self.bending.rows(x, force, side))
        if self.lateral is None or self.twist is None:
            raise InvalidModel(f"a frame in the plane has no {force}; allowed are normal, moment and shear.")
        if force == "torque":
            return self._torsional_stiffness * self._placed(3, self.twist.rows(x, 1, side))
        return self._placed(2, self.lateral.rows(x, force.removeprefix("lateral "), side))

    def line_load(self, density: np.ndarray, start: float, end: float) -> np.ndarray:
        """(size,): a constant global line load (3,) [N/m] between two places [m]."""
        along, across, lateral = self.axes @ density
        pieces = [self.stretch.integral(along, start, end), self.bending.integral(across, start, end)]
        if self.lateral is not None and self.twist is not None:
            pieces += [self.lateral.integral(lateral, start, end), np.zeros(self.twist.size)]
        return np.concatenate(pieces)

    def _placed(self, part: int, rows: Any) -> Any:
        """Rows of one part as rows of the member."""
        first = int(self.starts[part])
        shifted = (rows.data, rows.indices + first, rows.indptr)
        return sparse.csr_array(shifted, shape=(rows.shape[0], self.size))


def member_fields(
    name: str, member: Member, start: np.ndarray, end: np.ndarray, spatial: bool
) -> MemberFields:
    """The fields of a member whose axis runs from ``start`` (3,) to ``end`` (3,) [m]."""
    with naming(f"member '{name}'"):
        axis = end - start
        length = float(np.linalg.norm(axis))
        if length == 0.0:
            raise InvalidModel("its ends lie at the same place; give joints or offsets that are apart.")
        mesh = LineMesh.of(length, member.elements)
        description = (member.degree, member.material, member.section, member.theory)
        return MemberFields(
            _axes(axis / length, member.up, spatial),
            mesh,
            spatial,
            member.material,
            member.section,
            continuous(mesh, member.degree),
            bending_of(mesh, *description),
            bending_of(mesh, *description, lateral=True) if spatial else None,
            continuous(mesh, member.degree) if spatial else None,
        )


def released(member: Member, last: bool, spatial: bool) -> set[str]:
    """Motions of one end that do not follow the joint."""
    motions = SPACE_MOTIONS if spatial else PLANE_MOTIONS
    given = member.end_release if last else member.start_release
    free: set[str] = set()
    for motion in (given,) if isinstance(given, str) else given:
        if motion == "hinge":
            free |= {"rotation", "lateral rotation"} & set(motions)
        elif motion in motions:
            free.add(motion)
        else:
            raise InvalidModel(f"{motion!r} cannot be released; allowed are hinge, {', '.join(motions)}.")
    return free


def _axes(axis: np.ndarray, up: Any, spatial: bool) -> np.ndarray:
    if not spatial:
        return np.array([axis, [-axis[1], axis[0], 0.0], [0.0, 0.0, 1.0]])
    if up is None:
        wanted = np.array([0.0, 0.0, 1.0]) if np.hypot(axis[0], axis[1]) > 1e-6 else np.array([0.0, 1.0, 0.0])
    else:
        wanted = finite(up, "up", (3,))
    across = wanted - (wanted @ axis) * axis
    size = float(np.linalg.norm(across))
    if size <= 1e-9 * float(np.linalg.norm(wanted)):
        raise InvalidModel("up points along the member; give a direction across it.")
    across /= size
    return np.array([axis, across, np.cross(axis, across)])


def _cross(o: np.ndarray) -> np.ndarray:
    """õ with õ ω = o × ω."""
    return np.array([[0.0, -o[2], o[1]], [o[2], 0.0, -o[0]], [-o[1], o[0], 0.0]])
