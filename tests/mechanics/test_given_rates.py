"""Belts beside each other, one at a steady and one at a changing speed; and what is no system at all."""

from types import SimpleNamespace

import numpy as np
import pytest

from klapper.mechanics import Contact, Harmonic, InvalidModel, LinearSystem
from klapper.mechanics.system import require_system

STEADY, AMPLITUDE, FREQUENCY = 0.7, 0.4, 3.0


@pytest.fixture
def belts():
    changing = Harmonic(AMPLITUDE, FREQUENCY)
    return LinearSystem(
        [1.0, 1.0],
        contacts=[
            Contact(name, normal=[0.0, 1.0], tangents=[1.0, 0.0], tangential_rate=rate, friction=0.1)
            for name, rate in (("steady", STEADY), ("changing", changing), ("at rest", 0.0))
        ],
    )


@pytest.mark.parametrize("time", [0.0, 0.3, 2.5])
def test_each_belt_has_its_own_speed_at_any_time(belts, time):
    speed = AMPLITUDE * np.cos(FREQUENCY * time)
    speeding_up = -AMPLITUDE * FREQUENCY * np.sin(FREQUENCY * time)
    rates = belts.directions(time, belts.start.position, np.arange(3)).tangential_rate
    assert rates == pytest.approx([STEADY, speed, 0.0], abs=1e-15)
    _, change = belts.curvature(time, belts.start.position, belts.start.velocity, np.arange(3))
    assert change == pytest.approx([0.0, speeding_up, 0.0], abs=1e-15)


@pytest.mark.parametrize(
    "given",
    [LinearSystem, SimpleNamespace(start=None), SimpleNamespace(contacts=None), None],
    ids=["a class", "without contacts", "without a start", "nothing"],
)
def test_what_is_no_system_is_refused(given):
    with pytest.raises(InvalidModel, match="system is"):
        require_system(given)
