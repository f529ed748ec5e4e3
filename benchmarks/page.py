"""Pages of benchmarks in docs/: what is found replaces the text between the marks of its name.

A room of benchmarks names its page, its measurements and the first word of its pictures; the rest is here.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machine import facts
from benchmarks.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

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


def measure(
    manual: Path,
    sections: Mapping[str, Callable[[], Section]],
    *,
    pictures: str,
    quick: bool,
    console: Console,
    output: Path,
    machine: Mapping[str, str] | None = None,
) -> None:
    """Measure, print, and write each section to the page as soon as it is there.

    ``output`` begins as a copy of the ``manual``; quick measurements never change the manual itself. ``machine`` is
    what else to tell of it.
    """
    if quick and output == manual:
        output = Path(tempfile.mkdtemp()) / manual.name
    if not output.exists():
        output.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(manual, output)
    told = facts() | dict(machine or {})
    lines = "\n".join(f"- {name}: {value}" for name, value in told.items())
    write(output, "machine", Section(lines), pictures=pictures)
    for name, section_of in sections.items():
        section = section_of()
        write(output, name, section, pictures=pictures)
        console.print(f"[bold]{name}[/bold]")
        console.print(section.words, markup=False, highlight=False)
    console.print(f"written to {output}", soft_wrap=True, highlight=False)


def write(page: Path, name: str, section: Section, *, pictures: str) -> None:
    """Draw images/PICTURES_NAME.png beside a page and replace the text between <!-- name --> and <!-- /name -->."""
    text = section.words.rstrip()
    if section.draw is not None:
        from matplotlib.figure import Figure

        picture = page.parent / "images" / f"{pictures}_{name}.png"
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
