"""What the command line does with scenario files: run, export, write starters and the schema.

Here, and only here, a scenario meets the gallery and the report.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from klapper.gallery import UnknownExample, find
from klapper.gallery.parameter import ParameterError, require
from klapper.scenario import KINDS, Scenario, ScenarioError, example_scenario, schema, starter
from klapper.scenario.tables import did_you_mean
from klapper.scenario.values import quoted

if TYPE_CHECKING:
    from klapper.gallery.example import Example
    from klapper.results import Run

_OF_CONTACTS = {"gaps", "forces", "states"}


def example_in(scenario: Scenario) -> tuple[Example, dict[str, Any]]:
    """The example that a scenario names, and its parameters; what is wrong is told with its line."""
    place = scenario.place
    try:
        example = find(scenario.content["model"]["name"])
    except UnknownExample as error:
        raise place.at("model").at("name").refused(str(error)) from None
    given = {}
    for name, value in scenario.content.get("parameters", {}).items():
        try:
            given[name] = require(example.arguments, name, example.name).accept(value)
        except ParameterError as error:
            raise place.at("parameters").at(name).refused(str(error)) from None
    return example, given


def export(example: Example, given: Mapping[str, Any], target: str) -> None:
    """Write an example with all its parameters as a scenario; never over another file."""
    comments = {
        argument.name: f"{argument.meaning.help}: {argument.allowed()}" for argument in example.arguments
    }
    write_new(target, example_scenario(example.name, example.values(given), comments))


def write_starter(kind: str, target: str | None) -> str:
    """Write the starter of a kind; the name of the file."""
    if kind not in KINDS:
        raise ScenarioError(
            f"There is no kind {kind!r}{did_you_mean(kind, KINDS)}; allowed are {quoted(list(KINDS))}."
        )
    file = f"{kind}.toml" if target is None else target
    write_new(file, starter(kind))
    return file


def schema_text() -> str:
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def write_new(target: str, text: str) -> None:
    """Write a file that does not exist yet, or to standard output for -."""
    if target == "-":
        print(text, end="")
        return
    try:
        with Path(target).open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise ScenarioError(f"{target} exists already: give the name of a new file.") from None


def simulated(
    scenario: Scenario, out: Path | None, *, overwrite: bool, quiet: bool, long: bool = False
) -> tuple[Run, Path | None]:
    """The run of a scenario, and its page if there is one; everything is written below the folder ``out``."""
    import sys

    from klapper.results import ResultsError

    system = scenario.system()
    try:
        with redirect_stdout(sys.stderr) if quiet else redirect_stdout(sys.stdout):
            run = scenario.simulate(
                system=system, store=out, overwrite=overwrite, on_interrupt="return", long=long
            )
    except ResultsError as error:
        hint = "" if overwrite else " (--overwrite replaces another run)"
        raise ScenarioError(f"{str(error).removesuffix('.')}{hint}.") from error
    return run, None if out is None else _written(scenario, run, out)


def _written(scenario: Scenario, run: Run, out: Path) -> Path | None:
    """Figures, the scenario itself and the page; the page last."""
    from klapper.report import write_report
    from klapper.report.figures import draw
    from klapper.report.folder import write

    wanted = [name for name in scenario.figures if run.layout.contacts or name not in _OF_CONTACTS]
    for picture in draw({name: getattr(run.plot, name) for name in wanted}):
        write(out / f"{picture.name}.svg", picture.svg)
        write(out / f"{picture.name}.png", picture.png)
    write(out / "scenario.toml", scenario.text.encode())
    if not scenario.page:
        return None
    return write_report(
        run,
        out / "report.html",
        title=scenario.title,
        parameters=dict(_flat(scenario.content)),
    )


def _flat(content: Any, name: str = "") -> Sequence[tuple[str, str]]:
    """All values by their path, for the table of parameters."""
    if isinstance(content, Mapping):
        return [row for key, entry in content.items() for row in _flat(entry, f"{name}.{key}".strip("."))]
    if isinstance(content, list) and content and isinstance(content[0], Mapping):
        return [row for i, entry in enumerate(content, 1) for row in _flat(entry, f"{name} {i}")]
    text = content.name if isinstance(content, Path) else str(content)
    return [(name, text if len(text) <= 200 else f"{text[:197]} …")]
