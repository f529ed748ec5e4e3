"""Remarks of the steps of a run, gathered by kind for its audit.

A remark that every step of a long run makes would fill pages; the first of a kind is kept, and the number of all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Findings:
    """Notes of steps by kind: the first of each, and how many there were."""

    first: dict[str, str] = field(default_factory=dict)
    count: dict[str, int] = field(default_factory=dict)

    def written(self) -> str:
        return json.dumps([self.first, self.count])

    @classmethod
    def read(cls, text: str) -> Findings:
        first, count = json.loads(text)
        if not first.keys() == count.keys() or not all(
            isinstance(first[kind], str) and isinstance(count[kind], int) for kind in first
        ):
            raise ValueError("findings are no remarks with their numbers")
        return cls(first, count)

    def take(self, notes: dict[str, str]) -> None:
        for kind, text in notes.items():
            self.first.setdefault(kind, text)
            self.count[kind] = self.count.get(kind, 0) + 1

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for kind, text in self.first.items():
            more = self.count[kind] - 1
            yield kind, text + (f" ({more} more of this kind)" if more else "")
