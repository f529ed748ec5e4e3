"""Branches whose contacts change again further on: only the neighbourhood of an event decides what happens there."""

import numpy as np
import pytest

from klapper.complementarity import LinearComplementarity, follow


def test_a_contact_opens_and_closes_again():
    """Gap s (1 − s): closed before 0 and after 1, with x = −s (1 − s)."""
    branch = follow(lambda s: LinearComplementarity([[1.0]], [s * (1.0 - s)]), -0.5, 2.0, steps=25)
    assert [event.kind for event in branch.events] == ["opens", "closes", "end"]
    assert [event.parameter for event in branch.events] == pytest.approx([0.0, 1.0, 2.0], abs=1e-9)
    assert set(branch.number) == {0}
    gap = branch.parameter * (1.0 - branch.parameter)
    assert branch.x[:, 0] == pytest.approx(np.maximum(-gap, 0.0), abs=1e-12)
