"""Every public name explains itself: a docstring with an example, and every example is executed.

A new room joins by its name in ``ROOMS``. Constants and type aliases have no docstring of their own: the text below
their definition says what they are.
"""

import ast
import doctest
import importlib
import inspect
from itertools import pairwise
from pathlib import Path

import pytest

import klapper

ROOMS = [
    "klapper.convex",
    "klapper.complementarity",
    "klapper.complementarity.selection",
    "klapper.mechanics",
    "klapper.mechanics.impact",
    "klapper.bodies",
    "klapper.structures",
    "klapper.continuum",
    "klapper.reduction",
    "klapper.schemes",
    "klapper.results",
    "klapper.contact_states",
    "klapper.simulation",
    "klapper.comparison",
    "klapper.conservation",
    "klapper.report",
    "klapper.scenario",
    "klapper.gallery",
    "klapper.gallery.example",
    "klapper.studies",
    "klapper.progress",
    "klapper.analysis",
    "klapper.analysis.rotor",
    "klapper.view",
]
SOURCE = Path(klapper.__file__).parent


def public_names() -> list[tuple[str, str]]:
    """Room and name of every class, function and module that a room offers."""
    found = []
    for room in ROOMS:
        offered = importlib.import_module(room)
        for name in offered.__all__:
            thing = getattr(offered, name)
            if inspect.isclass(thing) or inspect.isroutine(thing) or inspect.ismodule(thing):
                found.append((room, name))
    return found


def modules_with_examples() -> list[str]:
    """All modules of the package, public or not, in which an example stands."""
    written = [path for path in sorted(SOURCE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
    names = [".".join(path.relative_to(SOURCE.parent).with_suffix("").parts) for path in written]
    return [name.removesuffix(".__init__") for name in names]


def documented_below(module: str) -> set[str]:
    """Names of a module whose definition is followed by a text."""
    path = importlib.import_module(module).__file__
    assert path is not None
    body = ast.parse(Path(path).read_text(encoding="utf-8")).body
    names: set[str] = set()
    for statement, following in pairwise(body):
        text = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        if text and isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names |= {
                node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
            }
    return names


@pytest.mark.parametrize(("room", "name"), public_names())
def test_a_public_name_has_a_docstring_with_an_example(room: str, name: str) -> None:
    thing = getattr(importlib.import_module(room), name)
    text = thing.__doc__ or ""
    assert ">>> " in text, f"{room}.{name} has no example"
    assert not text.lstrip().startswith(">>>"), f"{room}.{name} is not explained before its example"


@pytest.mark.parametrize("room", ROOMS)
def test_a_public_constant_is_explained_where_it_is_defined(room: str) -> None:
    offered = importlib.import_module(room)
    constants = {
        name
        for name in offered.__all__
        if not callable(getattr(offered, name)) and not inspect.ismodule(getattr(offered, name))
    }
    lines = ast.walk(ast.parse(inspect.getsource(offered)))
    origin = {
        alias.name: node.module for node in lines if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    for name in constants:
        assert name in documented_below(origin.get(name) or room), f"{room}.{name} has no text below it"


@pytest.mark.parametrize("name", modules_with_examples())
def test_the_examples_of_a_module_come_out_as_written(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_lists_its_names_once_and_has_them(room: str) -> None:
    offered = importlib.import_module(room)
    assert len(set(offered.__all__)) == len(offered.__all__)
    assert all(hasattr(offered, name) for name in offered.__all__)


def test_one_page_lists_all_public_names() -> None:
    """If this fails, ``python -m tools.public_names`` writes the page anew."""
    from tools.public_names import PAGE, page

    assert PAGE.read_text(encoding="utf-8") == page()
