"""What a table of a scenario file may hold: fields by name, and the ways in which tables come.

Table      [scheme]            fields by name
Variants   kind = "moreau"     one of several tables, chosen by one key
Named      [body.ball]         tables by name
Many       [[contact]]         tables in a row
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from klapper.scenario.place import Place, shown
from klapper.scenario.values import Text, Value, quoted


@dataclass(frozen=True)
class Field:
    """One key of a table.

    ``help``     a noun phrase, ``unit`` in SI
    ``needed``   whether it must be given; if not, ``default`` is what holds without it, None: nothing
    """

    value: Value
    help: str
    unit: str = ""
    default: Any = None
    needed: bool = False

    @property
    def meaning(self) -> str:
        """Help and unit."""
        return f"{self.help} [{self.unit}]" if self.unit else self.help

    @property
    def words(self) -> str:
        """Help and unit, and what is allowed where that is not told by them."""
        told = not self.help or isinstance(self.value, Text)
        return self.meaning if told else f"{self.meaning}: {self.value.allowed}"


@dataclass(frozen=True)
class Table:
    """Fields by name; ``help`` says what the table is."""

    fields: Mapping[str, Field]
    help: str = ""

    def fits(self, given: Any) -> bool:
        return isinstance(given, dict)

    def check(self, given: Any, at: Place) -> dict[str, Any]:
        if not self.fits(given):
            raise at.wrong(given, self.allowed)
        require_known(given, self.fields, at)
        for name, field in self.fields.items():
            if field.needed and name not in given:
                raise at.refused(f"{at.words} needs the key '{name}', {field.words}.")
        return {name: self.fields[name].value.check(entry, at.at(name)) for name, entry in given.items()}

    @property
    def allowed(self) -> str:
        return f"tables with the keys {', '.join(self.fields)}"

    @property
    def schema(self) -> dict[str, Any]:
        properties = {}
        for name, field in self.fields.items():
            described = {"description": field.meaning} if field.help else {}
            default = {} if field.default is None else {"default": field.default}
            properties[name] = described | default | field.value.schema
        needed = [name for name, field in self.fields.items() if field.needed]
        return (
            {"type": "object", "properties": properties, "additionalProperties": False}
            | ({"required": needed} if needed else {})
            | ({"description": self.help} if self.help else {})
        )


@dataclass(frozen=True)
class Variants:
    """One of several tables, chosen by the key ``kind``; ``default`` if it may be left out."""

    tables: Mapping[str, Table]
    default: str | None = None

    def fits(self, given: Any) -> bool:
        return isinstance(given, dict)

    def check(self, given: Any, at: Place) -> dict[str, Any]:
        if not self.fits(given):
            raise at.wrong(given, self.allowed)
        kind = given.get("kind", self.default)
        if kind is None:
            raise at.refused(f"{at.words} needs the key 'kind'; allowed are {quoted(list(self.tables))}.")
        if not isinstance(kind, str) or kind not in self.tables:
            raise at.at("kind").refused(
                f"{at.at('kind').words} is {shown(kind)}{did_you_mean(kind, self.tables)}; allowed are "
                f"{quoted(list(self.tables))}."
            )
        rest = {name: entry for name, entry in given.items() if name != "kind"}
        return {"kind": kind} | self.tables[kind].check(rest, at)

    @property
    def allowed(self) -> str:
        return f"tables with the kind {quoted(list(self.tables))}"

    @property
    def schema(self) -> dict[str, Any]:
        return {"oneOf": [self._variant(kind, table.schema) for kind, table in self.tables.items()]}

    def _variant(self, kind: str, schema: dict[str, Any]) -> dict[str, Any]:
        needed = ([] if kind == self.default else ["kind"]) + schema.get("required", [])
        return schema | {
            "properties": {"kind": {"const": kind}} | schema["properties"],
            "required": needed,
        }


@dataclass(frozen=True)
class Named:
    """Tables, or other values, by name."""

    table: Value
    help: str = ""

    def fits(self, given: Any) -> bool:
        return isinstance(given, dict)

    def check(self, given: Any, at: Place) -> dict[str, Any]:
        if not self.fits(given):
            raise at.wrong(given, self.allowed)
        for name in given:
            Text().check(name, at.at(name))
        return {name: self.table.check(entry, at.at(name)) for name, entry in given.items()}

    @property
    def allowed(self) -> str:
        return f"{self.table.allowed}, each under a name"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "object", "description": self.help, "additionalProperties": self.table.schema}


@dataclass(frozen=True)
class Many:
    """Tables in a row."""

    table: Table | Variants
    help: str = ""

    def fits(self, given: Any) -> bool:
        return isinstance(given, list) and all(self.table.fits(entry) for entry in given[:1])

    def check(self, given: Any, at: Place) -> list[dict[str, Any]]:
        if not isinstance(given, list):
            raise at.refused(f"{at.words} is one value; write each table under [[{at.words}]].")
        return [self.table.check(entry, at.at(i)) for i, entry in enumerate(given)]

    @property
    def allowed(self) -> str:
        return f"lists of {self.table.allowed}"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "array", "description": self.help, "items": self.table.schema}


def require_known(given: Mapping[str, Any], known: Iterable[str], at: Place) -> None:
    """Refuse a key that is not known, with the nearest that is."""
    names = list(known)
    for name in given:
        if name not in names:
            listed = f"keys are {', '.join(names)}" if names else "it takes none"
            raise at.at(name).refused(
                f"{at.words} has no key {shown(name)}{did_you_mean(name, names)}; {listed}."
            )


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    near = get_close_matches(name[:200], list(known), n=1, cutoff=0.5) if isinstance(name, str) else []
    return f" (did you mean '{near[0]}'?)" if near else ""


def needed(value: Value, help: str, unit: str = "") -> Field:
    """A field that must be given."""
    return Field(value, help, unit, needed=True)
