"""Contacts that no force moves, beside others: how wrong forces are does not depend on the unit of mass."""

import numpy as np
import pytest

from klapper.complementarity import FrictionalContact
from klapper.complementarity.exact_disc import exact_disc_problem


def residuals(mobile: float, force: np.ndarray):
    """Of a mass that moves by ``mobile`` per impulse and another one that is clamped, with given forces."""
    contact = FrictionalContact(
        np.diag([mobile] * 3 + [0.0] * 3), [-1.0, 0.8, 0.0, 0.5, 0.0, 0.0], friction=0.5
    )
    return exact_disc_problem(contact).residuals(np.concatenate([force, [0.2, 0.1]]))


@pytest.mark.parametrize("mass", [1e-4, 1e4])
def test_wrong_forces_at_a_clamped_contact_are_as_wrong_in_any_unit(mass: float) -> None:
    force = np.array([0.9, -0.4, 0.1, 0.3, 0.05, 0.0])
    found, expected = residuals(1.0 / mass, mass * force), residuals(1.0, force)
    for name in ("natural_map", "complementarity", "feasibility"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-12)
    assert expected.natural_map > 0.1


def test_clamped_contacts_alone_are_judged_in_units_of_one() -> None:
    force = np.array([0.0, 0.0, 0.0, 0.25, 0.0, 0.0])
    assert residuals(0.0, force).complementarity == pytest.approx(0.25 * 0.5, rel=1e-12)
