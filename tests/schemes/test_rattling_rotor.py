"""Example 5.15: the rattling delaminated rotor by rigid and by compliant contacts."""

import numpy as np
import pytest

from klapper.mechanics import CompliantNormal
from klapper.schemes import EventDriven, Moreau, Regularised
from klapper.simulation import simulate
from klapper.structures.delaminated_beam import DelaminatedBeam

SPEED = 5.2  # Hz, where gravity makes it rattle
TURN = 1.0 / SPEED


@pytest.fixture(scope="module")
def rattling():
    """Six modes and nine points of contact, in the middle of the motion that time stepping has reached in 12 s."""
    model = DelaminatedBeam(3.0, 1.6, 0.045, 0.04, 0.8 * 0.045, 69e9, 2800.0).model(
        6, external_damping=1.0, material_damping=1e-5
    )
    contacts = model.contacts(9)
    time, position, velocity = simulate(model.system(SPEED, contacts), 12.0, Moreau(2e-4), every=1000).final
    return model.system(SPEED, contacts, position=position, velocity=velocity, time=time, penetration=1e-5)


@pytest.fixture(scope="module")
def exact(rattling):
    return simulate(rattling, rattling.start.time + TURN, EventDriven(1e-8, sample=TURN / 200))


def test_rigid_contacts_do_not_penetrate_and_stepping_converges_to_them(rattling, exact):
    assert exact.gap[1:].min() > -1e-8
    errors = []
    for step in (4e-5, 1e-5):
        run = simulate(rattling, rattling.start.time + TURN, Moreau(step))
        errors.append(np.abs(run.position_at(exact.time) - exact.position).max())
    assert errors[1] < 0.4 * errors[0] < 0.01 * np.ptp(exact.position)


def test_compliant_contacts_approach_rigid_ones_as_they_stiffen(rattling, exact):
    """The gap is below zero, on purpose, and goes to zero as c and d grow; so does the distance of the motions."""
    depths, apart, costs = [], [], []
    for factor in (1.0, 10.0, 100.0):
        law = CompliantNormal(1e3 * factor, 4e4 * factor)
        scheme = Regularised(law, method="radau", tolerance=1e-5, sample=TURN / 100)
        run = simulate(rattling, rattling.start.time + TURN, scheme)
        late = run.time > rattling.start.time + 0.1 * TURN
        depths.append(-run.gap[late].min())
        gaps = (run.position_at(exact.time) - exact.position) @ rattling.normal_directions
        apart.append(np.abs(gaps).max())
        costs.append(run.about["audit"]["cost"])
    assert depths[0] > 2.0 * depths[1] > 8.0 * depths[2] > 0.0
    assert apart[0] > apart[1] > 5.0 * apart[2]
    assert apart[2] < 0.01 * exact.gap.max()
    assert all("right-hand sides" in cost and "switches" in cost for cost in costs)
