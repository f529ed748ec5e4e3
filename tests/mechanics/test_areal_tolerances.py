"""Averaged contact of any size: what counts as aligned is measured by the area, and advice is given where it helps."""

import pytest

from klapper.mechanics.areal import AveragedContact
from klapper.mechanics.contact_area import ContactArea
from klapper.mechanics.errors import InvalidModel


@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
def test_panels_may_miss_the_ends_by_round_off_of_the_length_only(length):
    nearly = length * (1.0 + 1e-11)
    assert ContactArea.line(length, panels=[0.0, 0.5 * length, nearly]).weights.sum() == pytest.approx(length)
    with pytest.raises(InvalidModel, match="panels reach from"):
        ContactArea.line(length, panels=[0.0, 0.5 * length, length * (1.0 - 1e-5)])


def test_a_finer_rule_is_advised_only_where_there_are_fewer_points_than_functions():
    """Three points can tell three functions apart: if those depend on each other, no rule helps."""
    area = ContactArea.line(1.0, order=3)
    assert len(area.points) == 3
    dependent = [lambda x: 1.0 + 0.0 * x, lambda x: x, lambda x: 1.0 + 2.0 * x]
    with pytest.raises(InvalidModel, match="is a combination of the weight functions before it") as refused:
        AveragedContact(area, dependent)
    assert "refine" not in str(refused.value)
    with pytest.raises(InvalidModel, match="only 3 points, refine it"):
        AveragedContact(area, [lambda x, k=k: x**k for k in range(4)])
