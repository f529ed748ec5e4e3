"""The page about the studio: what it says is so."""

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from klapper.cli import app
from klapper.studio.listing import DEEPEST, listing
from klapper.studio.place import Root

GUIDE = (Path(__file__).parents[2] / "docs" / "studio.md").read_text(encoding="utf-8")
BROWSER = Path(__file__).parents[2] / "src" / "klapper" / "studio" / "browser"


@pytest.mark.slow
def test_the_commands_lead_to_a_folder_with_a_scenario_and_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    console = re.search(r"```console\n(.*?)```", GUIDE, re.S)
    assert console
    commands = [
        shlex.split(line, comments=True)[1:] for line in console[1].splitlines() if line.startswith("klapper")
    ]
    assert commands[-1] == ["studio", "."]
    for command in commands[:-1]:
        assert CliRunner().invoke(app, command).exit_code == 0, command
    assert {(entry.kind, entry.path) for entry in listing(Root.of(".")).entries} == {
        ("scenario", "my.toml"),
        ("run", "my-1"),
    }


def test_the_buttons_that_it_names_exist() -> None:
    scripts = "".join(file.read_text(encoding="utf-8") for file in BROWSER.glob("*.js"))
    for words in re.findall(r"(?<!\*)\*([A-Z][^*]+)\*(?!\*)", GUIDE):
        assert words.replace("my-1", "${before}") in scripts, words
    assert DEEPEST == 5 and "five levels" in GUIDE


def test_a_line_of_progress_is_json() -> None:
    line = re.search(r"^\{.*\}$", GUIDE, re.M)
    assert line and set(json.loads(line[0])["progress"]) == {"share", "now", "facts"}
