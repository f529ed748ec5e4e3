"""Gaps given by functions have the right directions also far from the origin, where coordinates have fewer digits."""

import numpy as np
import pytest

from klapper.mechanics import Constraint, Contact, FunctionSystem

FAR = 1e6 * np.array([0.6, -0.8])


def outside(t: float, q: np.ndarray) -> float:
    """Distance [m] from a disc of 1 m about the origin that grows by 0.5 m/s."""
    return float(np.hypot(*q)) - 1.0 - 0.5 * t


def test_the_direction_of_a_distance_is_the_unit_vector() -> None:
    system = FunctionSystem(
        [0.6, -0.8],
        [0.0, 0.0],
        mass=np.eye(2),
        force=lambda t, q, v: np.zeros(2),
        contacts=[Contact("disc", gap=outside)],
        constraints=[Constraint("orbit", offset=outside)],
    )
    found = system.directions(0.0, FAR, np.array([0]))
    assert found.normal.ravel() == pytest.approx([0.6, -0.8], abs=1e-8)
    direction, rate = system.constraint_directions(0.0, FAR)
    assert direction.ravel() == pytest.approx([0.6, -0.8], abs=1e-8)
    assert [found.normal_rate[0], rate[0]] == pytest.approx([-0.5, -0.5], abs=1e-4)
