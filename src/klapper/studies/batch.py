"""A batch of points, as it travels to a worker, and its answer.

Outputs travel as plain values: numbers, truth values, texts, or JSON for lists and arrays. The first batch of a worker
loads and compiles what the target needs, so that its time says nothing about the points: it is ``cold``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from klapper.studies.errors import StudyError
from klapper.studies.identity import seed_sequence
from klapper.studies.target import START, Evaluated, Failure, Target, rows_of

_warm: set[str] = set()  # targets that this process has computed before


@dataclass(frozen=True)
class Task:
    """What is the same for all batches: target, constant parameters, wanted outputs, seed, version of the code.

    ``code`` is empty if the user vouches for it; otherwise a worker with other code refuses to compute.
    """

    target: Target
    constants: Mapping[str, Any]
    outputs: tuple[str, ...]
    seed: int
    code: str
    continued: bool = False


@dataclass(frozen=True)
class Batch:
    """Points by their numbers in the study, the values that vary, replicates, and the state to start from."""

    numbers: tuple[int, ...]
    columns: Mapping[str, Sequence[Any]]
    replicates: Sequence[int]
    start: Any = None


@dataclass(frozen=True)
class Row:
    """One computed point: ``error`` is empty if it is done; ``values`` are its outputs, ``state`` JSON or None."""

    error: str
    seconds: float
    values: tuple[Any, ...]
    state: str | None = None


@dataclass(frozen=True)
class Answer:
    """Rows of a batch; ``kinds`` and ``units`` of its outputs, outputs that no point had, names that there were."""

    rows: tuple[Row, ...]
    seconds: float
    cold: bool
    kinds: Mapping[str, str]
    units: Mapping[str, str]
    missing: frozenset[str]
    present: tuple[str, ...]


def compute(task: Task, batch: Batch) -> Answer:
    """Compute a batch; runs in a worker. A point that fails carries its error and does not stop the others."""
    if task.code and task.target.code != task.code:
        raise StudyError(
            f"a worker has other code ({task.target.code}) than this process ({task.code}): install the same version "
            "everywhere, or give the study a `code` of your own."
        )
    cold = task.target.name not in _warm
    begin = perf_counter()
    evaluated, times = (_in_a_line if task.continued else _independent)(task, batch)
    seconds = perf_counter() - begin
    _warm.add(task.target.name)
    return _answer(task, evaluated, times, seconds, cold)


def _independent(task: Task, batch: Batch) -> tuple[Evaluated, list[float]]:
    columns = dict(batch.columns)
    if task.target.random is not None:
        columns[task.target.random] = [
            _randomness(task, values, replicate)
            for values, replicate in zip(
                rows_of(batch.columns, task.constants), batch.replicates, strict=True
            )
        ]
    begin = perf_counter()
    try:
        evaluated = task.target.evaluate(columns, task.constants)
    except Exception as error:
        evaluated = Evaluated([Failure.of(error)] * len(batch.numbers))
    share = (perf_counter() - begin) / len(batch.numbers)
    return evaluated, [share] * len(batch.numbers)


def _in_a_line(task: Task, batch: Batch) -> tuple[Evaluated, list[float]]:
    """One point after the other, each from the state of the last one that was computed."""
    points: list[Mapping[str, Any] | Failure] = []
    times: list[float] = []
    units: dict[str, str] = {}
    state = batch.start
    for k in range(len(batch.numbers)):
        begin = perf_counter()
        columns = {name: [column[k]] for name, column in batch.columns.items()} | {START: [state]}
        try:
            one = task.target.evaluate(columns, task.constants)
            points += one.points
            units |= one.units
        except Exception as error:
            points.append(Failure.of(error))
        if not isinstance(points[-1], Failure):
            state = points[-1].get("state", state)
        times.append(perf_counter() - begin)
    return Evaluated(points, units), times


def _randomness(task: Task, values: Mapping[str, Any], replicate: int) -> Any:
    from numpy.random import default_rng

    sequence = seed_sequence(values, replicate, task.seed)
    return (
        default_rng(sequence)
        if task.target.random == "generator"
        else int(sequence.generate_state(1)[0] >> 1)
    )


def _answer(task: Task, evaluated: Evaluated, times: list[float], seconds: float, cold: bool) -> Answer:
    rows: list[Row] = []
    kinds: dict[str, str] = {}
    missing = set(task.outputs)
    present: tuple[str, ...] = ()
    for point, time in zip(evaluated.points, times, strict=True):
        if isinstance(point, Failure):
            rows.append(Row(point.text, time, (None,) * len(task.outputs)))
            continue
        present = tuple(point)
        missing -= point.keys()
        try:
            stored = [_stored(point.get(name)) for name in task.outputs]
            state = json.dumps(_plain(point.get("state"))) if task.continued else None
        except TypeError as error:
            rows.append(Row(Failure.of(error).text, time, (None,) * len(task.outputs)))
            continue
        kinds |= {name: kind for name, (kind, _) in zip(task.outputs, stored, strict=True) if kind}
        rows.append(Row("", time, tuple(value for _, value in stored), state))
    none_done = all(row.error for row in rows)
    units = {name: unit for name, unit in evaluated.units.items() if name in task.outputs}
    return Answer(
        tuple(rows), seconds, cold, kinds, units, frozenset() if none_done else frozenset(missing), present
    )


def _stored(value: Any) -> tuple[str, Any]:
    """Kind (empty for nothing) and the form in which the store keeps a value."""
    if type(value) is float:
        return "number", None if math.isnan(value) else value
    value = _plain(value)
    if value is None:
        return "", None
    if isinstance(value, bool):
        return "truth", int(value)
    if isinstance(value, int | float):
        return "number", value
    return ("text", value) if isinstance(value, str) else ("list", json.dumps(value))


def _plain(value: Any) -> Any:
    """Numpy's types in Python's; :class:`TypeError` for what a table cannot hold."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(
        f"an output is a {type(value).__name__}: give numbers, truth values, texts or lists of these"
    )
