"""Smooth friction laws against their potentials in the convex room, and their limits."""

import numpy as np
import pytest

from klapper.convex import power_friction, saturated_friction
from klapper.mechanics import InvalidModel
from klapper.mechanics.smooth_friction import ArctanFriction, PowerFriction, SaturatedFriction, StickElement

SPEEDS = np.array([0.0, 1e-5, 0.9e-3, 1.1e-3, 0.3, 4.0])


def test_saturated_friction_is_the_gradient_of_its_envelope():
    potential = saturated_friction(limit=7.0, sharpness=1.0 / (2.0 * 1e-3), dimension=1)
    force = 7.0 * SaturatedFriction(speed=1e-3).share(SPEEDS)
    assert force == pytest.approx(potential.gradient(SPEEDS[:, None]).ravel(), rel=1e-12)


def test_power_friction_is_the_gradient_of_its_potential_above_the_floor():
    potential = power_friction(7.0, sharpness=8.0, dimension=1)
    moving = SPEEDS[1:]
    force = 7.0 * PowerFriction(sharpness=8.0).share(moving)
    assert force == pytest.approx(potential.gradient(moving[:, None]).ravel(), rel=1e-12)


def test_power_friction_is_continuous_at_its_floor():
    law = PowerFriction(sharpness=8.0, floor=1e-4)
    assert law.share(1e-4 * (1.0 - 1e-12)) == pytest.approx(float(law.share(1e-4)), rel=1e-11)
    assert law.share(0.0) == 0.0


def test_arctan_friction_reaches_the_limit_as_one_over_the_speed():
    law = ArctanFriction(speed=1e-3)
    assert 1.0 - law.share(10.0) == pytest.approx(2.0 / np.pi * 1e-4, rel=1e-6)


@pytest.mark.parametrize("law", [SaturatedFriction(1e-3), ArctanFriction(1e-3), PowerFriction(8.0)])
def test_viscosity_is_share_over_speed(law):
    moving = SPEEDS[1:]
    viscosity = law.viscosity(moving, moving < law.speed)
    assert viscosity * moving == pytest.approx(law.share(moving), rel=1e-12)
    at_rest = law.viscosity(np.zeros(1), np.array([True]))
    assert at_rest == pytest.approx(law.share(1e-12) / 1e-12, rel=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        lambda: SaturatedFriction(0.0),
        lambda: ArctanFriction(-1.0),
        lambda: PowerFriction(np.inf),
        lambda: StickElement(),
        lambda: StickElement(stiffness=-1.0, damping=2.0),
    ],
)
def test_parameters_out_of_range_are_refused(make):
    with pytest.raises(InvalidModel, match="allowed are"):
        make()
