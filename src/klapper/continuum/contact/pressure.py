"""Contact pressure along the surfaces of interfaces, from the forces that their nodes carry.

    mortar            p_A = λ_A/(b ∫ M_A ds₀),   since Σ λ_A g_A = b ∫ (Σ p_A M_A) g dγ        Hesch (5.23)
    node-to-segment   p_A = λ_A/(b ∫ N_A ds),    a force, spread over what its node stands for

b is the thickness of the body, ds runs over the deformed surface, ds₀ over the undeformed one, by which averaged gaps
are divided. Both are forces per deformed area; a uniform pressure on a mortar is found as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.continuum.contact.interface import Search
from klapper.continuum.contact.mortar import MortarSearch
from klapper.continuum.contact.surface import Surface
from klapper.continuum.loads import named
from klapper.mechanics.errors import InvalidModel

if TYPE_CHECKING:
    from klapper.continuum.system import Continuum


@dataclass(frozen=True, eq=False)
class SurfacePressure:
    """Pressure that the nodes of one surface carry, in the order in which they follow each other along it.

    ``nodes``     (k,) numbers within the body, and ``place`` (k, 2) [m] of them
    ``arc``       (k,) [m] along the deformed surface from its first node; parts that do not hang together follow one
                  another
    ``pressure``  (k,) [N/m²], positive where surfaces press
    ``shear``     (k,) [N/m²] of friction, zero without it

    As :func:`contact_pressure` returns it, p = λ/(b ∫ M ds₀). Two nodes that carry 2 N each over 0.5 m each:

    >>> from klapper.continuum import Continuum, Mortar, NeoHooke, Solid, block
    >>> law = NeoHooke(100.0, 0.3)
    >>> low = Solid("low", block((1.0, 1.0), (2, 1)), law, density=1.0)
    >>> up = Solid("up", block((1.0, 1.0), (1, 1), corner=(0.0, 1.0)), law, density=1.0)
    >>> world = Continuum([low, up], interfaces=[Mortar(secondary=("up", "bottom"), primary=("low", "top"))])
    >>> found = contact_pressure(world, world.start.position, [2.0, 2.0])["up", "bottom"]
    >>> found.arc.round(9).tolist(), found.pressure.round(9).tolist(), found.shear.tolist()
    ([0.0, 1.0], [4.0, 4.0], [0.0, 0.0])
    """

    body: str
    surface: str
    nodes: np.ndarray
    place: np.ndarray
    arc: np.ndarray
    pressure: np.ndarray
    shear: np.ndarray


def contact_pressure(
    system: Continuum, position: np.ndarray, force: np.ndarray
) -> dict[tuple[str, str], SurfacePressure]:
    """Contact pressures by (body, surface), for all surfaces whose nodes carry forces of an interface.

    ``position``  (n d,) coordinates, e.g. ``run.position[-1]``
    ``force``     (m,) or (m, 1 + tangential) [N] of all contacts of the system, e.g. ``run.force[-1]``

    With two passes both surfaces carry forces, and the pressure between them is the sum of both. Forces on walls have
    no surface here.

    >>> from klapper.continuum import Continuum, Mortar, SaintVenantKirchhoff, Solid, block
    >>> law = SaintVenantKirchhoff(100.0, 0.3)
    >>> low = Solid("low", block((1.0, 1.0), (2, 1)), law, density=1.0)
    >>> up = Solid("up", block((1.0, 1.0), (1, 1), corner=(0.0, 1.0)), law, density=1.0)
    >>> world = Continuum([low, up], interfaces=[Mortar(secondary=("up", "bottom"), primary=("low", "top"))])
    >>> contact_pressure(world, world.start.position, [2.0, 2.0])["up", "bottom"].pressure
    array([4., 4.])
    """
    forces = np.asarray(force, dtype=float)
    forces = forces[:, None] if forces.ndim == 1 else forces
    contacts = system.contacts
    if len(forces) != contacts.count:
        raise InvalidModel(
            f"force has {len(forces)} rows; the system has {contacts.count} contacts, as in run.force[-1]."
        )
    place = np.asarray(position, dtype=float).reshape(-1, system.dimension)
    found: dict[tuple[str, str], SurfacePressure] = {}
    for search, first in zip(contacts.searches, contacts.firsts[1:-1], strict=True):
        surface = search.surface
        mine = forces[first : first + len(surface.nodes)]
        thickness = named(system.bodies, surface.body).thickness
        here = _along(surface, place, _traction(search, place, mine) / thickness)
        key = (surface.body, surface.name)
        found[key] = _sum(found[key], here) if key in found else here
    return found


def _traction(search: Search, place: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Forces (n, 1 or more) [N] per length of what the nodes stand for."""
    surface = search.surface
    if not isinstance(search, MortarSearch):
        return force / _deformed_share(surface, place)[:, None]
    found = force / np.where(search.share > 0.0, search.share, 1.0)[:, None]
    if surface.facets.shape[1] == 3:  # multipliers are linear: nodes in the middle carry none
        first, second, middle = surface.number(surface.facets).T
        found[middle] = 0.5 * (found[first] + found[second])
    return found


def _deformed_share(surface: Surface, place: np.ndarray) -> np.ndarray:
    """∫ N_A ds (n,) [m] over the deformed surface."""
    points, weights = surface.element.mass
    along = np.einsum("fki,gk->fgi", place[surface.facets], surface.element.gradients(points)[:, :, 0])
    shares = (np.linalg.norm(along, axis=2) * weights) @ surface.element.values(points)
    numbers = surface.number(surface.facets)
    return np.bincount(numbers.ravel(), shares.ravel(), minlength=len(surface.nodes))


def _along(surface: Surface, place: np.ndarray, traction: np.ndarray) -> SurfacePressure:
    """Normal and tangential traction (n, 1 or more) of the nodes, in their order along the surface."""
    order, starts = _order(surface)
    here = place[order]
    step = np.concatenate([[0.0], np.linalg.norm(np.diff(here, axis=0), axis=1)])
    step[starts] = 0.0
    mine = traction[surface.number(order)]
    shear = mine[:, 1] if mine.shape[1] > 1 else np.zeros(len(order))
    return SurfacePressure(
        surface.body, surface.name, order - surface.first, here, np.cumsum(step), mine[:, 0], shear
    )


def _order(surface: Surface) -> tuple[np.ndarray, Sequence[int]]:
    """Nodes as they follow each other, open parts from their first node on, and where parts begin."""
    segments, after = surface.segments, surface.after
    left = np.ones(len(segments), dtype=bool)
    order: list[Any] = []
    starts: list[int] = []
    for begin in [*np.flatnonzero(surface.before < 0), *range(len(segments))]:
        if not left[begin]:
            continue
        starts.append(len(order))
        order.append(segments[begin, 0])
        each = begin
        while each >= 0 and left[each]:
            left[each] = False
            order.append(segments[each, 1])
            each = after[each]
        if order[-1] == order[starts[-1]]:
            order.pop()
    return np.array(order), starts


def _sum(first: SurfacePressure, second: SurfacePressure) -> SurfacePressure:
    return replace(first, pressure=first.pressure + second.pressure, shear=first.shear + second.shear)
