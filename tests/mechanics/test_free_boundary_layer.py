"""A boundary layer that nothing touches creeps back: s = s_0 exp(−t/τ), τ = d/c."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from klapper.mechanics.compliance import BoundaryLayer


@pytest.mark.parametrize(("stiffness", "damping"), [(1e4, 8.0), (0.3, 2.0)])
def test_a_third_is_left_after_the_relaxation_time(stiffness: float, damping: float) -> None:
    layer = BoundaryLayer(stiffness, damping)
    time = damping / stiffness
    assert layer.relaxation_time == pytest.approx(time)
    run = solve_ivp(lambda t, s: layer.rate(s, 1.0, 0.0), (0.0, time), [1e-3], rtol=1e-10, atol=1e-15)
    assert run.y[0, -1] == pytest.approx(1e-3 * np.exp(-1.0), rel=1e-8)
