"""What a single value of a scenario file may be: numbers, texts, choices, lists and names of files.

Every value knows four things: whether something of TOML looks like it (``fits``), how it is checked (``check``), what
is allowed in words, and its JSON schema. Validation, the schema for editors and the starters all come from them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from klapper.scenario.files import Refused
from klapper.scenario.place import Place, shown

# Models multiply up to five given numbers and divide by them (n² / m, c² x²); floating point ends at 1e308.
_LARGEST, _SMALLEST = 1e60, 1e-60


class Value(Protocol):
    def fits(self, given: Any) -> bool:
        """Whether the given looks like it, by its type in TOML alone."""
        ...

    def check(self, given: Any, at: Place) -> Any:
        """The given in its Python type, refused with its place if it is not allowed."""
        ...

    @property
    def allowed(self) -> str:
        """In words, in the plural."""
        ...

    @property
    def schema(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Number:
    """A finite number within bounds."""

    above: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    below: float | None = None
    noun = "numbers"
    _types: tuple[type, ...] = (int, float)

    def fits(self, given: Any) -> bool:
        return isinstance(given, self._types) and not isinstance(given, bool)

    def check(self, given: Any, at: Place) -> float:
        if not self.fits(given) or not self._within(given):
            raise at.wrong(given, self.allowed)
        if given != 0 and not _SMALLEST <= abs(given) <= _LARGEST:
            raise at.wrong(given, f"{self.allowed}, 0 or of a size from {_SMALLEST:g} to {_LARGEST:g}")
        return float(given)

    def _within(self, given: float) -> bool:
        return (
            math.isfinite(given)
            and (self.above is None or given > self.above)
            and (self.below is None or given < self.below)
            and (self.at_least is None or given >= self.at_least)
            and (self.at_most is None or given <= self.at_most)
        )

    @property
    def allowed(self) -> str:
        words = [self.noun]
        if self.above is not None:
            words.append(f"above {self.above:g}")
        if self.at_least is not None:
            words.append(f"from {self.at_least:g} {'on' if self.at_most is None else f'to {self.at_most:g}'}")
        elif self.at_most is not None:
            words.append(f"and up to {self.at_most:g}" if len(words) > 1 else f"up to {self.at_most:g}")
        if self.below is not None:
            words.append(f"and below {self.below:g}" if len(words) > 1 else f"below {self.below:g}")
        return " ".join(words)

    @property
    def schema(self) -> dict[str, Any]:
        bounds = {
            "exclusiveMinimum": self.above,
            "minimum": self.at_least,
            "maximum": self.at_most,
            "exclusiveMaximum": self.below,
        }
        kind = "integer" if self._types == (int,) else "number"
        return {"type": kind} | {key: bound for key, bound in bounds.items() if bound is not None}


@dataclass(frozen=True)
class Whole(Number):
    """A whole number within bounds."""

    noun = "whole numbers"
    _types: tuple[type, ...] = (int,)

    def check(self, given: Any, at: Place) -> int:
        super().check(given, at)
        return int(given)


@dataclass(frozen=True)
class Truth:
    allowed = "true and false"

    def fits(self, given: Any) -> bool:
        return isinstance(given, bool)

    def check(self, given: Any, at: Place) -> bool:
        if not self.fits(given):
            raise at.wrong(given, self.allowed)
        return bool(given)

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Text:
    """A name or a title of at most 200 characters."""

    allowed = "texts of up to 200 characters"

    def fits(self, given: Any) -> bool:
        return isinstance(given, str)

    def check(self, given: Any, at: Place) -> str:
        if not self.fits(given) or not 0 < len(given) <= 200 or not given.isprintable() or not given.strip():
            raise at.wrong(given, self.allowed)
        return str(given)

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1, "maxLength": 200}


@dataclass(frozen=True)
class Choice:
    """One of several texts."""

    options: tuple[str, ...]

    def fits(self, given: Any) -> bool:
        return isinstance(given, str)

    def check(self, given: Any, at: Place) -> str:
        if given not in self.options:
            raise at.wrong(given, self.allowed)
        return str(given)

    @property
    def allowed(self) -> str:
        return quoted(self.options)

    @property
    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.options)}


@dataclass(frozen=True)
class Several:
    """A list of values, of ``count`` entries if that is given, else of at least one."""

    entry: Value
    count: int | None = None

    def fits(self, given: Any) -> bool:
        return isinstance(given, list) and all(self.entry.fits(entry) for entry in given[:1])

    def check(self, given: Any, at: Place) -> list[Any]:
        if not isinstance(given, list) or not given or self.count not in (None, len(given)):
            raise at.wrong(given, self.allowed)
        return [self.entry.check(entry, at.at(i)) for i, entry in enumerate(given)]

    @property
    def allowed(self) -> str:
        return f"lists of {'' if self.count is None else f'{self.count} '}{self.entry.allowed}"

    @property
    def schema(self) -> dict[str, Any]:
        return {
            "type": "array",
            "items": self.entry.schema,
            "minItems": 1 if self.count is None else self.count,
        } | ({} if self.count is None else {"maxItems": self.count})


@dataclass(frozen=True)
class Matrix:
    """Rows of numbers of one length."""

    square: bool = False
    _rows = Several(Several(Number()))

    def fits(self, given: Any) -> bool:
        return self._rows.fits(given)

    def check(self, given: Any, at: Place) -> list[list[float]]:
        rows = self._rows.check(given, at)
        wide = len(rows) if self.square else len(rows[0])
        for i, row in enumerate(rows):
            if len(row) != wide:
                raise at.at(i).refused(
                    f"row {i + 1} of {at.words} has {len(row)} numbers; it must have {wide}."
                )
        return rows

    @property
    def allowed(self) -> str:
        return f"{'square ' if self.square else ''}matrices as lists of rows"

    @property
    def schema(self) -> dict[str, Any]:
        return self._rows.schema


@dataclass(frozen=True)
class File:
    """The name of a file that may be read; checked, it is its path."""

    suffixes: tuple[str, ...]

    def fits(self, given: Any) -> bool:
        return isinstance(given, str)

    def check(self, given: Any, at: Place) -> Any:
        if not self.fits(given):
            raise at.wrong(given, self.allowed)
        try:
            return at.folder.file(given, self.suffixes)
        except Refused as reason:
            raise at.refused(f"{at.words} is {shown(given)}, {reason}; allowed are {self.allowed}.") from None

    @property
    def allowed(self) -> str:
        return f"names of files in the folder of this file ({', '.join(self.suffixes)})"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1}


@dataclass(frozen=True)
class NewFolder:
    """The name of a folder to write to, below that of the scenario; checked, it is its path."""

    allowed = "names of folders in the folder of this file"

    def fits(self, given: Any) -> bool:
        return isinstance(given, str)

    def check(self, given: Any, at: Place) -> Any:
        if not self.fits(given) or not given.strip():
            raise at.wrong(given, self.allowed)
        try:
            path = at.folder.inside(given)
        except Refused as reason:
            raise at.refused(f"{at.words} is {shown(given)}, {reason}.") from None
        if path == at.folder.root.resolve() or path.is_file():
            raise at.refused(
                f"{at.words} is {shown(given)}; give a folder of its own below that of this file."
            )
        return path

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1}


class Either:
    """The first of several values that fits; ``words`` say what is allowed if a list of all would be too long."""

    def __init__(self, *values: Value, words: str = "") -> None:
        self.values, self.words = values, words

    def fits(self, given: Any) -> bool:
        return any(value.fits(given) for value in self.values)

    def check(self, given: Any, at: Place) -> Any:
        for value in self.values:
            if value.fits(given):
                return value.check(given, at)
        raise at.wrong(given, self.allowed)

    @property
    def allowed(self) -> str:
        return self.words or ", or ".join(value.allowed for value in self.values)

    @property
    def schema(self) -> dict[str, Any]:
        return {"anyOf": [value.schema for value in self.values]}


def quoted(names: Sequence[str]) -> str:
    """'a', 'b' and 'c'."""
    words = [f"'{name}'" for name in names]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
