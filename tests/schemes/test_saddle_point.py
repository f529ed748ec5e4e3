"""Linear systems with multipliers: three ways, one answer."""

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.schemes.saddle_point import saddle_point
from klapper.schemes.sparse_factor import SingularMatrix, factorised

HOW = ["saddle", "null-space", "condensed"]


def system(n: int, p: int, seed: int, symmetric: bool):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((n, n)) + n * np.eye(n)
    b = rng.standard_normal((n, p))
    return (a + a.T, b, b) if symmetric else (a, b, rng.standard_normal((n, p)))


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(("n", "p"), [(6, 2), (30, 7), (300, 20)])
def test_all_ways_solve_the_whole(how: str, symmetric: bool, n: int, p: int) -> None:
    a, b, c = system(n, p, n + p, symmetric)
    right = np.random.default_rng(1).standard_normal(n + p)
    found = saddle_point(sparse.csr_array(a), b, c, np.ones(p, dtype=bool), how)(right)
    whole = np.block([[a, b], [c.T, np.zeros((p, p))]])
    np.testing.assert_allclose(found, np.linalg.solve(whole, right), atol=1e-10)


@pytest.mark.parametrize("how", HOW)
def test_constraints_that_are_let_go_have_an_equation_of_their_own(how: str) -> None:
    a, b, c = system(10, 3, 5, False)
    b[:, 1] = c[:, 1] = 0.0
    right = np.random.default_rng(2).standard_normal(13)
    found = saddle_point(a, b, c, np.array([True, False, True]), how)(right)
    assert found[11] == right[11]
    kept = [0, 2]
    whole = np.block([[a, b[:, kept]], [c[:, kept].T, np.zeros((2, 2))]])
    np.testing.assert_allclose(
        found[[*range(10), 10, 12]], np.linalg.solve(whole, right[[*range(10), 10, 12]])
    )


@pytest.mark.parametrize("size", [5, 400])
def test_a_singular_matrix_is_told(size: int) -> None:
    matrix = sparse.diags_array(np.append(np.ones(size - 1), 0.0)).tocsr()
    with pytest.raises(SingularMatrix):
        factorised(matrix)


def test_large_and_small_matrices_have_the_same_answer() -> None:
    rng = np.random.default_rng(3)
    for n in (20, 500):
        matrix = sparse.random_array((n, n), density=0.05, rng=rng) + n * sparse.eye_array(n)
        right = rng.standard_normal(n)
        np.testing.assert_allclose(matrix @ factorised(matrix.tocsr())(right), right, atol=1e-12)


def test_directions_that_repeat_each_other_leave_the_motion_unique() -> None:
    a, b, _ = system(30, 4, 7, True)
    twice = np.hstack([b, b[:, :1]])
    right = np.random.default_rng(3).standard_normal(34)
    single = saddle_point(a, b, b, np.ones(4, dtype=bool))(right)
    found = saddle_point(a, twice, twice, np.ones(5, dtype=bool))(np.append(right, right[30]))
    np.testing.assert_allclose(found[:30], single[:30], atol=1e-7)
    assert found[30] + found[34] == pytest.approx(single[30], rel=1e-6)


def test_many_right_hand_sides_are_solved_at_once() -> None:
    random = np.random.default_rng(8)
    matrix = np.eye(6) * 1e9 + random.standard_normal((6, 6))
    push = random.standard_normal((6, 2))
    columns = sparse.csr_array(push)
    solve = saddle_point(sparse.csr_array(matrix), columns, columns, np.ones(2, dtype=bool))
    right = random.standard_normal((8, 3))
    whole = np.block([[matrix, push], [push.T, np.zeros((2, 2))]])
    np.testing.assert_allclose(solve(right), np.linalg.solve(whole, right), rtol=1e-8)
    np.testing.assert_allclose(solve(right[:, 0]), solve(right)[:, 0], rtol=1e-12)
