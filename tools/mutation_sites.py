"""Where a source can be broken by a wrong sign, factor, comparison or extremum, and the broken source.

Left alone: texts, annotations, errors, assertions, constants in capitals, and factors so small that they are
tolerances.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOMS = ("complementarity", "mechanics", "schemes")
PER_FILE = 2
KERNELS_PER_ROOM = 3  # they compile
TOLERANCE = 1e-5  # a factor below is a tolerance

_OPERATORS = {ast.Add: "+-", ast.Sub: "-+", ast.Mult: "*/", ast.Div: "/*"}
_COMPARISONS = {ast.Lt: "< <= >", ast.LtE: "<= < >=", ast.Gt: "> >= <", ast.GtE: ">= > <="}
_NO_COMPUTATION = ("annotation", "returns", "decorator_list")
_EXTREMA = {"max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum"}

Change = tuple[str, tuple[int, int] | None, str, str]


@dataclass(frozen=True)
class Site:
    """A change in a file below ``src``: the bytes from ``begin`` to ``end`` become ``after``.

    ``function`` is the first line of the function around it, 0 if there is none; ``text`` is the line of the change.
    """

    file: str
    function: int
    line: int
    kind: str
    begin: int
    end: int
    before: str
    after: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line} {self.kind}: {self.before} → {self.after} in `{self.text}`"

    @property
    def room(self) -> str:
        return self.file.split("/")[1]

    @property
    def in_kernel(self) -> bool:
        return "/kernels/" in self.file


def broken(source: bytes, site: Site) -> bytes:
    """The source with the change of a site."""
    return source[: site.begin] + site.after.encode() + source[site.end :]


def chosen(source: Path, *, seed: int, count: int, rooms: Sequence[str] = ROOMS) -> list[Site]:
    """Sites below ``source``, equally many for each room, in the order of a hash.

    Of one kind there is at most a fifth. An edited file leaves the choice in the others as it was.
    """
    picked: list[Site] = []
    for number, room in enumerate(rooms):
        files = sorted((source / "klapper" / room).rglob("*.py"))
        found = [
            site for file in files for site in sites(file.relative_to(source).as_posix(), file.read_bytes())
        ]
        found.sort(key=lambda site: hashlib.sha256(f"{seed} {site.name} {site.begin}".encode()).digest())
        picked += _spread(found, (count + number) // len(rooms))
    return picked


def _spread(ordered: list[Site], share: int) -> list[Site]:
    """The first sites, few of one file, one kind, or in kernels, and one per line of text."""
    picked: list[Site] = []
    files, kinds = Counter[str](), Counter[str]()
    for site in ordered:
        kernels = sum(other.in_kernel for other in picked)
        if (
            len(picked) < share
            and files[site.file] < PER_FILE
            and kinds[site.kind] < max(1, share // 5)
            and not (site.in_kernel and kernels == KERNELS_PER_ROOM)
            and all(site.text != other.text for other in picked)
        ):
            picked.append(site)
            files[site.file] += 1
            kinds[site.kind] += 1
    return picked


@cache
def sites(file: str, source: bytes) -> tuple[Site, ...]:
    """All changes that a source allows, in the order of its tree."""
    lines, text, found = source.decode().splitlines(), _Text(source), []
    for node, function in _computing(ast.parse(source)):
        for kind, span, before, after in _changes(node, text):
            if span is not None:
                line = source[: span[0]].count(b"\n") + 1
                found.append(Site(file, function, line, kind, *span, before, after, lines[line - 1].strip()))
    return tuple(found)


class _Text:
    """Byte positions of nodes in a source, which count the lines and the bytes in them."""

    def __init__(self, source: bytes) -> None:
        self.source, self._starts = source, [0]
        for row in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(row))

    def begin(self, node: ast.expr) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr) -> int:
        return self._starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[operator]

    def between(self, left: ast.expr, right: ast.expr, sign: str) -> tuple[int, int] | None:
        """Where an operator stands between its operands; none if a comment there could hide it."""
        low, gap = self.end(left), self.source[self.end(left) : self.begin(right)]
        found = re.search(rb"(?<![\w<>=])" + re.escape(sign.encode()) + rb"(?![\w<>=])", gap)
        return (low + found.start(), low + found.end()) if found and b"#" not in gap else None


def _computing(tree: ast.AST) -> Iterator[tuple[ast.AST, int]]:
    """Nodes that compute something in the order of the tree, each with the first line of its function."""
    waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
    while waiting:
        node, function = waiting.pop()
        if _is_left_alone(node):
            continue
        if isinstance(node, ast.FunctionDef):
            function = first_line(node)
        yield node, function
        fields = [value for field, value in ast.iter_fields(node) if field not in _NO_COMPUTATION]
        children = [child for value in fields for child in (value if isinstance(value, list) else [value])]
        waiting += [(child, function) for child in reversed(children) if isinstance(child, ast.AST)]


def _is_left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.dump(node.test)
    if isinstance(node, ast.keyword):
        return node.arg == "axis"  # counts from the end
    return isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr) or _is_limit(node)


def first_line(statement: ast.stmt) -> int:
    """Line of a statement, or of its first decorator."""
    return min(
        [statement.lineno, *(decorator.lineno for decorator in getattr(statement, "decorator_list", []))]
    )


def _is_limit(node: ast.AST) -> bool:
    """Assignment to a name in capitals, ``__all__`` included."""
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return any(name.isupper() or name == "__all__" for name in names)


def _changes(node: ast.AST, text: _Text) -> Iterator[Change]:
    """Kind, place, old and new text of every change at a node."""
    match node:
        case ast.BinOp(left, op, right) if type(op) in _OPERATORS and not (_is_list(left) or _is_list(right)):
            before, after = _OPERATORS[type(op)]
            yield before, text.between(left, right, before), before, after
            if isinstance(op, ast.Mult | ast.Div):
                yield from (_other_factor(side, text) for side in (left, right) if _is_factor(side))
        case ast.AugAssign(target, op, value) if type(op) in _OPERATORS:
            before, after = _OPERATORS[type(op)]
            yield before, text.between(target, value, f"{before}="), f"{before}=", f"{after}="
        case ast.UnaryOp(ast.USub()):
            yield "minus", (text.begin(node), text.begin(node) + 1), "-", ""
        case ast.UnaryOp(ast.Not()):
            yield "not", (text.begin(node), text.begin(node) + 3), "not", ""
        case ast.Compare(left, [op], [right]) if type(op) in _COMPARISONS:
            before, *others = _COMPARISONS[type(op)].split()
            for after in others:
                yield "compare", text.between(left, right, before), before, after
        case ast.BoolOp(op, [first, second, *_]):
            before, after = ("and", "or") if isinstance(op, ast.And) else ("or", "and")
            yield "bool", text.between(first, second, before), before, after
        case ast.Call(ast.Name(name) | ast.Attribute(attr=name)) if name in _EXTREMA:
            end = text.end(node.func)
            yield "extremum", (end - len(name), end), name, _EXTREMA[name]


def _is_list(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple | ast.JoinedStr) or isinstance(
        getattr(node, "value", 0), str
    )


def _is_factor(node: ast.expr) -> bool:
    value = getattr(node, "value", None)
    return isinstance(node, ast.Constant) and type(value) in (int, float) and abs(value) > TOLERANCE


def _other_factor(node: ast.expr, text: _Text) -> Change:
    """Doubled up to 1, halved above."""
    value = getattr(node, "value", 0.0)
    other = (
        2 * value if value <= 1 else value // 2 if value % 2 == 0 and isinstance(value, int) else value / 2
    )
    begin, end = text.begin(node), text.end(node)
    return "factor", (begin, end), text.source[begin:end].decode(), repr(other)
