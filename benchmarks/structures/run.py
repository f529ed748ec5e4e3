"""Times structures and rotors, and writes what is found into docs/benchmarks_structures.md.

    python -m benchmarks.structures.run [--quick] [--only NAME …]

Every measurement replaces the text between its marks and draws docs/images/structures_NAME.png. With --quick nothing in
docs/ is changed. Without Siconos the page says so in one sentence.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks.page import Section, measure
from benchmarks.sides import ROOT
from benchmarks.structures import equal_error, reduction_scale, speeds, steady_state, step_cost

PAGE = ROOT / "docs" / "benchmarks_structures.md"
MEASUREMENTS: dict[str, Callable[..., Section]] = {
    "steady_state": steady_state.section,
    "equal_error": equal_error.section,
    "speeds": speeds.section,
    "step_cost": step_cost.section,
    "reduction_scale": reduction_scale.section,
}
WITH_PEERS = ("steady_state",)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.structures.run", description="Time structures and rotors."
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing in docs/ is changed")
    parser.add_argument("--only", nargs="*", choices=list(MEASUREMENTS), help="these measurements only")
    parser.add_argument("--siconos-python", default="/usr/bin/python3", help="interpreter that has siconos")
    parser.add_argument("--output", type=Path, default=PAGE, help="Markdown file to write")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 150)
    write(
        options.siconos_python, quick=options.quick, console=console, output=options.output, only=options.only
    )
    return 0


def write(
    siconos_python: str, *, quick: bool, console: Console, output: Path, only: Sequence[str] | None = None
) -> None:
    """What the page says, or some of it; see :func:`benchmarks.page.measure`."""
    peers = {name: {"siconos_python": siconos_python} for name in WITH_PEERS}
    sections = {
        name: partial(MEASUREMENTS[name], quick=quick, **peers.get(name, {})) for name in only or MEASUREMENTS
    }
    measure(PAGE, sections, pictures="structures", quick=quick, console=console, output=output)


if __name__ == "__main__":
    sys.exit(main())
