"""Which forces of a contact state count as open: an interval is compared with the largest force, not with the least."""

from types import SimpleNamespace

import numpy as np
import pytest

from klapper.complementarity.selection import ForceSet
from klapper.mechanics.force_audit import StateForces


def state(forces):
    return StateForces(np.array([1, 1, 1]), 5, 0.1, forces, ("A", "B", "C"), ("x", "y"))


def test_round_off_beside_an_open_force_is_no_interval():
    """A and B share 2 N, each between 0 and 2; the interval of C is the noise of the program that found it."""
    found = np.array([0.0, 0.0, 1.0]), np.array([2.0, 2.0, 1.0 + 1e-9])
    noisy = SimpleNamespace(dimension=2, face=SimpleNamespace(ranges=lambda accuracy: found))
    assert state(noisy).open_rows.tolist() == [0, 1]


def test_two_that_share_a_load_are_open_and_a_third_is_not():
    forces = ForceSet.from_arrays([1.0, 1.0, 3.0], [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], normal=[0, 1, 2])
    lower, upper = state(forces).bounds
    assert (lower, upper) == (pytest.approx([0.0, 0.0, 3.0]), pytest.approx([2.0, 2.0, 3.0]))
    assert state(forces).open_rows.tolist() == [0, 1]
