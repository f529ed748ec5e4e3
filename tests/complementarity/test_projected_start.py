"""The start of Newton's method for contact: accelerated projections, whose limit solves the contact problem."""

import numpy as np
import pytest

from klapper.complementarity import FrictionalContact
from klapper.complementarity.alart_curnier import AlartCurnier


@pytest.mark.parametrize(
    ("free", "force"),
    [
        ((-1.0, 0.2, 0.1), (1.0, -0.2, -0.1)),  # sticks: W λ + b = 0
        ((-1.0, 3.0, -4.0), (1.0, -0.3, 0.4)),  # slides against (3, −4): μ λ_N = 0.5
        ((1.0, 3.0, -4.0), (0.0, 0.0, 0.0)),  # open
    ],
)
def test_its_limit_is_the_force_of_a_single_contact(free, force):
    mapping = AlartCurnier(FrictionalContact(np.eye(3), free, 0.5))
    found = mapping.projected_gradient(np.zeros(3), 400) * mapping.force_unit
    assert found == pytest.approx(force, abs=1e-6)


def test_its_limit_solves_coupled_contacts():
    rng = np.random.default_rng(3)
    root = rng.standard_normal((9, 9))
    free = rng.standard_normal(9)
    free[::3] = -1.0
    problem = FrictionalContact(np.eye(9) + 0.05 * root @ root.T, free, 0.3)
    mapping = AlartCurnier(problem)
    found = mapping.projected_gradient(np.zeros(9), 2000) * mapping.force_unit
    assert problem.residuals(found).worst < 1e-6
    assert np.abs(found.reshape(3, 3)[:, 1:]).max() > 0.1
