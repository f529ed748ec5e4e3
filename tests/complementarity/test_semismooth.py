"""Newton's method where its matrix is singular, and when it gives up."""

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.complementarity.semismooth import _stalls, damped_newton


class Equations:
    """J x = c."""

    def __init__(self, matrix, right) -> None:
        self.matrix, self.right = matrix, np.array(right)

    def value(self, x):
        return self.matrix @ x - self.right

    def derivative(self, x):
        return self.matrix

    def shortcut(self, x):
        return None


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e8])
def test_one_damped_step_solves_singular_equations_that_fit_together(form, size: float) -> None:
    """x + y = c twice, from the origin, however large c is."""
    equations = Equations(form([[1.0, 1.0], [1.0, 1.0]]), [size, size])
    path = damped_newton(
        equations, np.zeros(2), lambda x: float(np.abs(equations.value(x)).max()), 1e-6 * size, 1
    )
    assert path.iterations == 1
    assert path.x.sum() == pytest.approx(size, rel=1e-6)


@pytest.mark.parametrize(
    ("last", "stalls"),
    [
        ([0.95] * 25, True),
        ([0.95] * 24, False),  # too few steps to tell
        ([3.0] + [0.5] * 24, False),  # rose once, and fell
        ([0.5] * 24 + [3.0], False),
        ([0.5] * 24 + [np.nan], True),
    ],
)
def test_a_search_stalls_that_gains_less_than_a_tenth_in_25_steps(last, stalls: bool) -> None:
    assert _stalls([1.0, *last]) is stalls
