"""Long integration from beside a motion, against what the multipliers say."""

from dataclasses import replace

import numpy as np
import pytest
from oscillators import impact_oscillator, single

from klapper.analysis import periodic_motion
from klapper.mechanics import Harmonic, LinearSystem
from klapper.mechanics.errors import InvalidModel


def test_the_approach_takes_as_many_periods_as_the_multipliers_need():
    motion = periodic_motion(impact_oscillator().system())
    rate = np.log(np.abs(single(impact_oscillator()).multipliers).max())
    reached = motion.approach(off=1e-3, left=1e-7)
    assert reached.periods == int(np.ceil(np.log(1e-4 / 4.0) / rate))
    assert reached.distance < 1e-6
    assert motion.approach().distance < min(1e-8, reached.distance)


def test_a_wrong_motion_is_not_approached():
    system = LinearSystem([1.0], stiffness=[1.0], damping=[0.4], force=Harmonic([1.0], 2.0), contacts=[])
    motion = periodic_motion(system)
    motion.__dict__["start"] = type(motion.start)(0.0, motion.start.position + 1e-4, motion.start.velocity)
    assert motion.approach().distance > 1e-5


def test_what_cannot_be_approached_is_refused():
    motion = periodic_motion(impact_oscillator().system())
    with pytest.raises(InvalidModel, match="below off"):
        motion.approach(off=1e-6, left=1e-3)
    with pytest.raises(InvalidModel, match="periods would be needed, more than 2"):
        motion.approach(most=2)
    swinging = LinearSystem([1.0], stiffness=[1.0], damping=[0.4], force=Harmonic([1.0], 2.0), contacts=[])
    with pytest.raises(InvalidModel, match="no event by which it is known again"):
        replace(periodic_motion(swinging), forcing=None).approach()
    oscillator = impact_oscillator(1.85)
    repelling = next(each for each in oscillator.single_impacts if each.possible and not each.stable)
    with pytest.raises(InvalidModel, match="not stable"):
        periodic_motion(oscillator.system(), oscillator.after(repelling)).approach()
