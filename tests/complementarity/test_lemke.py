"""Lemke: agreement with convex programs, anti-cycling, covering vectors, start bases, rays."""

import numpy as np
import pytest
from scipy.optimize import nnls

from klapper.complementarity import (
    InvalidProblem,
    IterationLimit,
    Lemke,
    LinearComplementarity,
    NotApplicable,
    RayTermination,
    enumerate_solutions,
    solve,
)


def positive_definite(rng, n):
    root = rng.standard_normal((n, n)) + 0.1 * np.eye(n)
    return root.T @ root, root


def test_a_thousand_positive_definite_problems_equal_their_least_squares_solution():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        n = int(rng.integers(1, 15))
        matrix, root = positive_definite(rng, n)
        offset = rng.standard_normal(n)
        target = np.linalg.solve(
            root.T, -offset
        )  # min ‖R x − t‖ has the optimality conditions of the problem
        expected, _ = nnls(root, target, maxiter=100 * n)
        solution = solve(LinearComplementarity(matrix, offset), "lemke")
        assert solution.residuals.worst <= 1e-10
        assert solution.x == pytest.approx(expected, rel=1e-6, abs=1e-6 * max(1.0, np.abs(expected).max()))


def test_kostreva_cycling_example_terminates():
    """Cycles under the plain minimum-ratio rule; lexicographic pivoting ends (Kostreva 1979)."""
    matrix = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]])
    solution = solve(LinearComplementarity(matrix, -np.ones(3)), "lemke")
    assert solution.x == pytest.approx(np.full(3, 1 / 3))


@pytest.mark.parametrize("n", [2, 5, 20, 60])
def test_total_ties_do_not_cycle(n):
    """All ratios tie in every pivot: many equal contacts under one load."""
    matrix = np.ones((n, n)) + np.eye(n)
    solution = solve(LinearComplementarity(matrix, -np.ones(n)), "lemke")
    assert solution.x == pytest.approx(np.full(n, 1 / (n + 1)))
    assert solution.iterations <= 2 * n + 2


def test_ray_of_an_unsolvable_problem_is_reported():
    with pytest.raises(RayTermination, match="ray after"):
        solve(LinearComplementarity([[0.0]], [-1.0]), "lemke")


def test_ray_of_a_matrix_that_is_not_copositive_names_the_contacts():
    pressing = LinearComplementarity([[1.0, -3.0], [-3.0, 1.0]], [-1.0, -1.0], names=["A", "B"])
    with pytest.raises(RayTermination, match=r"not copositive .a force in A and B"):
        solve(pressing, "lemke")
    with pytest.raises(RayTermination, match=r"not copositive .a force in tip"):
        solve(LinearComplementarity([[-0.5]], [-1.0], names=["tip"]), "lemke")


def test_other_covering_vectors_find_solutions_that_the_first_one_misses():
    rng = np.random.default_rng(1)
    missed = rescued = 0
    for _ in range(400):
        problem = LinearComplementarity(rng.integers(-3, 4, (3, 3)), rng.integers(-3, 4, 3))
        known = [piece.point for piece in enumerate_solutions(problem).pieces]
        try:
            solve(problem, "lemke")
            continue
        except RayTermination:
            missed += bool(known)
        for covering in ([1.0, 2.0, 4.0], [4.0, 2.0, 1.0], [1.0, 9.0, 1.0]):
            try:
                x = solve(problem, Lemke(covering=covering)).x
            except RayTermination:
                continue
            assert known
            assert problem.residuals(x).worst <= 1e-12
            rescued += 1
            break
    assert missed > rescued > 5


def test_covering_vector_must_be_positive():
    with pytest.raises(InvalidProblem, match="the least entry of covering is 0"):
        solve(LinearComplementarity(np.eye(2), [-1.0, -1.0]), Lemke(covering=[1.0, 0.0]))


def test_start_basis_selects_the_solution_of_a_nonconvex_problem():
    """Two solutions: x = 0 and x = 1. A start basis that is a solution is returned as it is."""
    problem = LinearComplementarity([[-1.0]], [1.0])
    assert solve(problem, Lemke(basis=[])).x.tolist() == [0.0]
    assert solve(problem, Lemke(basis=[0])).x.tolist() == [1.0]
    assert solve(problem, "lemke", start=[0.7]).x.tolist() == [1.0]


def test_warm_start_from_the_solution_needs_no_pivot():
    rng = np.random.default_rng(5)
    for _ in range(50):
        n = int(rng.integers(2, 20))
        matrix, _ = positive_definite(rng, n)
        matrix += np.triu(rng.standard_normal((n, n)), 1) - np.triu(rng.standard_normal((n, n)), 1).T
        matrix = matrix @ matrix.T + (matrix - matrix.T)
        problem = LinearComplementarity(matrix, rng.standard_normal(n))
        cold = solve(problem, "lemke")
        warm = solve(problem, "lemke", start=cold.x)
        assert warm.iterations == 0
        assert warm.x == pytest.approx(cold.x, rel=1e-9, abs=1e-12)


def test_wrong_start_basis_does_not_mislead():
    rng = np.random.default_rng(6)
    for _ in range(100):
        n = int(rng.integers(1, 12))
        matrix, _ = positive_definite(rng, n)
        problem = LinearComplementarity(matrix, rng.standard_normal(n))
        basis = np.flatnonzero(rng.integers(0, 2, n))
        assert solve(problem, Lemke(basis=basis)).x == pytest.approx(solve(problem).x, rel=1e-7, abs=1e-9)


def test_pivot_limit_is_reported():
    with pytest.raises(IterationLimit, match="stopped after 1 pivot "):
        solve(LinearComplementarity(np.eye(3), -np.ones(3)), Lemke(max_pivots=1))


@pytest.mark.parametrize(("basis", "wrong"), [([2], 2), ([0, 5, 1], 5), ([-1, 1], -1)])
def test_basis_outside_the_problem_is_refused(basis, wrong):
    with pytest.raises(InvalidProblem, match=f"names unknown {wrong}, .* only 2 unknowns"):
        solve(LinearComplementarity(np.eye(2), -np.ones(2)), Lemke(basis=basis))


def test_exact_discs_are_refused_by_name():
    from klapper.complementarity import FrictionalContact

    with pytest.raises(NotApplicable, match="planar or polygonal friction"):
        solve(FrictionalContact(np.eye(3), -np.ones(3), 0.3), "lemke")
