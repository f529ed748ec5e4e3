"""The whole site, built as `make docs` builds it: strict, offline, with every public name and every formula."""

from pathlib import Path

from built_site import external_addresses


def test_nothing_is_fetched_from_the_network(site: Path) -> None:
    assert external_addresses(site) == {}


def test_formulas_are_set(site: Path) -> None:
    pages = sorted((site / "theory").glob("*.html"))
    assert len(pages) == 13
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "arithmatex" not in text
        assert page.stem == "index" or "<math" in text


def test_every_public_name_is_described(site: Path) -> None:
    from tools.site_hooks import FRONT_DOOR, ROOMS, public_names

    door = (site / "api" / "front_door.html").read_text(encoding="utf-8")
    assert [name for name, room in FRONT_DOOR.items() if f'id="klapper.{room}.{name}"' not in door] == []
    for room in ROOMS:
        page = (site / "api" / f"{room.replace('.', '_')}.html").read_text(encoding="utf-8")
        missing = [name for name in public_names(room) if name not in page]
        assert missing == []
        assert "&gt;&gt;&gt; " not in page.replace('<span class="gp">&gt;&gt;&gt; </span>', "")


def test_pages_of_the_repository_are_part_of_it(site: Path) -> None:
    assert "A new example" in (site / "contributing.html").read_text(encoding="utf-8")
    assert (site / "changelog.html").exists()
    assert 'href="contributing.html"' in (site / "index.html").read_text(encoding="utf-8")
