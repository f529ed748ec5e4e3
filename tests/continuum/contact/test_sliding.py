"""A node that slides onto the next segment: its gap closes without work, and the force stays finite."""

import numpy as np
import pytest

from klapper.continuum.contact.gap_elements import GapElements
from klapper.continuum.contact.node_functions import NodeDistance


@pytest.mark.parametrize("turned", [0.0, 0.7, 2.0])
def test_a_gap_that_closes_while_sliding_is_pushed_about_normally(turned: float) -> None:
    """Hesch (3.63): ∇̄g · Δq = g(q₁). The segment keeps its length; what leans is the force, by gap over slide."""
    turn = np.array([[np.cos(turned), -np.sin(turned)], [np.sin(turned), np.cos(turned)]])
    before = np.array([[0.2, -0.06], [0.0, 0.0], [1.0, 0.0]])  # outside of a segment is below it
    after = np.array([[0.7, 0.0], [0.0, 0.0], [1.0, 0.0]])
    q0, q1 = (before @ turn.T).ravel(), (after @ turn.T).ravel()
    gap = GapElements(NodeDistance(), np.arange(6)[None], np.zeros((1, 1), int), np.ones((1, 1)), 6, 1, 1.0)
    assert gap.value(q0)[0] == pytest.approx(0.06, abs=1e-15)
    push = gap.push(q0, q1, np.zeros(1)).toarray().ravel()
    normal = gap.slope(0.5 * (q0 + q1)).toarray().ravel()
    assert push @ (q1 - q0) == pytest.approx(0.0, abs=1e-15)
    assert np.linalg.norm(push - normal) < 2.0 * 0.06 / 0.5 * np.linalg.norm(normal)
