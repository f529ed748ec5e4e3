"""Structured meshes: blocks and rings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import permutations

import numpy as np

from klapper.continuum.elements import ELEMENTS, SOLIDS, Element
from klapper.continuum.mesh import Mesh
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel


def block(
    sides: Sequence[float],
    cells: Sequence[int],
    *,
    corner: Sequence[float] | None = None,
    element: str = "quad4",
) -> Mesh:
    """A rectangle or a box with ``cells`` along each of its ``sides`` [m], from ``corner`` [m] on.

    Surfaces: "left" and "right" across the first direction, "bottom" and "top" across the last, in space also
    "front" and "back" across the second. ``sides``, ``cells`` and ``corner`` are (d,); ``element`` is "quad4", "quad9",
    "tri3" or "tri6" in the plane, "hex8" in space.

    >>> block((2.0, 1.0), (4, 2)).volume
    2.0
    """
    shape = _structured(element)
    lengths = [number(side, "sides", "numbers above 0, in m", above=0.0) for side in sides]
    counts = [_count(count, "cells") for count in cells]
    if len(lengths) != shape.dimension or len(counts) != shape.dimension:
        raise InvalidModel(
            f"sides and cells have {len(lengths)} and {len(counts)} numbers; '{element}' needs {shape.dimension}."
            + (' A box in space is made of element="hex8".' if len(lengths) == len(counts) == 3 else "")
        )
    grid, numbers = _grid(shape, counts)
    unit = grid / np.array(counts)
    mesh = Mesh(unit * np.array(lengths), numbers, shape)
    names = [("left", "right"), ("front", "back"), ("bottom", "top")]
    if shape.dimension == 2:
        names.pop(1)
    for axis, (low, high) in enumerate(names):
        for name, end in ((low, 0.0), (high, 1.0)):
            mesh = mesh.with_surface(name, partial(_at_end, axis, end * lengths[axis], lengths[axis]))
    return mesh if corner is None else mesh.moved(np.asarray(corner, dtype=float))


def annulus(
    inner_radius: float,
    outer_radius: float,
    cells: Sequence[int],
    *,
    centre: Sequence[float] = (0.0, 0.0),
    element: str = "quad4",
) -> Mesh:
    """A ring with ``cells`` = (along the radius, around); surfaces "inner" and "outer".

    ``inner_radius``, ``outer_radius`` [m], ``centre`` (2,) [m], ``element`` "quad4" or "quad9".

    >>> ring = annulus(0.8, 1.0, (2, 32))
    >>> len(ring.cells), ring.surface("outer").shape
    (64, (32, 2))
    """
    shape = _structured(element)
    if shape.dimension != 2:
        raise InvalidModel(
            f"element is {element!r}; a ring in the plane is made of elements of the plane, e.g. quad4."
        )
    inside = number(inner_radius, "inner_radius", "numbers above 0, in m", above=0.0)
    outside = number(
        outer_radius, "outer_radius", f"numbers above inner_radius {inside:g}, in m", above=inside
    )
    radial, around = (_count(count, "cells") for count in cells)
    if around < 3:
        raise InvalidModel(f"cells has {around} around the ring; at least 3 are needed.")
    grid, numbers = _grid(shape, [radial, around])
    radius = inside + (outside - inside) * grid[:, 0] / radial
    angle = 2 * np.pi * grid[:, 1] / around
    nodes = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    seam = grid[:, 1] >= around - 1e-9  # the last row of nodes is the first one
    first = np.full(len(grid), -1)
    first[~seam] = np.arange(np.count_nonzero(~seam))
    first[seam] = first[np.flatnonzero(np.isclose(grid[:, 1], 0.0))]
    mesh = Mesh(nodes[~seam], first[numbers], shape)
    level = np.round((np.linalg.norm(mesh.nodes, axis=1) - inside) / (outside - inside), 9)
    mesh = mesh.with_surface("inner", lambda x: level == 0.0).with_surface("outer", lambda x: level == 1.0)
    return mesh.moved(np.asarray(centre, dtype=float))


def _at_end(axis: int, end: float, length: float, places: np.ndarray) -> np.ndarray:
    return np.isclose(places[:, axis] / length, end / length)


def _structured(element: str) -> Element:
    if element not in SOLIDS:
        raise InvalidModel(f"element is {element!r}; allowed are {', '.join(SOLIDS)}.")
    return ELEMENTS[element]


def _count(given: int, name: str) -> int:
    if int(given) != given or given < 1:
        raise InvalidModel(f"{name} has {given!r}; allowed are whole numbers from 1 on.")
    return int(given)


def _grid(shape: Element, counts: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Places (n, d) in units of cells, and cells (e, k); triangles and tetrahedra are parts of squares and cubes."""
    order = shape.order
    sizes = [order * count + 1 for count in counts]
    axes = np.meshgrid(*(np.arange(size) for size in sizes), indexing="ij")
    places = np.stack([axis.ravel(order="F") for axis in axes], axis=1)
    strides = np.concatenate([[1], np.cumprod(sizes[:-1])])
    starts = np.meshgrid(*(order * np.arange(count) for count in counts), indexing="ij")
    corners = np.stack([start.ravel(order="F") for start in starts], axis=1) @ strides
    cells = np.concatenate([corners[:, None] + (pattern @ strides)[None] for pattern in _patterns(shape)])
    used, numbers = np.unique(cells, return_inverse=True)
    return places[used] / order, numbers.reshape(cells.shape)


def _patterns(shape: Element) -> list[np.ndarray]:
    """Nodes of the cells in one square or cube of the grid, as steps (k, d) from its first corner."""
    if not shape.simplex:
        return [np.round(0.5 * shape.order * (shape.nodes + 1.0)).astype(int)]
    lower = np.round(shape.order * shape.nodes).astype(int)
    if shape.dimension == 2:
        return [lower, shape.order - lower]
    return [lower @ along for along in _kuhn()]


def _kuhn() -> list[np.ndarray]:
    """Edges (3, 3) from the first corner of the six tetrahedra that fill a cube, one for each order of its axes."""
    edges = []
    for axes in permutations(np.eye(3, dtype=int)):
        first, second, third = np.cumsum(axes, axis=0)
        turned = np.linalg.det([first, second, third]) < 0.0
        edges.append(np.array([second, first, third] if turned else [first, second, third]))
    return edges
