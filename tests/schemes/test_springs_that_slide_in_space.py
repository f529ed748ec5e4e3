"""A spring that slides in space turns towards the velocity, ṅ = (v_T − (v_T·n) n) c_T/ρ: it follows like a trailer."""

import numpy as np
import pytest

from klapper.mechanics import Contact, Harmonic, LinearSystem
from klapper.mechanics.compliance import CompliantNormal
from klapper.mechanics.smooth_friction import StickElement
from klapper.schemes import Regularised
from klapper.simulation import simulate

BELT, TURN, WEIGHT, MU = 1.0, 2.0, 10.0, 0.3  # m/s, rad/s, N


@pytest.mark.parametrize("stiffness", [10.0, 20.0])
def test_on_a_belt_that_runs_in_circles_friction_lags_by_the_angle_of_the_trailer(stiffness):
    """The angle φ of n obeys φ̇ = (V c/ρ) sin(ω t − φ), so that it ends at ω t − δ with sin δ = ω ρ/(V c)."""
    belt = Harmonic([BELT, 0.0], TURN) + Harmonic([0.0, BELT], TURN, phase=-0.5 * np.pi)
    floor = Contact(
        "floor",
        normal=[0.0, 0.0, 1.0],
        tangents=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        friction=MU,
        tangential_rate=belt,
    )
    heavy = LinearSystem([1e8, 1e8, 1.0], force=[0.0, 0.0, -WEIGHT], contacts=[floor])
    scheme = Regularised(CompliantNormal(1e3, 60.0), StickElement(stiffness), tolerance=1e-7)
    run = simulate(heavy, 6.0, scheme, progress=False)
    begin, end = run.time[-2:]
    force = run.impulse[-1, 0, 1:] / (end - begin)  # mean over a step: that of its middle, a little shorter
    half = 0.5 * TURN * (end - begin)
    assert np.linalg.norm(force) == pytest.approx(MU * WEIGHT * np.sin(half) / half, rel=1e-5)
    course = np.exp(0.5j * TURN * (begin + end))  # direction of the belt
    lag = np.angle(course / complex(*-force))
    assert np.sin(lag) == pytest.approx(TURN * MU * WEIGHT / (BELT * stiffness), rel=1e-5)
