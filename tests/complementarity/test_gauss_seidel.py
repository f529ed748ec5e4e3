"""Gauss–Seidel: closed forms, other methods, units, redundant contacts, and honest failures."""

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
    solve,
)
from klapper.complementarity.gauss_seidel import GaussSeidel
from klapper.complementarity.lemke import Lemke
from klapper.complementarity.solution import Attempt, Solution


def solved(problem: Any, tolerance: float = 1e-10, start: Any = None, **options: Any) -> np.ndarray:
    """The verified answer of Gauss–Seidel."""
    answer = GaussSeidel(**options).attempt(problem, start, tolerance)
    Solution(problem, answer.x, (Attempt("gauss-seidel", "solved"),)).verify(tolerance)
    return answer.x


def incline(slope: float, friction: float, mass: float = 2.0, step: float = 0.01) -> FrictionalContact:
    """A particle on an incline during one step [s]; rows (normal, down the slope, across)."""
    gravity = 9.81 * step
    return FrictionalContact(
        np.eye(3) / mass, [-gravity * np.cos(slope), gravity * np.sin(slope), 0.0], friction
    )


def well_posed(rng: np.random.Generator, contacts: int, dimension: int) -> FrictionalContact:
    """Well-conditioned W and small friction: a unique solution."""
    size = contacts * dimension
    factor = rng.standard_normal((size, size)) / np.sqrt(size)
    return FrictionalContact(
        factor @ factor.T + 0.5 * np.eye(size), rng.standard_normal(size), 0.2, dimension=dimension
    )


def table(friction: float, push: float) -> FrictionalContact:
    """A four-legged table (rigid body, 6 degrees of freedom, 12 contact rows): rank-deficient W."""
    legs = np.array([[0.5, 0.3], [-0.5, 0.3], [-0.5, -0.3], [0.5, -0.3]])
    height, mass, inertia = 0.4, 10.0, np.array([1.0, 1.5, 2.0])
    rows = []
    for x, y in legs:
        arm = np.array([x, y, -height])
        for direction in np.eye(3)[[2, 0, 1]]:
            rows.append(np.concatenate([direction, np.cross(arm, direction)]))
    directions = np.array(rows)
    inverse_mass = np.concatenate([np.full(3, 1 / mass), 1 / inertia])
    free = directions @ (inverse_mass * np.array([push, 0, -9.81 * mass, 0, 0, 0]) * 1e-3)
    return FrictionalContact(directions * inverse_mass @ directions.T, free, friction)


def test_block_on_an_incline_sticks() -> None:
    force = solved(incline(0.3, np.tan(0.4)))
    weight = 2.0 * 9.81 * 0.01
    assert np.allclose(force, [weight * np.cos(0.3), -weight * np.sin(0.3), 0.0], rtol=1e-12)


def test_block_on_an_incline_slides() -> None:
    force = solved(incline(0.5, np.tan(0.4)))
    normal = 2.0 * 9.81 * 0.01 * np.cos(0.5)
    assert np.allclose(force, [normal, -np.tan(0.4) * normal, 0.0], rtol=1e-12)


def test_friction_opposes_sliding_exactly() -> None:
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((3, 3))
    problem = FrictionalContact(factor @ factor.T + np.eye(3), [-1.0, 3.0, -2.0], 0.3)
    force = solved(problem, 1e-13)
    velocity = problem.image(force)[1:]
    assert np.linalg.norm(force[1:]) == pytest.approx(0.3 * force[0], rel=1e-12)
    assert np.allclose(
        force[1:] / np.linalg.norm(force[1:]), -velocity / np.linalg.norm(velocity), atol=1e-11
    )


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_problems_of_every_dimension_are_solved_dense_and_sparse(dimension: int, storage: Any) -> None:
    rng = np.random.default_rng(dimension)
    factor = rng.standard_normal((12 * dimension, 12 * dimension))
    problem = FrictionalContact(
        storage(factor @ factor.T / 12 + 0.1 * np.eye(12 * dimension)),
        rng.standard_normal(12 * dimension),
        0.0 if dimension == 1 else 0.3,
        dimension=dimension,
    )
    solved(problem)


@pytest.mark.parametrize("seed", range(5))
def test_planar_friction_agrees_with_lemke(seed: int) -> None:
    problem = well_posed(np.random.default_rng(seed), 8, 2)
    assert np.allclose(solved(problem, 1e-11), Lemke().attempt(problem, None, 1e-11).x, atol=1e-8)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_linear_problem_agrees_with_lemke(storage: Any) -> None:
    rng = np.random.default_rng(1)
    factor = rng.standard_normal((40, 40))
    matrix = factor @ factor.T / 40 + 0.05 * np.eye(40)
    problem = LinearComplementarity(storage(matrix), rng.standard_normal(40))
    exact = Lemke().attempt(LinearComplementarity(matrix, problem.offset), None, 1e-12).x
    assert np.allclose(solved(problem, 1e-11), exact, atol=1e-8)
    assert np.allclose(solved(problem, 1e-11, memory=0, relaxation=1.3), exact, atol=1e-8)


def test_polygon_agrees_with_lemke_and_tends_to_the_disc() -> None:
    rng = np.random.default_rng(2)
    factor = rng.standard_normal((12, 12))
    matrix, free = factor @ factor.T / 12 + 0.5 * np.eye(12), rng.standard_normal(12)
    exact = solved(FrictionalContact(matrix, free, 0.3), 1e-12)
    octagon = FrictionalContact(matrix, free, 0.3, polygon=8)
    assert np.allclose(solved(octagon, 1e-12), Lemke().attempt(octagon, None, 1e-12).x, atol=1e-9)
    errors = [
        np.abs(solved(FrictionalContact(matrix, free, 0.3, polygon=sides), 1e-12) - exact).max()
        for sides in (8, 32, 128)
    ]
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < 0.03 * np.abs(exact).max()


def test_two_runners_share_one_friction_limit_beside_a_rail() -> None:
    """A sledge on two runners whose friction acts in one patch; a rail holds it sideways."""
    mass, step, friction = 5.0, 1e-2, 0.2
    directions = np.array(
        [[0.0, 0, 1, 0.3], [0, 0, 1, -0.3], [1, 0, 0, 0], [0, 1, 0, 0]]
    )  # columns: x, y, z, roll
    inverse = np.array([1 / mass, 1 / mass, 1 / mass, 1.0])
    speed = np.array([1.0, 0.3, -9.81 * step, 0.0])
    problem = FrictionalContact.from_parts(
        directions * inverse @ directions.T,
        directions @ speed,
        normal=[0, 1],
        tangential=[2],
        friction=[[friction, friction]],
        bilateral=[3],
    )
    weight = mass * 9.81 * step
    force = solved(problem)
    assert np.allclose(force, [weight / 2, weight / 2, -friction * weight, -0.3 * mass], rtol=1e-9)


def test_friction_with_a_given_limit_acts_on_an_open_contact() -> None:
    problem = FrictionalContact(np.eye(3), [1.0, 3.0, 4.0], 0.5, limit=2.0)
    assert np.allclose(solved(problem), [0.0, -1.2, -1.6], rtol=1e-12)


@pytest.mark.parametrize("of_matrix", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("of_velocity", [1e-9, 1.0, 1e9])
def test_units_do_not_matter(of_matrix: float, of_velocity: float) -> None:
    problem = well_posed(np.random.default_rng(3), 10, 3)
    scaled = FrictionalContact(of_matrix * problem.delassus, of_velocity * problem.free_velocity, 0.2)
    expected = solved(problem, 1e-11)
    assert np.allclose(solved(scaled, 1e-11) * of_matrix / of_velocity, expected, atol=1e-8)


@pytest.mark.parametrize(("push", "slides"), [(20.0, False), (60.0, True)])
def test_the_legs_of_a_table_carry_its_weight_and_brake_by_their_sum(push: float, slides: bool) -> None:
    """The leg forces are not unique, their sum and the motion are."""
    problem = table(0.3, push)
    force = solved(problem).reshape(4, 3)
    weight = 10.0 * 9.81 * 1e-3
    assert force[:, 0].sum() == pytest.approx(weight, rel=1e-8)
    friction = 0.3 * weight if slides else push * 1e-3
    assert force[:, 1].sum() == pytest.approx(-friction, rel=1e-8)


def test_an_empty_problem_and_one_at_rest_need_no_sweep() -> None:
    empty = FrictionalContact(np.zeros((0, 0)), [], [])
    assert GaussSeidel().attempt(empty, None, 1e-9).x.size == 0
    assert GaussSeidel().attempt(LinearComplementarity(np.zeros((0, 0)), []), None, 1e-9).x.size == 0
    answer = GaussSeidel().attempt(FrictionalContact(np.eye(6), np.zeros(6), 0.5), None, 1e-9)
    assert answer.iterations == 0
    assert not answer.x.any()


def test_a_solution_as_start_needs_no_sweep_and_a_bad_start_does_no_harm() -> None:
    problem = well_posed(np.random.default_rng(4), 20, 3)
    answer = GaussSeidel().attempt(problem, None, 1e-9)
    assert answer.iterations > 0
    assert GaussSeidel().attempt(problem, answer.x, 1e-9).iterations == 0
    assert np.allclose(solved(problem, start=np.full(60, -1e6)), answer.x, atol=1e-7)


def test_over_relaxation_and_plain_sweeps_give_the_same_forces() -> None:
    problem = well_posed(np.random.default_rng(5), 15, 3)
    exact = solved(problem, 1e-12)
    for options in ({"memory": 0}, {"relaxation": 1.0}, {"relaxation": 0.7, "memory": 0}):
        assert np.allclose(solved(problem, 1e-12, **options), exact, atol=1e-9)


def chain(links: int) -> FrictionalContact:
    """Masses in a row pushed together, each gap a contact: the slow case for sweeps."""
    size = 2 * links
    normal = 2.0 * np.eye(links) - np.eye(links, k=1) - np.eye(links, k=-1)
    matrix = np.zeros((size, size))
    matrix[::2, ::2], matrix[1::2, 1::2] = normal, 3.0 * normal
    free = np.zeros(size)
    free[0], free[1::2] = -1.0, 0.05
    return FrictionalContact(sparse.csr_array(matrix), free, 0.3, dimension=2)


def test_acceleration_saves_sweeps_on_a_long_chain() -> None:
    problem = chain(60)
    plain = GaussSeidel(memory=0).attempt(problem, None, 1e-9)
    fast = GaussSeidel().attempt(problem, None, 1e-9)
    assert np.allclose(plain.x, fast.x, atol=1e-4)
    assert fast.iterations < 0.5 * plain.iterations


def test_sweep_limit_is_reported_with_the_residual() -> None:
    with pytest.raises(IterationLimit, match=r"residual \d\.\de-\d\d after \d+ sweeps, wanted 1\.0e-12"):
        GaussSeidel(max_sweeps=5).attempt(chain(60), None, 1e-12)


def test_tolerance_below_round_off_ends_with_a_clear_word() -> None:
    problem = well_posed(np.random.default_rng(6), 10, 3)
    try:
        answer = GaussSeidel().attempt(problem, None, 1e-17)
        assert problem.residuals(answer.x).worst <= 1e-17
    except IterationLimit as error:
        assert "wanted 1.0e-17" in str(error)


def test_divergence_never_returns_numbers() -> None:
    matrix = np.array([[1.0, -3.0], [-3.0, 1.0]])
    with pytest.raises(IterationLimit, match="Gauss–Seidel"):
        GaussSeidel().attempt(LinearComplementarity(matrix, [-1.0, -1.0]), None, 1e-9)


def test_problems_it_cannot_treat_are_refused_with_the_reason() -> None:
    solver = GaussSeidel()
    operator = FrictionalContact(aslinearoperator(np.eye(3)), [-1.0, 0.0, 0.0], 0.5)
    assert "prox" in solver.obstacle(operator)
    massless = FrictionalContact(np.zeros((3, 3)), [-1.0, 0.0, 0.0], 0.5, names=["left foot"])
    assert "left foot normal" in solver.obstacle(massless)
    assert "positive diagonal" in solver.obstacle(LinearComplementarity([[0.0]], [1.0]))
    assert "mixed" in solver.obstacle(MixedComplementarity(np.eye(2), [0.0, 1.0], free=1))
    with pytest.raises(NotApplicable):
        solver.attempt(operator, None, 1e-9)


@pytest.mark.parametrize("size", [1e-12, 1e-9, 1e-4, 0.1])
def test_a_skew_part_of_the_blocks_is_taken_along(size: float) -> None:
    """Round-off of other programs: 27 of 62 problems of theirs were refused for a skew part above 1e-10."""
    rng = np.random.default_rng(5)
    for _ in range(10):
        problem = well_posed(rng, 4, 3)
        part = rng.standard_normal((12, 12))
        skewed = FrictionalContact(
            problem.delassus + size * (part - part.T), problem.free_velocity, problem.friction.diagonal()
        )
        assert solve(skewed, "gauss-seidel").residuals.worst < 1e-9


def test_wrong_arguments_are_refused() -> None:
    problem = well_posed(np.random.default_rng(7), 2, 3)
    with pytest.raises(InvalidProblem, match="start"):
        GaussSeidel().attempt(problem, np.zeros(5), 1e-9)
    for options in ({"relaxation": 2.0}, {"memory": -1}, {"max_sweeps": 0}):
        with pytest.raises(InvalidProblem, match=next(iter(options))):
            GaussSeidel(**options)
