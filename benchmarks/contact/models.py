"""The models of these benchmarks, from the gallery, and as arrays for other programs.

Of every model the first body has the primary surface and the second one the secondary surface, and there is one
interface. Whatever holds a node holds one of its coordinates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.contact.problem import BODIES
from klapper.continuum import Continuum, NeoHooke, Solid, Support, Traction, block
from klapper.continuum.contact.mortar import MortarSearch
from klapper.continuum.contact.node_to_segment import NodeSearch
from klapper.continuum.loads import named
from klapper.gallery._interfaces import InterfaceName, interface_named
from klapper.gallery.hertz import Cylinders
from klapper.gallery.patch_test import Patch
from klapper.gallery.ring_collision import GEOMETRY, two_rings

PATCH_YOUNG, PATCH_POISSON, PATCH_LOAD = 1000.0, 0.4, 100.0
HERTZ_YOUNG, HERTZ_POISSON, HERTZ_RADIUS, HERTZ_RATIO = 210e9, 0.3, 0.05, 0.01


def patch(interface: InterfaceName, upper: tuple[int, int], lower: tuple[int, int]) -> Patch:
    """Two blocks of 2 m x 1 m under a dead load on the top, sides free."""
    return Patch(
        interface=interface, upper=upper, lower=lower, element="quad4", shape="flat", lateral="free",
        load="dead", friction=0.0, size=PATCH_LOAD,
    )  # fmt: skip


def cylinders(interface: InterfaceName, elements: float) -> Cylinders:
    """Two steel cylinders, the lower one with a mesh that is coarser by a fifth."""
    return Cylinders(
        interface=interface, elements=elements, partner="cylinder", ratio=HERTZ_RATIO, radius=HERTZ_RADIUS,
        young=HERTZ_YOUNG, poisson=HERTZ_POISSON, steps=1,
    )  # fmt: skip


def rings(interface: InterfaceName) -> Continuum:
    """The two soft rings of the gallery that collide off-centre."""
    given: Any = GEOMETRY
    return two_rings(interface, **given, spin=0.0, mu=0.0)


def blocks(interface: InterfaceName, n: int, friction: float) -> Continuum:
    """Two blocks of n/2 rows of n and n − 3 cells, pressed by a load that is uneven and pulls aside."""
    law = NeoHooke(1e6, 0.3)
    low = Solid("low", block((2.0, 1.0), (n, n // 2)), law, density=1000.0)
    up = Solid("up", block((2.0, 1.0), (n - 3, n // 2), corner=(0.0, 1.0)), law, density=1000.0)
    touching = interface_named(interface, ("up", "bottom"), ("low", "top"), friction=friction)
    supports = [Support("low", "bottom"), Support("up", "left", [0])]
    loads = [Traction("up", "top", (0.0, -5e4)), Traction("up", "right", (-2e4, 0.0))]
    return Continuum([low, up], loads=loads, supports=supports, interfaces=[touching], name="two blocks")


def arrays(world: Continuum) -> dict[str, Any]:
    """Meshes, surfaces, supports and loads at a time of 1 s, as plain arrays."""
    q, search = reference(world), search_of(world)
    load, velocity = world.load_at(1.0, q).force.reshape(-1, 2), world.start.velocity.reshape(-1, 2)
    held, moved = world.constraint_directions(1.0, q)[0].indices, -world.constraint_residuals(1.0, q)
    found: dict[str, Any] = {}
    for (name, part), surface in zip(parts_of(world).items(), (search.partner, search.surface), strict=True):
        mesh = named(world.bodies, surface.body).mesh
        mine = (held // 2 >= part.start) & (held // 2 < part.stop)
        found |= {
            f"nodes_{name}": mesh.nodes,
            f"cells_{name}": mesh.cells,
            f"facets_{name}": surface.facets - part.start,
            f"held_{name}": np.column_stack([held[mine] // 2 - part.start, held[mine] % 2]),
            f"moved_{name}": moved[mine],
            f"load_{name}": load[part],
            f"velocity_{name}": velocity[part],
        }
    return found


def parts_of(world: Continuum) -> dict[str, slice]:
    """Nodes of the primary and of the secondary body among all nodes."""
    search = search_of(world)
    sides = zip(BODIES, (search.partner, search.surface), strict=True)
    return {
        name: slice(side.first, side.first + len(named(world.bodies, side.body).mesh.nodes))
        for name, side in sides
    }


def search_of(world: Continuum) -> NodeSearch | MortarSearch:
    """The search of its only interface."""
    (found,) = world.contacts.searches
    assert isinstance(found, NodeSearch | MortarSearch)
    return found


def reference(world: Continuum) -> np.ndarray:
    """Coordinates (n,) [m] of the undeformed bodies."""
    return np.concatenate([solid.mesh.nodes for solid in world.bodies]).ravel()


def position(world: Continuum, answer: dict[str, np.ndarray]) -> np.ndarray:
    """Coordinates (n,) [m] from displacements ``u_primary`` and ``u_secondary``."""
    q = reference(world).reshape(-1, 2).copy()
    for name, part in parts_of(world).items():
        q[part] += answer[f"u_{name}"]
    return q.ravel()


def lame(young: float, poisson: float) -> dict[str, float]:
    return {
        "young": young,
        "poisson": poisson,
        "first_lame": young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)),
        "second_lame": 0.5 * young / (1.0 + poisson),
    }
