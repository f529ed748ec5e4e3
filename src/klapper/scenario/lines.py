"""In which line of a TOML file a key stands; the parser of the standard library does not tell.

The text was accepted by the parser before, so that a light scan is enough: headers, keys, and values that are skipped
over. Keys inside of an inline table count as being where their table begins.
"""

from __future__ import annotations

import json
import re

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[ \t]*("(?:\\.|[^"\\\n])*"|'[^'\n]*'|[A-Za-z0-9_-]+)[ \t]*""")
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|\n|[\[\]{}]|[^"\'#\n\[\]{}]+|.',
    re.S,
)


def line_index(text: str) -> dict[Path, int]:
    """Line (from 1 on) of every table and key by its path, e.g. ("contact", 1, "friction")."""
    lines: dict[Path, int] = {(): 1}
    arrays: dict[Path, int] = {}  # number of the last table of each array of tables
    table: Path = ()
    position, line, counted = 0, 1, 0
    while (position := _skipped(_BLANK, text, position)) < len(text):
        line, counted = line + text.count("\n", counted, position), position
        brackets = 2 if text.startswith("[[", position) else int(text[position] == "[")
        keys, position = _keys(text, position + brackets)
        if brackets:
            table = _inside(keys[:-1], arrays)
            own = (*table, *keys[-1:])
            if brackets == 2:
                arrays[own] = arrays.get(own, -1) + 1
                lines.setdefault(own, line)
            table = (*own, arrays[own]) if brackets == 2 else own
            lines.setdefault(table, line)
        else:
            for end in range(1, len(keys) + 1):
                lines.setdefault((*table, *keys[:end]), line)
        position = _end_of_value(text, position)
    return lines


def _inside(keys: Path, arrays: dict[Path, int]) -> Path:
    """The path with the numbers of the tables that a header means."""
    path: Path = ()
    for key in keys:
        path = (*path, key)
        if path in arrays:
            path = (*path, arrays[path])
    return path


def _keys(text: str, position: int) -> tuple[Path, int]:
    keys: list[str] = []
    while match := _KEY.match(text, position):
        keys.append(_plain(match[1]))
        position = match.end()
        if text[position : position + 1] != ".":
            break
        position += 1
    return tuple(keys), position


def _plain(key: str) -> str:
    if key[0] == "'":
        return key[1:-1]
    try:
        return str(json.loads(key)) if key[0] == '"' else key
    except ValueError:  # an escape that JSON does not know
        return key[1:-1]


def _end_of_value(text: str, position: int) -> int:
    """The end of the line in which a value ends."""
    depth = 0
    while match := _TOKEN.match(text, position):
        token, position = match[0], match.end()
        depth += (token in "[{") - (token in "]}") if len(token) == 1 else 0
        if token == "\n" and depth <= 0:
            break
    return position


def _skipped(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position
