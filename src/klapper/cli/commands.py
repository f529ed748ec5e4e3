"""The commands and their options, and the entry point of the command line."""

import os
import signal
import subprocess
import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from klapper import __version__
from klapper.cli.ahead import compile_
from klapper.cli.errors import (
    CHECK_FAILED,
    INTERRUPTED,
    WRONG_REQUEST,
    Debug,
    Large,
    WrongRequest,
    one_sentence,
)
from klapper.cli.record import (
    is_run,
    known_example,
    require_page,
    require_writable,
    show_run,
    store_outcome,
    tell_outcome,
    write_record,
    write_text,
)
from klapper.cli.view import export
from klapper.compiling import compilation_told
from klapper.counting import counted
from klapper.gallery import examples, find
from klapper.report.record import read

if TYPE_CHECKING:
    from klapper.results import Run
    from klapper.scenario import Scenario

app = typer.Typer(
    name="klapper",
    help="Nonsmooth mechanics: structures that touch, stick, slip, lift off and hit each other.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


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
    long: Annotated[
        bool, typer.Option("--long", help="Confirm a run of more than 10⁹ steps, or 10⁹ s.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Run an example or a scenario file; exit status 1 if a check or the run fails."""
    with one_sentence(debug):
        if name.endswith(".toml"):
            from klapper.cli.scenario import example_in
            from klapper.scenario import read_scenario

            scenario = read_scenario(name, allow=allow or [])
            if settings:
                raise WrongRequest(f"--set changes parameters of examples: change them in {name} itself.")
            if scenario.kind != "example":
                if export is not None:
                    raise WrongRequest(f"--export writes an example as a file: {name} is one already.")
                _run_scenario(scenario, out, json, overwrite=overwrite, long=long)
                return
            example, given = example_in(scenario)
        else:
            example = find(name)
            given = example.read(settings or [])
        if export is not None:
            from klapper.cli.scenario import export as write_export

            write_export(example, given, export)
            return
        from klapper.simulation import interrupted_runs_kept, long_runs_allowed

        require_writable(out, json)
        start = perf_counter()
        quiet = redirect_stdout(sys.stderr) if json == "-" else nullcontext()
        confirmed = long_runs_allowed() if long else nullcontext()
        with compilation_told(), quiet, confirmed, interrupted_runs_kept() as kept:
            try:
                outcome = example.run(**given)
            except (Exception, KeyboardInterrupt):
                if not kept:
                    raise
                _keep_beginning(kept[0], out)
        seconds = perf_counter() - start
        record, about = example.record(given, outcome), example.introduction(given, outcome)
        page = store_outcome(out, record, about, outcome) if out else None
        write_record(json, record)
        tell_outcome(record, about, seconds, page, stderr=json == "-")
    if any(run.about.get("status") == "interrupted" for run in outcome.shown_runs().values()):
        typer.echo("The run was interrupted: numbers and checks are those of its beginning.", err=True)
        raise typer.Exit(INTERRUPTED)
    if not record.passed:
        raise typer.Exit(CHECK_FAILED)


def _keep_beginning(run: "Run", out: Path | None) -> NoReturn:
    """Store an interrupted run that its example could make nothing of, tell so and leave."""
    told = f"The example was {run.about['message']}, before there was enough to evaluate"
    if out is not None:
        told += f"; the run so far is in {run.save(out / 'runs' / 'interrupted.h5')}"
    typer.echo(f"{told}.", err=True)
    raise typer.Exit(INTERRUPTED)


def _run_scenario(
    scenario: "Scenario", out: Path | None, json: str | None, *, overwrite: bool, long: bool
) -> None:
    """Compute, store and tell the run of a scenario."""
    from klapper.cli.scenario import simulated
    from klapper.report import terminal
    from klapper.results import overview
    from klapper.simulation import SimulationFailed

    folder = scenario.store if out is None else out
    require_writable(folder, json)
    console = terminal.console(stderr=json == "-")
    failed = ""
    try:
        with compilation_told():
            run, page = simulated(scenario, folder, overwrite=overwrite, quiet=json == "-", long=long)
    except SimulationFailed as error:
        run, page, failed = error.run, None, " ".join(str(error).split())
    write_text(json, overview.as_json(run))
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
        from klapper.cli.scenario import write_starter

        written = write_starter(kind, file)
        typer.echo(f"Written: {written}; run it by `klapper run {written}`.", err=True)


@app.command("schema")
def schema_(debug: Debug = False) -> None:
    """Print the JSON schema of scenario files, for editors."""
    with one_sentence(debug):
        from klapper.cli.scenario import schema_text

        typer.echo(schema_text(), nl=False)


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
    large: Large = False,
    debug: Debug = False,
) -> None:
    """Show a stored result, or a stored run, as tables; or write a run as a page."""
    with one_sentence(debug):
        from klapper.report import terminal

        require_writable(None, json)
        require_page(page, path)
        console = terminal.console(stderr=json == "-")
        if is_run(path) and (page is not None or not (path / "result.json").exists()):
            show_run(path, json, page, console, large=large)
            return
        if path.is_dir() and not (path / "result.json").exists():
            raise WrongRequest(f"{path} holds neither result.json nor run.h5.")
        record = read(path)
        write_record(json, record)
        terminal.show(record, known_example(record), console)
        if is_run(path):
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
        from klapper.cli.studio import open_studio
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
    allow: Annotated[
        list[Path] | None,
        typer.Option("--allow", metavar="DIR", help="Another folder for the scenario and the store."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Compute what is missing of a study; exit status 1 if a point failed."""
    with one_sentence(debug):
        from klapper.studies import StudyError
        from klapper.studies.file import read_study
        from klapper.studies.report import write_report

        require_writable(out, None)
        try:
            described, wishes = read_study(path, allow=allow or [])
            described.run(workers=workers, cluster=cluster, retry_failed=retry_failed)
            page = write_report(described, wishes, out) if out else None
        except StudyError as error:
            raise WrongRequest(str(error)) from error
        counts = described.counts()
        typer.echo(
            ", ".join(f"{counted(count, 'point')} {state}" for state, count in counts.items() if count)
        )
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
app.command("compile")(compile_)


def main() -> NoReturn:
    """The entry point: what typer itself refuses is told in one sentence, too."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    if os.environ.get("KLAPPER_PROGRESS") == "lines":
        # Who watches may cancel, also where a shell ignores Ctrl-C.
        signal.signal(signal.SIGINT, signal.default_int_handler)
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


def _benchmarks() -> Path:
    """The script of the repository this package runs from, or of the one in the working directory."""
    source = Path(__file__).resolve().parents[3]
    for root in (source, Path.cwd()):
        script = root / "benchmarks" / "run.py"
        if script.is_file() and (root / "src" / "klapper").is_dir():
            return script
    raise WrongRequest("The benchmarks live in the repository: run `klapper bench` from a clone of it.")
