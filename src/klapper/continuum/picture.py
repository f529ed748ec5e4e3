"""Pictures of elastic bodies: their meshes with the law that gives stresses, cables, and walls.

x(t) = q(t)   of the nodes
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from klapper.continuum.elements import element_named
from klapper.continuum.mesh import Mesh
from klapper.continuum.solid import Solid
from klapper.continuum.stated_laws import law_of
from klapper.mechanics.picture import Part, Picture

if TYPE_CHECKING:
    from klapper.continuum.system import Continuum


def continuum_picture(world: Continuum) -> Picture:
    """The bodies of a continuum and its rigid walls."""
    bodies = [body.part(world.offsets[body.name] * world.dimension) for body in world.bodies]
    return Picture(
        world.dimension, [*_walls(world), *bodies], caption="The elastic bodies, deformed as they are."
    )


def solid_of(part: Part, dimension: int) -> Solid | None:
    """The body that a mesh was taken from, so that stresses can be asked for; None if its law is not known."""
    if not part.law:
        return None
    mesh = Mesh(part.points[:, :dimension], part.cells, element_named(part.element))
    return Solid(part.name, mesh, law_of(part.law), density=1.0, thickness=1.0, plane=part.law["plane"])


def _walls(world: Continuum) -> list[Part]:
    walls = world.contacts.walls
    found = np.unique(np.column_stack([walls.normal, walls.height]), axis=0)
    return [
        Part(f"wall {number}", "wall", each[:-1] * each[-1], body=-1, normal=each[:-1])
        for number, each in enumerate(found, 1)
    ]
