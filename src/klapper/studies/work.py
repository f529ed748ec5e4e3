"""Which batch comes next: points that stand alone, or lines in which each point starts from its neighbour.

Batches are sized by the measured time per point. A batch whose worker died comes back, is halved, and is then computed
with nothing else running, until the point that kills its worker is known; it is marked as failed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from klapper.studies.batch import Answer, Batch

WANTED_SECONDS = 0.5  # of a batch: long beside scheduling (some ms), short beside a coffee
DEATHS = 2  # of workers, with nothing else running, until a point is given up
_GROWTH = 8


@dataclass
class Pace:
    """Points per batch from the measured time per point; one point until a warm worker has answered."""

    size: int = 1
    seconds_per_point: float | None = None

    def learn(self, answer: Answer) -> None:
        if answer.cold:
            return
        measured = max(answer.seconds, 1e-9) / len(answer.rows)
        before = self.seconds_per_point
        self.seconds_per_point = measured if before is None else 0.5 * (before + measured)
        self.size = max(1, min(int(WANTED_SECONDS / self.seconds_per_point), _GROWTH * self.size))

    def next(self, left: int, workers: int) -> int:
        """Points of the next batch; smaller towards the end, so that no worker waits long for another."""
        return max(1, min(self.size, -(-left // (2 * workers))))


class Work(Protocol):
    """Batches to be computed."""

    @property
    def left(self) -> int: ...

    def take(self, count: int) -> Batch | None:
        """A batch of up to ``count`` points, or None if none is ready."""

    def done(self, batch: Batch, answer: Answer) -> None:
        """The batch was computed."""

    def halve(self, batch: Batch) -> list[Batch]:
        """A batch that killed its worker, in parts to be tried alone."""


@dataclass
class Independent:
    """Points in any order."""

    columns: Mapping[str, Sequence[Any]]
    replicates: Sequence[int]
    numbers: Sequence[int]
    _next: int = 0

    @property
    def left(self) -> int:
        return len(self.numbers) - self._next

    def take(self, count: int) -> Batch | None:
        chosen = tuple(self.numbers[self._next : self._next + count])
        self._next += len(chosen)
        return self._batch(chosen) if chosen else None

    def done(self, batch: Batch, answer: Answer) -> None:
        return None

    def halve(self, batch: Batch) -> list[Batch]:
        middle = len(batch.numbers) // 2
        return [self._batch(part) for part in (batch.numbers[:middle], batch.numbers[middle:]) if part]

    def _batch(self, numbers: tuple[int, ...]) -> Batch:
        columns = {name: [column[k] for k in numbers] for name, column in self.columns.items()}
        return Batch(numbers, columns, [self.replicates[k] for k in numbers])


@dataclass
class Line:
    """Points in their order; ``state`` is that of the last one computed."""

    numbers: deque[int]
    state: Any = None


@dataclass
class Lines:
    """Lines side by side, each computed by one worker at a time; ``known`` are states by number that are stored."""

    columns: Mapping[str, Sequence[Any]]
    lines: Sequence[Line]
    known: Mapping[int, Any]
    _waiting: deque[Line] = field(default_factory=deque)
    _of: dict[int, Line] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for line in self.lines:
            self._skip(line)
            self._waiting.append(line)

    @property
    def left(self) -> int:
        return sum(number not in self.known for line in self.lines for number in line.numbers)

    def take(self, count: int) -> Batch | None:
        while self._waiting:
            line = self._waiting.popleft()
            chosen: list[int] = []
            while line.numbers and len(chosen) < count and line.numbers[0] not in self.known:
                chosen.append(line.numbers.popleft())
            if chosen:
                self._of[chosen[0]] = line
                return self._batch(tuple(chosen), line.state)
        return None

    def done(self, batch: Batch, answer: Answer) -> None:
        import json

        line = self._of.pop(batch.numbers[0])
        for row in answer.rows:
            if not row.error and row.state is not None:
                line.state = json.loads(row.state)
        self._skip(line)
        self._waiting.append(line)

    def halve(self, batch: Batch) -> list[Batch]:
        """The first point alone; the others wait in their line for its state."""
        line = self._of.pop(batch.numbers[0])
        line.numbers.extendleft(reversed(batch.numbers[1:]))
        self._of[batch.numbers[0]] = line
        return [self._batch(batch.numbers[:1], batch.start)]

    def _skip(self, line: Line) -> None:
        """Pass over points that are stored and take their state."""
        while line.numbers and line.numbers[0] in self.known:
            state = self.known[line.numbers.popleft()]
            line.state = line.state if state is None else state

    def _batch(self, numbers: tuple[int, ...], start: Any) -> Batch:
        columns = {name: [column[k] for k in numbers] for name, column in self.columns.items()}
        return Batch(numbers, columns, [0] * len(numbers), start)
