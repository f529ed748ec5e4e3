"""Every problem that provably has a solution is solved, and no answer is wrong: 50 000 of all families.

An answer is judged here by its own measure: pairs and equations relative to the largest terms of its uncoupled part.
"""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from tests.complementarity.families import FAMILIES, impact

from klapper.complementarity import (
    ComplementarityError,
    FrictionalContact,
    LinearComplementarity,
    MixedComplementarity,
    NotApplicable,
    Unverified,
    as_linear,
    eliminate_free,
    solve,
)

FEW, MANY = 100, 5000  # of each family


def violation(problem, x):
    """Largest violated row or pair relative to the largest terms of each uncoupled part; linear and mixed problems."""
    free = problem.free if isinstance(problem, MixedComplementarity) else np.zeros(problem.size, dtype=bool)
    image = problem.matrix @ x + problem.offset
    terms = np.abs(problem.offset) + np.abs(problem.matrix) @ np.abs(x)
    part = connected_components(problem.matrix != 0, directed=False)[1]
    largest = np.array([np.abs(x[part == k]).max() for k in range(part.max() + 1)])[part]
    wrong = np.where(free | (x > 1e-12 * largest), np.abs(image), np.maximum(-image, 0.0))
    shares = [wrong[part == k].max() / (terms[part == k].max() or 1.0) for k in np.unique(part)]
    return max([*shares, *(-np.minimum(x[~free], 0.0))])


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_solvable_problem_is_solved(name, count):
    undecided = []
    for seed in range(count):
        problem, solvable = FAMILIES[name](np.random.default_rng([seed, len(name)]))
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            try:
                solution = solve(problem)
            except ComplementarityError as error:
                if solvable:
                    undecided.append((seed, str(error)[:200]))
                continue
        assert solution.residuals.worst <= 1e-9
        if not isinstance(problem, FrictionalContact):
            assert violation(problem, solution.x) <= 1e-9
        if name == "many planar":
            assert not {"lemke", "enumeration"} & {attempt.solver for attempt in solution.attempts}  # rays
    assert not undecided


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("name", "solver"),
    [
        ("impact", "lemke"),
        ("eliminated impact", "lemke"),
        ("switching circuit", "lemke"),
        ("skew parts", "gauss-seidel"),
    ],
)
def test_a_solver_that_claims_an_answer_has_one_and_refuses_no_round_off(name, solver, count):
    """Pivots between rows that tie by round-off led to claims that the problem refutes; a ray is no such claim."""
    for seed in range(count):
        problem, _ = FAMILIES[name](np.random.default_rng([seed, len(name)]))
        try:
            solve(problem, solver)
        except (Unverified, NotApplicable) as error:
            pytest.fail(f"{name} {seed}: {error}")
        except ComplementarityError:
            assert name in ("switching circuit", "skew parts"), f"{name} {seed}"


def test_families_have_fifty_thousand_problems():
    assert MANY * len(FAMILIES) >= 50_000


def test_impacts_with_polygons_are_solved_by_lemke_too():
    """Degenerate: most offsets are zero, so that the blocking ratio is zero and rows tie by round-off."""
    for seed in range(135):
        problem, _ = impact(np.random.default_rng([seed, 97]))
        assert solve(problem).residuals.worst <= 1e-9
        assert solve(eliminate_free(problem).problem, "lemke").residuals.worst <= 1e-9


class TestRoundOff:
    def test_right_answers_with_round_off_are_right(self):
        for seed in range(200):
            rng = np.random.default_rng(seed)
            n = int(rng.integers(2, 6))
            diagonal, load = rng.uniform(0.5, 2, n), rng.uniform(0, 2, n) * rng.integers(0, 2, n)
            x = load / diagonal
            x[x == 0.0] = 1e-16 * x.max()
            problem = LinearComplementarity(np.diag(diagonal), -load)
            assert problem.residuals(x).worst <= 1e-14

    def test_an_unloaded_part_is_measured_against_the_load(self):
        problem = LinearComplementarity(np.eye(2), [0.0, -1.0])
        assert problem.residuals(np.array([1e-15, 1.0])).worst == pytest.approx(1e-15)

    @pytest.mark.parametrize("load", [1e-3, 1e-9, 1e-15, 1e-40])
    def test_the_load_of_an_uncoupled_part_counts(self, load):
        problem = LinearComplementarity(np.eye(2), [-load, -1.0])
        assert problem.residuals(np.array([0.0, 1.0])).worst == pytest.approx(1.0)
        assert problem.residuals(np.array([load, 1.0])).worst == 0.0

    @pytest.mark.parametrize("load", [1e-3, 1e-9, 1e-12])
    def test_a_small_load_of_a_coupled_row_counts(self, load):
        problem = LinearComplementarity([[1.0, 0.0], [0.5, 1.0]], [-load, -1.0])
        assert problem.residuals(np.array([0.0, 1.0])).worst > 0.1

    def test_velocities_of_round_off_are_at_rest(self):
        """M v = J λ − J λ: the velocity is zero, its computed value is not."""
        problem = MixedComplementarity([[1.0, -1.0], [1.0, 0.0]], [1.0, 0.0], free=1)
        assert problem.residuals(np.array([1e-16, 1.0])).worst <= 1e-15
        assert problem.residuals(np.array([-1e-3, 1.0 - 1e-3])).worst > 1e-3


@pytest.mark.parametrize("unit", [1e-80, 1e-8, 1.0, 1e8, 1e80])
def test_the_unit_of_the_load_changes_nothing(unit):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 9))
        root, skew = rng.integers(-1, 2, (n, n)), rng.integers(-1, 2, (n, n))
        matrix, load = (root @ root.T + skew - skew.T).astype(float), rng.integers(-1, 2, n).astype(float)
        try:
            expected = solve(LinearComplementarity(matrix, load)).y
        except ComplementarityError:
            continue
        assert solve(LinearComplementarity(matrix, load * unit)).residuals.worst <= 1e-9
        assert expected.min() >= -1e-9


def test_bases_far_from_zero_lead_to_answers_that_no_covering_vector_leads_to():
    """A circuit whose paths from zero all end on rays after four pivots, and on which Newton steps stall."""
    problem, _ = FAMILIES["switching circuit"](np.random.default_rng([203, 17]))
    solution = solve(problem)
    assert violation(problem, solution.x) <= 1e-9
    assert solution.solver == "lemke"


@pytest.mark.parametrize("unit", [1.0, 1e-8, 1e-20, 1e-80])
@pytest.mark.parametrize("seed", [25, 143, 198])
def test_integers_that_are_decided_in_one_unit_are_decided_in_all(seed, unit):
    """Found among 600 problems of this kind; below 1e-20 they were not decided."""
    rng = np.random.default_rng([seed, 7])
    n = int(rng.integers(9, 14))
    matrix, state = rng.integers(-2, 3, (n, n)).astype(float), rng.integers(0, 3, n)
    x, y = np.where(state == 0, rng.integers(1, 4, n), 0), np.where(state == 1, rng.integers(1, 4, n), 0)
    problem = LinearComplementarity(matrix, (y - matrix @ x) * unit)
    assert violation(problem, solve(problem).x) <= 1e-9


@pytest.mark.parametrize("order", ["given", "shuffled"])
def test_the_long_path_of_murty_is_left_early(order):
    """2ⁿ pivots with the covering vector of ones (Murty 1978); x = (0, …) but for one entry."""
    n = 300
    matrix = 2.0 * np.tril(np.ones((n, n)), -1) + np.eye(n)
    pick = np.arange(n) if order == "given" else np.random.default_rng(0).permutation(n)
    solution = solve(LinearComplementarity(matrix[np.ix_(pick, pick)], -np.ones(n)))
    assert solution.x[pick == 0] == pytest.approx(1.0)
    assert np.count_nonzero(solution.x) == 1
    assert sum(attempt.iterations for attempt in solution.attempts) <= 20 * n


def test_extreme_data_raise_no_warnings():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 6))
        matrix = (
            rng.standard_normal((n, n))
            * 10.0 ** rng.uniform(-150, 150, (n, 1))
            * 10.0 ** rng.uniform(-150, 150, n)
        )
        offset = rng.standard_normal(n) * 10.0 ** rng.uniform(-300, 300)
        for problem in (
            LinearComplementarity(matrix, offset),
            MixedComplementarity(matrix, offset, free=n // 2),
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    solve(problem)
                except ComplementarityError as error:
                    assert str(error)


def test_the_converter_of_a_file_is_solved():
    folder = os.environ.get("KLAPPER_PROBLEMS", "")
    path = Path(folder) / "mixed" / "deltasigma_mlcp.npz"
    if not folder or not path.exists():
        pytest.skip("needs KLAPPER_PROBLEMS, a folder with mixed/deltasigma_mlcp.npz")
    data = np.load(path)
    problem = MixedComplementarity(data["A"], data["q"], free=data["free"])
    solution = solve(problem)
    assert violation(problem, solution.x) <= 1e-12
    assert as_linear(problem).problem.size == 156
