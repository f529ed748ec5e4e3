"""``solve``: nothing unverified escapes, failures explain themselves, the way taken is in the result."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse.linalg import aslinearoperator

from klapper.complementarity import (
    ComplementarityError,
    FrictionalContact,
    InvalidProblem,
    LinearComplementarity,
    NoSolution,
    NotApplicable,
    NotDecided,
    Solution,
    Unverified,
    solve,
)
from klapper.complementarity.solver import Answer


@dataclass(frozen=True)
class Liar:
    """A solver that claims success with a wrong point."""

    point: tuple[float, ...]
    name = "liar"

    def obstacle(self, problem):
        return ""

    def attempt(self, problem, start, tolerance):
        return Answer(np.array(self.point), 1)


@pytest.mark.parametrize("point", [(0.0, 0.0), (1.0, 1.0), (np.nan, 0.0), (-1.0, 0.0), (np.inf, 0.0)])
def test_a_lying_solver_is_caught(point):
    problem = LinearComplementarity(np.eye(2), [-1.0, 1.0])
    with (
        pytest.raises(Unverified, match="The answer of liar does not satisfy"),
        np.errstate(invalid="ignore"),
    ):
        solve(problem, Liar(point))


def test_solution_tells_how_it_was_found():
    solution = solve(LinearComplementarity([[2.0, 1.0], [1.0, 2.0]], [-1.0, 1.0], names=["left", "right"]))
    assert solution.status == "solved"
    assert solution.solver == "active-set"
    assert solution.residuals.worst <= 1e-15
    assert "left" in str(solution)
    assert solution.verify(1e-12) is solution


def test_auto_falls_through_and_says_what_was_tried():
    """Lemke ends on a ray for this solvable problem; enumeration then finds the solution."""
    rng = np.random.default_rng(0)
    seen = 0
    for _ in range(300):
        matrix, offset = rng.integers(-3, 4, (3, 3)).astype(float), rng.integers(-2, 3, 3).astype(float)
        try:
            solution = solve(LinearComplementarity(matrix, offset))
        except NoSolution:
            continue
        if solution.solver == "enumeration":
            seen += 1
            assert solution.attempts[0].solver == "lemke"
            assert "ray" in solution.attempts[0].outcome
    assert seen > 5


def test_unknown_solver_suggests_the_nearest():
    with pytest.raises(InvalidProblem, match="Did you mean 'lemke'"):
        solve(LinearComplementarity(np.eye(1), [1.0]), "lemki")


@pytest.mark.parametrize("tolerance", [0.0, -1.0, np.nan])
def test_tolerance_must_be_positive(tolerance):
    with pytest.raises(InvalidProblem, match="tolerance is"):
        solve(LinearComplementarity(np.eye(1), [1.0]), tolerance=tolerance)


def test_start_must_fit():
    with pytest.raises(InvalidProblem, match="start has shape"):
        solve(LinearComplementarity(np.eye(2), [1.0, 1.0]), start=[1.0])


def test_painleve_rod_has_no_solution_and_the_text_says_so():
    """A sliding contact whose normal force would press it further in: planar friction, μ W_NT > W_NN."""
    delassus = np.array([[1.0, -1.2], [-1.2, 1.5]])
    contact = FrictionalContact.from_parts(
        delassus, [-1.0, -100.0], normal=[0], tangential=[1], friction=2.0, normal_names=["tip"]
    )
    sliding = LinearComplementarity([[1.0 - 2.0 * 1.2]], [-1.0])
    with pytest.raises(NoSolution, match="Painlevé"):
        solve(sliding)
    assert solve(contact).residuals.worst <= 1e-9  # with an impulse that stops the sliding there is one


def test_large_unsolvable_problem_is_proved_by_contradicting_inequalities():
    n = 30
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((n, n))
    matrix[4] = -np.abs(matrix[4])
    offset = rng.standard_normal(n)
    offset[4] = -1.0
    names = [f"contact {i}" for i in range(n)]
    with pytest.raises(NoSolution, match="contact 4"):
        solve(LinearComplementarity(matrix, offset, names=names))


def test_undecided_is_said_with_all_attempts(monkeypatch):
    """When every solver gives up and nothing is proved, the error lists what each of them said."""
    from klapper.complementarity import dispatch

    monkeypatch.setattr(
        dispatch, "_candidates", lambda *arguments: iter([Liar((5.0, 5.0)), dispatch.Lemke()])
    )
    monkeypatch.setattr(dispatch, "_small_linear", lambda *arguments: None)
    with pytest.raises(NotDecided, match=r"Tried: liar: .*lemke: Lemke ended on a ray") as failure:
        solve(LinearComplementarity([[-1.0, 3.0], [3.0, -1.0]], [-1.0, -1.0]))
    assert [attempt.solver for attempt in failure.value.attempts] == ["liar", "lemke"]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_sparse_and_dense_give_the_same(form):
    rng = np.random.default_rng(2)
    root = rng.standard_normal((12, 12))
    offset = rng.standard_normal(12)
    expected = solve(LinearComplementarity(root @ root.T, offset)).x
    assert solve(LinearComplementarity(form(root @ root.T), offset)).x == pytest.approx(expected, abs=1e-8)


def test_operator_contact_is_solved_by_products_alone():
    rng = np.random.default_rng(4)
    directions = rng.standard_normal((6, 9))
    delassus, free = directions @ directions.T, rng.standard_normal(6) - 1.0
    expected = solve(FrictionalContact(delassus, free, 0.2)).x
    solution = solve(FrictionalContact(aslinearoperator(delassus), free, 0.2))
    assert solution.solver == "prox"
    assert solution.x == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_not_applicable_names_the_reason():
    with pytest.raises(NotApplicable, match="exact discs"):
        solve(FrictionalContact(np.eye(3), -np.ones(3), 0.3), "enumeration")


def test_one_exception_catches_all_errors_of_solvers():
    for error in (NoSolution, NotDecided, Unverified, NotApplicable):
        assert issubclass(error, ComplementarityError)


def test_units_change_numbers_and_not_the_answer():
    """kN and mm instead of N and m."""
    rng = np.random.default_rng(9)
    directions = rng.standard_normal((9, 12))
    delassus, free = directions @ directions.T, rng.standard_normal(9)
    reference = solve(FrictionalContact(delassus, free, 0.3)).x
    scaled = solve(FrictionalContact(delassus * 1e3 * 1e3, free * 1e3, 0.3)).x
    assert scaled * 1e3 == pytest.approx(reference, rel=1e-6, abs=1e-7)
    assert isinstance(solve(FrictionalContact(delassus, free, 0.3)), Solution)
