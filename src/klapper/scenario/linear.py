"""Linear systems by their matrices, in the file or in files: :class:`klapper.mechanics.LinearSystem`.

M q̈ + (D + G) q̇ + (K + N) q = f(t) + J_N λ_N + J_T λ_T + J_B λ_B
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from klapper.scenario.kind import PENETRATION, Kind, Parts
from klapper.scenario.laws import BASE, FRICTION, FROM_ZERO, RESTITUTION, as_signal, options, signal
from klapper.scenario.place import Place
from klapper.scenario.tables import Field, Many, Named, Table, needed
from klapper.scenario.values import Either, File, Matrix, Number, Several, Text

MATRIX_FILES = File((".mtx", ".mtx.gz", ".npz", ".npy", ".mas", ".sti", ".csv", ".txt"))
NUMBERS = Several(Number())
MATRIX = Either(
    NUMBERS,
    Matrix(square=True),
    MATRIX_FILES,
    words=f"diagonals, square matrices as lists of rows, or {MATRIX_FILES.allowed}",
)

NAME = needed(Text(), "name")
TANGENTS = Matrix()
RATE = Field(signal(NUMBERS), "given part of the sliding velocity, such as minus that of a belt", "m/s")
LIMIT = Field(FROM_ZERO, "given part of the friction limit", "N", default=0.0)

CONTACT = {
    "name": NAME,
    "gap": Field(signal(Number()), "offset g₀ of the gap normal · q + g₀", "m", default=0.0),
    "normal": needed(NUMBERS, "direction ∂g/∂q"),
    "tangents": Field(TANGENTS, "one or two tangential directions"),
    "tangential_rate": RATE,
    "friction": FRICTION,
    "restitution": RESTITUTION,
    "limit": LIMIT,
}

PARTS: Parts = {
    "contact": Many(Table(CONTACT), "a one-sided contact, g = normal · q + gap ≥ 0"),
    "friction_element": Many(
        Table(
            {
                "name": NAME,
                "tangents": needed(TANGENTS, "one or two tangential directions"),
                "limit": LIMIT,
                "shares": Field(Named(FROM_ZERO), "μ_j by contact: the limit is limit + Σ μ_j λ_Nj"),
                "tangential_rate": RATE,
            }
        ),
        "friction without a gap of its own",
    ),
    "constraint": Many(
        Table(
            {
                "name": NAME,
                "direction": needed(NUMBERS, "direction ∂Φ/∂q"),
                "offset": Field(signal(Number()), "φ₀ of Φ = direction · q + φ₀", "m", default=0.0),
            }
        ),
        "a two-sided constraint, Φ = direction · q + offset = 0",
    ),
}

_MATRICES = ("mass", "damping", "stiffness", "gyroscopic", "circulatory")


def build(content: dict[str, Any], at: Place) -> Any:
    from klapper.mechanics import LinearSystem

    given = dict(content["model"])
    del given["kind"]
    given.pop("title", None)
    for kind in _MATRICES:
        if isinstance(given.get(kind), Path):
            with at.at("model").at(kind).naming():
                given[kind] = matrix_in(given[kind], kind, at.at("model").at(kind))
    if "force" in given:
        given["force"] = as_signal(given["force"])
    if "base" in given:
        with at.at("model").at("base").naming():
            given["force"] = _with_base(given.pop("base"), given["mass"], given.get("force"))
    contacts, constraints = contact_parts(content, at)
    with at.at("model").naming():
        return LinearSystem(**given, contacts=contacts, constraints=constraints)


def _with_base(base: dict[str, Any], mass: Any, force: Any) -> Any:
    """The load with that of a moving base."""
    from klapper.mechanics import InvalidModel, base_load
    from klapper.mechanics.signals import as_signal as signal_of

    direction = base.pop("direction", None)
    if not isinstance(direction, list):
        raise InvalidModel(
            "a base needs its direction: how much each coordinate moves with it, a list of numbers."
        )
    load = base_load(mass, direction, **options(base))
    return load if force is None else signal_of(force) + load


def contact_parts(content: dict[str, Any], at: Place) -> tuple[list[Any], list[Any]]:
    """Contacts with friction elements, and constraints."""
    from klapper.mechanics import Constraint, Contact, FrictionElement

    made: dict[str, list[Any]] = {}
    classes = {"contact": Contact, "friction_element": FrictionElement, "constraint": Constraint}
    for table, part in classes.items():
        made[table] = []
        for i, entry in enumerate(content.get(table, [])):
            with at.at(table).at(i).naming():
                made[table].append(part(**options(entry)))
    return made["contact"] + made["friction_element"], made["constraint"]


def matrix_in(file: Path, kind: str, at: Place) -> Any:
    """The symmetric matrix of a file."""
    from klapper.structures.matrix_files import read_matrix

    try:
        return read_matrix(file, kind).matrix
    except MemoryError:
        raise at.refused(f"{file.name} names more numbers than the memory of this machine holds.") from None


LINEAR = Kind(
    "linear",
    "a linear system by its matrices, with contacts, friction and constraints",
    {
        "mass": needed(MATRIX, "mass matrix M, its diagonal, or a file", "kg"),
        "damping": Field(MATRIX, "damping matrix D", "N s/m"),
        "stiffness": Field(MATRIX, "stiffness matrix K", "N/m"),
        "gyroscopic": Field(Matrix(square=True), "gyroscopic matrix G, skew", "N s/m"),
        "circulatory": Field(Matrix(square=True), "circulatory matrix N, skew", "N/m"),
        "force": Field(signal(NUMBERS), "load f", "N"),
        "base": BASE,
        "position": Field(NUMBERS, "position at the start, zero if not given", "m"),
        "velocity": Field(NUMBERS, "velocity at the start, zero if not given", "m/s"),
        "coordinates": Field(Several(Text()), "names of the coordinates"),
        "penetration": PENETRATION,
    },
    PARTS,
    {
        "model": {
            "kind": "linear",
            "title": "Two masses between a belt and a stop",
            "mass": [1.0, 2.0],
            "damping": [[0.4, -0.2], [-0.2, 0.2]],
            "stiffness": [[300.0, -100.0], [-100.0, 100.0]],
            "force": {"kind": "harmonic", "amplitude": [0.0, 3.0], "angular_frequency": 6.0},
            "coordinates": ["x1", "x2"],
        },
        "contact": [
            {"name": "stop", "normal": [0.0, -1.0], "gap": 0.01, "restitution": 0.6},
        ],
        "friction_element": [
            {"name": "belt", "tangents": [[1.0, 0.0]], "limit": 1.5, "tangential_rate": [-0.1]},
        ],
        "scheme": {"kind": "exact", "sample": 0.01},
        "run": {"until": 2.0, "figures": ["positions", "states", "ledger"]},
    },
    build,
)
