"""One table, shown on the terminal by rich and written to the manual as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.table import Table as RichTable


@dataclass
class Table:
    """A title, column headings and rows of text."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        if len(cells) != len(self.columns):
            raise ValueError(f"{len(cells)} cells for the {len(self.columns)} columns of '{self.title}'")
        self.rows.append(cells)

    def rich(self) -> RichTable:
        table = RichTable(title=self.title, title_justify="left")
        for number, column in enumerate(self.columns):
            table.add_column(column, justify="left" if number == 0 else "right", overflow="fold")
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        rule = ["---"] + ["---:"] * (len(self.columns) - 1)
        lines = [f"## {self.title}", "", *(_line(row) for row in (self.columns, rule, *self.rows))]
        return "\n".join(lines) + "\n"


def duration(seconds: float | None) -> str:
    """Three digits with the unit that suits."""
    if seconds is None:
        return "–"
    for unit, scale in (("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)):
        if seconds < 999.5 * scale or unit == "s":
            return f"{seconds / scale:.3g} {unit}"
    raise AssertionError("unreachable")


def ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def verdict(value: float | None, target: float) -> str:
    """Met or missed; open when there is nothing to compare with."""
    if value is None:
        return "open"
    return "met" if value <= target else "missed"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
