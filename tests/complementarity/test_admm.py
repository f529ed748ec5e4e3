"""Alternating directions: closed forms, other solvers, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse.linalg import aslinearoperator

from klapper.complementarity import (
    Admm,
    FrictionalContact,
    InvalidProblem,
    IterationLimit,
    LinearComplementarity,
    MixedComplementarity,
    admm,
    solve,
)

WEIGHT, PUSH = 0.0981, 0.004  # N s; 24 blocks and more would tip


def stack(blocks: int, friction: float = 0.3) -> FrictionalContact:
    """Cubes of 1 m and 1 kg on top of each other, four feet each: impulses that weight and a push ask for."""
    directions, column = np.zeros((6 * blocks, 12 * blocks)), 0
    axes = np.eye(3)[[2, 0, 1]]
    for i in range(blocks):
        for x in (-0.5, 0.5):
            for y in (-0.5, 0.5):
                for axis in axes:
                    for body, side, sign in ((i, -0.5, 1.0), (i - 1, 0.5, -1.0)):
                        if body >= 0:
                            directions[6 * body : 6 * body + 3, column] = sign * axis
                            directions[6 * body + 3 : 6 * body + 6, column] = sign * np.cross(
                                (x, y, side), axis
                            )
                    column += 1
    compliance = np.tile([1.0, 1.0, 1.0, 6.0, 6.0, 6.0], blocks)
    free = np.zeros(6 * blocks)
    free[2::6], free[0::6] = -WEIGHT, PUSH
    return FrictionalContact(directions.T @ (compliance[:, None] * directions), directions.T @ free, friction)


@pytest.mark.parametrize("blocks", [1, 8, 20])
def test_a_stack_at_rest_carries_what_is_above(blocks: int) -> None:
    """Statics: each layer holds weight and push of all blocks above it, whatever its four feet make of it.

    A residual of 1e-9 leaves forces open to 1e-9 times the condition of W, at most 6e5 here.
    """
    problem = stack(blocks)
    solution = solve(problem, "admm")
    assert np.abs(solution.y).max() <= 1e-7 * WEIGHT
    layers = solution.x.reshape(blocks, 4, 3).sum(axis=1)
    above = np.arange(blocks, 0, -1)
    np.testing.assert_allclose(layers[:, 0], above * WEIGHT, rtol=6e-4)
    np.testing.assert_allclose(layers[:, 1], -above * PUSH, rtol=6e-4)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_monotone_problems_need_no_symmetry(storage) -> None:
    """A gyroscopic part ten times the definite one; Lemke is exact."""
    rng = np.random.default_rng(3)
    for n in (4, 12, 30):
        root, skew = rng.standard_normal((n, n)), rng.standard_normal((n, n))
        matrix, offset = root @ root.T / n + 10.0 * (skew - skew.T), rng.standard_normal(n)
        found = solve(LinearComplementarity(storage(matrix), offset), "admm").x
        np.testing.assert_allclose(found, solve(LinearComplementarity(matrix, offset), "lemke").x, atol=1e-7)


def test_a_force_that_does_not_move_its_own_contact_is_found() -> None:
    """Zero diagonal: x₂ − 1 = 0 and 2 − x₁ = 0."""
    problem = LinearComplementarity([[0.0, 1.0], [-1.0, 0.0]], [-1.0, 2.0])
    np.testing.assert_allclose(solve(problem, "admm").x, [2.0, 1.0], atol=1e-8)


def test_equations_and_redundant_ones_are_welcome() -> None:
    """Two equal rods between a body and the ground, and a stop: v = 0, the rods share 1 − λ_stop."""
    row = np.array([1.0, 1.0, 1.0])
    problem = MixedComplementarity(np.outer(row, row), -row, free=2)
    solution = solve(problem, "admm")
    np.testing.assert_allclose(solution.y, 0.0, atol=1e-7)
    assert solution.x.sum() == pytest.approx(1.0, abs=1e-7)


def test_a_polygon_and_shared_limits_agree_with_lemke() -> None:
    rng = np.random.default_rng(4)
    root = rng.standard_normal((7, 9))
    problem = FrictionalContact.from_parts(
        root @ root.T / 9 + 0.3 * np.eye(7),
        rng.standard_normal(7) - 0.5,
        normal=[0, 1],
        tangential=[[2, 3], [4, 5]],
        friction=[[0.2, 0.1], [0.0, 0.3]],
        limit=[0.1, 0.0],
        bilateral=[6],
        polygon=8,
    )
    np.testing.assert_allclose(solve(problem, "admm").x, solve(problem, "lemke").x, atol=1e-7)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_do_not_matter(unit: float) -> None:
    problem = stack(3)
    scaled = FrictionalContact(unit * problem.delassus, problem.free_velocity, 0.3)
    one, two = Admm().attempt(problem, None, 1e-9), Admm().attempt(scaled, None, 1e-9)
    assert one.iterations == two.iterations
    np.testing.assert_allclose(unit * two.x, one.x, atol=1e-12)


@pytest.mark.parametrize("stiffness", [1e-5, 1e-2, 1e3])
def test_the_springs_are_found_wherever_they_start(stiffness: float) -> None:
    problem = stack(6)
    assert problem.residuals(Admm(stiffness=stiffness).attempt(problem, None, 1e-9).x).worst <= 1e-9


def test_the_last_forces_are_a_start() -> None:
    problem = stack(4)
    found = Admm().attempt(problem, None, 1e-9)
    assert Admm().attempt(problem, found.x, 1e-9).iterations < found.iterations


def test_what_it_cannot_do_is_told() -> None:
    block = FrictionalContact(aslinearoperator(np.eye(3)), [-1.0, 0.8, 0.0], 0.5)
    assert 'use "prox"' in Admm().obstacle(block)
    walls = LinearComplementarity([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0])
    with pytest.raises(IterationLimit, match=r"ADMM: residual .* after 200 iterations, wanted 1\.0e-09"):
        Admm(max_iterations=200).attempt(walls, None, 1e-9)
    with pytest.raises(IterationLimit, match="add up to a singular matrix"):
        Admm(stiffness=1.0).attempt(LinearComplementarity([[-1.0]], [1.0]), None, 1e-9)
    with pytest.raises(IterationLimit, match="add up to a singular matrix"):
        Admm(stiffness=1.0).attempt(LinearComplementarity(sparse.csr_array([[-1.0]]), [1.0]), None, 1e-9)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"stiffness": 0.0}, "stiffness is 0.0; allowed are finite numbers above 0"),
        ({"relaxation": 2.0}, "relaxation is 2.0; allowed are numbers between 0 and 2"),
        ({"max_iterations": 0}, "max_iterations is 0; allowed are numbers from 1 on"),
    ],
)
def test_options_out_of_range_are_refused(option, words) -> None:
    with pytest.raises(InvalidProblem, match=words):
        Admm(**option)


class _Creeping:
    """A step that shortens the way to 1 by 1e-4 each time, whatever is left."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, y: np.ndarray) -> admm._Point:
        self.count += 1
        return admm._Point(y, y, y, np.clip(1.0 - y, -1e-4, 1e-4))

    def size(self, point: admm._Point) -> float:
        return float(np.linalg.norm(point.step))


def test_forces_that_creep_are_taken_in_leaps() -> None:
    """10 000 iterations by 1e-4 each; leaps that go too far come back, since the step is never longer there."""
    step = _Creeping()
    now = step(np.zeros(1))
    history, leaps = admm._History(0), admm._Leaps(step, now)
    while abs(now.y[0] - 1.0) > 1e-9:
        now = leaps.advance(history.advance(step, now), history)
        assert step.count < 4000
    assert step.count > 400


def test_a_leap_into_longer_steps_is_taken_back() -> None:
    """Forces creep to 0.3; from 0.31 on they run away by steps of 1, where a leap of several stretches lands."""
    landed: list[float] = []

    class Cliff(_Creeping):
        def __call__(self, y: np.ndarray) -> admm._Point:
            self.count += 1
            landed.append(float(y[0]))
            return admm._Point(y, y, y, np.clip(0.3 - y, -1e-4, 1e-4) if y[0] < 0.31 else np.ones(1))

    step = Cliff()
    now = step(np.zeros(1))
    history, leaps = admm._History(0), admm._Leaps(step, now)
    while step.count < 4000:
        now = leaps.advance(history.advance(step, now), history)
    assert max(landed) > 0.31
    assert abs(now.y[0] - 0.3) <= 1e-9
