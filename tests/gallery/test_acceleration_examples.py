"""Examples decided on acceleration level: known numbers, other parameters, borders, figures."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from klapper.gallery import find
from klapper.gallery.example import Outcome
from klapper.gallery.parameter import ParameterError
from klapper.report.figures import draw


def run(name: str, **given_: Any) -> Outcome:
    """The outcome of an example all of whose checks passed."""
    outcome = find(name).run(**given_)
    assert outcome.checks
    assert [check.as_json() for check in outcome.checks if not check.passed] == []
    return outcome


@pytest.mark.parametrize(
    ("pull", "mode", "acceleration", "force"), [(3.0, "open", 1.5, 0.0), (-3.0, "slip", 0.0, 3.0)]
)
def test_a_smooth_stop_releases_a_pulled_mass_and_carries_a_pushed_one(
    pull: float, mode: str, acceleration: float, force: float
) -> None:
    """Example 4.2a: f > 0 releases the mass with f/m, f < 0 is carried by the stop."""
    numbers = run("mode-decision", pull=pull, along=0.0, mu=0.0, mass=2.0).numbers
    assert numbers["mode"] == mode
    assert numbers["acceleration_away"] == pytest.approx(acceleration)
    assert numbers["normal_force"] == pytest.approx(force)


@pytest.mark.parametrize(
    ("given_", "mode", "along"),
    [
        ({"pull": -2.0, "along": 0.9}, "stick", 0.0),
        ({"pull": -2.0, "along": 1.5}, "slip", 0.5),
        ({"pull": -2.0, "along": -1.5}, "slip", -0.5),
        ({"pull": -2.0, "along": 0.3, "sliding_velocity": 0.1}, "slip", -0.7),
        ({"pull": 2.0, "along": 0.3, "sliding_velocity": 0.1}, "open", 0.3),
        ({"pull": -2.0, "along": 1.0}, "stick", 0.0),
    ],
)
def test_a_rough_stop_lets_go_slip_or_stick(given_: dict[str, float], mode: str, along: float) -> None:
    numbers = run("mode-decision", **given_).numbers
    assert numbers["mode"] == mode
    assert numbers["acceleration_along"] == pytest.approx(along, abs=1e-12)


def test_a_block_on_an_incline_slides_above_the_friction_angle_only() -> None:
    """tan α = μ: it sticks below, slides above with g (sin α − μ cos α)."""
    at_rest = {"velocity": (0.0, 0.0), "curvatures": (0.0, 0.0, 0.0), "mu": 0.4}
    assert run("surface-point", slopes=(0.399, 0.0), **at_rest).numbers["state"] == "stick"
    assert run("surface-point", slopes=(0.4, 0.0), **at_rest).numbers["state"] == "stick"
    sliding = run("surface-point", slopes=(0.0, 0.5), **at_rest).numbers
    angle = np.arctan(0.5)
    assert sliding["state"] == "slip"
    down = 9.81 * (np.sin(angle) - 0.4 * np.cos(angle))
    np.testing.assert_allclose(
        sliding["acceleration"], [0.0, -down * np.cos(angle), -down * np.sin(angle)], atol=1e-9
    )


def test_a_point_leaves_a_fast_crest_and_presses_harder_in_a_valley() -> None:
    """On a crest of curvature 1/r the point leaves when v² > g r; in a valley it presses with m (g + v²/r)."""
    flat = {"slopes": (0.0, 0.0), "mass": 1.0, "mu": 0.2}
    valley = run("surface-point", velocity=(2.0, 0.0), curvatures=(0.5, 0.0, 0.0), **flat).numbers
    assert valley["normal_force"] == pytest.approx(9.81 + 2.0)
    assert valley["friction_force"][0] == pytest.approx(-0.2 * 11.81)
    slow, fast = (
        run("surface-point", velocity=(v, 0.0), curvatures=(-0.5, 0.0, 0.0), **flat).numbers
        for v in (4.0, 5.0)
    )
    assert slow["normal_force"] == pytest.approx(9.81 - 8.0)
    assert fast["state"] == "open"
    assert fast["opening_acceleration"] == pytest.approx(12.5 - 9.81)
    assert fast["levels_on_which_the_contact_is_active"] == ["displacements", "velocities"]


def test_levels_follow_gap_and_lift() -> None:
    level = "levels_on_which_the_contact_is_active"
    assert run("surface-point", gap=0.1).numbers[level] == []
    assert run("surface-point", lift_speed=0.1).numbers[level] == ["displacements"]
    assert run("surface-point").numbers[level] == ["displacements", "velocities", "accelerations"]


numbers = st.floats(-50.0, 50.0).map(lambda x: round(x, 3))
positive = st.floats(0.0, 3.0).map(lambda x: round(x, 3))


@settings(max_examples=60)
@given(
    st.tuples(numbers, numbers),
    st.tuples(numbers, numbers, numbers),
    st.tuples(numbers, numbers) | st.just((0.0, 0.0)),
    positive,
    st.tuples(numbers, numbers, numbers),
)
def test_surface_point_checks_hold_for_any_parameters(
    slopes: Any, curvatures: Any, velocity: Any, mu: float, force: Any
) -> None:
    run(
        "surface-point",
        slopes=slopes,
        curvatures=curvatures,
        velocity=velocity,
        mu=mu,
        applied_force=force,
        mass=0.01,
    )


@settings(max_examples=60)
@given(numbers, numbers, positive, numbers | st.just(0.0))
def test_mode_decision_checks_hold_for_any_parameters(
    pull: float, along: float, mu: float, velocity: float
) -> None:
    run("mode-decision", pull=pull, along=along, mu=mu, sliding_velocity=velocity, mass=300.0)


@pytest.mark.parametrize(
    ("name", "given_"),
    [
        ("surface-point", {"velocity": (0.0, 0.0)}),
        ("surface-point", {"gap": 2.0, "gravity": 0.0}),
        ("surface-point", {"slopes": (30.0, 0.0)}),
        ("mode-decision", {"pull": -1.0, "along": 0.2}),
        ("mode-decision", {"pull": 0.0, "along": 0.0, "mu": 0.0}),
        ("mode-decision", {"pull": -1.0, "sliding_velocity": -0.2}),
    ],
)
def test_figures_can_be_drawn_for_other_parameters(name: str, given_: dict[str, Any]) -> None:
    assert all(picture.png for picture in draw(run(name, **given_).figures))


@pytest.mark.parametrize(
    ("name", "given_"),
    [
        ("surface-point", {"lift_speed": -1.0}),
        ("surface-point", {"mass": 0.0}),
        ("mode-decision", {"mu": -0.1}),
    ],
)
def test_impossible_parameters_are_refused(name: str, given_: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        find(name).run(**given_)
