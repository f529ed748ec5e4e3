"""The catalogue: every example of the gallery by name.

An example joins by being in a file of this folder, which carries its name: who asks for one example imports one file,
who asks for all imports all. Files keep heavy imports inside their functions.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import walk_packages
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from klapper.gallery.example import Example

_PACKAGE = "klapper.gallery"
_MACHINERY = {f"{_PACKAGE}.{name}" for name in ("catalogue", "check", "example", "figures", "parameter")}
_shelf: dict[str, Example] = {}


class UnknownExample(LookupError):
    """No example has this name.

    >>> from klapper.gallery import find
    >>> find("bouncing-bal")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    klapper.gallery.catalogue.UnknownExample: There is no example 'bouncing-bal'; the nearest is 'bouncing-ball' ...
    """


def register(example: Example) -> None:
    """Add an example; two different functions cannot share a name."""
    other = _shelf.get(example.name)
    if other is not None and _place(other) != _place(example):
        raise ValueError(f"two examples are called '{example.name}': {_place(other)} and {_place(example)}")
    _shelf[example.name] = example


def examples() -> list[Example]:
    """All examples in the order of their names.

    >>> from klapper.gallery import examples
    >>> "bouncing-ball" in [example.name for example in examples()]
    True
    """
    _import_gallery()
    return [_shelf[name] for name in sorted(_shelf)]


def find(name: str) -> Example:
    """The example called ``name``; :class:`UnknownExample` suggests the nearest.

    ``find(name).run(restitution=0.6)`` computes it: numbers, checks against what is known, figures.

    >>> from klapper.gallery import find
    >>> [(each.name, each.meaning.unit) for each in find("bouncing-ball").arguments][:3]
    [('height', 'm'), ('restitution', ''), ('gravity', 'm/s²')]
    """
    if name in _shelf or _import_file(name):
        return _shelf[name]
    _import_gallery()
    if name in _shelf:
        return _shelf[name]
    if not _shelf:
        raise UnknownExample(f"There is no example '{name[:80]}': the gallery is empty.")
    nearest = get_close_matches(name.lower(), sorted(_shelf), n=1, cutoff=0.0)[0]
    raise UnknownExample(
        f"There is no example '{name[:80]}'; the nearest is '{nearest}' (`klapper list` shows all)."
    )


def _import_file(name: str) -> bool:
    """Import the file that carries the name of an example; whether the example is there."""
    file = name.replace("-", "_")
    if file.isidentifier() and _holds_examples(module := f"{_PACKAGE}.{file}") and find_spec(module):
        import_module(module)
    return name in _shelf


@cache
def _import_gallery() -> None:
    folder = import_module(_PACKAGE).__path__
    for module in walk_packages(folder, f"{_PACKAGE}."):
        if _holds_examples(module.name):
            import_module(module.name)


def _holds_examples(module: str) -> bool:
    return module not in _MACHINERY and not module.rpartition(".")[2].startswith("_")


def _place(example: Example) -> str:
    return f"{example.function.__module__}.{example.function.__qualname__}"
