"""Which forces change the momentum and the angular momentum of two mass points in the plane."""

from dataclasses import dataclass

import numpy as np
import pytest

from klapper.mechanics.momenta import Pushes


@dataclass(frozen=True)
class _Start:
    position: np.ndarray


class TwoPoints:
    """2 kg and 3 kg with the coordinates x, y, x, y."""

    masses = np.array([2.0, 2.0, 3.0, 3.0])
    start = _Start(np.zeros(4))

    def mass(self, q):
        return np.diag(self.masses)

    def linear_momentum(self, v):
        return (self.masses * v).reshape(2, 2).sum(axis=0)

    def angular_momentum(self, q, v):
        place, momentum = q.reshape(2, 2), (self.masses * v).reshape(2, 2)
        return np.array([(place[:, 0] * momentum[:, 1] - place[:, 1] * momentum[:, 0]).sum()])


@pytest.mark.parametrize(
    ("force", "moves", "turns"),
    [
        ([3.0, 4.0, -3.0, -4.0], False, False),  # along the line between the points
        ([-4.0, 3.0, 4.0, -3.0], False, True),  # a couple
        ([1.0, 1.0, 1.0, 1.0], True, True),
        ([1.0, 2.0, 4.0, 6.0], True, False),  # through the origin
        ([0.0, 0.0, 0.0, 0.0], False, False),
    ],
)
def test_couples_turn_and_pairs_of_equal_forces_do_nothing(force, moves, turns) -> None:
    place = np.array([1.0, 2.0, 4.0, 6.0])
    assert Pushes(TwoPoints()).resultant(place, np.array(force)) == (moves, turns)
    # a last digit is no resultant
    disturbed = np.array(force) * (1.0 + 1e-15 * np.array([1.0, -1.0, 1.0, 1.0]))
    assert Pushes(TwoPoints()).resultant(place, disturbed) == (moves, turns)
