"""A stored run or result as the studio shows it: title, parameters, verdict, and the run itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from klapper.doors import Unreadable
from klapper.doors.toml import read_toml
from klapper.report.record import Record, read as read_record
from klapper.report.verdict import Verdict, verdict
from klapper.report.words import brief, verdict as words_of_checks
from klapper.studio.errors import StudioError
from klapper.studio.listing import RUNS, kind_of
from klapper.studio.place import Root

if TYPE_CHECKING:
    from klapper.results import Run

COPY = "scenario.toml"


@dataclass(frozen=True)
class Opened:
    """``parameters`` by name, in words; a run, the record of an example, or a record with its first run."""

    path: str
    title: str
    parameters: dict[str, str]
    verdict: Verdict
    run: Run | None = None
    record: Record | None = None


def opened(root: Root, name: str) -> Opened:
    """What is stored under a name; the errors of the rooms ``results`` and ``report`` if it is damaged."""
    kind = kind_of(root, name)
    path = root.existing(name)
    if kind == "run":
        return _run(root, path)
    if kind == "result":
        return _result(root, path)
    raise StudioError(f"'{name}' is no run and no result.", 404)


def _run(root: Root, path: Path) -> Opened:
    from klapper.results import read

    run = read(path)
    content = scenario_content(path / COPY) if path.is_dir() else {}
    system = run.about.get("system")
    named = system.get("name", "") if isinstance(system, dict) else system
    model = content.get("model")
    title = model.get("title") if isinstance(model, dict) else None
    parameters = dict(flat(content)) if content else _settings(run.about)
    parameters.pop("model.title", None)
    return Opened(root.name(path), str(title or named or path.stem), parameters, verdict(run), run=run)


def _result(root: Root, path: Path) -> Opened:
    record = read_record(path)
    kind = "none" if not record.checks else "passed" if record.passed else "failed"
    judged = Verdict(kind, words_of_checks(record.checks), dict(record.audit), ())  # type: ignore[arg-type]
    parameters = {name: brief(value) for name, value in record.parameters.items()}
    return Opened(root.name(path), record.example, parameters, judged, record=record)


def with_run(root: Root, entry: Opened) -> Opened:
    """A result with the first of the runs that an example keeps in its folder, if there is one."""
    from klapper.results import read

    if entry.record is None:
        return entry
    kept = root.inside(entry.path) / RUNS
    first = min(kept.glob("*.h5"), key=lambda file: (file.stem != "run", file.name), default=None)
    if first is None:
        return entry
    return replace(entry, run=read(root.existing(root.name(first))))


def _settings(about: Mapping[str, Any]) -> dict[str, str]:
    """What is known of a run without its scenario."""
    told = {name: about[name] for name in ("system", "scheme") if about.get(name)}
    settings = about.get("settings")
    return {
        name: brief(value)
        for name, value in (told | (settings if isinstance(settings, dict) else {})).items()
    }


def scenario_content(file: Path) -> dict[str, Any]:
    """The content of a scenario beside a run; nothing if there is none that can be read."""
    try:
        return read_toml(file)
    except (OSError, Unreadable):
        return {}


def flat(content: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """All values by their path; tables in a row are numbered from 1 on."""
    if isinstance(content, Mapping):
        for key, entry in content.items():
            yield from flat(entry, f"{name}.{key}".strip("."))
    elif isinstance(content, list) and content and isinstance(content[0], Mapping):
        for number, entry in enumerate(content, 1):
            yield from flat(entry, f"{name} {number}")
    else:
        text = brief(content)
        yield name, text if len(text) <= 200 else f"{text[:197]} …"
