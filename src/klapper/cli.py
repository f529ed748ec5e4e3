"""The command line: ``klapper list``, ``run``, ``show`` and ``bench``.

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
from klapper.gallery import UnknownExample, examples, find
from klapper.gallery.parameter import ParameterError
from klapper.report.record import About, DamagedRecord, Record, read

if TYPE_CHECKING:
    from rich.console import Console

    from klapper.gallery.example import Example, Outcome

CHECK_FAILED, WRONG_REQUEST, UNEXPECTED = 1, 2, 3

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
    name: Annotated[str, typer.Argument(help="The example; `klapper list` shows them.")],
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
    debug: Debug = False,
) -> None:
    """Run an example; exit status 1 if one of its checks fails."""
    with one_sentence(debug):
        example = find(name)
        given = example.read(settings or [])
        _require_writable(out, json)
        start = perf_counter()
        with _word_of_patience(), redirect_stdout(sys.stderr) if json == "-" else nullcontext():
            outcome = example.run(**given)
        seconds = perf_counter() - start
        record, about = example.record(given, outcome), example.introduction(given, outcome)
        page = _store(out, record, about, outcome) if out else None
        _write_json(json, record)
        _tell(record, about, seconds, page, stderr=json == "-")
    if not record.passed:
        raise typer.Exit(CHECK_FAILED)


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
    debug: Debug = False,
) -> None:
    """Show a stored result, or a stored run, as tables."""
    with one_sentence(debug):
        from klapper.report import terminal

        _require_writable(None, json)
        console = terminal.console(stderr=json == "-")
        if _is_run(path) and not (path / "result.json").exists():
            _show_run(path, json, console)
            return
        if path.is_dir() and not (path / "result.json").exists():
            raise WrongRequest(f"{path} holds neither result.json nor run.h5.")
        record = read(path)
        _write_json(json, record)
        terminal.show(record, _known(record), console)
        if _is_run(path):
            console.print(f"The run: klapper show {path / 'run.h5'}", style="dim", soft_wrap=True)


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
    if isinstance(error, UnknownExample | ParameterError | DamagedRecord | WrongRequest):
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


def _store(out: Path, record: Record, about: About, outcome: "Outcome") -> Path:
    from klapper.report.figures import draw
    from klapper.report.folder import store

    return store(out, record, about, draw(outcome.figures))


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


def _show_run(path: Path, json: str | None, console: "Console") -> None:
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
