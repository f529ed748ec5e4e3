"""A run, or a part of one with its restart snapshot, as HDF5.

samples/…     the arrays of the samples, each with its unit and meaning as attributes, compressed
loaded/…      the log of the loaded contacts, if the run has one
layout        JSON: what the columns mean
about         JSON: where the run comes from
snapshot/…    (parts only) the state from which the computation goes on
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.results.container import open_container, write_container
from klapper.results.errors import ResultsError
from klapper.results.run import Run
from klapper.results.samples import LOADED_MEANING, MEANING, Layout, Loaded, Samples

if TYPE_CHECKING:
    import h5py

_CHUNK_BYTES = 2**19
_STORED_TYPES = "biufc"


def write_run(path: Path, run: Run, *, fingerprint: str = "") -> Path:
    """Write a run, whole or not at all."""

    def fill(file: h5py.File) -> None:
        _put_text(file, "layout", asdict(run.layout))
        _put_text(file, "about", run.about)
        _put_text(file, "fingerprint", fingerprint)
        _put_samples(file, run.samples)

    write_container(path, "run", fill)
    return path


def read_run(path: Path) -> Run:
    """The run in a file."""
    with open_container(path, "run") as file:
        return Run(layout_from(_text(file, "layout")), _samples(file), _text(file, "about"))


def read_fingerprint(path: Path) -> str:
    """The fingerprint of the run in a file; empty if it was saved without one."""
    with open_container(path, "run") as file:
        return str(_text(file, "fingerprint"))


def write_part(path: Path, origin: Mapping[str, Any], samples: Samples, snapshot: Mapping[str, Any]) -> None:
    """Write a part: which one of which run it is, its samples, and the state after them."""
    entries, arrays = _sorted_out(snapshot)

    def fill(file: h5py.File) -> None:
        _put_text(file, "origin", origin)
        _put_samples(file, samples)
        group = file.create_group("snapshot")
        _put_text(group, "entries", entries)
        for number, array in enumerate(arrays):
            _put_array(group, f"array {number}", array)

    write_container(path, "part", fill)


def read_part(path: Path) -> tuple[dict[str, Any], Samples, dict[str, Any]]:
    """Origin, samples and snapshot of a part."""
    with open_container(path, "part") as file:
        return _text(file, "origin"), _samples(file), _snapshot(file["snapshot"])


def layout_from(content: Mapping[str, Any]) -> Layout:
    """The layout that was stored as JSON."""
    return Layout(**content)


def _put_samples(file: h5py.File, samples: Samples) -> None:
    group = file.create_group("samples")
    for name, meaning in MEANING.items():
        _put_array(group, name, getattr(samples, name), meaning)
    if samples.loaded is not None:
        group = file.create_group("loaded")
        for name, meaning in LOADED_MEANING.items():
            _put_array(group, name, getattr(samples.loaded, name), meaning)


def _samples(file: h5py.File) -> Samples:
    arrays = [file["samples"][name][()] for name in MEANING]
    if "loaded" not in file:
        return Samples(*arrays)
    return Samples(*arrays, loaded=Loaded(*(file["loaded"][name][()] for name in LOADED_MEANING)))


def _put_array(
    group: h5py.Group, name: str, array: np.ndarray, meaning: tuple[str, str] | None = None
) -> None:
    options: dict[str, Any] = {}
    if array.size > 1:
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


def _text(group: h5py.Group, name: str) -> Any:
    stored = group[name][()]
    if not isinstance(stored, bytes):
        raise TypeError(f"{name} is no text")
    return json.loads(stored)


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


def _snapshot(group: h5py.Group) -> dict[str, Any]:
    snapshot: dict[str, Any] = {}
    for entry in _text(group, "entries"):
        if entry["kind"] not in ("array", "scalar", "float"):
            snapshot[entry["name"]] = entry["value"]
            continue
        value = group[f"array {entry['array']}"][()]
        if entry["kind"] == "array":
            value = np.asarray(value)
        elif entry["kind"] == "float" and np.iscomplexobj(value):
            raise TypeError(f"{entry['name']} is no real number")
        snapshot[entry["name"]] = float(value) if entry["kind"] == "float" else value
    return snapshot
