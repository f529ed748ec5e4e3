"""Comparison of methods, against closed forms."""

import numpy as np
import pytest

from klapper.comparison import compare
from klapper.mechanics import Contact, LinearSystem
from klapper.mechanics.errors import InvalidModel
from klapper.results import ResultsError
from klapper.schemes import Moreau
from klapper.simulation import simulate


def ball(restitution: float = 0.8) -> LinearSystem:
    floor = Contact("floor", normal=[1.0], restitution=restitution)
    return LinearSystem(
        [1.0], force=[-9.81], contacts=[floor], position=[1.0], coordinates=["height"], name="ball"
    )


def oscillator() -> LinearSystem:
    return LinearSystem([2.0], stiffness=[[8.0]], position=[0.5], name="oscillator")


def test_the_observed_order_is_that_of_the_method():
    """Midpoint 2, implicit Euler 1, against a fine run; the distances are those to the closed form."""
    methods = {"midpoint": Moreau(2e-2), "Euler": Moreau(1e-3, theta=1.0), "fine": Moreau(1e-4)}
    found = compare(oscillator(), 3.0, methods, reference="fine", refine=3)
    assert found.order("midpoint") == pytest.approx(2.0, abs=0.05)
    assert found.order("Euler") == pytest.approx(1.0, abs=0.05)
    exact = 0.5 * np.cos(2.0 * found.times)
    assert np.abs(found.positions["fine"][:, 0] - exact).max() < 1e-7
    np.testing.assert_allclose(
        found.distance("Euler"), np.abs(found.positions["Euler"][:, 0] - exact), atol=1e-7
    )


def test_table_and_text_tell_the_same():
    found = compare(ball(), 1.0, [Moreau(1e-3), Moreau(1e-4)])
    assert list(found.runs) == ["moreau step_size 0.001", "moreau step_size 0.0001"]
    assert found.reference == "moreau step_size 0.0001"
    row = found.table[0]
    run = simulate(ball(), 1.0, Moreau(1e-3))
    assert row["steps"] == 1000
    assert row["impact"] == pytest.approx(run.ledger.impact[-1], rel=1e-12)
    assert f"{row['largest distance']:.2e}" in str(found)
    matrix = found.disagreement()
    assert matrix[0, 1] == matrix[1, 0] == row["largest distance"]
    assert not matrix.diagonal().any()


def test_a_method_that_cannot_apply_is_refused_by_name_and_reason():
    found = compare(ball(), 0.5, {"rigid": Moreau(1e-3), "gaps": Moreau(1e-3, theta=1.0, level="position")})
    assert list(found.runs) == ["rigid"]
    assert "restitution" in found.refused["gaps"]
    assert "gaps cannot apply: contact 'floor' has restitution" in str(found)
    with pytest.raises(ResultsError, match=r"no run by 'gaps'.*restitution"):
        found.distance("gaps")


def test_nothing_left_to_compare_is_said_with_the_reasons():
    with pytest.raises(InvalidModel, match="gaps: contact 'floor' has restitution"):
        compare(ball(), 0.5, {"gaps": Moreau(1e-3, theta=1.0, level="position")})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"methods": []}, "methods is empty"),
        ({"methods": [3.0]}, "allowed are schemes"),
        ({"methods": [Moreau(1e-2)], "samples": 1}, "samples is 1"),
        ({"methods": [Moreau(1e-2)], "reference": "exact"}, "reference is 'exact'"),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(arguments, words):
    with pytest.raises(InvalidModel, match=words):
        compare(ball(), 0.5, **arguments)


def test_figure_has_a_panel_for_motion_distance_cost_and_energy():
    found = compare(ball(), 1.0, [Moreau(1e-3), Moreau(1e-4)], refine=1)
    figure = found.plot(coordinate="height")
    labels = {(axes.get_xlabel(), axes.get_ylabel()) for axes in figure.axes}
    assert ("time / s", "height / m or rad") in labels
    assert ("computing time / s", "rms distance / m or rad") in labels
    with pytest.raises(ResultsError, match="give a figure"):
        found.plot(figure.axes[0])


def test_positions_between_samples_follow_velocities():
    """Cubic interpolation: an error of fourth order in the distance of samples, and a straight line across a hit."""
    run = simulate(oscillator(), 3.0, Moreau(1e-4), every=1000)
    times = np.linspace(0.0, 3.0, 77)
    assert np.abs(run.position_at(times)[:, 0] - 0.5 * np.cos(2.0 * times)).max() < 3e-6
    np.testing.assert_array_equal(run.position_at(run.time), run.position)
    with pytest.raises(ResultsError, match="within the run"):
        run.position_at([3.5])
