"""Mass on a belt: period and slip against integration on its own, closed forms, and one method against the other."""

from dataclasses import replace
from math import pi
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from klapper.gallery import find
from klapper.gallery._belt_oscillator import Belt, Motion
from klapper.gallery._run import run_named, switching_times
from klapper.gallery.parameter import ParameterError
from klapper.mechanics import Contact, LinearSystem
from klapper.report.figures import draw

SHIPPED = Belt(1.0, 1.0, 10.0, 0.4, 0.2, 3.0, 0.5)


def slip_by_itself(belt: Belt) -> tuple[float, float]:
    """Period and duration of slip by integrating the lag u = V t + x_s − x behind the belt, with an implicit method."""
    x_s = belt.mu_static * belt.normal_force / belt.stiffness

    def rate(t: float, y: np.ndarray) -> list[float]:
        lag, speed = y
        friction = belt.mu_dynamic + (belt.mu_static - belt.mu_dynamic) / (1.0 + belt.delta * abs(speed))
        spring = belt.stiffness * (x_s + belt.speed * t - lag)
        return [speed, (spring - friction * belt.normal_force) / belt.mass]

    def caught(t: float, y: np.ndarray) -> float:
        return float(y[1]) if t > 1.0 / belt.frequency else 1.0

    caught.terminal, caught.direction = True, -1  # type: ignore[attr-defined]
    longest = 2 * pi / belt.frequency
    done = solve_ivp(rate, (0.0, longest), [0.0, 0.0], method="Radau", rtol=1e-11, atol=1e-13, events=caught)
    slip, lag = float(done.t_events[0][0]), float(done.y_events[0][0, 0])
    return lag / belt.speed, slip  # the belt makes up for the lag in one period


@pytest.mark.parametrize(
    "belt",
    [
        SHIPPED,
        Belt(1.0, 1.0, 1.0, 1.0, 0.0, 3.0, 0.2),
        Belt(2.0, 300.0, 5.0, 0.6, 0.5, 10.0, 0.1),
        Belt(0.1, 1e4, 50.0, 0.3, 0.1, 1.0, 0.02),
    ],
)
def test_the_cycle_is_that_of_an_integrated_slip(belt: Belt) -> None:
    period, slip = slip_by_itself(belt)
    assert belt.cycle is not None
    assert belt.cycle.period == pytest.approx(period, rel=1e-8)
    assert belt.cycle.slip == pytest.approx(slip, rel=1e-8)


@pytest.mark.parametrize("scheme", ["event-driven", "regularised", "ordinary"])
def test_every_method_that_locates_events_finds_the_period(scheme: str) -> None:
    given = {"mass": 2.0, "stiffness": 300.0, "normal_force": 5.0, "mu_static": 0.6, "mu_dynamic": 0.5}
    given |= {"delta": 10.0, "belt_speed": 0.1}
    outcome = find("belt-oscillator").run(scheme=scheme, cycles=2, steps=50, **given)
    assert outcome.passed, [check for check in outcome.checks if not check.passed]
    period, slip = slip_by_itself(Belt(2.0, 300.0, 5.0, 0.6, 0.5, 10.0, 0.1))
    assert outcome.numbers["motion"] == "stick-slip"
    assert outcome.numbers["period"] == pytest.approx(period, rel=1e-8)
    assert outcome.numbers["slip_duration"] == pytest.approx(slip, rel=1e-7)


def test_sharp_fall_of_friction_has_the_closed_form_as_limit() -> None:
    errors = []
    for delta in (1e3, 1e4, 1e5):
        cycle = replace(SHIPPED, delta=delta).cycle
        assert cycle is not None
        errors.append([abs(cycle.period - SHIPPED.sharp.period), abs(cycle.slip - SHIPPED.sharp.slip)])
    falls = np.diff(np.log10(errors), axis=0)
    assert np.all(falls < -0.7)  # with 1/δ, up to a logarithm
    assert np.max(errors[-1]) < 3e-4
    outcome = find("belt-oscillator").run(delta=1e5, steps=50, cycles=2)
    assert outcome.numbers["period"] == pytest.approx(SHIPPED.sharp.period, abs=3e-4)
    assert outcome.numbers["slip_duration"] == pytest.approx(SHIPPED.sharp.slip, abs=3e-4)


@pytest.mark.parametrize("given", [{"delta": 0.0}, {"mu_dynamic": 0.4}])
@pytest.mark.parametrize("scheme", ["event-driven", "exact"])
def test_constant_friction_never_sticks_again(given: dict[str, Any], scheme: str) -> None:
    outcome = find("belt-oscillator").run(scheme=scheme, steps=60, **given)
    assert outcome.passed
    assert outcome.numbers["period"] == pytest.approx(2 * pi, abs=1e-10)
    assert outcome.numbers["slip_duration"] == pytest.approx(2 * pi, abs=1e-10)
    assert outcome.numbers["motion"] == "sliding vibration without sticking"


def test_constant_friction_event_driven_and_exact_agree() -> None:
    """From a start with more energy than the belt leaves: sticks once, then slides."""

    def thrown() -> LinearSystem:
        belt = Contact("belt", normal=[0.0, 1.0], tangents=[[1.0, 0.0]], tangential_rate=-0.5, friction=0.05)
        return LinearSystem(
            [1.0, 1.0],
            stiffness=[1.0, 0.0],
            force=[0.0, -10.0],
            position=[-3.0, 0.0],
            velocity=[-1.0, 0.0],
            contacts=[belt],
        )

    runs = [run_named(thrown(), 25.0, name, 0.1) for name in ("event-driven", "exact")]
    times, states = zip(*(switching_times(run, "belt") for run in runs), strict=True)
    assert len(times[0]) >= 2
    np.testing.assert_array_equal(*states)
    np.testing.assert_allclose(times[0], times[1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(runs[0].position[-1], runs[1].position[-1], rtol=0, atol=1e-10)


def test_time_stepping_tends_to_the_same_period() -> None:
    assert SHIPPED.cycle is not None
    errors = []
    for step in (0.08, 0.02):
        run = run_named(SHIPPED.system(), 20.0, "moreau", step)
        errors.append(abs(Motion.of(SHIPPED, run).period - SHIPPED.cycle.period))
    assert errors[1] < 0.5 * errors[0]
    assert errors[1] < 0.1


def test_a_mass_that_is_not_caught_vibrates_without_sticking() -> None:
    belt = Belt(2.0, 300.0, 1.0, 1.0, 0.0, 30.0, 10.0)
    assert belt.cycle is None
    outcome = find("belt-oscillator").run(
        mass=2.0,
        stiffness=300.0,
        normal_force=1.0,
        mu_static=1.0,
        mu_dynamic=0.0,
        delta=30.0,
        belt_speed=10.0,
        cycles=2,
    )
    assert outcome.numbers["motion"] == "sliding vibration without sticking"
    assert outcome.numbers["period"] == pytest.approx(2 * pi / belt.frequency, rel=0.01)


def test_figures_can_be_drawn_without_a_cycle() -> None:
    outcome = find("belt-oscillator").run(delta=0.0, steps=50, cycles=2, scheme="exact")
    assert all(picture.caption for picture in draw(outcome.figures))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"scheme": "exact"},
            "scheme cannot be exact here: contact 'belt' has friction that depends on the sliding",
        ),
        ({"mu_static": 0.1}, "mu_static must be at least mu_dynamic 0.2"),
        ({"scheme": "moreau", "belt_speed": 1e-6}, "belt_speed is 1e-06 m/s, so slow"),
        ({"belt_speed": 0.0}, "belt_speed must be a number above 0"),
    ],
)
def test_impossible_parameters_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        find("belt-oscillator").run(**given)
