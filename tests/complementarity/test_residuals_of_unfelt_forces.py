"""A force that no row feels is wrong by its whole size where its contact separates, whatever the unit of forces."""

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.complementarity import LinearComplementarity


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize("force", [1e-6, 1.0, 1e6])
def test_an_unfelt_force_at_an_open_contact_counts_whole(form, force: float) -> None:
    problem = LinearComplementarity(form([[1.0, 0.0], [0.0, 0.0]]), [-1.0, 1.0])
    right, wrong = (problem.residuals(np.array([1.0, other])) for other in (0.0, force))
    assert right.worst == 0.0
    assert (wrong.natural_map, wrong.complementarity) == pytest.approx((1.0, 1.0))
    assert wrong.feasibility == 0.0


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize("force", [-1e-6, -1.0, -1e6])
def test_an_unfelt_force_that_pulls_counts_whole(form, force: float) -> None:
    problem = LinearComplementarity(form([[1.0, 0.0], [0.0, 0.0]]), [-1.0, 1.0])
    assert problem.residuals(np.array([1.0, force])).feasibility == pytest.approx(1.0)
