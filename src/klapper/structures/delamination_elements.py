"""A delaminated beam of finite elements: cubic across, linear along.

Every node has (u₁, u₁', u₂, u₂', u₃). At the tips the nodes of the laminae follow those of the intact beams,
u_i = u − y_i u₁', and the supports hold all displacements of the ends. The segments are assembled unconnected; then a
basis R of the free coordinates connects them, q = R y.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics import InvalidModel
from klapper.structures.delamination_segments import LAMINAE, SEGMENTS, Segment
from klapper.structures.rotating import Rotor, rotating
from klapper.structures.structure import Structure

PER_NODE = 5
_NAMES = ("u1", "slope 1", "u2", "slope 2", "u3")
_PLACE = {1: 0, 2: 2, 3: 4}  # of the displacements at a node


@dataclass(frozen=True, eq=False)
class ElementFunctions:
    """Displacements of a delaminated beam of finite elements.

    ``elements``  their number in each of the segments (4,)
    ``basis``     (n, k) of modes the displacements are restricted to, or None: all free coordinates
    """

    segments: tuple[Segment, ...]
    elements: tuple[int, ...]
    basis: np.ndarray | None = None

    def __post_init__(self) -> None:
        if len(self.elements) != 4 or any(int(count) != count or count < 1 for count in self.elements):
            raise InvalidModel(
                f"elements are {self.elements}; expected four whole numbers from 1 on, one per segment."
            )

    @property
    def first_nodes(self) -> np.ndarray:
        """Number of the first node of each segment and, at the end, number of nodes (5,)."""
        return np.concatenate([[0], np.cumsum([count + 1 for count in self.elements])])

    @cached_property
    def free(self) -> np.ndarray:
        """Numbers of the free ones among all coordinates: neither held by supports nor tied at the tips."""
        first = self.first_nodes
        held = PER_NODE * np.array([[first[0]], [first[-1] - 1]]) + np.array([0, 2, 4])
        tied = [_node(follower) for _, follower, _ in self._tips]
        return np.setdiff1d(np.arange(PER_NODE * first[-1]), np.concatenate([held.ravel(), *tied]))

    @cached_property
    def connection(self) -> Any:
        """R (all coordinates, free coordinates), sparse."""
        column = np.full(PER_NODE * self.first_nodes[-1], -1)
        column[self.free] = np.arange(self.free.size)
        rows, columns, values = [self.free], [column[self.free]], [np.ones(self.free.size)]
        for part, follower, leader in self._tips:
            rows.append(np.append(_node(follower), _node(follower)[4]))
            columns.append(column[np.append(_node(leader), _node(leader)[1])])
            values.append(np.append(np.ones(PER_NODE), -part.lever))
        entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        return sparse.csr_array(entries, shape=(column.size, self.free.size))

    @property
    def _tips(self) -> list[tuple[Segment, int, int]]:
        """Laminae, their end nodes, and the nodes of the intact beams that these follow."""
        first = self.first_nodes
        ends = [(first[1] - 1, 0), (first[3], -1)]
        nodes = {number: (first[number - 1], first[number] - 1) for number in LAMINAE}
        return [
            (self.segments[number - 1], int(nodes[number][end]), int(leader))
            for number in LAMINAE
            for leader, end in ends
        ]

    def in_planes(self, planes: Sequence[str]) -> np.ndarray:
        """Positions among the free coordinates of those that belong to the planes."""
        second = np.isin(self.free % PER_NODE, (2, 3))
        return np.flatnonzero(np.where(second, "2-3" in planes, "1-3" in planes))

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the free coordinates, or of the modes."""
        if self.basis is not None:
            return tuple(f"mode {i + 1}" for i in range(self.basis.shape[1]))
        beams = np.repeat(SEGMENTS, [count + 1 for count in self.elements])
        nodes = self.free // PER_NODE
        return tuple(
            f"beam {beams[node]} node {node - self.first_nodes[beams[node] - 1]} {_NAMES[i % PER_NODE]}"
            for i, node in zip(self.free, nodes, strict=True)
        )

    def rows(self, segment: int, places: Any, direction: int, derivative: int = 0) -> np.ndarray:
        """d^j u/dx^j (k, n) in ``direction`` 1, 2 or 3 at the ``places`` ξ (k,) of a segment 1…4."""
        xi = np.atleast_1d(np.asarray(places, dtype=float))
        at = SEGMENTS.index(segment)
        count = self.elements[at]
        element = np.clip((xi * count).astype(int), 0, count - 1)
        size = self.segments[at].length / count
        shape = _linear if direction == 3 else _hermite
        values = shape(xi * count - element, size, derivative)
        node = PER_NODE * (self.first_nodes[at] + element)
        offsets = np.array([4, 9]) if direction == 3 else _PLACE[direction] + np.array([0, 1, 5, 6])
        columns = node[:, None] + offsets
        sampled = sparse.csr_array(
            (values.ravel(), (np.repeat(np.arange(xi.size), offsets.size), columns.ravel())),
            shape=(xi.size, self.connection.shape[0]),
        )
        free = sampled @ self.connection
        return free.toarray() if self.basis is None else free @ self.basis


def element_rotor(functions: ElementFunctions, external_damping: Sequence[float], name: str) -> Rotor:
    """The rotor in free coordinates; ``external_damping`` d_a (4,) [N s/m²] of each segment. (5.92)"""
    line_mass = [part.line_mass for part in functions.segments]
    nodes = int(functions.first_nodes[-1])
    unconnected = Structure(_inertia(functions, line_mass), _stiffness(functions), name=name)
    across = PER_NODE * np.arange(nodes)[:, None] + np.array([0, 1])
    pairs = np.stack([across, across + 2], -1).reshape(-1, 2)
    translation = np.zeros(PER_NODE * nodes)
    translation[::PER_NODE] = 1.0
    offsets = np.repeat(
        [part.offset for part in functions.segments], [count + 1 for count in functions.elements]
    )
    rotor = rotating(
        unconnected,
        pairs,
        translation=translation,
        eccentricity=translation * np.repeat(offsets, PER_NODE),
        external_damping=_inertia(functions, external_damping),
    )
    return rotor.projected(functions.connection, functions.coordinates)


def _node(number: int) -> np.ndarray:
    """Numbers of the coordinates of a node."""
    return PER_NODE * number + np.arange(PER_NODE)


def _hermite(s: np.ndarray, size: float, derivative: int) -> np.ndarray:
    """d^j/dx^j of the cubic functions of (w, w') at both ends (k, 4), s = x/size in [0, 1]."""
    cubics = np.array([[2, -3, 0, 1], [1, -2, 1, 0], [-2, 3, 0, 0], [1, -1, 0, 0]], dtype=float)
    values = [np.polyval(np.polyder(cubic, derivative), s) for cubic in cubics]
    return np.stack(values, -1) * np.array([1.0, size, 1.0, size]) / size**derivative


def _linear(s: np.ndarray, size: float, derivative: int) -> np.ndarray:
    values = [
        np.polyval(np.polyder([slope, start], derivative), s) for slope, start in ((-1.0, 1.0), (1.0, 0.0))
    ]
    return np.stack(values, -1) / size**derivative


def _inertia(functions: ElementFunctions, line_weight: Sequence[float]) -> Any:
    """Σ_i ∫ c_i Nᵀ N dx over all directions, unconnected, for line weights c (4,)."""
    return sparse.block_diag(
        [
            _assembled(count, weight * part.length / count * _element_inertia(part.length / count))
            for part, count, weight in zip(functions.segments, functions.elements, line_weight, strict=True)
        ],
        format="csr",
    )


def _stiffness(functions: ElementFunctions) -> Any:
    return sparse.block_diag(
        [
            _assembled(count, _element_stiffness(part, part.length / count))
            for part, count in zip(functions.segments, functions.elements, strict=True)
        ],
        format="csr",
    )


def _assembled(count: int, element: np.ndarray) -> Any:
    """A chain of ``count`` equal elements."""
    first = np.arange(count + 1)
    total = sparse.csr_array((PER_NODE * (count + 1),) * 2)
    for row in (0, 1):
        for column in (0, 1):
            block = element[
                PER_NODE * row : PER_NODE * (row + 1), PER_NODE * column : PER_NODE * (column + 1)
            ]
            places = (first[:-1] + row, first[:-1] + column)
            pattern = sparse.csr_array((np.ones(count), places), shape=(count + 1,) * 2)
            total = total + sparse.kron(pattern, block, format="csr")
    return total


def _element_inertia(size: float) -> np.ndarray:
    """∫ Nᵀ N dx / size (10, 10)."""
    across = (
        np.array([[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4]])
        / 420
        * _units(size)
    )
    return _placed(across, across, np.array([[2.0, 1.0], [1.0, 2.0]]) / 6)


def _element_stiffness(part: Segment, size: float) -> np.ndarray:
    bending = (
        np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]]) / size**3 * _units(size)
    )
    axial = part.axial / size * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return _placed(part.bending[0] * bending, part.bending[1] * bending, axial)


def _units(size: float) -> np.ndarray:
    slopes = np.array([1.0, size, 1.0, size])
    return slopes[:, None] * slopes


def _placed(first: np.ndarray, second: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Matrices of both bending directions and of the axial one, put at their coordinates (10, 10)."""
    whole = np.zeros((2 * PER_NODE, 2 * PER_NODE))
    for part, places in ((first, [0, 1, 5, 6]), (second, [2, 3, 7, 8]), (along, [4, 9])):
        whole[np.ix_(places, places)] = part
    return whole
