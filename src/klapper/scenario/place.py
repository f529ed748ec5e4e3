"""Where in a scenario file something stands, and the sentence that refuses it there."""

from __future__ import annotations

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
    """

    file: str
    folder: Folder
    lines: Mapping[Path, int] = field(default_factory=dict)
    path: Path = ()

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
            raise self.refused(str(error)) from error
        except ScenarioError:
            raise
        except (ArithmeticError, ValueError) as error:  # of numbers that numpy and scipy cannot work with
            raise self.refused(f"{self.words} cannot be computed with these numbers: {error}") from error
        except MemoryError:
            raise self.refused(f"{self.words} needs more memory than there is.") from None


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
