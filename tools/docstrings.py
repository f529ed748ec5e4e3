"""Docstrings as Markdown: sessions after ``>>>`` become code blocks, roles such as ``:class:`X``` the name alone, and
lines of names with their meanings lists.
"""

import re
from collections.abc import Iterator
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):`~?(?:[\w.]*\.)?(\w+)`(?:\\ )?")
_MEANING = re.compile(r"(?P<names>``[^`]+``(?:,? (?:and )?``[^`]+``)*)\s{2,}(?P<text>\S.*)")
_SESSION = re.compile(r"^>>>.*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)


def as_markdown(text: str) -> str:
    """A docstring as the site shows it."""
    text = "\n".join(_listed(_ROLE.sub(r"`\1`", text).splitlines()))
    return _SESSION.sub(lambda found: f"\n```pycon\n{found[0]}\n```\n", text)


def _listed(lines: list[str]) -> Iterator[str]:
    """Lines such as "``step_size``   h [s]", with what belongs to them, as items of a list."""
    inside = False
    for line in lines:
        if meaning := _MEANING.fullmatch(line):
            yield from ([] if inside else [""])
            yield f"- {meaning['names']}: {meaning['text']}"
            inside = True
        elif inside and line.startswith("  "):
            yield "    " + line.strip()
        else:
            yield from ([""] if inside and line else [])
            yield line
            inside = False


class Docstrings(griffe.Extension):
    """Griffe's extension of that: every docstring is translated when its object is read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
