"""Velocities from impulses, with and without two-sided constraints."""

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings, strategies as st

from klapper.schemes.mobility import Held, Inverse


def matrix(seed: int, n: int, *, symmetric: bool = True) -> np.ndarray:
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((n, n))
    return a @ a.T + n * np.eye(n) + (0.0 if symmetric else 1.0) * (a - a.T)


@pytest.mark.parametrize(
    "form", ["dense", "large dense", "sparse", "diagonal", "dense diagonal", "unsymmetric"]
)
def test_every_form_of_a_matrix_is_inverted(form: str) -> None:
    n = 350 if form == "large dense" else 12
    full = {
        "sparse": np.diag(np.arange(2.0, n + 2)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1),
        "diagonal": np.diag(np.arange(1.0, n + 1)),
        "dense diagonal": np.diag(np.arange(1.0, n + 1)),
        "unsymmetric": matrix(1, n, symmetric=False),
    }.get(form, matrix(0, n))
    inverse = Inverse(sparse.csr_array(full) if form in ("sparse", "diagonal") else full)
    assert inverse.symmetric == (form != "unsymmetric")
    rng = np.random.default_rng(3)
    for right in (rng.standard_normal(n), rng.standard_normal((n, 4)), np.zeros((n, 0))):
        np.testing.assert_allclose(full @ inverse(right), right, atol=1e-10)
    columns = sparse.random_array((n, 5), density=0.3, rng=rng, format="csc")
    found = inverse(columns)
    found = found.toarray() if sparse.issparse(found) else found
    np.testing.assert_allclose(full @ found, columns.toarray(), atol=1e-10)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(0, 3), st.booleans())
def test_held_constraints_hold_and_redundant_ones_change_no_motion(
    seed: int, count: int, copies: int, symmetric: bool
) -> None:
    """Against the saddle point system by least squares: same motion, whether or not constraints are redundant."""
    rng = np.random.default_rng(seed)
    n = 6
    m = matrix(seed, n, symmetric=symmetric)
    independent = rng.standard_normal((n, count))
    direction = np.hstack([independent, independent @ rng.standard_normal((count, copies))])
    held = Held(Inverse(m), direction, tuple(f"c{i}" for i in range(count + copies)))
    assert held.rank == count
    assert held.redundant == copies
    push = rng.standard_normal(n)
    response = held.respond(push)
    np.testing.assert_allclose(direction.T @ response, 0.0, atol=1e-9)
    p = count + copies
    saddle = np.block([[m, -direction], [direction.T, np.zeros((p, p))]])
    exact = np.linalg.lstsq(saddle, np.concatenate([push, np.zeros(p)]), rcond=1e-12)[0]
    np.testing.assert_allclose(response, exact[:n], atol=1e-8)
    # impulses that remove a given velocity, and the smallest of them
    velocity = rng.standard_normal(n)
    violation = direction.T @ velocity
    impulses = held.impulses(violation)
    np.testing.assert_allclose(direction.T @ (velocity + held.push(impulses)), 0.0, atol=1e-8)
    if symmetric and copies:
        free = np.linalg.svd(direction)[2][count:]
        mobility = np.diag(direction.T @ np.linalg.solve(m, direction))  # the measure of each impulse
        np.testing.assert_allclose(free @ (mobility * impulses), 0.0, atol=1e-7)
    assert held.contradiction(violation) == ("", 0.0)


def test_what_no_impulse_can_meet_is_named() -> None:
    held = Held(Inverse(np.eye(2)), np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), ("a", "b", "c"))
    name, by = held.contradiction(np.array([0.0, 1.0, 3.0]))
    assert name in ("a", "b")
    assert abs(by) == pytest.approx(0.5)
    assert held.contradiction(np.array([1.0, 1.0, 3.0])) == ("", 0.0)
    assert held.contradiction(np.zeros(3)) == ("", 0.0)


def test_without_constraints_a_push_moves_by_the_inverse_mass() -> None:
    held = Held(Inverse(np.diag([1.0, 2.0])), np.zeros((2, 0)))
    assert (held.rank, held.redundant) == (0, 0)
    np.testing.assert_allclose(held.respond(np.array([1.0, 1.0])), [1.0, 0.5])
    held = Held(Inverse(np.diag([1.0, 2.0])), sparse.csr_array((2, 0)))
    np.testing.assert_allclose(held.respond(np.array([1.0, 1.0])), [1.0, 0.5])


@pytest.mark.parametrize(("unit", "heavy"), [(1e-6, 1.0), (1.0, 1e12), (1e-3, 1e6)])
def test_constraints_of_very_different_size_are_not_redundant(unit: float, heavy: float) -> None:
    """Neither the unit of a constraint nor the mass that it holds makes it redundant."""
    held = Held(Inverse(np.diag([1.0, heavy])), np.diag([1.0, unit]), ("light", "heavy"))
    assert held.rank == 2
