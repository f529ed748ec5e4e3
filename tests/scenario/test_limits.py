"""What cannot be computed is refused with key and line; what would hardly end has to be confirmed."""

import os
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from klapper.cli import app
from klapper.mechanics import InvalidModel, LinearSystem
from klapper.scenario import ScenarioError, parse_scenario, read_scenario
from klapper.schemes import EventDriven, Moreau
from klapper.simulation import long_runs_allowed, simulate, too_long
from klapper.studies import StudyError
from klapper.studies.file import read_study

TEXT = """[model]
kind = "linear"
mass = [1.0, MASS]
position = [0.5, 0.0]

[[contact]]
name = "stop"
normal = [NORMAL, 0.0]

[scheme]
kind = "moreau"
step_size = STEP

[run]
until = UNTIL
"""


def scenario(**given: str) -> str:
    usual = {"MASS": "1.0", "NORMAL": "1.0", "STEP": "0.1", "UNTIL": "1.0"}
    text = TEXT
    for name, value in (usual | {key.upper(): value for key, value in given.items()}).items():
        text = text.replace(name, value)
    return text


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"normal": "1e200"}, "line 8: contact 1.normal 1 is 1e+200"),
        ({"mass": "1e-200"}, "line 3: model.mass 2 is 1e-200"),
        ({"until": "1e200"}, "line 15: run.until is 1e+200"),
        ({"until": "inf"}, "line 15: run.until is inf"),
        ({"step": "-1e-70"}, "line 12: scheme.step_size is -1e-70"),
    ],
)
def test_numbers_beyond_computing_are_refused_with_key_and_line(given: dict[str, str], where: str) -> None:
    with pytest.raises(ScenarioError, match=where.replace("+", r"\+")):
        parse_scenario(scenario(**given))


@pytest.mark.parametrize("given", [{"until": "1e59"}, {"step": "1e-10"}, {"until": "2e8"}])
def test_a_long_run_is_confirmed(given: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text(scenario(**given))
    with pytest.raises(
        ScenarioError, match=r"my.toml, line 15: run.until is .* steps, more than 1e\+09: .*--long"
    ):
        read_scenario(file).simulate()
    done = CliRunner().invoke(app, ["run", str(file)])
    assert done.exit_code == 2
    assert "--long" in done.stderr


def test_the_number_of_steps_and_samples_is_known_before_the_run() -> None:
    mass = LinearSystem([1.0])
    assert not too_long(mass, Moreau(1e-3), 1e6)
    assert too_long(mass, Moreau(1e-3), 1.1e6) == "which takes 1e+09 steps, more than 1e+09"
    assert not too_long(mass, Moreau(1e-3, accuracy=1e-6), 1e6 * 1.1)
    assert "1e+09 s after the start" in too_long(mass, EventDriven(), 2e9)
    assert "samples" in too_long(mass, EventDriven(sample=1e-9), 2.0)
    with pytest.raises(InvalidModel, match=r"confirm by long=True \(--long\)"):
        simulate(mass, 1e200, EventDriven())


def test_a_confirmed_run_is_made() -> None:
    """A mass in free flight, whose motion is one step however long it lasts."""
    mass = LinearSystem([1.0], velocity=[2.0])
    assert simulate(mass, 4e9, EventDriven(), long=True).final[1] == pytest.approx([8e9])
    with long_runs_allowed():
        assert simulate(mass, 4e9, EventDriven()).final[1] == pytest.approx([8e9])
    text = scenario(until="4e9").replace('kind = "moreau"\nstep_size = 0.1', 'kind = "event-driven"')
    assert parse_scenario(text).simulate(long=True).time[-1] == 4e9


def test_what_a_model_refuses_by_any_error_has_its_line() -> None:
    """A file in which a number is no error for itself, but the model made of it cannot be computed."""
    place = parse_scenario(scenario()).place.at("model")
    for error in (
        np.linalg.LinAlgError("Singular matrix"),
        ValueError("array must not contain infs or NaNs"),
    ):
        with (
            pytest.raises(ScenarioError, match="line 1: model cannot be computed with these numbers"),
            place.naming(),
        ):
            raise error
    with pytest.raises(ScenarioError, match="more memory than there is"), place.naming():
        raise MemoryError


STUDY = 'example = "bouncing-ball"\noutputs = ["impacts"]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[over]\nrestitution = { from = 0.1, to = 0.9, count = 1000000000000 }", "a file may ask for 2e"),
        ("replicates = 1000000000000\n[over]\nrestitution = [0.5]", "a file may ask for 2e"),
        (
            "[over]\nrestitution = { from = 0.1, to = 0.9 }\n[sample]\nkind = 'sobol'\ncount = 9999999999",
            "ask for 2e",
        ),
        ("[over]\nrestitution = { from = -inf, to = 0.9, count = 3 }", "give finite numbers"),
        ("seed = -1\n[over]\nrestitution = [0.5]", "whole number from 0 on"),
        ('store = "../elsewhere"\n[over]\nrestitution = [0.5]', r"outside of the folder .*--allow"),
        (
            f'store = "{"x" * 5000}"\n[over]\nrestitution = [0.5]',
            r"^store is 'x{70,80} …', which is no name of a file",
        ),
        ('store = "a\\u0000b"\n[over]\nrestitution = [0.5]', "no name of a file"),
    ],
)
def test_what_a_study_may_not_ask_for_is_refused(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY + text)
    with pytest.raises(StudyError, match=words):
        read_study(tmp_path / "study.toml")


def test_a_study_may_use_folders_that_are_permitted(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "study.toml").write_text(STUDY + 'store = "../there"\n[over]\nrestitution = [0.5]')
    described, _ = read_study(tmp_path / "here" / "study.toml", allow=[tmp_path])
    assert os.path.samefile(described.store.parent, tmp_path / "here" / "..")
