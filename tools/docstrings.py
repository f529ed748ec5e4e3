"""Docstrings as Markdown: sessions after ``>>>`` become code blocks, roles such as ``:class:`X``` the name alone."""

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):`~?(?:[\w.]*\.)?(\w+)`(?:\\ )?")
_SESSION = re.compile(r"^>>>.*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)


def as_markdown(text: str) -> str:
    """A docstring as the site shows it."""
    return _SESSION.sub(lambda found: f"\n```pycon\n{found[0]}\n```\n", _ROLE.sub(r"`\1`", text))


class Docstrings(griffe.Extension):
    """Griffe's extension of that: every docstring is translated when its object is read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
