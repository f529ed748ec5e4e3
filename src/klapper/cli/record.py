"""What the command line does with results: refuse what could not be written, store, write and show records and runs.

A record is the plain data of an example's outcome, a run the motion itself; both are stored in folders and told as
tables.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from klapper.cli.errors import WrongRequest
from klapper.gallery import UnknownExample, find
from klapper.report.record import About, Record

if TYPE_CHECKING:
    from rich.console import Console

    from klapper.gallery.example import Example, Outcome


def require_writable(out: Path | None, json: str | None) -> None:
    """Refuse before computing what could not be written afterwards."""
    if out is not None and out.exists() and not out.is_dir():
        raise WrongRequest(f"--out {out} is a file: give a folder.")
    if json is None or json == "-":
        return
    if Path(json).is_dir() or not Path(json).parent.is_dir():
        raise WrongRequest(f"--json {json} cannot be written: give a file in an existing folder, or -.")


def require_page(page: Path | None, path: Path) -> None:
    """Refuse a page that could not be written, or that is asked of what is no run."""
    if page is None:
        return
    if path.exists() and not is_run(path):
        raise WrongRequest(f"--page shows a run, and {path} is none: give a run.h5 or the folder of a run.")
    if page.is_dir() or not page.parent.is_dir():
        raise WrongRequest(f"--page {page} cannot be written: give a file in an existing folder.")


def store_outcome(out: Path, record: Record, about: About, outcome: "Outcome") -> Path:
    from klapper.report.figures import draw
    from klapper.report.folder import store

    for name, run in outcome.shown_runs().items():
        run.save(out / "runs" / f"{name}.h5")
    return store(out, record, about, draw(outcome.figures), _run_pages(record, about, outcome))


def _run_pages(record: Record, about: About, outcome: "Outcome") -> dict[str, str]:
    """The pages of the runs of an outcome, by name."""
    runs = outcome.shown_runs()
    if not runs:
        return {}
    from klapper.report.run_page import run_page
    from klapper.report.words import brief

    parameters = {
        name: f"{brief(value)} {about.parameter_units.get(name, '')}".strip()
        for name, value in record.parameters.items()
    }
    scenes = {name: make() for name, make in outcome.scenes.items() if name in runs}
    return {
        name: run_page(
            run, title=about.title, parameters=parameters, scene=scenes.get(name), name=record.example
        )
        for name, run in runs.items()
    }


def write_record(json: str | None, record: Record) -> None:
    if json is not None:
        write_text(json, record.as_json())


def write_text(target: str | None, text: str) -> None:
    from klapper.report.folder import write

    if target == "-":
        typer.echo(text.encode(), nl=False)
    elif target is not None:
        write(Path(target), text.encode())


def tell_outcome(record: Record, about: About, seconds: float, page: Path | None, *, stderr: bool) -> None:
    from klapper.report import terminal

    console = terminal.console(stderr=stderr)
    terminal.show(record, about, console)
    console.print(f"Computed in {seconds:.2g} s.", style="dim")
    if page is not None:
        console.print(f"Report: {page.resolve()}", soft_wrap=True)


def is_run(path: Path) -> bool:
    """Whether a run is stored there, finished or not."""
    if path.is_dir():
        return any((path / name).exists() for name in ("run.h5", "header.json"))
    return path.suffix in (".h5", ".hdf5")


def show_run(path: Path, json: str | None, page: Path | None, console: "Console", *, large: bool) -> None:
    from klapper.results import ResultsError, overview, read as read_run

    try:
        run = read_run(path, large=large)
    except ResultsError as error:
        raise WrongRequest(str(error)) from error
    write_text(json, overview.as_json(run))
    for number, (title, lines) in enumerate(overview.sections(run).items()):
        console.print("\n" * (number > 0) + title, style="bold cyan")
        for line in lines:
            console.print(f"  {line}", soft_wrap=True)
    if page is not None:
        from klapper.report import write_report

        console.print(f"\nPage: {write_report(run, page).resolve()}", soft_wrap=True)


def known_example(record: Record) -> About:
    """Title and units of the record's example, if the gallery still has it."""
    try:
        example: Example = find(record.example)
    except UnknownExample:
        return About()
    known: dict[str, Any] = {a.name: a.meaning for a in example.arguments}
    return About(
        title=example.summary,
        source=example.source,
        meanings={name: meaning.help for name, meaning in known.items()},
        parameter_units={name: meaning.unit for name, meaning in known.items()},
    )
