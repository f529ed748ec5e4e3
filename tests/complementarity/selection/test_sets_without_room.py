"""Sets of forces that are thinner than a disc: a chord, whose nearest points are known by Pythagoras."""

import numpy as np
import pytest

from klapper.complementarity.selection.discs import Discs
from klapper.complementarity.selection.face import Face


def chord(at: float, radius: float) -> Face:
    """All forces (at, y) in the plane of a friction disc."""
    disc = Discs(np.eye(2)[None], np.zeros((1, 2)), np.zeros((1, 2)), np.array([radius]))
    rows = np.array([[1.0, 0.0], [-1.0, 0.0]])
    return Face(np.zeros(2), np.eye(2), rows, np.array([-at, at]), disc)


@pytest.mark.parametrize(
    ("target", "nearest"),
    [((9.0, 50.0), (3.0, 4.0)), ((-2.0, -50.0), (3.0, -4.0)), ((7.0, -1.5), (3.0, -1.5))],
)
def test_the_nearest_force_on_a_chord_is_its_end_or_straight_across(target, nearest) -> None:
    face = chord(3.0, 5.0)
    found = face.at(face.nearest(np.array(target), np.ones(2)))
    assert found == pytest.approx(nearest, abs=1e-9)


def test_the_ends_of_a_chord_bound_its_forces() -> None:
    lower, upper = chord(3.0, 5.0).ranges()
    assert lower == pytest.approx([3.0, -4.0], abs=1e-8)
    assert upper == pytest.approx([3.0, 4.0], abs=1e-8)
