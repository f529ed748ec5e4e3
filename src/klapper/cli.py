"""The command line: ``klapper list``, ``run``, ``new``, ``schema``, ``show``, ``studio``, ``study`` and ``bench``.

Exit status 0: done; 1: a check failed; 2: the request is wrong, told in one sentence; 3: an unexpected error,
whose traceback ``--debug`` shows.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from threading import Timer
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from klapper import __version__
from klapper.cli_view import export
from klapper.gallery import UnknownExample, examples, find
from klapper.gallery.parameter import ParameterError
from klapper.report.record import About, DamagedRecord, Record, read
from klapper.scenario.errors import ScenarioError

if TYPE_CHECKING:
    from rich.console import Console

    from klapper.gallery.example import Example, Outcome
    from klapper.scenario import Scenario

CHECK_FAILED, WRONG_REQUEST, UNEXPECTED, INTERRUPTED = 1, 2, 3, 130

app = typer.Typer(
    name="klapper",
    help="Nonsmooth mechanics: structures that touch, stick, slip, lift off and hit each other.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


class WrongRequest(ValueError):
    """What was asked for cannot be done, for a reason the user can change."""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"klapper {__version__}")
        raise typer.Exit


@app.callback()
def klapper(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


@app.command("list")
def list_(
    name: Annotated[str | None, typer.Argument(help="An example, to see its parameters.")] = None,
    debug: Debug = False,
) -> None:
    """List the examples, or the parameters of one."""
    with one_sentence(debug):
        if name is None:
            rows = [(example.name, example.summary) for example in examples()]
        else:
            found = find(name)
            typer.echo(f"{found.name}: {found.summary} (source: {found.source})")
            rows = [
                (f"{a.name}={a.written(a.default)}", f"{a.meaning.help}: {a.allowed()}")
                for a in found.arguments
            ]
        width = max((len(left) for left, _ in rows), default=0)
        for left, right in rows:
            typer.echo(f"{left:<{width}}  {right}")


@app.command()
def run(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE.toml",
            help="An example, `klapper list` shows them; or a scenario, `klapper new` writes one.",
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a parameter; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Write result.json, figures and report.html here."),
    ] = None,
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="FILE|-", help="Write the result as JSON; - is standard output."),
    ] = None,
    export: Annotated[
        str | None,
        typer.Option(
            "--export", metavar="FILE|-", help="Write the example as a scenario file instead of running it."
        ),
    ] = None,
    allow: Annotated[
        list[Path] | None,
        typer.Option("--allow", metavar="DIR", help="Another folder whose files a scenario may name."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace another run of a scenario in its folder.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Run an example or a scenario file; exit status 1 if a check or the run fails."""
    with one_sentence(debug):
        if name.endswith(".toml"):
            from klapper.cli_scenario import example_in
            from klapper.scenario import read_scenario

            scenario = read_scenario(name, allow=allow or [])
            if settings:
                raise WrongRequest(f"--set changes parameters of examples: change them in {name} itself.")
            if scenario.kind != "example":
                if export is not None:
                    raise WrongRequest(f"--export writes an example as a file: {name} is one already.")
                _run_scenario(scenario, out, json, overwrite=overwrite)
                return
            example, given = example_in(scenario)
        else:
            example = find(name)
            given = example.read(settings or [])
        if export is not None:
            from klapper.cli_scenario import export as write_export

            write_export(example, given, export)
            return
        _require_writable(out, json)
        start = perf_counter()
        with _word_of_patience(), redirect_stdout(sys.stderr) if json == "-" else nullcontext():
            outcome = example.run(**given)
        seconds = perf_counter() - start
        record, about = example.record(given, outcome), example.introduction(given, outcome)
        page = _store(out, record, about, outcome) if out else None
        _write_json(json, record)
        _tell(record, about, seconds, page, stderr=json == "-")
    if any(run.about.get("status") == "interrupted" for run in outcome.shown_runs().values()):
        typer.echo("The run was interrupted: numbers and checks are those of its beginning.", err=True)
        raise typer.Exit(INTERRUPTED)
    if not record.passed:
        raise typer.Exit(CHECK_FAILED)


def _run_scenario(scenario: "Scenario", out: Path | None, json: str | None, *, overwrite: bool) -> None:
    """Compute, store and tell the run of a scenario."""
    from klapper.cli_scenario import simulated
    from klapper.report import terminal
    from klapper.results import overview
    from klapper.simulate import SimulationFailed

    folder = scenario.store if out is None else out
    _require_writable(folder, json)
    console = terminal.console(stderr=json == "-")
    failed = ""
    try:
        with _word_of_patience():
            run, page = simulated(scenario, folder, overwrite=overwrite, quiet=json == "-")
    except SimulationFailed as error:
        run, page, failed = error.run, None, " ".join(str(error).split())
    _write_text(json, overview.as_json(run))
    if scenario.title:
        console.print(scenario.title, style="bold cyan", soft_wrap=True)
    console.print(run.summary(), soft_wrap=True, highlight=False, markup=False)
    console.print(run.ledger.table(), soft_wrap=True, highlight=False, markup=False)
    if page is not None:
        console.print(f"Report: {page.resolve()}", soft_wrap=True)
    if failed:
        typer.echo(failed, err=True)
        raise typer.Exit(CHECK_FAILED)
    if run.about.get("status") == "interrupted":
        typer.echo("The run was interrupted: what there is was kept.", err=True)
        raise typer.Exit(INTERRUPTED)


@app.command()
def new(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="Kind of model, such as bodies or continuum.")],
    file: Annotated[
        str | None, typer.Argument(metavar="FILE|-", help="The new file, KIND.toml if not given.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Write a commented scenario file to start from; it can be run as it is."""
    with one_sentence(debug):
        from klapper.cli_scenario import write_starter

        written = write_starter(kind, file)
        typer.echo(f"Written: {written}; run it by `klapper run {written}`.", err=True)


@app.command("schema")
def schema_(debug: Debug = False) -> None:
    """Print the JSON schema of scenario files, for editors."""
    with one_sentence(debug):
        from klapper.cli_scenario import schema_text

        typer.echo(schema_text(), nl=False)


@contextmanager
def _word_of_patience() -> Iterator[None]:
    """Say on standard error why nothing happens, when a run takes longer than a few seconds."""
    notice = Timer(
        3.0,
        lambda: print("Still running; the first run compiles its kernels once.", file=sys.stderr, flush=True),
    )
    notice.daemon = True
    notice.start()
    try:
        yield
    finally:
        notice.cancel()


@app.command()
def show(
    path: Annotated[
        Path,
        typer.Argument(help="A result.json, a run.h5, or the folder that holds one or an unfinished run."),
    ],
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="FILE|-", help="Write what is shown as JSON; - is standard output."),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="FILE", help="Write the page of a run, to look into in a browser."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Show a stored result, or a stored run, as tables; or write a run as a page."""
    with one_sentence(debug):
        from klapper.report import terminal

        _require_writable(None, json)
        _require_page(page, path)
        console = terminal.console(stderr=json == "-")
        if _is_run(path) and (page is not None or not (path / "result.json").exists()):
            _show_run(path, json, page, console)
            return
        if path.is_dir() and not (path / "result.json").exists():
            raise WrongRequest(f"{path} holds neither result.json nor run.h5.")
        record = read(path)
        _write_json(json, record)
        terminal.show(record, _known(record), console)
        if _is_run(path):
            console.print(f"The run: klapper show {path / 'run.h5'}", style="dim", soft_wrap=True)


@app.command()
def studio(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder with scenarios, runs and studies.")
    ] = Path("."),
    port: Annotated[int, typer.Option(help="Port on this machine; 0 takes a free one.")] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address, open no browser.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Open a page in the browser that lists, compares, edits and starts runs of a folder."""
    with one_sentence(debug):
        from klapper.cli_studio import open_studio
        from klapper.studio.errors import StudioError

        try:
            open_studio(folder, port=port, browser=not no_browser)
        except StudioError as error:
            raise WrongRequest(str(error)) from error


@app.command()
def study(
    path: Annotated[Path, typer.Argument(metavar="STUDY.toml", help="The description of the study.")],
    workers: Annotated[
        int | None, typer.Option(help="Processes of this machine; as many as it has cores if not given.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler instead, such as tcp://host:8786.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Compute failed points again.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write figures and report.html here.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Compute what is missing of a study; exit status 1 if a point failed."""
    with one_sentence(debug):
        from klapper.studies import StudyError
        from klapper.studies.file import read_study
        from klapper.studies.report import write_report

        _require_writable(out, None)
        try:
            described, wishes = read_study(path)
            described.run(workers=workers, cluster=cluster, retry_failed=retry_failed)
            page = write_report(described, wishes, out) if out else None
        except StudyError as error:
            raise WrongRequest(str(error)) from error
        counts = described.counts()
        typer.echo(", ".join(f"{count} points {state}" for state, count in counts.items() if count))
        typer.echo(f"Store: {described.store}")
        if page is not None:
            typer.echo(f"Report: {page.resolve()}")
    if counts["failed"]:
        raise typer.Exit(CHECK_FAILED)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def bench(context: typer.Context, debug: Debug = False) -> None:
    """Run the side-by-side timings of the repository; further arguments are passed on."""
    with one_sentence(debug):
        script = _benchmarks()
        paths = os.pathsep.join(filter(None, [str(script.parents[1]), os.environ.get("PYTHONPATH", "")]))
        status = subprocess.run(
            [sys.executable, str(script), *context.args], env={**os.environ, "PYTHONPATH": paths}, check=False
        ).returncode
    raise typer.Exit(status)


app.command()(export)


def main() -> NoReturn:
    """The entry point: what typer itself refuses is told in one sentence, too."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        status = app(prog_name="klapper", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = CHECK_FAILED
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        if message := error.format_message():
            typer.echo(f"{message} (`klapper --help` shows what there is.)", err=True)
        status = WRONG_REQUEST
    sys.exit(status if isinstance(status, int) else 0)


@contextmanager
def one_sentence(debug: bool) -> Iterator[None]:
    """Tell an error in one sentence and leave with its exit status, or pass it on when debugging."""
    try:
        yield
    except (typer.Exit, BrokenPipeError):
        raise
    except Exception as error:
        if debug:
            raise
        sentence, status = _told(error)
        typer.echo(sentence, err=True)
        raise typer.Exit(status) from None


def _told(error: Exception) -> tuple[str, int]:
    text = " ".join(str(error).split())
    if isinstance(error, UnknownExample | ParameterError | DamagedRecord | ScenarioError | WrongRequest):
        return text, WRONG_REQUEST
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}.", WRONG_REQUEST
    return f"{type(error).__name__}: {text.removesuffix('.')} (--debug shows the traceback).", UNEXPECTED


def _require_writable(out: Path | None, json: str | None) -> None:
    """Refuse before computing what could not be written afterwards."""
    if out is not None and out.exists() and not out.is_dir():
        raise WrongRequest(f"--out {out} is a file: give a folder.")
    if json is None or json == "-":
        return
    if Path(json).is_dir() or not Path(json).parent.is_dir():
        raise WrongRequest(f"--json {json} cannot be written: give a file in an existing folder, or -.")


def _require_page(page: Path | None, path: Path) -> None:
    """Refuse a page that could not be written, or that is asked of what is no run."""
    if page is None:
        return
    if path.exists() and not _is_run(path):
        raise WrongRequest(f"--page shows a run, and {path} is none: give a run.h5 or the folder of a run.")
    if page.is_dir() or not page.parent.is_dir():
        raise WrongRequest(f"--page {page} cannot be written: give a file in an existing folder.")


def _store(out: Path, record: Record, about: About, outcome: "Outcome") -> Path:
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


def _write_json(json: str | None, record: Record) -> None:
    if json is not None:
        _write_text(json, record.as_json())


def _write_text(target: str | None, text: str) -> None:
    from klapper.report.folder import write

    if target == "-":
        typer.echo(text.encode(), nl=False)
    elif target is not None:
        write(Path(target), text.encode())


def _tell(record: Record, about: About, seconds: float, page: Path | None, *, stderr: bool) -> None:
    from klapper.report import terminal

    console = terminal.console(stderr=stderr)
    terminal.show(record, about, console)
    console.print(f"Computed in {seconds:.2g} s.", style="dim")
    if page is not None:
        console.print(f"Report: {page.resolve()}", soft_wrap=True)


def _is_run(path: Path) -> bool:
    """Whether a run is stored there, finished or not."""
    if path.is_dir():
        return any((path / name).exists() for name in ("run.h5", "header.json"))
    return path.suffix in (".h5", ".hdf5")


def _show_run(path: Path, json: str | None, page: Path | None, console: "Console") -> None:
    from klapper.results import ResultsError, overview
    from klapper.results import read as read_run

    try:
        run = read_run(path)
    except ResultsError as error:
        raise WrongRequest(str(error)) from error
    _write_text(json, overview.as_json(run))
    for number, (title, lines) in enumerate(overview.sections(run).items()):
        console.print("\n" * (number > 0) + title, style="bold cyan")
        for line in lines:
            console.print(f"  {line}", soft_wrap=True)
    if page is not None:
        from klapper.report import write_report

        console.print(f"\nPage: {write_report(run, page).resolve()}", soft_wrap=True)


def _known(record: Record) -> About:
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


def _benchmarks() -> Path:
    """The script of the repository this package runs from, or of the one in the working directory."""
    source = Path(__file__).resolve().parents[2]
    for root in (source, Path.cwd()):
        script = root / "benchmarks" / "run.py"
        if script.is_file() and (root / "src" / "klapper").is_dir():
            return script
    raise WrongRequest("The benchmarks live in the repository: run `klapper bench` from a clone of it.")


if __name__ == "__main__":
    main()
