"""Scenario files in the editor: read, checked while they are written, saved whole or not at all.

A file is replaced only if it still holds what the editor read; a new one never takes the place of another.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from klapper.doors import Unreadable
from klapper.doors.files import content_of
from klapper.doors.toml import LARGEST
from klapper.report.folder import write
from klapper.scenario import KINDS, Scenario, ScenarioError, parse_scenario, starter
from klapper.studio.errors import StudioError
from klapper.studio.place import Root

_LINE = re.compile(r", line (\d+):")
_ONE_AT_A_TIME = Lock()
_BUILT = (
    "linear",
    "bodies",
)  # kinds whose models are built within the time of a keystroke, to check them whole


@dataclass(frozen=True)
class Scenarios:
    """The scenarios of a folder.

    ``require_example`` refuses an example of the gallery with wrong parameters, with :class:`ScenarioError`
    """

    root: Root
    require_example: Callable[[Scenario], object]

    def read(self, name: str) -> dict[str, Any]:
        file = self._file(name)
        if not file.exists():
            raise StudioError(f"'{name}' does not exist.", 404)
        content = _content(file, name)
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            raise StudioError(
                f"'{name}', line {line}: it is no text in UTF-8, so it cannot be edited here."
            ) from None
        return {"path": name, "text": text, "digest": _digest(content), "checked": self.check(name, text)}

    def check(self, name: str, text: str) -> dict[str, Any]:
        """Whether a text is a scenario; if not, the sentence and the line."""
        file = self._file(name)
        try:
            scenario = parse_scenario(text, file.parent, file.name)
            if scenario.kind == "example":
                self.require_example(scenario)
            if scenario.kind in _BUILT:
                scenario.verify()
        except ScenarioError as error:
            sentence = self.root.told(str(error))
            line = _LINE.search(sentence)
            return {"valid": False, "message": sentence, "line": int(line[1]) if line else None}
        title = scenario.title or str(scenario.content["model"].get("name", ""))
        return {"valid": True, "message": "", "line": None, "kind": scenario.kind, "title": title}

    def save(self, name: str, text: str, digest: str | None) -> dict[str, Any]:
        """Write a text; ``digest`` is that of the file as it was read, None for a new file."""
        file = self._file(name)
        try:
            content = text.encode("utf-8")
        except UnicodeEncodeError:
            raise StudioError("The text holds a sign that cannot be written in UTF-8.") from None
        if len(content) > LARGEST:
            raise StudioError(f"A scenario has at most {LARGEST // 1_000_000} MB.", 413)
        with _ONE_AT_A_TIME:
            if digest is None:
                self._create(file, name, content)
            else:
                content = self._replace(file, name, content, digest)
        return {"path": name, "digest": _digest(content), "checked": self.check(name, text)}

    def begin(self, name: str, kind: str) -> dict[str, Any]:
        """Write the commented starter of a kind into a new file."""
        if kind not in KINDS:
            raise StudioError(f"There is no kind '{kind}'; kinds are {', '.join(KINDS)}.")
        return self.save(name, starter(kind), None)

    def _create(self, file: Path, name: str, content: bytes) -> None:
        temporary = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write(temporary, content)
            os.link(temporary, file)  # refuses to replace, unlike a renaming
        except FileExistsError:
            raise StudioError(f"'{name}' exists already: give the name of a new file.", 409) from None
        except OSError as error:
            raise StudioError(f"'{name}' cannot be written: {error.strerror or error}.") from None
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)

    def _replace(self, file: Path, name: str, content: bytes, digest: str) -> bytes:
        before = _content(file, name) if file.exists() else b""
        if not file.exists():
            raise StudioError(f"'{name}' was removed meanwhile: save it under a name of its own.", 409)
        if _digest(before) != digest:
            raise StudioError(f"'{name}' was changed by another program since it was opened here.", 409)
        if b"\r\n" in before:
            content = content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        try:
            mode = file.stat().st_mode
            write(file, content)
            with suppress(OSError):
                file.chmod(mode & 0o7777)
        except OSError as error:
            raise StudioError(f"'{name}' cannot be written: {error.strerror or error}.") from None
        return content

    def _file(self, name: str) -> Path:
        file = self.root.inside(name)
        if file.suffix != ".toml":
            raise StudioError(f"'{name}' is no scenario: its name ends in .toml.")
        return file


def _content(file: Path, name: str) -> bytes:
    try:
        return content_of(file, LARGEST)
    except OSError as error:
        raise StudioError(f"'{name}' cannot be read: {error.strerror or error}.") from None
    except Unreadable as error:
        raise StudioError(f"'{name}' cannot be read: {error}.") from None


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
