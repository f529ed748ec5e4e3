"""The package as a whole: light import, pinned versions, documents that are true."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import klapper

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SOURCE = ROOT / "src" / "klapper"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonical(name): version for name, version in pairs}


@pytest.mark.parametrize(
    "statement", ["import klapper", "import klapper.cli", "import klapper.gallery.example"]
)
def test_the_import_loads_nothing_heavy(statement: str) -> None:
    heavy = ["matplotlib", "numba", "numpy", "scipy"]
    code = f"{statement}; import sys; print([name for name in {heavy} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_rooms_load_when_they_are_asked_for() -> None:
    assert klapper.gallery.find is not None
    with pytest.raises(AttributeError, match="rooms are"):
        _ = klapper.zzz
    with pytest.raises(AttributeError, match="did you mean 'LinearSystem'"):
        _ = klapper.LinearSytem


def test_every_dependency_is_pinned() -> None:
    project = PROJECT["project"]
    wanted = [*project["dependencies"], *PROJECT["build-system"]["requires"]]
    wanted += [name for extra in project["optional-dependencies"].values() for name in extra]
    names = {canonical(re.match(r"[\w.-]+", requirement)[0]) for requirement in wanted}
    assert names <= pins().keys()


@pytest.mark.parametrize("requirement", PROJECT["project"]["dependencies"])
def test_what_is_installed_with_klapper_is_used_by_it(requirement: str) -> None:
    name = re.match(r"[\w.-]+", requirement)[0]
    line = re.compile(rf"^\s*(import|from) {name}\b", re.MULTILINE)
    assert any(line.search(file.read_text(encoding="utf-8")) for file in SOURCE.rglob("*.py"))


def test_the_package_is_small_and_holds_text_only() -> None:
    """What a wheel takes along: source, and what report and studio show in the browser."""
    files = [
        file for file in SOURCE.rglob("*") if file.is_file() and file.suffix not in (".pyc", ".nbi", ".nbc")
    ]
    assert {file.suffix for file in files} <= {".py", ".typed", ".css", ".js", ".html", ".svg", ".mplstyle"}
    assert sum(file.stat().st_size for file in files) < 8e6


def test_version_is_the_same_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert PROJECT["project"]["version"] == klapper.__version__
    assert f"version: {klapper.__version__}\n" in citation
    assert f"## {klapper.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/solvers.md"])
def test_snippets_of_a_document_run_each_by_itself(name: str, fakes: object) -> None:
    snippets = re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(encoding="utf-8"), re.M | re.S)
    assert snippets
    for snippet in snippets:
        exec(compile(snippet, name, "exec"), {"__name__": f"snippet_of_{Path(name).stem}"})


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("docs/first_rattling_system.md", "rattling.h5"),
        ("docs/which_method.md", None),
        ("docs/structures.md", None),
        ("docs/analysis.md", None),
    ],
)
def test_a_guide_can_be_followed(
    name: str, file: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All snippets of the page one after the other, as a reader types them; some leave a file."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "guide"}
    for snippet in re.findall(
        r"^```python\n(.*?)^```", (ROOT / name).read_text(encoding="utf-8"), re.M | re.S
    ):
        exec(compile(snippet, name, "exec"), namespace)
    assert file is None or (tmp_path / file).exists()


def test_the_commands_of_the_readme_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"^make ([\w-]+)", text, re.M)) | {"env", "test-all", "bench", "lint"}:
        assert re.search(rf"^{target}:", makefile, re.M), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (document.parent / target).exists(), target
