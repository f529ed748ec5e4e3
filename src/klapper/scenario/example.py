"""An example of the gallery with parameters; what they may be is known to the gallery alone."""

from __future__ import annotations

from typing import Any

from klapper.scenario.kind import Kind
from klapper.scenario.place import Place
from klapper.scenario.tables import Table, needed
from klapper.scenario.values import Text


class Parameters(Table):
    """Values by name, of the types that parameters of examples have."""

    def check(self, given: Any, at: Place) -> dict[str, Any]:
        if not self.fits(given):
            raise at.wrong(given, self.allowed)
        for name, value in given.items():
            entries = value if isinstance(value, list) else [value]
            if not all(isinstance(entry, str | bool | int | float) for entry in entries):
                raise at.at(name).wrong(value, self.allowed)
        return dict(given)

    @property
    def allowed(self) -> str:
        return "numbers, texts, true and false, and lists of these"

    @property
    def schema(self) -> dict[str, Any]:
        scalar = {"type": ["string", "boolean", "number"]}
        either = {"anyOf": [scalar, {"type": "array", "items": scalar}]}
        return {"type": "object", "description": self.help, "additionalProperties": either}


EXAMPLE = Kind(
    "example",
    "an example of the gallery; `klapper list` shows them, `klapper list NAME` its parameters",
    {"name": needed(Text(), "name of the example")},
    {"parameters": Parameters({}, "parameters that differ from the shipped ones")},
    {
        "model": {"kind": "example", "name": "bouncing-ball"},
        "parameters": {"restitution": 0.7},
    },
    None,
)
