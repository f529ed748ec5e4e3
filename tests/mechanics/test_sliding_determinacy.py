"""Sliding contacts push along one line each, λ_N n + λ_T t: friction alone decides whether these lines differ."""

import numpy as np
import pytest

from klapper.mechanics import Contact, LinearSystem
from klapper.mechanics.determinacy import force_determinacy

SLIP = 2


def sliding_on_feet(loads, friction):
    """Verdict on a point mass that slides with 1 m/s on feet in one place."""
    system = LinearSystem(
        [1.0, 1.0],
        force=[0.0, -sum(loads)],
        velocity=[1.0, 0.0],
        contacts=[
            Contact(f"foot {i}", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=mu)
            for i, mu in enumerate(friction)
        ],
    )
    forces = np.array([[load, -mu * load] for load, mu in zip(loads, friction, strict=True)])
    start = system.start
    return force_determinacy(
        system, 0.0, start.position, start.velocity, np.arange(len(loads)), forces, np.full(len(loads), SLIP)
    )


@pytest.mark.parametrize("loads", [(3.0, 7.0), (0.2, 40.0)])
@pytest.mark.parametrize(("friction", "rank"), [((0.3, 0.3), 1), ((0.3, 0.5), 2)])
def test_two_feet_of_a_point_mass_are_told_apart_by_their_friction(loads, friction, rank):
    """Equal friction: both forces along (−μ, 1), only their sum is seen, and it brakes the mass in one way. Different
    friction: two directions, and the mass is braked more if the rougher foot carries more."""
    found = sliding_on_feet(loads, friction)
    assert (found.changes, found.rank) == (2, rank)
    assert found.motion_unique is (rank == 1)


def test_many_feet_of_equal_friction_brake_in_one_way():
    found = sliding_on_feet([1.0] * 40, [0.3] * 40)
    assert (found.changes, found.rank) == (40, 1)
    assert found.motion_unique is True
