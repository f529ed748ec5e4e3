"""The program that reads mesh files: run by :mod:`klapper.doors.helper` as a process of its own, never imported.

meshio reads many formats, believes what a file declares, and opens what a file names. Here it has limits of memory and
of processor time, and opens regular files below the folder of the mesh only. An audit hook of Python sees to that; the
HDF5 library (.med, .xdmf) does not ask Python, so it gets the bytes of a file, and from then on the system opens no
file for this process. Messages are a length of 8 bytes and that many bytes: the request is JSON, the answer a line of
JSON and the arrays that it describes.
"""

import json
import os
import stat
import sys
import xml.etree.ElementTree  # noqa: F401  (readers import these when they are called)
import zlib  # noqa: F401
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import BytesIO, StringIO
from typing import Any
from urllib.parse import unquote

os.environ["HDF5_PLUGIN_PRELOAD"] = "::"  # its library loads no filters from elsewhere; read when it starts

import h5py
import meshio
import numpy as np
from meshio import _helpers as meshio_messages
from meshio.abaqus._abaqus import abaqus_to_meshio_type

try:
    import lzma  # noqa: F401
    import resource
    import signal
except ImportError:  # systems without limits
    resource = None  # type: ignore[assignment]

FREE, TIMES = 250_000_000, 30  # bytes that reading may take: so many, and so many times the size of the file
SECONDS, PER_BYTE = 3.0, 1e-5  # of processor time, more than ten times what readers of text take
LARGEST = 256_000_000  # bytes of a file
meshio_messages.error = print  # its own would open files of another library to colour the text
SURFACE = "surface:"  # begin of the name of cell data that mark the facets of a surface
abaqus_to_meshio_type.update(  # plane elements that meshio leaves out; "H", "I", "M", "R" are variants in Abaqus only
    {
        f"{plane}{nodes}{variant}": shape
        for plane in ("CPE", "CPS")
        for nodes, shape in (("3", "triangle"), ("4", "quad"), ("6", "triangle6"), ("8", "quad8"))
        for variant in ("", "H", "I", "IH", "M", "MH", "R", "RH")
    }
)
_HARMLESS = (
    "object.",
    "sys.",
    "marshal.",
    "compile",
    "exec",
    "code.",
    "cpython.",
    "array.",
    "builtins.id",
    "import",
    "resource.",
)


class _Folder:
    """An audit hook that refuses to open what is not below ``path``, and everything that is more than opening."""

    path = ""

    def __call__(self, event: str, arguments: tuple) -> None:
        if not self.path or event.startswith(_HARMLESS):
            return
        if event == "open":
            self._require(arguments[0], arguments[2] if len(arguments) > 2 else 0)
        elif event not in ("os.listdir", "os.scandir", "tempfile.mkstemp") or event.startswith(
            ("os.", "socket")
        ):
            raise PermissionError(f"reading a mesh does not need {event}")

    def _require(self, name: object, flags: object) -> None:
        if isinstance(name, int):
            return
        file = os.path.realpath(os.fsdecode(name))  # type: ignore[arg-type]
        if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR):
            raise PermissionError("reading a mesh writes nothing")
        if not file.startswith(self.path + os.sep):
            raise PermissionError(f"it names {os.path.basename(file)!r}, which is not in its folder")
        state = os.stat(file)
        if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST:
            raise PermissionError(f"{os.path.basename(file)!r} is no regular file of at most 256 MB")


def limited(size: int) -> None:
    """Limits for a file of ``size`` bytes, counted from now on; beyond them the system ends this process."""
    if resource is None:
        return
    with open("/proc/self/statm") if os.path.exists("/proc/self/statm") else StringIO("0") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    if taken:
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (taken + FREE + TIMES * size, hard))
    signal.setitimer(signal.ITIMER_PROF, SECONDS + PER_BYTE * size)


def extended(size: int) -> None:
    """The limits with those of another file of ``size`` bytes."""
    memory, hard = resource.getrlimit(resource.RLIMIT_AS)
    if memory != hard:
        resource.setrlimit(resource.RLIMIT_AS, (memory + TIMES * size, hard))
    signal.setitimer(signal.ITIMER_PROF, signal.getitimer(signal.ITIMER_PROF)[0] + PER_BYTE * size)


def require_inside(name: str, entry: Any) -> None:
    """Refuse an array whose numbers lie elsewhere: the library would take zeros for those that it cannot open."""
    if isinstance(entry, h5py.Dataset) and (entry.external or entry.is_virtual):
        raise PermissionError(f"the data of {name!r} is in another file")


@contextmanager
def hdf5_from_memory(name: str) -> Iterator[None]:
    """Within, ``h5py.File`` reads the bytes of a file, and the system opens nothing after it: no link leads out."""
    known: dict[str, bytes] = {}
    before = h5py.File
    whole = (0, 0) if resource is None else resource.getrlimit(resource.RLIMIT_NOFILE)

    def content_of(path: str) -> bytes:
        with open(path, "rb") as stream:
            if path != os.path.realpath(name):
                extended(os.fstat(stream.fileno()).st_size)
            return stream.read()

    def from_memory(given: Any, mode: str = "r") -> h5py.File:
        if resource is None:
            raise PermissionError("this system cannot confine the HDF5 library: convert it to .vtu")
        resource.setrlimit(resource.RLIMIT_NOFILE, whole)
        path = os.path.realpath(given)
        known[path] = known.get(path) or content_of(path)
        lowest = os.dup(0)
        os.close(lowest)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, whole[1]))
        file = before(BytesIO(known[path]), "r")
        file.visititems(require_inside)
        return file

    h5py.File = from_memory
    try:
        yield
    finally:
        h5py.File = before
        if resource is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, whole)


def read(name: str) -> bytes:
    """The answer for a file."""
    with redirect_stdout(StringIO()) as said, redirect_stderr(said), hdf5_from_memory(name):
        try:
            mesh = meshio.read(name)
        except SystemExit as error:  # what meshio says instead of raising
            raise ValueError(" ".join(said.getvalue().split()) or "its reader gave up") from error
    name_families(mesh)
    name_surfaces(mesh)
    arrays: list[np.ndarray] = []

    def add(given: object) -> int:
        array = np.ascontiguousarray(given)
        if array.dtype.kind not in "iuf" or not np.all(np.isfinite(array)):
            raise ValueError("it holds what is no finite number")
        arrays.append(array.astype(float if array.dtype.kind == "f" else np.int64))
        return len(arrays) - 1

    physical = mesh.cell_data.get("gmsh:physical", [])
    content = {
        "points": add(np.asarray(mesh.points, dtype=float)),
        "cells": [[block.type, int(block.dim), add(block.data)] for block in mesh.cells],
        "cell_sets": {
            str(key): [None if n is None else add(np.asarray(n, dtype=np.int64)) for n in blocks]
            for key, blocks in mesh.cell_sets.items()
        },
        "point_sets": {
            str(key): add(np.asarray(nodes, dtype=np.int64)) for key, nodes in mesh.point_sets.items()
        },
        "field_data": {
            str(key): [int(value[0]), int(value[1])]
            for key, value in mesh.field_data.items()
            if len(value) == 2
        },
        "physical": [add(tags) for tags in physical],
    }
    content["arrays"] = [[array.dtype.str, array.shape] for array in arrays]
    answer = BytesIO()
    answer.write(json.dumps(content).encode() + b"\n")
    for array in arrays:
        answer.write(array.tobytes())
    return answer.getvalue()


def name_families(mesh: Any) -> None:
    """Groups of a MED file as sets: it numbers families of cells and nodes, each of which is in groups by name."""
    for tags, sets, families in (
        (mesh.cell_data.get("cell_tags", []), mesh.cell_sets, getattr(mesh, "cell_tags", {})),
        (mesh.point_data.get("point_tags"), mesh.point_sets, getattr(mesh, "point_tags", {})),
    ):
        numbers: dict[str, list[int]] = {}
        for number, names in families.items():
            for name in names:
                numbers.setdefault(name, []).append(number)
        for name, listed in numbers.items():
            if isinstance(tags, list):
                sets[name] = [np.flatnonzero(np.isin(of_block, listed)) for of_block in tags]
            elif tags is not None:
                sets[name] = np.flatnonzero(np.isin(tags, listed))


def name_surfaces(mesh: Any) -> None:
    """Surfaces that cell data mark, as sets; see ``klapper.continuum.write_mesh``."""
    for name, blocks in mesh.cell_data.items():
        if name.startswith(SURFACE):
            sets = [np.flatnonzero(np.asarray(marks).reshape(-1)) for marks in blocks]
            mesh.cell_sets[unquote(name.removeprefix(SURFACE))] = sets


def answered(request: dict, folder: _Folder) -> bytes:
    name = request["path"]
    try:
        size = os.stat(name).st_size
        limited(size)
        folder.path = os.path.dirname(os.path.realpath(name))
        return b"+" + read(name)
    except (Exception, SystemExit) as error:  # readers fail in many ways on damaged files
        reason = (
            "it takes too much memory" if isinstance(error, MemoryError) else " ".join(str(error).split())
        )
        return b"-" + (reason or type(error).__name__)[:300].encode("utf-8", "replace")
    finally:
        folder.path = ""
        if resource is not None:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            resource.setrlimit(resource.RLIMIT_AS, (resource.getrlimit(resource.RLIMIT_AS)[1],) * 2)


def main() -> None:
    """Answer requests until there are no more."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what readers print does not disturb the answers
    folder = _Folder()
    sys.addaudithook(folder)
    while len(head := requests.read(8)) == 8:
        answer = answered(json.loads(requests.read(int.from_bytes(head, "little"))), folder)
        answers.write(len(answer).to_bytes(8, "little") + answer)
        answers.flush()


if __name__ == "__main__":
    main()
