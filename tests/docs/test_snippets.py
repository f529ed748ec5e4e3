"""Every snippet of the documentation is executed, page by page, in the order in which a reader meets them.

Python runs in one session per page, commands in the same folder, and a block of TOML after ``<!-- file: NAME -->`` is
written there. A block that cannot be executed says so, ``<!-- not executed: why -->``; one that needs an extra names
its package, ``<!-- needs: pyvista -->``. Commands with a word in capitals stand for many, and the
studio serves until it is stopped: that they exist is all that can be asked.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from doc_pages import PAGES, ROOT, Block, blocks, name_of

RUNNABLE = {"python", "py", "pycon", "console", "toml"}

# Their own tests follow these pages and look at what comes out.
ELSEWHERE = {
    "CONTRIBUTING.md": "tests/test_package.py",
    "docs/analysis.md": "tests/test_package.py",
    "docs/solvers.md": "tests/test_package.py",
    "docs/structures.md": "tests/test_package.py",
    "docs/which_method.md": "tests/test_package.py",
    "docs/continuum_contact.md": "tests/continuum/contact/test_guide.py",
    "docs/statics.md": "tests/analysis/test_load_path.py",
    "docs/studies.md": "tests/studies/test_study_guide.py",
    "docs/report.md": "tests/report/test_report_guide.py",
    "docs/scenario_files.md": "tests/scenario/test_scenario_page.py",
}
SLOW = {
    "README.md",
    "docs/analysis_harmonic_balance.md",
    "docs/analysis_periodic.md",
    "docs/first_rattling_system.md",
    "docs/how_to.md",
    "docs/studio.md",
    "docs/undetermined_block.md",
}

WITH_SNIPPETS = [page for page in PAGES if any(block.language in RUNNABLE for block in blocks(page))]
HERE = [
    pytest.param(page, marks=[pytest.mark.slow] if name_of(page) in SLOW else [], id=name_of(page))
    for page in WITH_SNIPPETS
    if name_of(page) not in ELSEWHERE
]
PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b")


@pytest.mark.parametrize("page", HERE)
def test_the_page_can_be_followed(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session: dict[str, object] = {"__name__": "guide"}
    for block in blocks(page):
        if block.executed:
            follow(block, session, f"{name_of(page)}, line {block.line}")


def follow(block: Block, session: dict[str, object], place: str) -> None:
    if block.language in ("python", "py", "pycon"):
        if block.text.startswith(">>>"):
            parsed = doctest.DocTestParser().get_doctest(block.text, dict(session), place, None, block.line)
            assert doctest.DocTestRunner().run(parsed).failed == 0, place
        else:
            exec(compile("\n" * block.line + block.text, place, "exec"), session)
    elif block.language == "toml":
        assert block.mark.startswith("file: "), (
            f"{place}: say <!-- file: NAME --> or <!-- not executed: why -->"
        )
        Path(block.mark.removeprefix("file: ")).write_text(block.text, encoding="utf-8")
    elif block.language == "console":
        for line in block.text.splitlines():
            if line.strip() and not line.startswith("#"):
                command(line, place)


def command(line: str, place: str) -> None:
    """Run one line in a shell that finds klapper and Python."""
    line = line.replace(".venv/bin/", "")
    words = shlex.split(line, comments=True)
    if words[0] == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert re.search(rf"^{words[1]}:", makefile, re.M), f"{place}: {line}"
        return
    if words[0] == "pip":
        return
    if PLACEHOLDER.search(shlex.join(words)) or words[:2] == ["klapper", "studio"]:
        assert words[0] == "klapper", f"{place}: {line}"
        line = f"klapper {words[1]} --help"
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", line],
        env={**os.environ, "PATH": paths},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, f"{place}: {line}\n{done.stdout[-1000:]}{done.stderr[-1000:]}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [name for name in ELSEWHERE if any(b.language == "console" for b in blocks(ROOT / name))]
)
def test_the_commands_of_pages_followed_elsewhere_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks(ROOT / page):
        if block.language == "console" and block.executed:
            follow(block, {}, f"{page}, line {block.line}")


@pytest.mark.parametrize("page", ELSEWHERE)
def test_pages_followed_elsewhere_are_named_in_their_tests(page: str) -> None:
    assert (ROOT / page).exists()
    test = (ROOT / ELSEWHERE[page]).read_text(encoding="utf-8")
    assert Path(page).name in test


def test_few_blocks_are_not_executed_and_each_says_why() -> None:
    marked = [
        f"{name_of(page)}: {block.mark}"
        for page in PAGES
        for block in blocks(page)
        if not (block.executed or block.mark.startswith("needs: "))
    ]
    assert len(marked) <= 8
    assert all(len(mark.partition("not executed: ")[2]) > 10 for mark in marked)


def test_a_block_of_code_names_its_language_or_is_plain_text() -> None:
    known = RUNNABLE | {"", "text", "matlab"}
    unknown = {block.language for page in PAGES for block in blocks(page)} - known
    assert unknown == set()
