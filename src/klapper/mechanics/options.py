"""Options of laws, told once where the law is written: meaning, unit and bounds.

    speed: Annotated[float, Option("speed at which half of the fall is reached", "m/s", above=0.0)]

Files that name laws, their schema and the tests of all laws read them from there.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, get_args, get_origin, get_type_hints


@dataclass(frozen=True, kw_only=True)
class _Bounds:
    above: float | None = None
    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True)
class Option(_Bounds):
    """What an option of a law means: a noun phrase, its SI ``unit``, bounds, and an ``example`` if it has no default.

    >>> Option("speed at which half of the fall is reached", "m/s", above=0.0, example=0.1).unit
    'm/s'
    """

    meaning: str
    unit: str = ""
    example: Any = None


@dataclass(frozen=True)
class Declared:
    """An option of a law with its ``type`` and ``default``; ``needed`` if it has none."""

    option: Option
    type: Any
    default: Any
    needed: bool


def options_of(law: type) -> dict[str, Declared]:
    """The declared options of a law (a dataclass) by name.

    >>> @dataclass
    ... class Law:
    ...     mu: Annotated[float, Option("friction coefficient", at_least=0.0)] = 0.3
    >>> options_of(Law)["mu"].default
    0.3
    """
    hints, found = get_type_hints(law, include_extras=True), {}
    for field in fields(law):
        hint = hints[field.name]
        told = get_args(hint) if get_origin(hint) is Annotated else ()
        for option in (note for note in told[1:] if isinstance(note, Option)):
            found[field.name] = Declared(option, told[0], field.default, field.default is MISSING)
    return found


def example_of(law: type) -> Any:
    """The law with the example of every option that has no default."""
    return law(**{name: given.option.example for name, given in options_of(law).items() if given.needed})
