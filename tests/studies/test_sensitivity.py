"""Elasticities of a limit cycle against dimensional analysis, and of a closed form."""

from pathlib import Path

import pytest
import study_targets

from klapper.studies import StudyError, elasticities

CYCLE = {
    "mass": 1.0,
    "stiffness": 1.0,
    "normal_force": 10.0,
    "delta": 3.0,
    "belt_speed": 0.5,
}
UNITS = {  # exponents of kg, m, s
    "mass": (1, 0, 0),
    "stiffness": (1, 0, -2),
    "normal_force": (1, 1, -2),
    "delta": (0, -1, 1),
    "belt_speed": (0, 1, -1),
}


def test_a_power_law_has_its_exponents(tmp_path: Path) -> None:
    found = elasticities(study_targets.power, {"x": 2.0, "y": 3.0}, ["value"], store=tmp_path, workers=1)
    assert found["value"]["x"] == pytest.approx(3.0, abs=1e-5)  # s² times the third derivative over six
    assert found["value"]["y"] == pytest.approx(-0.5, abs=1e-5)
    with pytest.raises(StudyError, match="not 0"):
        elasticities(study_targets.power, {"x": 0.0, "y": 3.0}, ["value"], store=tmp_path, workers=1)


@pytest.mark.slow
def test_the_stick_slip_cycle_obeys_its_units(tmp_path: Path) -> None:
    """Σ S_p [p] = [T] in kg, m and s, whatever the friction; faster belts stretch the spring sooner."""
    found = elasticities(
        "belt-oscillator",
        CYCLE,
        ["period"],
        store=tmp_path,
        step=1e-2,
        fixed={"steps": 50, "cycles": 2},
        workers=2,
        code="t",
    )["period"]
    sums = [sum(UNITS[name][k] * slope for name, slope in found.items()) for k in range(3)]
    assert sums == pytest.approx([0.0, 0.0, 1.0], abs=2e-3)
    assert found["belt_speed"] < 0.0
