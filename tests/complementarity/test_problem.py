"""Problems: what they refuse, and residuals that mean the same in any units."""

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings, strategies as st
from scipy.sparse.linalg import aslinearoperator

from klapper.complementarity import (
    FrictionalContact,
    InvalidProblem,
    LinearComplementarity,
    MixedComplementarity,
    NonlinearComplementarity,
)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: LinearComplementarity(np.eye(2), [1.0]), r"offset has shape \(1,\), expected shape \(2,\)"),
        (
            lambda: LinearComplementarity(np.ones((2, 3)), [1.0, 1.0]),
            r"matrix has shape \(2, 3\), expected a square",
        ),
        (lambda: LinearComplementarity([[1.0, np.nan], [0.0, 1.0]], [1.0, 1.0]), r"matrix\[0, 1\] is nan"),
        (lambda: LinearComplementarity(np.eye(2), [1.0, np.inf]), r"offset\[1\] is inf"),
        (
            lambda: LinearComplementarity(sparse.diags_array([1.0, np.nan]), [1.0, 1.0]),
            r"matrix\[1, 1\] is nan",
        ),
        (
            lambda: LinearComplementarity(np.eye(2), [1.0, 1.0], names=["A"]),
            "names has 1 entries, expected 2",
        ),
        (lambda: MixedComplementarity(np.eye(2), [1.0, 1.0], free=3), "only 2 unknowns"),
        (lambda: MixedComplementarity(np.eye(2), [1.0, 1.0], free=[True]), r"free has shape \(1,\)"),
        (lambda: FrictionalContact(np.eye(3), np.ones(3), -0.1), "the least entry of friction is"),
        (lambda: FrictionalContact(np.eye(3), np.ones(4)), "multiple of dimension = 3"),
        (lambda: FrictionalContact(np.eye(4), np.ones(3)), r"delassus has shape \(4, 4\)"),
        (lambda: FrictionalContact(np.eye(3), np.ones(3), 0.1, polygon=5), "even numbers from 4"),
        (lambda: FrictionalContact(np.eye(3), np.ones(3), 0.1, dimension=4), "allowed are 1, 2 and 3"),
        (lambda: FrictionalContact(np.eye(3), np.ones(3), 0.1, dimension=1), "no tangential rows"),
        (
            lambda: FrictionalContact.from_parts(np.eye(2), np.ones(2), normal=[0], tangential=[0]),
            "each of the 2 rows of free_velocity exactly once",
        ),
        (
            lambda: FrictionalContact.from_parts(
                np.eye(3), np.ones(3), normal=[0], tangential=[1, 2], friction=0.2
            ),
            "give the matrix",
        ),
        (lambda: NonlinearComplementarity(abs, abs, 1, scale=-1.0), "the least entry of scale is -1.0"),
    ],
)
def test_a_badly_posed_problem_is_refused_with_the_name_of_the_argument(build, sentence):
    with pytest.raises(InvalidProblem, match=sentence):
        build()


def test_a_solution_has_no_residual_and_a_wrong_point_has_one():
    problem = LinearComplementarity([[2.0, 1.0], [1.0, 2.0]], [-1.0, 1.0])
    assert problem.residuals(np.array([0.5, 0.0])).worst == 0.0
    for wrong in ([0.6, 0.0], [0.5, 0.1], [0.0, 0.0], [-0.5, 0.0]):
        assert problem.residuals(np.array(wrong)).worst > 0.05
    assert np.isnan(problem.residuals(np.array([np.nan, 0.0])).worst)


@settings(max_examples=100)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_residuals_of_linear_problems_do_not_depend_on_units(seed, n):
    rng = np.random.default_rng(seed)
    matrix, offset = rng.standard_normal((n, n)), rng.standard_normal(n)
    x = np.abs(rng.standard_normal(n)) * rng.integers(0, 2, n)
    rows, columns = 2.0 ** rng.integers(-30, 30, n), 2.0 ** rng.integers(-30, 30, n)
    original = LinearComplementarity(matrix, offset).residuals(x)
    scaled = LinearComplementarity(rows[:, None] * matrix * columns, rows * offset).residuals(x / columns)
    assert scaled.worst == pytest.approx(original.worst, rel=1e-9)


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.sampled_from([None, 4, 8]))
def test_residuals_of_contact_problems_do_not_depend_on_units(seed, contacts, polygon):
    rng = np.random.default_rng(seed)
    directions = rng.standard_normal((3 * contacts, 4))
    delassus, free = directions @ directions.T, rng.standard_normal(3 * contacts)
    force = rng.standard_normal(3 * contacts)
    metre, newton = 2.0 ** rng.integers(-30, 30, 2)
    one = FrictionalContact(delassus, free, 0.4, polygon=polygon).residuals(force)
    other = FrictionalContact(delassus * metre / newton, free * metre, 0.4, polygon=polygon).residuals(
        force * newton
    )
    assert other.worst == pytest.approx(one.worst, rel=1e-9)


def test_the_natural_residual_is_the_change_of_data_that_makes_the_point_exact():
    """A residual of 1e-6 means: a change of the data by one part in 10⁶ makes the point exact."""
    problem = LinearComplementarity([[4.0, 1.0], [1.0, 3.0]], [-1.0, -2.0])
    exact = np.linalg.solve(problem.matrix, -problem.offset)
    shifted = exact * (1 + 1e-6)
    residual = problem.residuals(shifted).natural_map
    assert 1e-7 < residual < 1e-6
    nearby = LinearComplementarity(problem.matrix, -problem.matrix @ shifted)
    change = np.abs(nearby.offset - problem.offset) / (np.abs(problem.offset) + problem.matrix @ shifted)
    assert change.max() == pytest.approx(residual, rel=1e-6)


def test_solutions_at_infinity_are_not_solutions():
    """Walls that approach each other: enormous forces make the violation small compared with the terms, but not
    with the load."""
    walls = LinearComplementarity([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0])
    contact = FrictionalContact(walls.matrix, walls.offset, dimension=1)
    for size in (1e6, 1e10, 1e16):
        assert walls.residuals(np.full(2, size)).worst > 1e-5
        assert contact.residuals(np.full(2, size)).worst > 1e-5


def test_dense_sparse_and_operator_contact_problems_agree():
    rng = np.random.default_rng(3)
    directions = rng.standard_normal((9, 6))
    delassus, free, force = directions @ directions.T, rng.standard_normal(9), rng.standard_normal(9)
    dense = FrictionalContact(delassus, free, 0.3)
    compressed = FrictionalContact(sparse.csr_array(delassus), free, 0.3)
    operator = FrictionalContact(aslinearoperator(delassus), free, 0.3)
    assert compressed.residuals(force).as_dict() == pytest.approx(dense.residuals(force).as_dict())
    assert operator.image(force) == pytest.approx(dense.image(force))


@pytest.mark.parametrize(
    ("force", "broken"),
    [
        ([1.0, -0.5, 0.0], "natural_map"),  # sliding, but force not opposite to it
        ([1.0, -0.6, 0.8], "cone_violation"),
        ([0.9, -0.27, 0.36], "feasibility"),  # penetrates
        ([-1.0, 0.0, 0.0], "feasibility"),
        ([1.0, 0.0, 0.0], "dissipation_gap"),  # slides without friction
    ],
)
def test_each_violation_of_the_contact_law_is_seen(force, broken):
    contact = FrictionalContact(np.diag([1.0, 2.0, 2.0]), [-1.0, 3.0, -4.0], 0.5)
    assert contact.residuals(np.array([1.0, -0.3, 0.4])).worst < 1e-15
    assert getattr(contact.residuals(np.array(force)), broken) > 1e-2


def test_friction_limit_has_a_given_part_and_a_matrix_part():
    contact = FrictionalContact.from_parts(
        np.eye(4),
        np.ones(4),
        normal=[0, 1],
        tangential=[2, 3],
        friction=[[0.1, 0.2], [0.0, 0.5]],
        limit=[1.0, 0.0],
    )
    assert contact.friction_limits(np.array([10.0, 20.0, 0.0, 0.0])).tolist() == [6.0, 10.0]


def test_contact_states_are_named():
    contact = FrictionalContact(np.eye(6), [-1.0, 0.1, 0.0, 1.0, 0.0, 0.0], 0.5)
    assert contact.states(np.array([1.0, -0.1, 0.0, 0.0, 0.0, 0.0])).tolist() == [1, 0]
    sliding = FrictionalContact(np.eye(3), [-1.0, 3.0, -4.0], 0.5)
    assert sliding.states(np.array([1.0, -0.3, 0.4])).tolist() == [2]
