"""How bounds of forces are written: one below the other."""

import numpy as np
import pytest

from klapper.complementarity import LinearComplementarity, solve, uniqueness


@pytest.mark.parametrize("names", [("A", "the second support"), ("the first support", "B")])
def test_bounds_stand_in_one_column(names) -> None:
    text = str(uniqueness(solve(LinearComplementarity(np.ones((2, 2)), [-1.0, -1.0], names=names))))
    lines = [line for line in text.splitlines() if " between " in line]
    assert len(lines) == 2
    assert lines[0].index(" between ") == lines[1].index(" between ")
