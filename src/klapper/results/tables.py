"""Numbers and columns as plain text."""

from collections.abc import Sequence
from typing import Any


def number(value: Any) -> str:
    """A number in five digits; nothing for what is not known."""
    value = float(value)
    return "–" if value != value else f"{value:.5g}"


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table: the first column to the left, the others to the right."""
    table = [list(header), *(list(row) for row in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    lines = []
    for row in table:
        cells = [
            row[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
