"""What a call of `simulate` costs before and after its steps, and what a saved step costs.

    python -m benchmarks.dynamics.calls [--quick]

Processor time: the best of the repeats, with compiled kernels. A short run has 20 steps of 1 ms; "new system" makes the
system for each run, as a study does. A saved step is that of a ball on a floor, of 10 000 steps that are all saved.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time

from rich.console import Console
from rich.table import Table

from benchmarks.dynamics.users_models import MODELS
from klapper.mechanics import Contact, LinearSystem
from klapper.mechanics.system import System
from klapper.schemes import Moreau
from klapper.simulation import simulate

STEP, SHORT, LONG = 1e-3, 20, 10_000
NAMES = ("double pendulum, wall", "slider-crank with motor", "block on a moving belt")


def ball() -> System:
    """Bounces on a floor."""
    floor = Contact("floor", normal=[1.0], restitution=0.6)
    return LinearSystem([1.0], force=[-10.0], position=[1.25], contacts=[floor])


def best(call: Callable[[], object], repeats: int) -> float:
    """Least processor time [s] of a call, after one that is not counted."""
    call()
    seconds = []
    for _ in range(repeats):
        began = process_time()
        call()
        seconds.append(process_time() - began)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description="What a call of simulate costs.")
    parser.add_argument("--quick", action="store_true", help="few repeats")
    repeats = 10 if parser.parse_args().quick else 100
    table = Table("model", "same system", "new system", title=f"a call of {SHORT} steps")
    builders: dict[str, Callable[[], System]] = {"ball": ball} | {name: MODELS[name].system for name in NAMES}
    for name, build in builders.items():
        system = build()
        same = best(lambda system=system: simulate(system, SHORT * STEP, Moreau(STEP)), repeats)
        fresh = best(lambda build=build: simulate(build(), SHORT * STEP, Moreau(STEP)), repeats)
        table.add_row(name, f"{1e3 * same:.2f} ms", f"{1e3 * fresh:.2f} ms")
    console = Console()
    console.print(table)
    system = ball()
    short, long = (
        best(lambda steps=steps: simulate(system, steps * STEP, Moreau(STEP), every=1), max(repeats // 3, 3))
        for steps in (SHORT, LONG)
    )
    console.print(f"a saved step of the ball: {1e6 * (long - short) / (LONG - SHORT):.2f} µs")


if __name__ == "__main__":
    main()
