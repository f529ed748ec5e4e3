"""Names that pages use in running text exist: methods and fields of what their snippets make, and public names.

A page says ``plate = read_structure(…)`` in a snippet and ``plate.contact(…)`` in its text. What ``plate`` is follows
from the annotations of the package, without running the page.
"""

import ast
import inspect
import re
import types
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, get_type_hints

import pytest
from doc_pages import PAGES, blocks, name_of

import klapper

_SPAN = re.compile(r"(?<!`)`([A-Za-z_]\w*)\.([A-Za-z_]\w*)(?=[`.(\[ =])[^`\n]*`(?!`)")


@cache
def public() -> dict[str, Any]:
    """Public names of all rooms; a name that two rooms use differently says nothing and is left out."""
    found: dict[str, list[Any]] = {}
    for module in walk_packages(klapper.__path__, "klapper."):
        parts = module.name.split(".")
        if any(part.startswith("_") for part in parts) or parts[1] in (
            "gallery",
            "doors",
            "cli",
            "machine_code",
        ):
            continue
        if module.ispkg:
            room = import_module(module.name)
            for name in getattr(room, "__all__", ()):
                entry = getattr(room, name)
                if all(entry is not other for other in found.setdefault(name, [])):
                    found[name].append(entry)
    return {name: entries[0] for name, entries in found.items() if len(entries) == 1}


def returned(function: Any) -> Any:
    """The class that a function returns, by its annotation; None if that is none."""
    if inspect.isclass(function):
        return function
    try:
        kind = get_type_hints(function).get("return")
    except (NameError, TypeError):
        return None
    return kind if inspect.isclass(kind) and kind.__module__.startswith("klapper") else None


def member(kind: Any, name: str) -> Any:
    found = inspect.getattr_static(kind, name, None)
    return getattr(found, "fget", None) or getattr(found, "func", None) or getattr(found, "__func__", found)


def meant(expression: ast.expr, known: dict[str, Any]) -> Any:
    """What a name stands for: a variable, a public name, ``kl.`` before it or not."""
    if isinstance(expression, ast.Name):
        return known.get(expression.id) or public().get(expression.id)
    if isinstance(expression, ast.Attribute) and isinstance(expression.value, ast.Name):
        return public().get(expression.attr) if expression.value.id in ("kl", "klapper") else None
    return None


def made(call: ast.expr, known: dict[str, Any]) -> Any:
    """The class of what an expression makes, as far as annotations tell."""
    if not isinstance(call, ast.Call):
        return None
    if (function := meant(call.func, known)) is not None:
        return returned(function)
    owner = meant(call.func.value, known) if isinstance(call.func, ast.Attribute) else None
    if not inspect.isclass(owner):
        return None
    method = member(owner, call.func.attr)
    hint = getattr(method, "__annotations__", {}).get("return")
    return owner if hint in ("Self", owner.__name__, f'"{owner.__name__}"') else returned(method)


def variables(page: Path) -> dict[str, Any]:
    """Variables of the snippets whose class is known, and always the same."""
    known: dict[str, Any] = {}
    for block in blocks(page):
        if block.language not in ("python", "py"):
            continue
        try:
            tree = ast.parse(block.text)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name, kind = node.targets[0].id, made(node.value, known)
                known[name] = kind if known.get(name, kind) is kind else None
    return {name: kind for name, kind in known.items() if kind is not None}


def has(owner: Any, name: str) -> bool:
    if isinstance(owner, types.ModuleType) or not inspect.isclass(owner):
        return hasattr(owner, name)
    declared = {each.name for each in fields(owner)} if is_dataclass(owner) else set()
    for kind in inspect.getmro(owner):
        declared |= set(getattr(kind, "__annotations__", {}))
        if kind.__module__.startswith("klapper"):
            declared |= set(re.findall(r"self\.(\w+)(?:, self\.\w+)* (?:=|:)", inspect.getsource(kind)))
            declared |= set(re.findall(r", self\.(\w+)", inspect.getsource(kind)))
    return name in declared or hasattr(owner, name)


_FILES = {"csv", "h5", "html", "inp", "json", "npz", "png", "py", "sqlite", "toml", "vtu"}


def wrong_names(text: str, known: dict[str, Any]) -> list[str]:
    return [
        f"{owner}.{name}"
        for owner, name in _SPAN.findall(re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
        if owner in known and name not in _FILES and not has(known[owner], name)
    ]


@pytest.mark.parametrize("page", [pytest.param(page, id=name_of(page)) for page in PAGES])
def test_every_name_in_the_text_of_a_page_exists(page: Path) -> None:
    classes = {name: entry for name, entry in public().items() if inspect.isclass(entry)}
    assert not wrong_names(page.read_text(encoding="utf-8"), {**classes, **variables(page)})


def test_names_that_do_not_exist_are_found() -> None:
    page = next(page for page in PAGES if name_of(page) == "docs/structures.md")
    known = variables(page)
    assert "plate" in known
    assert wrong_names('`plate.pair("joint", 1, 2)` and `plate.contact(…)`', known) == ["plate.pair"]
