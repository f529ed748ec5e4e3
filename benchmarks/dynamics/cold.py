"""What a first run on a machine compiles: 20 steps of a model in a fresh process with an empty cache, and once more.

    python -m benchmarks.dynamics.cold [NAME ...]

Processor time of the whole process [s] with imports, the number of functions that were compiled, and processor time of
the same process with machine code on disk.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from benchmarks.dynamics.calls import ball
from benchmarks.dynamics.users_models import MODELS
from klapper.mechanics.system import System

NAMES = (
    "ball",
    "double pendulum, wall",
    "slider-crank with motor",
    "block on a moving belt",
    "10 masses with a stop, moved base",
    "coin on a turntable",
    "rotor, 10 modes, 9 contacts, friction in the joint",
)
STEPS = 20


def child(name: str) -> None:
    """The run, and what was compiled for it."""
    from numba.core import event

    from klapper.schemes import Moreau
    from klapper.simulation import simulate

    class Compiled(event.Listener):  # type: ignore[misc]
        count = 0

        def on_start(self, event: object) -> None:
            self.count += 1

        def on_end(self, event: object) -> None:
            pass

    compiled = Compiled()
    event.register("numba:compile", compiled)
    build: Callable[[], System] = ball if name == "ball" else MODELS[name].system
    step = 1e-3 if name == "ball" else MODELS[name].step
    system = build()
    run = simulate(system, system.start.time + STEPS * step, Moreau(step))
    print(compiled.count, run.about["audit"]["path"])


def measured(name: str, cache: str) -> tuple[float, str]:
    """Processor time [s] and what the child printed."""
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-m", __spec__.name, "--child", name],
        env=os.environ | {"KLAPPER_CACHE": cache}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    after = os.times()
    used = after.children_user - before.children_user + after.children_system - before.children_system
    return used, done.stdout.strip()


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2])
        return
    table = Table("model", "first run", "functions compiled", "second run")
    for name in sys.argv[1:] or NAMES:
        with tempfile.TemporaryDirectory() as cache:
            first, told = measured(name, cache)
            second, _ = measured(name, cache)
        table.add_row(name, f"{first:.1f} s", told, f"{second:.2f} s")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
