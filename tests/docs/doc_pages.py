"""The pages of the documentation and their blocks of code, as a reader meets them."""

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])

_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*?) -->\n)?^```(?P<language>[\w+-]*)\n(?P<text>.*?)^```$", re.M | re.S
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the line of the page it begins at, and the comment before it."""

    language: str
    text: str
    line: int
    mark: str

    @property
    def executed(self) -> bool:
        """Not if it says why, nor if it needs an extra that is not installed."""
        needed = self.mark.removeprefix("needs: ") if self.mark.startswith("needs: ") else None
        return not self.mark.startswith("not executed: ") and (needed is None or bool(find_spec(needed)))


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["language"], found["text"], text.count("\n", 0, found.start()) + 1, found["mark"] or "")
        for found in _BLOCK.finditer(text)
    ]
