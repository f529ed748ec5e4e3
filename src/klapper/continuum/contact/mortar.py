"""Mortar contact: gaps are averaged over the nodes of one surface, integral by integral.

    g_A = 1/A_A ∫ M_A n · (x⁽²⁾ − x⁽¹⁾) dγ ≥ 0                                              Hesch (5.23)-(5.27)

The integral is cut into segments that belong to one facet of either side, so that it is exact and a uniform pressure
passes from one mesh to the other as it is. A_A = ∫ N_A ds₀ makes the gap a length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from klapper.continuum.body import Body
from klapper.continuum.contact.gap_elements import GapElements
from klapper.continuum.contact.interface import Interface, node_places, typical_length
from klapper.continuum.contact.invariants import TURN
from klapper.continuum.contact.mortar_functions import (
    FacetPair,
    MortarGap,
    MortarSlip,
    multiplier_functions,
    slip_coefficients,
)
from klapper.continuum.contact.pairing import PairedNodes
from klapper.continuum.contact.search import pairs_within
from klapper.continuum.contact.surface import Surface

_SHORTEST = 1e-10  # share of a facet below which an overlap is no segment
_WHOLE = 1.0 - 1e-8  # share of a facet from which on it is covered
_DEPTH = 3.0  # reaches up to which facets that face each other belong to an average


@dataclass(frozen=True, eq=False, kw_only=True)
class Mortar(Interface):
    """Averaged gaps of the ``secondary`` surface over the ``primary`` one.

    ``dual``  multiplier functions dual to the shape functions: forces of neighbouring nodes do not mix; on facets that
              the other surface covers in part they would weigh gaps with the wrong sign, and linear ones are taken

    The other options are those of :class:`Interface`. A block above a slope, 0.1 m on its left and 0.3 m on its right:
    each node averages with its linear function, g_A = 0.1 + 0.2/3 and 0.1 + 0.4/3:

    >>> from klapper.continuum import Continuum, Mesh, NeoHooke, Solid, block
    >>> law = NeoHooke(100.0, 0.3)
    >>> slope = Mesh([[0, 0], [1, 0], [1, 0.7], [0, 0.9]], [[0, 1, 2, 3]], "quad4")
    >>> slope = slope.with_surface("top", lambda x: x[:, 1] > 0.5)
    >>> low = Solid("low", slope, law, density=1.0)
    >>> up = Solid("up", block((1.0, 1.0), (1, 1), corner=(0.0, 1.0)), law, density=1.0)
    >>> world = Continuum([low, up], interfaces=[Mortar(secondary=("up", "bottom"), primary=("low", "top"))])
    >>> world.gaps(0.0, world.start.position, np.arange(2)).round(4).tolist()
    [0.1667, 0.2333]
    """

    dual: bool = False

    def searches(
        self, bodies: Sequence[Body], offsets: dict[str, int], reference: np.ndarray
    ) -> list[MortarSearch]:
        sides = self.sides(bodies, offsets)
        scale = typical_length(reference, sides[0].facets[:, :2])
        return [MortarSearch(self, *sides, self.distance(sides, reference), scale)]


class Segments(NamedTuple):
    """S segments: facet of either side, whether they start and end at nodes of the mortar side, and whether their facet
    is covered as a whole."""

    facet: np.ndarray
    partner: np.ndarray
    start_at_mortar: np.ndarray
    end_at_mortar: np.ndarray
    whole: np.ndarray


@dataclass(frozen=True, eq=False)
class MortarSearch:
    """Cuts a ``surface`` into segments that face one facet of a ``partner`` surface each."""

    interface: Mortar
    surface: Surface
    partner: Surface
    reach: float
    scale: float

    @cached_property
    def facets(self) -> FacetPair:
        own = self.surface.element
        return FacetPair(own, self.partner.element, multiplier_functions(own, dual=self.interface.dual))

    @cached_property
    def opposite(self) -> np.ndarray:
        """Facets of the partner with their ends exchanged: they run as the surface does."""
        order = [1, 0, *range(2, self.partner.facets.shape[1])]
        return self.partner.facets[:, order]

    def pair(self, position: np.ndarray, travel: float, start: np.ndarray, first: int) -> PairedNodes:
        cut = self.segments(position, travel, start)
        gap = self.gap(cut, position.size)
        slip = self._slip(gap, start.ravel()) if self.interface.friction else None
        which = np.unique(self.owners(cut))
        key = cut if self.interface.dual else cut[:4]  # only dual functions ask whether a facet is covered
        return PairedNodes(first + which, gap, slip, np.stack(key))

    def in_corners(
        self, position: np.ndarray, travel: float, start: np.ndarray, first: int, second: int
    ) -> tuple[PairedNodes, None]:
        """As ``pair``: averages need no second partner in corners."""
        return self.pair(position, travel, start, first), None

    def owners(self, cut: Segments) -> np.ndarray:
        """(S, k): which nodes of the surface the multiplier functions of segments belong to."""
        return self.surface.number(self.surface.facets[cut.facet][:, : self.facets.count])

    @cached_property
    def share(self) -> np.ndarray:
        """(n,) [m] ∫ M_A ds of the nodes of the surface in the reference configuration."""
        return self.surface.summed(self.surface.parts @ self.facets.multipliers.T)

    def gap(self, cut: Segments, size: int) -> GapElements:
        """The averaged gaps of given segments over ``size`` coordinates."""
        own, other = self.surface.facets[cut.facet], self.opposite[cut.partner]
        numbers = self.owners(cut)
        which, owner = np.unique(numbers, return_inverse=True)
        functions = MortarGap(self._weighted(cut), cut.start_at_mortar, cut.end_at_mortar)
        places = node_places(np.concatenate([own, other], axis=1))
        weight = self.scale**2 / self.share[numbers]
        return GapElements(
            functions, places, owner.reshape(numbers.shape), weight, size, len(which), self.scale
        )

    def _weighted(self, cut: Segments) -> FacetPair:
        """The facets with the multiplier functions of every segment."""
        if not self.interface.dual or np.all(cut.whole):
            return self.facets
        linear = multiplier_functions(self.surface.element, dual=False)
        chosen = np.where(cut.whole[:, None, None], self.facets.multipliers, linear)
        return replace(self.facets, multipliers=chosen)

    def segments(
        self, position: np.ndarray, travel: float = 0.0, start: np.ndarray | None = None
    ) -> Segments:
        """All segments at node positions (n, 2) [m]. Facets reach as far beyond what belongs to an average as they
        themselves moved since ``start`` (n, 2), not as the fastest node did: else far sides of bodies would meet."""
        x1, x2 = (position[self.surface.facets[:, i]] for i in range(2))
        y1, y2 = (position[self.opposite[:, i]] for i in range(2))
        reach = _DEPTH * self.reach + travel
        half, other_half = (0.5 * np.linalg.norm(b - a, axis=1) for a, b in ((x1, x2), (y1, y2)))
        i, j = pairs_within(
            0.5 * (x1 + x2), 0.5 * (y1 + y2), reach + half + float(other_half.max(initial=0.0))
        )
        a, chord = (x2 - x1)[i], (y2 - y1)[j]
        length = np.sum(a * a, axis=1)
        facing = np.sum(a * chord, axis=1) > 0.0
        first = np.sum(a * (y1[j] - x1[i]), axis=1) / length
        last = np.sum(a * (y2[j] - x1[i]), axis=1) / length
        low, high = np.maximum(first, 0.0), np.minimum(last, 1.0)
        middle = 0.5 * (low + high)
        along = np.divide(middle - first, last - first, out=np.zeros_like(middle), where=last != first)
        apart = y1[j] + along[:, None] * chord - x1[i] - middle[:, None] * a
        distance = np.sum(apart * (a @ TURN.T), axis=1) / np.sqrt(length)
        allowed = np.full(len(i), reach)
        if start is not None:
            moved = np.linalg.norm(position - start, axis=1)
            own, other = (moved[nodes].max(axis=1) for nodes in (self.surface.facets, self.opposite))
            allowed = np.minimum(allowed, _DEPTH * self.reach + own[i] + other[j])
        chosen = facing & (high - low > _SHORTEST) & (np.abs(distance) <= allowed)
        if self.surface.body == self.partner.body:
            chosen &= ~np.any(self.surface.facets[i][:, :, None] == self.opposite[j][:, None, :], axis=(1, 2))
        i, j = i[chosen], j[chosen]
        covered = np.bincount(i, (high - low)[chosen], minlength=len(self.surface.facets))
        return Segments(i, j, first[chosen] > 0.0, last[chosen] < 1.0, covered[i] >= _WHOLE)

    def _slip(self, gap: GapElements, q: np.ndarray) -> GapElements:
        """Slip of the points that face each other at the positions q."""
        assert isinstance(gap.functions, MortarGap)
        invariants = gap.invariants(q)
        coefficients = slip_coefficients(gap.functions, invariants) * np.sqrt(invariants[:, 0])[:, None, None]
        return replace(gap, functions=MortarSlip(gap.functions.pair, coefficients))
