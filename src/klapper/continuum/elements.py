"""Finite elements on their reference cell: shape functions, quadrature, facets.

    N_A(ξ) = Σ_m V⁻¹_mA ξ^m,   V_Am = ξ_A^m

The polynomials of an element are given by their exponents m; the shape functions follow from the places ξ_A of its
nodes. Nodes are numbered as in VTK and Gmsh: corners first, then edges, then the middle. Facets run so that the
element lies to their left (in the plane), or so that their normal points outwards (in space).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np

from klapper.mechanics.errors import InvalidModel

Rule = tuple[np.ndarray, np.ndarray]  # points (g, d) and weights (g,)


@dataclass(frozen=True, eq=False)
class Element:
    """An element with k nodes in d dimensions.

    ``nodes``      ξ_A (k, d)
    ``exponents``  (k, d) of the polynomials that it spans
    ``facets``     local node numbers (f, kf) of its facets; none for elements that are facets themselves
    ``facet``      name of the element on its facets
    ``stiffness``, ``mass``  quadrature rules of the stiffness and of the mass
    ``in_files``   its name in mesh files (meshio's), ``vtk`` and ``xdmf`` its numbers in these formats

    An entry in ``ELEMENTS`` is all that a new one needs: meshes, files, pictures and tests take it from there.
    """

    name: str
    nodes: np.ndarray
    exponents: np.ndarray
    facets: np.ndarray
    facet: str
    stiffness: Rule
    mass: Rule
    in_files: str
    vtk: int
    xdmf: int

    @property
    def dimension(self) -> int:
        return self.nodes.shape[1]

    @property
    def size(self) -> int:
        """Number k of nodes."""
        return len(self.nodes)

    @property
    def order(self) -> int:
        """Degree along an edge."""
        return int(self.exponents.max())

    @property
    def corners(self) -> int:
        """Number of corners, which are its first nodes."""
        if not self.facet:
            return 2
        return len(np.unique(self.facets[:, : element_named(self.facet).corners]))

    @property
    def simplex(self) -> bool:
        """Whether its reference cell is the corner of the unit cube, and not [−1, 1]^d."""
        return bool(self.nodes.min() >= 0.0)

    @cached_property
    def _coefficients(self) -> np.ndarray:
        return np.linalg.inv(_powers(self.nodes, self.exponents))

    def values(self, points: np.ndarray) -> np.ndarray:
        """N_A (g, k) at points (g, d)."""
        return _powers(points, self.exponents) @ self._coefficients

    def gradients(self, points: np.ndarray) -> np.ndarray:
        """∂N_A/∂ξ (g, k, d) at points (g, d)."""
        columns = []
        for i in range(self.dimension):
            lowered = self.exponents.copy()
            lowered[:, i] = np.maximum(lowered[:, i] - 1, 0)
            columns.append((_powers(points, lowered) * self.exponents[:, i]) @ self._coefficients)
        return np.stack(columns, axis=-1)


def _powers(points: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """ξ^m (g, m)."""
    return np.prod(points[:, None, :] ** exponents[None], axis=2)


def gauss(count: int, dimension: int) -> Rule:
    """Gauss points of [−1, 1]^d, ``count`` along each side."""
    x, w = np.polynomial.legendre.leggauss(count)
    points = np.array(list(product(x, repeat=dimension)))[:, ::-1]
    weights = np.prod(np.array(list(product(w, repeat=dimension))), axis=1)
    return np.ascontiguousarray(points), weights


def _triangle(degree: int) -> Rule:
    """Strang and Fix: exact to degree 1, 2 or 4 on the triangle of area ½."""
    if degree == 1:
        return np.full((1, 2), 1 / 3), np.array([0.5])
    if degree == 2:
        return np.array([[1 / 6, 1 / 6], [2 / 3, 1 / 6], [1 / 6, 2 / 3]]), np.full(3, 1 / 6)
    a, b = 0.445948490915965, 0.091576213509771
    points = [[a, a], [1 - 2 * a, a], [a, 1 - 2 * a], [b, b], [1 - 2 * b, b], [b, 1 - 2 * b]]
    return np.array(points), 0.5 * np.repeat([0.223381589678011, 0.109951743655322], 3)


def _tetrahedron(degree: int) -> Rule:
    """Exact to degree 1, 2 or 5 on the tetrahedron of volume 1/6; the last by Walkington, with 14 points."""
    if degree == 1:
        return np.full((1, 3), 0.25), np.array([1 / 6])
    if degree == 2:
        near, far = (5 - np.sqrt(5)) / 20, (5 + 3 * np.sqrt(5)) / 20
        return np.full((4, 3), near) + (far - near) * np.eye(4, 3), np.full(4, 1 / 24)
    a, b, c = 0.0927352503108912, 0.3108859192633006, 0.0455037041256496
    vertices = [np.full((4, 3), x) + (1 - 4 * x) * np.eye(4, 3) for x in (a, b)]
    pairs = np.array(list(combinations(range(4), 2)))
    edges = np.full((6, 4), c)
    np.put_along_axis(edges, pairs, 0.5 - c, axis=1)
    weights = np.repeat([0.0734930431163619, 0.1126879257180159, 0.0425460207770815], [4, 4, 6]) / 6
    return np.concatenate([*vertices, edges[:, :3]]), weights


def _tensor(degree: int, dimension: int) -> np.ndarray:
    return np.array(list(product(range(degree + 1), repeat=dimension)))[:, ::-1]


def _simplex(degree: int, dimension: int) -> np.ndarray:
    every = _tensor(degree, dimension)
    return every[every.sum(axis=1) <= degree]


def _serendipity(dimension: int) -> np.ndarray:
    """Degree 2 along each edge: superlinear degree at most 2."""
    every = _tensor(2, dimension)
    return every[np.where(every > 1, every, 0).sum(axis=1) <= 2]


def _with_middles(
    corners: Sequence[Sequence[float]], edges: Sequence[Sequence[int]]
) -> list[Sequence[float]]:
    """Corners, and the middles of edges between two of them."""
    places = np.array(corners, dtype=float)
    return [*corners, *places[np.array(edges)].mean(axis=1).tolist()]


def _element(
    name: str, nodes: Sequence[Sequence[float]], exponents: np.ndarray, facets: Sequence[Sequence[int]], facet: str,
    stiffness: Rule, mass: Rule, in_files: str, vtk: int, xdmf: int,
) -> Element:  # fmt: skip
    places, sides = np.array(nodes, dtype=float), np.array(facets, dtype=int)
    return Element(name, places, exponents, sides, facet, stiffness, mass, in_files, vtk, xdmf)


_SQUARE = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
_CUBE = [(*corner, z) for z in (-1, 1) for corner in _SQUARE]
_CORNER = [(0, 0), (1, 0), (0, 1)]
_CORNER_OF_CUBE = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
_SQUARE_EDGES = [(0, 1), (1, 2), (2, 3), (3, 0)]
_TETRAHEDRON_EDGES = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]
_CUBE_EDGES = [
    *_SQUARE_EDGES,
    *((a + 4, b + 4) for a, b in _SQUARE_EDGES),
    *((corner, corner + 4) for corner in range(4)),
]
_QUADRATIC_SQUARE = _with_middles(_SQUARE, _SQUARE_EDGES)
_SQUARE_SIDES = [(0, 1, 4), (1, 2, 5), (2, 3, 6), (3, 0, 7)]

ELEMENTS: dict[str, Element] = {
    element.name: element
    for element in (
        _element("line2", [(-1,), (1,)], _tensor(1, 1), [], "", gauss(2, 1), gauss(2, 1), "line", 3, 2),
        _element("line3", [(-1,), (1,), (0,)], _tensor(2, 1), [], "", gauss(3, 1), gauss(3, 1), "line3", 21, 34),
        _element(
            "tri3", _CORNER, _simplex(1, 2), [(0, 1), (1, 2), (2, 0)], "line2", _triangle(1), _triangle(2),
            "triangle", 5, 4,
        ),
        _element(
            "tri6", [*_CORNER, (0.5, 0), (0.5, 0.5), (0, 0.5)], _simplex(2, 2), [(0, 1, 3), (1, 2, 4), (2, 0, 5)],
            "line3", _triangle(2), _triangle(4), "triangle6", 22, 36,
        ),
        _element(
            "quad4", _SQUARE, _tensor(1, 2), [(0, 1), (1, 2), (2, 3), (3, 0)], "line2", gauss(2, 2), gauss(2, 2),
            "quad", 9, 5,
        ),
        _element(
            "quad8", _QUADRATIC_SQUARE, _serendipity(2), _SQUARE_SIDES, "line3", gauss(3, 2), gauss(3, 2),
            "quad8", 23, 37,
        ),
        _element(
            "quad9", [*_QUADRATIC_SQUARE, (0, 0)], _tensor(2, 2), _SQUARE_SIDES, "line3", gauss(3, 2), gauss(3, 2),
            "quad9", 28, 35,
        ),
        _element(
            "tet4", _CORNER_OF_CUBE, _simplex(1, 3), [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)], "tri3",
            _tetrahedron(1), _tetrahedron(2), "tetra", 10, 6,
        ),
        _element(
            "tet10", _with_middles(_CORNER_OF_CUBE, _TETRAHEDRON_EDGES), _simplex(2, 3),
            [(0, 2, 1, 6, 5, 4), (0, 1, 3, 4, 8, 7), (1, 2, 3, 5, 9, 8), (0, 3, 2, 7, 9, 6)], "tri6",
            _tetrahedron(2), _tetrahedron(5), "tetra10", 24, 38,
        ),
        _element(
            "hex8", _CUBE, _tensor(1, 3),
            [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)], "quad4",
            gauss(2, 3), gauss(2, 3), "hexahedron", 12, 9,
        ),
        _element(
            "hex20", _with_middles(_CUBE, _CUBE_EDGES), _serendipity(3),
            [
                (0, 3, 2, 1, 11, 10, 9, 8), (4, 5, 6, 7, 12, 13, 14, 15), (0, 1, 5, 4, 8, 17, 12, 16),
                (1, 2, 6, 5, 9, 18, 13, 17), (2, 3, 7, 6, 10, 19, 14, 18), (3, 0, 4, 7, 11, 16, 15, 19),
            ],
            "quad8", gauss(3, 3), gauss(3, 3), "hexahedron20", 25, 48,
        ),
    )
}  # fmt: skip

SOLIDS = tuple(name for name, element in ELEMENTS.items() if element.facet)
"""Names of the elements of which bodies are made: those that have facets."""


def element_named(name: str) -> Element:
    """The element of a name; solids are made of those with facets."""
    if name not in ELEMENTS:
        raise InvalidModel(f"element is {name!r}; allowed are {', '.join(ELEMENTS)}.")
    return ELEMENTS[name]
