"""What a folder holds: stored runs, results of examples, scenarios and studies, the newest first.

Folders are walked to a few levels without following links; hidden ones are left out. What an entry is, is seen from
names and from the first bytes of a file, so that listing stays fast; how it is judged is asked for one by one
(:mod:`~klapper.studio.glance`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from klapper.doors import Unreadable
from klapper.doors.files import opened
from klapper.doors.toml import read_toml
from klapper.results.store import HEADER, RUN
from klapper.studies.store import FILE
from klapper.studio.place import Root

Kind = Literal["run", "result", "scenario", "study", "store"]
DEEPEST, MOST_FOLDERS, MOST_ENTRIES = 5, 5000, 1000
RUNS = "runs"  # of an example, in the folder of its result
_LEFT_OUT = {"__pycache__", "node_modules", "site-packages"}


@dataclass(frozen=True)
class Entry:
    """``path`` is relative to the folder, ``when`` it was last written [s since 1970]."""

    kind: Kind
    path: str
    when: float


@dataclass(frozen=True)
class Listing:
    entries: tuple[Entry, ...]
    complete: bool


def listing(root: Root) -> Listing:
    """All entries below the folder."""
    found: list[Entry] = []
    folders = 0
    for folder, names in _folders(root.path):
        folders += 1
        if folders > MOST_FOLDERS or len(found) > MOST_ENTRIES:
            break
        found += _entries(root, folder, names)
    described = {_store_of(root, entry.path) for entry in found if entry.kind == "study"}
    found = [entry for entry in found if entry.kind != "store" or entry.path not in described]
    newest = sorted(found, key=lambda entry: (-entry.when, entry.path))
    return Listing(tuple(newest[:MOST_ENTRIES]), folders <= MOST_FOLDERS and len(found) <= MOST_ENTRIES)


def kind_of(root: Root, name: str) -> Kind | None:
    """What one path is, None if it is nothing that the studio shows."""
    path = root.existing(name)
    folder = path if path.is_dir() else path.parent
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return None
    wanted = root.name(path)
    return next((entry.kind for entry in _entries(root, folder, names) if entry.path == wanted), None)


def _folders(top: Path) -> Iterator[tuple[Path, list[str]]]:
    for folder, below, names in os.walk(top, followlinks=False):
        place = Path(folder)
        deep = len(place.relative_to(top).parts)
        left_out = _LEFT_OUT | ({RUNS} if "result.json" in names else set())
        below[:] = (
            sorted(n for n in below if not n.startswith(".") and n not in left_out) if deep < DEEPEST else []
        )
        yield place, sorted(names)


def _entries(root: Root, folder: Path, names: list[str]) -> Iterator[Entry]:
    name = root.name(folder)
    held = set(names)
    if held & {RUN, HEADER}:
        yield Entry("run", name, _newest(folder, [n for n in names if n.endswith((".h5", HEADER))]))
    elif "result.json" in held:
        yield Entry("result", name, _newest(folder, ["result.json"]))
    if FILE in held:
        yield Entry("store", name, _newest(folder, [FILE, f"{FILE}-wal"]))
    copied = "scenario.toml" if held & {RUN, HEADER, "result.json", "run.log"} else ""
    for each in names:
        file = folder / each
        if each.startswith(".") or each == copied or not root.holds(file):
            continue
        if each.endswith(".toml"):
            kind = _kind_of_toml(file)
            if kind is not None:
                yield Entry(kind, root.name(file), _newest(folder, [each]))
        elif each.endswith((".h5", ".hdf5")) and each != RUN and _begins(file, b"klapper run,"):
            yield Entry("run", root.name(file), _newest(folder, [each]))


def _kind_of_toml(file: Path) -> Kind | None:
    """A scenario has a table [model], a study a table [over]; what is broken may become a scenario."""
    try:
        content = read_toml(file)
    except OSError:
        return None
    except Unreadable:
        return "scenario"
    if "model" in content:
        return "scenario"
    return "study" if "over" in content else None


def _store_of(root: Root, name: str) -> str:
    """The folder with the points of a study, which is not listed beside its description."""
    file = root.path / name
    try:
        store = read_toml(file).get("store", file.stem)
        return root.name((file.parent / store).resolve())
    except (OSError, ValueError, TypeError, RuntimeError):
        return ""


def _begins(file: Path, title: bytes) -> bool:
    try:
        with opened(file) as stream:
            return stream.read(len(title)) == title
    except (OSError, Unreadable):
        return False


def _newest(folder: Path, names: list[str]) -> float:
    times = [0.0]
    for name in names:
        try:
            times.append((folder / name).stat().st_mtime)
        except OSError:
            continue
    return max(times)
