"""The bytes of a regular file, up to a limit: no pipe is waited for, no device is read without end."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from klapper.doors.errors import Unreadable


@contextmanager
def opened(path: Path) -> Iterator[BufferedReader]:
    """A regular file for reading; :class:`OSError` if there is none, :class:`Unreadable` if it is something else."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Unreadable("it is no regular file")
        stream = os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise
    with stream:
        yield stream


def content_of(path: Path, most: int) -> bytes:
    """The whole content of a file of at most ``most`` bytes."""
    with opened(path) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise Unreadable(f"it is larger than {told_size(most)}")
    return content


def told_size(size: int) -> str:
    """A number of bytes in words: 3 MB."""
    for power, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= power:
            return f"{size / power:.3g} {unit}"
    return f"{size} bytes"


def target_of(path: Path) -> Path:
    """The file that is written under a name: a link is followed within its own folder, and otherwise replaced.

    In a folder that somebody sent a link may lead to any file of the reader.
    """
    here = path.absolute()
    try:
        found = path.resolve()
    except (OSError, RuntimeError):
        return here
    return found if found.parent == here.parent.resolve() else here
