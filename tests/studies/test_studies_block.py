"""When a pushed block begins to slide, over rule and step: against the closed form and Seiwald's Table 5.3."""

from pathlib import Path

import numpy as np
import pytest

import klapper
from klapper.studies import grid
from klapper.studies.maps.block import transition

EXACT = 0.1 * 16.0 * 9.81 / 250.0  # μ m g / rate
STEPS = grid(1e-4, 1e-3, 5, log=True)
RULES = ["prox", "functional-2", "functional-3", "pinv-redistributed", "compliant"]


def test_both_feet_reach_their_limits_when_friction_is_used_up(tmp_path: Path) -> None:
    """Whatever the rule, within the steps that the force at the middle of a step and a sample at its end leave over."""
    study = klapper.study(
        transition,
        over={"method": RULES, "step": STEPS},
        fixed={"projection": "step-safe"},
        outputs=["at_limit", "flag_first", "flag_last", "flag_changes", "exact"],
        store=tmp_path / "s",
    ).run(workers=1)
    table = study.table()
    assert table["exact"] == pytest.approx(EXACT, rel=1e-12)
    for name in ("at_limit", "flag_first", "flag_last"):
        late = (table[name] - EXACT) / table["step"]
        assert np.all((late >= 0.0) & (late <= 2.0)), name
    assert np.all(table["flag_changes"] == 1)


def test_the_methods_reach_their_limit_at_the_printed_times(tmp_path: Path) -> None:
    """Rows b, c, d of Table 5.3; the slope of the ramp was inferred from row c."""
    study = klapper.study(
        transition,
        over={"method": ["pinv", "prox", "functional-3"], "step": [1e-4]},
        outputs=["at_limit", "flag_changes"],
        store=tmp_path / "s",
    ).run(workers=1)
    assert study.table()["at_limit"] == pytest.approx([58.5e-3, 62.9e-3, 62.9e-3], abs=1e-6)
    assert study.table()["flag_changes"][0] > 10


def test_the_pseudo_inverse_chatters_from_where_one_foot_is_at_its_limit(tmp_path: Path) -> None:
    """Each foot takes half the push, the relieved one until F/2 = μ λ_NA.

    λ_NA = (m g − (b/a) (F − λ_TA − λ_TB)) / 2 with λ_TA + λ_TB = −F gives F/2 = μ (m g/2 − (b/a) F).
    """
    begin = 0.1 * 16.0 * 9.81 / 2.0 / (0.5 + 0.1 * 0.5) / 250.0
    study = klapper.study(
        transition,
        over={"step": STEPS},
        fixed={"method": "pinv", "projection": "step-safe"},
        outputs=["flag_first", "flag_changes"],
        store=tmp_path / "s",
    ).run(workers=1)
    table = study.table()
    late = table["flag_first"] - begin
    assert np.all((late > 0.0) & (late < 3.0 * table["step"]))
    assert np.all(table["flag_changes"] > 1)


def test_the_flag_of_the_thesis_comes_late_for_small_steps(tmp_path: Path) -> None:
    """A foot sticks up to an absolute speed v: the push must exceed friction by m v / h, after m v / (h rate)."""
    steps = [1e-5, 2e-5]
    study = klapper.study(
        transition,
        over={"step": steps},
        fixed={"method": "prox"},
        outputs=["flag_first", "at_limit"],
        store=tmp_path / "s",
    ).run(workers=1)
    late = study.table()["flag_first"] - EXACT
    assert late[0] / late[1] == pytest.approx(2.0, abs=0.02)
    assert np.all(study.table()["at_limit"] - EXACT < 2.0 * np.array(steps))


def test_steps_that_the_halves_do_not_allow_fail_with_their_sentence(tmp_path: Path) -> None:
    study = klapper.study(
        transition, over={"step": [1e-4]}, fixed={"method": "two-body"}, outputs=["at_limit"], store=tmp_path
    ).run(workers=1)
    assert "the springs between the halves allow at most" in study.table()["error"][0]
