"""The picture of a linear system that is given none: its coordinates as masses in a row, with springs and stops.

x = X + e q,   e sideways or upwards by the name of the coordinate; X in shares of the largest displacement
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.picture import Part, Picture

if TYPE_CHECKING:
    from klapper.mechanics.linear_system import LinearSystem

_MOST_MASSES, _FEW, _ELEMENTS = 300, 12, 5
_CELL = 3.0  # distance of masses in a row in shares of the largest displacement
_MASS = 1 / 3  # their width in distances
_UPWARDS = {"height", "lift", "y", "z", "w", "up"}


def masses_in_a_row(system: LinearSystem) -> Picture | None:
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
        parts.append(Part("floor", "line", ends, body=-1))
    parts += _springs(system.stiffness, places, cell, width)
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


def _moving(name: str, kind: Any, points: Any, driven: Sequence[Sequence[tuple[int, int]]]) -> Part:
    """Points that move with coordinates along axes, (coordinate, axis) of each; none for those that stand."""
    points = np.asarray(points, dtype=float).reshape(-1, 3)
    triples = [(3 * i + axis, c, 1.0) for i, each in enumerate(driven) for c, axis in each]
    row, column, value = (np.array(each) for each in zip(*triples, strict=True))
    return Part(name, kind, points, rows=(row, column, value))


def _springs(stiffness: Any, places: list[tuple[int, int]], cell: float, width: float) -> list[Part]:
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
    for number in np.flatnonzero(system.contacts.has_normal):
        contact, normal = system.contacts.parts[number], system.contacts.parts[number].normal
        if np.count_nonzero(normal) != 1:
            continue
        i = int(np.flatnonzero(normal)[0])
        mass, axis = places[i]
        gap = system.gaps(system.start.time, np.zeros(system.size), np.array([number]))[0]
        way = -np.sign(normal[i]) * np.eye(3)[axis]
        along = np.eye(3)[1 - axis] * 0.7 * width
        foot = np.array([cell * mass, 0.0, 0.0]) + 0.5 * width * way
        shift = [float(gap) / abs(float(normal[i])) * way]
        parts.append(Part(contact.name, "line", [foot - along, foot + along], body=-1, shift=shift))
    return parts


def _own_masses(matrix: Any) -> bool:
    """Whether each coordinate has a mass of its own, or shares it with its neighbours in a chain of elements."""
    entries = sparse.coo_array(matrix)
    row, column = entries.coords
    reach = int(np.abs(row - column)[entries.data != 0.0].max(initial=0))
    return reach == 0 or (reach == 1 and matrix.shape[0] >= _ELEMENTS)
