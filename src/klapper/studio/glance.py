"""An entry at a glance: a title, one mark, one sentence. What is damaged says so in the same place.

Reading a run means reading its file, so what was told is kept until a file of the entry changes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from klapper.counting import counted
from klapper.doors.toml import read_toml
from klapper.report.record import DamagedRecord
from klapper.results import ResultsError
from klapper.results.tables import number
from klapper.scenario import ScenarioError, read_scenario
from klapper.studies import StudyError
from klapper.studies.store import sound
from klapper.studio.errors import StudioError
from klapper.studio.listing import Kind, kind_of
from klapper.studio.maps import older_points, store_facts, study_of
from klapper.studio.opened import Opened, opened
from klapper.studio.place import Root

DAMAGED = (ResultsError, DamagedRecord, StudyError, ScenarioError)
MOST_KEPT = 2000


@dataclass(frozen=True)
class Glances:
    """The glances of a folder, kept by the state of the files."""

    root: Root
    _kept: dict[str, tuple[Any, dict[str, Any]]] = field(default_factory=dict)
    _lock: Any = field(default_factory=Lock)

    def of(self, name: str) -> dict[str, Any]:
        path = self.root.existing(name)
        stamp = _stamp(self.root, path)
        with self._lock:
            known = self._kept.get(name)
        if known is not None and known[0] == stamp:
            return known[1]
        told = self._told(name)
        with self._lock:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[name] = (stamp, told)
        return told

    def _told(self, name: str) -> dict[str, Any]:
        kind = kind_of(self.root, name)
        if kind is None:
            raise StudioError(f"'{name}' is nothing that the studio shows.", 404)
        try:
            return _TELL[kind](self.root, name)
        except DAMAGED as error:
            words = "failed" if kind in ("run", "result", "store") else "warned"
            return _glance(name, words, self.root.told(str(error)), [])
        except OSError as error:
            return _glance(name, "failed", f"It cannot be read: {error.strerror or error}.", [])


def _glance(
    title: str, kind: str, sentence: str, facts: list[str], warnings: Sequence[str] = ()
) -> dict[str, Any]:
    return {
        "title": title,
        "verdict": kind,
        "sentence": sentence,
        "facts": facts,
        "warnings": list(warnings),
    }


def glance_of(entry: Opened) -> dict[str, Any]:
    """The glance of a run or result that was read."""
    facts = []
    if entry.run is not None and len(entry.run):
        run = entry.run
        facts.append(f"to {run.time[-1]:.4g} s")
        contacts = len(run.layout.contacts)
        facts.append(
            f"{contacts} contact{'' if contacts == 1 else 's'}" if contacts else "no listed contacts"
        )
        if isinstance(run.about.get("wall_time"), int | float):
            facts.append(f"computed in {number(run.about['wall_time'])} s")
        scheme = run.about.get("scheme")
        named = scheme.get("name") if isinstance(scheme, dict) else scheme
        if named:
            facts.append(str(named))
    elif entry.record is not None:
        facts.append(f"{len(entry.record.checks)} checks")
    judged = entry.verdict
    return _glance(entry.title, judged.kind, judged.sentence, facts, judged.warnings)


def _of_run(root: Root, name: str) -> dict[str, Any]:
    return glance_of(opened(root, name))


def _of_scenario(root: Root, name: str) -> dict[str, Any]:
    file = root.existing(name)
    scenario = read_scenario(file)
    facts = [scenario.kind]
    wishes = scenario.content.get("run", {})
    if "until" in wishes:
        facts.append(f"to {wishes['until']:g} s")
    if "scheme" in scenario.content:
        facts.append(str(scenario.content["scheme"]["kind"]))
    title = scenario.title or str(scenario.content["model"].get("name", "")) or file.stem
    return _glance(title, "none", "It can be run.", facts)


def _of_study(root: Root, name: str) -> dict[str, Any]:
    described, _ = study_of(root, name)
    title = f"Study of {described.target.name}"
    if not (described.store / "study.sqlite").exists():
        return _glance(title, "none", "Nothing is computed yet.", [counted(len(described.design), "point")])
    with sound(described.store):
        counts = described.counts()
    if older := older_points(root, described, counts):
        return _glance(title, "warned", f"{counted(older, 'point')}, of another version of the code.", [])
    words = ", ".join(f"{counted(count, 'point')} {state}" for state, count in counts.items() if count)
    kind = "failed" if counts["failed"] else "warned" if counts["missing"] else "passed"
    return _glance(title, kind, f"{words}.", [f"over {', '.join(described.design.columns)}"])


def _of_store(root: Root, name: str) -> dict[str, Any]:
    facts = store_facts(root, name)
    kind = "failed" if facts.failed else "passed"
    words = f"{counted(facts.done, 'point')} done" + (f", {facts.failed} failed" if facts.failed else "")
    return _glance(f"Points of {facts.target}", kind, f"{words}.", [])


_TELL: dict[Kind, Callable[[Root, str], dict[str, Any]]] = {
    "run": _of_run,
    "result": _of_run,
    "scenario": _of_scenario,
    "study": _of_study,
    "store": _of_store,
}


def _stamp(root: Root, path: Path) -> tuple[Any, ...]:
    """Changes whenever a file of the entry does."""
    files = [path]
    if path.is_dir():
        files = [Path(entry.path) for entry in os.scandir(path) if entry.is_file()]
    elif path.suffix == ".toml":
        files.append(_store_of(root, path))
    stamps = []
    for file in sorted(files):
        try:
            state = file.stat()
        except OSError:
            continue
        stamps.append((file.name, state.st_mtime_ns, state.st_size))
    return tuple(stamps)


def _store_of(root: Root, path: Path) -> Path:
    """The points of a study, which change while its file does not."""
    try:
        store = read_toml(path).get("store")
        folder = (path.parent / (store if isinstance(store, str) else path.stem)).resolve()
    except (OSError, ValueError, RuntimeError):
        return path
    if not folder.is_relative_to(root.path):
        return path
    wal = folder / "study.sqlite-wal"
    return wal if wal.exists() else folder / "study.sqlite"
