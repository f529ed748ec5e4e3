"""Clocks that are fair on a machine with other work: the time in which a process waited for a core is taken off.

Linux counts for every thread how long it ran and how long it was ready to run but had no core (``schedstat``). What
remains of the clock is computing and waiting for work, which is the study's own affair. On a quiet machine nothing is
taken off. Without those counts (other systems) the fair clock is the clock.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_EVERY = 0.05  # s between two looks


@dataclass(frozen=True)
class Window:
    """A study from its first points to its end, per point: seconds on the clock and on the fair clock; load before.

    The fair clock of workers has half of the seconds that the study's own process used added, with which it shares two
    cores.
    """

    clock: float
    fair: float
    load: float


def windowed(work: Callable[[], Any], stored: Callable[[], int], count: int, first: int) -> Window:
    """Do the work, which stores ``count`` points, and look at the clocks from the first ``first`` points on."""
    watch = _Watch(stored, first)
    load = os.getloadavg()[0]
    watch.start()
    work()
    end, own = time.perf_counter(), time.process_time()
    here = waited(os.getpid())
    watch.over.set()
    watch.join()
    if watch.begin is None:
        raise RuntimeError(f"the study was over before {first} of its {count} points were seen")
    points, clock = count - watch.points, end - watch.begin
    if watch.waits:
        lost = sum(late - early for early, late in watch.waits.values()) / len(watch.waits)
        fair = clock - lost + 0.5 * (own - watch.own) if lost > 0.0 else clock
    else:
        fair = clock - (here - watch.here)
    return Window(clock / points, fair / points, load)


class _Watch(threading.Thread):
    """Waits for the first points, then looks at the workers, which are gone at the end."""

    def __init__(self, stored: Callable[[], int], first: int) -> None:
        super().__init__(daemon=True)
        self.stored, self.first, self.over = stored, first, threading.Event()
        self.begin: float | None = None
        self.points, self.own, self.here = 0, 0.0, 0.0
        self.waits: dict[int, tuple[float, float]] = {}

    def run(self) -> None:
        while self.stored() < self.first:
            if self.over.wait(_EVERY):
                return
        self.points, self.begin = self.stored(), time.perf_counter()
        self.own, self.here = time.process_time(), waited(os.getpid())
        self.waits = {pid: (waited(pid),) * 2 for pid in workers_of(os.getpid())}
        while not self.over.wait(_EVERY):
            self.waits = {pid: (early, max(waited(pid), late)) for pid, (early, late) in self.waits.items()}


def waited(pid: int) -> float:
    """Seconds for which the first thread of a process was ready to run and had no core; 0 if nobody counts."""
    try:
        return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[1]) * 1e-9
    except (OSError, ValueError, IndexError):
        return 0.0


def workers_of(parent: int) -> list[int]:
    """Processes that Python spawned to compute."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            above = int(path.read_text().rpartition(")")[2].split()[1])
            if above == parent and "spawn_main" in path.with_name("cmdline").read_text():
                found.append(int(path.parent.name))
        except (OSError, ValueError, IndexError):
            continue
    return found
