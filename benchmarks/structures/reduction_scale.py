"""Import and reduction of a large structure with many contacts, then time steps of what is left.

The plates of `benchmarks.structures.plates`, 50 000 unknowns each, are written to files and imported as from another
program. Frequencies of the reduced systems are compared with the closed form, contact flexibilities with those of the
full one. Quasi-static systems have contact compliance and take steps on position level.
"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.page import Section, body
from benchmarks.sides import Answer
from benchmarks.structures.plates import frequency_error, imported, write_files
from benchmarks.structures.side import ask, clocked, serve
from benchmarks.tables import Table, duration, verdict
from klapper.mechanics import LinearSystem
from klapper.reduction import Reduced, attachment, modal, quasi_static
from klapper.schemes import Moreau
from klapper.simulation import simulate

STEP = 2e-5  # s
WARM_UP = 20  # steps
MINUTES, GIGABYTES, STEPS_PER_MINUTE = 10.0, 24.0, 1e5  # targets
REDUCTIONS: dict[str, Callable[[LinearSystem, int], Reduced]] = {
    "modal": modal,
    "quasi-static": quasi_static,
    "attachment": attachment,
}
TARGETED = ("modal", "quasi-static")


def section(*, quick: bool) -> Section:
    if quick:
        sizes = {"grid": (40, 31), "pairs": (5, 4), "modes": 20, "steps": 500}
    else:
        sizes = {"grid": (250, 200), "pairs": (25, 20), "modes": 40, "steps": 100_000}
    names = list(TARGETED) if quick else list(REDUCTIONS)
    answers = {name: ask("reduction_scale", **sizes, reduction=name) for name in names}
    return Section(words(answers))


def measure(grid: np.ndarray, pairs: np.ndarray, modes: int, steps: int, reduction: str) -> dict[str, Any]:
    """Seconds by the clock for import and reduction, peak memory of the process [bytes], what is left, its pace."""
    shape = (int(grid[0]), int(grid[1]))
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), shape, (int(pairs[0]), int(pairs[1])))
        began = perf_counter()
        system = imported(Path(folder))
        reading = perf_counter() - began
    began = perf_counter()
    reduced = REDUCTIONS[reduction](system, modes)
    taken = perf_counter() - began
    return {
        "unknowns": system.size,
        "contacts": system.contacts.count,
        "coordinates": reduced.system.size,
        "reading": reading,
        "reducing": taken,
        "frequencies": frequency_error(reduced.system, shape),
        "lost": np.nanmax(reduced.error.contact),
        **pace(reduced.system, steps),
        "memory": 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }


def pace(system: LinearSystem, steps: int) -> dict[str, Any]:
    """Steps of a run from rest, its seconds by the clock and on the processor, and how many pairs carry force."""
    scheme = Moreau(STEP, theta=1.0, level="velocity" if system.compliance is None else "position")
    simulate(system, WARM_UP * STEP, scheme, progress=False)
    runs: list[Any] = []
    began = perf_counter()
    busy = clocked(lambda: runs.append(simulate(system, steps * STEP, scheme, every=10, progress=False)))
    taken = perf_counter() - began
    run = runs[0]
    pressed = np.count_nonzero(run.impulse[1:, :, 0], axis=1)
    audit = run.about["audit"]
    return {
        "steps": steps, "stepping": taken, "busy": busy, "path": audit["path"], "touching": pressed.mean(),
        "most": pressed.max(), "ledger": audit["ledger residual"],
    }  # fmt: skip


def words(answers: dict[str, Answer]) -> str:
    first = next(iter(answers.values()))
    made = Table(
        "",
        ("reduction", "coordinates", "import", "reduction", "peak memory", "frequencies", "contacts lose", "steps",
         "path", "steps per minute", "pairs touching, mean and most"),
    )  # fmt: skip
    for name, found in answers.items():
        made.add(
            name, str(found["coordinates"]), duration(float(found["reading"])), duration(float(found["reducing"])),
            f"{found['memory'] / 1e9:.1f} GB", f"{found['frequencies']:.0e}", f"{found['lost']:.1e}",
            str(found["steps"]), str(found["path"]), f"{per_minute(found):.2g}",
            f"{found['touching']:.0f}, {found['most']}",
        )  # fmt: skip
    return (
        f"{first['unknowns']} unknowns, {first['contacts']} pairs of nodes, steps of {1e6 * STEP:g} µs; every "
        f"reduction in a process of its own.\n\n{body(made)}\n{body(targets(answers))}"
    )


def targets(answers: dict[str, Answer]) -> Table:
    """The slowest or largest of the reductions that have a target."""
    judged = [answers[name] for name in TARGETED]
    minutes = max(float(each["reading"] + each["reducing"]) for each in judged) / 60.0
    memory = max(float(each["memory"]) for each in judged) / 1e9
    steps = min(per_minute(each) for each in judged)
    made = Table("", ("modal and quasi-static", "worse of both", "target", "verdict"))
    made.add("import and reduction", f"{60 * minutes:.0f} s", f"≤ {MINUTES:g} min", verdict(minutes, MINUTES))
    made.add("peak memory", f"{memory:.1f} GB", f"≤ {GIGABYTES:g} GB", verdict(memory, GIGABYTES))
    made.add(
        "steps per minute",
        f"{steps:.2g}",
        f"≥ {STEPS_PER_MINUTE:.0e}",
        verdict(STEPS_PER_MINUTE / steps, 1.0),
    )
    return made


def per_minute(found: Answer) -> float:
    """Steps per minute on the processor."""
    return 60.0 * float(found["steps"]) / float(found["busy"])


if __name__ == "__main__":
    serve(measure)
