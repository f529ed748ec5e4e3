"""Times klapper's time stepping beside Siconos, Exudyn and MuJoCo on the same models, with the accuracy of each.

    python -m benchmarks.dynamics.run [--quick]

Writes docs/benchmarks_dynamics.md and the picture of the cost per step. A program that is not found is named and left
out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks import sides
from benchmarks.dynamics import accuracy, models, scaling, users
from benchmarks.dynamics.exchange import ask, load
from benchmarks.dynamics.models import Model
from benchmarks.measure import growth_exponent
from benchmarks.sides import Side, SideFailed
from benchmarks.tables import Table, duration, ratio, verdict

PAGE = sides.ROOT / "docs" / "benchmarks_dynamics.md"
TARGETS = {"bouncing ball": 0.1}  # klapper / Siconos; all others: at least as fast
JUDGED = {
    "bouncing ball": ("energy_error", "penetration"),
    "chain": ("energy_ratio", "penetration"),
    "inclined block": ("displacement_error", "creep_speed"),
    "impacting bar": ("contact_duration", "mean_force", "peak_force", "energy_ratio"),
    "settling spheres": ("contacts", "penetration", "final_penetration", "kinetic_energy"),
}

INTRODUCTION = """# Benchmarks of time stepping

Written by `make bench`. The same models in klapper, Siconos, Exudyn and MuJoCo, one process and one thread each.
Times are those of the stepping loop without set-up, best of several repeats; klapper's are those of a call of
`simulate` less those of a call with one step, with a hundred samples saved, the energy ledger and the audit; the other
programs save nothing while they are timed. Debian's Siconos is built with assertions; the costliest are removed here,
and a build without any would be faster by another 10 to 30 % on the small models.

klapper and Siconos run the same scheme (Moreau–Jean) on the same equations, so their trajectories can be compared:
the last column is the largest difference of positions. For the spheres, which are chaotic, it is that of the mean
heights, and each solver is given the same number as tolerance, in its own measure. Exudyn and MuJoCo compute contact
by regularised laws: a spring for the normal, a smoothed friction law. They cannot hold a block on a slope, and the
table shows by how much it creeps. What their parameters were is said with each run; other parameters give other
compromises between accuracy and step size.

Quantities are in SI units; those of the bar are divided by the exact values of the wave solution.
"""

USERS = """## Models of users

Mechanisms, belts, rotors and functions of the position, as users write them, in one run. klapper is a call of
`simulate` with energy ledger, verification of every step and a hundred samples; its loop alone and its general code
(`compiled=False`) stand beside it. Siconos runs the same scheme with the same step on the same equations, Exudyn the
same bodies and joints with an implicit integrator and the same step. MuJoCo, in minimal coordinates and with contacts
that are springs, does less and is shown without a target. The bare loop has neither ledger nor verification nor laws.
The block of Siconos and MuJoCo slides on a plane at rest, seen from the belt; in Siconos it turns little, so that
directions are constant.

<!-- machine -->
<!-- /machine -->

<!-- users -->
<!-- /users -->

### Cost over bodies and coordinates

Time per step of the compiled loop alone.

<!-- growth -->
<!-- /growth -->
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="benchmarks.dynamics.run", description="Time steppers side by side."
    )
    parser.add_argument("--quick", action="store_true", help="fewer steps, fewer spheres")
    parser.add_argument("--siconos-python", default="/usr/bin/python3", help="interpreter that has siconos")
    parser.add_argument("--output", type=Path, default=PAGE, help="Markdown file to write")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 150)
    write(options.siconos_python, quick=options.quick, console=console, output=options.output)


def write(siconos_python: str, *, quick: bool, console: Console, output: Path) -> None:
    """Run everything and write the page."""
    found = find_sides(siconos_python, console)
    with tempfile.TemporaryDirectory() as folder:
        results = {
            case: _results(found, case, model, quick, Path(folder), console)
            for case, model in models.cases(quick=quick).items()
        }
        tables = [
            _table(case, models.cases(quick=quick)[case], rows) for case, rows in results.items() if rows
        ]
    summary = _summary(results)
    for table in (summary, *tables):
        console.print(table.rich())
    cost = scaling.measure(quick=quick)
    picture = output.parent / "images" / "cost_per_step.png"
    scaling.draw(cost, picture)
    parts = [
        INTRODUCTION,
        USERS,
        summary.markdown(),
        *(table.markdown() for table in tables),
        _cost_section(cost, picture),
    ]
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("\n".join(parts), encoding="utf-8")
    users.write(siconos_python, sys.executable, quick=quick, console=console, output=output)


def find_sides(siconos_python: str, console: Console) -> list[Side]:
    """The programs that answer, klapper first."""
    module = "benchmarks.dynamics."
    candidates = (
        Side("klapper", (sys.executable, "-m", module + "klapper_dynamics")),
        Side("Siconos", (siconos_python, "-m", module + "siconos_dynamics")),
        Side("Exudyn", (sys.executable, "-m", module + "exudyn_dynamics")),
        Side("MuJoCo", (sys.executable, "-m", module + "mujoco_dynamics")),
    )
    found = []
    for side in candidates:
        try:
            console.print(f"{side.name} {side.version()}", highlight=False)
            found.append(side)
        except SideFailed as reason:
            console.print(f"{side.name} not found, left out: {reason}", markup=False, highlight=False)
    return found


def _results(
    found: list[Side], case: str, model: Model, quick: bool, folder: Path, console: Console
) -> list[dict[str, Any]]:
    repeats = 1 if model.kind == "settling spheres" else (3 if quick else 5)
    results: list[dict[str, Any]] = []
    for side in found:
        console.print(f"{case}: {side.name}", highlight=False)
        try:
            answers = ask(side, case, model, repeats=repeats, folder=folder, timeout=1200.0)
        except SideFailed as reason:
            console.print(f"  no answer, {reason}", markup=False, highlight=False)
            continue
        for answer in answers:
            if results and results[0]["program"] == "klapper":
                answer["difference"] = accuracy.difference(model, load(results[0]), load(answer))
            results.append(answer)
    return results


def _fastest(results: list[dict[str, Any]], program: str) -> float | None:
    times = [result["seconds_per_step"] for result in results if result["program"] == program]
    return min(times) if times else None


def _summary(results: dict[str, list[dict[str, Any]]]) -> Table:
    table = Table(
        "Time per step",
        (
            "model",
            "steps",
            "klapper",
            "Siconos",
            "klapper / Siconos",
            "target",
            "verdict",
            "Exudyn",
            "MuJoCo",
        ),
    )
    for case, rows in results.items():
        if not rows:
            continue
        ours, theirs = _fastest(rows, "klapper"), _fastest(rows, "Siconos")
        against = None if ours is None or theirs is None else ours / theirs
        target = TARGETS.get(rows[0]["model"], 1.0)
        others = (duration(_fastest(rows, program)) for program in ("Exudyn", "MuJoCo"))
        table.add(
            case, str(rows[0]["steps"]), duration(ours), duration(theirs), ratio(against), f"≤ {target:g}",
            verdict(against, target), *others,
        )  # fmt: skip
    return table


def _table(case: str, model: Model, results: list[dict[str, Any]]) -> Table:
    judged = JUDGED[model.kind]
    names = tuple(name.replace("_", " ") for name in judged)
    table = Table(
        case[0].upper() + case[1:],
        ("program", "settings", "steps", "time per step", *names, "difference to klapper / m"),
    )
    for result in results:
        numbers = (f"{result['accuracy'][name]:.3g}" for name in judged)
        apart = f"{result['difference']:.1e}" if "difference" in result else "–"
        table.add(
            f"{result['program']} {result['version']}", result["settings"], str(result["steps"]),
            duration(result["seconds_per_step"]), *numbers, apart,
        )  # fmt: skip
    return table


def _cost_section(cost: dict[str, tuple[np.ndarray, np.ndarray]], picture: Path) -> str:
    table = Table(
        "Cost per step against the number of contacts", ("model", "contacts", "time per step", "slope")
    )
    for name, (contacts, seconds) in cost.items():
        slope = growth_exponent(contacts.astype(float), seconds)
        for k, (count, time) in enumerate(zip(contacts, seconds, strict=True)):
            table.add(
                name, f"{count:.0f}", duration(float(time)), f"{slope:.2f}" if k == len(contacts) - 1 else ""
            )
    return table.markdown() + f"\n![Cost per step against the number of contacts](images/{picture.name})\n"


if __name__ == "__main__":
    main()
