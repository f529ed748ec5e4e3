"""Machine code on disk, shared by processes and by copies of the package.

    @njit(cache=True)        as numba's, but for where the machine code is kept and when it is taken

One file per function and signature, named by what it was made from: the code of the function and of all that it calls,
the constants that they read, the options, the processor and the versions of what compiles. Other code has another name,
so that a file is never stale, whoever wrote it when, and two copies of the package with the same kernels share them.
(numba itself looks at the time of the file that a function stands in, and does not notice when a function that it
calls, or a constant that it reads, changes in another file.)

Files are written beside and moved into place, so that processes may write at once. They lie in a folder of the user,
``KLAPPER_CACHE`` or the usual one for caches; before, the folder ``machine_code`` of the package is looked into, which
an installation may bring along. A folder that cannot be written costs nothing but compiling again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import re
import stat
import sys
import types
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba.core import compiler, config
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps
from numba.core.typing import Signature

_PACKAGE = Path(__file__).parent
_NAME = "machine_code"
_MOST = 500_000_000
"""Bytes that are kept; beyond, the half that was not used for longest goes. The package with all its kernels takes some
200 MB, a function of a user 20 to 100 kB."""


if TYPE_CHECKING:
    from numba import njit
else:

    def njit(function: Any = None, **options: Any) -> Any:
        """``numba.njit``; with ``cache=True`` the machine code is kept as this file says."""
        if function is None:
            return functools.partial(njit, **options)
        kept = options.pop("cache", False)
        made = numba.njit(**options)(function)
        if kept:
            made._cache = MachineCode(functools.partial(key_of, made))
        return made


class MachineCode(NullCache):  # type: ignore[misc]
    """What numba asks for machine code before it compiles a function, and gives it afterwards.

    ``key``  names it, or a function that gives the name when it is needed; None: the code is not kept
    """

    def __init__(self, key: str | Callable[[], str | None]) -> None:
        self._given = key

    @functools.cached_property
    def _key(self) -> str | None:
        return self._given if isinstance(self._given, str) else self._given()

    @property
    def cache_path(self) -> str | None:
        folder = _folder()
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        stored = None if self._key is None else _read(self._name(sig, target_context.codegen()))
        if stored is None:
            return None
        try:
            return compiler.CompileResult._rebuild(target_context, *pickle.loads(stored))
        except Exception:  # a damaged file: compile again, which writes it anew
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if self._key is not None and not (data.lifted or data.library.has_dynamic_globals):
            _write(self._name(sig, data.codegen), dumps(data._reduce()))

    def _name(self, signature: Any, codegen: Any) -> str:
        machine = hashlib.sha256(f"{signature} {codegen.magic_tuple()}".encode()).hexdigest()[:16]
        return f"{self._key}-{machine}.code"


class _Unknown(Exception):
    """Something that cannot be named by what it is made from."""


def key_of(function: Dispatcher) -> str | None:
    """A name for all that goes into the machine code of a function; None if that cannot be told."""
    found: dict[int, str] = {}
    left = [function]
    try:
        while left:
            one = left.pop()
            if id(one) not in found:
                found[id(one)], called = _own(one)
                left.extend(called)
    except _Unknown:
        return None
    return _hashed(compilers(), *sorted(found.values()))[:40]


_known: dict[int, tuple[Any, str, list[Dispatcher]]] = {}


def _own(function: Dispatcher) -> tuple[str, list[Dispatcher]]:
    """A hash of the code of a function with its options and constants, and the functions that it calls."""
    known = _known.get(id(function))
    if known is None:
        called: list[Dispatcher] = []
        python = function.py_func
        told = [f"{python.__module__}.{python.__qualname__}", *_told(function.targetoptions, called)]
        told += _told_function(python, called)
        known = _known[id(function)] = function, _hashed(*told), called
    return known[1], known[2]


def _told_function(function: Any, called: list[Dispatcher]) -> Iterator[str]:
    yield from _told(function.__code__, called)
    yield from _told((function.__defaults__, function.__kwdefaults__), called)
    for cell in function.__closure__ or ():
        yield from _told(cell.cell_contents, called)
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            yield name
            yield from _told(function.__globals__[name], called)


def _names(code: types.CodeType) -> set[str]:
    """All names that code, and code inside it, may read; among them those of globals."""
    inside = (_names(part) for part in code.co_consts if isinstance(part, types.CodeType))
    return set(code.co_names).union(*inside)


def _told(value: Any, called: list[Dispatcher]) -> Iterator[str]:
    """Texts that differ for values that make different machine code; functions that are called go into ``called``."""
    kind = type(value)
    if isinstance(value, Dispatcher):
        called.append(value)
        yield f"calls {value.py_func.__module__}.{value.py_func.__qualname__}"
    elif isinstance(value, types.CodeType):
        flags = value.co_flags & (
            0x04 | 0x08 | 0x20
        )  # *names, **names, a generator; a profiler changes others
        yield f"code {value.co_name} {value.co_code.hex()} {value.co_names} {value.co_varnames} {value.co_freevars}"
        yield f"{value.co_cellvars} {value.co_argcount} {value.co_kwonlyargcount} {flags}"
        yield value.co_exceptiontable.hex()
        for part in value.co_consts:
            yield from _told(part, called)
    elif (
        value is None
        or kind in (bool, int, str, bytes, float, complex, np.dtype)
        or isinstance(value, np.generic)
    ):
        yield f"{kind.__name__} {value!r}"
    elif kind in (tuple, list):
        yield f"{kind.__name__} {len(value)}"
        for part in value:
            yield from _told(part, called)
    elif kind in (set, frozenset):
        yield f"set {sorted(' '.join(_told(part, called)) for part in value)}"
    elif kind is dict:
        yield f"dict {len(value)}"
        for key in sorted(value, key=repr):
            yield from _told((key, value[key]), called)
    elif isinstance(value, np.ndarray):
        yield f"array {value.dtype.str} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif isinstance(value, numba.types.Type | Signature):
        yield f"type {value}"
    else:
        yield _told_object(value)


def _told_object(value: Any) -> str:
    """Modules, classes and functions: those of the package by the text of their files, others by their name."""
    module = (
        value
        if isinstance(value, types.ModuleType)
        else sys.modules.get(getattr(value, "__module__", None) or "")
    )
    name = getattr(value, "__qualname__", getattr(value, "__name__", None))
    if name is None or (module is None and not isinstance(value, types.BuiltinFunctionType | np.ufunc)):
        raise _Unknown(repr(value))
    told = f"{type(value).__name__} {getattr(module, '__name__', '')}.{name}"
    if module is None or not module.__name__.startswith("klapper."):
        return told
    if isinstance(value, type) and hasattr(value, "_fields"):  # a group of values: it has no code
        return f"{told} {value._fields}"
    return f"{told} {_hashed(*(_text(file) for file in sorted(_files(Path(str(module.__file__))))))}"


@functools.cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


_IMPORT = re.compile(r"^\s*(?:from|import) (klapper[\w.]*)(?: import \(?([\w, ]*))?", re.MULTILINE)


@functools.cache
def _files(file: Path) -> frozenset[Path]:
    """A file of the package and those that it imports, with all that these import."""
    found, left = set[Path](), [file]
    while left:
        one = left.pop()
        if one in found:
            continue
        found.add(one)
        for module, names in _IMPORT.findall(_text(one)):
            place = _PACKAGE.joinpath(*module.split(".")[1:])
            named = [place / name.strip() for name in names.split(",") if name.strip()]
            for each in (place, *named):
                left += [path for path in (each.with_suffix(".py"), each / "__init__.py") if path.is_file()]
            if not named and place.is_dir():  # names on lines of their own: any file of the folder
                left += place.glob("*.py")
    return frozenset(found)


@functools.cache
def compilers() -> str:
    """Versions and settings of all that turns functions into machine code."""
    import platform

    import llvmlite

    names = (
        "OPT",
        "LOOP_VECTORIZE",
        "SLP_VECTORIZE",
        "BOUNDSCHECK",
        "DEBUGINFO_DEFAULT",
        "CPU_NAME",
        "CPU_FEATURES",
    )
    settings = [f"{name} {getattr(config, name, None)}" for name in names]
    versions = (platform.python_version(), numba.__version__, llvmlite.__version__, np.__version__)
    return " ".join((*versions, *settings))


def _hashed(*texts: str) -> str:
    found = hashlib.sha256()
    for text in texts:
        found.update(text.encode("utf-8", "surrogatepass"))
        found.update(b"\0")
    return found.hexdigest()


def without_machine_code(key: str, reason: str | None = None) -> str | None:
    """Why there is no machine code of that name, if that is known; or note the ``reason``."""
    if reason is not None:
        _write(f"{key}.reason", reason.encode())
        return reason
    known = _read(f"{key}.reason")
    return None if known is None else known.decode()


@contextlib.contextmanager
def kept_in_package() -> Iterator[None]:
    """Within, machine code is written into the installed package, for everybody who uses it."""
    folder = _PACKAGE / _NAME
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    before = os.environ.get("KLAPPER_CACHE")
    os.environ["KLAPPER_CACHE"] = str(_PACKAGE)
    try:
        yield
    finally:
        del os.environ["KLAPPER_CACHE"]
        if before is not None:
            os.environ["KLAPPER_CACHE"] = before


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without warnings of a compiler, which nobody can act on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _read(name: str) -> bytes | None:
    for folder in (_PACKAGE / _NAME, _folder()):
        if folder is not None:
            with contextlib.suppress(OSError):
                content = (folder / name).read_bytes()
                with contextlib.suppress(OSError):
                    os.utime(folder / name)  # it was used
                return content
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
    with os.scandir(folder) as entries:
        files = [(entry.stat().st_mtime, entry.stat().st_size, entry.path) for entry in entries]
    size = sum(file[1] for file in files)
    if size <= _MOST:
        return
    for _, bytes_, path in sorted(files):
        with contextlib.suppress(OSError):
            os.unlink(path)
        size -= bytes_
        if size <= _MOST // 2:
            return


def _folder() -> Path | None:
    """The folder of this user, made if need be; None if there is none that only this user can write."""
    return _private(os.environ.get("KLAPPER_CACHE") or _usual())


@functools.lru_cache(maxsize=8)
def _private(place: str) -> Path | None:
    folder = Path(place) / _NAME
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
