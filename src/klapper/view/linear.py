"""Pictures of linear structures: beams, frames, pipes, delaminated beams, reduced ones, and masses in a row.

x = X + A q,   A made of the rows with which a structure answers what a point does
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sparse

from klapper.view.picture import Part, Picture

if TYPE_CHECKING:
    from klapper.mechanics import LinearSystem
    from klapper.structures import Beam, Frame
    from klapper.structures.delaminated_beam import DelaminatedModel

_STATIONS = 41  # along a beam
_SLENDER = 0.2  # height over length above which a beam is shown as a line
_MOST_MASSES, _FEW, _ELEMENTS = 300, 12, 5
_CELL, _MASS = (
    3.0,
    1 / 3,
)  # distance of masses in a row in shares of the largest displacement, width in distances
_UPWARDS = {"height", "lift", "y", "z", "w", "up"}


def beam_picture(beam: Beam) -> Picture:
    """A beam in the plane in which it bends."""
    x = np.union1d(np.linspace(0.0, beam.length, _STATIONS), beam.mesh.ends)
    axis = np.column_stack([x, np.zeros((len(x), 2))])
    height = np.sqrt(12.0 * beam.section.second_moment / beam.section.area)
    rows = {1: beam.rows(x), 5: beam.rows(x, "rotation")}
    part = _ribbon(beam.name, axis, np.array([0.0, 1.0, 0.0]), height, lambda i: rows.get(i))
    return Picture(2, [part], caption="The beam; its displacements can be exaggerated.")


def frame_picture(frame: Frame) -> Picture:
    """The members of a frame."""
    parts = []
    for name, member in frame.members.items():
        fields = frame._fields[name]
        x = np.linspace(0.0, fields.mesh.length, _STATIONS)
        start = frame.joints[member.start] + frame._offset(name, member.start_offset)
        axis = start + x[:, None] * fields.axes[0]
        names = ("x", "y", "z", "rx", "ry", "rz") if frame.spatial else ("x", "y", None, None, None, "rz")
        height = np.sqrt(12.0 * member.section.second_moment / member.section.area)

        def rows(i: int, name: str = name, x: np.ndarray = x, names: Sequence[Any] = names) -> Any:
            return None if names[i] is None else frame.rows(name, x, names[i])

        parts.append(_ribbon(name, axis, fields.axes[1], height, rows))
    caption = "The members of the frame; displacements can be exaggerated."
    return Picture(3 if frame.spatial else 2, parts, caption=caption)


def laminate_picture(model: DelaminatedModel) -> Picture:
    """The four segments of a delaminated beam, its length along x and the opening of its joint along y."""
    beam, places = model.beam, np.linspace(0.0, 1.0, _STATIONS)
    lengths = [part.length for part in beam.segments]
    starts = [0.0, lengths[0], lengths[0], lengths[0] + lengths[1]]
    parts = []
    for number, (start, part) in enumerate(zip(starts, beam.segments, strict=True), 1):
        x = start + part.length * places
        axis = np.column_stack([x, np.full(len(x), part.offset), np.zeros(len(x))])
        along = {0: 3, 1: 1, 2: 2}
        rows = {i: model.rows(number, places, direction) for i, direction in along.items()}
        parts.append(_ribbon(f"segment {number}", axis, np.array([0.0, 1.0, 0.0]), part.thickness, rows.get))
    return Picture(
        2,
        parts,
        caption="The delaminated beam in the plane in which its joint opens, in the frame of the beam.",
    )


def reduced_picture(whole: Picture, basis: Any) -> Picture:
    """The picture of a structure in reduced coordinates y, q = V y with V (n, k); static corrections are left out."""
    size = basis.shape[0]
    parts = []
    for part in whole.parts:
        if part.linear:
            row, column, value = part.rows
            matrix = sparse.csr_array((value, (row, column)), shape=(3 * len(part.points), size))
            part = replace(part, rows=_triples(matrix @ basis))
        parts.append(part)
    return replace(whole, parts=parts)


def row_picture(system: LinearSystem) -> Picture | None:
    """Coordinates as masses in a row, with the springs between them and the stops; None if they are no masses."""
    size = system.size
    if (
        size > _MOST_MASSES
        or not _own_masses(system.mass_matrix)
        or any(name.startswith("mode") for name in system.coordinates)
    ):
        return None
    places = _masses(system.coordinates)
    count = places[-1][0] + 1
    cell = _CELL if count <= _FEW else _CELL * _FEW / count
    width = cell * _MASS
    square = 0.5 * width * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    parts = []
    for mass in range(count):
        mine = [(c, axis) for c, (number, axis) in enumerate(places) if number == mass]
        name = system.coordinates[mine[0][0]]
        parts.append(_moving(name, "polygon", square + np.array([cell * mass, 0.0, 0.0]), [mine] * 4))
    if not any(axis for _, axis in places):
        ends = [[-cell, -0.5 * width, 0.0], [cell * count, -0.5 * width, 0.0]]
        parts.append(Part("floor", "line", ends, body=(-1, -1)))
    parts += _row_springs(system.stiffness, places, cell, width)
    parts += _stops(system, places, cell, width)
    caption = (
        "The coordinates as masses in a row: their size and distances are chosen for sight; their motions and the "
        "gaps to their stops are true."
    )
    return Picture(2, parts, time=[0.0], scaled=True, caption=caption)


def _masses(names: Sequence[str]) -> list[tuple[int, int]]:
    """For each coordinate the mass that it moves and the direction, 0 sideways or 1 up, by its name.

    >>> _masses(["displacement", "lift"]), _masses(["a", "b"])
    ([(0, 0), (0, 1)], [(0, 0), (1, 0)])
    """
    found: list[tuple[int, int]] = []
    for i, name in enumerate(names):
        up = name.split()[-1].lower() in _UPWARDS
        same = up and i > 0 and found[-1][1] == 0 and names[i - 1].split()[:-1] == name.split()[:-1]
        number = found[-1][0] + (0 if same else 1) if found else 0
        found.append((number, int(up)))
    return found


def _ribbon(name: str, axis: np.ndarray, up: np.ndarray, height: float, rows: Callable[[int], Any]) -> Part:
    """A beam along ``axis`` (k, 3) as quadrangles between its lower and upper edge; a line where it is not slender.

    ``rows(i)`` gives (k, n) the displacement in direction i = 0, 1, 2 or the rotation about it, i − 3; None if zero.
    """
    count = len(axis)
    length = float(np.linalg.norm(axis[-1] - axis[0]))
    thin = height > _SLENDER * length
    levels = (0.0,) if thin else (-0.5 * height, 0.5 * height)
    points = np.concatenate([axis + level * up for level in levels])
    moves = [rows(i) for i in range(6)]
    size = next(each.shape[1] for each in moves if each is not None)
    matrix = np.zeros((len(levels), count, 3, size))
    for k, level in enumerate(levels):
        for i in range(3):
            if moves[i] is not None:
                matrix[k, :, i] += moves[i]
            if moves[3 + i] is not None:
                matrix[k] += level * np.cross(np.eye(3)[i], up)[None, :, None] * moves[3 + i][:, None, :]
    triples = _triples(sparse.csr_array(matrix.reshape(-1, size)))
    if thin:
        return Part(name, "line", points, rows=triples)
    below = np.arange(count - 1)
    cells = np.column_stack([below, below + 1, count + below + 1, count + below])
    return Part(name, "polygon", points, cells, rows=triples)


def _triples(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    entries = sparse.coo_array(matrix)
    kept = np.abs(entries.data) > 1e-14 * np.abs(entries.data).max(initial=0.0)
    row, column = entries.coords
    return row[kept], column[kept], entries.data[kept]


def _moving(name: str, kind: Any, points: Any, driven: Sequence[Sequence[tuple[int, int]]]) -> Part:
    """Points that move with coordinates along axes, (coordinate, axis) of each; none for those that stand."""
    points = np.asarray(points, dtype=float).reshape(-1, 3)
    triples = [(3 * i + axis, c, 1.0) for i, each in enumerate(driven) for c, axis in each]
    row, column, value = (np.array(each) for each in zip(*triples, strict=True))
    return Part(name, kind, points, rows=(row, column, value))


def _row_springs(stiffness: Any, places: list[tuple[int, int]], cell: float, width: float) -> list[Part]:
    """Springs between masses that the stiffness couples, and to the ground where a row does not sum up to zero."""
    if stiffness is None:
        return []
    matrix, parts = sparse.csr_array(stiffness).toarray(), []
    scale = np.abs(matrix).max(initial=0.0)
    for i, (mass, axis) in enumerate(places):
        for j in range(i + 1, len(places)):
            other, across = places[j]
            if matrix[i, j] < -1e-12 * scale and axis == across and other != mass:
                ends = np.array([[cell * mass + 0.5 * width, 0, 0], [cell * other - 0.5 * width, 0, 0]])
                name = f"spring {i + 1}–{j + 1}"
                parts.append(_moving(name, "spring", ends, [[(i, axis)], [(j, axis)]]))
        if matrix[i].sum() > 1e-9 * scale:
            way = np.array([0.0, -1.0, 0.0]) if axis else np.array([-1.0, 0.0, 0.0])
            start = np.array([cell * mass, 0.0, 0.0]) + 0.5 * width * way
            below = [0.0, -0.3 * width, 0.0] if mass and not axis else [0.0, 0.0, 0.0]  # not on other springs
            ends = np.array([start + (cell - 1.2 * width) * way + below, start + below])
            parts.append(_moving(f"spring {i + 1}", "spring", ends, [[], [(i, axis)]]))
    return parts


def _stops(system: LinearSystem, places: list[tuple[int, int]], cell: float, width: float) -> list[Part]:
    """Stops of contacts that see one coordinate only, at their gap from the mass at rest."""
    parts = []
    for number, contact in enumerate(system.contacts.parts):
        normal = getattr(contact, "normal", None)
        if normal is None or np.count_nonzero(normal) != 1:
            continue
        i = int(np.flatnonzero(normal)[0])
        mass, axis = places[i]
        gap = system.gaps(system.start.time, np.zeros(system.size), np.array([number]))[0]
        way = -np.sign(normal[i]) * np.eye(3)[axis]
        along = np.eye(3)[1 - axis] * 0.7 * width
        foot = np.array([cell * mass, 0.0, 0.0]) + 0.5 * width * way
        shift = [float(gap) / abs(float(normal[i])) * way]
        parts.append(Part(contact.name, "line", [foot - along, foot + along], body=(-1, -1), shift=shift))
    return parts


def _own_masses(matrix: Any) -> bool:
    """Whether each coordinate has a mass of its own, or shares it with its neighbours in a chain of elements."""
    entries = sparse.coo_array(matrix)
    row, column = entries.coords
    reach = int(np.abs(row - column)[entries.data != 0.0].max(initial=0))
    return reach == 0 or (reach == 1 and matrix.shape[0] >= _ELEMENTS)
