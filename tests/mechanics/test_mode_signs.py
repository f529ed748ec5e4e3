"""The sign of a mode does not depend on the unit of mass."""

import numpy as np
import pytest

from klapper.mechanics.eigenmodes import lowest_modes


@pytest.mark.parametrize("mass", [1e-4, 1.0, 1e4])
def test_the_largest_entry_of_every_mode_is_positive(mass: float) -> None:
    """Two equal masses, the first one on a soft spring and the second on a hard one. The first mode has one sign and
    its large entry at the soft spring; the second, orthogonal to it, is (−small, large)."""
    modes = lowest_modes(mass * np.eye(2), np.array([[2.0, -1.0], [-1.0, 5.0]]), 2)
    first, second = modes.shapes.T
    assert 0.0 < first[1] < first[0]
    assert second == pytest.approx([-first[1], first[0]], rel=1e-12)
