"""Forces cut off at their limits where contacts slide: friction follows the normal force that is left."""

import numpy as np
import pytest

from klapper.complementarity.selection import ForceSet, PseudoInverse


@pytest.mark.parametrize("sense", [1.0, -1.0])
def test_sliding_friction_opposes_the_motion_after_the_cut(sense: float) -> None:
    """A beam on legs at −1, 0, 1 with its load above the last one: the smallest forces with this sum and this moment
    are a + b x with a = 1/3, b = 1/2, and the first leg would have to pull."""
    friction, members = 0.5, np.array([0.0, 0.0, 1.0])
    directions = np.zeros((3, 6))
    directions[0, :3], directions[1, :3], directions[2, 3:] = 1.0, [-1.0, 0.0, 1.0], 1.0
    forces = ForceSet.from_arrays(
        np.concatenate([members, -friction * sense * members]),
        directions,
        normal=[0, 1, 2],
        patches=[3, 4, 5],
        friction=friction,
        sense=[sense] * 3,
    )
    normal = np.array([0.0, 1 / 3, 5 / 6])
    found = PseudoInverse("clip").select(forces)
    assert not found.exact
    assert found.forces == pytest.approx(np.concatenate([normal, -friction * sense * normal]), abs=1e-12)
