"""Times bodies at large strains, and writes what is found into docs/benchmarks_continuum.md.

    python -m benchmarks.continuum.run --peers-python PYTHON [--quick] [--only NAME …] [--largest UNKNOWNS]

PYTHON is the interpreter of an environment with scikit-fem, felupe, ngsolve, the wheels of Kratos, pypardiso, and what
klapper itself needs. Every measurement replaces the text between its marks and draws a picture. With --quick
nothing in docs/ is changed. What is not installed has no time in the tables.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks.continuum import assembly, long_step, step
from benchmarks.page import Section, measure
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
    """What the page says, or some of it; see :func:`benchmarks.page.measure`."""
    asked = {"quick": quick, "peers_python": peers_python, "largest": largest}
    measure(
        PAGE,
        {name: partial(MEASUREMENTS[name], **asked) for name in only or MEASUREMENTS},
        pictures="continuum",
        quick=quick,
        console=console,
        output=output,
        machine={
            "processes that wanted to run": f"{os.getloadavg()[0]:.1f} in the minute before, by the load average"
        },
    )


if __name__ == "__main__":
    sys.exit(main())
