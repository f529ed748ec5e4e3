"""The command line: what it prints, writes and returns."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from klapper.cli import app

HERE = Path(__file__).parent


def klapper(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


def process(*words: str, fake: bool = False, **options: Any) -> subprocess.CompletedProcess[str]:
    """A real process; with ``fake`` the examples of the tests are there, too."""
    code = "import fake_examples; fake_examples.register(); from klapper.cli import main; main()"
    start = ["-c", code] if fake else ["-m", "klapper.cli"]
    environment = os.environ | {"PYTHONPATH": str(HERE)}
    return subprocess.run(
        [sys.executable, *start, *words],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        **options,
    )


def is_one_sentence(text: str) -> bool:
    return text.count("\n") == 1 and text.endswith("\n") and "Traceback" not in text


pytestmark = pytest.mark.usefixtures("fakes")


def test_list_has_one_line_for_each() -> None:
    result = klapper("list")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert "fake-lever" in result.stdout
    assert any(
        line.startswith("fake-talk") and line.endswith("Talk: an example that prints") for line in lines
    )


def test_list_of_one_shows_its_parameters() -> None:
    result = klapper("list", "fake-lever")
    assert result.exit_code == 0
    assert "arms=0.5,2.0" in result.stdout
    assert "weight on the short arm: a number above 0 (N)" in result.stdout


def test_run_prints_numbers_checks_and_audit() -> None:
    result = klapper("run", "fake-lever", "--set", "weight=8")
    assert result.exit_code == 0
    for text in ("2 N", "All 3 checks passed.", "the force is unique", "law of the lever", "[[4], [4]] N m"):
        assert text in result.stdout, text
    assert result.stderr == ""


def test_run_without_out_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert klapper("run", "fake-lever").exit_code == 0
    assert os.listdir(tmp_path) == []


def test_json_has_exactly_the_agreed_form() -> None:
    result = klapper("run", "fake-lever", "--set", "weight=8", "--set", "modes=B", "--json", "-")
    content = json.loads(result.stdout)
    assert list(content) == ["example", "parameters", "numbers", "checks", "audit"]
    assert content["example"] == "fake-lever"
    assert content["parameters"] == {
        "weight": 8.0,
        "arms": [0.5, 2.0],
        "positions": [0.5, 1.0],
        "turns": 1,
        "pivot": "rigid",
        "modes": "B",
        "wrong": False,
    }
    assert content["numbers"]["force"] == 2.0
    assert content["numbers"]["moments"] == [[4.0], [4.0]]
    assert content["numbers"]["unbounded"] == "inf"
    assert content["numbers"]["loose"] is False
    assert content["checks"][0] == {
        "name": "force <F>",
        "value": 2.0,
        "expected": 2.0,
        "tolerance": 1e-9,
        "passed": True,
        "source": "law of the lever",
    }
    assert content["audit"]["residuals"]["nested"] == {"deep": [1.0, 2.0]}
    assert "All 3 checks passed." in result.stderr


def test_json_is_alone_on_standard_output_even_if_the_example_prints() -> None:
    result = process("run", "fake-talk", "--json", "-", fake=True)
    assert result.returncode == 0
    assert json.loads(result.stdout)["numbers"] == {"one": 1}
    assert "chatter" in result.stderr


def test_json_goes_into_a_file_and_numbers_to_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    result = klapper("run", "fake-lever", "--json", str(file))
    assert result.exit_code == 0
    assert json.loads(file.read_text())["numbers"]["force"] == 25.0
    assert "25 N" in result.stdout
    assert os.listdir(tmp_path) == ["result.json"]


def test_out_writes_figures_and_page(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    result = klapper("run", "fake-lever", "--out", str(tmp_path))
    assert result.exit_code == 0
    names = ["again.png", "again.svg", "force.png", "force.svg", "mine.txt", "report.html", "result.json"]
    assert sorted(os.listdir(tmp_path)) == names
    assert f"Report: {tmp_path / 'report.html'}" in result.stdout
    assert json.loads((tmp_path / "result.json").read_text())["numbers"]["force"] == 25.0


def test_a_failing_check_gives_status_1_and_still_writes(tmp_path: Path) -> None:
    result = klapper("run", "fake-lever", "--set", "wrong=true", "--out", str(tmp_path), "--json", "-")
    assert result.exit_code == 1
    assert [check["passed"] for check in json.loads(result.stdout)["checks"]] == [False, True, True]
    assert "1 of 3 checks failed: force <F>." in result.stderr
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["run", "fake-liver"], "the nearest is 'fake-lever'"),
        (["list", "fake-liver"], "the nearest is 'fake-lever'"),
        (
            ["run", "fake-lever", "--set", "wait=3"],
            "it takes weight, arms, positions, turns, pivot, modes, wrong.",
        ),
        (["run", "fake-lever", "--set", "weight=-3"], "weight must be a number above 0 (N), not -3.0."),
        (["run", "fake-lever", "--set", "weight=heavy"], "weight must be a number above 0 (N), not heavy."),
        (
            ["run", "fake-lever", "--set", "turns=1.5"],
            "turns must be a whole number at least 1 and at most 9",
        ),
        (["run", "fake-lever", "--set", "pivot=soft"], "pivot must be one of rigid, loose, not soft."),
        (["run", "fake-lever", "--set", "arms=1"], "arms must be 2 numbers separated by commas"),
        (["run", "fake-lever", "--set", "arms=2,1"], "the first of arms must be the shorter one."),
        (["run", "fake-lever", "--set", "weight"], "write key=value"),
        (["run", "fake-lever", "--set", "weight=1", "--set", "weight=2"], "weight is set twice."),
        (["run", "fake-lever", "--json", "/nowhere/x.json"], "give a file in an existing folder"),
        (["run", "fake-lever", "--out", __file__], "is a file: give a folder."),
        (["show", "/nowhere/result.json"], "/nowhere/result.json does not exist."),
        (["show", __file__], "is no result of a run"),
    ],
)
def test_a_wrong_request_gets_one_sentence_and_status_2(words: list[str], part: str) -> None:
    result = klapper(*words)
    assert result.exit_code == 2
    assert part in result.stderr
    assert is_one_sentence(result.stderr)
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["rum"], "No such command 'rum'"),
        (["run"], "Missing argument"),
        (["run", "x", "--colour"], "No such option: --colour"),
        (["run", "no-such-example-at-all"], "There is no example 'no-such-example-at-all'"),
        (["show", __file__], "is no result of a run"),
    ],
)
def test_a_real_process_answers_a_wrong_request_in_one_sentence(words: list[str], part: str) -> None:
    result = process(*words)
    assert result.returncode == 2
    assert part in result.stderr
    assert is_one_sentence(result.stderr)
    assert result.stdout == ""


def test_an_unexpected_error_is_one_sentence_with_a_hint() -> None:
    result = process("run", "fake-crash", fake=True)
    assert result.returncode == 3
    assert result.stderr == "RuntimeError: something broke (--debug shows the traceback).\n"


def test_debug_shows_the_traceback() -> None:
    result = process("run", "fake-crash", "--debug", fake=True)
    assert result.returncode != 0
    assert "Traceback" in result.stderr
    assert "RuntimeError: something" in result.stderr


def test_show_prints_a_stored_result(tmp_path: Path) -> None:
    klapper("run", "fake-lever", "--set", "wrong=true", "--out", str(tmp_path))
    for file in (tmp_path, tmp_path / "result.json"):
        result = klapper("show", str(file))
        assert result.exit_code == 0
        assert "37.5" in result.stdout
        assert "weight on the short arm" in result.stdout
        assert "1 of 3 checks failed: force <F>." in result.stdout


def test_show_knows_results_whose_example_is_gone(tmp_path: Path) -> None:
    klapper("run", "fake-lever", "--out", str(tmp_path))
    file = tmp_path / "result.json"
    file.write_text(file.read_text().replace("fake-lever", "gone"))
    result = klapper("show", str(file))
    assert result.exit_code == 0
    assert result.stdout.startswith("gone\n")


def test_a_closed_pipe_is_quiet() -> None:
    command = f"{sys.executable} -m klapper.cli list | true"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert result.stderr == ""


def test_an_ascii_terminal_is_no_reason_to_fail() -> None:
    environment = os.environ | {"PYTHONPATH": str(HERE), "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    code = "import fake_examples; fake_examples.register(); from klapper.cli import main; main()"
    command = [sys.executable, "-c", code, "run", "fake-lever"]
    result = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert result.returncode == 0, result.stderr


def test_version_and_commands_are_told() -> None:
    from klapper import __version__

    assert process("--version").stdout == f"klapper {__version__}\n"
    helped = process("--help")
    assert helped.returncode == 0
    assert all(word in helped.stdout for word in ("list", "run", "show", "bench"))
    assert "Usage" in process().stdout


def test_compile_does_what_first_runs_need(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from klapper import machine_code
    from klapper.cli import ahead

    def run() -> None:
        assert machine_code.njit(cache=True)(lambda x: 4.5 * x)(2.0) == 9.0

    monkeypatch.setattr(ahead, "RUNS", {"one": run})
    monkeypatch.setattr(machine_code, "_PACKAGE", tmp_path)
    monkeypatch.setenv("KLAPPER_CACHE", str(tmp_path / "user"))
    done = klapper("compile")
    assert done.exit_code == 0
    assert done.stdout.startswith("one … ")
    assert not (tmp_path / "machine_code").exists()
    assert klapper("compile", "--package").exit_code == 0
    assert len(list((tmp_path / "machine_code").glob("*.code"))) == 1
    assert os.environ["KLAPPER_CACHE"] == str(tmp_path / "user")
    monkeypatch.setattr(machine_code, "_PACKAGE", tmp_path / "nowhere")
    refused = klapper("compile", "--package")
    assert refused.exit_code == 2
    assert is_one_sentence(refused.stderr)


@pytest.mark.slow
def test_what_is_compiled_ahead_runs() -> None:
    from klapper.cli.ahead import RUNS

    for run in RUNS.values():
        run()


def test_bench_runs_the_script_of_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from klapper.cli import commands

    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "src" / "klapper").mkdir(parents=True)
    (tmp_path / "benchmarks" / "run.py").write_text("import sys, benchmarks; sys.exit(len(sys.argv) + 3)")
    monkeypatch.setattr(
        commands, "__file__", str(tmp_path / "site" / "klapper" / "package" / "cli" / "commands.py")
    )
    monkeypatch.chdir(tmp_path)
    assert klapper("bench", "--quick").exit_code == 5


def test_bench_outside_a_clone_says_where_the_benchmarks_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from klapper.cli import commands

    monkeypatch.setattr(
        commands, "__file__", str(tmp_path / "site" / "klapper" / "package" / "cli" / "commands.py")
    )
    monkeypatch.chdir(tmp_path)
    result = klapper("bench")
    assert result.exit_code == 2
    assert result.stderr == "The benchmarks live in the repository: run `klapper bench` from a clone of it.\n"
