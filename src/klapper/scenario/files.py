"""Files that a scenario names: only below its own folder or below folders given on the command line.

Links are followed before the folder is compared. A scenario has at most 1 MB, a file that it names 256 MB, unpacked.
Nothing that is read is ever executed.
"""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LARGEST_FILE = 256_000_000  # bytes, unpacked
FREE, EXPANSION = (
    16_000_000,
    50,
)  # bytes that any file may unpack to, and times its size; numbers pack to a tenth
_CHUNK = 1_000_000
_LONGEST = 255  # bytes of a name, of all usual file systems


class Refused(ValueError):
    """Why a file is not read, as the rest of a sentence."""


@dataclass(frozen=True)
class Folder:
    """The folder of a scenario, and ``allowed`` ones beside it."""

    root: Path
    allowed: tuple[Path, ...] = ()

    def inside(self, name: str) -> Path:
        """The resolved path of a name; :class:`Refused` if it leads out of all folders."""
        if any(len(part.encode("utf-8", "replace")) > _LONGEST for part in name.split("/")):
            raise Refused("which is no name of a file")
        try:
            path = (self.root / name).resolve()
            roots = [folder.resolve() for folder in (self.root, *self.allowed)]
        except (OSError, ValueError, RuntimeError):
            raise Refused("which is no name of a file") from None
        if not any(path.is_relative_to(root) for root in roots):
            raise Refused("which lies outside of the folder of this file (--allow DIR permits another one)")
        return path

    def file(self, name: str, suffixes: Sequence[str]) -> Path:
        """An existing file that may be read."""
        path = self.inside(name)
        if not path.name.endswith(tuple(suffixes)):
            raise Refused(f"which does not end in {', '.join(suffixes)}")
        try:
            if not path.is_file():
                raise Refused("which does not exist")
            size = _unpacked(path)
        except OSError as error:
            raise Refused(f"which cannot be read ({error.strerror})") from None
        if size > LARGEST_FILE:
            raise Refused(f"which is larger than {LARGEST_FILE // 1_000_000} MB")
        if size > max(FREE, EXPANSION * path.stat().st_size):
            raise Refused(f"which unpacks to more than {EXPANSION} times its size")
        return path


def _unpacked(path: Path) -> int:
    """Size [bytes], of packed files that of what is in them, as far as it matters."""
    size = path.stat().st_size
    if size > LARGEST_FILE:
        return size
    try:
        if path.suffix == ".npz":
            with zipfile.ZipFile(path) as archive:
                return sum(entry.file_size for entry in archive.infolist())
        if path.suffix == ".gz":
            return _unpacked_stream(path)
    except (zipfile.BadZipFile, gzip.BadGzipFile, EOFError, zlib.error, ValueError, NotImplementedError):
        raise Refused("which is damaged") from None
    return size


def _unpacked_stream(path: Path) -> int:
    size = 0
    with gzip.open(path, "rb") as stream:
        while size <= LARGEST_FILE and (chunk := stream.read(_CHUNK)):
            size += len(chunk)
    return size
