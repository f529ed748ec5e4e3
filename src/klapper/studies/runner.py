"""The loop of a study: hand out batches, keep every answer at once, go on when a worker dies.

Two batches per worker are under way, so that no worker waits for the next. Answers are written as they arrive, in any
order: the key of a point, not its turn, says what it is.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from time import perf_counter

from klapper.progress import Silent, Tally
from klapper.studies.batch import Answer, Batch, Row, Task, compute
from klapper.studies.crew import Crew, WorkerDied, result_of
from klapper.studies.errors import StudyError
from klapper.studies.work import DEATHS, Pace, Work

_JUDGED = 8  # points after which an output that none of them has is an error of the description
_WATCH = 5.0  # seconds without an answer after which the workers are looked at
_GIVEN_UP = "WorkerDied: the process that computed this point died, with nothing else running."


@dataclass
class Runner:
    """Computes all of ``work``; ``keep`` stores an answer."""

    crew: Crew
    task: Task
    work: Work
    keep: Callable[[Batch, Answer], None]
    line: Tally | Silent
    pace: Pace = field(default_factory=Pace)
    _under_way: dict[Future, Batch] = field(default_factory=dict)
    _suspects: deque[Batch] = field(default_factory=deque)
    _deaths: dict[int, int] = field(default_factory=dict)
    _count: int = 0
    _never: frozenset[str] | None = None

    def run(self) -> None:
        try:
            while self._hand_out():
                self._collect()
        except KeyboardInterrupt:
            self._keep_finished()
            raise
        finally:
            for future in self._under_way:
                future.cancel()

    def _hand_out(self) -> bool:
        """Fill the queue of every worker; whether anything is under way."""
        if self._suspects:
            if not self._under_way:
                self._submit(self._suspects.popleft())
            return True
        while len(self._under_way) < 2 * self.crew.size:
            batch = self.work.take(self.pace.next(self.work.left, self.crew.size))
            if batch is None:
                break
            self._submit(batch)
        return bool(self._under_way)

    def _submit(self, batch: Batch) -> None:
        try:
            self._under_way[self.crew.submit(compute, self.task, batch)] = batch
        except Exception as error:
            if type(error).__name__ != "BrokenProcessPool":
                raise
            self._suspects.append(batch)
            self._lost([])

    def _collect(self) -> None:
        finished, _ = wait(self._under_way, timeout=_WATCH, return_when=FIRST_COMPLETED)
        if not finished:
            self.crew.watch()
        lost = []
        for future in finished:
            batch = self._under_way.pop(future)
            try:
                answer = result_of(future)
            except WorkerDied:
                lost.append(batch)
            else:
                self._accept(batch, answer)
        if lost:
            self._lost(lost)

    def _keep_finished(self) -> None:
        """Store what was computed but not collected yet."""
        for future in [future for future in self._under_way if future.done() and future.exception() is None]:
            self._accept(self._under_way.pop(future), future.result())

    def _accept(self, batch: Batch, answer: Answer) -> None:
        self.pace.learn(answer)
        self._judge(answer)
        self.keep(batch, answer)
        self.work.done(batch, answer)
        self._count += len(answer.rows)
        self.line.count(self._count)

    def _judge(self, answer: Answer) -> None:
        """Stop a study that asks for an output which nothing returns."""
        if all(row.error for row in answer.rows):
            return
        self._never = answer.missing if self._never is None else self._never & answer.missing
        if self._never and (self._count + len(answer.rows) >= _JUDGED or not self.work.left):
            raise StudyError(
                f"{self.task.target.name} returns no {', '.join(sorted(self._never))}; outputs can be "
                f"{', '.join(answer.present)}."
            )

    def _lost(self, batches: list[Batch]) -> None:
        """Workers died: try what they had in smaller parts with nothing else running, give up what kills alone."""
        alone = len(batches) == 1 and not self._under_way
        self.crew.renew()
        for batch in batches:
            if len(batch.numbers) > 1:
                self._suspects.extend(self.work.halve(batch))
                continue
            number = batch.numbers[0]
            self._deaths[number] = self._deaths.get(number, 0) + alone
            if self._deaths[number] < DEATHS:
                self._suspects.append(batch)
            else:
                self._give_up(batch)

    def _give_up(self, batch: Batch) -> None:
        row = Row(_GIVEN_UP, 0.0, (None,) * len(self.task.outputs))
        self._accept(batch, Answer((row,), 0.0, True, {}, {}, frozenset(), ()))


class StudyLine(Tally):
    """The line of progress of a study: points done, rate, time left."""

    def __init__(self, total: int) -> None:
        super().__init__(total, "points")
        self._first = perf_counter()

    def count(self, done: int) -> None:
        rate = done / max(perf_counter() - self._first, 1e-9)
        self._show(float(done), f"{done} of {self._until:.0f} points", f"{rate:.3g} points/s")


def line_for(wanted: bool | None, total: int) -> Tally | Silent:
    """A line if it is wanted, or if nothing is said and errors go to a terminal."""
    show = sys.stderr.isatty() if wanted is None else wanted
    return StudyLine(total) if show else Silent()
