"""Machine code of users' functions on disk, shared by processes.

One file per function and signature, named by what it was made from, so that a file is never stale: another code,
constant or version has another name. Files are written beside and moved into place, and a folder that cannot be
written costs nothing but compiling again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import stat
import sys
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numba.core import compiler
from numba.core.caching import NullCache
from numba.core.serialize import dumps

_MOST = 4000
"""Files that are kept; beyond, the older half goes. Some 20 kB each: less than 100 MB."""


class MachineCode(NullCache):  # type: ignore[misc]
    """What numba asks for machine code before it compiles a function, and gives it afterwards; ``key`` names it."""

    def __init__(self, key: str) -> None:
        self._key = key

    @property
    def cache_path(self) -> str | None:
        folder = _folder()
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        stored = _read(self._name(sig, target_context.codegen()))
        if stored is None:
            return None
        try:
            return compiler.CompileResult._rebuild(target_context, *pickle.loads(stored))
        except Exception:  # a damaged file: compile again, which writes it anew
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if not (data.lifted or data.library.has_dynamic_globals):
            _write(self._name(sig, data.codegen), dumps(data._reduce()))

    def _name(self, signature: Any, codegen: Any) -> str:
        machine = hashlib.sha256(f"{signature} {codegen.magic_tuple()}".encode()).hexdigest()[:16]
        return f"{self._key}-{machine}.code"


def without_machine_code(key: str, reason: str | None = None) -> str | None:
    """Why there is no machine code of that name, if that is known; or note the ``reason``."""
    if reason is not None:
        _write(f"{key}.reason", reason.encode())
        return reason
    known = _read(f"{key}.reason")
    return None if known is None else known.decode()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without warnings of a compiler, which nobody can act on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _read(name: str) -> bytes | None:
    folder = _folder()
    if folder is None:
        return None
    try:
        return (folder / name).read_bytes()
    except OSError:
        return None


def _write(name: str, content: bytes) -> None:
    folder = _folder()
    if folder is None:
        return
    beside = folder / f"{name}.{uuid.uuid4().hex[:12]}"
    try:
        beside.write_bytes(content)
        os.replace(beside, folder / name)
        _clear(folder)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()


def _clear(folder: Path) -> None:
    files = list(folder.iterdir())
    if len(files) > _MOST:
        files.sort(key=lambda file: file.stat().st_mtime)
        for file in files[: len(files) // 2]:
            with contextlib.suppress(OSError):
                file.unlink()


def _folder() -> Path | None:
    """The folder of this user, made if need be; None if there is none that only this user can write."""
    return _private(os.environ.get("KLAPPER_CACHE") or _usual())


@functools.lru_cache(maxsize=8)
def _private(place: str) -> Path | None:
    folder = Path(place) / "machine_code"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError:
        return None
    if hasattr(os, "getuid") and (
        found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    ):  # the files hold code: nobody else may have written them
        return None
    return folder


def _usual() -> str:
    """Where programs of a user keep what they can make again."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA") or home, "klapper", "cache")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", "klapper")
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache"), "klapper")
