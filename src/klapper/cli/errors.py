"""How the command line tells an error, and with which status it ends.

Exit status 0: done; 1: a check, a run or a point of a study failed, or nobody reads the output any more (a broken
pipe); 2: the request is wrong, told in one sentence; 3: an unexpected error, whose traceback ``--debug`` shows; 130:
interrupted.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from klapper.doors.text import printable
from klapper.gallery import UnknownExample
from klapper.gallery.parameter import ParameterError
from klapper.report.record import DamagedRecord
from klapper.results.errors import ResultsError
from klapper.scenario.errors import ScenarioError

CHECK_FAILED, WRONG_REQUEST, UNEXPECTED, INTERRUPTED = 1, 2, 3, 130
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

Large = Annotated[
    bool,
    typer.Option("--large", help="Read a small file that unpacks to very much: a motion at rest, or a trap."),
]


class WrongRequest(ValueError):
    """What was asked for cannot be done, for a reason the user can change."""


_SENTENCES = (UnknownExample, ParameterError, DamagedRecord, ResultsError, ScenarioError, WrongRequest)


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
    text = printable(" ".join(str(error).split()))
    if isinstance(error, _SENTENCES):
        return text, WRONG_REQUEST
    if isinstance(error, OSError) and error.filename is not None:
        return printable(f"{error.filename}: {error.strerror}."), WRONG_REQUEST
    return f"{type(error).__name__}: {text.removesuffix('.')} (--debug shows the traceback).", UNEXPECTED
