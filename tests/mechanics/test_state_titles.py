"""How a contact state of a run is named."""

import numpy as np
import pytest

from klapper.complementarity.selection import ForceSet
from klapper.mechanics.force_audit import StateForces


@pytest.mark.parametrize(
    ("count", "words"),
    [(1, "1 stick"), (6, "1, 2, 3, 4, 5, 6 stick"), (8, "1, 2, 3, 4, 5, 6 and 2 more stick")],
)
def test_six_contacts_are_named_and_the_others_counted(count: int, words: str) -> None:
    forces = ForceSet.from_arrays(np.ones(count), np.eye(count), normal=np.arange(count))
    names = tuple(str(i + 1) for i in range(count))
    state = StateForces(np.ones(count, dtype=int), 3, 0.25, forces, names, names)
    assert state.title == f"{words} (at 0.25 s, 3 samples)"
