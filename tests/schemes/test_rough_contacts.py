"""Which contacts can have friction: those with a coefficient or a limit of their own, and all whose laws may change."""

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.mechanics.contact_table import ContactLaws
from klapper.schemes.contact_switches import rough_contacts


def laws(friction, limit):
    k = len(limit)
    return ContactLaws(np.ones(k, dtype=bool), np.zeros(k), friction, np.array(limit), np.ones(k))


@pytest.mark.parametrize("form", [np.asarray, np.diag, lambda mu: sparse.csr_array(np.diag(mu))])
def test_a_smooth_contact_beside_rough_ones_has_none(form):
    given = laws(form(np.array([0.0, 0.3, 0.0, 0.2])), [0.0, 0.0, 5.0, 1.0])
    assert rough_contacts(given, True).tolist() == [False, True, True, True]


def test_friction_under_the_pressure_of_another_contact_counts():
    """The second patch takes its limit from the first contact's normal force."""
    given = laws(np.array([[0.0, 0.0], [0.4, 0.0]]), [0.0, 0.0])
    assert rough_contacts(given, True).tolist() == [False, True]


def test_where_laws_change_with_the_speed_any_contact_may():
    assert rough_contacts(laws(np.zeros(2), [0.0, 0.0]), False).all()
