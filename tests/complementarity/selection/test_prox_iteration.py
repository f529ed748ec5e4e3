"""The prox iteration as a rule: which member it reaches, and what it does when it is stopped on the way."""

import pytest

from klapper.complementarity.selection import ForceSet, ProxIteration


def test_stopped_on_the_way_it_takes_the_member_it_was_heading_for():
    """Every sweep moves the two feet by r₁ : r₂ = 3 : 1 along the common residual; so does the nearest member."""
    pair = ForceSet.from_arrays([-2.0, 0.0], [[1.0, 1.0]], patches=[[0], [1]], limit=[3.0, 3.0])
    stopped = ProxIteration(factors=[3.0, 1.0], relaxation=0.5, max_iterations=1).select(pair)
    assert "nearest member" in stopped.note
    assert stopped.forces == pytest.approx([-1.5, -0.5], abs=1e-9)
