"""Studies described in files, on the command line, and their report."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from klapper.cli import app
from klapper.studies import StudyError
from klapper.studies.file import read_study

GOOD = """
example = "incline"
outputs = ["drift"]
store = "kept"

[over]
A = { from = 0.1, to = 0.9, count = 3 }
B = [0.5, 1.6]
""".replace("incline", "vielsack-drift")


def written(folder: Path, text: str) -> Path:
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_describes_what_python_describes(tmp_path: Path) -> None:
    study, wishes = read_study(written(tmp_path, GOOD))
    assert study.design.axes == {"A": [0.1, 0.5, 0.9], "B": [0.5, 1.6]}
    assert study.store == tmp_path / "kept"
    assert wishes == []


def test_a_file_may_ask_for_samples_or_lists(tmp_path: Path) -> None:
    sample = GOOD.replace("B = [0.5, 1.6]", "B = { from = 0.5, to = 1.5 }").replace(", count = 3", "")
    study, _ = read_study(written(tmp_path, sample + '\n[sample]\nkind = "sobol"\ncount = 8\nseed = 2\n'))
    assert len(study.design) == 8
    assert all(0.5 <= value <= 1.5 for value in study.design.columns["B"])
    listed = GOOD.replace("A = { from = 0.1, to = 0.9, count = 3 }", "A = [0.1, 0.2]")
    study, _ = read_study(written(tmp_path, listed + '\n[sample]\nkind = "list"\n'))
    assert len(study.design) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("outputs =", "output ="),
            r"no key 'output' \(did you mean 'outputs'\?\); keys are example, scenario, map, outputs",
        ),
        (('example = "vielsack-drift"', ""), "one of the keys example, scenario, map; it has none of them"),
        (('example = "', 'map = "wedge-squeal"\nexample = "'), "it has example and map"),
        (
            ('example = "vielsack-drift"', 'map = "wedge-squel"'),
            r"no map 'wedge-squel' \(did you mean 'wedge-squeal'",
        ),
        (('example = "vielsack-drift"', 'scenario = "no.toml"'), r"no\.toml cannot be read"),
        (('"vielsack-drift"', "3"), "example is 3: give the name of an example"),
        (('["drift"]', '"drift"'), "outputs is 'drift': give a list of names"),
        (("count = 3", "number = 3"), "over.A has no key 'number'"),
        (("from = 0.1", 'from = "a"'), "over.A is from 'a' to 0.9: give two numbers"),
        (("B = [0.5, 1.6]", "B = 3"), "over.B is 3: give a list, or"),
        (("B = [0.5, 1.6]", "B = [-1.0]"), "B must be a number at least 0"),
        (("B = [0.5, 1.6]", "C = [1.0]"), "no parameter 'C'"),
        (("[over]", '[refine]\non = "drift"\nalong = "A"\n[over]'), "refine needs the key 'accuracy'"),
        (("[over]", '[[figure]]\nkind = "pie"\n[over]'), "the kind of figure 1 is 'pie': give one of map"),
        (("[over]", '[[figure]]\nkind = "map"\n[over]'), "figure 1 needs the key 'x'"),
        (("[over]", '[sample]\nkind = "random"\n[over]'), "sample.kind is 'random': give one of sobol"),
        (("[over]", "over = ["), "is no TOML"),
    ],
)
def test_a_wrong_file_is_refused_in_a_sentence(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    path = written(tmp_path, GOOD.replace(*change))
    with pytest.raises((StudyError, ValueError), match=message):
        read_study(path)
    answer = CliRunner().invoke(app, ["study", str(path)])
    assert answer.exit_code == 2
    assert "Traceback" not in answer.output


def test_the_command_runs_resumes_and_reports(fakes: object, tmp_path: Path) -> None:
    text = """
example = "fake-lever"
outputs = ["force", "unbounded", "loose", "moments"]
[over]
weight = { from = 100.0, to = 200.0, count = 3 }
turns = [1, 2]
[[figure]]
kind = "map"
x = "weight"
y = "turns"
value = "force"
[[figure]]
kind = "slices"
x = "weight"
value = "force"
by = "turns"
"""
    path = written(tmp_path, text)
    for _ in range(2):
        answer = CliRunner().invoke(
            app, ["study", str(path), "--workers", "1", "--out", str(tmp_path / "out")]
        )
        assert answer.exit_code == 0, answer.output
        assert "6 points done" in answer.output
    assert (tmp_path / "out" / "report.html").read_text().count("<figure") == 2
    study, _ = read_study(path)
    table = study.table()
    assert table["force"] == pytest.approx(table["weight"] * 0.5 / 2.0)  # lever
    assert np.all(table["unbounded"] == np.inf)
    assert not table["loose"].any()
    assert table["moments"][0] == [[50.0], [50.0]]
    assert study.units()["force"] == "N"
    assert study.dataset().force.attrs["units"] == "N"


def test_a_failed_check_of_an_example_fails_the_point(fakes: object, tmp_path: Path) -> None:
    text = 'example = "fake-lever"\noutputs = ["force"]\n[over]\nwrong = [false, true]\n'
    answer = CliRunner().invoke(app, ["study", str(written(tmp_path, text)), "--workers", "1"])
    assert answer.exit_code == 1
    assert "1 point done, 1 point failed" in answer.output
    study, _ = read_study(tmp_path / "study.toml")
    assert study.table()["error"][1].startswith("checks failed: force")
