"""Structures from other programs: matrices with the nodes they belong to, :class:`ImportedStructure`.

Contacts and loads name nodes. Matrices are all in files, or all written down.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from klapper.scenario.kind import PENETRATION, Kind, Parts
from klapper.scenario.laws import BASE, FRICTION, FROM_ZERO, RESTITUTION, as_signal, options, signal
from klapper.scenario.linear import LIMIT, MATRIX_FILES, NAME, NUMBERS
from klapper.scenario.place import Place
from klapper.scenario.tables import Field, Many, Table, needed
from klapper.scenario.values import Choice, Either, File, Matrix, Number, Several, Text, Whole

_MATRIX = Either(Matrix(square=True), MATRIX_FILES)
_TABLE = File((".csv", ".txt", ".dof"))
_NODE = Whole(at_least=1)
_PAIRS = Several(Several(Whole(at_least=1), 2))
_DIRECTION = Either(Choice(("x", "y", "z", "rx", "ry", "rz")), NUMBERS)
_MATRICES = ("mass", "stiffness", "damping")

PARTS: Parts = {
    "load": Many(
        Table(
            {
                "node": needed(_NODE, "node"),
                "direction": needed(_DIRECTION, "direction of the load, by name or as a vector"),
                "value": needed(signal(Number()), "force or moment", "N, N m"),
            }
        ),
        "a force or moment at a node",
    ),
    "contact": Many(
        Table(
            {
                "name": NAME,
                "first": needed(_NODE, "node that may touch"),
                "second": Field(_NODE, "node that it touches; the ground if not given"),
                "normal": needed(NUMBERS, "direction into which the first can leave"),
                "gap": Field(Number(), "gap at q = 0; the distance of the nodes if not given", "m"),
                "friction": FRICTION,
                "restitution": RESTITUTION,
                "limit": LIMIT,
            }
        ),
        "a contact between two nodes, or a node and the ground",
    ),
}


def build(content: dict[str, Any], at: Place) -> Any:
    given = content["model"]
    place = at.at("model")
    with place.naming():
        structure = _structure(given, place)
        loaded = structure.with_rayleigh(**given.get("rayleigh", {}))
        if "base" in given:
            loaded = loaded.with_base_motion(**options(given["base"]))
    for i, load in enumerate(content.get("load", [])):
        with at.at("load").at(i).naming():
            row = structure.row(load["node"], load["direction"])
            loaded = loaded.with_load(as_signal(load["value"]), row)
    contacts = []
    for i, entry in enumerate(content.get("contact", [])):
        with at.at("contact").at(i).naming():
            contacts.append(structure.contact(**options(entry)))
    start = {name: given[name] for name in ("position", "velocity", "penetration") if name in given}
    with place.naming():
        return loaded.system(contacts, **start)


def _structure(given: dict[str, Any], at: Place) -> Any:
    from klapper.structures import ImportedStructure

    matrices = {name: given[name] for name in _MATRICES if name in given}
    in_files = {isinstance(matrix, Path) for matrix in matrices.values()}
    if len(in_files) > 1:
        raise at.refused(f"{at.words} has matrices in files and written down; give all in one way.")
    common = {"units": given["units"], "fixed": [_fixed(entry) for entry in given.get("fixed", [])]}
    if True in in_files:
        named = {name: given[name] for name in ("dofs", "nodes", "per_node") if name in given}
        if any(not isinstance(named.get(name, Path()), Path) for name in ("dofs", "nodes")):
            raise at.refused(f"{at.words} has matrices in files; give dofs and nodes as files, too.")
        try:
            return ImportedStructure.read(**matrices, **named, **common)
        except MemoryError:
            raise at.refused("the files name more numbers than the memory of this machine holds.") from None
    if "per_node" in given or any(isinstance(given.get(name), Path) for name in ("dofs", "nodes")):
        raise at.refused(f"{at.words} has its matrices written down; write dofs and nodes down, too.")
    dofs = [(node, direction) for node, direction in given["dofs"]] if "dofs" in given else None
    nodes = {int(row[0]): row[1:] for row in given.get("nodes", [])}
    return ImportedStructure(**matrices, dofs=dofs, nodes=nodes or None, **common)


def _fixed(given: Any) -> Any:
    return tuple(given) if isinstance(given, list) else given


IMPORTED = Kind(
    "imported",
    "a structure from another program: its matrices, nodes, and contacts between nodes",
    {
        "mass": needed(_MATRIX, "mass matrix, or its file", "units"),
        "stiffness": needed(_MATRIX, "stiffness matrix, or its file", "units"),
        "damping": Field(_MATRIX, "damping matrix, or its file", "units"),
        "units": needed(Text(), 'units of mass, length and time, such as "t, mm, s"'),
        "dofs": Field(Either(_PAIRS, _TABLE), "node and direction 1 … 6 of every row, or their file"),
        "nodes": Field(Either(Matrix(), _TABLE), "node, x, y, z of every node, or their file", "units"),
        "per_node": Field(Whole(at_least=1, at_most=6), "coordinates per node, without a table of dofs"),
        "fixed": Field(
            Several(Either(_NODE, Several(_NODE, 2))), "nodes, or pairs of node and direction, that are held"
        ),
        "rayleigh": Field(
            Table(
                {
                    "mass": Field(FROM_ZERO, "α₁ of D = α₁ M + α₂ K", "1/s", default=0.0),
                    "stiffness": Field(FROM_ZERO, "α₂ of D = α₁ M + α₂ K", "s", default=0.0),
                }
            ),
            "Rayleigh damping in addition",
        ),
        "base": BASE,
        "position": Field(NUMBERS, "position at the start, zero if not given", "m, rad"),
        "velocity": Field(NUMBERS, "velocity at the start, zero if not given", "m/s, rad/s"),
        "penetration": PENETRATION,
    },
    PARTS,
    {
        "model": {
            "kind": "imported",
            "title": "Three masses on springs that hit the ground",
            "mass": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.5]],
            "stiffness": [[4e3, -2e3, 0.0], [-2e3, 4e3, -2e3], [0.0, -2e3, 2e3]],
            "units": "kg, m, s",
            "dofs": [[1, 2], [2, 2], [3, 2]],
            "rayleigh": {"stiffness": 1e-3},
        },
        "load": [
            {
                "node": 3,
                "direction": "y",
                "value": {"kind": "harmonic", "amplitude": 20.0, "angular_frequency": 25.0},
            }
        ],
        "contact": [{"name": "ground", "first": 3, "normal": [0.0, 1.0], "gap": 0.01, "restitution": 0.5}],
        "scheme": {"kind": "moreau", "step_size": 5e-4},
        "run": {"until": 2.0, "figures": ["positions", "forces", "ledger"]},
    },
    build,
)
