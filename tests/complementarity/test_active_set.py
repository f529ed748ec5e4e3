"""Active sets on frictionless contact: redundant supports, warm start, proof of impossibility."""

import numpy as np
import pytest

from klapper.complementarity import (
    FrictionalContact,
    LinearComplementarity,
    NoSolution,
    NotApplicable,
    solve,
)
from klapper.complementarity.kernels.active_set import RAY, keller, solve_by_active_set


@pytest.mark.parametrize("n", [3, 10, 50, 200])
def test_its_answer_is_that_of_lemke(n):
    rng = np.random.default_rng(n)
    root = rng.standard_normal((n, n // 2 + 1))
    matrix = root @ root.T
    load = root @ rng.standard_normal(n // 2 + 1) + 0.1 * np.abs(rng.standard_normal(n))
    problem = LinearComplementarity(matrix, load)
    assert solve(problem, "active-set").y == pytest.approx(solve(problem, "lemke").y, abs=1e-8)


def test_keller_alone_solves_rank_deficient_problems():
    rng = np.random.default_rng(1)
    for _ in range(500):
        n, rank = int(rng.integers(1, 9)), int(rng.integers(0, 5))
        root = rng.integers(-2, 3, (n, rank)).astype(float)
        matrix, offset = root @ root.T, rng.integers(-3, 4, n).astype(float)
        x, active = np.empty(n), np.zeros(n, dtype=bool)
        status, _ = keller(matrix, offset, active, x)
        if status == RAY:
            assert (x >= 0).all()
            assert np.abs(matrix @ x).max() < 1e-9
            assert offset @ x < 0
        else:
            assert LinearComplementarity(matrix, offset).residuals(x).worst < 1e-9


def test_warm_start_needs_one_factorisation():
    rng = np.random.default_rng(2)
    root = rng.standard_normal((40, 40))
    problem = LinearComplementarity(root @ root.T, rng.standard_normal(40))
    cold = solve(problem, "active-set")
    warm = solve(problem, "active-set", start=cold.x)
    assert cold.iterations > 1
    assert warm.iterations == 1
    assert warm.x == pytest.approx(cold.x)


def test_redundant_contacts_give_the_velocity_of_those_that_carry():
    """Waltersberger B11: 25 contacts on 3 modes."""
    rng = np.random.default_rng(3)
    modes = np.cos(np.outer(np.linspace(0.0, 3.0, 25), np.arange(1, 4)))
    for _ in range(100):
        before = rng.standard_normal(3)
        solution = solve(LinearComplementarity(modes @ modes.T, modes @ before), "active-set")
        after = before + modes.T @ solution.x
        carrying = solution.x > 0
        few = solve(
            LinearComplementarity(modes[carrying] @ modes[carrying].T, modes[carrying] @ before), "active-set"
        )
        assert before + modes[carrying].T @ few.x == pytest.approx(after, abs=1e-9)


def test_impossible_prescribed_motion_names_the_contacts():
    problem = LinearComplementarity(
        [[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0], names=["left wall", "right wall"]
    )
    with pytest.raises(NoSolution, match="left wall, right wall push against each other"):
        solve(problem, "active-set")


def test_unsymmetric_matrix_is_refused():
    with pytest.raises(NotApplicable, match="symmetric matrix"):
        solve(LinearComplementarity([[1.0, 2.0], [0.0, 1.0]], [-1.0, -1.0]), "active-set")


def test_a_stop_and_a_rigid_link_bring_both_bodies_to_rest():
    mass_inverse = np.diag([1.0, 0.5])
    directions = np.array([[1.0, 0.0], [1.0, -1.0]])  # stop for body 1, rigid link between both
    contact = FrictionalContact.from_parts(
        directions @ mass_inverse @ directions.T,
        directions @ np.array([-1.0, -1.0]),
        normal=[0],
        bilateral=[1],
    )
    force = solve(contact, "active-set").x
    assert np.array([-1.0, -1.0]) + mass_inverse @ directions.T @ force == pytest.approx([0.0, 0.0])


def test_kernel_reports_the_number_of_factorisations():
    x = np.empty(2)
    assert solve_by_active_set(np.eye(2), np.array([-1.0, 1.0]), np.zeros(2, dtype=bool), 1e-9, x)[1] == 1
