"""A spring that slides with friction μ(v): where v_T c_T = ρ̇ it sticks again, while it still moves. Vielsack (20)."""

import numpy as np
import pytest

from klapper.contact_states import SLIP, STICK
from klapper.mechanics import Contact, ExponentialFriction, LinearSystem
from klapper.mechanics.compliance import CompliantNormal
from klapper.mechanics.smooth_friction import StickElement
from klapper.schemes import Regularised
from klapper.simulate import simulate

WEIGHT, SPRING = 10.0, 1e3  # N, N/m


def test_sliding_ends_where_the_limit_grows_as_fast_as_the_spring_can():
    """1 kg is braked by nothing else: ρ = μ(v) W, v̇ = −ρ, ρ̇ = W μ′(v) v̇."""
    friction = ExponentialFriction(static=0.4, dynamic=0.2, speed=0.2)
    floor = Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=friction)
    block = LinearSystem([1.0, 1.0], force=[0.0, -WEIGHT], velocity=[2.0, 0.0], contacts=[floor])
    settling = CompliantNormal(1e4, 200.0)  # by exp(−100 t)
    run = simulate(block, 1.2, Regularised(settling, StickElement(SPRING), tolerance=1e-7), progress=False)
    state = run.state[:, 0]
    end = int(np.flatnonzero((state[:-1] == SLIP) & (state[1:] == STICK))[0])
    speed = run.velocity[end, 0]
    fallen = 0.2 * np.exp(-speed / 0.2)  # of μ(v) = 0.2 + fallen; μ′(v) = −fallen/0.2
    assert speed > 0.02
    assert SPRING * speed == pytest.approx(WEIGHT**2 * (0.2 + fallen) * fallen / 0.2, rel=1e-5)
