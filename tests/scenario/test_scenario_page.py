"""docs/scenario_files.md: every complete example runs, every snippet works, every kind is there."""

import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from klapper.cli import app
from klapper.scenario import KINDS, Scenario, read_scenario
from klapper.scenario.schemes import SCHEMES

TEXT = (Path(__file__).parents[2] / "docs" / "scenario_files.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.M | re.S)


SCENARIOS = {tomllib.loads(text)["model"]["kind"]: text for text in blocks("toml")}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(kind: str, folder: Path) -> Scenario:
    (folder / "my.toml").write_text(SCENARIOS[kind], encoding="utf-8")
    if kind == "imported":
        exec(compile(blocks("python")[0], "scenario_files.md", "exec"), {})
    return read_scenario(folder / "my.toml")


def test_there_is_an_example_of_every_kind() -> None:
    assert set(SCENARIOS) == set(KINDS)
    for scheme in SCHEMES.tables:
        assert scheme in TEXT


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "example"])
def test_every_example_runs_and_its_ledger_closes(kind: str, folder: Path) -> None:
    run = written(kind, folder).simulate(progress=False)
    assert run.about["status"] == "complete"
    assert run.ledger.closes(1e-7)
    assert (run.impulse[:, :, 0] > 0.0).any()


def test_the_example_of_the_gallery_runs(folder: Path) -> None:
    written("example", folder)
    result = CliRunner().invoke(app, ["run", "my.toml"])
    assert result.exit_code == 0, result.output


def test_the_snippets_of_the_page_run(folder: Path) -> None:
    for snippet in blocks("python"):
        exec(compile(snippet, "scenario_files.md", "exec"), {})


def test_the_commands_of_the_page_exist() -> None:
    for command in re.findall(r"^klapper (\w+)", "\n".join(blocks("console")), re.M):
        assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0
