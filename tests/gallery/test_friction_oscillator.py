"""Friction oscillator: the closed form against integration on its own, and every method against the closed form."""

from math import pi, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.integrate import solve_ivp

from klapper.gallery import find
from klapper.gallery.friction_oscillator import Oscillator
from klapper.gallery.parameter import ParameterError
from klapper.report.figures import draw


def integrated_rest(oscillator: Oscillator) -> tuple[float, float]:
    """Rest position and time by integrating each slide up to its turn."""
    x, v, time, band = oscillator.x0, oscillator.v0, 0.0, oscillator.threshold
    while v != 0.0 or oscillator.stiffness * abs(x) > band:
        way = np.sign(v) if v != 0.0 else -np.sign(x)

        def rate(_: float, y: np.ndarray, way: float = way) -> list[float]:
            return [y[1], (-oscillator.stiffness * y[0] - way * band) / oscillator.mass]

        def turn(t: float, y: np.ndarray) -> float:
            return float(y[1]) if t > 0.0 else 1.0

        turn.terminal, turn.direction = True, -way  # type: ignore[attr-defined]
        swing = 2 * pi * sqrt(oscillator.mass / oscillator.stiffness)
        done = solve_ivp(
            rate,
            (0.0, swing),
            [x, v],
            method="DOP853",
            rtol=1e-12,
            atol=1e-14,
            events=turn,
            max_step=swing / 50,
        )
        x, v, time = float(done.y_events[0][0, 0]), 0.0, time + float(done.t_events[0][0])
    return x, time


@settings(max_examples=25)
@given(
    mass=st.floats(0.1, 10.0),
    stiffness=st.floats(0.1, 100.0),
    share=st.floats(0.06, 3.0),
    x0=st.floats(-2.0, 2.0),
    v0=st.floats(-2.0, 2.0),
)
def test_the_closed_form_rests_where_an_integration_does(
    mass: float, stiffness: float, share: float, x0: float, v0: float
) -> None:
    oscillator = Oscillator(mass, stiffness, share * stiffness, x0, v0)
    edge = min((abs(abs(swing.turn) - oscillator.band) for swing in oscillator.swings), default=1.0)
    if edge < 1e-6 or 0.0 < abs(v0) < 1e-3:
        return
    position, time = integrated_rest(oscillator)
    assert oscillator.rest_position == pytest.approx(position, abs=1e-8)
    assert oscillator.rest_time == pytest.approx(time, rel=1e-7)
    assert abs(oscillator.rest_position) <= oscillator.band


@pytest.mark.parametrize("scheme", ["event-driven", "exact", "ordinary"])
@pytest.mark.parametrize(
    "given",
    [
        {"threshold": 7.0},
        {"mass": 2.0, "stiffness": 8.0, "threshold": 1.5, "x0": -1.3, "v0": 0.0, "step": 0.05},
        {"x0": 0.01, "v0": 0.0},
        {"x0": 0.0, "v0": -3.0, "threshold": 20.0},
    ],
)
def test_methods_that_locate_events_are_exact(scheme: str, given: dict[str, Any]) -> None:
    outcome = find("friction-oscillator").run(scheme=scheme, **given)
    assert outcome.passed, [check for check in outcome.checks if not check.passed]
    shipped = {"mass": 1.0, "stiffness": 100.0, "threshold": 2.0, "x0": 0.15, "v0": 0.5}
    oscillator = Oscillator(**{key: given.get(key, value) for key, value in shipped.items()})
    assert outcome.numbers["rest_position"] == pytest.approx(oscillator.rest_position, abs=1e-12)
    assert outcome.numbers["rest_time"] == pytest.approx(oscillator.rest_time, abs=1e-11)


def test_turn_on_the_edge_of_the_dead_band_is_the_last() -> None:
    oscillator = Oscillator(1.0, 1.0, 0.2, 1.0, 0.0)  # turns at −0.6 and 0.2
    assert oscillator.rest_position == pytest.approx(0.2, abs=1e-15)
    assert oscillator.rest_time == pytest.approx(2 * pi, rel=1e-15)


def test_time_stepping_comes_to_the_same_rest_with_its_order() -> None:
    oscillator = Oscillator(1.0, 100.0, 2.0, 0.15, 0.5)
    errors = []
    for step in (4e-3, 2e-3, 1e-3, 5e-4):
        outcome = find("friction-oscillator").run(scheme="moreau", step=step)
        assert outcome.passed
        errors.append(abs(outcome.numbers["rest_position"] - oscillator.rest_position))
    order = np.polyfit(np.log([4e-3, 2e-3, 1e-3, 5e-4]), np.log(errors), 1)[0]
    assert order > 1.0


def test_regularised_friction_rests_within_its_compliance() -> None:
    outcome = find("friction-oscillator").run(scheme="regularised")
    assert outcome.passed


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"threshold": 1e-4}, "more than 2000 times"),
        ({"scheme": "moreau", "step": 0.05}, "step must be at most 0.02 s"),
        ({"scheme": "moreau", "step": 1e-8}, "step must be at least"),
        ({"threshold": 0.0}, "threshold must be a number above 0"),
    ],
)
def test_impossible_parameters_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        find("friction-oscillator").run(**given)


def test_a_mass_that_never_moves_has_figures_as_well() -> None:
    outcome = find("friction-oscillator").run(x0=0.01, v0=0.0)
    assert outcome.numbers["rest_time"] == 0.0
    assert outcome.numbers["rest_position"] == 0.01
    assert all(picture.caption for picture in draw(outcome.figures))
