"""All figures of the gallery again, as vector graphics for papers, by one command.

    python -m klapper.gallery.figures OUT                     # every example, a folder each, PDF
    python -m klapper.gallery.figures OUT rotor-clatter --format svg

An example that fails is told in one sentence, the others are drawn all the same; then the exit status is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from klapper.gallery.catalogue import UnknownExample, examples, find


def write_figures(out: Path, names: Sequence[str] = (), *, kind: str = "pdf") -> tuple[list[Path], list[str]]:
    """Run the examples (all of them if none is named) and draw their figures; the files, and what went wrong."""
    from klapper.report.paper import write_figure

    written, wrong = [], []
    for example in [find(name) for name in names] or examples():
        try:
            outcome = example.run()
            (out / example.name).mkdir(parents=True, exist_ok=True)
            for name, drawing in outcome.figures.items():
                written.append(write_figure(drawing, out / example.name / f"{name}.{kind}"))
        except Exception as error:  # one example must not cost the others
            wrong.append(f"{example.name}: {type(error).__name__}: {' '.join(str(error).split())}")
    return written, wrong


def main(words: Sequence[str] | None = None) -> int:
    """The command; its exit status."""
    from klapper.report.paper import FORMATS

    command = argparse.ArgumentParser(
        "python -m klapper.gallery.figures", description="Figures of the gallery."
    )
    command.add_argument("out", type=Path, help="folder, made if missing")
    command.add_argument("example", nargs="*", help="only these examples")
    command.add_argument("--format", choices=FORMATS, default="pdf")
    given = command.parse_args(words)
    if given.out.exists() and not given.out.is_dir():
        print(f"{given.out} is a file: give a folder.", file=sys.stderr)
        return 2
    try:
        written, wrong = write_figures(given.out, given.example, kind=given.format)
    except UnknownExample as error:
        print(error, file=sys.stderr)
        return 2
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    print(f"{len(written)} figures in {given.out}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
