"""How far one exact flow reaches: it has no error to limit it, but the oscillations in it are searched one by one."""

import numpy as np
import pytest

from klapper.mechanics import Contact, LinearSystem
from klapper.schemes import PiecewiseExact, Work
from klapper.schemes.linear_phase_equations import phase_equations
from klapper.schemes.mobility import Inverse
from klapper.schemes.phase_modes import Modes


def flow_of(angular_frequency, until):
    system = LinearSystem([1.0], stiffness=[angular_frequency**2], position=[1.0])
    equations = phase_equations(system, Modes.none(0, 0), Inverse(system.mass_matrix))
    start = system.start
    return PiecewiseExact(sample=0.1).flow(equations, 0.0, start.position, start.velocity, until, 0.0, Work())


@pytest.mark.parametrize("angular_frequency", [0.01, 1.0, 200.0])
def test_a_flow_has_a_hundred_thousand_half_oscillations_at_most(angular_frequency):
    flow = flow_of(angular_frequency, 1e12)
    assert angular_frequency * flow.end / np.pi == pytest.approx(1e5)
    assert flow.pieces <= 100_001


@pytest.mark.parametrize("angular_frequency", [0.01, 1.0, 200.0])
def test_a_short_one_reaches_its_end_exactly(angular_frequency):
    flow = flow_of(angular_frequency, 0.7)
    assert flow.end == 0.7
    q, _ = flow.states(np.array([0.7]))
    assert q[0, 0] == pytest.approx(np.cos(0.7 * angular_frequency), abs=1e-10)


def test_a_growing_motion_is_cut_soon_after_its_first_event():
    """q = 1e-3 cosh κt meets the stop at q = 1 when cosh κt = 1000; at the end asked for it would be 5e9."""
    rate, begin = 4.0, 1e-3
    system = LinearSystem(
        [1.0],
        stiffness=[-(rate**2)],
        position=[begin],
        contacts=[Contact("stop", normal=[-1.0], gap=1.0)],
    )
    equations = phase_equations(system, Modes.none(0, 0), Inverse(system.mass_matrix))
    start = system.start
    flow = PiecewiseExact(sample=0.1).flow(
        equations, 0.0, start.position, start.velocity, 30.0 / rate, 0.0, Work()
    )
    stopped = np.arccosh(1.0 / begin) / rate
    assert stopped < flow.end < 30.0 / rate
    q, _ = flow.states(np.array([stopped, flow.end]))
    assert q[0, 0] == pytest.approx(1.0, rel=1e-9)
    assert 1.0 < q[1, 0] <= 1e3  # growth by which the digits of the event are lost
