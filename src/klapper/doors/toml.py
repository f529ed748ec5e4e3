"""TOML that is limited before it is parsed.

The parser of the standard library takes a time that grows with the square of the number of parts of a key, and calls
itself for every level of brackets. A scan of the text, one pass over it, finds both before.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from klapper.doors.errors import Unreadable
from klapper.doors.files import content_of

LARGEST = 1_000_000  # bytes
DEEPEST = 20  # levels of brackets, parts of a key, and levels of tables; ours have up to six
MOST_TABLES = 20_000  # headers; each takes the parser 30 µs
_HEADER = re.compile(r"^[ \t]*\[", re.M)
_LARGEST_WHOLE = 2**63  # of the standard of TOML
# Every string may lack its end, so that no place of the text is looked at twice: the parser refuses it there anyway.
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\"]|"(?!""))*+(?:"{3,5})?|'
    r"'''(?:[^']|'(?!''))*+(?:'{3,5})?|"
    r'"(?:\\.|[^"\\\n])*+"?|'
    r"'[^'\n]*+'?|"
    r"#[^\n]*+|[\[\]{}.=,\n]|[^\"'#\[\]{}.=,\n]++",
    re.S,
)


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a file, by :func:`parse_toml`."""
    return parse_toml(text_of(path))


def text_of(path: Path) -> str:
    """The text of a file of at most 1 MB in UTF-8; errors name the line."""
    content = content_of(path, LARGEST)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise Unreadable(f"line {line}: it is no text in UTF-8") from None


def parse_toml(text: str) -> dict[str, Any]:
    """What a TOML text holds; :class:`Unreadable` says why it cannot be read, and begins with the line if known."""
    if len(text) > LARGEST or len(text.encode("utf-8", "surrogatepass")) > LARGEST:
        raise Unreadable(
            f"it is larger than {LARGEST // 1_000_000} MB; put large matrices into files of their own"
        )
    _require_shallow(text)
    if len(_HEADER.findall(text)) > MOST_TABLES:
        raise Unreadable(f"it has more than {MOST_TABLES} tables; put large ones into files of their own")
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _no_toml(error) from None
    _require_plain(content)
    return content


def _require_shallow(text: str) -> None:
    depth = parts = position = 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in ("[", "{"):
            depth, parts = depth + 1, 0
        elif token in ("]", "}"):
            depth, parts = max(depth - 1, 0), 0
        elif token in ("=", ",", "\n"):
            parts = 0
        elif token == ".":
            parts += 1
        if depth > DEEPEST or parts >= DEEPEST:
            position = match.start()
            break
    else:
        return
    line = text.count("\n", 0, position) + 1
    if depth > DEEPEST:
        raise Unreadable(f"line {line}: brackets are nested more than {DEEPEST} levels deep")
    raise Unreadable(f"line {line}: a key has more than {DEEPEST} parts")


def _require_plain(content: dict[str, Any]) -> None:
    """Refuse deep tables, whole numbers beyond 64 bits, and signs that no file can hold."""
    level: list[Any] = [content]
    for _ in range(DEEPEST + 1):
        below: list[Any] = []
        for entry in level:
            if isinstance(entry, dict):
                below += entry.values()
            elif isinstance(entry, list):
                below += entry
            elif type(entry) is int and not -_LARGEST_WHOLE <= entry < _LARGEST_WHOLE:
                raise Unreadable("a whole number has more than 64 bits")
        if not below:
            return
        level = below
    raise Unreadable(f"its tables are nested more than {DEEPEST} levels deep")


def _no_toml(error: Exception) -> Unreadable:
    """Where and why a text is no TOML; the parser tells the line at the end of its message."""
    reason, _, where = str(error).partition(" (at ")
    if isinstance(error, RecursionError):
        reason = "its tables are nested too deeply"
    reason = " ".join(reason.split())[:200]
    line = where.partition("line ")[2].partition(",")[0]
    at = f"line {line}: " if line.isdigit() else ""
    return Unreadable(f"{at}it is no TOML: {reason}")
