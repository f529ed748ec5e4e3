"""Natural modes of masses that are known one by one: those without any spring, and those that a search may miss."""

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.mechanics.eigenmodes import _require_all, lowest_modes
from klapper.mechanics.errors import InvalidModel


@pytest.mark.parametrize("free", [1, 3])
@pytest.mark.parametrize("springs", [(), (0.123,), (100.0, 2e9)])
def test_masses_without_springs_have_the_frequency_zero_exactly(free, springs):
    stiffness = np.array([0.0] * free + list(springs))
    masses = np.arange(3.0, 3.0 + len(stiffness))
    modes = lowest_modes(np.diag(masses), np.diag(stiffness), len(masses))
    assert modes.rigid == free
    assert modes.squares == pytest.approx(np.sort(stiffness / masses), rel=1e-12)


def test_large_structures_have_the_frequency_zero_exactly_as_well():
    stiffness = np.concatenate([np.zeros(3), np.linspace(1.3, 900.0, 797)])
    masses = np.linspace(1.1, 3.0, 800)
    modes = lowest_modes(sparse.diags_array(masses).tocsc(), sparse.diags_array(stiffness).tocsc(), 5)
    assert modes.rigid == 3
    assert modes.squares == pytest.approx(np.sort(stiffness / masses)[:5], rel=1e-9)


def test_a_mode_that_was_missed_is_noticed():
    """Unit masses on springs 1, 2, … 30: the inertia of K − σM counts the modes below σ."""
    squares = np.arange(1.0, 31.0)
    mass, stiffness = sparse.eye_array(30, format="csc"), sparse.diags_array(squares).tocsc()
    _require_all(mass, stiffness, squares[:10], 4)
    with pytest.raises(InvalidModel, match=r"modes were found below .* ask for a few modes more"):
        _require_all(mass, stiffness, np.delete(squares[:10], 2), 4)


def test_modes_that_all_coincide_cannot_be_counted():
    mass = sparse.eye_array(10, format="csc")
    _require_all(mass, 4.0 * mass, np.full(6, 4.0), 3)
