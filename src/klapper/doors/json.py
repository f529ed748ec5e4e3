"""JSON that is limited before it is parsed, and holds only what JSON knows.

Python's parser takes more: NaN, Infinity, numbers beyond the range of floating point, halves of surrogate pairs.
Programs that get them later fail far from the file.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from klapper.doors.errors import Unreadable

DEEPEST = 60  # levels; ours have less than ten. Python's own limit of recursion is about 1000
LARGEST = 64_000_000  # bytes; a parsed text takes up to 30 times as much memory
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.S)
_LONE = re.compile(rb"\\u[dD][89a-fA-F]")
_LONGEST_NUMBER = 300  # digits; floating point ends at 308


def parse_json(content: bytes, *, most: int = LARGEST) -> Any:
    """What a JSON text holds; :class:`Unreadable` says why it cannot be read."""
    if len(content) > most:
        raise Unreadable(f"it is larger than {most // 1_000_000} MB")
    if content.count(b"[") + content.count(b"{") > DEEPEST and _depth(content) > DEEPEST:
        raise Unreadable(f"it is nested more than {DEEPEST} levels deep")
    try:
        text = content.decode("utf-8")  # the parser would take UTF-16 and halves of pairs, too
        found = json.loads(text, parse_constant=_constant, parse_int=_whole, parse_float=_number)
        if _LONE.search(content):
            json.dumps(found, ensure_ascii=False).encode()
    except UnicodeError:
        raise Unreadable("it holds a sign that cannot be written in UTF-8") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, Unreadable):
            raise
        raise Unreadable(f"it is no JSON ({' '.join(str(error).split())})") from None
    return found


def _depth(content: bytes) -> int:
    depth = deepest = 0
    for match in _TOKEN.finditer(content):
        token = match[0]
        if token in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif token in b"]}":
            depth -= 1
    return deepest


def _constant(text: str) -> Any:
    raise Unreadable(f"it is no JSON ({text} is no number)")


def _whole(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise Unreadable(f"it holds a number of {len(text)} digits")
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise Unreadable(f"it holds the number {text[:40]}, which is beyond the range of floating point")
    return value
