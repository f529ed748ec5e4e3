"""Bounds of forces that are far larger than the load: a wedge between two doubled walls that are nearly parallel."""

import numpy as np
import pytest

from klapper.complementarity import LinearComplementarity
from klapper.complementarity.enumeration import enumerate_solutions


@pytest.mark.parametrize("angle", [0.3, 1e-2, 1e-3, 1e-4])
def test_each_of_two_equal_walls_carries_all_or_exactly_nothing(angle: float) -> None:
    """Both walls of a side have one direction: their sum follows from statics, and each lies between zero and it."""
    sides = np.array([[1.0, -1.0], [angle, angle]])  # normals of the left and right side, in x and y
    load = np.array([0.1, -1.0])
    carried = np.linalg.solve(sides, -load)
    directions = sides[:, [0, 1, 0, 1, 0]] * [
        1.0,
        1.3,
        0.7,
        1.0,
        0.9,
    ]  # the walls differ in their unit of force
    problem = LinearComplementarity(directions.T @ directions, directions.T @ load)
    found = enumerate_solutions(problem)
    assert found.lower.tolist() == [0.0] * 5
    assert found.upper * [1.0, 1.3, 0.7, 1.0, 0.9] == pytest.approx(carried[[0, 1, 0, 1, 0]], rel=1e-6)
