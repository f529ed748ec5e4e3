"""A contact without friction never sticks, though another of the same model is rough, and the model at rest."""

import numpy as np
import pytest

from klapper.bodies import FootedBlock, rigid_block
from klapper.contact_states import SLIP
from klapper.mechanics import Contact, LinearSystem
from klapper.mechanics.compliance import CompliantNormal
from klapper.mechanics.smooth_friction import StickElement
from klapper.schemes import EventDriven, Moreau, NestedProx, Ordinary, Regularised
from klapper.simulation import simulate

SOFT = CompliantNormal(1e4, 100.0)
SCHEMES = [
    Ordinary(),
    EventDriven(),
    Moreau(1e-3),
    Regularised(SOFT, "set-valued", tolerance=1e-6),
    Regularised(SOFT, StickElement(1e4), tolerance=1e-6),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("pull", [0.0, 1.0])
def test_what_stands_on_a_smooth_floor_slides_even_at_rest(scheme, directions, pull):
    tangents = np.eye(3)[:directions]
    floor = Contact("floor", normal=[0.0, 0.0, 1.0], tangents=tangents)
    ceiling = Contact("ceiling", normal=[0.0, 0.0, -1.0], gap=5.0, tangents=tangents, friction=0.5)
    mass = LinearSystem([1.0, 1.0, 1.0], force=[pull, 0.0, -10.0], contacts=[floor, ceiling])
    run = simulate(mass, 0.02, scheme, progress=False)
    assert set(run.state[1:, 0]) == {SLIP}
    assert run.velocity[-1, :2] == pytest.approx([0.02 * pull, 0.0], abs=1e-9)


@pytest.mark.parametrize("compiled", [False, True])
def test_smooth_feet_of_a_block_at_rest_slide(compiled):
    block = rigid_block(FootedBlock(mass=1.0, width=0.2, height=0.1, friction=(0.0, 0.0)))
    run = simulate(block, 0.01, NestedProx(1e-4, compiled=compiled), progress=False)
    assert set(run.state[1:].ravel()) == {SLIP}
