"""Measurements of klapper run in a process of their own on one thread, asked and answering by .npz.

A module that measures ends with `serve(measure)`; `ask("module", …)` runs it and returns the arrays that its `measure`
returned. Times are those on the processor, so that other work on the machine counts little.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from benchmarks.sides import Answer, Side
from klapper import __version__
from klapper.mechanics import LinearSystem
from klapper.schemes import Moreau
from klapper.simulation import simulate


def ask(module: str, *, timeout: float = 3600.0, **request: Any) -> Answer:
    """What ``measure(**request)`` of a module of this folder returns, in a process of its own."""
    command = (sys.executable, "-m", f"benchmarks.structures.{module}")
    return Side("klapper", command).ask("measure", timeout=timeout, **request)


def serve(measure: Callable[..., dict[str, Any]]) -> None:
    """Answer the request named on the command line; the version of klapper is added."""
    with np.load(sys.argv[1]) as stored:
        request = {name: value if value.ndim else value.item() for name, value in stored.items()}
    task = request.pop("task")
    answer = {} if task == "version" else measure(**request)
    np.savez(sys.argv[2], version=__version__, **answer)


def clocked(work: Callable[[], object]) -> float:
    """Seconds on the processor."""
    start = process_time()
    work()
    return process_time() - start


def stepping_seconds(system: LinearSystem, scheme: Moreau, steps: int, repeats: int) -> float:
    """Seconds on the processor for the steps of a run: of a call of `simulate` with a hundred samples, the ledger and
    the audit, less those of a call with one step. Best of the repeats; kernels are compiled before."""
    every = max(steps // 100, 1)

    def run(count: int) -> Callable[[], object]:
        until = system.start.time + count * scheme.step_size
        return lambda: simulate(system, until, scheme, every=every, progress=False)

    run(3)()
    once = min(clocked(run(1)) for _ in range(5))
    return min(clocked(run(steps)) for _ in range(repeats)) - once
