"""Texts of files that are shown in a terminal, which takes orders from signs that nobody sees."""

from __future__ import annotations

import re
from typing import Any

_ORDERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BUT_COLOURS = re.compile(r"\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """The text with a visible sign in place of every one that is an order.

    >>> printable("red: \\x1b[31m")
    'red: �[31m'
    """
    return _ORDERS.sub("�", text)


def in_a_sentence(text: object, most: int = 200) -> str:
    """A text of a file in one line and not longer than some characters, to be told beside others.

    >>> in_a_sentence("a\\nb" + "c" * 50, 10)
    'a bccccc …'
    """
    line = " ".join(str(text)[: 2 * most].split())
    return line if len(line) <= most and len(str(text)) <= 2 * most else f"{line[: most - 2]} …"


class Printed:
    """A stream to which only texts and colours are written."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return int(self._stream.write(_BUT_COLOURS.sub("�", text)) or 0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
