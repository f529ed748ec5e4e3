"""Which mass matrices are refused: those with a direction that has no kinetic energy, or a negative one."""

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.mass_solver import mass_solver

INDEFINITE = {
    "no inertia": [[1.0, 0.0], [0.0, 0.0]],
    "no inertia of a difference": [[1.0, 1.0], [1.0, 1.0]],
    "negative": [[1.0, 0.0], [0.0, -1.0]],
    "nothing on the diagonal": [[0.0, 1.0], [1.0, 0.0]],
    "nothing in one place": [[0.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]],
}


@pytest.mark.parametrize("form", [np.array, sparse.csc_array])
@pytest.mark.parametrize("matrix", INDEFINITE.values(), ids=INDEFINITE.keys())
def test_a_mass_matrix_that_is_not_positive_definite_is_refused(form, matrix) -> None:
    with pytest.raises(InvalidModel, match="mass is not positive definite"):
        mass_solver(form(matrix), len(matrix))


@pytest.mark.parametrize("form", [np.array, sparse.csc_array])
def test_a_positive_definite_mass_matrix_is_inverted(form) -> None:
    matrix = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    force = np.array([1.0, -2.0, 0.5])
    assert mass_solver(form(matrix), 3)(matrix @ force) == pytest.approx(force, rel=1e-14)
