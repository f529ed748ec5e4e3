"""Directions that change nothing, and their short form."""

import numpy as np
import pytest

from klapper.complementarity.selection.null_space import echelon, level_directions


def test_a_function_that_is_zero_restricts_nothing() -> None:
    """Of forces a, b, c the sum a + b and c are kept: a − b is free."""
    functions = np.array([[0.0, 0.0, 0.0], [3.0, 3.0, 0.0], [0.0, 0.0, 2.0]])
    (direction,) = level_directions(functions, np.array([0.0, 3.0, 2.0])).T
    assert abs(direction @ [1.0, -1.0, 0.0]) == pytest.approx(np.sqrt(2.0))
    assert level_directions(np.zeros((1, 2)), np.zeros(1)) == pytest.approx(np.eye(2))


def test_round_off_beside_the_largest_entry_is_zero() -> None:
    """Also where the first entry, by which a combination is divided, is small."""
    assert echelon(np.array([[1e-5], [1.0], [1e-17]])).ravel().tolist() == pytest.approx(
        [1e-5, 1.0, 0.0], abs=0.0, rel=1e-15
    )
