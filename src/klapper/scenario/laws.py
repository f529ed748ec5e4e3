"""Courses over time, friction and impact laws as tables of a file, and as objects of the model.

force = 3.0                                                                a number, or a list for a vector
force = { kind = "harmonic", amplitude = 3.0, angular_frequency = 10.0 }   one of the signals of the API
force = [{ kind = "constant", amount = 1.0 }, { kind = "ramp", … }]        their sum
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from klapper.mechanics.friction import FRICTION_LAWS
from klapper.mechanics.impact import IMPACT_LAWS
from klapper.mechanics.options import options_of
from klapper.scenario.tables import Field, Many, Table, Variants, needed
from klapper.scenario.values import Either, Number, Several, Value, Whole, quoted

POSITIVE = Number(above=0.0)
FROM_ZERO = Number(at_least=0.0)
VECTOR = Several(Number(), 2)
RESTITUTION = Field(Number(at_least=0.0, at_most=1.0), "restitution ε", default=0.0)


def signal(value: Value) -> Either:
    """A given course over time whose values are ``value``."""
    course = Variants(
        {
            "constant": Table({"amount": needed(value, "value at all times")}),
            "harmonic": Table(
                {
                    "amplitude": needed(value, "amplitude of amplitude · cos(ω t + phase)"),
                    "angular_frequency": needed(Number(), "ω", "rad/s"),
                    "phase": Field(Number(), "phase", "rad", default=0.0),
                }
            ),
            "ramp": Table(
                {"start": needed(value, "value at time 0"), "speed": needed(value, "change per second")}
            ),
        }
    )
    words = f"{value.allowed}, or courses over time (kind {quoted(list(course.tables))}), or lists of these"
    return Either(value, course, Many(course), words=words)


def as_signal(given: Any) -> Any:
    """What a model takes: courses over time as signals, anything else as it is."""
    from klapper.mechanics import Constant, Harmonic, Ramp

    kinds = {"constant": Constant, "harmonic": Harmonic, "ramp": Ramp}
    if isinstance(given, dict) and given.get("kind") in kinds:
        return kinds[given["kind"]](**without_kind(given))
    if isinstance(given, list) and given and isinstance(given[0], dict):
        first, *others = [as_signal(part) for part in given]
        return sum(others, first)
    return given


def law_tables(laws: Mapping[str, type[Any]]) -> Variants:
    """Tables of laws by their words, from what the laws declare of their options."""
    return Variants({kind: law_table(law) for kind, law in laws.items()})


def law_table(law: type[Any]) -> Table:
    """The declared options of a law; the table is called by the first phrase of its docstring."""
    fields = {}
    for name, given in options_of(law).items():
        told = given.option
        kind = Whole if given.type is int else Number
        value = kind(above=told.above, at_least=told.at_least, at_most=told.at_most)
        default = None if given.needed else given.default
        fields[name] = Field(value, told.meaning, told.unit, default=default, needed=given.needed)
    return Table(fields, re.split(r"[.:;]( |$)", (law.__doc__ or "").split("\n")[0])[0].replace("`", ""))


FRICTION = Field(
    Either(FROM_ZERO, law_tables(FRICTION_LAWS)), "friction coefficient μ, or a law", default=0.0
)
IMPACT_LAW = Field(law_tables(IMPACT_LAWS), "impact law; Newton's law inside of the step if not given")


def as_friction(given: Any) -> Any:
    return FRICTION_LAWS[given["kind"]](**without_kind(given)) if isinstance(given, dict) else given


def as_impact(given: Any) -> Any:
    return IMPACT_LAWS[given["kind"]](**without_kind(given))


def without_kind(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "kind"}


def options(given: dict[str, Any], *left_out: str) -> dict[str, Any]:
    """The keywords of a part: laws and courses as objects, without the names that are ``left_out``."""
    return {
        name: as_friction(value) if name in ("friction", "wall_friction") else as_signal(value)
        for name, value in given.items()
        if name not in left_out
    }
