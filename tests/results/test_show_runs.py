"""``klapper show`` for stored runs."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from klapper.audit import audit
from klapper.cli import app
from klapper.mechanics import Contact, LinearSystem
from klapper.results import PartStore, Run
from klapper.schemes import Moreau
from klapper.simulation import simulate

from .motions import GRAVITY, bouncing_ball, braked_block, driven_oscillator, logged_by_number, run_of_states


def klapper(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


def test_a_file_and_its_folder_show_the_same(tmp_path: Path) -> None:
    file = bouncing_ball(restitution=0.5).save(tmp_path / "run.h5")
    result = klapper("show", str(file))
    assert result.exit_code == 0
    assert result.stdout == klapper("show", str(tmp_path)).stdout
    for part in (
        "bouncing ball, complete",
        "closed form (restitution=0.5)",
        "floor",
        "19.62",
        "The ledger closes",
        "motion: unique",
        "failures: 0",
    ):
        assert part in result.stdout, part
    titles = [line for line in result.stdout.splitlines() if line and not line.startswith(" ")]
    assert titles == ["Run", "Contacts", "Events", "Energy", "Audit"]
    assert max(map(len, result.stdout.splitlines())) <= 120


def test_states_are_shares_of_time(tmp_path: Path) -> None:
    run = braked_block()
    result = klapper("show", str(run.save(tmp_path / "run.h5")))
    stop = 2.0 / (0.3 * GRAVITY)
    row = next(line for line in result.stdout.splitlines() if line.startswith("  floor"))
    open_, stick, slip, impact = (float(word) for word in row.replace("%", "").split()[1:5])
    assert (open_, impact) == (0.0, 0.0)
    assert slip == pytest.approx(100 * stop, abs=0.3)
    assert stick == pytest.approx(100 * (1 - stop), abs=0.3)


def test_the_json_of_a_run_has_its_impacts_energy_and_coordinates(tmp_path: Path) -> None:
    run = bouncing_ball(mass=2.0, restitution=0.8)
    file = run.save(tmp_path / "run.h5")
    result = klapper("show", str(file), "--json", "-")
    content = json.loads(result.stdout)
    assert content["samples"] == 601
    assert content["end"] == 3.0
    assert content["coordinates"] == {"ball y": run.position[-1, 0]}
    assert content["events"]["counts"] == {"impact": 6, "closes": 0, "opens": 0, "sticks": 0, "slips": 0}
    first = 2.0 * 1.8 * np.sqrt(2 * GRAVITY)
    assert content["contacts"][0]["largest_impulse"] == pytest.approx(first)
    assert content["contacts"][0]["impacts"] == 6
    assert content["energy"]["initial"] == pytest.approx(2.0 * GRAVITY)
    assert content["energy"]["closes"] is True
    assert "The ledger closes" in result.stderr
    assert klapper("show", str(file), "--json", str(tmp_path / "out.json")).exit_code == 0
    assert json.loads((tmp_path / "out.json").read_text()) == content


def test_an_unfinished_run_is_shown_as_far_as_it_got(tmp_path: Path) -> None:
    run = bouncing_ball()
    with PartStore(tmp_path) as store:
        store.begin(run.layout, {"system": "ball on its way"}, "x")
        store.append(run.samples[:200], {})
        result = klapper("show", str(tmp_path))
    assert result.exit_code == 0
    assert "ball on its way, interrupted" in result.stdout
    assert "The run stopped at 0.995 s and can be resumed." in result.stdout


def test_runs_of_every_shape_are_shown(tmp_path: Path) -> None:
    many = run_of_states(np.random.default_rng(0).integers(0, 4, (50, 30)), tangential=2)
    empty = Run(many.layout, many.samples[:0])
    single = Run(many.layout, many.samples[:1])
    for run in (many, logged_by_number(many), driven_oscillator(), empty, single):
        file = run.save(tmp_path / "run.h5")
        result = klapper("show", str(file))
        assert result.exit_code == 0, result.stderr
        assert json.loads(klapper("show", str(file), "--json", "-").stdout)["samples"] == len(run)
    many.save(tmp_path / "run.h5")
    shown = klapper("show", str(tmp_path)).stdout
    assert "… and 10 more" in shown
    assert f"… {len(many.events()) - 12} more" in shown
    assert (
        "This run has no contacts."
        in klapper("show", str(driven_oscillator().save(tmp_path / "free.h5"))).stdout
    )


def test_a_ledger_that_does_not_close_is_shown_as_such(tmp_path: Path) -> None:
    run = run_of_states(np.array([[0], [1]]))
    fields = {name: getattr(run.samples, name) for name in type(run.samples).__dataclass_fields__}
    leaking = type(run.samples)(**(fields | {"energy": np.array([[1.0] + [0.0] * 6, [0.5] + [0.0] * 6])}))
    result = klapper("show", str(Run(run.layout, leaking).save(tmp_path / "run.h5")))
    assert "does not close: off by at most 5.0e-01 J" in result.stdout


@pytest.mark.parametrize(
    ("share", "told", "kind"),
    [
        (1e-10, "closes", "passed"),
        (1e-8, "closes to 1.0e-08 of the energy only", "warned"),
        (1e-6, "does not close", "failed"),
    ],
)
def test_tables_data_page_and_audit_agree_on_the_ledger(
    share: float, told: str, kind: str, tmp_path: Path
) -> None:
    floor = Contact("floor", normal=[1.0], restitution=0.5)
    ball = LinearSystem([1.0], force=[-10.0], position=[1.25], contacts=[floor])
    run = simulate(ball, 1.0, Moreau(1e-2))
    energy = run.samples.energy.copy()
    energy[50:, 0] += share * run.ledger.scale
    fields = {name: getattr(run.samples, name) for name in type(run.samples).__dataclass_fields__}
    leaking = Run(run.layout, type(run.samples)(**(fields | {"energy": energy})), run.about)
    judged = audit(leaking, ball, Moreau(1e-2))
    assert judged.findings["ledger"] == told
    assert bool(judged.failure) == (kind == "failed")
    leaking = Run(run.layout, leaking.samples, run.about | {"audit": judged.findings})
    file = leaking.save(tmp_path / "run.h5")
    shown = klapper("show", str(file)).stdout
    assert f"The ledger {told}: off" in shown
    assert f"  ledger: {told}\n" in shown
    data = json.loads(klapper("show", str(file), "--json", "-").stdout)
    assert data["energy"]["closes"] == (kind != "failed")
    assert data["energy"]["closes_exactly"] == (kind == "passed")
    assert data["about"]["audit"]["ledger"] == told
    assert klapper("show", str(file), "--page", str(tmp_path / "page.html")).exit_code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f'class="verdict {kind}"' in page
    assert f"The ledger {told}: off" in page


def test_a_record_beside_a_run_is_shown_first(tmp_path: Path) -> None:
    assert klapper("run", "two-carts", "--json", str(tmp_path / "result.json")).exit_code == 0
    bouncing_ball(count=11).save(tmp_path / "run.h5")
    result = klapper("show", str(tmp_path))
    assert "impulse_a" in result.stdout
    assert f"klapper show {tmp_path / 'run.h5'}" in result.stdout
    shown = klapper("show", str(tmp_path / "result.json"), "--json", "-")
    assert json.loads(shown.stdout)["example"] == "two-carts"


def test_a_wrong_path_gets_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.h5").write_text("not a run")
    whole = bouncing_ball(count=11).save(tmp_path / "cut.h5").read_bytes()
    (tmp_path / "cut.h5").write_bytes(whole[:-100])
    for path, part in [
        (tmp_path / "nowhere.h5", "nowhere.h5 does not exist."),
        (tmp_path / "empty", "holds neither result.json nor run.h5."),
        (tmp_path / "text.h5", "text.h5 is no run of klapper."),
        (tmp_path / "cut.h5", "cut.h5 is damaged: 100 bytes are missing"),
    ]:
        result = klapper("show", str(path))
        assert result.exit_code == 2
        assert result.stdout == ""
        assert part in result.stderr
        assert result.stderr.count("\n") == 1
    result = klapper("show", str(tmp_path / "cut.h5"), "--json", "/nowhere/x.json")
    assert result.exit_code == 2
    assert "give a file in an existing folder" in result.stderr


def test_an_ascii_terminal_shows_a_run(tmp_path: Path) -> None:
    file = bouncing_ball(count=11).save(tmp_path / "run.h5")
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "klapper.cli", "show", str(file)]
    result = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert result.returncode == 0, result.stderr
