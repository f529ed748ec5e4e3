"""Measurements of studies: a million cheap points, two workers against one, the study's own work per point.

Times on the processor add up this process and its workers (``getrusage``), so that other work on the machine counts
little; a clock beside them says what a user waits for. A study of few points runs first, and its time, in which workers
start and compile, is taken off.
"""

from __future__ import annotations

import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import klapper
from benchmarks.studies.targets import busy, nothing
from benchmarks.tables import Table, duration
from klapper.studies import grid
from klapper.studies.vielsack import drift

CODE = "benchmark"


@dataclass(frozen=True)
class Cost:
    """Seconds on the processor of the study's process and of its workers, and on the clock."""

    own: float
    workers: float
    clock: float

    @property
    def total(self) -> float:
        return self.own + self.workers

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.own - other.own, self.workers - other.workers, self.clock - other.clock)


def cost(work: Callable[[], Any]) -> Cost:
    def used(who: int) -> float:
        usage = resource.getrusage(who)
        return usage.ru_utime + usage.ru_stime

    own, workers, clock = used(resource.RUSAGE_SELF), used(resource.RUSAGE_CHILDREN), time.perf_counter()
    work()
    return Cost(
        used(resource.RUSAGE_SELF) - own,
        used(resource.RUSAGE_CHILDREN) - workers,
        time.perf_counter() - clock,
    )


def study_cost(
    target: Any, over: Any, outputs: list[str], workers: int, **options: Any
) -> tuple[Cost, float]:
    """Cost of a study in a store of its own, and the size of the store [bytes]."""
    folder = Path(tempfile.mkdtemp())
    try:
        study = klapper.study(target, over=over, outputs=outputs, store=folder / "s", code=CODE, **options)
        spent = cost(lambda: study.run(workers=workers, progress=False))
        size = sum(file.stat().st_size for file in (folder / "s").iterdir())
        done = study.counts()["done"]
        if done != len(study.design):
            raise RuntimeError(f"{done} of {len(study.design)} points are done")
        return spent, size
    finally:
        shutil.rmtree(folder)


@dataclass(frozen=True)
class MapCost:
    """Seconds of the study's process and of the workers, and bytes in the store, for one point."""

    own: float
    workers: float
    size: float


def million(side: int) -> tuple[Table, MapCost]:
    """Vielsack's map of side × side points with two workers."""
    outputs = ["drift", "motion_type"]
    start, _ = study_cost(drift, {"A": [0.5, 0.6], "B": [1.6, 1.7, 1.8]}, outputs, 2, vectorised=True)
    over = {"A": grid(0.001, 0.999, side), "B": grid(0.01, 5.0, side)}
    whole, size = study_cost(drift, over, outputs, 2, vectorised=True)
    count, net = side * side, whole - start
    each = MapCost(net.own / count, net.workers / count, size / count)
    table = Table(
        "Vielsack's map, two workers",
        ("points", "clock", "of which start", "study per point", "workers per point", "store per point"),
    )
    table.add(
        f"{count}",
        f"{whole.clock:.0f} s",
        f"{start.clock:.0f} s",
        duration(each.own),
        duration(each.workers),
        f"{each.size:.0f} bytes",
    )
    return table, each


def efficiency(count: int) -> tuple[Table, float]:
    """Points of about a millisecond with two workers, against the same points in one process."""
    alone = cost(lambda: [busy(x) for x in grid(0.0, 1.0, count)])
    start, _ = study_cost(busy, {"x": grid(2.0, 3.0, 4)}, ["value"], 2)
    one, _ = study_cost(busy, {"x": grid(0.0, 1.0, count)}, ["value"], 1)
    two, _ = study_cost(busy, {"x": grid(0.0, 1.0, count)}, ["value"], 2)
    net = two - start
    reached = alone.total / net.total
    table = Table("Points of a millisecond", ("", "processor", "clock", "ratio of processor times"))
    table.add("the function alone, in a loop", f"{alone.total:.2f} s", f"{alone.clock:.1f} s", "1")
    table.add(
        "a study in this process",
        f"{one.total:.2f} s",
        f"{one.clock:.1f} s",
        f"{alone.total / one.total:.3f}",
    )
    table.add(
        "a study with two workers, started", f"{net.total:.2f} s", f"{two.clock:.1f} s", f"{reached:.3f}"
    )
    table.add("start of two workers", f"{start.total:.2f} s", f"{start.clock:.1f} s", "–")
    return table, reached


def overhead(count: int) -> tuple[Table, float]:
    """What the study itself costs per point, with points that cost nothing."""
    start, _ = study_cost(nothing, {"x": grid(2.0, 3.0, 4)}, ["value"], 2)
    table = Table("The study's own work per point", ("", "study", "workers", "together", "clock"))
    worst = 0.0
    for words, workers in (("in this process", 1), ("two workers", 2)):
        spent, _ = study_cost(nothing, {"x": grid(0.0, 1.0, count)}, ["value"], workers)
        net = spent - start if workers == 2 else spent
        worst = max(worst, net.total / count)
        table.add(words, *(duration(value / count) for value in (net.own, net.workers, net.total, net.clock)))
    return table, worst
