"""Sliding contacts with an ellipse of friction: the force that dissipates most, and no other, is possible.

λ = −λ_N (μ₁² v₁, μ₂² v₂) / √(μ₁² v₁² + μ₂² v₂²)
"""

import numpy as np
import pytest

from klapper.mechanics import Anisotropic, Contact, LinearSystem
from klapper.mechanics.force_sets import closed_forces

FRICTION = np.array([0.4, 0.1])
WEIGHT = 20.0


def ellipse(sliding):
    scaled = FRICTION * sliding
    return -WEIGHT * FRICTION * scaled / np.linalg.norm(scaled)


def forces_of_a_sledge(velocity, friction, **options):
    contact = Contact(
        "runner", normal=[0, 0, 1.0], tangents=[[1.0, 0, 0], [0, 1.0, 0]], friction=Anisotropic(*FRICTION)
    )
    system = LinearSystem(
        np.ones(3), force=[0.0, 0.0, -WEIGHT], velocity=[*velocity, 0.0], contacts=[contact]
    )
    return closed_forces(
        system,
        0.0,
        system.start.position,
        system.start.velocity,
        np.array([0]),
        np.array([[WEIGHT, *friction]]),
        **options,
    )


@pytest.mark.parametrize("sliding", [(1.0, 0.0), (0.0, -2.0), (0.3, 0.4), (-1.0, 3.0)])
def test_the_sense_of_sliding_gives_the_friction_on_the_ellipse(sliding):
    expected = ellipse(np.array(sliding))
    closed = forces_of_a_sledge(sliding, expected)
    assert closed.set.contains(closed.set.forces)
    limit = closed.set.limits(closed.set.forces)[0]
    along = np.concatenate([[WEIGHT], -limit * closed.set.sense[0]])
    assert closed.by_contact(along)[0][0, 1:] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("sliding", [(0.3, 0.4), (-1.0, 3.0)])
def test_where_sliding_just_begins_its_sense_comes_from_the_friction(sliding):
    expected = ellipse(np.array(sliding))
    closed = forces_of_a_sledge((0.0, 0.0), expected, state=np.array([0]))
    assert closed.set.contains(closed.set.forces)
    scaled = FRICTION * sliding
    assert closed.set.sense[0] == pytest.approx(scaled / np.linalg.norm(scaled), rel=1e-12)
