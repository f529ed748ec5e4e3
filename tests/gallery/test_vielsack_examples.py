"""The examples of the shaken incline: other parameters, refused ones, and the numbers users ask for."""

from typing import Any

import numpy as np
import pytest

from klapper.gallery import find
from klapper.gallery.parameter import ParameterError
from klapper.report.figures import draw

OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("vielsack-drift", {"regularisation": "spring"}),
    ("vielsack-drift", {"regularisation": "both", "A": 0.57, "B": 1.4646464646464645, "eps": 0.1}),
    ("vielsack-drift", {"regularisation": "arctan", "A": -0.3}),
    ("vielsack-drift", {"A": 0.2, "B": 0.3}),
    ("vielsack-drift", {"A": 0.2, "B": 0.3, "regularisation": "spring"}),
    ("vielsack-drift", {"A": 0.0, "B": 2.0, "regularisation": "damper"}),
    ("vielsack-drift", {"A": 1.3}),
    ("vielsack-drift", {"A": -1.3, "regularisation": "arctan"}),
    ("vielsack-drift", {"A": 1.2, "B": 3.0, "regularisation": "both"}),
    ("vielsack-forces", {"A": -0.4, "B": 2.5, "eps": 0.05}),
    ("vielsack-orders", {"A": 0.8, "B": 0.5}),
    ("vielsack-map", {"points": 40, "largest_A": 0.9, "largest_B": 2.0, "traced": 4}),
]


@pytest.mark.parametrize(("name", "parameters"), OTHERS, ids=lambda value: str(value))
def test_checks_hold_for_other_parameters(name: str, parameters: dict[str, Any]) -> None:
    outcome = find(name).run(**parameters)
    assert [check.as_json() for check in outcome.checks if not check.passed] == []
    assert outcome.checks


@pytest.mark.parametrize("A", [0.2, 1.3])
def test_figures_of_rest_and_acceleration_can_be_drawn(A: float) -> None:
    figures = find("vielsack-drift").run(A=A, B=0.3, regularisation="damper").figures
    assert all(picture.png for picture in draw(figures))


def test_drift_type_and_error_are_the_published_ones() -> None:
    numbers = find("vielsack-drift").run(A=0.9, B=0.11, eps=0.01, regularisation="both").numbers
    assert numbers["motion_type"] == "III"
    assert numbers["drift_coulomb"] == pytest.approx(6.633450e-4, abs=0.5e-9)
    assert 100.0 * numbers["drift_error_relative"] == pytest.approx(5.5, abs=0.05)
    assert numbers["drift"] == pytest.approx(numbers["drift_coulomb"] + numbers["drift_error"], abs=1e-16)
    assert find("vielsack-drift").run(A=1.3).numbers["drift"] == np.inf


def test_orders_need_a_single_pause() -> None:
    with pytest.raises(ParameterError, match="type III"):
        find("vielsack-orders").run(A=0.1, B=3.0)
    with pytest.raises(ParameterError, match="regularisation"):
        find("vielsack-drift").run(regularisation="rubber")
