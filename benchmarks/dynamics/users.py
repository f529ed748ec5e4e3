"""Times models of users' kinds beside other programs, and writes what is found into docs/benchmarks_dynamics.md.

    python -m benchmarks.dynamics.users [--quick] [--only NAME …] [--peers-python PYTHON] [--siconos-python PYTHON]

PYTHON is the interpreter of an environment with exudyn and mujoco. klapper and its peer are asked in turns, and the
best of the turns counts, in processor time.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.dynamics.users_models import MODELS, matrices
from benchmarks.measure import growth_exponent
from benchmarks.page import Section, body, measure
from benchmarks.sides import ROOT, Side, SideFailed
from benchmarks.tables import Table, duration, ratio, verdict

PAGE = ROOT / "docs" / "benchmarks_dynamics.md"
PEERS = {
    "slider-crank with motor": ("Exudyn",),
    "double pendulum, wall": ("MuJoCo",),
    "chain of 20 hinged bodies on the ground": ("MuJoCo",),
    "coin on a turntable": ("MuJoCo",),
    "block on a moving belt": ("Siconos", "MuJoCo"),
    "woodpecker": ("Siconos",),
    "10 masses with a rough stop, gyroscopic": ("Siconos",),
}
TRIAL, PEER, WITHOUT, ANY = 4.0, 0.5, 3.0, 100e-6
FEW_CONTACTS, FEW_COORDINATES = 10, 30
GROWN = (5, 10, 20, 40, 80)


@dataclass
class Found:
    """The best of the turns of one model; seconds per step."""

    klapper: dict[str, Any] = field(default_factory=dict)
    peers: dict[str, tuple[float, str]] = field(default_factory=dict)

    def take(self, answer: dict[str, np.ndarray]) -> None:
        for name, value in answer.items():
            number = value.item() if value.ndim == 0 else value
            old = self.klapper.get(name)
            timed = name in ("seconds", "loop", "general", "without", "trial")
            self.klapper[name] = min(old, number) if timed and old is not None else number

    def take_peer(self, name: str, answer: dict[str, np.ndarray]) -> None:
        seconds = float(answer["seconds_per_step"])
        if name not in self.peers or seconds < self.peers[name][0]:
            self.peers[name] = seconds, str(answer["settings"])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.dynamics.users", description="Time models of users' kinds."
    )
    parser.add_argument("--quick", action="store_true", help="one turn, nothing in docs/ is changed")
    parser.add_argument("--only", nargs="*", choices=["users", "growth"], help="these measurements only")
    parser.add_argument("--peers-python", default=sys.executable, help="interpreter with exudyn and mujoco")
    parser.add_argument("--siconos-python", default="/usr/bin/python3", help="interpreter that has siconos")
    parser.add_argument("--output", type=Path, default=PAGE, help="Markdown file to write")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 200)
    write(
        options.siconos_python,
        options.peers_python,
        quick=options.quick,
        console=console,
        output=options.output,
        only=options.only,
    )


def write(
    siconos_python: str,
    peers_python: str,
    *,
    quick: bool,
    console: Console,
    output: Path,
    only: Sequence[str] | None = None,
) -> None:
    """Put both sections between their marks on the page."""
    module = "benchmarks.dynamics.users_"
    sides = {
        "klapper": Side("klapper", (sys.executable, "-m", module + "klapper")),
        "Siconos": Side("Siconos", (siconos_python, "-m", module + "siconos")),
        "Exudyn": Side("Exudyn", (peers_python, "-m", module + "exudyn")),
        "MuJoCo": Side("MuJoCo", (peers_python, "-m", module + "mujoco")),
    }
    sections = {
        "users": partial(users, sides, 1 if quick else 3, console),
        "growth": partial(growth, sides["klapper"], quick),
    }
    measure(
        PAGE,
        {name: sections[name] for name in only or sections},
        pictures="dynamics",
        quick=quick,
        console=console,
        output=output,
        machine={
            "processes that wanted to run": f"{os.getloadavg()[0]:.1f} in the minute before, by the load average; the "
            "tables of users' models were measured on a machine shared with other work, in processor time"
        },
    )


def users(sides: dict[str, Side], turns: int, console: Console) -> Section:
    found: dict[str, Found] = {name: Found() for name in MODELS}
    missing: dict[str, str] = {}
    for name, model in MODELS.items():
        given = matrices(name) or {}
        for _ in range(turns):
            found[name].take(sides["klapper"].ask("users", model=name, timeout=1200.0))
            for peer in PEERS.get(name, ()):
                request = given if peer == "Siconos" else {}
                try:
                    answer = sides[peer].ask(
                        "users", model=name, step=model.step, steps=model.steps, **request
                    )
                    found[name].take_peer(peer, answer)
                except SideFailed as reason:
                    missing[peer] = str(reason)
        seconds = found[name].klapper["seconds"]
        console.print(f"{name}: {duration(seconds)} {found[name].peers}", markup=False, highlight=False)
    words = body(_times(found)) + "\n" + body(_targets(found)) + "\n" + _remarks(found)
    left_out = "".join(f"\n{peer} gave no answer: {reason}.\n" for peer, reason in missing.items())
    return Section(words + left_out)


def _times(found: dict[str, Found]) -> Table:
    table = Table(
        "Models of users",
        (
            "model",
            "coordinates",
            "contacts",
            "step",
            "klapper",
            "its loop alone",
            "its general code",
            "beside it",
        ),
    )
    for name, one in found.items():
        ours = one.klapper
        beside = [f"{duration(seconds)} {peer}" for peer, (seconds, _) in one.peers.items()]
        if "trial" in ours:
            beside.append(f"{duration(ours['trial'])} bare loop")
        if "without" in ours:
            beside.append(f"{duration(ours['without'])} without {MODELS[name].lacks}")
        table.add(
            name, str(ours["coordinates"]), str(ours["contacts"]), f"{1e3 * MODELS[name].step:.3g} ms",
            duration(ours["seconds"]), duration(ours["loop"]), duration(ours["general"]), "; ".join(beside) or "–",
        )  # fmt: skip
    return table


def _targets(found: dict[str, Found]) -> Table:
    """Each time divided by what it is compared with."""
    table = Table("Targets", ("model", "klapper over", "ratio or time", "target", "verdict"))
    for name, one in found.items():
        ours, seconds = one.klapper, one.klapper["seconds"]
        compared: list[tuple[str, float, float]] = []
        if "trial" in ours:
            compared.append(("the bare loop", seconds / ours["trial"], TRIAL))
        for peer, (theirs, _) in one.peers.items():
            compared.append((peer, seconds / theirs, PEER if peer != "MuJoCo" else np.inf))
        if "without" in ours:
            compared.append((f"itself without {MODELS[name].lacks}", seconds / ours["without"], WITHOUT))
        for what, value, target in compared:
            told = ("–", "–") if np.isinf(target) else (f"≤ {target:g}", verdict(value, target))
            table.add(name, what, ratio(value), *told)
        if ours["contacts"] < FEW_CONTACTS and ours["coordinates"] < FEW_COORDINATES:
            table.add(name, "time of a step", duration(seconds), f"≤ {duration(ANY)}", verdict(seconds, ANY))
    return table


def _remarks(found: dict[str, Found]) -> str:
    """Settings of the others, and which steps were not compiled."""
    lines = [
        f"- {name}, {peer}: {settings}"
        for name, one in found.items()
        for peer, (_, settings) in one.peers.items()
    ]
    for name, one in found.items():
        ours = one.klapper
        if ours["not_compiled"]:
            lines.append(f"- {name}: not compiled, {ours['not_compiled']}")
        if ours["fallbacks"]:
            lines.append(
                f"- {name}: {ours['fallbacks']} of {ours['steps']} steps by the general code, {ours['because']}"
            )
    if not any(one.klapper["fallbacks"] or one.klapper["not_compiled"] for one in found.values()):
        lines.append("- no step of any model was done by the general code")
    return "\n".join(lines) + "\n"


def growth(side: Side, quick: bool) -> Section:
    """Slopes of the cost over bodies and coordinates, of the compiled loop alone."""
    sizes = np.array(GROWN[:3] if quick else GROWN)
    answer = side.ask("growth", sizes=sizes, timeout=1800.0)
    table = Table(
        "Growth", ("model", *(str(size) for size in sizes), "slope of all", "slope of the last two")
    )
    for name, seconds in answer.items():
        slope, last = growth_exponent(sizes, seconds), growth_exponent(sizes[-2:], seconds[-2:])
        table.add(name, *(duration(float(each)) for each in seconds), f"{slope:.2f}", f"{last:.2f}")
    return Section(body(table))


if __name__ == "__main__":
    main()
