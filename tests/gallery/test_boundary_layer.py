"""Boundary layer: the restitution formula against printed values and integration, memory against the law without."""

from math import exp
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from klapper.gallery import find
from klapper.gallery.boundary_layer import Flight, Layer
from klapper.gallery.parameter import ParameterError


@pytest.mark.parametrize(("damping", "e"), [(0.2, 0.744079), (0.5, 0.506277), (1.0, 0.298436)])
def test_restitution_has_the_specified_digits(damping: float, e: float) -> None:
    """m = c = 1; values of the specification to six digits."""
    assert Layer(1.0, 1.0, damping, 1.0).restitution == pytest.approx(e, abs=5e-7)


def test_restitution_is_smooth_across_critical_damping() -> None:
    assert Layer(1.0, 1.0, 2.0, 1.0).restitution == pytest.approx(exp(-2.0), rel=1e-15)
    near = [Layer(1.0, 1.0, 2 * ζ, 1.0).restitution for ζ in (1 - 2e-5, 1 - 1e-6, 1 + 1e-6, 1 + 2e-5)]
    slopes = np.diff(near) / np.diff([-2e-5, -1e-6, 1e-6, 2e-5])
    np.testing.assert_allclose(slopes, -4 / 3 * exp(-2.0), rtol=1e-3)


@pytest.mark.parametrize("ratio", [0.1, 0.6, 1.4])
def test_the_closed_form_of_one_impact_is_that_of_an_integration(ratio: float) -> None:
    layer = Layer(2.0, 800.0, 2 * ratio * 40.0, 3.0)

    def rate(_: float, y: np.ndarray) -> list[float]:
        return [y[1], (-layer.stiffness * y[0] - layer.damping * y[1]) / layer.mass]

    def pulls(t: float, y: np.ndarray) -> float:
        return rate(t, y)[1]

    pulls.terminal, pulls.direction = True, -1  # type: ignore[attr-defined]
    done = solve_ivp(
        rate,
        (0.0, 1.0),
        [0.0, -3.0],
        method="DOP853",
        rtol=1e-12,
        atol=1e-14,
        events=pulls,
        dense_output=True,
    )
    assert layer.contact_time == pytest.approx(done.t_events[0][0], rel=1e-9)
    assert layer.restitution == pytest.approx(done.y_events[0][0, 1] / 3.0, rel=1e-9)
    assert layer.left_behind == pytest.approx(-done.y_events[0][0, 0], rel=1e-9)
    times = np.linspace(0.0, layer.contact_time, 20001)
    assert layer.depth == pytest.approx(-done.sol(times)[0].min(), rel=1e-7)


@pytest.mark.parametrize(
    "given",
    [
        {"mass": 0.1, "stiffness": 5e5, "damping": 700.0, "speed": 0.2},
        {"pressing_force": 500.0},
    ],
)
def test_checks_hold_for_other_parameters(given: dict[str, Any]) -> None:
    outcome = find("boundary-layer").run(**given)
    assert outcome.passed, [check for check in outcome.checks if not check.passed]


def test_a_layer_that_remembers_is_touched_later() -> None:
    layer = Layer(1.0, 1e4, 100.0, 1.0)
    runs = [
        layer.run(0.08, pressing_force=10.0, remembers=memory, interval=0.007) for memory in (True, False)
    ]
    with_memory, without = (Flight.of(run) for run in runs)
    assert with_memory is not None and without is not None
    assert with_memory.release == pytest.approx(without.release, rel=1e-9)
    assert with_memory.touch > without.touch + 5e-4


def test_a_damping_out_of_range_is_refused_with_the_allowed_one() -> None:
    with pytest.raises(ParameterError, match=r"allowed are 0\.001 to 20 of it, 0\.2 to 4e\+03 N s/m"):
        find("boundary-layer").run(damping=1e5)
