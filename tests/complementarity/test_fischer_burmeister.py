"""The penalised Fischer–Burmeister function: zero exactly on 0 ≤ x ⟂ y ≥ 0, and its derivative by differences."""

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.complementarity.fischer_burmeister import FischerBurmeister

MATRIX = np.array([[2.0, 0.3, -0.5], [-0.4, 1.0, 0.2], [0.1, -0.6, 1.5]])
OFFSET = np.array([-0.3, 0.4, 0.2])


def function(x: np.ndarray) -> np.ndarray:
    return MATRIX @ x + OFFSET + 0.1 * x**3


def mapping(form=np.array, **given) -> FischerBurmeister:
    """Two pairs and one equation."""
    return FischerBurmeister(
        function,
        lambda x: form(MATRIX + np.diag(0.3 * x**2)),
        np.array([False, False, True]),
        **given,
    )


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(6))
def test_its_derivative_is_that_of_differences(form, smoothing: float, seed: int) -> None:
    x = np.random.default_rng(seed).uniform(-1.0, 1.5, 3)
    phi, d = mapping(form, smoothing=smoothing), 1e-6
    found = phi.derivative(x)
    columns = [(phi.value(x + d * unit) - phi.value(x - d * unit)) / (2.0 * d) for unit in np.eye(3)]
    dense = found.toarray() if sparse.issparse(found) else found
    np.testing.assert_allclose(dense, np.transpose(columns), atol=1e-8)


@pytest.mark.parametrize(
    ("x", "y", "zero"),
    [
        (0.0, 2.0, True),
        (3.0, 0.0, True),
        (0.0, 0.0, True),
        (1.0, 1.0, False),
        (-1.0, 2.0, False),
        (2.0, -1.0, False),
    ],
)
def test_it_vanishes_where_both_are_not_negative_and_one_is_zero(x: float, y: float, zero: bool) -> None:
    pair = FischerBurmeister(lambda x: np.array([y]), lambda x: np.zeros((1, 1)), np.array([False]))
    assert (abs(pair.value(np.array([x]))[0]) < 1e-15) == zero
