"""Reads meshes by a process of its own, which may be ended by its limits or by what a file does to it.

The process (:mod:`klapper.doors.mesh_program`) is started when the first mesh is read and kept for the next ones.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from klapper.doors.errors import Unreadable

_PROGRAM = Path(__file__).with_name("mesh_program.py")
_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
_BY_LIMITS = (-getattr(signal, "SIGPROF", 0), -getattr(signal, "SIGKILL", 0))
_ONE_AT_A_TIME = Lock()


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of one ``type`` and dimension ``dim``: node numbers ``data`` (e, k)."""

    type: str
    dim: int
    data: np.ndarray


@dataclass(frozen=True, eq=False)
class MeshFile:
    """What a mesh file holds, every number in it checked against the others.

    ``points``      (n, 2) or (n, 3)
    ``cells``       blocks of cells
    ``cell_sets``   by name the numbers of cells in each block, None where there are none
    ``point_sets``  numbers of nodes by name
    ``names``       of physical groups by tag and dimension
    ``physical``    tags (e,) of the cells of each block, if the file has them
    """

    points: np.ndarray
    cells: tuple[Cells, ...]
    cell_sets: dict[str, list[np.ndarray | None]]
    point_sets: dict[str, np.ndarray]
    names: dict[tuple[int, int], str]
    physical: tuple[np.ndarray, ...]


def read_mesh_file(path: Path) -> MeshFile:
    """What a mesh file holds; :class:`Unreadable` says why it cannot be read."""
    request = json.dumps({"path": os.fspath(path.absolute())}).encode()
    with _ONE_AT_A_TIME:
        answer = _reader.ask(request)
    if answer[:1] != b"+":
        raise Unreadable(answer[1:].decode("utf-8", "replace").rstrip(". "))
    head, _, rest = answer[1:].partition(b"\n")
    return _checked(json.loads(head), rest)


class _Reader:
    """The process and its pipes."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def ask(self, request: bytes) -> bytes:
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(len(request).to_bytes(8, "little") + request)
            process.stdin.flush()
            head = process.stdout.read(8)
            answer = process.stdout.read(int.from_bytes(head, "little")) if len(head) == 8 else b""
        except BaseException:
            self.close()
            raise
        if not answer:
            raise Unreadable(
                "reading it takes more time or memory than a file of its size needs"
                if self.close() in _BY_LIMITS
                else "it ends the program that reads it"
            )
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._owner != os.getpid():
            self._process = None  # that of the process from which this one was forked
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            environment = {**os.environ, **dict.fromkeys(_THREADS, "1")}
            self._process = subprocess.Popen(
                [sys.executable, "-P", os.fspath(_PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,  # Ctrl-C is for this process
            )
            self._owner = os.getpid()
        return self._process

    def close(self) -> int | None:
        """End the process; how it ended, if by itself."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return None
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        with suppress(subprocess.TimeoutExpired):  # it ends at the end of its input
            return process.wait(1.0)
        process.kill()
        return process.wait()


_reader = _Reader()
atexit.register(_reader.close)


def _checked(head: dict[str, Any], rest: bytes) -> MeshFile:
    arrays, place = [], 0
    for kind, shape in head["arrays"]:
        size = int(np.prod(shape)) * 8
        arrays.append(np.frombuffer(rest[place : place + size], kind).reshape(shape))
        place += size
    points = arrays[head["points"]]
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise Unreadable("its points have no two or three coordinates")
    cells = tuple(Cells(kind, dim, arrays[number]) for kind, dim, number in head["cells"])
    for block in cells:
        if block.data.ndim != 2 or block.data.dtype.kind != "i":
            raise Unreadable(f"its cells of kind {block.type} are no rows of node numbers")
        _require_numbers(block.data, len(points), "a node")
    cell_sets = {
        name: [None if number is None else arrays[number] for number in blocks]
        for name, blocks in head["cell_sets"].items()
    }
    for blocks in cell_sets.values():
        if len(blocks) > len(cells):
            raise Unreadable("a set of cells has more blocks than the file")
        for block, numbers in zip(cells, blocks, strict=False):
            if numbers is not None:
                _require_numbers(numbers, len(block.data), "a cell")
    point_sets = {name: arrays[number] for name, number in head["point_sets"].items()}
    for numbers in point_sets.values():
        _require_numbers(numbers, len(points), "a node")
    physical = tuple(arrays[number] for number in head["physical"])
    if any(tags.shape != (len(block.data),) for tags, block in zip(physical, cells, strict=False)):
        raise Unreadable("its tags are not as many as its cells")
    if len(physical) > len(cells):
        raise Unreadable("its tags are not as many as its cells")
    names = {(tag, dimension): name for name, (tag, dimension) in head["field_data"].items()}
    return MeshFile(points, cells, cell_sets, point_sets, names, physical)


def _require_numbers(numbers: np.ndarray, count: int, what: str) -> None:
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < count:
        raise Unreadable(f"it names {what} that it does not hold")
