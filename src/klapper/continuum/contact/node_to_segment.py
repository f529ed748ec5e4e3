"""Node-to-segment contact: every node of one surface meets the nearest straight segment of the other.

    g = (x − y₁) · Λ a/|a| ≥ 0                                                              Hesch (5.1)-(5.10)

At a convex corner, where a node projects to neither of the two segments, the mean direction of both decides, so that
there is always one answer. In a re-entrant corner a node may be held by both segments at once. With two passes the
nodes of the second surface meet the first one, too: that keeps them from passing through, but there are more conditions
than the surfaces can meet, and forces may not be unique.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from klapper.continuum.body import Body
from klapper.continuum.contact.gap_elements import GapElements
from klapper.continuum.contact.interface import Interface, node_places, typical_length
from klapper.continuum.contact.node_functions import NodeDistance, NodeSlip
from klapper.continuum.contact.pairing import PairedNodes
from klapper.continuum.contact.search import nearest_segments, projection
from klapper.continuum.contact.surface import Surface
from klapper.mechanics.errors import InvalidModel

_BENT = 1e-7  # sine of the angle from which on a corner is re-entrant
_EDGE = 1e-3  # share of a segment up to which a node beyond an open end still meets it


@dataclass(frozen=True, eq=False, kw_only=True)
class NodeToSegment(Interface):
    """Nodes of the ``secondary`` surface against segments of the ``primary`` one.

    ``passes``  1, or 2: nodes of the primary surface against segments of the secondary one as well

    The other options are those of :class:`Interface`. g = n · (x − y) [m] of each node, n the normal of its segment:

    >>> from klapper.continuum import Continuum, NeoHooke, Solid, block
    >>> law = NeoHooke(100.0, 0.3)
    >>> low = Solid("low", block((1.0, 1.0), (1, 1)), law, density=1.0)
    >>> up = Solid("up", block((1.0, 1.0), (2, 1), corner=(0.0, 1.1)), law, density=1.0)
    >>> pair = NodeToSegment(secondary=("up", "bottom"), primary=("low", "top"), friction=0.2)
    >>> world = Continuum([low, up], interfaces=[pair])
    >>> world.gaps(0.0, world.start.position, np.arange(3)).round(9).tolist()
    [0.1, 0.1, 0.1]
    """

    passes: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.passes not in (1, 2):
            raise InvalidModel(f"passes is {self.passes!r}; allowed are 1 and 2.")

    def searches(
        self, bodies: Sequence[Body], offsets: dict[str, int], reference: np.ndarray
    ) -> list[NodeSearch]:
        sides = self.sides(bodies, offsets)
        reach = self.distance(sides, reference)
        scale = typical_length(reference, sides[1].segments)
        found = [NodeSearch(self, *sides, reach, scale)]
        if self.passes == 2:
            found.append(NodeSearch(self, sides[1], sides[0], reach, scale))
        return found


@dataclass(frozen=True, eq=False)
class NodeSearch:
    """Finds the segment of a ``partner`` surface that each node of a ``surface`` meets."""

    interface: Interface
    surface: Surface
    partner: Surface
    reach: float
    scale: float

    def pair(self, position: np.ndarray, travel: float, start: np.ndarray, first: int) -> PairedNodes:
        return self._paired(*self.partners(position, travel), position, start, first)

    def in_corners(
        self, position: np.ndarray, travel: float, start: np.ndarray, first: int, second: int
    ) -> tuple[PairedNodes, PairedNodes]:
        """As ``pair``, and the second segments of nodes in re-entrant corners, numbered from ``second`` on.

        The first segment of a corner is the one that ends there, whichever is nearer.
        """
        node, segment = self.partners(position, travel)
        segment, other = self._re_entrant(node, segment, position)
        both = other >= 0
        return (
            self._paired(node, segment, position, start, first),
            self._paired(node[both], other[both], position, start, second),
        )

    def _re_entrant(
        self, node: np.ndarray, segment: np.ndarray, position: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Both segments (k,) of the corner next to each node if it is re-entrant, else its segment and −1."""
        own, partner = self.surface.nodes[node], self.partner
        begin, end = (position[partner.segments[:, i]] for i in range(2))
        later = projection(position[own], begin[segment], end[segment]) > 0.5
        neighbour = np.where(later, partner.after[segment], partner.before[segment])
        first, second = np.where(later, segment, neighbour), np.where(later, neighbour, segment)
        a, b = _unit(end[first] - begin[first]), _unit(end[second] - begin[second])
        bent = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0] < -_BENT
        apart = ~np.any(partner.segments[neighbour] == own[:, None], axis=1)
        both = (neighbour >= 0) & bent & apart
        return np.where(both, first, segment), np.where(both, second, -1)

    def _paired(
        self, node: np.ndarray, segment: np.ndarray, position: np.ndarray, start: np.ndarray, first: int
    ) -> PairedNodes:
        ends = self.partner.segments[segment]
        places = node_places(np.column_stack([self.surface.nodes[node], ends]))
        owner, weight = np.arange(len(node))[:, None], np.full((len(node), 1), self.scale)
        common = (places, owner, weight, position.size, len(node), self.scale)
        slip = None
        if self.interface.friction:
            length = np.linalg.norm(start[ends[:, 1]] - start[ends[:, 0]], axis=1) / self.scale
            slip = GapElements(NodeSlip(length), *common)
        return PairedNodes(
            first + node, GapElements(NodeDistance(), *common), slip, np.stack([node, segment])
        )

    def partners(self, position: np.ndarray, travel: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Numbers (k,) of nodes of the surface, rising, and of the segments of the partner that they meet."""
        points = position[self.surface.nodes]
        begin, end = (position[self.partner.segments[:, i]] for i in range(2))
        allowed = None
        if self.surface.body == self.partner.body:
            allowed = self.surface.normals(position)
        node, segment = nearest_segments(points, begin, end, self.reach + travel, allowed)
        segment = self._at_corners(points[node], segment, begin, end)
        share = projection(points[node], begin[segment], end[segment])
        off = ((share < -_EDGE) & (self.partner.before[segment] < 0)) | (
            (share > 1.0 + _EDGE) & (self.partner.after[segment] < 0)
        )
        return node[~off], segment[~off]

    def _at_corners(
        self, points: np.ndarray, segment: np.ndarray, begin: np.ndarray, end: np.ndarray
    ) -> np.ndarray:
        """Where a node projects to neither segment at a corner, the one on its side of the mean direction."""
        share = projection(points, begin[segment], end[segment])
        for beyond, neighbours, sign in (
            (share > 1.0, self.partner.after, 1.0),
            (share < 0.0, self.partner.before, -1.0),
        ):
            k = np.flatnonzero(beyond & (neighbours[segment] >= 0))
            other = neighbours[segment[k]]
            outside = projection(points[k], begin[other], end[other])
            convex = outside < 0.0 if sign > 0.0 else outside > 1.0
            corner = end[segment[k]] if sign > 0.0 else begin[segment[k]]
            mean = _unit(end[segment[k]] - begin[segment[k]]) + _unit(end[other] - begin[other])
            past = sign * np.sum((points[k] - corner) * mean, axis=1) > 0.0
            segment = segment.copy()
            segment[k[convex & past]] = other[convex & past]
        return segment


def _unit(directions: np.ndarray) -> np.ndarray:
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)
