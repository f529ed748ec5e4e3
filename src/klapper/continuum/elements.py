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
from itertools import product

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
    """

    name: str
    nodes: np.ndarray
    exponents: np.ndarray
    facets: np.ndarray
    facet: str
    stiffness: Rule
    mass: Rule

    @property
    def dimension(self) -> int:
        return self.nodes.shape[1]

    @property
    def size(self) -> int:
        """Number k of nodes."""
        return len(self.nodes)

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
    """Exact to degree 1 or 2 on the tetrahedron of volume 1/6."""
    if degree == 1:
        return np.full((1, 3), 0.25), np.array([1 / 6])
    near, far = (5 - np.sqrt(5)) / 20, (5 + 3 * np.sqrt(5)) / 20
    return np.full((4, 3), near) + (far - near) * np.eye(4, 3), np.full(4, 1 / 24)


def _tensor(degree: int, dimension: int) -> np.ndarray:
    return np.array(list(product(range(degree + 1), repeat=dimension)))[:, ::-1]


def _simplex(degree: int, dimension: int) -> np.ndarray:
    every = _tensor(degree, dimension)
    return every[every.sum(axis=1) <= degree]


def _element(
    name: str, nodes: Sequence[Sequence[float]], exponents: np.ndarray, facets: Sequence[Sequence[int]], facet: str,
    stiffness: Rule, mass: Rule,
) -> Element:  # fmt: skip
    return Element(
        name, np.array(nodes, dtype=float), exponents, np.array(facets, dtype=int), facet, stiffness, mass
    )


_SQUARE = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
_CUBE = [(*corner, z) for z in (-1, 1) for corner in _SQUARE]
_CORNER = [(0, 0), (1, 0), (0, 1)]

ELEMENTS: dict[str, Element] = {
    element.name: element
    for element in (
        _element("line2", [(-1,), (1,)], _tensor(1, 1), [], "", gauss(2, 1), gauss(2, 1)),
        _element("line3", [(-1,), (1,), (0,)], _tensor(2, 1), [], "", gauss(3, 1), gauss(3, 1)),
        _element("tri3", _CORNER, _simplex(1, 2), [(0, 1), (1, 2), (2, 0)], "line2", _triangle(1), _triangle(2)),
        _element(
            "tri6", [*_CORNER, (0.5, 0), (0.5, 0.5), (0, 0.5)], _simplex(2, 2), [(0, 1, 3), (1, 2, 4), (2, 0, 5)],
            "line3", _triangle(2), _triangle(4),
        ),
        _element(
            "quad4", _SQUARE, _tensor(1, 2), [(0, 1), (1, 2), (2, 3), (3, 0)], "line2", gauss(2, 2), gauss(2, 2)
        ),
        _element(
            "quad9", [*_SQUARE, (0, -1), (1, 0), (0, 1), (-1, 0), (0, 0)], _tensor(2, 2),
            [(0, 1, 4), (1, 2, 5), (2, 3, 6), (3, 0, 7)], "line3", gauss(3, 2), gauss(3, 2),
        ),
        _element(
            "tet4", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], _simplex(1, 3),
            [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)], "tri3", _tetrahedron(1), _tetrahedron(2),
        ),
        _element(
            "hex8", _CUBE, _tensor(1, 3),
            [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)], "quad4",
            gauss(2, 3), gauss(2, 3),
        ),
    )
}  # fmt: skip


def element_named(name: str) -> Element:
    """The element of a name; solids are made of those with facets."""
    if name not in ELEMENTS:
        raise InvalidModel(f"element is {name!r}; allowed are {', '.join(ELEMENTS)}.")
    return ELEMENTS[name]
