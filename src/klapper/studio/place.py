"""The folder that the studio shows: nothing outside of it is ever read or written.

Names come from a browser and are not trusted. A name is relative, goes through no hidden entry and not upwards, and
after all links are followed it lies below the folder. Before a folder of results is read or written, its own entries
are held to the same rule, since a link in it would lead a reader astray.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from klapper.studio.errors import StudioError

_LONGEST, _LONGEST_PART = 2000, 255  # characters, and bytes of a part, of usual file systems


@dataclass(frozen=True)
class Root:
    """``path`` is the folder with all links followed."""

    path: Path

    @classmethod
    def of(cls, folder: str | Path) -> Root:
        try:
            path = Path(folder).resolve(strict=True)
        except (OSError, ValueError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or "it is no name of a folder"
            raise StudioError(f"{folder} cannot be shown: {reason}.") from None
        if not path.is_dir():
            raise StudioError(f"{folder} is a file: give the folder that holds your scenarios and runs.")
        return cls(path)

    def inside(self, name: object) -> Path:
        """The path of a name, with all links followed; it need not exist."""
        if not isinstance(name, str) or not name or "\0" in name:
            raise StudioError("The name of a file is missing.")
        if len(name) > _LONGEST or any(
            len(part.encode("utf-8", "surrogatepass")) > _LONGEST_PART for part in name.split("/")
        ):
            raise StudioError(f"'{name[:40]} …' is too long for the name of a file.")
        pure = PurePosixPath(name)
        if pure.is_absolute() or any(part.startswith(".") for part in pure.parts):
            raise StudioError(
                f"'{name}' is refused: names are relative to the folder, without hidden parts.", 403
            )
        try:
            path = (self.path / pure).resolve()
        except (OSError, ValueError, RuntimeError):
            raise StudioError(f"'{name}' is no name of a file.") from None
        if not path.is_relative_to(self.path):
            raise StudioError(f"'{name}' leads out of the folder that is shown.", 403)
        return path

    def existing(self, name: object) -> Path:
        """The path of a file or folder that exists, in which no link leads out."""
        path = self.inside(name)
        try:
            if not path.exists():
                raise StudioError(f"'{name}' does not exist.", 404)
            if path.is_dir():
                self.require_own(path)
        except OSError as error:
            raise StudioError(f"'{name}' cannot be read: {error.strerror or error}.") from None
        return path

    def require_own(self, folder: Path) -> None:
        """Refuse a folder that holds a link to something outside."""
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_symlink() and not self.holds(Path(entry.path)):
                    raise StudioError(
                        f"'{self.name(folder)}' holds the link '{entry.name}', which leads out of the folder.",
                        403,
                    )

    def holds(self, path: Path) -> bool:
        """Whether a path leads to something inside, after all links are followed; one that leads nowhere does not."""
        try:
            return path.resolve().is_relative_to(self.path)
        except (OSError, ValueError, RuntimeError):
            return False

    def name(self, path: Path) -> str:
        """The name by which the browser knows a path."""
        return path.relative_to(self.path).as_posix()

    def told(self, text: str) -> str:
        """A sentence with names as the browser knows them."""
        return " ".join(text.replace(f"{self.path}{os.sep}", "").replace(str(self.path), ".").split())
