"""Inputs that once gave a wrong answer, a false proof, a crash or a hang."""

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.complementarity import (
    ComplementarityError,
    FrictionalContact,
    InvalidProblem,
    Lemke,
    LinearComplementarity,
    MixedComplementarity,
    NoSolution,
    NotApplicable,
    NotDecided,
    as_linear,
    enumerate_solutions,
    follow,
    solve,
    solve_batch,
    uniqueness,
)


def crushing_walls(extra_load):
    """Two walls that approach each other, and one contact that has nothing to do with them."""
    delassus = np.eye(9)
    delassus[0, 3] = delassus[3, 0] = -1.0
    return delassus, np.array([-1.0, 0, 0, -1.0, 0, 0, -extra_load, 0, 0])


def test_overflow_is_not_a_solution():
    matrix = np.array([[1.0, 0.5], [0.5, 1.0]]) * 1e-300
    with np.errstate(all="ignore"):
        with pytest.raises(NotDecided):
            solve(LinearComplementarity(matrix, [-1e300, -1e300]))
        assert not solve_batch(matrix, [[-1e300, -1e300]]).solved.any()


@pytest.mark.parametrize("tolerance", [np.inf, 1.0, 0.0])
def test_batches_refuse_a_meaningless_tolerance(tolerance):
    with pytest.raises(InvalidProblem, match="between 0 and 1"):
        solve_batch(np.eye(1), [[-1.0]], tolerance=tolerance)


@pytest.mark.parametrize("distance", [1e-6, 1e-8, 1e-9])
def test_whatever_auto_returns_passes_its_own_check(distance):
    solution = solve(LinearComplementarity([[1, distance - 1], [distance - 1, 1]], [-1.3, -1.1]))
    assert solution.verify(1e-9) is solution


@pytest.mark.parametrize("extra_load", [1.0, 1e6, 1e10])
def test_a_fast_contact_does_not_hide_a_contradiction_elsewhere(extra_load):
    with pytest.raises(ComplementarityError):
        solve(FrictionalContact(*crushing_walls(extra_load), 0.3))


def test_a_fast_contact_does_not_spoil_the_forces_elsewhere():
    """A chain of six contacts, closed form 3, 5, 6, 6, 5, 3, beside one with a load of 10¹⁰."""
    delassus = np.kron(2 * np.eye(6) - np.eye(6, k=1) - np.eye(6, k=-1), np.diag([1.0, 0, 0])) + np.kron(
        np.eye(6), np.diag([0, 2.0, 2.0])
    )
    beside = np.zeros((21, 21))
    beside[:18, :18], beside[18:, 18:] = delassus, np.eye(3)
    free = np.zeros(21)
    free[0:18:3], free[18] = -1.0, -1e10
    for solver in ("auto", "prox", "newton"):
        force = solve(FrictionalContact(beside, free, 0.3), solver).x
        assert force[0:18:3] == pytest.approx([3, 5, 6, 6, 5, 3], rel=1e-6)


def test_sparse_problems_do_not_hide_a_contradiction_either():
    problem = LinearComplementarity(sparse.csr_array([[1.0, -1, 0], [-1, 1, 0], [0, 0, 1]]), [-1, -1, -1e6])
    with pytest.raises(ComplementarityError):
        solve(problem, "newton", start=[1e12, 1e12, 1e6])


def test_a_nearly_singular_problem_with_a_solution_is_never_proved_unsolvable():
    """Down to a distance from singularity of a few hundred roundings, below which the data themselves do not say."""
    for tiny in 2.0 ** -np.arange(30, 45):
        symmetric = LinearComplementarity([[1 + tiny, -1], [-1, 1 + tiny]], [-1.0, -1.0])
        assert symmetric.residuals(np.full(2, 1 / tiny)).natural_map < 1e-9
        oblique = LinearComplementarity([[1 + tiny, -1], [-1 - tiny / 2, 1 + tiny]], [-1.0, -1.0])
        for problem in (symmetric, oblique):
            try:
                solve(problem)
            except NoSolution as error:
                pytest.fail(f"false proof at {tiny}: {error}")
            except ComplementarityError:
                continue


def test_a_patch_held_far_below_its_limit_is_solved():
    patch = FrictionalContact.from_parts([[3.0, 1.0], [1.0, 2.0]], [0.1, 0.7], tangential=[[0, 1]], limit=1e8)
    assert solve(patch).x == pytest.approx(np.linalg.solve([[3.0, 1.0], [1.0, 2.0]], [-0.1, -0.7]))


def test_spatial_contact_without_friction_is_decided_like_a_linear_problem():
    delassus, free = crushing_walls(1.0)
    with pytest.raises(NoSolution, match="push against each other"):
        solve(FrictionalContact(delassus, free, 0.0))


@pytest.mark.parametrize("pull", [(0.1, 0.0), (3.0, 0.1), (1.0, 1.0)])
@pytest.mark.parametrize("sides", [4, 8])
def test_polygonal_bounds_agree_with_enumeration(sides, pull):
    """Two contacts on one point: stick, slip at a corner, slip square to an edge, with a shared normal force."""
    directions = np.vstack([np.eye(3)] * 2)
    contact = FrictionalContact(
        directions @ directions.T, directions @ np.array([-1.0, *pull]), 0.5, polygon=sides
    )
    report, found = uniqueness(solve(contact)), enumerate_solutions(contact)
    assert report.motion == "unique"
    assert report.lower == pytest.approx(found.lower, abs=1e-7)
    assert report.upper == pytest.approx(found.upper, abs=1e-7)


def test_the_largest_force_across_two_diamonds_is_the_closed_form():
    """|T_x| + |T_y| ≤ μN for both feet: the largest transverse force is (μW − p)/2."""
    directions = np.vstack([np.eye(3)] * 2)
    contact = FrictionalContact(
        directions @ directions.T, directions @ np.array([-1.0, 0.1, 0.0]), 0.5, polygon=4
    )
    assert uniqueness(solve(contact)).upper[2] == pytest.approx((0.5 - 0.1) / 2)


@pytest.mark.parametrize("seed", range(20))
def test_polygons_enumerated_by_states_and_as_linear_problem_agree(seed):
    rng = np.random.default_rng(seed)
    directions = rng.standard_normal((3, 3))
    contact = FrictionalContact(directions @ directions.T, rng.standard_normal(3), 0.6, polygon=4)
    conversion = as_linear(contact)
    through = enumerate_solutions(conversion.problem)
    images = {
        tuple(np.round(contact.image(conversion.recover(piece.point)), 6) + 0.0) for piece in through.pieces
    }
    assert {tuple(np.round(motion, 6) + 0.0) for motion in enumerate_solutions(contact).motions()} == images


def test_many_unknowns_do_not_overflow_the_count_of_combinations():
    rng = np.random.default_rng(0)
    matrix = np.eye(1100) + 1e-3 * np.triu(rng.standard_normal((1100, 1100)), 1)
    problem = LinearComplementarity(matrix, rng.standard_normal(1100))
    with pytest.raises(NotApplicable, match="combinations"):
        solve(problem, "enumeration")


def test_a_large_sparse_contradiction_is_proved_without_dense_matrices():
    n = 6000
    matrix = sparse.block_diag([sparse.eye_array(n - 2), [[1.0, -1.0], [-1.0, 1.0]]], format="csr")
    with pytest.raises(NoSolution, match="contradict each other"):
        solve(LinearComplementarity(matrix, -np.ones(n)))


def test_arrays_of_the_caller_are_neither_changed_nor_watched():
    data = sparse.csr_array(
        (np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2)
    )
    before = data.data.copy()
    offset = np.array([-1.0, -1.0])
    solution = solve(LinearComplementarity(data, offset))
    offset[:] = 5.0
    assert data.data.tolist() == before.tolist()
    assert solution.residuals.worst <= 1e-9


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: LinearComplementarity(sparse.csr_array([[1.0, np.nan], [0, 1]]), [1, 1]),
            r"matrix\[0, 1\] is nan",
        ),
        (lambda: LinearComplementarity(np.eye(2) * 1j, [1.0, 1.0]), "matrix is complex"),
        (
            lambda: FrictionalContact.from_parts(
                np.eye(2), [1, 1], normal=[0], tangential=[1], friction=[[np.inf]]
            ),
            r"friction\[0, 0\] is inf",
        ),
        (lambda: solve(LinearComplementarity(np.eye(2), [1, 1]), Lemke), "is the class Lemke"),
        (
            lambda: solve(LinearComplementarity(np.eye(2), [-1, 1]), Lemke(basis=[True])),
            r"basis has shape \(1,\)",
        ),
    ],
)
def test_bad_input_is_told(build, sentence):
    with pytest.raises(InvalidProblem, match=sentence):
        build()


@pytest.mark.parametrize(
    "solver", ["auto", "lemke", "active-set", "gauss-seidel", "prox", "newton", "enumeration"]
)
def test_nothing_to_solve_is_solved_by_everyone(solver):
    for matrix in (np.empty((0, 0)), sparse.csr_array((0, 0))):
        assert solve(LinearComplementarity(matrix, []), solver).x.size == 0
    assert solve(FrictionalContact(np.empty((0, 0)), [], dimension=1), solver).x.size == 0


def test_a_branch_whose_family_ends_is_lost_in_finite_time():
    branch = follow(lambda s: LinearComplementarity([[1.0]], [-np.sqrt(1 - s)]), 0.0, 2.0, steps=10)
    assert [event.kind for event in branch.events][-2:] == ["lost", "end"]
    assert branch.parameter[-1] == pytest.approx(1.0, abs=1e-3)


def test_two_contacts_that_open_together_are_one_event_each():
    branch = follow(lambda s: LinearComplementarity(np.eye(2), [s, s]), -1.0, 1.0, steps=5)
    assert [event.kind for event in branch.events] == ["opens", "opens", "end"]
    assert set(branch.number) == {0}


def test_branches_of_mixed_problems_are_in_the_users_unknowns():
    """A mass on a spring with a stop under the load s: free displacement and contact force."""
    family = lambda s: MixedComplementarity([[1.0, -1.0], [1.0, 0.0]], [s, 1.0], free=1)  # noqa: E731
    branch = follow(family, 0.0, 2.0, steps=10, first=[0.0, 0.0])
    assert branch.x.shape[1] == 2
    assert branch.x[-1] == pytest.approx([-1.0, 1.0])
    with pytest.raises(InvalidProblem, match="first has shape"):
        follow(family, 0.0, 2.0, first=[0.0])
