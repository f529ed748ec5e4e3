"""Which falls of a gap end a phase: those of short flights do, those that are rounding of the positions do not."""

from dataclasses import dataclass

import numpy as np
import pytest

from klapper.mechanics import Contact, LinearSystem
from klapper.schemes.linear_phase_equations import phase_equations
from klapper.schemes.mobility import Inverse
from klapper.schemes.phase_modes import TOUCH, Modes
from klapper.schemes.phase_watch import PhaseWatch


@dataclass(frozen=True)
class Hop:
    """q = 1 + a t (1 − 2 t) from 0 to 1 s: above the floor at q = 1 for half of the time; ``height`` a [m]."""

    height: float
    start, end, pieces = 0.0, 1.0, 1

    def states(self, times):
        return (1.0 + self.height * times * (1.0 - 2.0 * times))[:, None], np.zeros((len(times), 1))


def first_event(height: float):
    floor = Contact("floor", normal=[1.0], gap=-1.0)
    system = LinearSystem([1.0], position=[1.0], contacts=[floor])
    equations = phase_equations(system, Modes.none(0, 0), Inverse(system.mass_matrix))
    return PhaseWatch(equations, Hop(height), 1e-10, 1e-9).first()


@pytest.mark.parametrize("height", [5e-14, 1e-12, 1e-6])
def test_a_flight_ends_where_its_gap_is_zero_however_low_it_is(height):
    """To the rounding of q = 1, 2.2e-16 m, over the slope a."""
    time, events = first_event(height)
    assert time == pytest.approx(0.5, abs=4.0 * 2.2e-16 / height)
    assert events.tolist() == [[TOUCH, 0]]


@pytest.mark.parametrize("height", [5e-16, 2e-15, 1e-14])
def test_rounding_of_the_position_is_no_flight(height):
    """Up to 64 units of the last digit of q = 1: 1.4e-14 m."""
    assert first_event(height) is None
