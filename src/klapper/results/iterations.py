"""How many iterations the contacts of a run took, sample by sample, for schemes that tell them."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

COLUMNS = ("rounds", "normal", "tangential", "reductions")


@dataclass(frozen=True, eq=False)
class Iterations:
    """``counts`` (s, 4) since the sample before, in the columns ``COLUMNS``; ``case`` (s,) of the last step, as a
    place in ``labels``."""

    counts: np.ndarray
    case: np.ndarray
    labels: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """The same as plain data: numbers of four bytes as text."""
        return {"counts": _text(self.counts), "case": _text(self.case), "labels": list(self.labels)}

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Iterations:
        counts = _numbers(stored["counts"]).reshape(-1, len(COLUMNS))
        return cls(counts, _numbers(stored["case"]), tuple(stored["labels"]))


def _text(numbers: np.ndarray) -> str:
    return b64encode(np.ascontiguousarray(numbers, dtype="<i4").tobytes()).decode()


def _numbers(text: str) -> np.ndarray:
    return np.frombuffer(b64decode(text), dtype="<i4").astype(np.int64)
