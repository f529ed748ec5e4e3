"""The bifurcation diagram of an oscillator against a stop, against its closed form."""

from pathlib import Path

import numpy as np
import pytest

from klapper.gallery._single_impact import Oscillator
from klapper.studies.file import read_study
from klapper.studies.maps.oscillator import impacts

FILE = """
map = "impact-oscillator"
outputs = ["speeds", "distinct", "per_period"]
continue_along = "angular_frequency"
[over]
angular_frequency = [2.3, 1.6, 1.5, 1.4]
[fixed]
settle = 60
keep = 8
[[figure]]
kind = "bifurcation"
x = "angular_frequency"
value = "speeds"
"""


def single_impact(frequency: float) -> float:
    """Speed [m/s] of the stable motion with one impact per period, by a quadratic equation (Peterka 1974)."""
    known = [
        each for each in Oscillator(frequency, 0.5, 0.9, 0.02, 1.0, 1.0, 1.0).single_impacts if each.possible
    ]
    assert [each.stable for each in known] == [True]
    return known[0].u


def test_a_file_draws_a_bifurcation_diagram(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(FILE, encoding="utf-8")
    study, wishes = read_study(path)
    table = study.run(workers=1).table()
    assert table["distinct"].tolist() == [0, 1, 1, 1]
    assert table["per_period"].tolist() == [0.0, 1.0, 1.0, 1.0]
    for frequency, speeds in zip(table["angular_frequency"][1:], table["speeds"][1:], strict=True):
        assert np.mean(speeds) == pytest.approx(single_impact(frequency), rel=1e-3)
    from matplotlib.figure import Figure

    figure = Figure()
    wishes[0].draw(study, figure)
    axes = figure.axes[0]
    assert len(axes.get_lines()[0].get_xdata()) == 1 + 3 * 8
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("angular_frequency / rad/s", "speeds / m/s")


def test_a_settled_motion_has_one_speed() -> None:
    found = impacts(1.5, settle=150, keep=6)
    assert found["speeds"] == pytest.approx([single_impact(1.5)] * 6, rel=1e-9)
