"""The record of a run: plain data that is stored as JSON and read by tables and pages.

    {"example", "parameters", "numbers": {name: value}, "audit": {…},
     "checks": [{"name", "value", "expected", "tolerance", "passed", "source"}]}

JSON has no sign for what is not finite: such numbers are the texts ``"inf"``, ``"-inf"`` and ``"nan"``, which
``float`` reads back. Arrays are lists; a complex number is ``{"real": …, "imag": …}``.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from klapper.doors import Unreadable
from klapper.doors.files import content_of
from klapper.doors.json import LARGEST, parse_json

_ROW = re.compile(r"\[\n([-+0-9.eE,\s]*)\]")  # a list of numbers, which is stored in one line
_FIELDS = {"example": str, "parameters": dict, "numbers": dict, "checks": list, "audit": dict}
_CHECK_FIELDS = {"name", "value", "expected", "tolerance", "passed", "source"}


class DamagedRecord(ValueError):
    """A file that is not, or no longer, the record of a run."""


@dataclass(frozen=True)
class Record:
    """One run in plain data: texts, numbers, lists and dictionaries only."""

    example: str
    parameters: dict[str, Any]
    numbers: dict[str, Any]
    checks: list[dict[str, Any]]
    audit: dict[str, Any]

    @property
    def passed(self) -> bool:
        return all(check["passed"] for check in self.checks)

    def as_json(self) -> str:
        """The text of ``result.json``."""
        content = {name: getattr(self, name) for name in _FIELDS}
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
        return _ROW.sub(lambda row: f"[{' '.join(row[1].split())}]", text) + "\n"


@dataclass(frozen=True)
class About:
    """What a reader is told beside a record; meanings and units go by name, the command repeats the run."""

    title: str = ""
    text: str = ""
    source: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)
    parameter_units: Mapping[str, str] = field(default_factory=dict)
    number_units: Mapping[str, str] = field(default_factory=dict)
    command: str = ""


def read(path: Path) -> Record:
    """The record stored in ``path``, or in ``path/result.json``; :class:`DamagedRecord` if it is none."""
    file = path / "result.json" if path.is_dir() else path
    try:
        content = parse_json(content_of(file, LARGEST))
    except FileNotFoundError:
        raise DamagedRecord(f"{file} does not exist.") from None
    except OSError as error:
        raise DamagedRecord(f"{file} cannot be read: {error.strerror or error}.") from None
    except Unreadable as error:
        raise DamagedRecord(f"{file} is no result of a run: {error}.") from error
    if not isinstance(content, dict):
        raise DamagedRecord(f"{file} is no result of a run: it holds no fields.")
    for name, kind in _FIELDS.items():
        if not isinstance(content.get(name), kind):
            raise DamagedRecord(f"{file} is no result of a run: its '{name}' is missing or damaged.")
    for number, check in enumerate(content["checks"], 1):
        whole = isinstance(check, dict) and check.keys() >= _CHECK_FIELDS
        if not whole or not isinstance(check["passed"], bool) or not isinstance(check["name"], str):
            raise DamagedRecord(f"{file} is no result of a run: its check {number} is damaged.")
    return Record(**{name: content[name] for name in _FIELDS})


def plain(value: Any, where: str = "value") -> Any:
    """``value`` in the types of JSON; :class:`TypeError` names the place of what has no such form."""
    if value is None or (isinstance(value, bool | str | int) and not isinstance(value, Enum)):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, complex):
        return {"real": plain(value.real), "imag": plain(value.imag)}
    if isinstance(value, Enum):
        return value.name.lower()
    if hasattr(value, "tolist"):
        return plain(value.tolist(), where)
    if isinstance(value, Mapping):
        return {str(key): plain(entry, f"{where}.{key}") for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry, f"{where}[{index}]") for index, entry in enumerate(value)]
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {
            entry.name: plain(getattr(value, entry.name), f"{where}.{entry.name}") for entry in fields(value)
        }
    raise TypeError(
        f"{where} is a {type(value).__name__}, which cannot be stored: give numbers, texts or arrays"
    )
