"""A progress line for long work: time reached, steps, closed contacts, drift of the ledger; or a count of pieces.

With ``KLAPPER_PROGRESS=lines`` in the environment it is written for a program that watches, as lines of JSON on
standard error: ``{"progress": {"share": 0.43, "now": "0.43 s", "facts": "step 215 …"}}``.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from html import escape
from types import TracebackType
from typing import Any, Protocol, Self

__all__ = ["Progress", "ProgressBar", "Silent", "Tally", "progress_for", "tally_for"]

_MOMENT = 1.0  # seconds of work before anything is shown
_LINE_EVERY = 0.2  # seconds between lines of JSON


class Progress(Protocol):
    """What the time loop tells its progress to: :class:`ProgressBar` on a terminal, :class:`Silent` elsewhere.

    ``update(now, step, facts)``  the time reached [s], number of the step, "contacts" closed, "drift" of the ledger [J]

    >>> from klapper.progress import Silent
    >>> with Silent() as progress:
    ...     progress.update(0.5, 500, {"contacts": 2, "drift": 1e-12})
    """

    def __enter__(self) -> Any: ...

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def update(self, now: float, step: int, facts: dict[str, float]) -> None: ...


class Silent:
    """Progress that shows nothing.

    >>> from klapper.progress import Silent
    >>> Silent().count(3)
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return None

    def update(self, now: float, step: int, facts: dict[str, float]) -> None:
        return None

    def count(self, done: int) -> None:
        return None


class _Lines:
    """Stands for the bar of a terminal where a program watches; what cannot be written is left out."""

    def __init__(self, total: float) -> None:
        self._total, self._last = total, 0.0

    def update(self, task: Any, *, completed: float, now: str, facts: str) -> None:
        if time.perf_counter() - self._last < _LINE_EVERY:
            return
        self._last = time.perf_counter()
        share = min(max(completed / self._total, 0.0), 1.0) if self._total > 0 else 0.0
        with suppress(OSError, ValueError):
            line = json.dumps({"progress": {"share": share, "now": now, "facts": facts}})
            print(line, file=sys.stderr, flush=True)

    def stop(self) -> None:
        return None


class _Cell:
    """Stands for the bar of a terminal in a notebook: a bar below the cell, gone when the work is done."""

    def __init__(self, total: float) -> None:
        from IPython.display import display

        self._total, self._last = total, 0.0
        self._handle = display({"text/plain": ""}, raw=True, display_id=True)

    def update(self, task: Any, *, completed: float, now: str, facts: str) -> None:
        if time.perf_counter() - self._last < _LINE_EVERY:
            return
        self._last = time.perf_counter()
        share = min(max(completed / self._total, 0.0), 1.0) if self._total > 0 else 0.0
        text = f"{share:.0%}  {now}  {facts}"
        bar = f'<progress max="1" value="{share:.4f}"></progress> <code>{escape(text)}</code>'
        self._handle.update({"text/plain": text, "text/html": bar}, raw=True)

    def stop(self) -> None:
        self._handle.update({"text/plain": "", "text/html": ""}, raw=True)


def _in_notebook() -> bool:
    """Whether the work is asked for by the cell of a notebook."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return shell is not None and hasattr(shell, "kernel")


class ProgressBar:
    """One line on the terminal's error stream, from the second second of work on.

    ``start`` and ``until`` [s] are the first and the last time of the run.

    >>> from klapper.progress import ProgressBar
    >>> with ProgressBar(start=0.0, until=2.0) as bar:  # nothing is seen of work that takes less than a second
    ...     bar.update(1.0, 1000, {"contacts": 2, "drift": 1e-12})
    """

    def __init__(self, start: float, until: float) -> None:
        self._start, self._until = start, until
        self._bar: Any = None
        self._task: Any = None
        self._begun = 0.0

    def __enter__(self) -> Self:
        self._begun = time.perf_counter()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, now: float, step: int, facts: dict[str, float]) -> None:
        words = f"step {step}  contacts {facts['contacts']:.0f}  ledger {facts['drift']:+.1e} J"
        self._show(now, f"{now:.4g} s", words)

    def _show(self, now: float, place: str, words: str) -> None:
        if self._bar is None:
            if not _lines_wanted() and time.perf_counter() - self._begun < _MOMENT:
                return
            self._open()
        self._bar.update(self._task, completed=now - self._start, now=place, facts=words)

    def _open(self) -> None:
        if _lines_wanted():
            self._bar = _Lines(self._until - self._start)
            return
        if _in_notebook():
            self._bar = _Cell(self._until - self._start)
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress as RichProgress, TextColumn, TimeRemainingColumn

        self._bar = RichProgress(
            TextColumn("{task.fields[now]}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[facts]}"),
            console=Console(file=sys.stderr),
            transient=True,
        )
        self._task = self._bar.add_task("", total=self._until - self._start, now="", facts="")
        self._bar.start()


class Tally(ProgressBar):
    """The same line for pieces of work: ``total`` of them, called ``what``, e.g. the points of a map.

    >>> from klapper.progress import Tally
    >>> with Tally(100, "points") as tally:  # after a second it would show "3 of 100 points"
    ...     tally.count(3)
    """

    def __init__(self, total: int, what: str) -> None:
        super().__init__(0.0, float(total))
        self._what = what

    def count(self, done: int) -> None:
        """So many pieces are done."""
        self._show(float(done), f"{done} of {self._until:.0f} {self._what}", "")


def progress_for(wanted: bool | None, start: float, until: float) -> Progress:
    """A bar if it is wanted, or if it is not said and errors go to a terminal.

    ``start`` and ``until`` [s] are those of the run.

    >>> from klapper.progress import progress_for
    >>> type(progress_for(False, 0.0, 2.0)).__name__
    'Silent'
    """
    return ProgressBar(start, until) if _shown(wanted) else Silent()


def tally_for(wanted: bool | None, total: int, what: str) -> Tally | Silent:
    """A line that counts ``total`` pieces of ``what``, if it is ``wanted``; None: as :func:`progress_for` decides.

    >>> from klapper.progress import tally_for
    >>> type(tally_for(True, 100, "points")).__name__
    'Tally'
    """
    return Tally(total, what) if _shown(wanted) else Silent()


def _shown(wanted: bool | None) -> bool:
    return (sys.stderr.isatty() or _lines_wanted() or _in_notebook()) if wanted is None else wanted


def _lines_wanted() -> bool:
    return os.environ.get("KLAPPER_PROGRESS") == "lines"
