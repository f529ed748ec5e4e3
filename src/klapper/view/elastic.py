"""Pictures of elastic bodies: their meshes with the law that gives stresses, cables, and walls."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.view.picture import Part, Picture

if TYPE_CHECKING:
    from klapper.continuum import Continuum

QUANTITY = "von Mises stress / N/m²"


def elastic_picture(world: Continuum) -> Picture:
    """The bodies of a continuum and its rigid walls."""
    from klapper.continuum import Solid

    d = world.dimension
    parts = [*_walls(world)]
    for body in world.bodies:
        first = world.offsets[body.name] * d
        nodes = _in_space(body.mesh.nodes)
        if isinstance(body, Solid):
            parts.append(
                Part(
                    body.name,
                    "mesh",
                    nodes,
                    body.mesh.cells,
                    first=first,
                    element=body.mesh.element.name,
                    law=_law(body),
                )
            )
        else:
            parts.append(Part(body.name, "line", nodes, body.mesh.cells[:, :2], first=first))
    return Picture(d, parts, caption="The elastic bodies, deformed as they are.")


def solid_of(part: Part, dimension: int) -> Any:
    """The body that a mesh was taken from, or None if its law is not known."""
    from klapper.continuum import Mesh, Solid, laws
    from klapper.continuum.elements import element_named

    if not part.law:
        return None
    kind = {each.__name__: each for each in (laws.SaintVenantKirchhoff, laws.NeoHooke, laws.MooneyRivlin)}
    law = kind[part.law["name"]](**part.law["constants"])
    mesh = Mesh(part.points[:, :dimension], part.cells, element_named(part.element))
    return Solid(part.name, mesh, law, density=1.0, thickness=1.0, plane=part.law["plane"])


def _law(body: Any) -> dict[str, Any]:
    from klapper.continuum import laws

    plate = isinstance(body.law, laws.PlaneStress)
    law = body.law.law if plate else body.law
    if type(law) not in (laws.SaintVenantKirchhoff, laws.NeoHooke, laws.MooneyRivlin):
        return {}
    constants = {each.name: float(getattr(law, each.name)) for each in fields(law)}
    return {"name": type(law).__name__, "constants": constants, "plane": "stress" if plate else "strain"}


def _walls(world: Any) -> list[Part]:
    walls = world.contacts.walls
    found = np.unique(np.column_stack([walls.normal, walls.height]), axis=0)
    return [
        Part(
            f"wall {number}",
            "wall",
            _in_space(each[None, :-1] * each[-1]),
            body=[-1],
            normal=_in_space(each[None, :-1])[0],
        )
        for number, each in enumerate(found, 1)
    ]


def _in_space(points: np.ndarray) -> np.ndarray:
    return np.column_stack([points, np.zeros((len(points), 3 - points.shape[1]))])
