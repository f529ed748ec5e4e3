"""Contact states that round-off must not change."""

import numpy as np
import pytest

from klapper.complementarity import FrictionalContact
from klapper.contact_states import OPEN, SLIP, STICK


@pytest.mark.parametrize(
    ("push", "normal", "state"), [(0.3, 1.0, STICK), (0.9, 1.0, SLIP), (0.0, 0.0, OPEN)], ids=str
)
@pytest.mark.parametrize("round_off", [-1e-13, 0.0, 1e-13])
def test_states_are_those_of_coulombs_law_within_round_off(push, normal, state, round_off) -> None:
    """A unit mass with μ = 0.5, pressed by 1 and pushed aside; the forces of a solver have a last digit."""
    problem = FrictionalContact(np.eye(2), [-1.0 if normal else 1.0, push], 0.5, dimension=2)
    tangential = -min(push, 0.5 * normal)
    force = np.array([normal, tangential]) * (1.0 + round_off)
    assert problem.states(force).tolist() == [state]
