"""The sources of the site: links lead somewhere, every page is in the menu, formulas can be set, nothing is fetched."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from built_site import external_addresses
from doc_pages import DOCS, ROOT, blocks
from markdown.extensions.toc import slugify
from mkdocs.commands.build import build
from mkdocs.config import load_config
from tools.mathematics import WrongFormula, with_mathml

PAGES = sorted(DOCS.rglob("*.md"))
LINK = re.compile(r"\]\((?P<target>[^)\s#]*)(?:#(?P<anchor>[^)\s]*))?\)")


class _Loader(yaml.SafeLoader):
    """Reads what mkdocs.yml says, without the objects it may name."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)
SITE = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), _Loader)


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    text = page.read_text(encoding="utf-8")
    for block in blocks(page):
        text = text.replace(block.text, "")
    return text


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", prose(page), re.M)
    return {slugify(re.sub(r"[`*]", "", title), "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_links_and_their_anchors_exist(page: Path) -> None:
    for link in LINK.finditer(prose(page)):
        target, anchor = link["target"], link["anchor"]
        if target.startswith("https://"):
            continue
        place = (page.parent / target).resolve() if target else page
        assert place.exists(), target
        if anchor and place.suffix == ".md":
            assert anchor in anchors(place), f"{target}#{anchor}"


def menu(entries: object) -> Iterator[str]:
    if isinstance(entries, str):
        yield entries
    elif isinstance(entries, dict):
        for entry in entries.values():
            yield from menu(entry)
    elif isinstance(entries, list):
        for entry in entries:
            yield from menu(entry)


def test_every_page_is_in_the_menu_once() -> None:
    from tools.site_hooks import FROM_ROOT, FRONT_PAGE, ROOMS, api_address

    made = [FRONT_PAGE, *[api_address(room) for room in ROOMS], *FROM_ROOT.values()]
    there = [page.relative_to(DOCS).as_posix() for page in PAGES] + made
    assert sorted(menu(SITE["nav"])) == sorted(there)


def test_pictures_come_from_the_repository() -> None:
    for page in PAGES:
        for address in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            assert not address.startswith("http"), address


def test_every_public_name_has_a_place_in_the_api() -> None:
    import importlib

    from tools.site_hooks import FRONT_DOOR, ROOMS, api_page, front_page, public_names

    for room in ROOMS:
        module = importlib.import_module(f"klapper.{room}")
        assert set(public_names(room)) == set(module.__all__)
        for name in module.__all__:
            page = front_page() if FRONT_DOOR.get(name) == room else api_page(room)
            assert f"`{name}`" in page if name.isupper() else f"::: klapper.{room}.{name}\n" in page


def test_a_small_site_fetches_nothing(tmp_path: Path) -> None:
    """The theme alone, quickly; the whole site is built by the slow tests."""
    pages = tmp_path / "docs"
    pages.mkdir()
    (pages / "index.md").write_text("# A page\n\nwith `code`.\n", encoding="utf-8")
    config = load_config(
        str(ROOT / "mkdocs.yml"),
        docs_dir=str(pages),
        site_dir=str(tmp_path / "site"),
        nav=["index.md"],
        hooks=[],
        plugins=["search"],
        extra_css=[],
        theme={**SITE["theme"], "favicon": None},
    )
    build(config)
    found = external_addresses(tmp_path / "site")
    scripts = {name for name in found if not name.endswith(".js")}  # those are cleaned by the hook
    assert scripts == set()


def test_formulas_become_mathml() -> None:
    found = with_mathml(r'<p><span class="arithmatex">\(0 \le x \perp y\)</span></p>')
    assert "<math" in found
    assert "arithmatex" not in found
    upright = with_mathml(r'<div class="arithmatex">\[M\, \mathrm{d}v &lt; 1\]</div>')
    assert 'mathvariant="normal"' in upright
    assert 'display="block"' in upright


def test_a_formula_that_cannot_be_set_is_refused() -> None:
    with pytest.raises(WrongFormula, match="nosuchcommand"):
        with_mathml(r'<span class="arithmatex">\(\nosuchcommand x\)</span>')


def test_docstrings_become_markdown() -> None:
    from tools.docstrings import as_markdown

    told = as_markdown("Uses :class:`~klapper.mechanics.Contact`.\n\n>>> 1 + 1\n2\n\nEnd.")
    assert "Uses `Contact`." in told
    assert "```pycon\n>>> 1 + 1\n2\n```" in told


def test_names_with_their_meanings_become_a_list() -> None:
    from tools.docstrings import as_markdown

    told = as_markdown(
        "A step.\n\n``step_size``  h [s]\n``theta``      from one half\n               to one\n\nMore."
    )
    assert told == "A step.\n\n\n- ``step_size``: h [s]\n- ``theta``: from one half\n    to one\n\nMore."
