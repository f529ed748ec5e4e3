"""Straight beams and frames, :class:`klapper.structures.Beam` and :class:`klapper.structures.Frame`."""

from __future__ import annotations

from typing import Any

from klapper.scenario.kind import PENETRATION, Kind, Parts
from klapper.scenario.laws import BASE, FRICTION, FROM_ZERO, POSITIVE, RESTITUTION, as_signal, options, signal
from klapper.scenario.linear import NAME, NUMBERS
from klapper.scenario.place import Place
from klapper.scenario.tables import Field, Many, Named, Table, needed
from klapper.scenario.values import Choice, Either, Number, Several, Text, Whole

MATERIAL = Table(
    {
        "young": needed(POSITIVE, "Young's modulus E", "N/m²"),
        "density": needed(POSITIVE, "density ρ", "kg/m³"),
        "shear": Field(POSITIVE, "shear modulus G, needed where shear or torsion deform", "N/m²"),
    },
    "a linear elastic material",
)
SECTION = Table(
    {
        "height": Field(POSITIVE, "height of a rectangle, in the direction of the deflection", "m"),
        "width": Field(POSITIVE, "width of a rectangle", "m"),
        "diameter": Field(POSITIVE, "diameter of a full circle", "m"),
        "area": Field(POSITIVE, "area A of any other section", "m²"),
        "second_moment": Field(POSITIVE, "second moment I", "m⁴"),
        "shear_area": Field(POSITIVE, "effective shear area", "m²"),
        "lateral_second_moment": Field(POSITIVE, "second moment across, in space", "m⁴"),
        "lateral_shear_area": Field(POSITIVE, "effective shear area across, in space", "m²"),
        "torsion_constant": Field(POSITIVE, "torsion constant J, in space", "m⁴"),
    },
    "a cross-section: height and width, or diameter, or area with second_moment",
)
_ELEMENTS = Field(Whole(at_least=1, at_most=2000), "number of elements", default=40)
_DEGREE = Field(Whole(at_least=1, at_most=12), "degree of the polynomials in an element", default=3)
_THEORY = Field(
    Choice(("timoshenko", "euler-bernoulli")), "with or without shear deformation", default="timoshenko"
)
_RAYLEIGH = Field(
    Table(
        {
            "mass": Field(FROM_ZERO, "α₁ of D = α₁ M + α₂ K", "1/s", default=0.0),
            "stiffness": Field(FROM_ZERO, "α₂ of D = α₁ M + α₂ K", "s", default=0.0),
        }
    ),
    "Rayleigh damping",
)
_GRAVITY = Field(FROM_ZERO, "gravity, downwards; none if not given", "m/s²")
_GAP = Field(signal(Number()), "gap of the undeformed structure", "m", default=0.0)
_ALONG = Field(FROM_ZERO, "place along it", "m")
_SIDE = needed(Choice(("below", "above")), "side of the beam on which the stop is")

BEAM_PARTS: Parts = {
    "support": Many(
        Table(
            {
                "at": needed(FROM_ZERO, "place", "m"),
                "held": needed(Choice(("pinned", "clamped", "guided")), "what is held"),
            }
        ),
        "a support",
    ),
    "load": Many(
        Table(
            {
                "at": needed(FROM_ZERO, "place", "m"),
                "value": needed(signal(Number()), "force upwards, or moment", "N, N m"),
                "quantity": Field(Choice(("w", "rotation")), "a force or a moment", default="w"),
            }
        ),
        "a point load",
    ),
    "mass": Many(
        Table({"at": needed(FROM_ZERO, "place", "m"), "mass": needed(POSITIVE, "mass", "kg")}),
        "a mass on the beam",
    ),
    "spring": Many(
        Table({"at": needed(FROM_ZERO, "place", "m"), "stiffness": needed(POSITIVE, "stiffness", "N/m")}),
        "a spring to the ground",
    ),
    "dashpot": Many(
        Table({"at": needed(FROM_ZERO, "place", "m"), "damping": needed(POSITIVE, "damping", "N s/m")}),
        "a damper to the ground",
    ),
    "contact": Many(
        Table(
            {
                "name": NAME,
                "at": needed(FROM_ZERO, "place", "m"),
                "side": _SIDE,
                "gap": _GAP,
                "restitution": RESTITUTION,
            }
        ),
        "a stop at one place",
    ),
    "line_contact": Many(
        Table(
            {
                "name": NAME,
                "start": needed(FROM_ZERO, "begin", "m"),
                "end": needed(FROM_ZERO, "end", "m"),
                "side": _SIDE,
                "count": needed(Whole(at_least=1, at_most=1000), "number of weight functions"),
                "weights": Field(Choice(("dirac", "box", "hat")), "weight functions", default="dirac"),
                "gap": Field(Number(), "gap of the undeformed beam", "m", default=0.0),
                "restitution": RESTITUTION,
            }
        ),
        "a stop along a part of the beam",
    ),
}


def section(given: dict[str, Any], at: Place) -> Any:
    """A cross-section from one of the three ways to give it."""
    from klapper.structures import Section

    ways: dict[tuple[str, ...], Any] = {("height", "width"): Section.rectangle, ("diameter",): Section.circle}
    for keys, make in ways.items():
        if set(given) == set(keys):
            return make(**given)
    if {"area", "second_moment"} <= set(given) and not set(given) & {"height", "width", "diameter"}:
        return Section(**given)
    raise at.refused(
        f"{at.words} has the keys {', '.join(given) or 'none'}; allowed are height and width, or diameter, or area "
        f"with second_moment and what else is needed."
    )


def build_beam(content: dict[str, Any], at: Place) -> Any:
    from klapper.structures import Beam, LineContact, Material

    given, place = content["model"], at.at("model")
    chosen = {name: given[name] for name in ("elements", "degree", "theory") if name in given}
    held = {entry["at"]: entry["held"] for entry in content.get("support", [])}
    with place.naming():
        shape = section(given["section"], place.at("section"))
        beam = Beam(given["length"], Material(**given["material"]), shape, **chosen, supports=held)
        loaded: Any = beam
        if "gravity" in given:
            loaded = loaded.with_gravity(given["gravity"])
        if "base" in given:
            loaded = loaded.with_base_motion(**options(given["base"]))
        if "external_damping" in given:
            loaded = loaded.with_external_damping(given["external_damping"])
        if "rayleigh" in given:
            loaded = loaded.with_rayleigh(**given["rayleigh"])
    for table, key in (("mass", "mass"), ("spring", "stiffness"), ("dashpot", "damping")):
        for i, entry in enumerate(content.get(table, [])):
            with at.at(table).at(i).naming():
                loaded = getattr(loaded, f"with_{table}")(beam.row(entry["at"]), entry[key])
    for i, entry in enumerate(content.get("load", [])):
        with at.at("load").at(i).naming():
            row = beam.row(entry["at"], entry.get("quantity", "w"))
            loaded = loaded.with_load(as_signal(entry["value"]), row)
    contacts: list[Any] = []
    for i, entry in enumerate(content.get("contact", [])):
        with at.at("contact").at(i).naming():
            contacts.append(_stop(beam, entry))
    for i, entry in enumerate(content.get("line_contact", [])):
        with at.at("line_contact").at(i).naming():
            line = beam.line() if entry["side"] == "below" else -beam.line()
            contacts += LineContact(line, **options(entry, "side")).contacts
    with place.naming():
        return loaded.system(contacts, **{k: given[k] for k in ("penetration",) if k in given})


def _stop(beam: Any, given: dict[str, Any]) -> Any:
    from klapper.mechanics import Contact

    row = beam.row(given["at"])
    return Contact(normal=row if given["side"] == "below" else -row, **options(given, "at", "side"))


FRAME_PARTS: Parts = {
    "material": Named(MATERIAL, MATERIAL.help),
    "section": Named(SECTION, SECTION.help),
    "joint": Named(
        Table(
            {
                "at": needed(NUMBERS, "place, two or three coordinates", "m"),
                "support": Field(
                    Either(Choice(("clamped", "pinned")), Several(Either(Text(), NUMBERS))),
                    'what is held: all, displacements, or directions such as ["y", "rz"] or [[0.6, 0.8]]',
                ),
            }
        ),
        "a joint",
    ),
    "member": Named(
        Table(
            {
                "start": needed(Text(), "joint at which it begins"),
                "end": needed(Text(), "joint at which it ends"),
                "material": needed(Text(), "name of a material"),
                "section": needed(Text(), "name of a section"),
                "elements": Field(_ELEMENTS.value, "number of elements", default=4),
                "degree": _DEGREE,
                "theory": _THEORY,
                "start_release": Field(Several(Text()), 'motions free of the joint, such as "hinge"'),
                "end_release": Field(Several(Text()), 'motions free of the joint, such as "hinge"'),
            }
        ),
        "a beam between two joints",
    ),
    "load": Many(
        Table(
            {
                "joint": Field(Text(), "joint at which it acts, or"),
                "member": Field(Text(), "member at which it acts,"),
                "at": _ALONG,
                "direction": needed(
                    Either(Text(), NUMBERS), 'direction: "x", "y", "z", "rx", "ry", "rz", or a vector'
                ),
                "value": needed(signal(Number()), "force or moment", "N, N m"),
            }
        ),
        "a point load",
    ),
    "contact": Many(
        Table(
            {
                "name": NAME,
                "joint": Field(Text(), "joint that may touch, or"),
                "member": Field(Text(), "member that may touch,"),
                "at": _ALONG,
                "normal": needed(
                    Either(Text(), NUMBERS), 'direction away from the stop: "x", "y", "z", or a vector'
                ),
                "tangents": Field(Several(Either(Text(), NUMBERS)), "directions of sliding, for friction"),
                "gap": _GAP,
                "friction": FRICTION,
                "restitution": RESTITUTION,
            }
        ),
        "a stop at a joint, or at a place of a member",
    ),
}


def build_frame(content: dict[str, Any], at: Place) -> Any:
    from klapper.mechanics import Contact
    from klapper.structures import Frame, Material

    given = content["model"]
    materials, sections = {}, {}
    for name, entry in content.get("material", {}).items():
        with at.at("material").at(name).naming():
            materials[name] = Material(**entry)
    for name, entry in content.get("section", {}).items():
        place = at.at("section").at(name)
        with place.naming():
            sections[name] = section(entry, place)
    members = {
        name: _member(entry, materials, sections, at.at("member").at(name))
        for name, entry in content.get("member", {}).items()
    }
    joints = content.get("joint", {})
    supports = {name: entry["support"] for name, entry in joints.items() if "support" in entry}
    with at.at("model").naming():
        frame = Frame({name: entry["at"] for name, entry in joints.items()}, members, supports=supports)
        loaded: Any = frame
        if "gravity" in given:
            loaded = loaded.with_gravity(given["gravity"])
        if "base" in given:
            loaded = loaded.with_base_motion(**options(given["base"]))
        if "external_damping" in given:
            loaded = loaded.with_external_damping(given["external_damping"])
        if "rayleigh" in given:
            loaded = loaded.with_rayleigh(**given["rayleigh"])
    for i, entry in enumerate(content.get("load", [])):
        place = at.at("load").at(i)
        with place.naming():
            row = frame.row(_where(entry, place), entry["direction"])
            loaded = loaded.with_load(as_signal(entry["value"]), row)
    contacts = []
    for i, entry in enumerate(content.get("contact", [])):
        place = at.at("contact").at(i)
        with place.naming():
            where = _where(entry, place)
            chosen = options(entry, "joint", "member", "at", "normal", "tangents")
            if "tangents" in entry:
                chosen["tangents"] = [frame.row(where, direction) for direction in entry["tangents"]]
            contacts.append(Contact(normal=frame.row(where, entry["normal"]), **chosen))
    with at.at("model").naming():
        return loaded.system(contacts, **{k: given[k] for k in ("penetration",) if k in given})


def _member(given: dict[str, Any], materials: dict[str, Any], sections: dict[str, Any], at: Place) -> Any:
    from klapper.structures import Member

    chosen = dict(given)
    for key, known in (("material", materials), ("section", sections)):
        if given[key] not in known:
            raise at.at(key).wrong(given[key], f"the names {', '.join(known) or '(none is defined)'}")
        chosen[key] = known[given[key]]
    for key in ("start_release", "end_release"):
        if key in chosen:
            chosen[key] = tuple(chosen[key])
    with at.naming():
        return Member(**chosen)


def _where(given: dict[str, Any], at: Place) -> Any:
    """A joint, or a member and the place along it."""
    if ("joint" in given) == ("member" in given) or ("member" in given) != ("at" in given):
        raise at.refused(f"{at.words} needs either the key 'joint', or the keys 'member' and 'at'.")
    return given["joint"] if "joint" in given else (given["member"], given["at"])


BEAM = Kind(
    "beam",
    "a straight beam that bends, with supports, loads and stops",
    {
        "length": needed(POSITIVE, "length", "m"),
        "material": needed(MATERIAL, "material"),
        "section": needed(SECTION, "cross-section"),
        "elements": _ELEMENTS,
        "degree": _DEGREE,
        "theory": _THEORY,
        "gravity": _GRAVITY,
        "base": BASE,
        "external_damping": Field(FROM_ZERO, "viscous damping per length", "N s/m²"),
        "rayleigh": _RAYLEIGH,
        "penetration": PENETRATION,
    },
    BEAM_PARTS,
    {
        "model": {
            "kind": "beam",
            "title": "A shaken cantilever that hits a stop",
            "length": 1.0,
            "material": {"young": 210e9, "density": 7850.0, "shear": 81e9},
            "section": {"height": 0.01, "width": 0.02},
            "elements": 4,
            "rayleigh": {"stiffness": 1e-4},
        },
        "support": [{"at": 0.0, "held": "clamped"}],
        "load": [
            {"at": 1.0, "value": {"kind": "harmonic", "amplitude": 5.0, "angular_frequency": 45.0}},
        ],
        "contact": [{"name": "stop", "at": 1.0, "side": "below", "gap": 0.005}],
        "scheme": {"kind": "moreau", "step_size": 1e-4, "theta": 0.6},
        "run": {"until": 0.5, "every": 5, "figures": ["gaps", "forces", "ledger"]},
    },
    build_beam,
)

FRAME = Kind(
    "frame",
    "a frame of beams between joints, in the plane or in space",
    {
        "gravity": _GRAVITY,
        "base": BASE,
        "external_damping": Field(FROM_ZERO, "viscous damping per length", "N s/m²"),
        "rayleigh": _RAYLEIGH,
        "penetration": PENETRATION,
    },
    FRAME_PARTS,
    {
        "model": {"kind": "frame", "title": "A portal that rubs on a stop", "rayleigh": {"stiffness": 5e-4}},
        "material": {"steel": {"young": 210e9, "density": 7850.0, "shear": 81e9}},
        "section": {"square": {"height": 0.02, "width": 0.02}},
        "joint": {
            "A": {"at": [0.0, 0.0], "support": "clamped"},
            "B": {"at": [0.0, 1.0]},
            "C": {"at": [1.5, 1.0]},
        },
        "member": {
            "column": {"start": "A", "end": "B", "material": "steel", "section": "square", "elements": 2},
            "beam": {"start": "B", "end": "C", "material": "steel", "section": "square", "elements": 2},
        },
        "load": [
            {
                "joint": "C",
                "direction": "y",
                "value": [
                    {"kind": "constant", "amount": -50.0},
                    {"kind": "harmonic", "amplitude": 60.0, "angular_frequency": 40.0},
                ],
            }
        ],
        "contact": [
            {"name": "stop", "joint": "C", "normal": "y", "tangents": ["x"], "friction": 0.3, "gap": 0.002}
        ],
        "scheme": {"kind": "moreau", "step_size": 1e-4, "theta": 0.6},
        "run": {"until": 0.3, "every": 5, "figures": ["gaps", "states", "ledger"]},
    },
    build_frame,
)
