"""The interior-point method on contacts that are redundant, inconsistent or large."""

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse.linalg import aslinearoperator

from klapper.complementarity import FrictionalContact, InteriorPoint, LinearComplementarity, solve


def supported(rng: np.random.Generator, contacts: int, freedoms: int, dimension: int) -> FrictionalContact:
    """A body with more contacts than freedoms; v = 0 is possible with forces inside all cones, so it has a solution."""
    directions = rng.standard_normal((contacts * dimension, freedoms))
    friction = rng.uniform(0.1, 1.0, contacts)
    inside = np.zeros((contacts, dimension))
    inside[:, 0] = rng.uniform(0.5, 2.0, contacts)
    inside[:, 1:] = rng.uniform(-0.5, 0.5, (contacts, dimension - 1)) * (friction * inside[:, 0])[:, None]
    delassus = directions @ directions.T
    free = -delassus @ inside.ravel() + directions @ (
        rng.choice([0.0, 0.1, 1.0]) * rng.standard_normal(freedoms)
    )
    return FrictionalContact(delassus, free, friction, dimension=dimension)


@pytest.mark.parametrize("seed", range(60))
def test_redundant_contacts_are_solved_in_few_steps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    contacts, dimension = int(rng.integers(1, 13)), int(rng.integers(2, 4))
    problem = supported(rng, contacts, int(rng.integers(1, contacts * dimension + 1)), dimension)
    solution = solve(problem, "interior-point")
    assert solution.residuals.worst < 1e-9
    assert solution.attempts[-1].iterations < 130


def corners(mismatch: float) -> FrictionalContact:
    """A plate on four corners whose free velocities no motion of the plate has: one corner must open by itself."""
    places = np.array([[0.15, 0.1], [0.15, -0.1], [-0.15, 0.1], [-0.15, -0.1]])
    rows = []
    for x, y in places:
        arm = np.array([x, y, -0.05])
        for direction in np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]):
            rows.append(np.concatenate([direction, np.cross(arm, direction)]))
    directions = np.array(rows)
    delassus = directions @ np.diag([1, 1, 1, 500.0, 333.0, 250.0]) @ directions.T
    free = directions @ np.array([-0.08, 0.1, -0.3, 0.01, 2.0, 0.01])
    free[0] -= mismatch
    return FrictionalContact(delassus, free, 0.3)


@pytest.mark.parametrize("mismatch", [1e-3, 1e-6, 1e-8])
def test_a_corner_opens_where_velocities_of_redundant_contacts_disagree(mismatch: float) -> None:
    problem = corners(mismatch)
    solution = solve(problem)
    normal = problem.image(solution.x)[problem.normal]
    assert solution.residuals.worst < 1e-9
    assert normal[0] + normal[3] - normal[1] - normal[2] == pytest.approx(-mismatch, abs=1e-12)


def test_limits_friction_matrices_constraints_and_frictionless_contacts_are_parts_of_one_problem() -> None:
    rng = np.random.default_rng(3)
    directions = rng.standard_normal((9, 9))
    problem = FrictionalContact.from_parts(
        directions @ directions.T + np.eye(9),
        rng.standard_normal(9) - 1.0,
        normal=[0, 1, 2],
        tangential=[[3, 4], [5, 6]],
        friction=[[0.2, 0.3, 0.0], [0.0, 0.0, 0.0]],
        limit=[0.0, 0.4],
        bilateral=[7, 8],
    )
    found, other = solve(problem, "interior-point"), solve(problem, "newton")
    np.testing.assert_allclose(found.x, other.x, atol=1e-7)
    smooth = FrictionalContact.from_parts(
        np.eye(3), [-1.0, 0.5, 0.2], normal=[0], tangential=[[1, 2]], friction=0.0
    )
    np.testing.assert_allclose(solve(smooth, "interior-point").x, [1.0, 0.0, 0.0], atol=1e-9)


def test_large_sparse_data_stay_sparse() -> None:
    """300 plates side by side, 3600 rows: a dense matrix of this size would take a hundred times longer."""
    small, count = corners(0.0), 300
    delassus = sparse.csr_array(sparse.block_diag([small.delassus] * count, format="csr"))
    problem = FrictionalContact(delassus, np.tile(small.free_velocity, count), 0.3)
    solution = solve(problem, "interior-point")
    assert solution.residuals.worst < 1e-9
    alike = problem.image(solution.x).reshape(count, -1)
    np.testing.assert_allclose(alike, alike[:1].repeat(count, axis=0), atol=1e-9)


def test_a_skew_part_and_no_load_are_no_obstacle() -> None:
    skew = np.eye(3) + np.array([[0.0, 0.3, 0.0], [-0.3, 0.0, 0.1], [0.0, -0.1, 0.0]])
    assert solve(FrictionalContact(skew, [-1.0, 0.5, 0.2], 0.5), "interior-point").residuals.worst < 1e-9
    assert np.abs(solve(FrictionalContact(skew, np.zeros(3), 0.5), "interior-point").x).max() < 1e-8


def test_what_it_cannot_treat_it_refuses_with_the_reason() -> None:
    method = InteriorPoint()
    assert "contact problems" in method.obstacle(LinearComplementarity([[1.0]], [1.0]))
    assert "prox" in method.obstacle(FrictionalContact(aslinearoperator(np.eye(3)), [-1.0, 0.0, 0.0], 0.5))
    assert "lemke" in method.obstacle(FrictionalContact(np.eye(3), [-1.0, 0.0, 0.0], 0.5, polygon=8))
