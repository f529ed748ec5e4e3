"""Steps whose length follows a wanted accuracy, of the implicit schemes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from klapper.continuum import Continuum, NeoHooke, Solid, annulus, rigid_velocity
from klapper.mechanics import FunctionSystem, InvalidModel
from klapper.schemes import (
    EnergyMomentum,
    GeneralisedAlpha,
    Newmark,
    NewtonIteration,
    Snapshot,
    Step,
    StepFailed,
)
from klapper.schemes.adaptive_step import adaptive_step
from klapper.simulation import SimulationFailed, simulate

G = 9.81


def pendulum() -> FunctionSystem:
    return FunctionSystem(
        [2.0],
        [0.0],
        mass=[[1.0]],
        force=lambda t, q, v: -G * np.sin(q),
        tangents=lambda t, q, v: (np.diag(-G * np.cos(q)), np.zeros((1, 1))),
        potential=lambda q: -G * float(np.cos(q[0])),
    )


EXACT = solve_ivp(
    lambda t, y: [y[1], -G * np.sin(y[0])], (0.0, 2.0), [2.0, 0.0], rtol=1e-12, atol=1e-13, dense_output=True
).sol


@pytest.mark.parametrize(
    "scheme",
    [EnergyMomentum(0.1), EnergyMomentum(0.1, forces="midpoint"), Newmark(0.1), GeneralisedAlpha(0.1, 0.8)],
)
def test_the_error_follows_the_accuracy(scheme) -> None:
    """Error of a step h³: steps ~ ε^⅓ in number ε^−⅓, global error h² ~ ε^⅔."""
    wanted = np.array([1e-4, 1e-5, 1e-6])
    runs = [simulate(pendulum(), 2.0, replace(scheme, accuracy=a)) for a in wanted]
    errors = [np.abs(run.position[:, 0] - EXACT(run.time)[0]).max() for run in runs]
    assert np.polyfit(np.log(wanted), np.log(errors), 1)[0] == pytest.approx(2 / 3, abs=0.12)
    counts = [run.about["steps"] for run in runs]
    assert np.polyfit(np.log(wanted), np.log(counts), 1)[0] == pytest.approx(-1 / 3, abs=0.05)
    for run in runs:
        assert run.time[-1] == pytest.approx(2.0, abs=1e-12)
        assert np.diff(run.time).max() <= 0.1 * (1 + 1e-12)
        assert run.ledger.closes(1e-9)


def test_energy_is_kept_with_every_length_of_the_step() -> None:
    solid = Solid("ring", annulus(0.8, 1.0, (1, 12)), NeoHooke(1e5, 0.3), density=1000.0)
    world = Continuum([solid], velocity={"ring": rigid_velocity(solid, (1.0, 0.5), 5.0)})
    run = simulate(world, 0.1, EnergyMomentum(0.02, accuracy=1e-4))
    assert np.ptp(np.diff(run.time)) > 1e-3
    assert all(run.conservation.matrix.values())


def test_steps_that_fail_are_halved() -> None:
    """A scheme that can do steps of up to 0.013 s only."""

    def fixed(before: Snapshot, h: float) -> Step:
        if h > 0.013:
            raise StepFailed("too long")
        none = np.zeros(0, dtype=np.int64)
        after = Snapshot(
            before.step + 1,
            before.time + h,
            before.position + h,
            before.velocity,
            none,
            np.zeros((0, 1)),
            before.sums,
        )
        return Step(after, none, after.impulse, none.astype(np.int8), np.zeros(0), 0.0)

    none = np.zeros(0, dtype=np.int64)
    start = Snapshot(0, 0.0, np.zeros(1), np.ones(1), none, np.zeros((0, 1)), np.zeros(5))
    options = {"wanted": 0.1, "largest": 0.1, "until": 1.0, "accuracy": 1e-3, "order": 2}
    step, following = adaptive_step(fixed, start, **options)
    assert step.after.time == pytest.approx(0.1 / 8)
    assert step.after.step == 1
    assert following == pytest.approx(2 * 0.1 / 8)  # no error at all: twice as long
    with pytest.raises(StepFailed, match="too long"):
        adaptive_step(lambda before, h: fixed(before, 1.0), start, **options)


def test_a_newton_method_that_needs_short_steps_gets_them() -> None:
    solid = Solid("ring", annulus(0.8, 1.0, (1, 12)), NeoHooke(1e5, 0.3), density=1000.0)
    world = Continuum([solid], velocity={"ring": rigid_velocity(solid, (1.0, 0.5), 5.0)})
    few = NewtonIteration(most=2, tolerance=1e-9)
    with pytest.raises(SimulationFailed, match="was not solved"):
        simulate(world, 0.1, Newmark(0.05, newton=few))
    run = simulate(world, 0.1, Newmark(0.05, newton=few, accuracy=1.0))
    assert run.time[-1] == pytest.approx(0.1)
    assert np.diff(run.time).max() < 0.05


def test_an_accuracy_out_of_reach_is_told() -> None:
    """A force that jumps: the error of the step across is F h²/8 or so, too much with the smallest step."""
    jump = FunctionSystem(
        [0.0],
        [0.0],
        mass=[[1.0]],
        force=lambda t, q, v: np.array([1e9 * (t > 0.3512345)]),
        tangents=lambda t, q, v: (np.zeros((1, 1)), np.zeros((1, 1))),
    )
    run = simulate(jump, 0.352, Newmark(0.1, accuracy=1e-9))
    assert "exceeds" in run.about["audit"]["accuracy"]


def test_bad_accuracies_are_refused() -> None:
    for scheme in (EnergyMomentum, Newmark, GeneralisedAlpha):
        with pytest.raises(InvalidModel, match="accuracy is -1"):
            scheme(0.1, accuracy=-1.0)


def test_refinement_takes_the_accuracy_along() -> None:
    finer = EnergyMomentum(0.1, accuracy=1e-3).refined(2.0)
    assert finer.step_size == 0.05
    assert finer.accuracy == 5e-4
