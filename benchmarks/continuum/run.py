"""Times bodies at large strains, and writes what is found into docs/benchmarks_continuum.md.

    python -m benchmarks.continuum.run --peers-python PYTHON [--quick] [--only NAME …] [--largest UNKNOWNS]

PYTHON is the interpreter of an environment with scikit-fem, felupe, ngsolve, the wheels of Kratos, pypardiso, and what
klapper itself needs. Every measurement replaces the text between its marks and draws a picture. With --quick
nothing in docs/ is changed. What is not installed has no time in the tables.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.continuum import assembly, long_step, page, step
from benchmarks.continuum.page import Section
from benchmarks.machine import facts
from benchmarks.sides import ROOT

PAGE = ROOT / "docs" / "benchmarks_continuum.md"
MEASUREMENTS: dict[str, Callable[..., Section]] = {
    "assembly": assembly.section,
    "step": step.section,
    "long_step": long_step.section,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.continuum.run", description="Time bodies at large strains."
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing in docs/ is changed")
    parser.add_argument("--only", nargs="*", choices=list(MEASUREMENTS), help="these measurements only")
    parser.add_argument(
        "--peers-python", default=sys.executable, help="interpreter that has the other programs"
    )
    parser.add_argument("--largest", type=int, default=310_000, help="leave out sizes with more unknowns")
    parser.add_argument("--output", type=Path, default=PAGE, help="Markdown file to write")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 150)
    write(
        options.peers_python,
        quick=options.quick,
        console=console,
        output=options.output,
        only=options.only,
        largest=options.largest,
    )
    return 0


def write(
    peers_python: str,
    *,
    quick: bool,
    console: Console,
    output: Path,
    only: Sequence[str] | None = None,
    largest: int = 310_000,
) -> None:
    """Measure, print, and write each result to the page as soon as it is there."""
    if quick and output == PAGE:
        output = Path(tempfile.mkdtemp()) / PAGE.name
    if not output.exists():
        output.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PAGE, output)
    told = facts() | {
        "processes that wanted to run": f"{os.getloadavg()[0]:.1f} in the minute before, by the load average"
    }
    page.write(output, "machine", Section("\n".join(f"- {name}: {value}" for name, value in told.items())))
    for name in only or MEASUREMENTS:
        section = MEASUREMENTS[name](quick=quick, peers_python=peers_python, largest=largest)
        page.write(output, name, section)
        console.print(f"[bold]{name}[/bold]")
        console.print(section.words, markup=False, highlight=False)
    console.print(f"written to {output}", soft_wrap=True, highlight=False)


if __name__ == "__main__":
    sys.exit(main())
