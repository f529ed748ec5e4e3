"""Times contact at large strains, and writes what is found into docs/benchmarks_contact.md.

    python -m benchmarks.contact.run [--quick] [--only NAME …] [--getfem-python PYTHON] [--pardiso-python PYTHON]

GetFEM comes as python3-getfem with Debian, for its own interpreter. The other PYTHON has pypardiso and what klapper
needs. Every measurement replaces the text between its marks and draws a picture. With --quick nothing in docs/
is changed. What is not installed has no time in the tables.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks.contact import hertz, parts, patch, rings, search
from benchmarks.page import Section, measure
from benchmarks.sides import ROOT

PAGE = ROOT / "docs" / "benchmarks_contact.md"
MEASUREMENTS: dict[str, Callable[..., Section]] = {
    "search": search.section,
    "parts": parts.section,
    "step": parts.step_section,
    "patch": patch.section,
    "hertz": hertz.section,
    "rings": rings.section,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.contact.run", description="Time contact at large strains."
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing in docs/ is changed")
    parser.add_argument("--only", nargs="*", choices=list(MEASUREMENTS), help="these measurements only")
    parser.add_argument("--getfem-python", default="/usr/bin/python3", help="interpreter that has GetFEM")
    parser.add_argument("--pardiso-python", default=sys.executable, help="interpreter that has pypardiso")
    parser.add_argument("--output", type=Path, default=PAGE, help="Markdown file to write")
    options = parser.parse_args(arguments)
    write(
        options.getfem_python,
        options.pardiso_python,
        quick=options.quick,
        console=Console(width=None if sys.stdout.isatty() else 150),
        output=options.output,
        only=options.only,
    )
    return 0


def write(
    getfem_python: str,
    pardiso_python: str,
    *,
    quick: bool,
    console: Console,
    output: Path,
    only: Sequence[str] | None = None,
) -> None:
    """What the page says, or some of it; see :func:`benchmarks.page.measure`."""
    programs = {"quick": quick, "getfem_python": getfem_python, "pardiso_python": pardiso_python}
    sections = {name: partial(MEASUREMENTS[name], **programs) for name in only or MEASUREMENTS}
    measure(PAGE, sections, pictures="contact", quick=quick, console=console, output=output)


if __name__ == "__main__":
    sys.exit(main())
