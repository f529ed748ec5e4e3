"""Scenarios on the command line: new, run, schema, export; wrong requests leave with status 2 and one sentence."""

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from klapper.cli import app
from klapper.gallery import examples, find
from klapper.results import read
from klapper.scenario import KINDS, example_scenario, read_scenario, starter


def klapper(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def is_one_sentence(text: str) -> bool:
    return text.count("\n") == 1 and text.endswith(".\n") and "Traceback" not in text


def test_a_starter_is_written_run_stored_and_shown(folder: Path) -> None:
    assert klapper("new", "beam").exit_code == 0
    assert (folder / "beam.toml").read_text(encoding="utf-8") == starter("beam")
    result = klapper("run", "beam.toml", "--out", "out")
    assert result.exit_code == 0, result.output
    for words in ("A shaken cantilever that hits a stop", "lost in impacts", "The ledger closes"):
        assert words in result.stdout
    written = {path.name for path in (folder / "out").iterdir()}
    assert written >= {"run.h5", "report.html", "scenario.toml", "gaps.svg", "gaps.png", "ledger.svg"}
    assert (folder / "out" / "scenario.toml").read_text(encoding="utf-8") == starter("beam")
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "model.material.young" in page
    again = read_scenario("beam.toml").simulate(progress=False)
    np.testing.assert_array_equal(read(folder / "out").position, again.position)
    assert klapper("show", "out").exit_code == 0


def test_the_run_as_json_is_alone_on_standard_output(folder: Path) -> None:
    (folder / "my.toml").write_text(starter("beam"), encoding="utf-8")
    result = klapper("run", "my.toml", "--json", "-")
    assert result.exit_code == 0
    assert json.loads(result.stdout)
    assert sorted(path.name for path in folder.iterdir()) == ["my.toml"]


def test_the_folder_that_the_file_asks_for_is_used(folder: Path) -> None:
    text = starter("beam") + 'store = "kept"\n'
    (folder / "my.toml").write_text(text.replace("# page = true", "page = false"), encoding="utf-8")
    assert klapper("run", "my.toml").exit_code == 0
    assert (folder / "kept" / "run.h5").exists()
    assert not (folder / "kept" / "report.html").exists()


def test_another_run_is_replaced_only_on_request(folder: Path) -> None:
    (folder / "my.toml").write_text(starter("beam"), encoding="utf-8")
    assert klapper("run", "my.toml", "--out", "out").exit_code == 0
    before = (folder / "out" / "run.h5").read_bytes()
    (folder / "my.toml").write_text(starter("beam").replace("until = 0.5", "until = 0.1"), encoding="utf-8")
    result = klapper("run", "my.toml", "--out", "out")
    assert result.exit_code == 2
    assert is_one_sentence(result.stderr), result.stderr
    assert (folder / "out" / "run.h5").read_bytes() == before
    assert klapper("run", "my.toml", "--out", "out", "--overwrite").exit_code == 0
    assert read(folder / "out").time[-1] == pytest.approx(0.1)


def test_no_file_is_ever_overwritten(folder: Path) -> None:
    (folder / "mine.toml").write_text("precious")
    for words in (("new", "bodies", "mine.toml"), ("run", "bouncing-ball", "--export", "mine.toml")):
        result = klapper(*words)
        assert result.exit_code == 2
        assert is_one_sentence(result.stderr)
    assert (folder / "mine.toml").read_text() == "precious"


@pytest.mark.parametrize(
    "words",
    [
        ("new", "bodys"),
        ("new", "bodies", "no/such/folder.toml"),
        ("run", "missing.toml"),
        ("run", "broken.toml"),
        ("run", "good.toml", "--set", "a=1"),
        ("run", "good.toml", "--export", "-"),
        ("run", "unknown-example.toml"),
        ("run", "wrong-parameter.toml"),
        ("run", "."),
    ],
)
def test_wrong_requests_are_told_in_one_sentence(words: tuple[str, ...], folder: Path) -> None:
    (folder / "broken.toml").write_text(starter("beam").replace("length = 1.0", "length = -1.0"))
    (folder / "good.toml").write_text(starter("beam"))
    (folder / "unknown-example.toml").write_text('[model]\nkind = "example"\nname = "bouncing"\n')
    text = '[model]\nkind = "example"\nname = "bouncing-ball"\n[parameters]\nrestitution = 2\n'
    (folder / "wrong-parameter.toml").write_text(text)
    result = klapper(*words)
    assert result.exit_code == 2, result.output
    assert is_one_sentence(result.stderr), result.stderr


def test_a_wrong_parameter_of_an_example_names_its_line(folder: Path) -> None:
    text = '[model]\nkind = "example"\nname = "bouncing-ball"\n[parameters]\n\nrestituton = 0.5\n'
    (folder / "my.toml").write_text(text)
    told = klapper("run", "my.toml").stderr
    assert told.startswith("my.toml, line 6: ")
    assert "did you mean 'restitution'?" in told


def test_the_schema_is_printed() -> None:
    printed = json.loads(klapper("schema").stdout)
    assert [variant["title"] for variant in printed["oneOf"]] == list(KINDS)


def test_a_starter_can_be_printed() -> None:
    assert klapper("new", "linear", "-").stdout == starter("linear")


@pytest.mark.parametrize(
    "words",
    [
        ("bouncing-ball", "--set", "restitution=0.65", "--set", "until=1"),
        ("four-legged-table",),
        ("two-carts",),
        ("rough-table",),
    ],
)
def test_an_exported_example_gives_the_same_numbers(words: tuple[str, ...], folder: Path) -> None:
    assert klapper("run", *words, "--export", "my.toml").exit_code == 0
    there, here = klapper("run", *words, "--json", "-"), klapper("run", "my.toml", "--json", "-")
    assert (there.exit_code, here.exit_code) == (0, 0)
    assert json.loads(here.stdout) == json.loads(there.stdout)


def test_every_example_can_be_exported_with_its_exact_parameters() -> None:
    for example in examples():
        values = example.values({})
        content = tomllib.loads(example_scenario(example.name, values, {}))
        assert content["model"] == {"kind": "example", "name": example.name}
        assert find(example.name).values(content.get("parameters", {})) == values
