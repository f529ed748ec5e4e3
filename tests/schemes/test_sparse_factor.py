"""Sparse factors: right answers whatever was factorised before, and PARDISO's phases in their order."""

import gc
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse.linalg import splu

from klapper.schemes import pardiso_factor, sparse_factor
from klapper.schemes.sparse_factor import SingularMatrix, factorised


def grid_matrix(n: int, seed: int) -> sparse.csr_array:
    """Five-point structure over n × n, values neither symmetric nor dominant by rows."""
    rng = np.random.default_rng(seed)
    line = sparse.diags_array([np.ones(n - 1), np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1])
    matrix = sparse.csr_array(sparse.kron(line, sparse.eye_array(n)) + sparse.kron(sparse.eye_array(n), line))
    matrix.data = rng.uniform(-1.0, 1.0, matrix.nnz)
    return sparse.csr_array(matrix + 3.0 * sparse.eye_array(n * n))


def answers(matrix: sparse.csr_array) -> None:
    right = np.random.default_rng(9).standard_normal((matrix.shape[0], 2))
    solve = factorised(matrix)
    np.testing.assert_allclose(matrix @ solve(right[:, 0]), right[:, 0], atol=1e-11)
    np.testing.assert_allclose(matrix @ solve(right), right, atol=1e-11)


class Phases:
    """Stands for pypardiso: factorises with SuperLU, and refuses phases that MKL could not answer."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []
        self.made = self.alive = 0
        self.PyPardisoError = type("PyPardisoError", (Exception,), {})

    def PyPardisoSolver(self, mtype: int) -> SimpleNamespace:
        self.made += 1
        solver = SimpleNamespace(mtype=mtype, phase=0, structure=None, factor=None)
        solver.set_phase = lambda phase: setattr(solver, "phase", phase)
        solver._call_pardiso = lambda matrix, right: self._call(solver, matrix, right)
        solver.free_memory = lambda everything: self._free(solver)
        return solver

    def _call(self, solver: SimpleNamespace, matrix: sparse.csr_matrix, right: np.ndarray) -> np.ndarray:
        self.calls.append((solver.phase, solver.mtype))
        if solver.phase == 12:
            assert solver.structure is None  # what MKL holds for a solver is released first
            self.alive += 1
            solver.structure = matrix.indptr.copy(), matrix.indices.copy()
        assert all(map(np.array_equal, solver.structure, (matrix.indptr, matrix.indices)))
        if solver.phase in (12, 22):
            solver.factor = splu(matrix.tocsc())
        return solver.factor.solve(right)

    def _free(self, solver: SimpleNamespace) -> None:
        self.alive -= 1
        solver.structure = solver.factor = None


@pytest.fixture
def phases(monkeypatch: pytest.MonkeyPatch):
    fake = Phases()
    monkeypatch.setattr(sparse_factor, "_LARGE", 161)
    monkeypatch.setattr(sparse_factor, "_pardiso", lambda: fake)
    monkeypatch.setattr(pardiso_factor, "_pardiso", lambda: fake)
    monkeypatch.setattr(pardiso_factor, "_idle", type(pardiso_factor._idle)())
    monkeypatch.setattr(pardiso_factor, "_spare", {kind: deque() for kind in pardiso_factor._spare})
    return fake


def test_values_change_and_structures_alternate() -> None:
    for seed in range(6):
        answers(grid_matrix(20 + seed % 2, seed))


def test_a_structure_with_an_entry_elsewhere_is_another_one() -> None:
    matrix = grid_matrix(20, 1)
    answers(matrix)
    moved = matrix.tolil()
    moved[0, 1], moved[0, 7] = 0.0, 0.5
    moved = moved.tocsr()
    moved.eliminate_zeros()
    assert moved.nnz == matrix.nnz
    answers(moved)


def test_where_the_diagonal_gives_no_accuracy_rows_are_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_factor, "_PIVOT", 0.0)
    pairs = sparse.kron(sparse.eye_array(200), np.array([[1e-18, 1.0], [1.0, 1e-18]]))
    bad = sparse_factor._superlu(sparse.csr_array(pairs), 0.0)(np.arange(400.0))
    assert np.abs(pairs @ bad - np.arange(400.0)).max() > 1.0
    answers(sparse.csr_array(pairs))


def test_multipliers_without_a_diagonal_are_solved_for() -> None:
    inner = grid_matrix(20, 2)
    hold = sparse.csr_array((np.ones(20), (np.arange(20), np.arange(20))), shape=(400, 20))
    answers(sparse.csr_array(sparse.bmat([[inner, hold], [hold.T, None]])))


def test_an_analysis_is_used_again_for_the_same_structure_only(phases: Phases) -> None:
    for seed in range(3):
        answers(grid_matrix(20, seed))
    answers(grid_matrix(21, 4))
    factor_phases = [phase for phase, _ in phases.calls if phase != 33]
    assert factor_phases == [12, 22, 22, 12]
    gc.collect()
    assert phases.alive == 1


def test_two_living_factors_of_one_structure_do_not_disturb_each_other(phases: Phases) -> None:
    first, second = grid_matrix(20, 1), grid_matrix(20, 2)
    right = np.ones(400)
    solve_first, solve_second = factorised(first), factorised(second)
    np.testing.assert_allclose(first @ solve_first(right), right, atol=1e-11)
    np.testing.assert_allclose(second @ solve_second(right), right, atol=1e-11)
    assert phases.alive == 2
    del solve_first, solve_second
    gc.collect()
    assert phases.alive == 1


def held_grid(hold_again: bool = False) -> sparse.csr_array:
    """With multipliers that hold 20 of 400 coordinates, the first of them twice if wanted."""
    place = np.append(np.arange(20), 0) if hold_again else np.arange(20)
    k = len(place)
    hold = sparse.csr_array((np.ones(k), (place, np.arange(k))), shape=(400, k))
    return sparse.csr_array(sparse.bmat([[grid_matrix(20, 2), hold], [hold.T, None]]))


def test_matrices_with_multipliers_are_analysed_once_by_their_structure(phases: Phases) -> None:
    for _ in range(2):
        answers(held_grid())
    assert [call for call in phases.calls if call[0] != 33] == [(12, 1), (22, 1)]
    assert phases.alive == 1


def test_matrices_without_symmetric_structure_are_analysed_anew_and_released(phases: Phases) -> None:
    lopsided = held_grid().tolil()
    lopsided[0, 399] = 0.1
    for _ in range(2):
        answers(sparse.csr_array(lopsided))
    assert {call for call in phases.calls if call[0] != 33} == {(12, 11)}
    assert phases.alive == 0
    assert phases.made == 1  # a new solver looks for MKL in all folders: the empty one is used again


def test_numbers_in_place_of_zeros_are_not_in_the_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, right = held_grid(), np.random.default_rng(3).standard_normal(420)
    exact = np.linalg.solve(matrix.toarray(), right)
    monkeypatch.setattr(sparse_factor, "_LARGE", 161)
    filled = sparse_factor._without_zeros(matrix)
    assert np.all(filled.diagonal())
    coarse = splu(filled.tocsc()).solve(right)
    assert np.abs(coarse - exact).max() > 1e-9
    np.testing.assert_allclose(factorised(matrix)(right), exact, rtol=0, atol=1e-13 * np.abs(exact).max())


def test_a_small_number_does_not_hide_that_a_matrix_is_singular(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_factor, "_LARGE", 161)
    right = np.append(np.zeros(420), 1.0)  # twice held, at two places
    with pytest.raises(SingularMatrix):
        factorised(held_grid(hold_again=True))(right)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_matrices_that_are_not_finite_are_told(phases: Phases, value: float) -> None:
    matrix = grid_matrix(20, 3)
    matrix.data[5] = value
    with pytest.raises(SingularMatrix, match="not finite"):
        factorised(matrix)


def test_a_solver_that_hides_a_singular_matrix_is_found_out() -> None:
    """PARDISO replaces a zero pivot by a tiny one and goes on; what it gives then does not solve the equations."""
    rows = grid_matrix(20, 3)
    hiding = sparse_factor._Checked(rows, lambda diagonal: lambda right: 0.0 * right, False)
    with pytest.raises(SingularMatrix, match="singular to the accuracy of numbers"):
        hiding(np.ones(400))


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_zeros_on_a_diagonal_are_replaced_where_they_are_few(zeros: int) -> None:
    """None, one or two of four; not three."""
    diagonal = np.where(np.arange(4) < zeros, 0.0, 2.0)
    matrix = sparse.csr_array(np.diag(diagonal) + np.eye(4, k=1) + np.eye(4, k=-1))
    filled = sparse_factor._without_zeros(matrix)
    assert (filled is matrix) == (zeros in (0, 3))
    assert np.all(filled.diagonal()) == (zeros < 3)
    np.testing.assert_allclose(filled.toarray(), matrix.toarray(), atol=1e-6)
