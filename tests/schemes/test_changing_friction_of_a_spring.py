"""A spring that slides with friction μ(v): where c_T v_T = ρ̇ it sticks again. Vielsack (20)."""

import numpy as np
import pytest

from klapper.contact_states import SLIP, STICK
from klapper.mechanics import Contact, ExponentialFriction, LinearSystem
from klapper.mechanics.compliance import CompliantNormal
from klapper.mechanics.smooth_friction import StickElement
from klapper.schemes import Regularised
from klapper.simulation import simulate

WEIGHT, SPRING = 10.0, 1e3  # N, N/m


def end_of_sliding(dynamic: float, until: float) -> tuple[float, float]:
    """Time [s] and speed [m/s] of 1 kg that slides from 2 m/s on, braked by nothing else."""
    friction = ExponentialFriction(static=0.4, dynamic=dynamic, speed=0.2)
    floor = Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=friction)
    block = LinearSystem([1.0, 1.0], force=[0.0, -WEIGHT], velocity=[2.0, 0.0], contacts=[floor])
    settling = CompliantNormal(1e4, 200.0)  # by exp(−100 t)
    run = simulate(block, until, Regularised(settling, StickElement(SPRING), tolerance=1e-7), progress=False)
    state = run.state[:, 0]
    end = int(np.flatnonzero((state[:-1] == SLIP) & (state[1:] == STICK))[0])
    return run.time[end], run.velocity[end, 0]


def test_with_falling_friction_it_sticks_while_it_moves_where_the_limit_grows_as_fast_as_the_spring_can():
    """ρ = μ(v) W, v̇ = −ρ, ρ̇ = W μ′(v) v̇."""
    _, speed = end_of_sliding(0.2, 1.2)
    fallen = 0.2 * np.exp(-speed / 0.2)  # of μ(v) = 0.2 + fallen; μ′(v) = −fallen/0.2
    assert speed > 0.02
    assert SPRING * speed == pytest.approx(WEIGHT**2 * (0.2 + fallen) * fallen / 0.2, rel=1e-5)


def test_with_rising_friction_it_slides_to_the_end():
    """∫ dv/(μ W) with μ = 0.6 − 0.2 exp(−u), u = v/0.2, is 0.2/(0.6 W) ln(0.6 exp(u) − 0.2)."""
    time, speed = end_of_sliding(0.6, 0.4)
    assert speed == pytest.approx(0.0, abs=1e-9)
    assert time == pytest.approx(0.2 / (0.6 * WEIGHT) * np.log((0.6 * np.exp(10.0) - 0.2) / 0.4), rel=1e-5)
