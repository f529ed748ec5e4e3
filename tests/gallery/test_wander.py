"""Examples hold for parameters that are drawn at random, and the tool that draws them sorts what happens."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tools.wander import Attempt, settings_drawn, table

from klapper.gallery import examples, find
from klapper.gallery.example import Example

ROOT = Path(__file__).parents[2]
QUICK = ["fremond-impact", "mass-row", "surface-point", "wedge-point"]
"""Examples whose draws take a fraction of a second."""
MENDED = ["sliding-block", "prox-start"]
"""Examples whose checks held for the shipped parameters only."""


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_what_is_drawn_is_admitted_and_repeatable(example: Example) -> None:
    drawn = list(settings_drawn(example, 20, seed=3))
    assert drawn == list(settings_drawn(example, 20, seed=3)) != list(settings_drawn(example, 20, seed=4))
    for settings in drawn:
        example.values(example.read(settings))
    assert any(len(settings) > 1 for settings in drawn) or len(example.arguments) == 1


def test_every_parameter_is_changed_alone_in_turn() -> None:
    ball = find("bouncing-ball")
    alone = list(settings_drawn(ball, 4 * len(ball.arguments), seed=1))[::2]
    names = {setting.partition("=")[0] for settings in alone for setting in settings}
    assert names == {argument.name for argument in ball.arguments}


def wandered(names: list[str], draws: int, folder: Path, *, first: int = 0) -> list[dict[str, object]]:
    log = folder / "log.jsonl"
    command = ["-m", "tools.wander", *names, "--draws", str(draws), "--first", str(first), "--log", str(log)]
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
        "OPENBLAS_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, env=environment, cwd=ROOT
    )
    assert done.returncode in (0, 1), done.stderr
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def require_held(found: list[dict[str, object]]) -> None:
    wrong = [entry for entry in found if entry["kind"] not in ("passed", "refused")]
    assert not wrong
    assert sum(entry["kind"] == "passed" for entry in found) >= 0.8 * len(found)


def test_quick_examples_hold_for_drawn_parameters(tmp_path: Path) -> None:
    found = wandered(QUICK, 2, tmp_path)
    assert len(found) == 2 * len(QUICK)
    require_held(found)


def test_mended_examples_hold_for_drawn_parameters(tmp_path: Path) -> None:
    require_held(wandered(MENDED, 2, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_every_example_holds_for_fifty_draws(example: Example, tmp_path: Path) -> None:
    require_held(wandered([example.name], 50, tmp_path))


def test_the_table_counts_and_names_what_reproduces_a_failure() -> None:
    told = table(
        [
            Attempt("a", (), "passed", 1.0, ""),
            Attempt("a", ("x=1.0,2.0",), "failed", 1.0, "what was told"),
            Attempt("b", (), "slow", 60.0, ""),
        ]
    )
    assert "| all                      |     3 |      1 |       0 |      1 |     0 |    1 |" in told
    assert "klapper run a --set x=1.0,2.0" in told and "what was told" in told
