"""Bodies in the plane: every table is a call of :class:`klapper.bodies.Planar`, every key one of its keywords.

[shape.NAME] fixes a disc, ring, corners, point or wall to a body; contacts, springs and joints name shapes, walls
and bodies, or "ground".
"""

from __future__ import annotations

from typing import Any

from klapper.scenario.kind import PENETRATION, Kind, Parts
from klapper.scenario.laws import (
    FRICTION,
    FROM_ZERO,
    POSITIVE,
    RESTITUTION,
    VECTOR,
    options,
    signal,
    without_kind,
)
from klapper.scenario.place import Place, shown
from klapper.scenario.tables import Field, Many, Named, Table, Variants, did_you_mean, needed
from klapper.scenario.values import Choice, Number, Several, Text

_NAME = Field(Text(), "name, if not that of the two")
_AT = Field(VECTOR, "place of the centre", "m", default=[0.0, 0.0])
_ON_BODY = Field(VECTOR, "place in the axes of the body, from its centre", "m")
_A, _B = (needed(Text(), f"{which} body or point") for which in ("first", "second"))
_PAIR = {"a": _A, "b": _B, "name": _NAME}
_ALONG = needed(VECTOR, "direction of the line, in world axes as placed")
_LAWS = {"friction": FRICTION, "restitution": RESTITUTION}
_DAMPING = Field(FROM_ZERO, "damper beside it", "N s/m", default=0.0)
_WALL_NORMAL = needed(VECTOR, "normal towards where bodies may be")

PARTS: Parts = {
    "body": Named(
        Table(
            {
                "mass": needed(POSITIVE, "mass", "kg"),
                "inertia": needed(POSITIVE, "moment of inertia about the centre of mass", "kg m²"),
                "at": _AT,
                "angle": Field(Number(), "angle", "rad", default=0.0),
                "velocity": Field(VECTOR, "velocity at the start", "m/s", default=[0.0, 0.0]),
                "spin": Field(Number(), "angular velocity at the start", "rad/s", default=0.0),
            }
        ),
        "a rigid body",
    ),
    "particle": Named(
        Table(
            {
                "mass": needed(POSITIVE, "mass", "kg"),
                "at": _AT,
                "velocity": Field(VECTOR, "velocity at the start", "m/s", default=[0.0, 0.0]),
            }
        ),
        "a mass that moves but does not turn",
    ),
    "wall": Named(
        Table(
            {
                "point": Field(VECTOR, "a point of it", "m"),
                "normal": _WALL_NORMAL,
                "motion": Field(signal(Number()), "displacement along the normal", "m"),
                "sliding": Field(signal(VECTOR), "velocity of the surface along itself, of a belt", "m/s"),
            }
        ),
        "a half-space on the ground",
    ),
    "shape": Named(
        Variants(
            {
                "disc": Table(
                    {
                        "body": needed(Text(), "name of its body"),
                        "radius": needed(FROM_ZERO, "radius", "m"),
                        "at": _ON_BODY,
                    },
                    "a disc",
                ),
                "ring": Table(
                    {
                        "body": needed(Text(), "name of its body"),
                        "radius": needed(POSITIVE, "radius", "m"),
                        "at": _ON_BODY,
                    },
                    "the inside of a circle, for clearances",
                ),
                "corners": Table(
                    {
                        "body": needed(Text(), "name of its body"),
                        "width": needed(POSITIVE, "width", "m"),
                        "height": needed(POSITIVE, "height", "m"),
                        "at": _ON_BODY,
                    },
                    "the corners of a rectangle, counter-clockwise from the lower left",
                ),
                "point": Table(
                    {
                        "body": needed(Text(), 'name of its body, or "ground"'),
                        "at": _ON_BODY,
                        "motion": Field(signal(VECTOR), "displacement of a point of the ground", "m"),
                    },
                    "a point, for springs, joints, forces and contacts",
                ),
                "wall": Table(
                    {
                        "body": needed(Text(), "name of its body"),
                        "point": needed(VECTOR, "a point of it, in the axes of the body", "m"),
                        "normal": _WALL_NORMAL,
                    },
                    "a half-space fixed to a body",
                ),
            }
        ),
        "what is fixed to a body: a disc, ring, corners, point or wall",
    ),
    "contact": Many(
        Table(
            {
                "a": needed(Text(), "shape that may touch"),
                "b": needed(Text(), "shape or wall that it may touch"),
                **_LAWS,
                "name": _NAME,
            }
        ),
        "two shapes that may touch",
    ),
    "clearance": Many(
        Table(
            {
                "inner": needed(Text(), "a disc"),
                "outer": needed(Text(), "the ring that holds it"),
                **_LAWS,
                "name": _NAME,
            }
        ),
        "a disc inside of a ring, with play",
    ),
    "search": Many(
        Table(
            {
                "balls": needed(Several(Text()), "discs of which any two may touch"),
                "walls": Field(Several(Text()), "walls that any of them may touch"),
                **_LAWS,
                "wall_friction": Field(FRICTION.value, "friction with walls, if it differs"),
                "wall_restitution": Field(RESTITUTION.value, "restitution at walls, if it differs"),
                "margin": Field(POSITIVE, "gap below which two are looked at", "m"),
            }
        ),
        "many discs whose contacts are found by search",
    ),
    "spring": Many(
        Table(
            {
                "a": _A,
                "b": _B,
                "stiffness": needed(POSITIVE, "stiffness", "N/m"),
                "length": Field(FROM_ZERO, "rest length; as placed if not given", "m"),
                "damping": _DAMPING,
                "name": _NAME,
            }
        ),
        "a spring along the line between two points, with a damper beside it",
    ),
    "damper": Many(
        Table({"a": _A, "b": _B, "damping": needed(POSITIVE, "damping", "N s/m"), "name": _NAME}),
        "a damper along the line between two points",
    ),
    "torsion_spring": Many(
        Table(
            {
                "a": needed(Text(), "first body"),
                "b": needed(Text(), "second body"),
                "stiffness": needed(FROM_ZERO, "stiffness", "N m/rad"),
                "angle": Field(Number(), "rest angle φ_a − φ_b; as placed if not given", "rad"),
                "damping": Field(FROM_ZERO, "damper beside it", "N m s/rad", default=0.0),
                "name": _NAME,
            }
        ),
        "a spring against relative turning",
    ),
    "force": Many(
        Table(
            {
                "at": needed(Text(), "body or point"),
                "value": needed(signal(VECTOR), "force in world axes", "N"),
                "name": _NAME,
            }
        ),
        "a force on a body",
    ),
    "moment": Many(
        Table(
            {
                "body": needed(Text(), "body"),
                "value": needed(signal(Number()), "moment", "N m"),
                "name": _NAME,
            }
        ),
        "a moment on a body",
    ),
    "hinge": Many(Table(dict(_PAIR)), "two points stay together"),
    "slot": Many(Table(_PAIR | {"along": _ALONG}), "point a stays on a line through b"),
    "slider": Many(Table(_PAIR | {"along": _ALONG}), "as a slot, without relative turning"),
    "weld": Many(Table(dict(_PAIR)), "two bodies stay as placed"),
    "rod": Many(
        Table(_PAIR | {"length": Field(POSITIVE, "length; as placed if not given", "m")}),
        "two points keep their distance",
    ),
    "motor": Many(
        Table(_PAIR | {"angle": needed(signal(Number()), "angle by which a is turned relative to b", "rad")}),
        "a given relative turn of two bodies",
    ),
}

_CALLS = {  # keys of each table that name parts, in the order of the call
    "contact": ("a", "b"),
    "clearance": ("inner", "outer"),
    "search": ("balls", "walls"),
    "force": ("at",),
    "moment": ("body",),
    **dict.fromkeys(
        ("spring", "damper", "torsion_spring", "hinge", "slot", "slider", "weld", "rod", "motor"), ("a", "b")
    ),
}


def build(content: dict[str, Any], at: Place) -> Any:
    from klapper.bodies import Planar

    given = content["model"]
    with at.at("model").naming():
        model = Planar(given.get("gravity"))
    parts: dict[str, Any] = {"ground": model.ground}
    for table in ("body", "particle", "wall"):
        for name, entry in content.get(table, {}).items():
            with at.at(table).at(name).naming():
                parts[name] = getattr(model, table)(name, **options(entry))
    bodies = dict(parts)
    for name, entry in content.get("shape", {}).items():
        place = at.at("shape").at(name)
        if name in parts:
            raise place.refused(f"shape '{name}': the name is already taken; names of parts must differ.")
        with place.naming():
            parts[name] = _shape(name, entry, _part(entry["body"], bodies, place.at("body")))
    for table, keys in _CALLS.items():
        for i, entry in enumerate(content.get(table, [])):
            place = at.at(table).at(i)
            named = [_parts(entry[key], parts, place.at(key)) for key in keys if key in entry]
            with place.naming():
                getattr(model, table)(*named, **options(entry, *keys))
    with at.at("model").naming():
        return model.build(**{name: given[name] for name in ("velocity", "penetration") if name in given})


def _shape(name: str, given: dict[str, Any], body: Any) -> Any:
    from klapper.bodies.shapes import Wall
    from klapper.mechanics import InvalidModel

    chosen = options(without_kind(given), "body")
    if isinstance(body, Wall):
        raise InvalidModel(f"shape '{name}': '{given['body']}' is a wall; give the name of a body.")
    match given["kind"]:
        case "corners":
            return body.corners(**chosen)
        case "point":
            place = [chosen["at"]] if "at" in chosen else []
            return body.point(*place, motion=chosen.get("motion"))
        case kind:
            return getattr(body, kind)(**chosen, name=name)


def _parts(names: Any, parts: dict[str, Any], at: Place) -> Any:
    if isinstance(names, list):
        return [_part(name, parts, at) for name in names]
    return _part(names, parts, at)


def _part(name: str, parts: dict[str, Any], at: Place) -> Any:
    if name not in parts:
        raise at.refused(
            f"{at.words} is {shown(name)}{did_you_mean(name, parts)}; allowed are the names {', '.join(parts)}."
        )
    return parts[name]


BODIES = Kind(
    "bodies",
    "bodies and particles in the plane, with walls, contacts, springs and joints",
    {
        "gravity": Field(VECTOR, "gravity", "m/s²", default=[0.0, 0.0]),
        "velocity": Field(
            Choice(("given", "consistent")),
            "velocities as given, or the nearest that joints allow",
            default="given",
        ),
        "penetration": PENETRATION,
    },
    PARTS,
    {
        "model": {"kind": "bodies", "title": "A disc and a block on a moving belt", "gravity": [0.0, -9.81]},
        "body": {
            "ball": {"mass": 0.1, "inertia": 1.25e-4, "at": [0.0, 0.3], "spin": -20.0},
            "block": {"mass": 0.5, "inertia": 4.2e-4, "at": [0.4, 0.05]},
        },
        "wall": {
            "floor": {"normal": [0.0, 1.0], "sliding": [0.2, 0.0]},
            "stop": {"point": [0.8, 0.0], "normal": [-1.0, 0.0]},
        },
        "shape": {
            "rim": {"kind": "disc", "body": "ball", "radius": 0.05},
            "feet": {"kind": "corners", "body": "block", "width": 0.1, "height": 0.1},
            "hook": {"kind": "point", "body": "ground", "at": [0.1, 0.05]},
        },
        "contact": [
            {"a": "rim", "b": "floor", "friction": 0.3, "restitution": 0.7},
            {"a": "feet", "b": "floor", "friction": 0.4},
            {"a": "feet", "b": "stop", "restitution": 0.5, "name": "block on stop"},
        ],
        "spring": [{"a": "block", "b": "hook", "stiffness": 20.0, "damping": 0.1}],
        "scheme": {"kind": "moreau", "step_size": 2e-3},
        "run": {"until": 1.0, "figures": ["positions", "states", "ledger"]},
    },
    build,
)
