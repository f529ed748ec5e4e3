"""Contact pairs of nodes in a table: "name, first, second, nx, ny, nz, gap", one pair in a line.

``second`` may be empty (contact with the ground), so may ``gap`` (the distance of the nodes). Lengths in m.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from klapper.mechanics import InvalidModel


@dataclass(frozen=True)
class Pair:
    """Node ``first`` can leave node ``second`` (or the ground) in the direction ``normal`` (3,); ``gap`` in m."""

    name: str
    first: int
    second: int | None
    normal: tuple[float, float, float]
    gap: float | None = None


def read_pairs(path: Any) -> list[Pair]:
    """All pairs of a csv file; a first line of titles and lines that begin with # are skipped."""
    file = Path(path)
    if not file.is_file():
        raise InvalidModel(f"there is no file {str(path)!r}; give the path of a table of contact pairs.")
    pairs: list[Pair] = []
    with file.open(encoding="utf-8", errors="replace", newline="") as stream:
        reader = csv.reader(stream, skipinitialspace=True)
        try:
            for cells in reader:
                titles = not pairs and bool(cells) and cells[0].strip().lower() == "name"
                if not cells or cells[0].startswith("#") or titles:
                    continue
                pairs.append(_pair(cells, f"{file.name}, line {reader.line_num}"))
        except csv.Error as error:
            raise InvalidModel(f"{file.name}, line {reader.line_num}: it is no table ({error}).") from None
    if not pairs:
        raise InvalidModel(f"{file.name} holds no contact pairs.")
    return pairs


def _pair(cells: list[str], where: str) -> Pair:
    if len(cells) not in (6, 7):
        raise InvalidModel(f"{where}: {len(cells)} entries, expected name, first, second, nx, ny, nz, gap.")
    name, first, second, *rest = (cell.strip() for cell in [*cells, ""][:7])
    try:
        normal = (float(rest[0]), float(rest[1]), float(rest[2]))
        gap = float(rest[3]) if rest[3] else None
        return Pair(name, int(first), int(second) if second else None, normal, gap)
    except ValueError:
        raise InvalidModel(
            f"{where}: {', '.join(cells)[:100]!r} is not name, first, second, nx, ny, nz, gap with whole node numbers."
        ) from None
