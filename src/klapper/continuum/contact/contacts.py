"""All contacts of a continuum: nodes against walls, then the nodes of each interface, numbered in this order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sparse

from klapper.continuum.body import Body
from klapper.continuum.contact.flat_gaps import FlatGaps
from klapper.continuum.contact.interface import Interface, Search, as_interfaces
from klapper.continuum.contact.pairing import PairedNodes, Pairing
from klapper.continuum.walls import WallContacts
from klapper.mechanics.contact_table import ContactLaws
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import Directions

FAR = np.inf
"""Gap of a contact that has no partner."""


class ContinuumContacts:
    """The table of ``walls`` and ``interfaces``; positions are those of all nodes.

    ``reference``  (n, d) [m], the undeformed bodies
    """

    def __init__(
        self,
        walls: WallContacts,
        interfaces: Sequence[Interface],
        bodies: Sequence[Body],
        offsets: dict[str, int],
        reference: np.ndarray,
    ) -> None:
        self.walls, self.constant = walls, True
        listed = as_interfaces(interfaces)
        self.searches: list[Search] = [
            search for each in listed for search in each.searches(bodies, offsets, reference)
        ]
        counts = [walls.count, *(len(search.surface.nodes) for search in self.searches)]
        self.firsts = np.concatenate([[0], np.cumsum(counts)])
        rough = any(search.interface.friction > 0.0 for search in self.searches)
        self.tangential = max(walls.tangential, int(rough))
        self._size = reference.size
        if walls.tangential > 1 and self.searches:
            raise InvalidModel("contact between bodies is for bodies in the plane.")

    @property
    def count(self) -> int:
        return int(self.firsts[-1])

    @property
    def affine(self) -> bool:
        """Whether all directions are constant."""
        return not self.searches

    def name(self, contact: int) -> str:
        if contact < self.walls.count:
            return self.walls.name(contact)
        part = int(np.searchsorted(self.firsts, contact, side="right")) - 1
        search = self.searches[part - 1]
        node = search.surface.nodes[contact - self.firsts[part]] - search.surface.first
        again = sum(str(other.surface) == str(search.surface) for other in self.searches[: part - 1])
        return f"{search.surface} {node}" + (f" ({again + 1})" if again else "")

    def laws(self, which: np.ndarray, speed: np.ndarray | None = None) -> ContactLaws:
        k = len(which)
        restitution, friction = np.zeros(k), np.zeros(k)
        wall = which < self.walls.count
        if np.any(wall):
            laws = self.walls.laws(which[wall])
            restitution[wall], friction[wall] = laws.restitution, laws.friction
        for first, last, search in self._ranges():
            mine = (which >= first) & (which < last)
            restitution[mine], friction[mine] = search.interface.restitution, search.interface.friction
        return ContactLaws(np.ones(k, dtype=bool), restitution, friction, np.zeros(k), np.ones(k))

    def pair(self, q: np.ndarray, travel: float, start: np.ndarray, *, corners: bool = False) -> Pairing:
        """Who meets whom at coordinates q (n d,), when nothing moved farther than ``travel`` [m] since ``start``.

        With ``corners``, nodes in re-entrant corners meet both segments: the second contact of the node with contact
        i is number ``count`` + i. Either may then part, even where surfaces never do.
        """
        parts: list[PairedNodes] = []
        seconds: list[PairedNodes] = []
        if self.walls.count:
            parts.append(self._flat())
        held = [np.zeros(self.walls.count, dtype=bool)]
        rate = [self.walls.belt[:, 0] if self.walls.tangential == 1 else np.zeros(self.walls.count)]
        place, begin = (
            q.reshape(-1, 2) if self.searches else q,
            start.reshape(-1, 2) if self.searches else start,
        )
        for first, _, search in self._ranges():
            second = None
            if corners:
                found, second = search.in_corners(place, travel, begin, int(first), self.count + int(first))
            else:
                found = search.pair(place, travel, begin, int(first))
            parts.append(found)
            always = np.full(len(found.which), search.interface.always_active)
            if second is not None:
                seconds.append(second)
                always &= ~np.isin(found.which, second.which - self.count)
            held.append(always)
            rate.append(np.zeros(len(found.which)))
        parts += seconds
        which = np.concatenate([np.zeros(0, dtype=np.int64), *(part.which for part in parts)])
        more = np.zeros(sum(len(second.which) for second in seconds))
        friction = self.laws(which % self.count if self.count else which).friction
        return Pairing(parts, friction, np.concatenate([*held, more > 0.0]), np.concatenate([*rate, more]))

    def near(self, q: np.ndarray) -> np.ndarray:
        if not self.searches:
            return np.arange(self.count)
        return self.pair(q, 0.0, q).which

    def gaps(self, q: np.ndarray, which: np.ndarray) -> np.ndarray:
        """(k,) [m]; infinite for contacts without a partner."""
        if not self.searches:
            return self.walls.gaps(q.reshape(-1, self.walls.normal.shape[1]), which)
        pairing = self.pair(q, self._far, q)
        found = np.full(self.count, FAR)
        found[pairing.which] = pairing.gaps(q)
        return found[which]

    def directions(self, q: np.ndarray, which: np.ndarray) -> Directions:
        """Directions of contacts; zero for those without a partner."""
        if not self.searches:
            return self.walls.directions(len(q), which)
        pairing = self.pair(q, self._far, q)
        normal = _spread(pairing.slope(q), pairing.which, which, self.count)
        if not self.tangential:
            none = sparse.csc_array((len(q), 0))
            return Directions(normal, np.zeros(len(which)), none, np.zeros(0))
        tangential = _spread(pairing.slip_slope(q, q), pairing.which, which, self.count)
        rate = np.zeros(self.count)
        rate[pairing.which] = pairing.rate
        return Directions(normal, np.zeros(len(which)), tangential, rate[which])

    def hessian(self, q: np.ndarray, which: np.ndarray, force: np.ndarray) -> sparse.csr_array:
        """Σ force_k ∂²g_k/∂q² (n d, n d)."""
        full = np.zeros(self.count)
        full[which] = force
        pairing = self.pair(q, self._far, q)
        return pairing.hessian(q, full[pairing.which])

    @property
    def _far(self) -> float:
        """[m] beyond the reach, from which on a contact has no partner that is worth to be told."""
        return 2.0 * max((search.reach for search in self.searches), default=0.0)

    def _ranges(self) -> list[tuple[int, int, Search]]:
        return list(zip(self.firsts[1:-1], self.firsts[2:], self.searches, strict=True))

    def _flat(self) -> PairedNodes:
        walls = self.walls
        gap = FlatGaps(walls.normal, walls.height, walls.nodes, self._size)
        slip = None
        if walls.tangential == 1:
            slip = FlatGaps(walls.tangents[:, 0], np.zeros(walls.count), walls.nodes, self._size)
        return PairedNodes(np.arange(walls.count), gap, slip, np.zeros(0))


def _spread(columns: sparse.csc_array, paired: np.ndarray, which: np.ndarray, count: int) -> sparse.csc_array:
    """Columns of the contacts ``which``; those that are not paired are empty."""
    place = np.full(count, -1)
    place[paired] = np.arange(len(paired))
    chosen = place[which]
    pick = sparse.csc_array(
        (np.ones(np.count_nonzero(chosen >= 0)), (chosen[chosen >= 0], np.flatnonzero(chosen >= 0))),
        shape=(len(paired), len(which)),
    )
    return (columns @ pick).tocsc()
