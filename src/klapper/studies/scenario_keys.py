"""Dotted names of the keys of a scenario: listed, entered, and their units.

    contact.1.friction ↔ ("contact", 0, "friction")

Numbers count tables in a row and entries of lists from 1 on.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from klapper.studies.errors import StudyError

Keys = tuple[str | int, ...]


class NamedFile(str):
    """The name of a file; its text in the key of a point holds the ``digest`` of the content."""

    digest: str

    def __new__(cls, name: str, digest: str) -> NamedFile:
        made = super().__new__(cls, name)
        made.digest = digest
        return made

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.digest

    def __repr__(self) -> str:
        return f"{str(self)!r} ({self.digest})"


def leaves(content: Any) -> Iterator[tuple[str, Any]]:
    """Values by dotted name: numbers, texts, truth values, lists; lists of tables are gone into."""
    for name, path in paths(content).items():
        yield name, value_at(content, path)


def paths(content: Any, path: Keys = ()) -> dict[str, Keys]:
    """The places of all values by their dotted name."""
    found: dict[str, Keys] = {}
    entries: Any = content.items() if isinstance(content, Mapping) else enumerate(content)
    for key, entry in entries:
        here = (*path, key)
        if isinstance(entry, Mapping) or _holds_tables(entry):
            found |= paths(entry, here)
        else:
            found[dotted(here)] = here
    return found


def skeleton(content: Any, path: Keys = ()) -> list[str]:
    """The tables by dotted name, also empty ones: an empty table can mean something."""
    found = [dotted(path)]
    entries: Any = content.items() if isinstance(content, Mapping) else enumerate(content)
    for key, entry in entries:
        if isinstance(entry, Mapping) or _holds_tables(entry):
            found += skeleton(entry, (*path, key))
    return found


def entered(
    content: Mapping[str, Any], values: Mapping[str, Any], known: Mapping[str, Any]
) -> dict[str, Any]:
    """The content with values at their dotted names; those that are as they are ``known`` to be stay untouched."""
    made = copy.deepcopy(dict(content))
    places = paths(content)
    new = [name for name, value in values.items() if name not in known or value != known[name]]
    for name in sorted(new, key=lambda name: (name not in places, name)):  # whole lists before their entries
        *way, last = places.get(name) or resolved(made, name)
        within: Any = made
        for key in way:
            within = within.setdefault(key, {}) if isinstance(within, dict) else within[key]
        within[last] = values[name]
    return made


def resolved(content: Any, name: str) -> Keys:
    """The place of a dotted name; tables and keys may be missing on the way, entries of lists may not."""
    path: Keys = ()
    for part in name.split("."):
        if isinstance(content, list):
            if not part.isdigit() or not 1 <= int(part) <= len(content):
                raise StudyError(
                    f"there is no '{name}': entries of {dotted(path)} are numbered from 1 to {len(content)}, not "
                    f"{part}."
                )
            path = (*path, int(part) - 1)
            content = content[int(part) - 1]
        elif isinstance(content, Mapping):
            path = (*path, part)
            content = content.get(part, {})
        else:
            raise StudyError(f"there is no '{name}': {dotted(path)} is neither a table nor a list.")
    return path


def value_at(content: Any, path: Keys) -> Any:
    for key in path:
        content = content[key]
    return content


_OF_COURSES = {"amplitude": "", "amount": "", "start": "", "values": "", "speed": "/s"}
"""Keys of courses over time that have the unit of what runs so, and what is added to it."""


def unit_at(spec: Any, path: Keys, content: Any) -> str:
    """The unit of a key, where its table declares one; through fields, variants, named tables and rows."""
    unit = ""
    for key in path:
        for choice in getattr(spec, "values", ()):  # of several kinds of value the one that is given
            if choice.fits(content):
                spec = choice
                break
        if isinstance(key, str):
            if hasattr(spec, "tables"):
                spec = spec.tables.get(content.get("kind", spec.default))
            field = getattr(spec, "fields", {}).get(key)
            if field is not None:
                shared = f"{unit}{_OF_COURSES[key]}" if unit and key in _OF_COURSES else ""
                unit, spec = field.unit or shared, field.value
            else:
                unit, spec = "", getattr(spec, "table", None)
        else:
            spec = getattr(spec, "table", getattr(spec, "entry", None))
        content = content[key]
    return unit


def dotted(path: Keys) -> str:
    return ".".join(str(key + 1) if isinstance(key, int) else key for key in path)


def _holds_tables(entry: Any) -> bool:
    return isinstance(entry, list) and bool(entry) and isinstance(entry[0], Mapping)
