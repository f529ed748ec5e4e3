"""Parameters of an example: what a keyword may be, how it is read from text, what is said when it is wrong.

An example declares its keywords as annotations,

    weight: Annotated[float, Parameter("weight of the table", unit="N", above=0.0)] = 100.0

and a value passes the same check whether it comes from Python or from ``--set weight=50``. Types: ``float``,
``int``, ``bool``, ``str``, ``Literal[...]``, and ``list[...]`` or ``tuple[...]`` of these, written
``1,2,3``.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import Parameter as Keyword, signature
from numbers import Integral, Real
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

_NOUNS = {float: ("a number", "numbers"), int: ("a whole number", "whole numbers"), str: ("a text", "texts")}
_TRUTH = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


class ParameterError(ValueError):
    """A parameter that does not exist, or a value that it may not have.

    >>> from klapper.gallery import find
    >>> find("bouncing-ball").read(["height=-1.0"])
    Traceback (most recent call last):
    klapper.gallery.parameter.ParameterError: height must be a number above 0 (m), not -1.0.
    """


@dataclass(frozen=True)
class Parameter:
    """What one keyword of an example means and may be.

    ``help``                   a noun phrase, ``unit`` an SI unit
    ``above``, ``below``       bounds that are not reached, ``at_least``, ``at_most`` those that may be, in that unit;
                               they hold for every entry of a list
    ``multiple_of``            what whole numbers are multiples of
    ``pattern``                a regular expression that a text must match as a whole

    >>> Parameter("height of the fall", "m", above=0.0).admits(-1.0)
    False
    """

    help: str
    unit: str = ""
    above: float | None = None
    below: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    multiple_of: int = 1
    pattern: str | None = None

    def admits(self, number: float) -> bool:
        return (
            math.isfinite(number)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
            and (self.at_least is None or number >= self.at_least)
            and (self.at_most is None or number <= self.at_most)
            and (self.multiple_of == 1 or number % self.multiple_of == 0)
        )

    def bounds(self) -> str:
        """The bounds in words, such as ``above 0 and at most 1``."""
        named = {"above": self.above, "at least": self.at_least, "below": self.below, "at most": self.at_most}
        words = [f"{word} {bound:g}" for word, bound in named.items() if bound is not None]
        return " and ".join(
            [*words, f"a multiple of {self.multiple_of}"][: len(words) + (self.multiple_of > 1)]
        )


@dataclass(frozen=True)
class Argument:
    """One keyword of an example: its name, kind of value, shipped value and meaning.

    ``choices`` are the values of a ``Literal`` (otherwise empty); ``container`` is ``list`` or ``tuple`` for
    several entries and ``None`` for a single one; ``count`` is the number of entries of a
    ``tuple[float, float]``.
    """

    name: str
    meaning: Parameter
    default: Any
    scalar: type
    choices: tuple[Any, ...] = ()
    container: type | None = None
    count: int | None = None

    def read(self, text: str) -> Any:
        """The value written in ``text`` on the command line, checked."""
        if self.container is None:
            return self.accept(self._read_entry(text))
        entries = [entry.strip() for entry in text.strip().strip("[]()").split(",")]
        return self.accept([self._read_entry(entry) for entry in entries])

    def accept(self, value: Any) -> Any:
        """The value, in the declared type; :class:`ParameterError` if it is not allowed."""
        if self.container is None:
            entry = self._accept_entry(value)
            if entry is None:
                raise self._refused(value)
            return entry
        given = value.tolist() if hasattr(value, "tolist") else value
        if not isinstance(given, list | tuple) or not given or self.count not in (None, len(given)):
            raise self._refused(value)
        entries = [self._accept_entry(entry) for entry in given]
        if None in entries:
            raise self._refused(value)
        return self.container(entries)

    def allowed(self) -> str:
        """What the value may be, in words: ``a number above 0 (N)``."""
        if self.choices:
            one = "one of " + ", ".join(str(choice) for choice in self.choices)
            return one if self.container is None else f"entries separated by commas, each {one}"
        if self.scalar is bool:
            one, several = "true or false", "entries true or false"
        else:
            one, several = _NOUNS[self.scalar]
        limits = self.meaning.bounds()
        if self.meaning.pattern is not None:
            limits = f"of the form {self.meaning.pattern}"
        unit = f" ({self.meaning.unit})" if self.meaning.unit else ""
        if self.container is None:
            return " ".join(filter(None, [one, limits])) + unit
        head = f"{self.count or ''} {several} separated by commas".strip()
        return head + (f", each {limits}" if limits else "") + unit

    def written(self, value: Any) -> str:
        """The value as the command line takes it; the inverse of :meth:`read`."""
        entries = value if self.container is not None else [value]
        return ",".join(str(entry).lower() if isinstance(entry, bool) else str(entry) for entry in entries)

    def _read_entry(self, text: str) -> Any:
        if self.choices:
            return next((choice for choice in self.choices if str(choice) == text), text)
        if self.scalar is bool:
            return _TRUTH.get(text.lower(), text)
        try:
            if self.scalar is int:
                number = float(text)
                return (
                    int(text) if text.lstrip("+-").isdigit() else int(number) if number.is_integer() else text
                )
            return self.scalar(text)
        except (ValueError, OverflowError):
            return text

    def _accept_entry(self, entry: Any) -> Any:
        """The entry in the declared type, or ``None`` if it is not allowed."""
        if hasattr(entry, "item") and getattr(entry, "shape", None) == ():
            entry = entry.item()
        if self.choices:
            return next(
                (choice for choice in self.choices if type(choice) is type(entry) and choice == entry), None
            )
        if self.scalar is bool:
            return entry if isinstance(entry, bool) else None
        if self.scalar is str:
            fits = isinstance(entry, str) and re.fullmatch(self.meaning.pattern or "(?s:.*)", entry)
            return entry if fits else None
        kind = Integral if self.scalar is int else Real
        if isinstance(entry, bool) or not isinstance(entry, kind) or not self.meaning.admits(float(entry)):
            return None
        return self.scalar(entry)

    def _refused(self, value: Any) -> ParameterError:
        given = value.tolist() if hasattr(value, "tolist") else value
        shown = ",".join(map(str, given)) if isinstance(given, list | tuple) else str(given)
        return ParameterError(f"{self.name} must be {self.allowed()}, not {shown or 'empty'}.")


def arguments(function: Callable[..., Any]) -> tuple[Argument, ...]:
    """The declared keywords of ``function``; :class:`TypeError` where the declaration is wrong."""
    hints = get_type_hints(function, include_extras=True)
    return tuple(
        _argument(keyword, hints.get(name)) for name, keyword in signature(function).parameters.items()
    )


def complete(declared: tuple[Argument, ...], given: dict[str, Any], owner: str) -> dict[str, Any]:
    """All values of the keywords: the given ones checked, the others as shipped."""
    for name in given:
        require(declared, name, owner)
    return {entry.name: entry.accept(given.get(entry.name, entry.default)) for entry in declared}


def require(declared: tuple[Argument, ...], name: str, owner: str) -> Argument:
    """The keyword called ``name``; otherwise an error that names the nearest and lists all."""
    names = [entry.name for entry in declared]
    if name in names:
        return declared[names.index(name)]
    if not names:
        raise ParameterError(f"{owner} has no parameter '{name}'; it takes none.")
    nearest = get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f" (did you mean '{nearest[0]}'?)" if nearest else ""
    raise ParameterError(f"{owner} has no parameter '{name}'{hint}; it takes {', '.join(names)}.")


def _argument(keyword: Keyword, hint: Any) -> Argument:
    where = f"parameter '{keyword.name}' of an example"
    if keyword.kind is not Keyword.KEYWORD_ONLY or keyword.default is Keyword.empty:
        raise TypeError(f"{where} must be keyword-only and have a shipped value")
    if get_origin(hint) is not Annotated or not isinstance(get_args(hint)[1], Parameter):
        raise TypeError(f"{where} must be annotated as Annotated[type, Parameter(...)]")
    kind, meaning = get_args(hint)[:2]
    container, count = None, None
    if get_origin(kind) in (list, tuple):
        container, entries = get_origin(kind), get_args(kind)
        kind = entries[0]
        if container is tuple and entries[1:] != (...,):
            count = len(entries)
            if any(entry != kind for entry in entries):
                raise TypeError(f"{where} must have entries of one type")
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    scalar = type(choices[0]) if choices else kind
    if scalar not in (float, int, bool, str):
        raise TypeError(
            f"{where} must be float, int, bool, str, Literal, or a list or tuple of these, not {kind}"
        )
    if meaning.bounds() and (choices or scalar not in (float, int)):
        raise TypeError(f"{where} is no number and can have no bounds")
    if meaning.pattern is not None and (choices or scalar is not str):
        raise TypeError(f"{where} is no text and can have no pattern")
    argument = Argument(keyword.name, meaning, keyword.default, scalar, choices, container, count)
    argument.accept(keyword.default)
    return argument
