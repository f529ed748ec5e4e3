"""Scenarios as text: values in TOML, commented starters, and examples with their parameters."""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from klapper.scenario.errors import ScenarioError
from klapper.scenario.kind import Kind
from klapper.scenario.kinds import KINDS
from klapper.scenario.tables import Field, Many, Named, Variants

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDTH = 116
_LARGE = 1e6  # from which on numbers are written with an exponent


def starter(kind: str) -> str:
    """A commented file of a kind that can be run as it is: all keys with their meaning and what they may be.

    ``kind``  a name in ``KINDS``

    >>> from klapper.scenario import starter
    >>> print("\\n".join(line for line in starter("example").splitlines() if line and line[0] not in "#["))
    kind = "example"
    name = "bouncing-ball"  # name of the example
    restitution = 0.7
    """
    if kind not in KINDS:
        raise ScenarioError(f"kind is {kind!r}; allowed are {', '.join(KINDS)}.")
    chosen = KINDS[kind]
    lines = [f"# {chosen.helps[0].upper()}{chosen.helps[1:]}.", *_HEAD, ""]
    for name, field in chosen.table.fields.items():
        if lines[-1].startswith("# [") and name in chosen.starter:
            lines.append("")
        lines += _part(name, field, chosen)
    return "\n".join(lines).rstrip() + "\n"


_HEAD = [
    "# Units are SI. Lines that begin with # are comments: what can be given besides, with what holds without it.",
    "# Run it by `klapper run FILE`; `klapper schema` writes a JSON schema, with which editors help.",
]


def example_scenario(name: str, parameters: Mapping[str, Any], comments: Mapping[str, str]) -> str:
    """A scenario file, as text, that runs an example of the gallery.

    ``parameters``  their values by name
    ``comments``    what they mean, by name

    >>> from klapper.scenario import example_scenario
    >>> print(example_scenario("bouncing-ball", {"restitution": 0.7}, {"restitution": "speed after over before"}))
    # An example of the gallery with all its parameters.
    <BLANKLINE>
    [model]
    kind = "example"
    name = "bouncing-ball"
    <BLANKLINE>
    [parameters]
    restitution = 0.7  # speed after over before
    <BLANKLINE>
    """
    lines = ["# An example of the gallery with all its parameters.", "", "[model]", 'kind = "example"']
    lines += [f"name = {written(name)}", "", "[parameters]"]
    for key, value in parameters.items():
        lines.append(_commented(f"{_key(key)} = {written(value)}", comments.get(key, "")))
    return "\n".join(lines) + "\n"


def written(value: Any) -> str:
    """A value in TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(key)} = {written(entry)}" for key, entry in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(written(entry) for entry in value)}]"
    if isinstance(value, float) and _LARGE <= abs(value) < math.inf:
        return f"{Decimal(repr(value)).normalize():e}".replace("e+", "e")
    return repr(value)


def _part(name: str, field: Field, kind: Kind) -> Iterator[str]:
    """A table of the file as the starter has it; in one comment where it has none."""
    part, content = field.value, kind.starter.get(name)
    if content is None:
        header = {Many: f"[[{name}]]", Named: f"[{name}.NAME]"}.get(type(part), f"[{name}]")
        yield f"# {header}  {field.help}: {_keys(part)}"
    elif isinstance(part, Named):
        for number, (each, entry) in enumerate(content.items()):
            yield from _table(f"[{name}.{_key(each)}]", part.table, entry, field.help, whole=number == 0)
    elif isinstance(part, Many):
        for number, entry in enumerate(content):
            yield from _table(f"[[{name}]]", part.table, entry, field.help, whole=number == 0)
    else:
        yield from _table(f"[{name}]", part, content, field.help, whole=True)


def _table(header: str, table: Any, content: Mapping[str, Any], about: str, *, whole: bool) -> Iterator[str]:
    """Header and keys; ``whole`` with those that are not given, as comments."""
    yield _commented(header, about)
    if isinstance(table, Variants):
        kind = content["kind"]
        others = ", ".join(other for other in table.tables if other != kind)
        chosen = table.tables[kind]
        yield _commented(
            f"kind = {written(kind)}", f"{chosen.help + '; ' if chosen.help else ''}others: {others}"
        )
        table = chosen
    fields: Mapping[str, Field] = table.fields
    if not fields:  # parameters of an example
        yield from (f"{_key(key)} = {written(value)}" for key, value in content.items())
    for name, field in fields.items():
        if name in content:
            yield _commented(f"{name} = {written(content[name])}", field.words if whole else field.meaning)
        elif whole:
            shown = "…" if field.default is None else written(field.default)
            yield _commented(f"# {name} = {shown}", field.words)
    yield ""


def _keys(part: Any) -> str:
    """What a table may hold, in short: needed keys first, the others in brackets."""
    table: Any = part.table if isinstance(part, Many | Named) else part
    if isinstance(table, Variants):
        return "kind = " + " | ".join(table.tables)
    names = sorted(table.fields, key=lambda name: not table.fields[name].needed)
    return ", ".join(name if table.fields[name].needed else f"({name})" for name in names)


def _commented(line: str, comment: str) -> str:
    """The line with its comment behind it, or above it if both would be too long."""
    words = " ".join(comment.split())
    if not words:
        return line
    if len(line) + len(words) < _WIDTH:
        return f"{line}  # {words}"
    above = textwrap.wrap(f"{words}:", _WIDTH, initial_indent="# ", subsequent_indent="#   ")
    return "\n".join([*above, line])


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else written(name)
