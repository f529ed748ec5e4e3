"""Data about a run in the types of JSON."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from klapper.results.errors import ResultsError

_PLAIN = frozenset({type(None), bool, int, str})
_SEQUENCES = frozenset({list, tuple})


def plain(value: Any, where: str) -> Any:
    """``value`` in the types of JSON; numbers that are not finite are the texts "inf", "-inf" and "nan"."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is float:
        return value if math.isfinite(value) else str(value)
    if kind is dict or (kind not in _SEQUENCES and isinstance(value, Mapping)):
        return {
            str(key): entry if type(entry) in _PLAIN else plain(entry, f"{where}[{key!r}]")
            for key, entry in value.items()
        }
    if hasattr(value, "tolist"):
        return plain(value.tolist(), where)
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [
            entry if type(entry) in _PLAIN else plain(entry, f"{where}[{index}]")
            for index, entry in enumerate(value)
        ]
    if isinstance(value, Path):
        return str(value)
    raise ResultsError(
        f"{where} is a {type(value).__name__}, which cannot be stored: give numbers, texts, lists, dictionaries or "
        "arrays."
    )
