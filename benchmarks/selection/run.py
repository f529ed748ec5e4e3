"""Draws the figures of the page "Forces that the model leaves open" and writes what they show into it.

    python -m benchmarks.selection.run [--out DIR] [--only NAME …]

Figures go to docs/images/selection_NAME.png; the text between the marks of each figure in docs/undetermined_forces.md
is replaced by what was found. With --out figures go to that folder and the page stays as it is.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib.style
from matplotlib.figure import Figure
from rich.console import Console

from benchmarks.selection.figures import FIGURES
from benchmarks.sides import ROOT

PAGE = ROOT / "docs" / "undetermined_forces.md"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.selection.run", description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for the figures; nothing in docs/ is changed")
    parser.add_argument("--only", nargs="*", choices=list(FIGURES), help="these figures only")
    options = parser.parse_args(arguments)
    console = Console()
    folder = options.out or ROOT / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    style = ROOT / "src" / "klapper" / "report" / "klapper.mplstyle"
    for name in options.only or FIGURES:
        draw, size = FIGURES[name]
        with matplotlib.style.context(style):
            figure = Figure(figsize=size, layout="constrained")
            words = draw(figure)
            path = folder / f"selection_{name}.png"
            figure.savefig(path, dpi=110)
        console.print(f"[bold]{name}[/bold] {path}")
        console.print(words, markup=False)
        if options.out is None:
            _write(name, words)
    return 0


def _write(name: str, words: str) -> None:
    """Replace the text between the marks of a figure."""
    text = PAGE.read_text(encoding="utf-8")
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.S)
    PAGE.write_text(marks.sub(lambda found: f"{found[1]}{words}\n{found[2]}", text), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
