"""Least squares on a set of forces: the answer does not depend on the unit in which the residual is measured."""

import numpy as np
import pytest

from klapper.complementarity.selection.face import Face


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_the_unit_of_the_residual_does_not_matter(unit):
    """Unknowns of very different weight: |A t + d| is least at t = (−2, −3), inside the box |t| ≤ 10."""
    box = np.vstack([np.eye(2), -np.eye(2)])
    face = Face(np.zeros(2), np.eye(2), box, np.full(4, 10.0))
    matrix = unit * np.array([[1.0, 0.0], [0.0, 2e-2], [1.0, 0.0]])
    found = face.least_squares(matrix, -matrix @ np.array([-2.0, -3.0]))
    assert found == pytest.approx([-2.0, -3.0], abs=1e-9)
