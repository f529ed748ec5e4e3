"""Painlevé's rod: regions of none, one and two solutions, and the jump against closed forms."""

from math import atan, degrees, radians, sin, tan
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from klapper.gallery import find
from klapper.gallery._painleve_rod import Rod, paradox_angles
from klapper.gallery.parameter import ParameterError
from klapper.report.figures import draw


def by_hand(rod: Rod, force: float) -> float:
    """g̈ of the tip under a contact force: Newton and Euler for the centre, then the acceleration of the tip."""
    a, θ, w = rod.half, rod.angle, rod.turning
    centre = np.array([-rod.mu * force, force - rod.mass * rod.gravity]) / rod.mass
    arm = a * np.array([np.cos(θ), -np.sin(θ)])  # from the centre to the tip
    turning = (arm[0] * force + arm[1] * rod.mu * force) / (
        rod.mass * rod.length**2 / 12
    )  # counter-clockwise
    return float(centre[1] + turning * arm[0] - w**2 * arm[1])


@settings(max_examples=60)
@given(angle=st.floats(0.05, 1.5), mu=st.floats(0.0, 4.0), turning=st.floats(-8.0, 8.0))
def test_all_solutions_are_those_by_hand(angle: float, mu: float, turning: float) -> None:
    rod = Rod(1.3, 2.0, mu, angle, turning, 1.0, 9.81)
    b, slope = by_hand(rod, 0.0), by_hand(rod, 1.0) - by_hand(rod, 0.0)
    assert b == pytest.approx(rod.free_acceleration, abs=1e-12)
    assert slope == pytest.approx(rod.mobility, abs=1e-12)
    assume(abs(slope) > 1e-3 and abs(b) > 1e-3)
    expected = [f for f in sorted({0.0, -b / slope}) if f >= 0.0 and by_hand(rod, f) >= -1e-9]
    found = sorted(float(decision.normal_force[0]) for decision in rod.problem().all_solutions())
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(rod.forces, expected, rtol=1e-12, atol=1e-12)


def test_the_paradox_begins_and_ends_where_the_mobility_vanishes() -> None:
    assert paradox_angles(4 / 3 - 1e-9) == []
    low, high = paradox_angles(1.6)
    for angle in (low, high):
        assert Rod(1.0, 1.0, 1.6, radians(angle), 0.0, 1.0, 9.81).mobility == pytest.approx(0.0, abs=1e-12)
    assert tan(radians(low)) * tan(radians(high)) == pytest.approx(4.0, rel=1e-12)
    assert low < degrees(atan(2.0)) < high


def test_jump_stops_the_tip_and_stays_in_the_friction_cone() -> None:
    rod = Rod(1.0, 1.0, 1.8, radians(50.0), 0.5, 2.0, 9.81)
    assert rod.solutions == 0
    normal, tangential = rod.jump
    after = rod.velocity + (
        rod.normal(rod.position) * normal + rod.tangent(rod.position) * tangential
    ) / np.array([1.0, 1.0, 1.0 / 12.0])
    assert rod.normal(rod.position) @ after == pytest.approx(0.0, abs=1e-14)
    assert rod.tangent(rod.position) @ after == pytest.approx(0.0, abs=1e-14)
    assert abs(tangential) <= 1.8 * normal


def test_time_stepping_tends_to_the_jump() -> None:
    rod = Rod(1.0, 1.0, 1.8, radians(50.0), 0.0, 2.0, 9.81)
    errors = []
    for step in (4e-3, 1e-3):
        outcome = find("painleve-rod").run(step=step, until=0.04)
        assert outcome.passed
        errors.append(np.abs(outcome.numbers["first_impulse"] - rod.jump).max())
    assert errors[1] == pytest.approx(errors[0] / 4, rel=0.05)


@pytest.mark.parametrize(
    "given",
    [
        {"angle_deg": 20.0},
        {"angular_speed": 9.0},
        {"scheme": "event-driven"},
        {"mu": 3.0, "angle_deg": 70.0, "mass": 10.0, "length": 0.2},
        {"mu": 0.0},
    ],
)
def test_checks_hold_for_other_parameters(given: dict[str, Any]) -> None:
    outcome = find("painleve-rod").run(until=0.05, **given)
    assert outcome.passed, [check for check in outcome.checks if not check.passed]


def test_event_driven_stops_and_explains() -> None:
    numbers = find("painleve-rod").run(until=0.02).numbers
    assert numbers["solutions"] == 0
    assert "'tip' presses, and sliding friction turns its force against itself" in numbers["event_driven"]
    assert "Time stepping (Moreau) would pass with a velocity jump" in numbers["event_driven"]
    assert find("painleve-rod").run(until=0.02, mu=0.5).numbers["event_driven"] == "runs to the end"


def test_lift_off_follows_gravity() -> None:
    """With two solutions the time-stepping scheme lets the tip go: then the centre falls freely."""
    outcome = find("painleve-rod").run(angular_speed=9.0, until=0.02)
    assert outcome.numbers["solutions"] == 2
    assert outcome.numbers["contact_forces"][0] == 0.0
    b = 0.5 * 81.0 * sin(radians(50.0)) - 9.81
    assert outcome.numbers["free_acceleration"] == pytest.approx(b, rel=1e-12)


def test_figures_can_be_drawn_and_the_exact_scheme_is_refused() -> None:
    assert all(
        picture.caption for picture in draw(find("painleve-rod").run(angular_speed=9.0, until=0.02).figures)
    )
    with pytest.raises(
        ParameterError, match="scheme cannot be exact here: 'Painlevé's rod' is a FunctionSystem"
    ):
        find("painleve-rod").run(scheme="exact")
