"""Every argument of a public name is explained: what it is, its unit if it is a number, its shape if it is an array.

Unit and shape stand in the paragraph or list entry that names the argument, or in the first paragraph if they hold for
all. A class above may explain an argument, and so may a docstring referred to, "options as of :class:`ImpactLaw`".
Fields of results count as arguments. Convex sets and functions are without units by nature.
"""

import importlib
import inspect
import pydoc
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from test_public_names import public_names

from klapper.mechanics.impact import ImpactLaw

WITHOUT_UNITS = {"klapper.convex"}
UNIT = re.compile(
    r"\[[^\]]*(?<![\w.])(?:m|s|N|kg|rad|Hz|J|W|1)[²³⁴]?(?![\w.])[^\]]*\]"
    r"|\b[iI]n (?:m|s|N|kg|rad|Hz|J|SI)\b|\b(?:units?|dimensionless|integers)\b"
)
PURE = re.compile(  # words that say that a quantity has no unit
    r"\b(?:relative|in parts of|shares?|ratios?|coefficients?|factors?|booleans?|[wW]hether|one of)\b"
    r"|(?<!one )\b[nN]umbers?\b"
)
SHAPE = re.compile(r"\((?:\w|[ +·|…×.])+,[^()]*\)|\b(?:scalar|one number)\b")
REFERENCE = re.compile(r"\b[aA]s (?:for|of|in) :\w+:`~?([\w.]+)`")
ENTRY = re.compile(r"\n\s*\n|\n(?=``[^\n]*``  |- |\d+\. )")


def explained_names() -> list[tuple[str, str]]:
    """Public classes and functions; exceptions take a sentence and nothing else."""
    found = []
    for room, name in public_names():
        thing = getattr(importlib.import_module(room), name)
        if not inspect.ismodule(thing) and not (inspect.isclass(thing) and issubclass(thing, BaseException)):
            found.append((room, name))
    return found


def complaints(thing: Any, *, units: bool = True) -> list[str]:
    """What the docstring of a class or a function leaves open, argument by argument."""
    found = []
    for argument in inspect.signature(thing).parameters.values():
        if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
            continue
        texts = [text for text in docstrings(thing) if names(text, argument.name)]
        said = "\n".join(entry for text in texts for entry in entries_of(text) if names(entry, argument.name))
        of_all = "\n".join([said, *(entries_of(text)[0] for text in texts)])
        if not texts:
            found.append(f"{argument.name} is not named")
            continue
        if units and is_number(argument) and not (UNIT.search(of_all) or PURE.search(said)):
            found.append(f"{argument.name} has no unit")
        if is_array(argument) and not SHAPE.search(of_all):
            found.append(f"{argument.name} has no shape")
    return found


def names(text: str, argument: str) -> bool:
    return any(re.search(rf"(?<![\w.]){re.escape(argument)}(?!\w)", entry) for entry in entries_of(text))


def entries_of(text: str) -> list[str]:
    """Paragraphs and list entries; examples explain nothing."""
    return [entry for entry in ENTRY.split(text) if ">>> " not in entry]


def docstrings(thing: Any) -> Iterator[str]:
    """Its own, those of the classes above, and those referred to."""
    above = thing.__mro__ if inspect.isclass(thing) else [thing]
    for each in above:
        if not each.__module__.startswith("klapper") and each is not thing:
            continue
        text = inspect.cleandoc(each.__doc__ or "")
        yield text
        for reference in REFERENCE.findall(text):
            yield inspect.getdoc(referred(reference, each)) or ""


def referred(reference: str, by: Any) -> Any:
    """The thing of this name in the module that refers to it, in a room around that module, or by its full path."""
    module = by.__module__
    while module:
        if hasattr(sys.modules[module], reference):
            return getattr(sys.modules[module], reference)
        module = module.rpartition(".")[0]
    found = pydoc.locate(reference)
    assert found is not None, f"{by.__module__} refers to {reference}, which is not there"
    return found


def is_number(argument: inspect.Parameter) -> bool:
    return bool(re.search(r"\bfloat\b|ndarray|ArrayLike|_ArrayLike", annotation(argument)))


def is_array(argument: inspect.Parameter) -> bool:
    return bool(re.search(r"ndarray|ArrayLike|_SupportsArray", annotation(argument)))


def annotation(argument: inspect.Parameter) -> str:
    """As text; functions are explained by their result, whatever numbers they take."""
    written = argument.annotation
    text = written if isinstance(written, str) else getattr(written, "__name__", "") + str(written)
    return "" if "Callable" in text else text


@pytest.mark.parametrize(("room", "name"), explained_names())
def test_the_docstring_of_a_public_name_explains_every_argument(room: str, name: str) -> None:
    thing = getattr(importlib.import_module(room), name)
    found = complaints(thing, units=room not in WITHOUT_UNITS)
    assert not found, f"docstring of {room}.{name}: " + ", ".join(found)


def test_what_a_docstring_leaves_open_is_told_by_argument() -> None:
    def spring(length: float, force: np.ndarray, name: str) -> None:
        """A spring.

        ``length``  at rest
        ``force``   [N]

        >>> spring(1.0, [2.0], name="left")
        """

    assert complaints(spring) == ["length has no unit", "force has no shape", "name is not named"]
    assert complaints(spring, units=False) == ["force has no shape", "name is not named"]


def test_a_docstring_may_refer_to_another_one_for_its_arguments() -> None:
    def described(tolerance: float) -> None:
        """As of :class:`klapper.mechanics.impact.ImpactLaw`."""

    def undescribed(tolerance: float) -> None:
        """Unlike :class:`klapper.mechanics.impact.ImpactLaw`."""

    assert complaints(described) == []
    assert complaints(undescribed) == ["tolerance is not named"]


def test_a_class_above_explains_what_it_hands_down() -> None:
    class Law(ImpactLaw):
        """A law of one's own."""

    assert complaints(Law) == []
