"""Force sets with friction polygons: the corners of the polygon bound the forces that a motion leaves open."""

import numpy as np
import pytest

from klapper.complementarity import FrictionalContact, solve
from klapper.complementarity.selection import ForceSet


@pytest.mark.parametrize("sides", [4, 6, 8, 10])
def test_open_friction_reaches_the_corners_of_the_polygon(sides):
    """Two feet at one place under a unit weight: the friction of one is limited only by its polygon.

    Each carries between 0 and 1, so friction of one foot reaches the polygon of radius μ and is undone by the other
    only if that one carries as much: both carry 1/2, and the extremes are those of the polygon of radius μ/2.
    """
    friction = 0.4
    rows = np.vstack([np.eye(3), np.eye(3)])
    problem = FrictionalContact(
        rows @ rows.T, rows @ np.array([-1.0, 0.0, 0.0]), friction, dimension=3, polygon=sides
    )
    forces = ForceSet.of(solve(problem))
    angles = 2.0 * np.pi * np.arange(sides) / sides
    for row, extents in ((1, np.cos(angles)), (2, np.sin(angles))):
        assert forces.upper[row] == pytest.approx(0.5 * friction * extents.max(), rel=1e-8)
        assert forces.lower[row] == pytest.approx(0.5 * friction * extents.min(), rel=1e-8)
