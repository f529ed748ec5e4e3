"""Examples of forces that the model leaves open, with other parameters than shipped."""

import numpy as np
import pytest

from klapper.gallery.example import ParameterError
from klapper.gallery.many_footed_block import many_footed_block
from klapper.gallery.rough_table import rough_table
from klapper.gallery.three_footed_slider import three_footed_slider


def failed(outcome) -> list[str]:
    return [check.name for check in outcome.checks if not check.passed]


@pytest.mark.parametrize(
    "settings",
    [
        {"mu": (0.3, 0.05, 0.2), "until": 0.1},
        {"places": (-0.15, 0.05, 0.1), "push": 20.0, "speed": 0.4, "until": 0.05},
    ],
    ids=["slippery middle", "feet aside"],
)
def test_a_slider_with_other_feet_has_no_unique_motion_either(settings) -> None:
    outcome = three_footed_slider(**settings)
    assert failed(outcome) == []
    assert not outcome.numbers["motion_unique"]


def test_slider_whose_feet_rub_alike_has_one_motion() -> None:
    outcome = three_footed_slider(mu=(0.2, 0.2, 0.2), until=0.05)
    assert failed(outcome) == []
    assert outcome.numbers["motion_unique"]
    assert outcome.numbers["acceleration_min"] == pytest.approx(60.0 / 16.0 - 0.2 * 9.81)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"places": (0.1, 0.0, -0.1)}, "rising order"),
        ({"push": 5.0, "until": 1.0}, "come to rest"),
        ({"push": 400.0}, "tips"),
    ],
)
def test_sliders_that_do_not_slide_are_refused(settings, message) -> None:
    with pytest.raises(ParameterError, match=message):
        three_footed_slider(**settings)


def test_table_that_slides_has_one_motion_and_open_normal_forces() -> None:
    outcome = rough_table(push=(30.0, 12.0), until=0.02)
    assert failed(outcome) == []
    assert outcome.numbers["verdict"] == "slides"
    assert outcome.numbers["undetermined_combinations"] == 1


def test_table_without_a_push_carries_up_to_half_its_weight_on_each_leg() -> None:
    outcome = rough_table(push=(0.0, 0.0), weight=250.0, until=0.02)
    assert failed(outcome) == []
    assert outcome.numbers["normal_max"] == pytest.approx(np.full(4, 125.0), abs=1e-6)
    assert outcome.numbers["normal_minimum_norm"] == pytest.approx(np.full(4, 62.5), abs=1e-6)


def test_tables_that_tip_or_stand_at_the_limit_are_refused() -> None:
    with pytest.raises(ParameterError, match="tips"):  # from P h = W s/2 on: 71.4 N
        rough_table(push=(72.0, 0.0), mu=1.0)
    with pytest.raises(ParameterError, match="exactly"):
        rough_table(push=(30.0, 0.0))


@pytest.mark.parametrize("feet", [3, 8])
def test_checks_hold_for_other_numbers_of_feet(feet: int) -> None:
    outcome = many_footed_block(feet=feet, steps=40)
    assert failed(outcome) == []


def test_block_that_lifts_a_foot_is_refused() -> None:
    with pytest.raises(ParameterError, match="lifts"):
        many_footed_block(mu=0.9, height=0.4)
