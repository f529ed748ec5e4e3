"""Interfaces between surfaces: what a user says, and what all kinds of them share.

The secondary side (slave, non-mortar) carries the contact forces, one per node; the primary side (master, mortar) is
what its nodes meet. Forces [N] are per node; divided by the area that a node stands for they are pressures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from klapper.continuum.body import Body
from klapper.continuum.contact.pairing import PairedNodes
from klapper.continuum.contact.surface import Surface
from klapper.continuum.loads import named
from klapper.mechanics.arguments import number
from klapper.mechanics.errors import InvalidModel


@dataclass(frozen=True, eq=False, kw_only=True)
class Interface:
    """Two surfaces that may touch.

    ``secondary``      (body, surface) whose nodes carry the forces
    ``primary``        (body, surface) that they meet; the same surface twice is self-contact
    ``friction``       Coulomb's μ, dimensionless
    ``restitution``    ε of node impacts, dimensionless, for schemes with an impact law
    ``always_active``  the surfaces slide on each other and never part: forces may pull
    ``reach``          [m] distance from which on parts are looked at; None: the longest facet of both surfaces

    The kinds are ``NodeToSegment`` and ``Mortar``. Both see a block 0.1 m above another, g = n · (x⁽²⁾ − x⁽¹⁾):

    >>> from klapper.continuum import Continuum, NeoHooke, Solid, block
    >>> law = NeoHooke(100.0, 0.3)
    >>> low = Solid("low", block((1.0, 1.0), (2, 1)), law, density=1.0)
    >>> up = Solid("up", block((1.0, 1.0), (1, 1), corner=(0.0, 1.1)), law, density=1.0)
    >>> from klapper.continuum import Mortar, NodeToSegment
    >>> for kind in (Mortar, NodeToSegment):
    ...     world = Continuum([low, up], interfaces=[kind(secondary=("up", "bottom"), primary=("low", "top"))])
    ...     world.gaps(0.0, world.start.position, np.arange(2)).round(9).tolist()
    [0.1, 0.1]
    [0.1, 0.1]
    """

    secondary: tuple[str, str]
    primary: tuple[str, str]
    friction: float = 0.0
    restitution: float = 0.0
    always_active: bool = False
    reach: float | None = None

    def __post_init__(self) -> None:
        for side in ("secondary", "primary"):
            given = getattr(self, side)
            if not (
                isinstance(given, Sequence) and len(given) == 2 and all(isinstance(s, str) for s in given)
            ):
                raise InvalidModel(f"{side} is {given!r}; expected (body, surface), e.g. ('ring', 'outer').")
        number(self.friction, "friction", "numbers from 0 on", at_least=0.0)
        number(self.restitution, "restitution", "numbers from 0 to 1", at_least=0.0, at_most=1.0)
        if self.reach is not None:
            number(self.reach, "reach", "lengths above 0, in m, or None", above=0.0)
        if self.always_active and self.friction:
            raise InvalidModel(
                f"friction is {self.friction:g} where surfaces are always active; what may pull has no friction: set "
                f"it to 0."
            )

    def sides(self, bodies: Sequence[Body], offsets: dict[str, int]) -> tuple[Surface, Surface]:
        """Both surfaces over all nodes of a system."""
        first, second = (
            Surface.of(named(bodies, body).mesh, body, name, offsets[body])
            for body, name in (self.secondary, self.primary)
        )
        return first, second

    def distance(self, sides: tuple[Surface, Surface], reference: np.ndarray) -> float:
        """Reach [m] at reference positions (n, 2)."""
        if self.reach is not None:
            return self.reach
        lengths = [
            np.linalg.norm(np.diff(reference[side.facets[:, :2]], axis=1)[:, 0], axis=1) for side in sides
        ]
        return float(max(length.max() for length in lengths))

    def searches(
        self, bodies: Sequence[Body], offsets: dict[str, int], reference: np.ndarray
    ) -> Sequence[Search]:
        """What looks for partners, once for each pass over the surfaces."""
        raise NotImplementedError


class Search(Protocol):
    """Looks for partners of the nodes of one surface.

    ``interface``  what it belongs to
    ``surface``    of the nodes that carry the forces; the contact of its k-th node has number k within the search
    ``reach``      [m] distance from which on parts are looked at
    """

    @property
    def interface(self) -> Interface: ...

    @property
    def surface(self) -> Surface: ...

    @property
    def reach(self) -> float: ...

    def pair(self, position: np.ndarray, travel: float, start: np.ndarray, first: int) -> PairedNodes:
        """Pairs at node positions (n, 2) [m], when nothing moved farther than ``travel`` [m] from a configuration in
        which nothing overlapped. Slips are measured with the lengths at ``start`` (n, 2), the beginning of the step;
        contacts are numbered from ``first`` on."""
        ...

    def in_corners(
        self, position: np.ndarray, travel: float, start: np.ndarray, first: int, second: int
    ) -> tuple[PairedNodes, PairedNodes | None]:
        """The same, and what nodes in re-entrant corners meet beside that, numbered from ``second`` on."""
        ...


def node_places(nodes: np.ndarray) -> np.ndarray:
    """Coordinates (E, 2 k) of nodes (E, k) of the plane."""
    return (2 * nodes[:, :, None] + np.arange(2)).reshape(len(nodes), 2 * nodes.shape[1])


def typical_length(position: np.ndarray, segments: np.ndarray) -> float:
    """Mean length [m] of segments (p, 2)."""
    return float(np.linalg.norm(position[segments[:, 1]] - position[segments[:, 0]], axis=1).mean())


def as_interfaces(given: Any) -> tuple[Interface, ...]:
    listed = tuple(given) if isinstance(given, Sequence) else (given,)
    for each in listed:
        if not isinstance(each, Interface):
            raise InvalidModel(f"interfaces has {each!r}; allowed are NodeToSegment and Mortar.")
    return listed
