"""Triangular factors of dense and sparse matrices, against numpy."""

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.algebra import Singular, factors


@pytest.mark.parametrize("size", [30, 300])
def test_factors_solve_with_both_sides_and_know_the_determinant(size):
    rng = np.random.default_rng(size)
    for _ in range(4):
        noise = sparse.random_array((size, size), density=0.02, rng=rng)
        matrix = sparse.csc_array(noise + sparse.diags_array(rng.standard_normal(size)))
        sign, log = np.linalg.slogdet(matrix.toarray())
        found = factors(matrix)
        right = rng.standard_normal(size)
        assert matrix @ found.solve(right) == pytest.approx(right, abs=1e-8)
        assert matrix.T @ found.transposed(right) == pytest.approx(right, abs=1e-8)
        assert found.sign == sign
        assert found.log == pytest.approx(log, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("size", [2, 200])
def test_singular_matrices_have_no_factors(size):
    matrix = np.eye(size)
    matrix[-1, -1] = 0.0
    for given in (matrix, sparse.csc_array(matrix)):
        with pytest.raises(Singular):
            factors(given)
