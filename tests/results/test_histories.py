"""Histories as CSV and NPZ: other readers find the same bits under titles that say what they are."""

import csv
from pathlib import Path

import numpy as np
import pandas
import pytest
from typer.testing import CliRunner

from klapper.cli import app
from klapper.results import ResultsError, Run
from klapper.results.histories import histories
from results.motions import bouncing_ball, braked_block, driven_oscillator, logged_by_number


@pytest.mark.parametrize("make", [bouncing_ball, braked_block, driven_oscillator])
def test_pandas_and_numpy_read_what_the_run_holds(make: "type[Run]", tmp_path: Path) -> None:
    run = make()
    table = pandas.read_csv(run.export(tmp_path / "run.csv"))
    arrays = np.load(run.export(tmp_path / "run.npz"))
    assert list(table.columns) == list(arrays.files) == list(histories(run))
    assert np.array_equal(table["time [s]"], run.time)
    for i, name in enumerate(run.layout.coordinates):
        assert np.array_equal(table[f"position {name}"], run.position[:, i])
        assert np.array_equal(arrays[f"position {name}"], run.position[:, i])
    for i, name in enumerate(run.layout.contacts):
        assert np.array_equal(table[f"{name} gap [m]"], run.gap[:, i], equal_nan=True)
        assert table[f"{name} impulse {run.layout.directions[0]} [N s]"].sum() == pytest.approx(
            run.impulse[:, i, 0].sum(), rel=1e-14
        )
    assert np.array_equal(arrays["energy impact [J]"], run.ledger.impact)


def test_the_impulses_of_a_bouncing_ball_balance_its_momentum(tmp_path: Path) -> None:
    """Σ Λ = m (v_end − v_start) + m g t, read from the file alone."""
    mass, gravity = 2.0, 9.81
    run = bouncing_ball(mass=mass)
    with run.export(tmp_path / "ball.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    impulse = next(title for title in rows[0] if "impulse" in title)
    velocity = next(title for title in rows[0] if title.startswith("velocity"))
    state = next(title for title in rows[0] if title.endswith("state"))
    given = sum(float(row[impulse]) for row in rows)
    gained = float(rows[-1][velocity]) - float(rows[0][velocity])
    assert given == pytest.approx(mass * gained + mass * gravity * float(rows[-1]["time [s]"]), rel=1e-9)
    assert {row[state] for row in rows} <= {"open", "stick", "slip", "impact"}


def test_contacts_that_are_only_logged_are_left_out() -> None:
    titles = histories(logged_by_number(bouncing_ball()))
    assert not [title for title in titles if "gap" in title or "state" in title]


def test_other_endings_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"let it end in .csv or .npz"):
        bouncing_ball().export(tmp_path / "run.txt")
    assert not list(tmp_path.iterdir())


def test_the_command_writes_a_table(tmp_path: Path) -> None:
    file = bouncing_ball().save(tmp_path / "run.h5")
    done = CliRunner().invoke(app, ["export", str(file), "--data", str(tmp_path / "ball.csv")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "ball.csv").read_text().startswith("time [s],")
    refused = CliRunner().invoke(app, ["export", str(file), "--data", str(tmp_path / "ball.xls")])
    assert refused.exit_code == 2
    assert "let it end in .csv or .npz" in refused.stderr
