"""Measurements of studies: a million cheap points, two workers against one, the study's own work per point.

Times on the processor add up this process and its workers (``getrusage``), so that other work on the machine counts
little; a clock beside them says what a user waits for. A study of few points runs first, and its time, in which workers
start and compile, is taken off.
"""

from __future__ import annotations

import resource
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import klapper
from benchmarks.studies.fairness import Window, windowed
from benchmarks.studies.targets import busy, nothing
from benchmarks.tables import Table, duration
from klapper.studies import grid
from klapper.studies.maps.vielsack import drift

CODE = "benchmark"
FIRST = 20  # points after which workers have started


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
    """For one point: seconds of the study's process and of the workers, bytes in the store, bytes of memory."""

    own: float
    workers: float
    size: float
    memory: float
    clock: float


def million(side: int) -> tuple[Table, MapCost]:
    """Vielsack's map of side × side points with two workers."""
    outputs = ["drift", "motion_type"]
    start, _ = study_cost(drift, {"A": [0.5, 0.6], "B": [1.6, 1.7, 1.8]}, outputs, 2, vectorised=True)
    over = {"A": grid(0.001, 0.999, side), "B": grid(0.01, 5.0, side)}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    whole, size = study_cost(drift, over, outputs, 2, vectorised=True)
    count, net = side * side, whole - start
    grown = 1024.0 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    each = MapCost(net.own / count, net.workers / count, size / count, grown / count, whole.clock)
    table = Table(
        "Vielsack's map, two workers",
        ("points", "clock", "of which start", "study per point", "workers per point", "store", "memory"),
    )
    table.add(
        f"{count}",
        f"{whole.clock:.0f} s",
        f"{start.clock:.0f} s",
        duration(each.own),
        duration(each.workers),
        f"{each.size:.0f} bytes per point",
        f"{each.memory:.0f} bytes per point",
    )
    return table, each


@dataclass(frozen=True)
class Pair:
    """One worker and two workers, one after the other."""

    one: Window
    two: Window

    @property
    def efficiency(self) -> float:
        return self.one.clock / (2.0 * self.two.clock)

    @property
    def fair_efficiency(self) -> float:
        return self.one.fair / (2.0 * self.two.fair)


def efficiency(count: int, pairs: int) -> tuple[Table, list[Pair]]:
    """Points of about a millisecond in this process and by two workers, in turns, after the first points are there."""
    done = [Pair(_window(count, 1), _window(count, 2)) for _ in range(pairs)]
    table = Table(
        "Two workers against one, points of a millisecond",
        ("pair", "load", "one, per point", "two, per point", "efficiency", "fair efficiency"),
    )
    for number, pair in enumerate(done, 1):
        table.add(
            str(number),
            f"{pair.two.load:.1f}",
            duration(pair.one.clock),
            duration(pair.two.clock),
            f"{pair.efficiency:.3f}",
            f"{pair.fair_efficiency:.3f}",
        )
    clock, fair = (
        median(values) for values in zip(*((p.efficiency, p.fair_efficiency) for p in done), strict=True)
    )
    table.add("median", "", "", "", f"{clock:.3f}", f"{fair:.3f}")
    return table, done


def _window(count: int, workers: int) -> Window:
    folder = Path(tempfile.mkdtemp())
    study = klapper.study(
        busy, over={"x": grid(0.0, 1.0, count)}, outputs=["value"], store=folder / "s", code=CODE
    )

    def stored() -> int:
        try:
            with closing(sqlite3.connect(f"file:{folder}/s/study.sqlite?mode=ro", uri=True)) as base:
                return int(base.execute("SELECT count(*) FROM points").fetchone()[0])
        except sqlite3.OperationalError:  # nothing there yet
            return 0

    try:
        return windowed(lambda: study.run(workers=workers, progress=False), stored, count, FIRST)
    finally:
        shutil.rmtree(folder)


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
