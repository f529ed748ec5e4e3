"""Flights lower than what counts as a closed gap: they end when the parabola says, not at once and not too soon."""

import numpy as np
import pytest

from klapper.mechanics import Contact, LinearSystem
from klapper.schemes import EventDriven, PiecewiseExact
from klapper.simulation import simulate


@pytest.mark.parametrize("scheme", [EventDriven(), PiecewiseExact()], ids=lambda scheme: scheme.name)
@pytest.mark.parametrize("until", [1.1, 1.5, 3.0])
def test_a_flight_that_looks_like_rest_takes_its_time(scheme, until):
    """v = 1 µm/s upwards: 2 v/g = 0.2 µs, 5e-14 m high; a hundredth of the tolerance is 1e-12 m."""
    gravity, speed = 10.0, 1e-6
    floor = Contact("floor", normal=[1.0], restitution=0.5)
    ball = LinearSystem([1.0], force=[-gravity], velocity=[speed], contacts=[floor])
    flight = 2.0 * speed / gravity
    run = simulate(ball, until * flight, scheme, progress=False)
    impact = int(np.argmax(np.diff(run.velocity[:, 0]) > 0.0))
    assert run.time[impact] == pytest.approx(flight, rel=1e-9)
    assert run.velocity[impact, 0] == pytest.approx(-speed, rel=1e-9)
    assert run.velocity[impact + 1, 0] == pytest.approx(0.5 * speed, rel=1e-9)
    if until < 1.5:
        assert run.velocity[-1, 0] == pytest.approx(0.5 * speed - gravity * (until - 1.0) * flight, rel=1e-9)
