"""How klapper reads every kind of file, and which errors are the sentences that it tells."""

from __future__ import annotations

import io
import random
import re
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

_ORDERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def read_case(kind: str, case: Path, chance: random.Random) -> bool:
    """Whether a case is read; False if it is refused. Every other error is a defect."""
    try:
        return _READ[kind](case, chance) is not False
    except _sentences() as error:
        text = str(error)
        if not text or "\n" in text or "Traceback" in text or len(text) > 2000:
            raise RuntimeError(f"no sentence: {text[:300]!r}") from error
        return False


def _sentences() -> tuple[type[Exception], ...]:
    from klapper.gallery import UnknownExample
    from klapper.gallery.parameter import ParameterError
    from klapper.mechanics import InvalidModel
    from klapper.report.record import DamagedRecord
    from klapper.results import ResultsError
    from klapper.scenario import ScenarioError
    from klapper.simulation import SimulationFailed
    from klapper.studies import StudyError
    from klapper.studio.errors import StudioError

    return (
        ResultsError, DamagedRecord, StudyError, StudioError, ScenarioError, InvalidModel, ParameterError,
        UnknownExample, SimulationFailed,
    )  # fmt: skip


def _run(case: Path, chance: random.Random) -> bool:
    return _looked_at(case if chance.random() < 0.5 else case / "run.h5", chance)


def _part(case: Path, chance: random.Random) -> bool:
    return _looked_at(case, chance)


def _looked_at(path: Path, chance: random.Random) -> bool:
    """A run as somebody would look at it: by the command line, in the studio, from Python."""
    from klapper.results import overview, read

    wish = chance.choice(["python", "python", "show", "page", "csv", "vtk", "xdmf", "gltf", "studio"])
    if wish == "python":
        run = read(path)
        overview.as_json(run)
        overview.sections(run)
        return True
    if wish == "studio":
        root = path.parent if path.is_dir() else path.parent.parent
        name = path.relative_to(root).as_posix()
        question = chance.choice(["glance", "run", "compare"])
        return _asked(root, question, {"path": name, "a": name, "b": name}, chance)
    with tempfile.TemporaryDirectory() as out:
        options = {
            "show": ("show", str(path)),
            "page": ("show", str(path), "--page", f"{out}/page.html"),
            "csv": ("export", str(path), "--data", f"{out}/x.csv"),
            "vtk": ("export", str(path), "--vtk", f"{out}/vtk", "--frames", "2"),
            "xdmf": ("export", str(path), "--xdmf", f"{out}/x.xdmf", "--frames", "2"),
            "gltf": ("export", str(path), "--gltf", f"{out}/x.glb", "--frames", "2"),
        }
        return _command(*options[wish])


def _command(*words: str) -> bool:
    """Whether a command does what it was asked for; an unexpected error, or an order to the terminal, is a defect."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        status = _klapper()(list(words), prog_name="klapper", standalone_mode=False)
    text = said.getvalue()
    if status not in (0, 1, 2, None) or "Traceback" in text:
        raise RuntimeError(f"klapper {words[0]} ends with {status}: {text[-300:]!r}")
    if orders := _ORDERS.findall(text):
        raise RuntimeError(f"klapper {words[0]} sends {orders[:3]} to the terminal")
    return not status


@cache
def _klapper() -> Any:
    """The command line, put together once."""
    from typer.main import get_command

    from klapper.cli.commands import app

    return get_command(app)


def _asked(folder: Path, question: str, given: dict[str, str], chance: random.Random) -> bool:
    """Whether the studio answers a question; what it does not expect is a defect."""
    from klapper.studio import app
    from klapper.studio.glance import Glances
    from klapper.studio.jobs import Jobs
    from klapper.studio.pages import made_page, written_page
    from klapper.studio.place import Root
    from klapper.studio.scenarios import Scenarios

    root = Root.of(folder)
    studio = app.Studio(root, Scenarios(root, lambda scenario: None), Jobs(folder), Glances(root), "/pages/")
    pages = {"written": written_page, "made": made_page}

    def page(given: Any) -> Any:
        return app.Response(pages[question](root, given["path"]))

    answer = page if question in pages else getattr(studio, question)
    response = app._answered(studio, answer, given, plain=question in pages)
    if response.status_code >= 500:
        raise RuntimeError(f"the studio answers {bytes(response.body)[:300]!r}")
    return bool(response.status_code == 200)


def _studio(case: Path, chance: random.Random) -> bool:
    from klapper.studio.listing import listing
    from klapper.studio.place import Root

    names = [entry.path for entry in listing(Root.of(case)).entries] + [
        "run",
        "table",
        "study/study.toml",
        "points",
    ]
    names += [
        "run/report.html",
        "run/run.log",
        "run/run.h5",
        "more",
        "my.toml",
        "d/d/d/d/d/d",
        "../outside",
        ".",
    ]
    name, question = (
        chance.choice(names),
        chance.choice(["list", "glance", "run", "compare", "study", "scenario", "written", "made"]),
    )
    return _asked(case, question, {"path": name, "a": name, "b": chance.choice(names)}, chance)


def _resume(case: Path, chance: random.Random) -> None:
    from klapper.scenario import read_scenario
    from klapper.simulation import simulate

    scenario = read_scenario(case / "my.toml")
    until = scenario.content["run"]["until"]
    simulate(scenario.system(), until, scenario.scheme(), store=case / "run", progress=False)


def _table(case: Path, chance: random.Random) -> None:
    from klapper.scenario import read_scenario
    from klapper.structures.matrix_files import read_nodes
    from klapper.structures.pair_table import read_pairs

    if chance.random() < 0.3:
        read_pairs(case / "pairs.csv")
    elif chance.random() < 0.3:
        read_nodes(case / "nodes.csv")
    else:
        read_scenario(case / "my.toml").system()


def _result(case: Path, chance: random.Random) -> bool:
    from klapper.report.record import read

    if chance.random() < 0.4:
        read(case).as_json().encode()
        return True
    if chance.random() < 0.5:
        return _asked(
            case.parent,
            chance.choice(["glance", "run", "compare"]),
            dict.fromkeys(("path", "a", "b"), case.name),
            chance,
        )
    return _command("show", str(case))


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
    elif chance.random() < 0.5:
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
    "resume": _resume,
    "result": _result,
    "store": _store,
    "study": _study,
    "scenario": _scenario,
    "mesh": _mesh,
    "matrix": _matrix,
    "table": _table,
    "studio": _studio,
}
