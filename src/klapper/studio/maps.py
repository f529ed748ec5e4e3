"""Studies for the studio: their points as columns to map, and the figures that their files ask for.

A study described in a file is read by the room ``studies``; a store that a Python program filled is read by itself, as
it holds names, roles and units of its columns.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from klapper.doors import Unreadable
from klapper.doors.toml import read_toml
from klapper.studies import Study, StudyError
from klapper.studies.store import FILE, content_of, described, open_reader, sound
from klapper.studio.errors import StudioError
from klapper.studio.listing import kind_of
from klapper.studio.place import Root

if TYPE_CHECKING:
    from klapper.studies.file import FigureWish

MOST_POINTS, MOST_FIGURES = 20_000, 12
OLDER = "These points are of another version of the code; `klapper study` computes them with the present one."
_PEN = Lock()  # matplotlib's style is global


@dataclass(frozen=True)
class StoreFacts:
    """How many points of a store are done and failed."""

    target: str
    done: int
    failed: int


def study_of(root: Root, name: str) -> tuple[Study, list[FigureWish]]:
    """The study in a file; its store, and a scenario that it names, must lie inside of the folder, too."""
    from klapper.studies.file import read_study

    path = root.existing(name)
    if kind_of(root, name) != "study":
        raise StudioError(f"'{name}' is no study.", 404)
    _require_inside(root, path, name)
    try:
        study, wishes = read_study(path, allow=[root.path])
    except (
        LookupError,
        ValueError,
        RecursionError,
    ) as error:  # what the example refuses has a class of its own
        raise StudyError(f"{name}: {error}") from error
    if study.store.is_dir():
        root.require_own(study.store)
    return study, wishes


def _require_inside(root: Root, path: Path, name: str) -> None:
    """Refuse before anything is read that a file names outside of the folder."""
    try:
        content = read_toml(path)
    except (OSError, Unreadable):
        return  # who reads the study tells what is wrong with it
    for key in ("store", "scenario"):
        given = content.get(key)
        if isinstance(given, str) and not root.holds(path.parent / given):
            raise StudioError(f"The {key} of '{name}' lies outside of the folder that is shown.", 403)


def store_facts(root: Root, name: str) -> StoreFacts:
    folder = root.existing(name)
    with _read(folder) as base:
        target = content_of(base, folder).target
        counts = dict(base.execute("SELECT status, COUNT(*) FROM points GROUP BY status"))
    return StoreFacts(target, int(counts.get("done", 0)), int(counts.get("failed", 0)))


@contextmanager
def _read(folder: Path) -> Iterator[sqlite3.Connection]:
    with sound(folder), closing(open_reader(folder)) as base:
        yield base


def shown_study(root: Root, name: str) -> dict[str, Any]:
    """What the page shows of a study or a store."""
    if kind_of(root, name) == "store":
        return _of_store(root, name)
    study, wishes = study_of(root, name)
    head = {
        "title": f"Study of {study.target.name}",
        "store": root.name(study.store.resolve()),
        "constants": {key: str(value) for key, value in study.constants.items()},
    }
    if not (study.store / FILE).exists():
        return {**head, "counts": {"missing": len(study.design)}, "points": None, "figures": []}
    with sound(study.store):
        columns, units, counts = study.table(), study.units(), study.counts()
    if older_points(root, study, counts):
        return {**_of_store(root, root.name(study.store.resolve())), "title": head["title"], "note": OLDER}
    points = _points(list(study.design.columns), list(study.outputs), columns, units)
    figures = [{"name": wish.name, "words": wish.caption} for wish in _wished(study, wishes)]
    return {**head, "counts": counts, "points": points, "figures": figures}


def older_points(root: Root, study: Study, counts: Mapping[str, int]) -> int:
    """How many points another version of the code has computed, where the present one has none."""
    if counts["done"] or counts["failed"]:
        return 0
    return store_facts(root, root.name(study.store.resolve())).done


def _of_store(root: Root, name: str) -> dict[str, Any]:
    folder = root.existing(name)
    with _read(folder) as base:
        content = content_of(base, folder)
        units = {column: unit for column, (_, unit) in described(base).items() if unit}
        listed = ", ".join(f'"{column}"' for column in content.stored_as)
        rows = base.execute(f"SELECT status, {listed} FROM points LIMIT {MOST_POINTS + 1}").fetchall()
        counts = dict(base.execute("SELECT status, COUNT(*) FROM points GROUP BY status"))
        names = [*content.parameters, *content.outputs]
        columns = {key: [row[k] for row in rows] for k, key in enumerate(["status", *names])}
        varied = [key for key in content.parameters if len(set(map(str, columns[key]))) > 1]
        constants = {key: str(columns[key][0]) for key in content.parameters if key not in varied and rows}
        return {
            "title": f"Points of {content.target}",
            "store": name,
            "constants": constants,
            "counts": {str(state): count for state, count in counts.items()},
            "points": _points(varied, list(content.outputs), columns, units),
            "figures": [],
        }


def _points(
    parameters: Sequence[str],
    outputs: Sequence[str],
    columns: Mapping[str, Any],
    units: Mapping[str, str],
) -> dict[str, Any]:
    """Columns as plain data; at most as many points as a page can draw."""
    names = [name for name in (*parameters, *outputs) if name in columns]
    return {
        "parameters": list(parameters),
        "outputs": list(outputs),
        "units": {name: units[name] for name in names if name in units},
        "status": [str(state) for state in columns["status"][:MOST_POINTS]],
        "columns": {name: [_value(entry) for entry in columns[name][:MOST_POINTS]] for name in names},
        "left_out": max(len(columns["status"]) - MOST_POINTS, 0),
    }


def _value(entry: Any) -> float | str | None:
    plain = entry.item() if hasattr(entry, "item") else entry
    if isinstance(plain, bool):
        return "yes" if plain else "no"
    if isinstance(plain, int | float):
        return float(plain) if math.isfinite(plain) else None
    return None if plain is None or plain == "" else str(plain)[:80]


def _wished(study: Study, wishes: Sequence[FigureWish]) -> list[FigureWish]:
    """The figures of the file; without any, the ones that fit its design."""
    from klapper.studies.file import FigureWish

    if wishes:
        return list(wishes[:MOST_FIGURES])
    axes = list(study.design.axes)
    if len(axes) == 2 and study.options.replicates == 1:
        made = [("map", {"x": axes[0], "y": axes[1], "value": value}) for value in study.outputs]
    elif len(axes) == 1:
        made = [("slices", {"x": axes[0], "value": value}) for value in study.outputs]
    else:
        made = []
    return [
        FigureWish(f"{kind}-{number}", kind, given)
        for number, (kind, given) in enumerate(made[:MOST_FIGURES], 1)
    ]


def figure_of(root: Root, name: str, figure: str) -> bytes:
    """One figure of a study as SVG."""
    from klapper.report.figures import draw

    study, wishes = study_of(root, name)
    wanted = [wish for wish in _wished(study, wishes) if wish.name == figure]
    if not wanted:
        raise StudioError(f"'{name}' has no figure '{figure}'.", 404)
    with sound(study.store), _PEN:
        return draw({figure: partial(_drawn, wish=wanted[0], study=study)})[0].svg


def _drawn(figure: Any, *, wish: FigureWish, study: Study) -> None:
    wish.draw(study, figure)
