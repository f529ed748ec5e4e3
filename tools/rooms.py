"""The rooms of the package and who imports whom, as it is in the source: text and picture for docs/architecture.md.

    python -m tools.rooms

writes both anew. Every import counts, also those inside functions; those for type checkers only do not. Arrows that
follow from others are left out, so that each line shows the rooms that a room stands on directly.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "klapper"
PAGE = ROOT / "docs" / "architecture.md"
PICTURE = ROOT / "docs" / "images" / "rooms.svg"
BEGIN, END = "<!-- rooms -->\n", "<!-- /rooms -->"

Graph = Mapping[str, set[str]]


def imports() -> dict[str, set[str]]:
    """For every room the rooms that its files import."""
    graph: dict[str, set[str]] = {}
    for file in sorted(SOURCE.rglob("*.py")):
        room = file.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        here = graph.setdefault(room, set())
        here |= set(_imported(ast.parse(file.read_text(encoding="utf-8")))) - {room}
    known = graph.keys()
    return {room: below & known for room, below in sorted(graph.items())}


def _imported(tree: ast.AST) -> Iterator[str]:
    """First part of every import of klapper that is executed."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.module == "klapper":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("klapper."):
            yield str(node.module).split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("klapper."))
        yield from _imported(node)


def levels(graph: Graph) -> list[list[str]]:
    """Rooms by floor: a room stands one above the highest that it imports. A cycle raises ``graphlib.CycleError``."""
    floor: dict[str, int] = {}
    for room in TopologicalSorter(graph).static_order():
        floor[room] = 1 + max((floor[below] for below in graph[room]), default=-1)
    return [
        sorted(room for room in floor if floor[room] == level) for level in range(max(floor.values()) + 1)
    ]


def reduced(graph: Graph) -> dict[str, set[str]]:
    """Without arrows that follow from others."""
    reached: dict[str, set[str]] = {}
    for room in TopologicalSorter(graph).static_order():
        reached[room] = set(graph[room]).union(*(reached[below] for below in graph[room]))
    return {
        room: {one for one in below if not any(one in reached[other] for other in below)}
        for room, below in graph.items()
    }


def text(graph: Graph) -> str:
    """The house from its roof to its ground, one room a line."""
    direct = reduced(graph)
    width = max(map(len, graph))
    lines = []
    for rooms in reversed(levels(graph)):
        lines += [f"{room:<{width}} → {', '.join(sorted(direct[room]))}".rstrip(" →") for room in rooms]
        lines.append("")
    return "```text\n" + "\n".join(lines[:-1]) + "\n```\n"


def picture(graph: Graph) -> str:
    """The same as a drawing (SVG), floors above each other."""
    floors, direct = levels(graph), reduced(graph)
    box, gap, rise = 132, 20, 76
    width = max(len(rooms) for rooms in floors) * (box + gap) + gap
    height = len(floors) * rise + gap
    place = {}
    for level, rooms in enumerate(floors):
        left = (width - len(rooms) * (box + gap) + gap) / 2
        for k, room in enumerate(rooms):
            place[room] = left + k * (box + gap), height - (level + 1) * rise
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'font-family="sans-serif" font-size="13">',
        "<title>Rooms of klapper and what they import</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for room, below in direct.items():
        for other in sorted(below):
            (x, y), (to_x, to_y) = place[room], place[other]
            start, end = (x + box / 2, y + 34), (to_x + box / 2, to_y)
            bend = (end[1] - start[1]) / 2
            parts.append(
                f'<path d="M{start[0]:g} {start[1]:g}C{start[0]:g} {start[1] + bend:g} {end[0]:g} '
                f'{end[1] - bend:g} {end[0]:g} {end[1]:g}" fill="none" stroke="#8a99a8"/>'
            )
    for room, (x, y) in sorted(place.items()):
        parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{box}" height="34" rx="6" fill="#e8eef4" stroke="#44566a"/>'
            f'<text x="{x + box / 2:g}" y="{y + 22:g}" text-anchor="middle" fill="#1c2733">{room}</text>'
        )
    return "\n".join([*parts, "</svg>\n"])


def declared() -> dict[str, set[str]]:
    """What the table of rooms on the page allows: the last column, for each room of the first."""
    allowed: dict[str, set[str]] = {}
    for first, last in re.findall(
        r"^\| (`[^|]+) \|[^\n]*\| ([^|\n]*) \|$", PAGE.read_text(encoding="utf-8"), re.M
    ):
        for room in re.findall(r"`(\w+)(?:\.py)?`", first):
            allowed.setdefault(room, set()).update(re.findall(r"`(\w+)(?:\.py)?`", last))
    return allowed


def main() -> None:
    graph = imports()
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    PAGE.write_text(before + BEGIN + text(graph) + END + rest.partition(END)[2], encoding="utf-8")
    PICTURE.write_text(picture(graph), encoding="utf-8")


if __name__ == "__main__":
    main()
