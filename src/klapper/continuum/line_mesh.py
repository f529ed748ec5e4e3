"""Meshes of straight lines in the plane or in space, for cables and trusses.

A line in the plane has two sides. Their facets run with the line to their left, as those of solids do: along the cells
on the right-hand side, against them on the left-hand side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from klapper.continuum.elements import Element, element_named
from klapper.counting import counted
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel


@dataclass(frozen=True, eq=False)
class LineMesh:
    """Lines between nodes.

    ``nodes``     (n, d) [m], d = 2 or 3
    ``cells``     (e, 2) node numbers
    ``surfaces``  facets (f, 2) by name, as node numbers; lines in the plane always have "left" and "right"

    >>> LineMesh([[0, 0], [3, 4]], [[0, 1]]).lengths
    array([5.])
    """

    nodes: np.ndarray
    cells: np.ndarray
    surfaces: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        nodes, cells = np.array(self.nodes, dtype=float), np.array(self.cells, dtype=np.int64)
        if nodes.ndim != 2 or nodes.shape[1] not in (2, 3) or not np.all(np.isfinite(nodes)):
            raise InvalidModel(
                f"nodes have shape {nodes.shape}; for lines they are finite numbers of shape (n, 2) or (n, 3), in m."
            )
        if cells.ndim != 2 or cells.shape[1] != 2 or not len(cells):
            raise InvalidModel(f"cells have shape {cells.shape}; lines need (e, 2).")
        if cells.min() < 0 or cells.max() >= len(nodes):
            raise InvalidModel(f"cells name node {cells.max()}; there are {len(nodes)}, numbered from 0.")
        unused = np.setdiff1d(np.arange(len(nodes)), cells)
        if len(unused):
            raise InvalidModel(f"node {unused[0]} belongs to no cell; leave such nodes out.")
        sides = {"left": cells[:, ::-1], "right": cells} if nodes.shape[1] == 2 else {}
        given = {name: np.array(facets, dtype=np.int64) for name, facets in self.surfaces.items()}
        for name, value in (("nodes", nodes), ("cells", cells), ("surfaces", {**sides, **given})):
            object.__setattr__(self, name, value)
        if self.lengths.min() <= 0.0:
            raise InvalidModel(f"line {int(np.argmin(self.lengths))} has no length; move one of its nodes.")

    @property
    def dimension(self) -> int:
        return self.nodes.shape[1]

    @property
    def facet(self) -> Element:
        return element_named("line2")

    @cached_property
    def lengths(self) -> np.ndarray:
        """(e,) [m]."""
        return np.linalg.norm(self.nodes[self.cells[:, 1]] - self.nodes[self.cells[:, 0]], axis=1)

    def surface(self, name: str) -> np.ndarray:
        """Facets (f, 2) of a named side."""
        if name not in self.surfaces:
            known = ", ".join(self.surfaces) or "none, since lines in space have no sides"
            raise InvalidModel(f"the line has no surface '{name}'; it has {known}.")
        return self.surfaces[name]

    def surface_nodes(self, name: str) -> np.ndarray:
        """Numbers of the nodes on a named side, rising."""
        return np.unique(self.surface(name))

    def __repr__(self) -> str:
        return f"LineMesh({counted(len(self.cells), 'line')}, {counted(len(self.nodes), 'node')})"


def circle(radius: float, cells: int, *, centre: Sequence[float] = (0.0, 0.0)) -> LineMesh:
    """A regular polygon with its corners on a circle, anticlockwise; surfaces "inner" and "outer".

    ``radius`` [m], ``cells`` lines of length 2 r sin(π/cells), ``centre`` (2,) [m].

    >>> circle(1.0, 6).lengths.round(12)
    array([1., 1., 1., 1., 1., 1.])
    """
    size = number(radius, "radius", "numbers above 0, in m", above=0.0)
    if int(cells) != cells or cells < 3:
        raise InvalidModel(f"cells is {cells!r}; a circle needs a whole number of lines from 3 on.")
    angle = 2 * np.pi * np.arange(cells) / cells
    nodes = np.asarray(centre, dtype=float) + size * np.column_stack([np.cos(angle), np.sin(angle)])
    lines = np.column_stack([np.arange(cells), (np.arange(cells) + 1) % cells])
    return LineMesh(nodes, lines, {"inner": lines[:, ::-1], "outer": lines})


def polyline(points: Any, *, cells: int = 1) -> LineMesh:
    """Straight stretches between points (k, d) [m], each cut into ``cells`` lines.

    >>> polyline([(0.0, 0.0), (2.0, 0.0), (2.0, 1.0)], cells=2).lengths.tolist()
    [1.0, 1.0, 0.5, 0.5]
    """
    corners = np.atleast_2d(np.asarray(points, dtype=float))
    if corners.ndim != 2 or len(corners) < 2:
        raise InvalidModel(f"points have shape {corners.shape}; expected (k, 2) or (k, 3) with k from 2 on.")
    if int(cells) != cells or cells < 1:
        raise InvalidModel(f"cells is {cells!r}; allowed are whole numbers from 1 on.")
    places = np.linspace(0.0, len(corners) - 1.0, (len(corners) - 1) * cells + 1)
    nodes = np.column_stack([np.interp(places, np.arange(len(corners)), column) for column in corners.T])
    return LineMesh(nodes, np.column_stack([np.arange(len(nodes) - 1), np.arange(1, len(nodes))]))
