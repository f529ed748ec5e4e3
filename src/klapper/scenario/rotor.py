"""The delaminated rotor, :class:`klapper.structures.DelaminatedBeam`, with contact and friction in its joint."""

from __future__ import annotations

from typing import Any

from klapper.scenario.kind import Kind, Parts
from klapper.scenario.laws import FROM_ZERO, POSITIVE, RESTITUTION, VECTOR
from klapper.scenario.linear import NUMBERS
from klapper.scenario.place import Place
from klapper.scenario.tables import Field, Table, needed
from klapper.scenario.values import Choice, Either, Number, Several, Truth, Whole

_BEAM = ("length", "delamination", "height", "width", "depth", "young", "density", "coupling", "centre")
_MODEL = ("modes", "plane", "method", "external_damping", "material_damping")

PARTS: Parts = {
    "contact": Table(
        {
            "count": Field(Whole(at_least=1, at_most=1000), "number of contacts along the joint", default=39),
            "weight": Field(
                Choice(("dirac", "box", "hat")), "gaps at points, or means over parts", default="dirac"
            ),
            "friction": Field(
                Either(FROM_ZERO, Several(FROM_ZERO)), "coefficient, or one per patch", default=0.0
            ),
            "patches": Field(
                Whole(at_least=1, at_most=1000), "friction patches; as many as contacts if not given"
            ),
            "slip": Field(
                Choice(("surface", "axis")), "sliding of the surfaces or of the axes", default="surface"
            ),
            "restitution": RESTITUTION,
        },
        "contact in the joint; the laminae pass through each other without this table",
    ),
}


def build(content: dict[str, Any], at: Place) -> Any:
    return build_model(content, at)[1]


def build_model(content: dict[str, Any], at: Place) -> tuple[Any, Any]:
    """The model with its displacement functions, and the system."""
    from klapper.structures import DelaminatedBeam

    given = content["model"]

    def among(*names: str) -> dict[str, Any]:
        return {name: given[name] for name in names if name in given}

    with at.at("model").naming():
        beam = DelaminatedBeam(**among(*_BEAM))
        model = beam.model(**among(*_MODEL))
    contacts: Any = ()
    if "contact" in content:
        with at.at("contact").naming():
            contacts = model.contacts(**content["contact"])
    with at.at("model").naming():
        return model, model.system(**among("speed", "gravity", "position", "velocity"), contacts=contacts)


ROTOR = Kind(
    "rotor",
    "a rotating beam with a delamination whose laminae open, clatter and rub",
    {
        "length": needed(POSITIVE, "length L", "m"),
        "delamination": needed(POSITIVE, "length L₂ of the delamination", "m"),
        "height": needed(POSITIVE, "height a in direction 1", "m"),
        "width": needed(POSITIVE, "width b in direction 2", "m"),
        "depth": needed(POSITIVE, "thickness h of lamina 3", "m"),
        "young": needed(POSITIVE, "Young's modulus E", "N/m²"),
        "density": needed(POSITIVE, "density ρ", "kg/m³"),
        "coupling": Field(Truth(), "whether turning tips move the laminae lengthwise", default=True),
        "centre": Field(POSITIVE, "middle of the delamination; that of the beam if not given", "m"),
        "speed": Field(Number(), "revolutions per second", "Hz", default=0.0),
        "gravity": Field(
            VECTOR, "gravity along directions 1 and 2, standing still", "m/s²", default=[-9.81, 0.0]
        ),
        "modes": Field(Whole(at_least=1, at_most=400), "number of modes", default=16),
        "plane": Field(Choice(("both", "1-3", "2-3")), "planes of bending", default="both"),
        "method": Field(Choice(("semi-analytical", "fe")), "how modes are found", default="semi-analytical"),
        "external_damping": Field(
            Either(FROM_ZERO, Several(FROM_ZERO, 4)),
            "external damping d_a, one or of each segment",
            "N s/m²",
            default=0.0,
        ),
        "material_damping": Field(FROM_ZERO, "α₂ of material damping α₂ K", "s", default=0.0),
        "position": Field(NUMBERS, "modal coordinates at the start, zero if not given", "kg^½ m"),
        "velocity": Field(NUMBERS, "modal velocities at the start, zero if not given", "kg^½ m/s"),
    },
    PARTS,
    {
        "model": {
            "kind": "rotor",
            "title": "A delaminated rotor clatters under its weight",
            "length": 1.0,
            "delamination": 0.6,
            "height": 0.01,
            "width": 0.01,
            "depth": 0.0075,
            "young": 210e9,
            "density": 7500.0,
            "speed": 5.0,
            "modes": 8,
            "external_damping": 20.0,
        },
        "contact": {"count": 9},
        "scheme": {"kind": "moreau", "step_size": 2e-4},
        "run": {"until": 0.2, "figures": ["positions", "gaps", "ledger"]},
    },
    build,
)
