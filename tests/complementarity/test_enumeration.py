"""Enumeration against an independent search with a general linear-programming code, and against closed forms."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from klapper.complementarity import (
    Enumeration,
    FrictionalContact,
    LinearComplementarity,
    MixedComplementarity,
    NoSolution,
    NotApplicable,
    enumerate_solutions,
    solve,
)
from klapper.complementarity.reference_problems import wedged_disc

from .test_random_problems import degenerate, infeasible, monotone, nonconvex, random, semidefinite


def brute_force(matrix, offset):
    """Bounds of all unknowns over all solutions by one linear program per complementary cone; None if none is
    feasible."""
    n = len(offset)
    lower, upper = np.full(n, np.inf), np.full(n, -np.inf)
    for support in itertools.product([False, True], repeat=n):
        on = np.array(support)
        bounds = [(0, None) if active else (0, 0) for active in on]
        equations = {"A_eq": matrix[on], "b_eq": -offset[on]} if on.any() else {}
        inequalities = {"A_ub": -matrix[~on], "b_ub": offset[~on]} if (~on).any() else {}
        for i in range(n):
            for sign in (1.0, -1.0):
                goal = np.zeros(n)
                goal[i] = sign
                program = linprog(goal, **equations, **inequalities, bounds=bounds, method="highs")
                if program.status == 2:
                    break
                value = sign * program.fun if program.status == 0 else -sign * np.inf
                lower[i], upper[i] = min(lower[i], value), max(upper[i], value)
    return None if np.isinf(lower).all() and (lower > 0).all() else (lower, upper)


@pytest.mark.parametrize("seed", range(40))
def test_all_solutions_agree_with_one_linear_program_per_cone(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    kind = seed % 4
    root = rng.integers(-2, 3, (n, max(1, n - 1))).astype(float)
    matrix = [rng.integers(-2, 3, (n, n)), root @ root.T, rng.integers(0, 2, (n, n)), -root @ root.T][
        kind
    ].astype(float)
    offset = rng.integers(-2, 3, n).astype(float)
    found = enumerate_solutions(LinearComplementarity(matrix, offset))
    expected = brute_force(matrix, offset)
    if expected is None:
        assert not found
    else:
        assert found.lower == pytest.approx(expected[0], abs=1e-7)
        assert found.upper == pytest.approx(expected[1], abs=1e-7)


@pytest.mark.parametrize("family", [random, semidefinite, monotone, degenerate, nonconvex, infeasible])
@pytest.mark.parametrize("seed", range(8))
def test_random_families_agree_with_one_linear_program_per_cone(family, seed):
    """The families on which enumeration is the judge, judged themselves."""
    problem = family(np.random.default_rng(seed), 1 + seed % 4)
    found, expected = enumerate_solutions(problem), brute_force(problem.matrix, problem.offset)
    assert bool(found) == (expected is not None)
    if expected is not None:
        assert found.lower == pytest.approx(expected[0], abs=1e-7)
        assert found.upper == pytest.approx(expected[1], abs=1e-7)


@pytest.mark.parametrize(
    ("friction", "ratio", "angular"),
    [
        (0.3, 0.5, [0.0]),
        (0.3, 0.9, [0.0]),
        (0.3, 1.2, [28.222]),
        (0.3, 3.0, [282.218]),
        (0.5, 0.5, [0.0]),
        (0.5, 0.9, [0.0]),
        (0.5, 1.2, [0.0, 41.016]),
        (0.5, 3.0, [0.0, 410.156]),
        (0.8, 1.2, [0.0, 50.019]),
        (0.8, 3.0, [0.0, 500.191]),
    ],
)
def test_wedged_disc_has_all_accelerations_of_the_table(friction, ratio, angular):
    """Rows of the table in section 1.2 of the source; closed form (M − M₀)/J_S for the rotating branch."""
    motions = enumerate_solutions(wedged_disc(friction, ratio)).motions()
    # The tangential acceleration at wall 1 is r times the angular one.
    assert sorted(motions[:, 1] / 0.1) == pytest.approx(angular, abs=1e-3)


def test_contact_modes_and_polygon_of_two_agree():
    """Planar friction enumerated by contact modes and as a linear problem in (λ_N, β₁, β₂, z)."""
    from klapper.complementarity import as_linear

    for friction, ratio in [(0.3, 1.2), (0.5, 3.0), (0.8, 0.5)]:
        contact = wedged_disc(friction, ratio)
        conversion = as_linear(contact)
        through = enumerate_solutions(conversion.problem)
        images = {
            tuple(np.round(contact.image(conversion.recover(piece.point)), 6) + 0.0)
            for piece in through.pieces
        }
        direct = {tuple(np.round(motion, 6) + 0.0) for motion in enumerate_solutions(contact).motions()}
        assert images == direct


def test_unbounded_solution_sets_have_infinite_bounds():
    found = enumerate_solutions(LinearComplementarity(np.zeros((2, 2)), [0.0, 1.0]))
    assert found.lower.tolist() == [0.0, 0.0]
    assert found.upper.tolist() == [np.inf, 0.0]


def test_free_unknowns_are_equations():
    problem = MixedComplementarity([[0.0, 1.0], [-1.0, 0.0]], [-2.0, 3.0], free=1)
    found = enumerate_solutions(problem)
    assert [piece.point.tolist() for piece in found.pieces] == [[3.0, 2.0]]


def test_badly_scaled_problem_is_decided_like_its_well_scaled_twin():
    rng = np.random.default_rng(8)
    for _ in range(200):
        n = int(rng.integers(1, 7))
        matrix, offset = rng.integers(-3, 4, (n, n)).astype(float), rng.integers(-2, 3, n).astype(float)
        rows, columns = 10.0 ** rng.uniform(-9, 9, n), 10.0 ** rng.uniform(-9, 9, n)
        twin = enumerate_solutions(LinearComplementarity(matrix, offset))
        scaled = enumerate_solutions(LinearComplementarity(rows[:, None] * matrix * columns, rows * offset))
        assert bool(scaled) == bool(twin)
        if twin:
            assert scaled.lower * columns == pytest.approx(twin.lower, rel=1e-6, abs=1e-6)
            assert scaled.upper * columns == pytest.approx(twin.upper, rel=1e-6, abs=1e-6)


def test_too_many_combinations_are_refused_with_the_number():
    with pytest.raises(NotApplicable, match=r"1\.1e\+12 combinations|1\.1\de\+12 combinations"):
        enumerate_solutions(LinearComplementarity(np.eye(40), -np.ones(40)))


def test_exact_discs_are_refused():
    assert "exact discs" in Enumeration().obstacle(FrictionalContact(np.eye(3), np.ones(3), 0.5))


def test_no_solution_is_a_proof():
    with pytest.raises(NoSolution, match="all 2 combinations"):
        solve(LinearComplementarity([[-1.0]], [-1.0]), "enumeration")
