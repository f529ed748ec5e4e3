"""Lemke's kernel run by the interpreter, which refuses what compiled code does silently: leaving an array."""

import numpy as np
import pytest

from klapper.complementarity.kernels.lemke import SOLVED, lemke


@pytest.mark.parametrize("size", [1, 2, 5, 20])
def test_the_interpreter_takes_the_same_pivots_and_never_leaves_an_array(size: int) -> None:
    rng = np.random.default_rng(size)
    root = rng.standard_normal((size, size))
    matrix, offset = root @ root.T + 0.1 * np.eye(size), rng.standard_normal(size)
    offset[0] = -1.0
    ends = []
    for run in (lemke, lemke.py_func):
        active = np.zeros(size, dtype=bool)
        ends.append(
            (*run(matrix, offset, np.abs(offset), 1e-12, np.ones(size), 200, active), active.tolist())
        )
    assert ends[0] == ends[1]
    status, _, active = ends[1]
    assert status == SOLVED
    x = np.zeros(size)
    x[active] = np.linalg.solve(matrix[np.ix_(active, active)], -offset[active])
    assert min(x.min(), (matrix @ x + offset).min()) > -1e-9
