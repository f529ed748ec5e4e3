"""The page of these benchmarks: what is found replaces the text between the marks of its name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Size = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Section:
    """What the page says about one measurement: ``words`` in Markdown, and a picture of ``size`` [inch] with what it
    shows, if there is one."""

    words: str
    draw: Callable[[Figure], None] | None = None
    shows: str = ""
    size: Size = (6.4, 4.2)


def body(table: Table) -> str:
    """A table as Markdown, without its heading."""
    return table.markdown().split("\n", 2)[2]


def write(page: Path, name: str, section: Section) -> None:
    """Draw the picture of a section and replace the text between <!-- name --> and <!-- /name -->."""
    text = section.words.rstrip()
    if section.draw is not None:
        from matplotlib.figure import Figure

        picture = page.parent / "images" / f"structures_{name}.png"
        picture.parent.mkdir(parents=True, exist_ok=True)
        figure = Figure(figsize=section.size, layout="constrained")
        section.draw(figure)
        figure.savefig(picture, dpi=150)
        text += f"\n\n![{section.shows}](images/{picture.name})"
    old = page.read_text(encoding="utf-8")
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.S)
    if not marks.search(old):
        raise ValueError(
            f"{page.name} has no marks <!-- {name} --> … <!-- /{name} -->; add them where it belongs."
        )
    page.write_text(marks.sub(lambda found: f"{found[1]}{text}\n{found[2]}", old), encoding="utf-8")
