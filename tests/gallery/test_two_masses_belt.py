"""Two masses on a belt: two methods that share nothing agree, energy only falls, time stepping tends to both."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from klapper.gallery import find
from klapper.gallery._run import run_named
from klapper.gallery.parameter import ParameterError
from klapper.gallery.two_masses_belt import Pair, Switches

SHIPPED = Pair((1.0, 2.0), (60.0, 40.0), 25.0, (6.0, 9.0), 0.4)


def sliding_by_itself(pair: Pair, begin: float, until: float, y: np.ndarray) -> np.ndarray:
    """Positions and velocities (4,) after sliding of both masses behind the belt, by integration."""

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        force = np.array(pair.friction) - pair.matrix @ y[:2]
        return np.concatenate([y[2:], force / np.array(pair.mass)])

    return solve_ivp(rate, (begin, until), y, method="DOP853", rtol=1e-12, atol=1e-14).y[:, -1]


@pytest.mark.parametrize(
    "given",
    [
        {"until": 3.0},
        {"friction": (6.0, 1.0), "belt_speed": 1.0, "until": 4.0},
        {"mass": (1.0, 1.0), "stiffness": (50.0, 50.0), "friction": (5.0, 5.0), "until": 3.0},
        {"coupling": 0.0, "until": 2.0},
        {"coupling": 400.0, "friction": (20.0, 2.0), "until": 3.0},
    ],
)
def test_event_driven_and_exact_agree(given: dict[str, Any]) -> None:
    outcome = find("two-masses-belt").run(step=0.1, **given)
    assert outcome.passed, [check for check in outcome.checks if not check.passed]
    assert any(check.name == "switching times" for check in outcome.checks)


def test_equal_masses_move_as_one() -> None:
    outcome = find("two-masses-belt").run(
        mass=(1.0, 1.0), stiffness=(50.0, 50.0), friction=(5.0, 5.0), until=3.0, step=0.1, scheme="exact"
    )
    first, second = outcome.numbers["final_positions"]
    assert first == pytest.approx(second, abs=1e-12)
    time, ω = 3.0 - 5.0 / (50.0 * 0.4), np.sqrt(50.0)
    assert first == pytest.approx(0.1 + 0.4 / ω * np.sin(ω * time), abs=1e-10)


def test_between_two_switches_the_motion_is_the_free_one() -> None:
    run = run_named(SHIPPED.system(), 2.0, "event-driven", 0.1)
    times = Switches.of(run).time
    begin, end = (int(np.flatnonzero(run.time == t)[0]) for t in times[1:3])  # both slide
    start = np.concatenate([run.position[begin], run.velocity[begin]])
    expected = sliding_by_itself(SHIPPED, times[1], times[2], start)
    np.testing.assert_allclose(run.position[end], expected[:2], rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.velocity[end], expected[2:], rtol=0, atol=1e-8)


def test_time_stepping_converges() -> None:
    exact = run_named(SHIPPED.system(), 2.0, "exact", 0.5).position[-1]
    errors = [
        np.abs(run_named(SHIPPED.system(), 2.0, "moreau", h).position[-1] - exact).max() for h in (8e-3, 1e-3)
    ]
    assert errors[1] < errors[0] / 4
    assert find("two-masses-belt").run(scheme="moreau", step=4e-3, until=3.0).passed


def test_steps_and_schemes_that_cannot_be_are_refused() -> None:
    with pytest.raises(ParameterError, match="step must be at least"):
        find("two-masses-belt").run(scheme="moreau", step=1e-9)
    with pytest.raises(ParameterError, match="scheme cannot be regularised here"):
        find("two-masses-belt").run(scheme="regularised")
