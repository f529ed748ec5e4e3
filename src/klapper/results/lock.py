"""A lock that one process at a time holds on a folder.

The operating system releases the lock of a process that dies, however it dies; the file names the holder for the
message only. Where the file system has no locks, the holder's process number decides.
"""

from __future__ import annotations

import os
import socket
import stat
from contextlib import suppress
from pathlib import Path

from klapper.results.errors import ResultsError

try:
    import fcntl
except ImportError:  # systems without POSIX locks
    fcntl = None  # type: ignore[assignment]

# A link in a folder that somebody sent would have another file emptied; a pipe would be waited for.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class Lock:
    """Holds ``path`` from its making until :meth:`release`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = _acquire(path)
        os.truncate(self._handle, 0)
        os.write(self._handle, f"{os.getpid()} {socket.gethostname()}\n".encode())

    def release(self) -> None:
        """Give the lock back; a second time does nothing."""
        if self._handle is not None:
            with suppress(OSError):  # some systems keep a file that is open
                self.path.unlink()
            os.close(self._handle)
            self._handle = None


def _acquire(path: Path) -> int:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise ResultsError(f"{path} is no regular file: remove it.")
            if _busy(handle, path):
                raise ResultsError(
                    f"{path.parent} is being written by process {_holder(path) or '?'}: wait for it, or give another "
                    "folder."
                )
            if _same(handle, path):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _busy(handle: int, path: Path) -> bool:
    """Whether another process holds the lock; takes it if not."""
    if fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # a file system without locks
            return _alive(_holder(path))
        return False
    return _alive(_holder(path))


def _same(handle: int, path: Path) -> bool:
    """Whether ``path`` is still the file that was locked, and not one made after the holder removed it."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _holder(path: Path) -> str:
    """Process number and host that the lock file names, or an empty text."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip().replace(" ", " on ", 1)
    except OSError:
        return ""


def _alive(holder: str) -> bool:
    """Whether the holder runs; one on another machine is taken to run."""
    process, _, host = holder.partition(" on ")
    if not process.isdigit():
        return False
    if host != socket.gethostname():
        return True
    if int(process) == os.getpid() or os.name != "posix":
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
