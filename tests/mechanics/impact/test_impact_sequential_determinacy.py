"""What a sequence of fast impacts leaves open: nothing where every set of contacts has one answer."""

import pytest

from klapper.mechanics.impact import ImpactProblem, Sequential


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_one_contact_leaves_nothing_open_with_and_without_friction(friction: float) -> None:
    ball = ImpactProblem(
        [2.0, 2.0], [1.0, -3.0], [[0.0], [1.0]], tangential=[[1.0], [0.0]], friction=friction
    )
    found = Sequential().resolve(ball).determinacy()
    assert (found.motion, found.forces) == ("unique", "unique")


def test_two_contacts_in_one_place_share_their_impulse_at_will() -> None:
    ball = ImpactProblem([2.0], [-3.0], [[1.0, 1.0]])
    found = Sequential().resolve(ball).determinacy()
    assert (found.motion, found.forces) == ("unique", "not unique")
