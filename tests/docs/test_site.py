"""The whole site, built as `make docs` builds it: strict, offline, with every public name and every formula."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from built_site import external_addresses
from doc_pages import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={
            **os.environ,
            "NO_MKDOCS_2_WARNING": "1",
            "http_proxy": "http://127.0.0.1:9",
            "https_proxy": "http://127.0.0.1:9",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


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
    from tools.site_hooks import ROOMS, public_names

    for room in ROOMS:
        page = (site / "api" / f"{room.replace('.', '_')}.html").read_text(encoding="utf-8")
        missing = [name for name in public_names(room) if name not in page]
        assert missing == []
        assert "&gt;&gt;&gt; " not in page.replace('<span class="gp">&gt;&gt;&gt; </span>', "")


def test_pages_of_the_repository_are_part_of_it(site: Path) -> None:
    assert "A new example" in (site / "contributing.html").read_text(encoding="utf-8")
    assert (site / "changelog.html").exists()
    assert 'href="contributing.html"' in (site / "index.html").read_text(encoding="utf-8")
