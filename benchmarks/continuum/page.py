"""The page of these benchmarks, by the marks of :mod:`benchmarks.structures.page`; pictures have names of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.structures import page as marked
from benchmarks.structures.page import Section, body

__all__ = ["Section", "body", "write"]


def write(page: Path, name: str, section: Section) -> None:
    """Draw docs/images/continuum_NAME.png and replace the text between <!-- name --> and <!-- /name -->."""
    words = section.words.rstrip()
    if section.draw is not None:
        from matplotlib.figure import Figure

        picture = page.parent / "images" / f"continuum_{name}.png"
        picture.parent.mkdir(parents=True, exist_ok=True)
        figure = Figure(figsize=section.size, layout="constrained")
        section.draw(figure)
        figure.savefig(picture, dpi=150)
        words += f"\n\n![{section.shows}](images/{picture.name})"
    marked.write(page, name, replace(section, words=words, draw=None))
