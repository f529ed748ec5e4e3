"""Whether a problem is convex, and its motion unique, does not depend on the units of single unknowns."""

import numpy as np
import pytest

from klapper.complementarity import LinearComplementarity, solve, uniqueness
from klapper.complementarity.unique import _is_monotone

UNITS = 10.0 ** np.linspace(-4.0, 4.0, 30)


def pressed(coupling: float, units: np.ndarray) -> np.ndarray:
    """Unit diagonal and equal coupling: eigenvalues 1 − coupling and 1 + (n − 1) coupling; then other units."""
    n = len(units)
    return units[:, None] * (coupling * np.ones((n, n)) + (1.0 - coupling) * np.eye(n)) * units


@pytest.mark.parametrize("units", [np.ones(30), UNITS, UNITS[::-1]], ids=["same", "rising", "falling"])
@pytest.mark.parametrize(("coupling", "convex"), [(0.99, True), (1.01, False), (-0.03, True), (-0.04, False)])
def test_coupled_contacts_are_convex_by_their_eigenvalues_in_any_units(units, coupling, convex) -> None:
    assert _is_monotone(pressed(coupling, units)) is convex


def test_many_contacts_without_friction_move_uniquely_in_any_units() -> None:
    problem = LinearComplementarity(pressed(0.5, UNITS), -UNITS * np.linspace(0.5, 1.5, 30))
    assert uniqueness(solve(problem)).motion == "unique"
