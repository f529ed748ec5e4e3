"""The prox iteration: Seiwald's block and its factors, the start, operators, and honest failures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse.linalg import aslinearoperator

from klapper.complementarity import (
    FrictionalContact,
    InvalidProblem,
    IterationLimit,
    LinearComplementarity,
    MixedComplementarity,
    NotApplicable,
)
from klapper.complementarity.gauss_seidel import GaussSeidel
from klapper.complementarity.lemke import Lemke
from klapper.complementarity.prox import Prox, global_factor, local_factors
from klapper.complementarity.solution import Attempt, Solution

# Seiwald Table 5.1 and 5.2
WIDTH, HEIGHT, MASS, INERTIA, GRAVITY, STEP, FRICTION = 0.2, 0.1, 16.0, 1.0 / 15.0, 9.81, 1e-4, 0.1
FORMS = ["joint", "nested"]


def solved(problem: Any, tolerance: float = 1e-10, start: Any = None, **options: Any) -> np.ndarray:
    """The verified answer of the prox iteration."""
    answer = Prox(**options).attempt(problem, start, tolerance)
    Solution(problem, answer.x, (Attempt("prox", "solved"),)).verify(tolerance)
    return answer.x


def block_directions(width: float) -> np.ndarray:
    """Directions (3, 4) of (TA, NA, TB, NB) at q3 = 0, Seiwald (4.3)."""
    a, b = width / 2, HEIGHT / 2
    return np.array([[1.0, 0, 1, 0], [0, 1, 0, 1], [b, -a, b, a]])


def block_delassus() -> np.ndarray:
    directions = block_directions(WIDTH)
    return directions.T @ np.diag([1 / MASS, 1 / MASS, 1 / INERTIA]) @ directions


def resting_block(force: float, speed: float = 0.0) -> FrictionalContact:
    """One Moreau step of the block under a horizontal force [N] at its upper right corner."""
    directions = block_directions(WIDTH)
    load = np.array([force, -MASS * GRAVITY, -HEIGHT / 2 * force])
    velocity = np.array([speed, 0, 0]) + load / [MASS, MASS, INERTIA] * STEP
    return FrictionalContact.from_parts(
        block_delassus(), directions.T @ velocity, normal=[1, 3], tangential=[0, 2], friction=FRICTION
    )


def well_posed(seed: int, contacts: int, dimension: int = 3) -> FrictionalContact:
    rng = np.random.default_rng(seed)
    size = contacts * dimension
    factor = rng.standard_normal((size, size)) / np.sqrt(size)
    return FrictionalContact(
        factor @ factor.T + 0.5 * np.eye(size), rng.standard_normal(size), 0.2, dimension=dimension
    )


def test_the_block_has_the_printed_delassus_matrix_and_factor() -> None:
    """Seiwald (C.7)-(C.11): one body with a singular matrix, r = 4.9006."""
    delassus = block_delassus()
    printed = [[0.1, -0.075, 0.1, 0.075], [-0.075, 0.2125, -0.075, -0.0875]]
    assert np.allclose(delassus[:2], printed, atol=1e-12)
    assert np.allclose(np.linalg.eigvalsh(delassus), [0.0, 0.0918861, 0.125, 0.4081139], atol=1e-7)
    assert global_factor(delassus) == pytest.approx(4.9006, abs=5e-5)


def test_the_block_of_two_bodies_has_the_printed_factor() -> None:
    """Seiwald (C.3), (C.4): halves of mass m/2 with θ1 = 0.0133333, r = 3.2."""
    arm = np.array([HEIGHT / 2, -WIDTH / 4])
    half = np.eye(2) / (MASS / 2) + np.outer(arm, arm) * 75.0
    assert np.allclose(np.linalg.eigvalsh(half), [0.125, 0.5])
    delassus = sparse.block_diag([half, half * np.outer([1, -1], [1, -1])], format="csr")
    assert global_factor(delassus) == pytest.approx(3.2, rel=1e-12)


def test_global_factor_of_an_operator_is_estimated_on_the_safe_side() -> None:
    matrix = well_posed(0, 60).delassus
    largest = np.linalg.eigvalsh(matrix)[-1]
    assert 1.8 / largest < global_factor(aslinearoperator(matrix)) < 2.0 / largest


def test_local_factors_follow_the_diagonal_and_keep_one_value_per_patch() -> None:
    factors = local_factors(np.diag([1.0, 4.0, 8.0]), np.array([[1, 2]]))
    assert factors[1] == factors[2]
    assert factors[0] == pytest.approx(8.0 * factors[1])


@pytest.mark.parametrize("options", [{"factors": "global", "memory": 0}, {"factors": "local"}])
@pytest.mark.parametrize(
    ("start", "forces"),
    [
        ((0.0, 0.0, 0.0, 0.0), (-1.0, 77.48, -1.0, 79.48)),
        ((-0.05, 0.0, 0.05, 0.0), (-7.748, 77.48, 5.748, 79.48)),
    ],
)
def test_start_selects_the_friction_of_the_resting_block(options: Any, start: Any, forces: Any) -> None:
    """Seiwald (5.5)-(5.7): impulses in N s divided by the step give the printed forces in N."""
    impulse = solved(resting_block(2.0), 1e-9, np.array(start), form="nested", **options)
    assert np.allclose(impulse / STEP, forces, atol=1e-2)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("start", [None, np.array([-0.05, 0.0, 0.05, 0.0])])
def test_start_does_not_matter_for_the_sliding_block(form: Any, start: Any) -> None:
    """Seiwald (5.8), and the closed form of both sliding contacts."""
    forces = solved(resting_block(2.0, speed=0.2), 1e-10, start, form=form) / STEP
    assert np.allclose(forces, [-7.4056, 74.056, -8.2904, 82.904], atol=1e-3)
    assert np.allclose(forces[[0, 2]], -FRICTION * forces[[1, 3]], rtol=1e-8)
    assert forces[1] + forces[3] == pytest.approx(MASS * GRAVITY, rel=1e-8)


@pytest.mark.parametrize(
    ("start", "weights", "forces"),
    [
        ((0.0, 0.0), (1.0, 1.0), (-1.0, -1.0)),
        ((0.0, 0.0), (1.0, 0.5), (-4 / 3, -2 / 3)),
        ((-3.0, 2.0), (1.0, 1.0), (-3.5, 1.5)),
    ],
)
def test_plain_iteration_selects_the_nearest_forces_in_the_metric_of_r(
    start: Any, weights: Any, forces: Any
) -> None:
    """Without clipping the tangential forces minimise Σ (T − T0)² / r at the required sum."""
    from klapper.complementarity.kernels.contact_prox import TANGENTIAL, compiled_fixed_point
    from klapper.complementarity.prox import contact_laws

    problem = resting_block(2.0)
    impulse = np.array([start[0], 77.48, start[1], 79.48]) * STEP
    factor = 4.9 * np.array([weights[0], 1.0, weights[1], 1.0])
    compiled_fixed_point(
        problem.delassus,
        problem.free_velocity,
        contact_laws(problem),
        TANGENTIAL,
        impulse,
        factor,
        1.0 / factor,
        0.5,
        0,
        1e-13,
        10_000,
        5,
    )
    assert np.allclose(impulse[[0, 2]] / STEP, forces, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("factors", ["local", "global"])
@pytest.mark.parametrize("memory", [0, 5])
def test_answer_does_not_depend_on_r_nor_on_acceleration(form: Any, factors: Any, memory: int) -> None:
    """Waltersberger (A.97): any β > 0 describes the same law."""
    problem = well_posed(1, 12)
    exact = GaussSeidel().attempt(problem, None, 1e-12).x
    assert np.allclose(solved(problem, 1e-11, form=form, factors=factors, memory=memory), exact, atol=1e-8)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, aslinearoperator])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_dense_sparse_and_operator_problems_have_the_same_forces(
    storage: Any, form: Any, dimension: int
) -> None:
    reference = well_posed(2, 8) if dimension == 3 else well_posed(2, 8, 2)
    if dimension == 1:
        reference = FrictionalContact(reference.delassus, reference.free_velocity, 0.0, dimension=1)
    friction = 0.0 if dimension == 1 else 0.2
    problem = FrictionalContact(
        storage(reference.delassus), reference.free_velocity, friction, dimension=dimension
    )
    expected = GaussSeidel().attempt(reference, None, 1e-12).x
    assert np.allclose(solved(problem, 1e-11, form=form), expected, atol=1e-8)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("form", FORMS)
def test_linear_problem_agrees_with_lemke(storage: Any, form: Any) -> None:
    rng = np.random.default_rng(3)
    factor = rng.standard_normal((30, 30))
    matrix = factor @ factor.T / 30 + 0.05 * np.eye(30)
    offset = rng.standard_normal(30)
    exact = Lemke().attempt(LinearComplementarity(matrix, offset), None, 1e-12).x
    assert np.allclose(
        solved(LinearComplementarity(storage(matrix), offset), 1e-11, form=form), exact, atol=1e-8
    )


@pytest.mark.parametrize("form", FORMS)
def test_polygon_shared_limit_and_constraint_agree_with_lemke(form: Any) -> None:
    rng = np.random.default_rng(4)
    factor = rng.standard_normal((7, 9))
    problem = FrictionalContact.from_parts(
        factor @ factor.T / 9 + 0.3 * np.eye(7),
        rng.standard_normal(7) - 0.5,
        normal=[4, 1],
        tangential=[[0, 6], [5, 2]],
        friction=[[0.2, 0.1], [0.0, 0.0]],
        limit=[0.0, 0.3],
        bilateral=[3],
        polygon=6,
    )
    exact = Lemke().attempt(problem, None, 1e-12).x
    assert np.allclose(solved(problem, 1e-11, form=form), exact, atol=1e-8)
    assert np.allclose(GaussSeidel().attempt(problem, None, 1e-11).x, exact, atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_a_block_on_an_incline_sticks_below_the_friction_angle_and_slides_above(form: Any) -> None:
    weight = 2.0 * 9.81 * 0.01
    for slope, sticks in ((0.3, True), (0.5, False)):
        free = [-9.81 * 0.01 * np.cos(slope), 9.81 * 0.01 * np.sin(slope), 0.0]
        force = solved(FrictionalContact(np.eye(3) / 2.0, free, np.tan(0.4)), 1e-12, form=form)
        holding = weight * np.sin(slope) if sticks else np.tan(0.4) * weight * np.cos(slope)
        assert np.allclose(force, [weight * np.cos(slope), -holding, 0.0], rtol=1e-10)


@pytest.mark.parametrize("of_matrix", [1e-9, 1e9])
@pytest.mark.parametrize("of_velocity", [1e-9, 1e9])
def test_units_do_not_matter(of_matrix: float, of_velocity: float) -> None:
    problem = well_posed(5, 10)
    scaled = FrictionalContact(of_matrix * problem.delassus, of_velocity * problem.free_velocity, 0.2)
    expected = solved(problem, 1e-11)
    assert np.allclose(solved(scaled, 1e-11) * of_matrix / of_velocity, expected, atol=1e-8)


def test_local_factors_cope_with_rows_of_different_units() -> None:
    problem = well_posed(6, 10)
    units = np.repeat(10.0 ** np.random.default_rng(6).uniform(-2, 2, 10), 3)
    scaled = FrictionalContact(
        problem.delassus * np.outer(units, units), problem.free_velocity * units, problem.friction.diagonal()
    )
    expected = solved(problem, 1e-12)
    assert np.allclose(solved(scaled, 1e-13) * units, expected, atol=1e-6)


def test_too_large_factors_are_reduced_and_the_iteration_begins_again() -> None:
    """Seiwald (C.12): r far beyond 2/ξ_max diverges; only reduced factors converge, to the same forces."""
    from klapper.complementarity.kernels.contact_prox import ALL, compiled_fixed_point
    from klapper.complementarity.prox import contact_laws

    problem = well_posed(7, 6)
    force, factor = np.zeros(18), np.full(18, 40.0 / np.linalg.eigvalsh(problem.delassus)[-1])
    given = factor.copy()
    _, residual, restarts = compiled_fixed_point(
        problem.delassus,
        problem.free_velocity,
        contact_laws(problem),
        ALL,
        force,
        factor,
        1.0 / factor,
        0.5,
        0,
        1e-11,
        5000,
        20,
    )
    assert residual <= 1e-11
    assert restarts >= 4
    assert np.all(factor <= given)
    assert np.allclose(force, GaussSeidel().attempt(problem, None, 1e-12).x, atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_problem_and_one_at_rest_need_no_iteration(form: Any) -> None:
    solver = Prox(form=form)
    assert solver.attempt(FrictionalContact(np.zeros((0, 0)), [], []), None, 1e-9).x.size == 0
    answer = solver.attempt(FrictionalContact(np.eye(6), np.zeros(6), 0.5), None, 1e-9)
    assert answer.iterations == 0
    assert not answer.x.any()


@pytest.mark.parametrize("form", FORMS)
def test_divergence_is_reported(form: Any) -> None:
    matrix = np.array([[1.0, -3.0], [-3.0, 1.0]])
    problem = LinearComplementarity(matrix, [-1.0, -1.0])
    with pytest.raises(IterationLimit, match=r"Prox: .* wanted 1\.0e-09"):
        Prox(form=form, max_iterations=200).attempt(problem, None, 1e-9)


def test_obstacles_and_wrong_arguments_are_refused() -> None:
    mixed = MixedComplementarity(np.eye(2), [0.0, 1.0], free=1)
    assert "mixed" in Prox().obstacle(mixed)
    with pytest.raises(NotApplicable):
        Prox().attempt(mixed, None, 1e-9)
    with pytest.raises(InvalidProblem, match="start"):
        Prox().attempt(well_posed(8, 2), np.zeros(5), 1e-9)
    wrong: list[dict[str, Any]] = [
        {"form": "both"},
        {"factors": "none"},
        {"reduction": 1.0},
        {"memory": -1},
        {"max_iterations": 0},
        {"max_restarts": -1},
        {"max_rounds": 0},
    ]
    for options in wrong:
        with pytest.raises(InvalidProblem, match=next(iter(options))):
            Prox(**options)
