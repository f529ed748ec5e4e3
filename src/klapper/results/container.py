"""HDF5 files that are whole or absent, and checked before they are read.

The first 512 bytes, which HDF5 leaves to the user, are text: the format, and length and digest (BLAKE2b) of the rest.
A file that was cut, damaged or changed is refused before the HDF5 library sees it, since that may hang or crash on
such files. It also crashes when a disk is full, so a file is made in memory and written by plain means.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from klapper.results.errors import ResultsError

if TYPE_CHECKING:
    import h5py

FORMAT = 1
TEMPORARY = ".temporary"
_BLOCK = 512
_TITLE = re.compile(rb"klapper (\w+), format ([1-9]\d*)\n")
_SEAL = re.compile(rb"bytes (\d+)\nblake2b ([0-9a-f]{128})\nHDF5 begins at byte 512\n\0*\Z")
_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def write_container(path: Path, kind: str, fill: Callable[[h5py.File], None]) -> None:
    """Write the HDF5 file that ``fill`` makes, or leave what is there as it is."""
    import h5py

    image = io.BytesIO()
    with h5py.File(image, "w", libver=("v110", "v110"), userblock_size=_BLOCK) as file:
        fill(file)
    with image.getbuffer() as content:
        rest = content[_BLOCK:]
        seal = (
            f"bytes {len(rest)}\nblake2b {hashlib.blake2b(rest).hexdigest()}\nHDF5 begins at byte {_BLOCK}\n"
        )
        content[:_BLOCK] = f"klapper {kind}, format {FORMAT}\n{seal}".encode().ljust(_BLOCK, b"\0")
        rest.release()
        write_whole(path, content)


def write_whole(path: Path, content: bytes | memoryview) -> None:
    """Write ``content`` under another name and rename it when it is safely on the disk."""
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}{TEMPORARY}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
        _settle(target.parent)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise ResultsError(f"{path} cannot be written: {error.strerror or error}.") from error
        raise


@contextmanager
def open_container(path: Path, kind: str) -> Iterator[h5py.File]:
    """Open a file of this kind for reading; :class:`ResultsError` says why it cannot be."""
    import h5py

    _check(path, kind)
    try:
        with h5py.File(path, "r", locking=False) as file:
            yield file
    except (OSError, KeyError, RuntimeError, TypeError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, ResultsError):
            raise
        reason = " ".join(str(error).split()).rstrip(".")
        raise ResultsError(f"{path} does not hold what a {kind} of klapper holds ({reason}).") from error


def _check(path: Path, kind: str) -> None:
    """Refuse what is missing, foreign, newer, cut or changed."""
    try:
        with path.open("rb") as stream:
            block = stream.read(_BLOCK)
            title, signature = _TITLE.match(block), stream.read(len(_SIGNATURE))
            if title is None:
                raise ResultsError(_foreign(path, block, kind))
            if int(title[2]) > FORMAT:
                raise ResultsError(
                    f"{path} was written by a newer klapper (format {int(title[2])}, this one reads up to {FORMAT}): "
                    "upgrade klapper."
                )
            if title[1].decode() != kind:
                raise ResultsError(f"{path} is a {title[1].decode()} of klapper, not a {kind}.")
            seal = _SEAL.match(block, title.end())
            stream.seek(_BLOCK)
            digest = hashlib.file_digest(stream, "blake2b").hexdigest()
            length = stream.tell() - _BLOCK
    except FileNotFoundError:
        raise ResultsError(f"{path} does not exist.") from None
    except OSError as error:
        raise ResultsError(f"{path} cannot be read: {error.strerror or error}.") from error
    if seal is None or signature != _SIGNATURE or length != int(seal[1]) or digest != seal[2].decode():
        cut = f": {int(seal[1]) - length} bytes are missing" if seal and length < int(seal[1]) else ""
        raise ResultsError(f"{path} is damaged{cut}; it was cut or changed after it was written.")


def _foreign(path: Path, block: bytes, kind: str) -> str:
    if not block:
        return f"{path} is empty."
    if block.startswith(_SIGNATURE):
        return f"{path} is an HDF5 file, but no {kind} of klapper."
    return f"{path} is no {kind} of klapper."


def _settle(folder: Path) -> None:
    """Bring the new name in ``folder`` to the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
