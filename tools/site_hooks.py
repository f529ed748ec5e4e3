"""What MkDocs does here beyond reading Markdown: formulas, API pages, and pages from outside ``docs/``.

- Formulas become MathML, see :mod:`tools.mathematics`.
- Every room gets an API page with its public names, made from docstrings without importing anything.
- The scripts of the theme know addresses on the network, for features that are not used: they are removed.
- ``CONTRIBUTING.md``, ``CHANGELOG.md`` and ``SECURITY.md`` of the repository are pages of the site; links to them
  are bent.
"""

import ast
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tools.mathematics import with_mathml  # noqa: E402

PACKAGE = ROOT / "src" / "klapper"
FROM_ROOT = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "reporting.md",
}
_NETWORK = re.compile(r"https://(?:unpkg\.com|api\.github\.com|gitlab\.com|bit\.ly)[\w./@-]*")
ROOMS = (
    "mechanics",
    "bodies",
    "structures",
    "continuum",
    "reduction",
    "schemes",
    "simulation",
    "comparison",
    "conservation",
    "analysis",
    "analysis.rotor",
    "complementarity",
    "complementarity.selection",
    "convex",
    "mechanics.impact",
    "results",
    "contact_states",
    "report",
    "studies",
    "scenario",
    "gallery",
    "gallery.example",
    "view",
    "progress",
)


FRONT_PAGE = "api/front_door.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    files.append(File.generated(config, FRONT_PAGE, content=front_page()))
    for room in ROOMS:
        files.append(File.generated(config, api_address(room), content=api_page(room)))
    for source, address in FROM_ROOT.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, address, content=text.replace("](docs/", "](")))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    if page.file.src_uri.startswith("coming_from/"):
        page.meta["hide"] = ["toc"]  # room for two programs side by side
    for source, address in FROM_ROOT.items():
        markdown = markdown.replace(f"](../{source}", f"]({address}")
    return markdown


def on_page_content(html: str, **_: Any) -> str:
    return with_mathml(html)


def on_post_build(config: MkDocsConfig, **_: Any) -> None:
    assets = Path(config.site_dir, "assets")
    for unused in [*assets.rglob("*.map"), *assets.glob("javascripts/lunr/**/*.js")]:
        unused.unlink()  # maps for debugging, and the search in other languages than English
    for script in assets.rglob("*.js"):
        script.write_text(_NETWORK.sub("about:blank", script.read_text(encoding="utf-8")), encoding="utf-8")


def api_address(room: str) -> str:
    return f"api/{room.replace('.', '_')}.md"


def front_page() -> str:
    """The names of ``import klapper as kl``, each with its docstring."""
    parts = ["# The front door", "`import klapper as kl` gives the names that people use first."]
    parts += [f"::: klapper.{room}.{name}" for name, room in FRONT_DOOR.items()]
    return "\n\n".join(parts) + "\n"


def api_page(room: str) -> str:
    """A page that asks for the docstring of a room and for those of its public names, in their order.

    Names of the front door are documented there.
    """
    name = f"klapper.{room}"
    options = {"members": "false", "show_root_heading": "false", "show_root_toc_entry": "false"}
    told = "\n".join(f"      {option}: {value}" for option, value in options.items())
    parts = [f"# {name}", f"::: {name}\n    options:\n{told}"]
    names = public_names(room)
    first = [public for public in names if FRONT_DOOR.get(public) == room]
    names = [public for public in names if public not in first]
    if first:
        parts.append(
            f"At [the front door](front_door.md): {', '.join(f'`kl.{public}`' for public in first)}."
        )
    if constants := [f"`{public}`" for public in names if public.isupper()]:
        parts.append(f"Constants: {', '.join(constants)}.")
    parts += [f"::: {name}.{public}" for public in names if not public.isupper()]
    return "\n\n".join(parts) + "\n"


def front_door() -> dict[str, str]:
    """Room of each name that the package itself offers, read and not imported."""
    for statement in ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "_FRONT":
            table = ast.literal_eval(statement.value)
            return {name: room for room, names in table.items() for name in names.split()}
    raise ValueError("src/klapper/__init__.py has no _FRONT")


def public_names(room: str) -> list[str]:
    """``__all__`` of a room, read and not imported, in the order of the alphabet."""
    path = PACKAGE / room.replace(".", "/")
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    for statement in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return sorted(ast.literal_eval(statement.value), key=str.lower)
    raise ValueError(f"{source} has no __all__")


FRONT_DOOR = front_door()
