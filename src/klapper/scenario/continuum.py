"""Elastic bodies at large strains: every table is a constructor of :mod:`klapper.continuum`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from klapper.continuum.elements import SOLIDS
from klapper.scenario.kind import PENETRATION, Kind, Parts
from klapper.scenario.laws import FROM_ZERO, POSITIVE, RESTITUTION, options, signal, without_kind
from klapper.scenario.linear import NUMBERS
from klapper.scenario.place import Place
from klapper.scenario.tables import Field, Many, Named, Table, Variants, needed
from klapper.scenario.values import Choice, Either, File, Number, Several, Text, Truth, Whole

MOST_CELLS = 200_000
_CELLS = Several(Whole(at_least=1, at_most=10_000))
_ELEMENT = Field(Choice(SOLIDS), "element", default="quad4")
_ELASTIC = {
    "young": needed(POSITIVE, "Young's modulus at small strains", "N/m²"),
    "poisson": needed(Number(above=-1.0, below=0.5), "Poisson's ratio at small strains"),
}
_BODY = needed(Text(), "name of a solid")
_NODES = needed(Either(Text(), Several(Whole(at_least=0))), "name of a surface, or node numbers from 0 on")
_SURFACE = needed(Text(), "name of a surface")
_FRICTION = Field(FROM_ZERO, "friction coefficient μ", default=0.0)
_SIDE = Several(Text(), 2)
_SIDES = {
    "secondary": needed(_SIDE, "solid and surface whose nodes carry the forces"),
    "primary": needed(_SIDE, "solid and surface that they meet"),
}
_INTERFACE = _SIDES | {
    "friction": _FRICTION,
    "restitution": RESTITUTION,
    "always_active": Field(Truth(), "surfaces that slide and never part", default=False),
    "reach": Field(POSITIVE, "distance from which on parts are looked at", "m"),
}

PARTS: Parts = {
    "solid": Named(
        Table(
            {
                "mesh": needed(
                    Variants(
                        {
                            "block": Table(
                                {
                                    "sides": needed(Several(POSITIVE), "sides, two or three", "m"),
                                    "cells": needed(_CELLS, "cells along each side"),
                                    "corner": Field(NUMBERS, "first corner, the origin if not given", "m"),
                                    "element": _ELEMENT,
                                }
                            ),
                            "annulus": Table(
                                {
                                    "inner_radius": needed(POSITIVE, "inner radius", "m"),
                                    "outer_radius": needed(POSITIVE, "outer radius", "m"),
                                    "cells": needed(
                                        Several(_CELLS.entry, 2), "cells along the radius, around"
                                    ),
                                    "centre": Field(Several(Number(), 2), "centre", "m", default=[0.0, 0.0]),
                                    "element": _ELEMENT,
                                }
                            ),
                            "file": Table(
                                {
                                    "file": needed(
                                        File((".msh", ".vtk", ".vtu", ".inp", ".med", ".xdmf")),
                                        "file of a mesh",
                                    ),
                                    "part": Field(Text(), "named part of it"),
                                    "scale": Field(
                                        POSITIVE, "length of one unit of the file", "m", default=1.0
                                    ),
                                }
                            ),
                        }
                    ),
                    "mesh",
                ),
                "moved": Field(
                    Table(
                        {
                            "by": Field(NUMBERS, "shift", "m"),
                            "turn": Field(Number(), "turn about the origin before", "rad", default=0.0),
                        }
                    ),
                    "where the mesh is placed",
                ),
                "law": needed(
                    Variants(
                        {
                            "saint-venant-kirchhoff": Table(dict(_ELASTIC)),
                            "neo-hooke": Table(dict(_ELASTIC)),
                            "mooney-rivlin": Table(
                                _ELASTIC
                                | {
                                    "share": Field(
                                        Number(at_least=0.0, at_most=1.0), "c₂/(c₁ + c₂)", default=0.3
                                    )
                                }
                            ),
                        }
                    ),
                    "hyperelastic law",
                ),
                "density": needed(POSITIVE, "density", "kg/m³"),
                "thickness": Field(POSITIVE, "thickness in the plane", "m", default=1.0),
                "plane": Field(Choice(("strain", "stress")), "plane strain or stress", default="strain"),
                "velocity": Field(NUMBERS, "velocity at the start", "m/s"),
                "spin": Field(
                    Number(), "angular velocity about its middle at the start", "rad/s", default=0.0
                ),
            }
        ),
        "an elastic body",
    ),
    "support": Many(
        Table(
            {
                "body": _BODY,
                "nodes": _NODES,
                "directions": Field(
                    Several(Whole(at_least=0, at_most=2)), "held directions, from 0 on; all if not given"
                ),
                "displacement": Field(signal(NUMBERS), "displacement over time", "m"),
                "until": Field(Number(), "time at which they are let go", "s"),
            }
        ),
        "nodes that are held or moved",
    ),
    "load": Many(
        Variants(
            {
                "gravity": Table({"acceleration": needed(NUMBERS, "acceleration", "m/s²")}),
                "traction": Table(
                    {
                        "body": _BODY,
                        "surface": _SURFACE,
                        "traction": needed(signal(NUMBERS), "dead load per area", "N/m²"),
                    }
                ),
                "node-force": Table(
                    {
                        "body": _BODY,
                        "nodes": needed(Several(Whole(at_least=0)), "node numbers from 0 on"),
                        "force": needed(signal(NUMBERS), "force on each", "N"),
                    }
                ),
                "pressure": Table(
                    {
                        "body": _BODY,
                        "surface": _SURFACE,
                        "pressure": needed(signal(Number()), "pressure inwards", "N/m²"),
                    }
                ),
                "torque": Table(
                    {"body": _BODY, "surface": _SURFACE, "moment": needed(signal(Number()), "moment", "N m")}
                ),
            }
        ),
        "gravity, a traction, node forces, a pressure or a torque",
    ),
    "wall": Many(
        Table(
            {
                "body": _BODY,
                "nodes": _NODES,
                "point": needed(NUMBERS, "a point of it", "m"),
                "normal": needed(NUMBERS, "normal out of it"),
                "friction": _FRICTION,
                "restitution": RESTITUTION,
                "velocity": Field(NUMBERS, "velocity along itself", "m/s"),
            }
        ),
        "a rigid half-space that nodes may touch",
    ),
    "interface": Many(
        Variants(
            {
                "mortar": Table(_INTERFACE | {"dual": Field(Truth(), "dual multipliers", default=False)}),
                "node-to-segment": Table(
                    _INTERFACE | {"passes": Field(Whole(at_least=1, at_most=2), "passes", default=1)}
                ),
            }
        ),
        "two surfaces that may touch",
    ),
    "tie": Many(
        Table(
            _SIDES
            | {
                "method": Field(Choice(("mortar", "node-to-segment")), "method", default="mortar"),
                "dual": Field(Truth(), "dual multipliers", default=False),
                "reach": Field(POSITIVE, "distance up to which parts face each other", "m"),
            }
        ),
        "two surfaces that stay together",
    ),
}


def build(content: dict[str, Any], at: Place) -> Any:
    from klapper import continuum as c

    solids, velocity = [], {}
    for name, entry in content.get("solid", {}).items():
        place = at.at("solid").at(name)
        with place.naming():
            solid = _solid(name, entry, place)
            if "velocity" in entry or "spin" in entry:
                still = [0.0] * solid.dimension
                velocity[name] = c.rigid_velocity(solid, entry.get("velocity", still), entry.get("spin", 0.0))
        solids.append(solid)
    loads = {
        "gravity": c.Gravity,
        "traction": c.Traction,
        "node-force": c.NodeForce,
        "pressure": c.Pressure,
        "torque": c.Torque,
    }
    interfaces: dict[str, Any] = {"mortar": c.Mortar, "node-to-segment": c.NodeToSegment}
    given = content["model"]
    chosen = {name: given[name] for name in ("lumped", "penetration") if name in given}
    parts: dict[str, Any] = {
        "supports": _listed("support", content, at, lambda _: c.Support),
        "loads": _listed("load", content, at, lambda entry: loads[entry["kind"]]),
        "walls": _listed("wall", content, at, lambda _: c.Wall),
        "interfaces": _listed("interface", content, at, lambda entry: interfaces[entry["kind"]]),
        "ties": _listed("tie", content, at, lambda _: c.Tie),
    }
    with at.at("model").naming():
        return c.Continuum(solids, **parts, velocity=velocity or None, **chosen)


def _listed(table: str, content: dict[str, Any], at: Place, part: Any) -> list[Any]:
    made = []
    for i, entry in enumerate(content.get(table, [])):
        chosen = without_kind(options(entry))
        for key in ("secondary", "primary"):
            if key in chosen:
                chosen[key] = tuple(chosen[key])
        with at.at(table).at(i).naming():
            made.append(part(entry)(**chosen))
    return made


def _solid(name: str, given: dict[str, Any], at: Place) -> Any:
    from klapper import continuum as c

    mesh = _mesh(given["mesh"], at.at("mesh"))
    if "moved" in given:
        mesh = mesh.moved(**given["moved"])
    laws = {
        "saint-venant-kirchhoff": c.SaintVenantKirchhoff,
        "neo-hooke": c.NeoHooke,
        "mooney-rivlin": c.MooneyRivlin,
    }
    law = laws[given["law"]["kind"]](**without_kind(given["law"]))
    chosen = {key: given[key] for key in ("density", "thickness", "plane") if key in given}
    return c.Solid(name, mesh, law, **chosen)


def _mesh(given: dict[str, Any], at: Place) -> Any:
    from klapper import continuum as c

    chosen = without_kind(given)
    if given["kind"] == "file":
        file = chosen.pop("file")
        _require_no_include(file, at)
        return c.read_mesh(file, **chosen)
    count = 1
    for along in given["cells"]:
        count *= along
    if count > MOST_CELLS:
        raise at.at("cells").wrong(given["cells"], f"up to {MOST_CELLS} cells in all")
    return c.block(**chosen) if given["kind"] == "block" else c.annulus(**chosen)


def _require_no_include(file: Path, at: Place) -> None:
    """A file that would have others read is refused: they could lie anywhere."""
    with file.open("rb") as stream:
        if file.suffix == ".inp" and any(line.lstrip().upper().startswith(b"*INCLUDE") for line in stream):
            raise at.at("file").refused(
                f"{file.name} includes other files, which are not read; put them into it."
            )


CONTINUUM = Kind(
    "continuum",
    "elastic bodies at large strains with supports, loads, walls, contact and ties",
    {
        "lumped": Field(Truth(), "a diagonal mass matrix", default=False),
        "penetration": PENETRATION,
    },
    PARTS,
    {
        "model": {"kind": "continuum", "title": "A ring falls onto a block"},
        "solid": {
            "block": {
                "mesh": {"kind": "block", "sides": [2.0, 0.5], "cells": [8, 2]},
                "law": {"kind": "neo-hooke", "young": 2e5, "poisson": 0.3},
                "density": 100.0,
            },
            "ring": {
                "mesh": {
                    "kind": "annulus",
                    "inner_radius": 0.3,
                    "outer_radius": 0.4,
                    "cells": [1, 16],
                    "centre": [1.0, 0.95],
                },
                "law": {"kind": "saint-venant-kirchhoff", "young": 1e5, "poisson": 0.3},
                "density": 50.0,
                "velocity": [0.5, -2.0],
            },
        },
        "support": [{"body": "block", "nodes": "bottom"}],
        "load": [{"kind": "gravity", "acceleration": [0.0, -9.81]}],
        "interface": [
            {
                "kind": "node-to-segment",
                "secondary": ["ring", "outer"],
                "primary": ["block", "top"],
                "friction": 0.2,
            }
        ],
        "scheme": {"kind": "energy-momentum", "step_size": 2e-3},
        "run": {"until": 0.06, "figures": ["ledger"]},
    },
    build,
)
