"""HDF5 files that are whole or absent, and checked before they are read.

The first 512 bytes, which HDF5 leaves to the user, are text: the format, and length and digest (BLAKE2b) of the rest.
A file that was cut or damaged is refused by them. They prove nothing about who wrote it, so that reading does without
the HDF5 library, which hangs or crashes on hostile files and follows them elsewhere (:mod:`klapper.doors.hdf5`). It
also crashes when a disk is full, so a file is made in memory and written by plain means.

A motion at rest packs to a thousandth of its size, and a file that does so may be a trap. Files are written so that
they unpack to at most :data:`EXPANSION` times their size, or to :data:`FREE` bytes; more is read only on request.
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
from typing import TYPE_CHECKING, Any

from klapper.doors import Unreadable
from klapper.doors.files import opened, target_of, told_size
from klapper.doors.hdf5 import Hdf5, TooLarge, open_hdf5
from klapper.results.errors import CannotRead, ResultsError

if TYPE_CHECKING:
    import h5py

FORMAT = 1
TEMPORARY = ".temporary"
EXPANSION = 64  # times the size of a file; motions that move pack to a half or a tenth
FREE = 64_000_000  # bytes that any file may unpack to; with the copies of an evaluation less than 500 MB
_BLOCK = 512
_TITLE = re.compile(rb"klapper (\w+), format ([1-9]\d*)\n")
_SEAL = re.compile(rb"bytes (\d+)\nblake2b ([0-9a-f]{128})\nHDF5 begins at byte 512\n\0*\Z")
_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def write_container(
    path: Path, kind: str, fill: Callable[[h5py.File, bool], None], *, free: int = FREE
) -> None:
    """Write the HDF5 file that ``fill`` makes, packed or not, or leave what is there as it is.

    ``free``  bytes up to which it may unpack, however small it is
    """
    image, unpacked = _image(fill, packed=True)
    if unpacked > max(free, EXPANSION * image.getbuffer().nbytes):
        image, _ = _image(fill, packed=False)
    with image.getbuffer() as content:
        rest = content[_BLOCK:]
        seal = (
            f"bytes {len(rest)}\nblake2b {hashlib.blake2b(rest).hexdigest()}\nHDF5 begins at byte {_BLOCK}\n"
        )
        content[:_BLOCK] = f"klapper {kind}, format {FORMAT}\n{seal}".encode().ljust(_BLOCK, b"\0")
        rest.release()
        write_whole(path, content)


def _image(fill: Callable[[h5py.File, bool], None], *, packed: bool) -> tuple[io.BytesIO, int]:
    """The file in memory, and the bytes of its arrays when they are unpacked."""
    import h5py

    image, unpacked = io.BytesIO(), 0

    def add(name: str, entry: Any) -> None:
        nonlocal unpacked
        unpacked += entry.nbytes if isinstance(entry, h5py.Dataset) else 0

    with h5py.File(image, "w", libver=("v110", "v110"), userblock_size=_BLOCK) as file:
        fill(file, packed)
        file.visititems(add)
    return image, unpacked


def write_whole(path: Path, content: bytes | memoryview) -> None:
    """Write ``content`` under another name and rename it when it is safely on the disk.

    A link of this name is not followed out of its folder.
    """
    target = target_of(path)
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
def open_container(path: Path, kind: str, *, large: bool = False) -> Iterator[Hdf5]:
    """Open a file of this kind for reading; :class:`ResultsError` says why it cannot be.

    ``large``  whether it may unpack to more than its size makes plausible
    """
    _check(path, kind)
    try:
        with open_hdf5(path, _BLOCK) as file:
            if not large:
                file.allowed = max(FREE, EXPANSION * file.length)
            yield file
    except TooLarge as error:
        raise ResultsError(
            f"{path} has {told_size(file.length)} and unpacks to more than "
            f"{told_size(max(FREE, EXPANSION * file.length))}, which would be a trap or a motion at rest: if you trust "
            "it, read it with large=True (--large)."
        ) from error
    except OSError as error:
        raise CannotRead(f"{path} cannot be read: {error.strerror or error}.") from error
    except (KeyError, RecursionError, TypeError, UnicodeError, ValueError, OverflowError) as error:
        if isinstance(error, ResultsError):
            raise
        reason = " ".join(str(error).split()).rstrip(".")
        raise ResultsError(f"{path} does not hold what a {kind} of klapper holds ({reason}).") from error


def _check(path: Path, kind: str) -> None:
    """Refuse what is missing, foreign, newer, cut or changed."""
    try:
        with opened(path) as stream:
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
        raise CannotRead(f"{path} cannot be read: {error.strerror or error}.") from error
    except Unreadable as error:
        raise ResultsError(f"{path} cannot be read: {error}.") from error
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
