"""``auto`` on contacts with friction: order of solvers, uncoupled parts, closest points, problem files."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sparse
from benchmarks.files.generate import KINDS
from benchmarks.files.problem_file import ProblemFile, read

from klapper.complementarity import (
    Admm,
    ComplementarityError,
    FrictionalContact,
    GaussSeidel,
    NotDecided,
    dispatch,
    solve,
)
from klapper.complementarity.errors import IterationLimit

FILES = Path(__file__).resolve().parents[2] / "benchmarks" / "files" / "problems"


def contact(file: ProblemFile) -> FrictionalContact:
    return FrictionalContact(file.matrix, file.load, file.friction, dimension=file.dimension)


def stack(number: int = 8) -> FrictionalContact:
    """Boxes on four corners each, on which sweeps creep: the stored file of this kind, dense."""
    file = read(FILES / "boxes.npz")
    return FrictionalContact(file.matrix.toarray(), file.load, file.friction)


class TestFiles:
    @pytest.mark.parametrize("number, name", list(enumerate(KINDS)))
    def test_stored_problems_are_those_of_the_generator(self, number: int, name: str) -> None:
        made, stored = KINDS[name](np.random.default_rng(number)), read(FILES / f"{name}.npz")
        assert abs(made.matrix - stored.matrix).max() <= 1e-12 * abs(stored.matrix).max()
        np.testing.assert_allclose(made.load, stored.load, rtol=1e-9, atol=1e-15)

    @pytest.mark.parametrize("name", KINDS)
    def test_auto_reaches_the_error_of_the_collection_in_few_attempts(self, name: str) -> None:
        file = read(FILES / f"{name}.npz")
        solution = solve(contact(file))
        assert file.error(solution.x) <= 1e-8
        assert len(solution.attempts) <= 3
        assert solution.iterations <= 500

    def test_alternating_directions_reach_rocks_whose_gaps_no_motion_meets(self) -> None:
        file = read(FILES / "rocks.npz")
        solution = solve(contact(file), "admm")
        assert file.error(solution.x) <= 1e-7
        assert solution.iterations <= 4000
        with pytest.raises(IterationLimit):
            Admm(memory=0, max_iterations=4000).attempt(contact(file), None, 1e-9)

    def test_the_pile_of_another_program_is_reached(self) -> None:
        """463 contacts with friction 1: the forces of a part creep for 1e5 iterations."""
        folder = os.environ.get("KLAPPER_PROBLEMS", "")
        path = Path(folder) / "frictional_contact" / "RockPile_tob1.npz"
        if not folder or not path.exists():
            pytest.skip("needs KLAPPER_PROBLEMS, a folder with frictional_contact/RockPile_tob1.npz")
        file = read(path)
        try:
            forces = solve(contact(file)).x
        except NotDecided as error:
            assert error.closest is not None
            forces = error.closest
        assert file.error(forces) <= 1e-6


class TestParts:
    def test_one_stack_among_grains_does_not_choose_the_solver_of_all(self) -> None:
        """300 single grains are solved by a sweep; the stack alone goes on to a method of 96 rows."""
        tall, grains = stack(), 300
        matrix = sparse.block_diag([tall.delassus, *[np.diag([1.0, 3.0, 3.0])] * grains], format="csr")
        load = np.concatenate([tall.free_velocity, np.tile([-1.0, 0.2, 0.9], grains)])
        friction = np.concatenate([np.full(tall.contacts, 0.7), np.full(grains, 0.5)])
        seen: list[int] = []
        call = dispatch._rough_contacts

        def watched(problem, guess, tolerance):
            seen.append(problem.size)
            return call(problem, guess, tolerance)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(dispatch, "_rough_contacts", watched)
            solution = solve(FrictionalContact(matrix, load, friction))
        assert seen == [len(load), tall.size]
        assert solution.solver == "newton"
        np.testing.assert_allclose(solution.x[-3:], [1.0, -0.2 / 3.0, -0.9 / 3.0], atol=1e-8)

    def test_violations_are_those_of_the_residuals_row_by_row(self) -> None:
        rng = np.random.default_rng(5)
        for _ in range(50):
            m = int(rng.integers(1, 5))
            root = rng.standard_normal((3 * m + 2, 3 * m + 2))
            problem = FrictionalContact.from_parts(
                root @ root.T, rng.standard_normal(3 * m + 2), normal=np.arange(m),
                tangential=m + np.arange(2 * m).reshape(m, 2), friction=rng.uniform(0, 1, m),
                bilateral=[3 * m, 3 * m + 1],
            )  # fmt: skip
            x = rng.standard_normal(problem.size)
            assert problem.violations(x).max() == pytest.approx(problem.residuals(x).worst)

    def test_parts_without_solution_leave_the_others_solved_in_the_closest_point(self) -> None:
        """A part that no force can hold, v_N = −1 − 2 λ_N with W indefinite, beside a block with Λ_N = 1."""
        matrix = sparse.block_diag([np.diag([-2.0, 1.0, 1.0]), np.eye(3)], format="csr")
        problem = FrictionalContact(matrix, [-1.0, 0.0, 0.1, -1.0, 0.8, 0.0], 0.5)
        with pytest.raises(ComplementarityError) as failed:
            solve(problem)
        assert failed.value.closest is not None
        np.testing.assert_allclose(failed.value.closest[3:], [1.0, -0.5, 0.0], atol=1e-6)


class TestClosest:
    @pytest.mark.parametrize("solver", [GaussSeidel(max_sweeps=3), Admm(max_iterations=20)])
    def test_an_iteration_that_stops_hands_over_its_point(self, solver) -> None:
        problem = stack()
        with pytest.raises(IterationLimit) as stopped:
            solve(problem, solver)
        assert stopped.value.closest is not None
        assert (
            problem.residuals(stopped.value.closest).worst < problem.residuals(np.zeros(problem.size)).worst
        )

    def test_what_is_not_decided_tells_the_residual_of_the_closest_point(self) -> None:
        """Pressed upon with W singular in the normal direction: v_N = −1 for every force."""
        problem = FrictionalContact(np.diag([0.0, 1.0, 1.0]), [-1.0, 0.3, 0.0], 0.5)
        with pytest.raises(NotDecided) as failed:
            solve(problem)
        assert failed.value.closest is not None
        assert f"{problem.residuals(failed.value.closest).worst:.1e}" in str(failed.value)


@pytest.mark.filterwarnings("error")
def test_contacts_of_extreme_size_raise_no_warnings() -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(1, 4))
        scale = 10.0 ** rng.uniform(-150, 150, 3 * m)
        root = rng.standard_normal((3 * m, 3 * m))
        matrix = (root @ root.T) * scale[:, None] if seed % 2 else root * scale
        load = rng.standard_normal(3 * m) * 10.0 ** rng.uniform(-250, 250)
        try:
            solve(FrictionalContact(matrix, load, rng.uniform(0, 2, m)))
        except ComplementarityError as error:
            assert str(error)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e6, 1e12])
def test_units_of_forces_and_velocities_change_nothing(unit: float) -> None:
    plain = solve(stack())
    tall = stack()
    stiff = solve(FrictionalContact(tall.delassus * unit, tall.free_velocity, 0.7))
    fast = solve(FrictionalContact(tall.delassus, tall.free_velocity * unit, 0.7))
    np.testing.assert_allclose(stiff.y, plain.y, atol=1e-7)
    np.testing.assert_allclose(fast.y, plain.y * unit, atol=1e-7 * unit)
