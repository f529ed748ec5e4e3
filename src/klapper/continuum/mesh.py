"""A mesh: nodes, cells of one kind, and named surfaces.

Surfaces are facets that run with the body to their left (in the plane), or whose normal points outwards (in space):
what contact, pressure and tractions need to know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from klapper.continuum.elements import Element, element_named
from klapper.counting import counted
from klapper.mechanics.errors import InvalidModel


@dataclass(frozen=True, eq=False)
class Mesh:
    """Cells of one ``element`` over common nodes.

    ``nodes``     (n, d) [m]
    ``cells``     (e, k) node numbers, k as the element has nodes
    ``surfaces``  facets (f, kf) by name, as node numbers

    ``element`` is a name, in the plane "tri3", "tri6", "quad4", "quad8", "quad9", in space "tet4", "tet10", "hex8",
    "hex20"; see also ``block``, ``annulus`` and ``read_mesh``. A triangle with a named edge:

    >>> triangle = Mesh([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]], [[0, 1, 2]], "tri3")
    >>> triangle.volume, triangle.with_surface("floor", lambda x: x[:, 1] == 0.0).surface("floor").tolist()
    (1.0, [[0, 1]])
    """

    nodes: np.ndarray
    cells: np.ndarray
    element: Element
    surfaces: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        nodes, cells = np.array(self.nodes, dtype=float), np.array(self.cells, dtype=np.int64)
        given = element_named(self.element) if isinstance(self.element, str) else self.element
        if nodes.ndim != 2 or nodes.shape[1] != given.dimension or not np.all(np.isfinite(nodes)):
            raise InvalidModel(
                f"nodes have shape {nodes.shape}; for '{given.name}' they are finite numbers of shape "
                f"(n, {given.dimension}), in m."
            )
        if cells.ndim != 2 or cells.shape[1] != given.size or not len(cells):
            raise InvalidModel(f"cells have shape {cells.shape}; '{given.name}' needs (e, {given.size}).")
        if cells.min() < 0 or cells.max() >= len(nodes):
            raise InvalidModel(f"cells name node {cells.max()}; there are {len(nodes)}, numbered from 0.")
        unused = np.setdiff1d(np.arange(len(nodes)), cells)
        if len(unused):
            raise InvalidModel(f"node {unused[0]} belongs to no cell; leave such nodes out.")
        for name, value in (("nodes", nodes), ("cells", cells), ("element", given)):
            object.__setattr__(self, name, value)
        object.__setattr__(
            self, "surfaces", {n: np.array(s, dtype=np.int64) for n, s in self.surfaces.items()}
        )
        volumes = self.jacobians(given.stiffness[0])[1]
        if volumes.min() <= 0.0:
            raise InvalidModel(
                f"cell {int(np.argmin(volumes.min(axis=1)))} is turned inside out; number its nodes the other way "
                f"round, or move them."
            )

    @property
    def dimension(self) -> int:
        return self.nodes.shape[1]

    @property
    def facet(self) -> Element:
        """The element on its facets."""
        return element_named(self.element.facet)

    def jacobians(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """∂X/∂ξ (e, g, d, d) and its determinant (e, g) at points (g, d) of every cell."""
        matrix = np.einsum("eki,gkj->egij", self.nodes[self.cells], self.element.gradients(points))
        return matrix, np.linalg.det(matrix)

    @cached_property
    def volume(self) -> float:
        """Area [m²] in the plane, volume [m³] in space."""
        points, weights = self.element.mass
        return float((self.jacobians(points)[1] @ weights).sum())

    @cached_property
    def boundary(self) -> np.ndarray:
        """All facets (f, kf) that belong to one cell only."""
        facets = self.cells[:, self.element.facets].reshape(-1, self.element.facets.shape[1])
        keys = np.sort(facets, axis=1)
        _, first, count = np.unique(keys, axis=0, return_index=True, return_counts=True)
        return facets[np.sort(first[count == 1])]

    def surface(self, name: str) -> np.ndarray:
        """Facets (f, kf) of a named surface; "boundary" is all of it."""
        if name == "boundary":
            return self.boundary
        if name not in self.surfaces:
            known = ", ".join(["boundary", *self.surfaces])
            raise InvalidModel(f"the mesh has no surface '{name}'; it has {known}.")
        return self.surfaces[name]

    def surface_nodes(self, name: str) -> np.ndarray:
        """Numbers of the nodes on a named surface, rising."""
        return np.unique(self.surface(name))

    def with_surface(self, name: str, where: Callable[[np.ndarray], Any]) -> Mesh:
        """The mesh with one more surface: the facets of the boundary all of whose nodes (k, d) are ``where`` says."""
        inside = np.asarray(where(self.nodes), dtype=bool)
        if inside.shape != (len(self.nodes),):
            raise InvalidModel(f"where must answer with one truth value per node, ({len(self.nodes)},).")
        chosen = self.boundary[np.all(inside[self.boundary], axis=1)]
        if not len(chosen):
            raise InvalidModel(f"surface '{name}' would be empty: no facet of the boundary lies there.")
        return replace(self, surfaces={**self.surfaces, name: chosen})

    def moved(self, by: Any = 0.0, *, turn: float = 0.0) -> Mesh:
        """Turned about the origin by an angle [rad] in the 1-2 plane, then shifted by a vector (d,) [m]."""
        rotation = np.eye(self.dimension)
        rotation[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
        return replace(self, nodes=self.nodes @ rotation.T + np.asarray(by, dtype=float))

    def __repr__(self) -> str:
        return f"Mesh({len(self.cells)} {self.element.name}, {counted(len(self.nodes), 'node')}, {list(self.surfaces)})"
