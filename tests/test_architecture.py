"""The house as docs/architecture.md draws it: arrows one way, and every public name at one place."""

import ast
import importlib
import pkgutil
from collections import defaultdict
from graphlib import CycleError
from pathlib import Path

import pytest
from tools import rooms

import klapper

GRAPH = rooms.imports()


def test_the_page_shows_the_imports_as_they_are() -> None:
    """If this fails, ``python -m tools.rooms`` draws the page and its picture anew."""
    page = rooms.PAGE.read_text(encoding="utf-8")
    assert rooms.BEGIN + rooms.text(GRAPH) + rooms.END in page
    assert rooms.PICTURE.read_text(encoding="utf-8") == rooms.picture(GRAPH)


def test_no_room_stands_on_itself() -> None:
    assert sum(len(floor) for floor in rooms.levels(GRAPH)) == len(GRAPH)
    with pytest.raises(CycleError):
        rooms.levels({"attic": {"cellar"}, "cellar": {"attic"}})


@pytest.mark.parametrize("room", GRAPH)
def test_a_room_imports_what_its_row_of_the_page_says(room: str) -> None:
    assert rooms.declared()[room] == GRAPH[room]


def test_arrows_that_follow_from_others_are_left_out() -> None:
    assert rooms.reduced({"c": {"a", "b"}, "b": {"a"}, "a": set()}) == {"c": {"b"}, "b": {"a"}, "a": set()}


def test_a_public_name_has_one_place() -> None:
    """Modules whose names are public say so by ``__all__``; constants may be equal by chance."""
    places = defaultdict(list)
    for found in pkgutil.walk_packages(klapper.__path__, "klapper."):
        if found.ispkg or found.name.count(".") == 1:
            module = importlib.import_module(found.name)
            for name in getattr(module, "__all__", ()):
                if callable(getattr(module, name)):
                    places[id(getattr(module, name))].append(f"{found.name}.{name}")
    assert [where for where in places.values() if len(where) > 1] == []


def test_the_front_door_says_the_same_to_type_checkers() -> None:
    tree = ast.parse(Path(klapper.__file__).read_text(encoding="utf-8"))
    told = {
        alias.asname: str(node.module).split(".")[1]
        for branch in tree.body
        if isinstance(branch, ast.If)
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert told == klapper._HOME


@pytest.mark.parametrize(("name", "room"), klapper._HOME.items())
def test_a_name_at_the_front_door_is_that_of_its_room(name: str, room: str) -> None:
    module = importlib.import_module(f"klapper.{room}")
    assert name in module.__all__
    assert getattr(klapper, name) is getattr(module, name)


def test_the_front_door_has_the_names_that_people_use_first() -> None:
    assert 40 <= len(klapper._HOME) <= 60
    assert set(klapper.__all__) == {"__version__", *klapper._HOME, *klapper._ROOMS} == set(dir(klapper))
