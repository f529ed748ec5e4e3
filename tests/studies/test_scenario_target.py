"""Studies over scenario files: keys by dotted name, numbers of the run, against a bouncing mass in closed form."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import klapper
from klapper.cli import app
from klapper.scenario import ScenarioError
from klapper.studies import StudyError
from klapper.studies.file import read_study
from klapper.studies.scenario_target import scenario_target

G = 9.81
BALL = """
[model]
kind = "linear"
mass = [2.0]
stiffness = [[0.0]]
force = [-19.62]  # its weight
position = [1.0]

[[contact]]
name = "floor"
normal = [1.0]

[scheme]
kind = "exact"
sample = 0.01

[run]
until = 1.0
"""


def written(folder: Path, text: str = BALL, name: str = "ball.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def impacts_until(height: float, restitution: float, until: float) -> int:
    """t₀ (1 + 2 ε + 2 ε² + …) with t₀ = √(2 h/g); without restitution one."""
    fall = np.sqrt(2.0 * height / G)
    if restitution == 0.0:
        return 1
    times = fall * (2.0 * np.cumsum(restitution ** np.arange(60)) - 1.0)
    return int(np.count_nonzero(times < until))


def test_a_bouncing_mass_loses_by_its_restitution_and_height(tmp_path: Path) -> None:
    """Impacts, lost energy, height, mean force over two keys: one that the file leaves out, one entry of a list."""
    outputs = ["impacts.floor", "energy.impact", "position.1.largest", "gap.floor.least", "force.floor.mean"]
    study = klapper.study(
        written(tmp_path),
        over={"contact.1.restitution": [0.0, 0.6], "model.position.1": [0.5, 1.0]},
        outputs=outputs,
        store=tmp_path / "s",
    ).run(workers=1)
    table = study.table()
    assert set(table["status"]) == {"done"}, set(table["error"])
    height, restitution = table["model.position.1"], table["contact.1.restitution"]
    counts = [impacts_until(h, e, 1.0) for h, e in zip(height, restitution, strict=True)]
    assert table["impacts.floor"].tolist() == counts
    kept = np.where(restitution > 0.0, restitution ** (2.0 * np.array(counts)), 0.0)
    assert table["energy.impact"] == pytest.approx(2.0 * G * height * (1.0 - kept), rel=1e-9)
    assert table["position.1.largest"] == pytest.approx(height)
    assert np.all(np.abs(table["gap.floor.least"]) < 1e-9)
    at_rest = restitution == 0.0  # the impulse of the floor takes up the weight of the whole second
    assert table["force.floor.mean"][at_rest] == pytest.approx(2.0 * G, rel=1e-9)
    assert study.units()["energy.impact"] == "J"
    assert study.units()["scheme.sample"] == "s"


def test_statistics_of_a_vibration_are_those_of_the_cosine(tmp_path: Path) -> None:
    """cos 2πt over one second: mean 0, rms 1/√2, span 2; trapezoidal sums of whole periods have no error."""
    text = BALL.replace("[[0.0]]", f"[[{2.0 * (2.0 * np.pi) ** 2!r}]]").replace("[-19.62]", "[0.0]")
    contact = text[text.index("[[contact]]") : text.index("[scheme]")]
    names = [f"position.1.{word}" for word in ("mean", "rms", "span", "end", "least")]
    study = klapper.study(
        written(tmp_path, text.replace(contact, "")),
        over={"model.position.1": [1.0, 3.0]},
        outputs=[*names, "position.1.samples", "impacts"],
        store=tmp_path / "s",
    ).run(workers=1)
    table = study.table()
    for k, size in enumerate((1.0, 3.0)):
        found = [table[name][k] for name in names]
        assert found == pytest.approx(
            [0.0, size / np.sqrt(2.0), 2.0 * size, size, -size], abs=1e-9 * size, rel=1e-9
        )
        time = np.linspace(0.0, 1.0, len(table["position.1.samples"][k]))
        assert table["position.1.samples"][k] == pytest.approx(size * np.cos(2.0 * np.pi * time), abs=1e-9)
    assert not table["impacts"].any()


@pytest.mark.parametrize(
    ("over", "outputs", "message"),
    [
        (
            {"contact.1.restitution": [2.0]},
            ["impacts"],
            r"ball\.toml, line .*restitution is 2\.0; allowed are",
        ),
        ({"contact.1.restitutio": [0.5]}, ["impacts"], "did you mean 'restitution'"),
        ({"contact.2.restitution": [0.5]}, ["impacts"], "entries of contact are numbered from 1 to 1, not 2"),
        ({"run.until.late": [0.5]}, ["impacts"], "run.until is neither a table nor a list"),
        ({"run.until": [0.5]}, ["position.1.median"], "there is no output 'position.1.median': outputs of"),
        ({"run.until": [0.5]}, ["energy.heat"], "energies are initial, kinetic"),
        ({"run.until": [0.5]}, ["gap.wall.least"], "no contact 'wall'"),
        ({"run.until": [0.5]}, ["error"], "there is no output 'error'"),
    ],
)
def test_what_a_scenario_does_not_have_is_refused_in_a_sentence(
    over: dict, outputs: list[str], message: str, tmp_path: Path
) -> None:
    with pytest.raises((StudyError, ScenarioError, ValueError), match=message):
        klapper.study(written(tmp_path), over=over, outputs=outputs, store=tmp_path / "s")


def test_a_point_that_cannot_be_computed_keeps_its_sentence(tmp_path: Path) -> None:
    study = klapper.study(
        written(tmp_path), over={"run.until": [-1.0, 0.2]}, outputs=["impacts"], store=tmp_path / "s"
    ).run(workers=1)
    table = study.table()
    assert table["status"].tolist() == ["failed", "done"]
    assert "run.until is -1.0; allowed are times after 0 s" in table["error"][0]


def test_only_what_matters_makes_another_point(tmp_path: Path) -> None:
    """Comments and titles do not; values, tables and the content of named files do."""

    def keys(text: str) -> list[bytes]:
        study = klapper.study(
            written(tmp_path, text), over={"run.until": [0.5]}, outputs=["impacts"], store=tmp_path / "s"
        )
        return study._base.keys

    base = keys(BALL)
    assert keys("# a comment\n" + BALL.replace("[model]", '[model]\ntitle = "Ball"')) == base
    assert keys(BALL.replace("mass = [2.0]", "mass = [2]")) == base
    assert keys(BALL.replace("until = 1.0", "until = 7.0")) == base  # it is varied
    assert keys(BALL.replace("[2.0]", "[3.0]")) != base
    assert keys(BALL + "figures = ['ledger']\n") == base
    named = BALL.replace("mass = [2.0]", 'mass = "mass.npy"')
    np.save(tmp_path / "mass.npy", [[2.0]])
    first = keys(named)
    np.save(tmp_path / "mass.npy", [[3.0]])
    assert keys(named) != first


def test_a_worker_gets_the_same_target(tmp_path: Path) -> None:
    target = scenario_target(written(tmp_path), ["impacts"])
    arrived = pickle.loads(pickle.dumps(target))
    assert arrived == target
    assert arrived is pickle.loads(pickle.dumps(target))  # checked once, not for every batch
    assert arrived.code == target.code
    point = arrived.evaluate({"run.until": [0.5]}, {**target.defaults})
    assert point.points == [{"impacts": 1}]


def test_a_file_of_a_study_names_a_scenario(tmp_path: Path) -> None:
    """Keys with dots as TOML writes them, on the command line, resumed."""
    written(tmp_path)
    text = """
scenario = "ball.toml"
outputs = ["impacts"]
[over]
contact.1.restitution = { from = 0.0, to = 0.5, count = 2 }
[fixed]
run.until = 0.7
[[figure]]
kind = "slices"
x = "contact.1.restitution"
value = "impacts"
"""
    path = written(tmp_path, text, "study.toml")
    for _ in range(2):
        answer = CliRunner().invoke(
            app, ["study", str(path), "--workers", "1", "--out", str(tmp_path / "out")]
        )
        assert answer.exit_code == 0, answer.output
        assert "2 points done" in answer.output
    assert "impacts over contact.1.restitution." in (tmp_path / "out" / "report.html").read_text()
    study, _ = read_study(path)
    assert study.constants["run.until"] == 0.7
    assert study.table()["impacts"].tolist() == [1, impacts_until(1.0, 0.5, 0.7)]
    answer = CliRunner().invoke(
        app, ["study", str(written(tmp_path, text.replace("ball", "bell"), "b.toml"))]
    )
    assert answer.exit_code == 2
    assert "Traceback" not in answer.output


def test_a_scenario_may_name_an_example(tmp_path: Path) -> None:
    """The drift of Vielsack's table at A = 0.9, B = 0.11: 0.0007."""
    text = '[model]\nkind = "example"\nname = "vielsack-drift"\n[parameters]\nA = 0.9\n'
    study = klapper.study(
        written(tmp_path, text), over={"parameters.B": [0.11]}, outputs=["drift"], store=tmp_path / "s"
    ).run(workers=1)
    assert study.table()["drift"][0] == pytest.approx(0.0007, abs=0.5e-4)
    with pytest.raises(StudyError, match=r"vary parameters\.NAME of it, not 'B'"):
        klapper.study(written(tmp_path, text), over={"B": [0.11]}, outputs=["drift"], store=tmp_path / "s")
