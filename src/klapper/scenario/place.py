"""Where in a scenario file something stands, and the sentence that refuses it there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from klapper.scenario.errors import ScenarioError
from klapper.scenario.files import Folder
from klapper.scenario.lines import Path


@dataclass(frozen=True)
class Place:
    """A key or table of a file.

    ``file``    name of the file, ``lines`` its index of lines
    ``folder``  where files that it names are looked for
    ``path``    of the key, such as ("contact", 1, "friction")
    ``content`` of the whole file, in which tables have names that sentences quote
    """

    file: str
    folder: Folder
    lines: Mapping[Path, int] = field(default_factory=dict)
    path: Path = ()
    content: Mapping[str, Any] = field(default_factory=dict)

    def at(self, key: str | int) -> Place:
        return replace(self, path=(*self.path, key))

    @property
    def words(self) -> str:
        """The path as it is told: contact 2.friction."""
        text = ""
        for key in self.path:
            text += f" {key + 1}" if isinstance(key, int) else f".{key}" if text else key
        return shortened(text) or "the file"

    @property
    def line(self) -> int:
        """Of the key, or of the table that it belongs to."""
        path = self.path
        while path not in self.lines and path:
            path = path[:-1]
        return self.lines.get(path, 1)

    def meant(self, reason: str) -> Place:
        """The table whose name a sentence quotes, or the key of it that the sentence names; else this place."""
        quoted = re.findall(r"'([^']*)'", reason)
        for name, path, table in _named(self.content, ()):
            if name in quoted:
                keys = [key for key in table if key != "name" and re.search(rf"\b{re.escape(key)}\b", reason)]
                return replace(self, path=(*path, *keys[:1]))
        return self

    def refused(self, reason: str) -> ScenarioError:
        return ScenarioError(f"{self.file}, line {self.line}: {' '.join(reason.split())}")

    def wrong(self, given: Any, allowed: str) -> ScenarioError:
        return self.refused(f"{self.words} is {shown(given)}; allowed are {allowed}.")

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Whatever a model refuses inside is refused with file and line."""
        from klapper.mechanics import InvalidModel

        try:
            yield
        except (InvalidModel, UnicodeError) as error:
            raise self.meant(str(error)).refused(str(error)) from error
        except ScenarioError:
            raise
        except (ArithmeticError, ValueError) as error:  # of numbers that numpy and scipy cannot work with
            raise self.refused(f"{self.words} cannot be computed with these numbers: {error}") from error
        except MemoryError:
            raise self.refused(f"{self.words} needs more memory than there is.") from None


def _named(content: Any, path: Path) -> Iterator[tuple[str, Path, Mapping[str, Any]]]:
    """Tables with a name, and their paths."""
    if isinstance(content, Mapping):
        if path and isinstance(content.get("name"), str):
            yield content["name"], path, content
        for key, entry in content.items():
            yield from _named(entry, (*path, key))
    elif isinstance(content, list):
        for number, entry in enumerate(content):
            yield from _named(entry, (*path, number))


def shown(given: Any) -> str:
    """A given value in one short line, as TOML writes it where that matters."""
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, dict):
        return shortened(f"a table with {', '.join(given) or 'no keys'}")
    return shortened(str(given) if hasattr(given, "isoformat") else repr(given))


def shortened(text: str) -> str:
    """One line of at most 80 characters."""
    words = " ".join(text.split())
    return words if len(words) <= 80 else f"{words[:78]} …"
