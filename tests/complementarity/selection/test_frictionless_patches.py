"""A patch without friction holds nothing, even where it happens not to slide."""

import numpy as np
import pytest

from klapper.complementarity import FrictionalContact
from klapper.complementarity.selection import ForceSet
from klapper.complementarity.selection.from_problem import contact_force_set


def test_a_smooth_foot_at_rest_does_not_hold_the_block() -> None:
    """A unit mass on two feet in one place: A rubs on the ground, B stands on a smooth belt that moves along. How the
    weight is shared is open, and with it the braking: 0 to all of it."""
    directions = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])  # N_A, T_A, N_B, T_B in x, y
    speed, friction, share = 1.0, 0.5, 0.4
    before = speed + friction * share
    free = directions @ [before, -1.0] - [0.0, 0.0, 0.0, speed]
    problem = FrictionalContact(directions @ directions.T, free, [friction, 0.0], dimension=2)
    forces: ForceSet = contact_force_set(
        problem, np.array([share, -friction * share, 1.0 - share, 0.0]), "any", 1.0
    )
    assert forces.dimension == 1
    assert not forces.motion_unique
    lower, upper = forces.face.ranges()
    assert lower == pytest.approx([0.0, -friction, 0.0, 0.0], abs=1e-12)
    assert upper == pytest.approx([1.0, 0.0, 1.0, 0.0], abs=1e-12)
