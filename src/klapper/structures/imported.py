"""Structures from other programs: matrices, the nodes they belong to, and contacts named by node.

    plate = ImportedStructure.read(mass="plate.mas", stiffness="plate.sti", dofs="plate.dof", nodes="nodes.csv",
                                   units="t, mm, s")
    stop = plate.contact("stop", 1207, normal=(0, 0, 1), gap=0.001)
    system = plate.system([stop])

Everything is converted to SI units when it is read; see :mod:`klapper.structures.matrix_files` for the formats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics import Contact, InvalidModel
from klapper.mechanics.arguments import finite
from klapper.structures.matrix_files import (
    FIXED_BY_ABAQUS,
    Dof,
    MatrixFile,
    read_dofs,
    read_matrix,
    read_nodes,
)
from klapper.structures.pair_table import Pair, read_pairs
from klapper.structures.structure import Structure
from klapper.structures.units import Units

_NAMES = {"x": 1, "y": 2, "z": 3, "rx": 4, "ry": 5, "rz": 6}


class ImportedStructure(Structure):
    """A structure from the matrices of another program; every coordinate is a direction 1 … 6 of a node.

    ``mass``, ``stiffness``, ``damping``  M, K, D (n, n), dense or sparse, in the given ``units``
    ``dofs``    (node, direction) of every coordinate; directions 1 to 3 are displacements, 4 to 6 rotations. If not
                given, coordinate i is direction 1 of node i, counted from 1
    ``nodes``   coordinates (2,) or (3,) by node, in the same units as the matrices
    ``units``   of mass, length and time, e.g. "t, mm, s"; everything is kept in SI units
    ``fixed``   nodes, or pairs (node, direction), that are held; ``name`` of the structure

    >>> carts = ImportedStructure([[2.0, 0.0], [0.0, 3.0]], [[5.0, -5.0], [-5.0, 5.0]], units="t, mm, s", fixed=[1])
    >>> carts.mass.toarray().tolist(), carts.stiffness.toarray().tolist()
    ([[3000.0]], [[5000.0]])
    """

    def __init__(
        self,
        mass: Any,
        stiffness: Any,
        *,
        damping: Any = None,
        dofs: Sequence[Dof] | None = None,
        nodes: Mapping[int, Any] | None = None,
        units: str,
        fixed: Sequence[int | Dof] = (),
        name: str = "imported structure",
    ) -> None:
        matrices = {"mass": mass, "stiffness": stiffness, "damping": damping}
        n = sparse.csr_array(mass).shape[0]
        labels = list(dofs or ((i + 1, 1) for i in range(n)))
        self.dofs, free = _free(labels, fixed, n)
        self._numbers = {dof: i for i, dof in enumerate(self.dofs)}
        self._planar = not any(direction in (3, 4, 5) for _, direction in labels)
        self._known = {int(node) for node, _ in labels} | {int(node) for node in nodes or ()}
        scale = Units.named(units)
        rotations = np.array([direction > 3 for _, direction in self.dofs])
        convert = {"mass": scale.inertia, "stiffness": scale.stiffness, "damping": scale.damping}
        self.nodes = {
            int(node): scale.length * finite(place, f"node {node}") for node, place in (nodes or {}).items()
        }
        every = np.array([direction > 3 for _, direction in labels])
        self._labels, self._kept = labels, free
        self._whole_mass = convert["mass"](_picked(mass, np.arange(n), "mass", n), every)
        super().__init__(
            **{
                kind: None if given is None else convert[kind](_picked(given, free, kind, n), rotations)
                for kind, given in matrices.items()
            },
            coordinates=[f"node {node} direction {direction}" for node, direction in self.dofs],
            name=name,
        )

    def _carried(self, direction: Any) -> np.ndarray:
        """``direction``: "x", "y" or "z", or a vector (3,) of displacement; fixed nodes move with the base, too."""
        names = ("x", "y", "z")
        if isinstance(direction, str) and direction in names:
            axis = np.eye(3)[names.index(direction)]
        elif direction is None or isinstance(direction, str):
            raise InvalidModel(f"direction is {direction!r}; it must be 'x', 'y', 'z' or a vector (3,).")
        else:
            axis = finite(direction, "direction", (3,))
        motion = np.array([axis[along - 1] if along <= 3 else 0.0 for _, along in self._labels])
        basis = sparse.eye_array(len(motion), format="csc")[:, self._kept]
        return self._carried_with_supports(self._whole_mass, basis, self._kept, motion)

    @classmethod
    def read(
        cls,
        *,
        mass: Any,
        stiffness: Any,
        damping: Any = None,
        dofs: Any = None,
        nodes: Any = None,
        per_node: int | None = None,
        units: str,
        fixed: Sequence[int | Dof] = (),
        name: str = "imported structure",
    ) -> ImportedStructure:
        """From files; ``mass``, ``stiffness``, ``damping`` are paths of matrices, ``dofs`` and ``nodes`` of tables.

        ``per_node`` is for matrices without a table of ``dofs``: coordinates per node, 1 to 6, node by node in the
        order of ``nodes`` (from 1 on, if there are none).
        """
        files = {"mass": read_matrix(mass, "mass"), "stiffness": read_matrix(stiffness, "stiffness")}
        if damping is not None:
            files["damping"] = read_matrix(damping, "damping")
        table = None if nodes is None else read_nodes(nodes)
        matrices, labels = _common(files)
        if dofs is not None:
            labels = read_dofs(dofs)
        elif per_node is not None:
            labels = _node_by_node(matrices["stiffness"].shape[0], per_node, table)
        held = [*fixed, *_held_by_abaqus(matrices["stiffness"], labels)]
        return cls(
            matrices["mass"],
            matrices["stiffness"],
            damping=matrices.get("damping"),
            dofs=labels,
            nodes=table,
            units=units,
            fixed=held,
            name=name,
        )

    def row(self, node: int, direction: Any) -> np.ndarray:
        """(n,): displacement or rotation of a node.

        ``direction`` is 1 … 6, "x", "y", "z", "rx", "ry", "rz", or a vector (2,) or (3,) of displacement. What is held
        does not move: its part of the row is zero.
        """
        if node not in self._known:
            raise InvalidModel(f"there is no node {node} in '{self.name}'.")
        row = np.zeros(self.size)
        for number, share in _components(direction).items():
            i = self._numbers.get((node, number))
            if i is not None:
                row[i] = share
        return row

    def place(self, node: int) -> np.ndarray:
        """Coordinates (2,) or (3,) [m] of a node."""
        if node not in self.nodes:
            raise InvalidModel(f"the place of node {node} is not known; give a table of nodes that holds it.")
        return self.nodes[node]

    def contact(
        self,
        name: str,
        first: int,
        second: int | None = None,
        *,
        normal: Any,
        gap: float | None = None,
        friction: Any = 0.0,
        **options: Any,
    ) -> Contact:
        """A contact of node ``first`` with node ``second``, or with the ground.

        ``normal``   direction (2,) or (3,) into which ``first`` can leave
        ``gap``      at q = 0 [m]; if not given, the distance of both nodes along the normal
        ``options``  as of :class:`~klapper.mechanics.Contact`; friction acts in all directions across the normal
        """
        n = finite(normal, "normal")
        if n.shape not in ((2,), (3,)) or not np.any(n):
            raise InvalidModel(
                f"contact '{name}': normal has shape {n.shape}; expected (2,) or (3,), not all zero."
            )
        if self._planar and n[2:].any():
            raise InvalidModel(
                f"contact '{name}': normal points out of the plane in which '{self.name}' moves."
            )
        n = (n[:2] if self._planar else np.append(n, np.zeros(3 - n.size))) / np.linalg.norm(n)
        if gap is None:
            if second is None:
                raise InvalidModel(f"contact '{name}': a contact with the ground needs a gap, in m.")
            apart = self.place(first) - self.place(second)
            gap = float(n[: apart.size] @ apart[: n.size])
        tangents = None
        if not (np.ndim(friction) == 0 and not callable(friction) and friction == 0.0):
            tangents = [self._between(first, second, across) for across in _across(n)]
        return Contact(
            name,
            normal=self._between(first, second, n),
            gap=gap,
            tangents=tangents,
            friction=friction,
            **options,
        )

    def contacts(self, pairs: Any, **options: Any) -> list[Contact]:
        """Contacts from a table "name, first, second, nx, ny, nz, gap" (path of a csv file) or from a list of ``Pair``.

        Empty ``second``: the ground; empty ``gap``: the distance of the nodes. The table is in m.
        """
        listed: Sequence[Pair] = (
            list(pairs) if isinstance(pairs, Sequence) and not isinstance(pairs, str) else read_pairs(pairs)
        )
        return [
            self.contact(pair.name, pair.first, pair.second, normal=pair.normal, gap=pair.gap, **options)
            for pair in listed
        ]

    def _between(self, first: int, second: int | None, direction: np.ndarray) -> np.ndarray:
        row = self.row(first, direction)
        return row if second is None else row - self.row(second, direction)


def _components(direction: Any) -> dict[int, float]:
    """Shares by direction 1 … 6."""
    if isinstance(direction, str):
        if direction not in _NAMES:
            raise InvalidModel(
                f"there is no direction {direction!r}; allowed are {', '.join(_NAMES)}, 1 to 6, a vector."
            )
        return {_NAMES[direction]: 1.0}
    if np.ndim(direction) == 0:
        if direction not in range(1, 7):
            raise InvalidModel(
                f"direction is {direction}; allowed are 1 to 6, names such as 'x', or a vector."
            )
        return {int(direction): 1.0}
    vector = finite(direction, "direction")
    if vector.shape not in ((2,), (3,)):
        raise InvalidModel(f"direction has shape {vector.shape}; expected (2,) or (3,).")
    return {i + 1: float(share) for i, share in enumerate(vector)}


def _across(normal: np.ndarray) -> list[np.ndarray]:
    """One direction across the normal in the plane, two in space."""
    if normal.size == 2:
        return [np.array([normal[1], -normal[0]])]
    helper = np.eye(3)[int(np.argmin(np.abs(normal)))]
    first = np.cross(normal, helper)
    first /= np.linalg.norm(first)
    return [first, np.cross(normal, first)]


def _free(dofs: Sequence[Dof], fixed: Sequence[int | Dof], n: int) -> tuple[tuple[Dof, ...], np.ndarray]:
    """The coordinates that are not held, and their numbers."""
    labels = [(int(node), int(direction)) for node, direction in dofs]
    if len(labels) != n:
        raise InvalidModel(f"dofs names {len(labels)} coordinates, but the matrices have {n}.")
    of_node: dict[int, set[Dof]] = {}
    for dof in labels:
        if dof in of_node.setdefault(dof[0], set()):
            raise InvalidModel(f"dofs names node {dof[0]}, direction {dof[1]} twice.")
        of_node[dof[0]].add(dof)
    held: set[Dof] = set()
    for each in fixed:
        node, direction = (
            (int(each), None) if isinstance(each, (int, np.integer)) else (int(each[0]), int(each[1]))
        )
        meant = {dof for dof in of_node.get(node, ()) if direction in (None, dof[1])}
        if not meant:
            raise InvalidModel(f"fixed names {each}, which is no coordinate of the structure.")
        held |= meant
    free = np.array([i for i, dof in enumerate(labels) if dof not in held], dtype=int)
    if free.size == 0:
        raise InvalidModel("all coordinates are fixed; a structure needs at least one that moves.")
    return tuple(labels[i] for i in free), free


def _picked(matrix: Any, free: np.ndarray, kind: str, n: int) -> Any:
    given = sparse.csr_array(matrix, dtype=float)
    if given.shape != (n, n):
        raise InvalidModel(f"{kind} has shape {given.shape}, expected ({n}, {n}).")
    return given[free][:, free]


def _common(files: Mapping[str, MatrixFile]) -> tuple[dict[str, Any], tuple[Dof, ...] | None]:
    """Matrices on the same coordinates: all those that any labelled file names."""
    labels = {kind: file.dofs for kind, file in files.items()}
    if all(each is None for each in labels.values()):
        n = max(file.matrix.shape[0] for file in files.values())
        return {
            kind: _grown(file.matrix, np.arange(file.matrix.shape[0]), n) for kind, file in files.items()
        }, None
    if any(each is None for each in labels.values()):
        raise InvalidModel(
            "some matrix files name nodes and directions, others do not; export all in one format."
        )
    union = tuple(sorted({dof for each in labels.values() for dof in each or ()}))
    numbers = {dof: i for i, dof in enumerate(union)}
    matrices = {
        kind: _grown(file.matrix, np.array([numbers[dof] for dof in file.dofs or ()]), len(union))
        for kind, file in files.items()
    }
    return matrices, union


def _grown(matrix: Any, numbers: np.ndarray, n: int) -> Any:
    entries = sparse.coo_array(matrix)
    row, column = entries.coords
    return sparse.csr_array((entries.data, (numbers[row], numbers[column])), shape=(n, n))


def _node_by_node(n: int, per_node: int, nodes: Mapping[int, Any] | None) -> tuple[Dof, ...]:
    count = n // int(per_node) if per_node else 0
    if not 1 <= per_node <= 6 or count * per_node != n or (nodes is not None and len(nodes) != count):
        known = "" if nodes is None else f" and {len(nodes)} nodes"
        raise InvalidModel(f"per_node is {per_node}, which does not fit {n} coordinates{known}.")
    labels = range(1, count + 1) if nodes is None else nodes
    return tuple((node, direction) for node in labels for direction in range(1, per_node + 1))


def _held_by_abaqus(stiffness: Any, labels: Sequence[Dof] | None) -> list[Dof]:
    held = np.flatnonzero(stiffness.diagonal() >= FIXED_BY_ABAQUS).tolist()
    return [labels[i] if labels is not None else (i + 1, 1) for i in held]
