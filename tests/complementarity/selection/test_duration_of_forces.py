"""Forces of a step are its impulses over its duration, and move contacts by W times that."""

import numpy as np
import pytest

from klapper.complementarity import FrictionalContact, LinearComplementarity, solve
from klapper.complementarity.selection import ForceSet

DURATION = 0.02
MATRIX = np.array([[2.0, 0.5], [0.5, 1.0]])


@pytest.mark.parametrize(
    "problem",
    [
        LinearComplementarity(MATRIX, [-1.0, -0.4]),
        FrictionalContact(MATRIX, [-1.0, 0.1], 0.6, dimension=2),
    ],
    ids=["contacts without friction", "a contact with friction"],
)
def test_forces_times_duration_change_the_velocity_as_impulses_do(problem) -> None:
    solution = solve(problem)
    forces = ForceSet.of(solution, duration=DURATION)
    assert forces.forces * DURATION == pytest.approx(solution.x)
    for matrix in (forces.mobility, forces.directions):
        assert matrix @ forces.forces == pytest.approx(MATRIX @ solution.x)
