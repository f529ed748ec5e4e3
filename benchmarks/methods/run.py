"""Draws the figures of the page "Which method for my problem?" and writes what they show into it.

    python -m benchmarks.methods.run [--quick] [--only NAME …]

Figures go to docs/images/method_NAME.png; the text between the marks of each figure in docs/which_method.md is
replaced by what was found.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure
from rich.console import Console

from benchmarks.methods.figures import FIGURES
from benchmarks.sides import ROOT

PAGE = ROOT / "docs" / "which_method.md"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.methods.run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer points, nothing in docs/ is changed")
    parser.add_argument("--only", nargs="*", choices=list(FIGURES), help="these figures only")
    options = parser.parse_args(arguments)
    console = Console()
    folder = Path(tempfile.mkdtemp()) if options.quick else ROOT / "docs" / "images"
    for name in options.only or FIGURES:
        draw, size = FIGURES[name]
        figure = Figure(figsize=size, layout="constrained")
        words = draw(figure, quick=options.quick)
        path = folder / f"method_{name}.png"
        figure.savefig(path, dpi=110)
        console.print(f"[bold]{name}[/bold] {path}")
        console.print(words, markup=False)
        if not options.quick:
            _write(name, words)
    return 0


def _write(name: str, words: str) -> None:
    """Replace the text between the marks of a figure."""
    text = PAGE.read_text(encoding="utf-8")
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.S)
    PAGE.write_text(marks.sub(lambda found: f"{found[1]}{words}\n{found[2]}", text), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
