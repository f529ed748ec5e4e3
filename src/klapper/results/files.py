"""A run, or a part of one with its restart snapshot, as HDF5.

samples/…     the arrays of the samples, each with its unit and meaning as attributes, compressed
loaded/…      the log of the loaded contacts, if the run has one
layout        JSON: what the columns mean
about         JSON: where the run comes from
snapshot/…    (parts only) the state from which the computation goes on
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.doors.hdf5 import Dataset, Group, Hdf5, TooLarge
from klapper.doors.json import parse_json
from klapper.results.container import open_container, write_container
from klapper.results.errors import ResultsError
from klapper.results.run import Run
from klapper.results.samples import LOADED_MEANING, MEANING, Layout, Loaded, Samples, layout_shapes

if TYPE_CHECKING:
    import h5py

_CHUNK_BYTES = 2**19
_STORED_TYPES = "biufc"


def write_run(path: Path, run: Run, *, fingerprint: str = "") -> Path:
    """Write a run, whole or not at all."""

    def fill(file: h5py.File, packed: bool) -> None:
        _put_text(file, "layout", asdict(run.layout))
        _put_text(file, "about", run.about)
        _put_text(file, "fingerprint", fingerprint)
        _put_samples(file, run.samples, packed)

    write_container(path, "run", fill)
    return path


def read_run(path: Path, *, large: bool = False) -> Run:
    """The run in a file; ``large``: also if it unpacks to more than its size makes plausible."""
    with open_container(path, "run", large=large) as file:
        layout = layout_from(_text(file.root, "layout"))
        return Run(layout, _samples(file, layout), _text(file.root, "about"))


def read_fingerprint(path: Path) -> str:
    """The fingerprint of the run in a file; empty if it was saved without one."""
    with open_container(path, "run") as file:
        return str(_text(file.root, "fingerprint"))


def write_part(path: Path, origin: Mapping[str, Any], samples: Samples, snapshot: Mapping[str, Any]) -> None:
    """Write a part: which one of which run it is, its samples, and the state after them."""
    entries, arrays = _sorted_out(snapshot)

    def fill(file: h5py.File, packed: bool) -> None:
        _put_text(file, "origin", origin)
        _put_samples(file, samples, packed)
        group = file.create_group("snapshot")
        _put_text(group, "entries", entries)
        for number, array in enumerate(arrays):
            _put_array(group, f"array {number}", array, packed=packed)

    write_container(path, "part", fill, free=0)  # a folder holds many, which are read together


def read_part(
    path: Path, layout: Layout, *, allowed: float = math.inf
) -> tuple[dict[str, Any], Samples, dict[str, Any], int]:
    """Origin, samples and snapshot of a part, and the bytes that they take, of which ``allowed`` may be."""
    with open_container(path, "part", large=True) as file:
        file.allowed = allowed
        found = _text(file.root, "origin"), _samples(file, layout), _snapshot(file.root.group("snapshot"))
        return *found, int(allowed - file.allowed) if math.isfinite(allowed) else 0


def layout_from(content: Mapping[str, Any]) -> Layout:
    """The layout that was stored as JSON."""
    return Layout(**content)


def _put_samples(file: h5py.File, samples: Samples, packed: bool) -> None:
    group = file.create_group("samples")
    for name, meaning in MEANING.items():
        _put_array(group, name, getattr(samples, name), meaning, packed=packed)
    if samples.loaded is not None:
        group = file.create_group("loaded")
        for name, meaning in LOADED_MEANING.items():
            _put_array(group, name, getattr(samples.loaded, name), meaning, packed=packed)


def _samples(file: Hdf5, layout: Layout) -> Samples:
    """The samples, if their shapes are those of the layout and of each other; nothing is read before."""
    group = file.root.group("samples")
    stored = {name: group.dataset(name) for name in MEANING}
    (count,) = _shape(stored, "time", (None,))
    for name, shape in layout_shapes(layout).items():
        _shape(stored, name, (count, *shape))
    if "loaded" not in file.root:
        return Samples(*_arrays(file, stored))
    log = file.root.group("loaded")
    logged = {name: log.dataset(name) for name in LOADED_MEANING}
    (entries,) = _shape(logged, "contact", (None,))
    for name in LOADED_MEANING:
        columns = (1 + layout.tangential,) if name == "impulse" else ()
        _shape(logged, name, (count + 1,) if name == "start" else (entries, *columns))
    arrays = _arrays(file, stored | {f"loaded {name}": each for name, each in logged.items()})
    return Samples(*arrays[: len(stored)], loaded=Loaded(*arrays[len(stored) :]))


def _shape(stored: Mapping[str, Dataset], name: str, wanted: tuple[int | None, ...]) -> tuple[int, ...]:
    """The shape of an array, if it is the wanted one, where None is any length."""
    shape = stored[name].shape
    if len(shape) != len(wanted) or any(b not in (None, a) for a, b in zip(shape, wanted, strict=True)):
        words = ", ".join("any" if length is None else str(length) for length in wanted)
        raise ResultsError(f"'{name}' has the shape {shape}; time and layout of the run ask for ({words})")
    if stored[name].dtype.kind not in _STORED_TYPES:
        raise ResultsError(f"'{name}' holds no numbers")
    return shape


def _arrays(file: Hdf5, stored: Mapping[str, Dataset]) -> list[np.ndarray]:
    """All of them, if together they are not more than is allowed."""
    if sum(each.size for each in stored.values()) > file.allowed:
        raise TooLarge("its samples unpack to more than its size allows")
    return [each.read() for each in stored.values()]


def _put_array(
    group: h5py.Group,
    name: str,
    array: np.ndarray,
    meaning: tuple[str, str] | None = None,
    *,
    packed: bool = True,
) -> None:
    options: dict[str, Any] = {}
    if array.size > 1 and packed:
        row = array[:1].nbytes
        rows = max(1, min(len(array), _CHUNK_BYTES // row))
        options = {
            "chunks": (rows, *array.shape[1:]),
            "compression": "gzip",
            "compression_opts": 1,
            "shuffle": True,
        }
    stored = group.create_dataset(name, data=array, **options)
    if meaning is not None:
        stored.attrs["units"], stored.attrs["description"] = meaning


def _put_text(group: h5py.Group, name: str, content: Any) -> None:
    """JSON as a text of fixed length, in ASCII."""
    group.create_dataset(name, data=np.bytes_(json.dumps(content).encode("ascii")))


def _text(group: Group, name: str) -> Any:
    stored = group.dataset(name)
    if stored.shape or stored.dtype.kind != "S":
        raise TypeError(f"'{name}' is no text")
    return parse_json(bytes(stored.read()[()]), most=stored.size)


def _sorted_out(snapshot: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[np.ndarray]]:
    """The entries of a snapshot: texts and whole numbers by value, arrays and numbers by their place in a list."""
    entries: list[dict[str, Any]] = []
    arrays: list[np.ndarray] = []
    for name, value in snapshot.items():
        kind = _kind(name, value)
        if kind in ("array", "scalar", "float"):
            entries.append({"name": name, "kind": kind, "array": len(arrays)})
            arrays.append(np.asarray(value))
        else:
            entries.append({"name": name, "kind": kind, "value": value})
    return entries, arrays


def _kind(name: str, value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind not in _STORED_TYPES or value.dtype.itemsize > 16:
            raise ResultsError(
                f"'{name}' of a snapshot has type {value.dtype}: give numbers or truth values."
            )
        return "array" if isinstance(value, np.ndarray) else "scalar"
    for kind in (bool, int, float, str):
        if type(value) is kind:
            return kind.__name__
    raise ResultsError(
        f"'{name}' of a snapshot is a {type(value).__name__}: give arrays, numbers, truth values or texts."
    )


def _snapshot(group: Group) -> dict[str, Any]:
    snapshot: dict[str, Any] = {}
    for entry in _text(group, "entries"):
        if entry["kind"] not in ("array", "scalar", "float"):
            snapshot[entry["name"]] = entry["value"]
            continue
        value = group.dataset(f"array {entry['array']}").read()
        if value.dtype.kind not in _STORED_TYPES or (value.ndim and entry["kind"] != "array"):
            raise TypeError(f"{entry['name']} is no number")
        if entry["kind"] == "float" and np.iscomplexobj(value):
            raise TypeError(f"{entry['name']} is no real number")
        if entry["kind"] != "array":
            value = value[()]
        snapshot[entry["name"]] = float(value) if entry["kind"] == "float" else value
    return snapshot
