"""Courses over time, friction and impact laws as tables of a file, and as objects of the model.

force = 3.0                                                                a number, or a list for a vector
force = { kind = "harmonic", amplitude = 3.0, frequency = 1.6 }            one of the signals of the API
force = { kind = "table", file = "shaker.csv", column = "a", factor = 9.81 }
force = [{ kind = "constant", amount = 1.0 }, { kind = "ramp", … }]        their sum
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

from klapper.mechanics.courses import Form, Interpolation, Spacing
from klapper.mechanics.friction import FRICTION_LAWS
from klapper.mechanics.impact import IMPACT_LAWS
from klapper.mechanics.options import options_of
from klapper.scenario.tables import Field, Many, Table, Variants, needed
from klapper.scenario.values import Choice, Either, File, Number, Several, Text, Value, Whole, quoted

POSITIVE = Number(above=0.0)
FROM_ZERO = Number(at_least=0.0)
VECTOR = Several(Number(), 2)
COLUMNS_FILE = File((".csv", ".txt", ".dat", ".tsv"))
COLUMN = Either(Whole(at_least=0), Text())
RESTITUTION = Field(Number(at_least=0.0, at_most=1.0), "restitution ε", default=0.0)


def signal(value: Value) -> Either:
    """A given course over time whose values are ``value``."""
    amplitude = needed(value, "amplitude, a number or a pattern")
    course = Variants(
        {
            "constant": Table({"amount": needed(value, "value at all times")}),
            "harmonic": Table(
                {
                    "amplitude": needed(value, "amplitude of amplitude · cos(ω t + phase)"),
                    "frequency": Field(POSITIVE, "ω/2π; or give angular_frequency", "Hz"),
                    "angular_frequency": Field(Number(), "ω; or give frequency", "rad/s"),
                    "phase": Field(Number(), "phase", "rad", default=0.0),
                }
            ),
            "ramp": Table(
                {"start": needed(value, "value at time 0"), "speed": needed(value, "change per second")}
            ),
            "sweep": Table(
                {
                    "amplitude": amplitude,
                    "start_frequency": needed(POSITIVE, "frequency at the start", "Hz"),
                    "end_frequency": needed(POSITIVE, "frequency at the end", "Hz"),
                    "duration": needed(POSITIVE, "duration of the sweep", "s"),
                    "start": Field(Number(), "time at which it begins", "s", default=0.0),
                    "spacing": Field(
                        Choice(get_args(Spacing)), "how the frequency changes", default="linear"
                    ),
                    "phase": Field(Number(), "phase; −π/2 gives a sine", "rad", default=0.0),
                }
            ),
            "pulse": Table(
                {
                    "amplitude": amplitude,
                    "duration": needed(POSITIVE, "duration", "s"),
                    "start": Field(Number(), "time at which it begins", "s", default=0.0),
                    "form": Field(Choice(get_args(Form)), "shape of the pulse", default="half-sine"),
                }
            ),
            "table": Table(
                {
                    "file": Field(COLUMNS_FILE, "file of columns; or give times and values"),
                    "column": Field(COLUMN, "column of the values, by name or number from 0", default=1),
                    "time": Field(COLUMN, "column of the times [s], by name or number from 0", default=0),
                    "times": Field(Several(Number()), "rising times", "s"),
                    "values": Field(Several(Number()), "value at each time"),
                    "factor": Field(Number(), "takes the values to SI units", default=1.0),
                    "interpolation": Field(
                        Choice(get_args(Interpolation)), "between the times", default="linear"
                    ),
                    "amplitude": Field(value, "pattern that the values multiply, where a vector is wanted"),
                }
            ),
        }
    )
    words = f"{value.allowed}, or courses over time (kind {quoted(list(course.tables))}), or lists of these"
    return Either(value, course, Many(course), words=words)


def as_signal(given: Any) -> Any:
    """What a model takes: courses over time as signals, anything else as it is."""
    from klapper.mechanics import Constant, Harmonic, Pulse, Ramp, Sweep

    kinds: dict[str, Callable[..., Any]] = {
        "constant": Constant,
        "harmonic": Harmonic,
        "ramp": Ramp,
        "sweep": Sweep,
        "pulse": Pulse,
        "table": _table,
    }
    if isinstance(given, dict) and given.get("kind") in kinds:
        return kinds[given["kind"]](**without_kind(given))
    if isinstance(given, list) and given and isinstance(given[0], dict):
        first, *others = [as_signal(part) for part in given]
        return sum(others, first)
    return given


def _table(
    file: Path | None = None,
    times: list[float] | None = None,
    values: list[float] | None = None,
    *,
    column: str | int = 1,
    time: str | int = 0,
    factor: float = 1.0,
    interpolation: Any = "linear",
    amplitude: Any = None,
) -> Any:
    """A table of values from its file or its lists, times the pattern ``amplitude``."""
    from klapper.mechanics import InvalidModel, Tabulated

    if file is not None and times is None and values is None:
        signal: Any = Tabulated.from_csv(file, column, time=time, factor=factor, interpolation=interpolation)
    elif file is None and times is not None and values is not None:
        signal = factor * Tabulated(times, values, interpolation)
    else:
        raise InvalidModel("a table needs either file, or times and values.")
    return signal if amplitude is None else signal * amplitude


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


BASE = Field(
    Table(
        {
            "acceleration": Field(signal(Number()), "acceleration over time", "m/s²"),
            "displacement": Field(signal(Number()), "smooth displacement over time; instead", "m"),
            "direction": Field(
                Either(Choice(("x", "y", "z")), Several(Number())), "direction, as loads of this kind name it"
            ),
        }
    ),
    "motion of the base: then positions, gaps and stops are relative to it",
)
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
