"""Batches: the same answers as one by one, failures marked and explained."""

import numpy as np
import pytest

from klapper.complementarity import InvalidProblem, LinearComplementarity, NoSolution, solve, solve_batch


def test_batch_equals_single_calls():
    rng = np.random.default_rng(0)
    roots = rng.standard_normal((50, 6, 6))
    matrices = roots @ roots.transpose(0, 2, 1)
    skew = rng.standard_normal((6, 6))
    matrices[::2] += skew - skew.T  # half of them not symmetric, all of them positive definite
    offsets = rng.standard_normal((50, 6))
    batch = solve_batch(matrices, offsets)
    assert batch.solved.all()
    assert batch.residual.max() <= 1e-9
    for matrix, offset, x in zip(matrices, offsets, batch.x, strict=True):
        assert x == pytest.approx(solve(LinearComplementarity(matrix, offset)).x, abs=1e-12)


def test_one_matrix_serves_many_loads():
    batch = solve_batch(np.eye(3), [[-1.0, 0.0, 2.0], [3.0, -4.0, 0.0]])
    assert batch.x.tolist() == [[1.0, 0.0, 0.0], [0.0, 4.0, 0.0]]


def test_unsolvable_members_are_nan_with_a_reason():
    batch = solve_batch(np.array([[[1.0]], [[0.0]], [[-1.0]]]), [[-1.0], [-1.0], [1.0]])
    assert batch.solved.tolist() == [True, False, True]
    assert np.isnan(batch.x[1]).all()
    assert isinstance(batch.failures[1], NoSolution)


@pytest.mark.parametrize(
    ("matrices", "offsets", "sentence"),
    [
        (np.eye(2), [1.0, 2.0], r"offsets has shape \(2,\), expected \(k, n\)"),
        (np.eye(3), [[1.0, 2.0]], r"matrices has shape \(1, 3, 3\)"),
        (np.eye(2), [[1.0, np.nan]], r"offsets\[0, 1\] is nan"),
    ],
)
def test_bad_stacks_are_refused(matrices, offsets, sentence):
    with pytest.raises(InvalidProblem, match=sentence):
        solve_batch(matrices, offsets)


def test_start_values_are_used():
    rng = np.random.default_rng(1)
    root = rng.standard_normal((30, 30))
    offsets = rng.standard_normal((4, 30))
    cold = solve_batch(root @ root.T, offsets)
    warm = solve_batch(root @ root.T, offsets, start=cold.x)
    assert warm.iterations.max() == 1 < cold.iterations.max()
    assert warm.x == pytest.approx(cold.x)
