"""Sliding contacts push along one line each, λ_N n + λ_T t: friction alone decides whether these lines differ."""

import numpy as np
import pytest

from klapper.mechanics import Contact, LinearSystem
from klapper.mechanics.determinacy import force_determinacy

SLIP = 2


@pytest.mark.parametrize("loads", [(3.0, 7.0), (0.2, 40.0)])
@pytest.mark.parametrize(("friction", "rank"), [((0.3, 0.3), 1), ((0.3, 0.5), 2)])
def test_two_feet_of_a_point_mass_are_told_apart_by_their_friction(loads, friction, rank):
    """Equal friction: both forces along (−μ, 1), only their sum is seen. Different friction: two directions."""
    system = LinearSystem(
        [1.0, 1.0],
        force=[0.0, -sum(loads)],
        velocity=[1.0, 0.0],
        contacts=[
            Contact(name, normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=mu)
            for name, mu in zip(("front", "rear"), friction, strict=True)
        ],
    )
    forces = np.array([[load, -mu * load] for load, mu in zip(loads, friction, strict=True)])
    start = system.start
    found = force_determinacy(
        system, 0.0, start.position, start.velocity, np.arange(2), forces, np.full(2, SLIP)
    )
    assert (found.changes, found.rank) == (2, rank)
