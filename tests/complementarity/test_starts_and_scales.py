"""What a solver begins with: scales near one, factors that converge, starts that are used, the smallest of answers."""

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse.linalg import aslinearoperator

from klapper.complementarity import FrictionalContact, LinearComplementarity, solve
from klapper.complementarity.alart_curnier import AlartCurnier
from klapper.complementarity.enumeration import Enumeration
from klapper.complementarity.newton import equilibrating_scales
from klapper.complementarity.prox import global_factor


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_largest_entries_of_rows_and_columns_come_near_one(form) -> None:
    """Rows and columns in units between 1e-6 and 1e6."""
    rng = np.random.default_rng(0)
    units, others = 10.0 ** rng.uniform(-6.0, 6.0, (2, 7))
    matrix = units[:, None] * rng.uniform(0.1, 1.0, (7, 7)) * others
    row, column = equilibrating_scales(form(matrix))
    scaled = row[:, None] * matrix * column
    for largest in (scaled.max(axis=0), scaled.max(axis=1)):
        assert np.all(np.abs(np.log(largest)) <= 1.0)


def test_the_factor_of_an_operator_keeps_the_iteration_stable() -> None:
    """1 − r ξ lies between −1 and 1 for all eigenvalues ξ if r ≤ 2/ξ_max; a much smaller r would be slow."""
    eigenvalues = np.linspace(0.1, 3.0, 40)
    factor = global_factor(aslinearoperator(np.diag(eigenvalues)))
    assert 1.5 <= factor * eigenvalues.max() <= 2.0


def test_the_factor_where_nothing_moves_is_one() -> None:
    assert global_factor(np.zeros((2, 2))) == 1.0


def test_a_solution_as_start_leaves_nothing_to_exchange() -> None:
    """The tridiagonal problem of an elastic string above a floor, pressed down on its left half."""
    n = 20
    matrix = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    problem = LinearComplementarity(matrix, np.where(np.arange(n) < n // 2, -1.0, 1.0))
    cold = solve(problem)
    assert 0 < np.count_nonzero(cold.x) < n
    warm = solve(problem, start=cold.x)
    assert warm.x == pytest.approx(cold.x)
    assert warm.attempts[-1].iterations == 1 < cold.attempts[-1].iterations


def test_of_several_solutions_the_smallest_is_taken() -> None:
    """0 ≤ x ⟂ 1 − x ≥ 0 in each of two unknowns: x is 0 or 1."""
    assert Enumeration().attempt(LinearComplementarity(-np.eye(2), [1.0, 1.0]), None, 1e-9).x.tolist() == [
        0,
        0,
    ]


def test_projections_keep_the_bound_of_accelerated_gradients() -> None:
    """f(x_k) − f* ≤ 2 L ‖x*‖²/(k + 1)² (Beck & Teboulle 2009), which plain projections miss here by far.

    A chain of n springs of ¼ N/m pulled at one end, x* = 1 − i/(n + 1), eigenvalues below one, L 10 % larger at most.
    """
    n, sweeps = 400, 400
    ones = np.ones(n - 1)
    matrix = 0.25 * sparse.diags_array([2.0 * np.ones(n), -ones, -ones], offsets=[0, 1, -1]).tocsr()
    pull = np.zeros(n)
    pull[0] = -0.25
    exact = 1.0 - np.arange(1, n + 1) / (n + 1)

    def energy(x: np.ndarray) -> float:
        return float(0.5 * x @ (matrix @ x) + pull @ x)

    bound = 2.0 * 1.1 * (exact @ exact) / (sweeps + 1) ** 2
    mapping = AlartCurnier(FrictionalContact(matrix, pull, dimension=1))
    found = mapping.projected_gradient(np.zeros(n), sweeps) * mapping.force_unit
    assert energy(found) - energy(exact) <= bound
    plain = np.zeros(n)
    for _ in range(sweeps):
        plain = np.maximum(plain - (matrix @ plain + pull), 0.0)
    assert energy(plain) - energy(exact) > bound
