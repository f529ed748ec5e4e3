"""Moreau's scheme with a step size that follows a wanted accuracy."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from klapper.mechanics import Contact, FunctionSystem, LinearSystem
from klapper.schemes import Moreau
from klapper.simulation import simulate

G = 9.81
FALL = np.sqrt(2.0 / G)


def pendulum() -> FunctionSystem:
    return FunctionSystem([2.0], [0.0], mass=[[1.0]], force=lambda t, q, v: -G * np.sin(q) + np.cos(3 * t))


def ball(e: float = 0.8) -> LinearSystem:
    return LinearSystem(
        [1.0], force=[-G], position=[1.0], contacts=[Contact("floor", normal=[1.0], restitution=e)]
    )


def test_global_error_follows_the_accuracy() -> None:
    """Error per step h³, so steps ~ ε^⅓ and the global error h² ~ ε^⅔ for the midpoint step."""
    exact = solve_ivp(
        lambda t, y: [y[1], -G * np.sin(y[0]) + np.cos(3 * t)], (0.0, 2.0), [2.0, 0.0], rtol=1e-12, atol=1e-13
    ).y[0, -1]
    wanted = np.array([1e-4, 1e-5, 1e-6])
    runs = [simulate(pendulum(), 2.0, Moreau(0.1, accuracy=a)) for a in wanted]
    errors = np.array([abs(run.position[-1, 0] - exact) for run in runs])
    assert np.all(np.diff(errors) < 0.0)
    slope = np.polyfit(np.log(wanted), np.log(errors), 1)[0]
    assert slope == pytest.approx(2 / 3, abs=0.12)
    counts = np.array([run.about["steps"] for run in runs])
    assert np.polyfit(np.log(wanted), np.log(counts), 1)[0] == pytest.approx(-1 / 3, abs=0.05)
    for run in runs:
        assert run.time[-1] == pytest.approx(2.0, abs=1e-12)
        assert np.abs(run.ledger.residual).max() <= 1e-10 * run.ledger.scale


def test_steps_are_long_in_free_flight_and_short_at_the_impact() -> None:
    run = simulate(ball(), 2.4 * FALL, Moreau(0.02, accuracy=1e-5))
    steps = np.diff(run.time)
    near = np.abs(run.time[1:] - FALL) < 0.002
    assert steps.max() == pytest.approx(0.02)
    assert steps[near].min() < 1e-4
    assert np.median(steps[np.abs(run.time[1:] - FALL) > 0.1]) == pytest.approx(0.02, rel=0.2)


@pytest.mark.parametrize("accuracy", [1e-4, 1e-5, 1e-6])
def test_the_time_of_an_impact_is_found_to_the_accuracy(accuracy: float) -> None:
    e = 0.8
    run = simulate(ball(e), 2.4 * FALL, Moreau(0.02, accuracy=accuracy))
    after = run.time - FALL
    exact = np.where(after < 0, 1.0 - G * run.time**2 / 2, e * G * FALL * after - G * after**2 / 2)
    assert np.abs(run.position[:, 0] - exact).max() < 5 * accuracy
    assert run.about["audit"]["largest penetration"] < 5 * accuracy


def test_an_accuracy_out_of_reach_is_told() -> None:
    """A ball that comes to rest in infinitely many impacts, with a smallest step that is too long for 1e-13 m."""
    run = simulate(ball(), 1.0, Moreau(0.02, accuracy=1e-13))
    assert "exceeds" in run.about["audit"]["accuracy"]


def test_adaptive_steps_end_on_time_from_any_start() -> None:
    system = LinearSystem([1.0], stiffness=[10.0], position=[1.0], time=-0.37)
    run = simulate(system, 0.0, Moreau(0.1, accuracy=1e-4))
    assert run.time[-1] == pytest.approx(0.0, abs=1e-12)
    assert run.position[-1, 0] == pytest.approx(np.cos(np.sqrt(10.0) * 0.37), abs=1e-2)


def test_impulses_of_both_half_steps_are_added() -> None:
    run = simulate(ball(0.5), 3.0, Moreau(0.02, accuracy=1e-4))
    change = np.diff(run.velocity[:, 0]) + G * np.diff(run.time)
    np.testing.assert_allclose(run.impulse[1:, 0, 0], change, atol=1e-12)
