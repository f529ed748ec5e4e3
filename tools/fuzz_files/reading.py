"""How klapper reads every kind of file, and which errors are the sentences that it tells."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any


def read_case(kind: str, case: Path, chance: random.Random) -> bool:
    """Whether a case is read; False if it is refused. Every other error is a defect."""
    try:
        _READ[kind](case, chance)
    except _sentences() as error:
        text = str(error)
        if not text or "\n" in text or "Traceback" in text or len(text) > 2000:
            raise RuntimeError(f"no sentence: {text[:300]!r}") from error
        return False
    return True


def _sentences() -> tuple[type[Exception], ...]:
    from klapper.gallery import UnknownExample
    from klapper.gallery.parameter import ParameterError
    from klapper.mechanics import InvalidModel
    from klapper.report.record import DamagedRecord
    from klapper.results import ResultsError
    from klapper.scenario import ScenarioError
    from klapper.studies import StudyError
    from klapper.studio.errors import StudioError

    return (
        ResultsError, DamagedRecord, StudyError, StudioError, ScenarioError, InvalidModel, ParameterError,
        UnknownExample,
    )  # fmt: skip


def _run(case: Path, chance: random.Random) -> None:
    from klapper.results import overview, read

    run = read(case if chance.random() < 0.5 else case / "run.h5")
    overview.as_json(run)
    overview.sections(run)


def _part(case: Path, chance: random.Random) -> None:
    from klapper.results import overview, read

    run = read(case)
    overview.as_json(run)
    overview.sections(run)


def _result(case: Path, chance: random.Random) -> None:
    from klapper.report import terminal
    from klapper.report.record import About, read

    record = read(case)
    record.as_json().encode()
    console = terminal.console()
    console.file = io.StringIO()
    terminal.show(record, About(), console)


def _store(case: Path, chance: random.Random) -> None:
    from klapper.studies.store import Content, Store
    from klapper.studio.maps import shown_study, store_facts
    from klapper.studio.place import Root

    root = Root.of(case.parent)
    if not (case / "study.sqlite").is_file():
        Store(case, Content("_square", ("x", "y"), ("value",)), {}).__exit__()
        return
    store_facts(root, case.name)
    shown_study(root, case.name)
    from klapper.studies import study
    from tools.fuzz_files.samples import _square

    over = {"x": [k / 8 for k in range(9)], "y": [1.0, 2.0]}
    described = study(_square, over=over, outputs=["value", "word", "list"], store=case, code="1")
    described.counts()
    described.table()


def _study(case: Path, chance: random.Random) -> None:
    from klapper.studies.file import read_study
    from klapper.studio.listing import listing
    from klapper.studio.maps import shown_study
    from klapper.studio.place import Root

    listing(Root.of(case))
    if chance.random() < 0.5:
        shown_study(Root.of(case), "study.toml")
    else:
        read_study(case / "study.toml")


def _scenario(case: Path, chance: random.Random) -> None:
    from klapper.cli.scenario import example_in
    from klapper.scenario import read_scenario
    from klapper.simulation import too_long

    scenario = read_scenario(case / "my.toml")
    if scenario.kind == "example":
        example_in(scenario)
    elif chance.random() < 0.3:
        system = scenario.system()
        too_long(system, scenario.scheme(), scenario.content["run"]["until"])


def _mesh(case: Path, chance: random.Random) -> None:
    from klapper.continuum import read_mesh

    for file in sorted(case.iterdir()):
        read_mesh(file)


def _matrix(case: Path, chance: random.Random) -> None:
    from klapper.mechanics import InvalidModel
    from klapper.scenario.files import Folder, Refused
    from klapper.structures.matrix_files import read_dofs, read_matrix, read_nodes

    for file in sorted(case.iterdir()):
        try:
            Folder(case).file(file.name, (file.suffix,))
        except Refused as reason:
            raise InvalidModel(str(reason)) from None
        if file.suffix == ".dof":
            read_dofs(file)
        else:
            read_matrix(file)
        if file.suffix in (".csv", ".txt") and chance.random() < 0.3:
            read_nodes(file)


_READ: dict[str, Callable[[Path, random.Random], Any]] = {
    "run": _run,
    "part": _part,
    "header": _part,
    "result": _result,
    "store": _store,
    "study": _study,
    "scenario": _scenario,
    "mesh": _mesh,
    "matrix": _matrix,
}
