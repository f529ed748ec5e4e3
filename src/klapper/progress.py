"""A progress line for long work: time reached, steps, closed contacts, drift of the ledger; or a count of pieces."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Protocol, Self

_MOMENT = 1.0  # seconds of work before anything is shown


class Progress(Protocol):
    def __enter__(self) -> Any: ...

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def update(self, now: float, step: int, facts: dict[str, float]) -> None: ...


class Silent:
    """Shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return None

    def update(self, now: float, step: int, facts: dict[str, float]) -> None:
        return None

    def count(self, done: int) -> None:
        return None


class Bar:
    """One line on the terminal's error stream, from the second second of work on."""

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
            if time.perf_counter() - self._begun < _MOMENT:
                return
            self._open()
        self._bar.update(self._task, completed=now - self._start, now=place, facts=words)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

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


class Tally(Bar):
    """The same line for pieces of work, e.g. the points of a map."""

    def __init__(self, total: int, what: str) -> None:
        super().__init__(0.0, float(total))
        self._what = what

    def count(self, done: int) -> None:
        """So many pieces are done."""
        self._show(float(done), f"{done} of {self._until:.0f} {self._what}", "")


def progress_for(wanted: bool | None, start: float, until: float) -> Progress:
    """A bar if it is wanted, or if it is not said and errors go to a terminal."""
    show = sys.stderr.isatty() if wanted is None else wanted
    return Bar(start, until) if show else Silent()


def tally_for(wanted: bool | None, total: int, what: str) -> Tally | Silent:
    """A line that counts ``total`` pieces of work, shown when :func:`progress_for` would show one."""
    show = sys.stderr.isatty() if wanted is None else wanted
    return Tally(total, what) if show else Silent()
