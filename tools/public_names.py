"""Every public name on one page, docs/public_names.md: room by room, with the first sentence of its docstring.

    python -m tools.public_names

writes the page anew; a test compares it with the package.
"""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import klapper
from tools.site_hooks import FRONT_DOOR, ROOMS

PAGE = Path(__file__).parents[1] / "docs" / "public_names.md"
HEAD = """# Public names

The names that people use first are at the front door, `import klapper as kl`; every other name has one import path,
`from klapper.ROOM import NAME`. Here stand the first sentences; `help(NAME)` prints the rest, with units, shapes, the
equation and an example that runs. Written by `python -m tools.public_names`.
"""


def page() -> str:
    first = [f"| `kl.{name}` | {sentence(getattr(klapper, name))} |" for name in FRONT_DOOR]
    parts = [HEAD, _table("klapper", "The front door.", first)]
    for room in ROOMS:
        module = import_module(f"klapper.{room}")
        names = [name for name in module.__all__ if FRONT_DOOR.get(name) != room]
        rows = [f"| `{name}` | {meaning(getattr(module, name), module, name)} |" for name in names]
        if rows:
            parts.append(_table(f"klapper.{room}", sentence(module), rows))
    return "\n".join(parts)


def _table(title: str, about: str, rows: list[str]) -> str:
    return f"## {title}\n\n{about}\n\n| name | meaning |\n|---|---|\n" + "\n".join(rows) + "\n"


def meaning(thing: Any, module: Any, name: str) -> str:
    """Its first sentence; constants and types have it as a text below their definition."""
    if inspect.isclass(thing) or inspect.isfunction(thing) or inspect.ismodule(thing):
        return sentence(thing)
    return _first(_text_below(module, name))


def _text_below(module: Any, name: str) -> str:
    """The text below the definition of a name, in the module where it is defined."""
    here = _texts_below(module)
    if name in here:
        return here[name]
    for each in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(each, ast.ImportFrom) and each.module and name in [one.name for one in each.names]:
            return _text_below(import_module(each.module), name)
    raise LookupError(f"{module.__name__}.{name} has no text below its definition")


def _texts_below(module: Any) -> dict[str, str]:
    """Texts that follow the definitions of a module, by the names that are defined."""
    found = {}
    for definition, following in pairwise(ast.parse(inspect.getsource(module)).body):
        match definition, following:
            case (ast.Assign() | ast.AnnAssign(), ast.Expr(ast.Constant(str() as text))):
                targets = definition.targets if isinstance(definition, ast.Assign) else [definition.target]
                names = [node.id for each in targets for node in ast.walk(each) if isinstance(node, ast.Name)]
                found.update(dict.fromkeys(names, inspect.cleandoc(text)))
    return found


def sentence(thing: Any) -> str:
    return _first(inspect.getdoc(thing) or "")


def _first(text: str) -> str:
    """Up to the end of the first sentence or paragraph, on one line, without roles."""
    paragraph = " ".join(text.split("\n\n")[0].split())
    paragraph = re.sub(
        r":(?:class|func|meth|mod|attr|data|exc):`~?(?:[\w.]*\.)?(\w+)`(?:\\ )?", r"`\1`", paragraph
    )
    found = re.match(r".*?[.:](?= [A-Z`]|$)", paragraph)
    return (found[0] if found else paragraph).replace("``", "`").replace("|", "\\|").rstrip(":")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
