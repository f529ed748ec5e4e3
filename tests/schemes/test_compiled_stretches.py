"""A compiled loop ends with the state that a step by hand would begin with: forces in newton, not in scaled units."""

import numpy as np
import pytest

from klapper.mechanics import Anisotropic, Contact, LinearSystem
from klapper.schemes import Moreau

STRONG, WEAK, WEIGHT, STEP = 0.45, 0.15, 10.0, 1e-3


@pytest.mark.parametrize("direction", [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
def test_impulses_at_the_end_are_those_of_the_ellipse_of_friction(direction):
    """λ_T = −(μ_x² n_x, μ_y² n_y) N/|(μ_x n_x, μ_y n_y)| for sliding along n; one step of h gives h times that."""
    directions = {"normal": [0.0, 0.0, 1.0], "tangents": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]}
    floor = Contact("floor", friction=Anisotropic(WEAK, STRONG), **directions)
    mass = LinearSystem(
        [1.0, 1.0, 1.0], force=[0.0, 0.0, -WEIGHT], velocity=[*direction, 0.0], contacts=[floor]
    )
    scheme = Moreau(STEP)
    after, samples, why = scheme.stretch(mass).run(scheme.init(mass), 5, 1)
    assert why == ""
    coefficients, along = np.array([WEAK, STRONG]), after.velocity[:2]
    friction = -WEIGHT * coefficients**2 * along / np.linalg.norm(coefficients * along)
    assert after.impulse[0] == pytest.approx(STEP * np.array([WEIGHT, *friction]), rel=1e-8, abs=1e-15)
    assert after.impulse[0] == pytest.approx(samples["impulse"][-1, 0], rel=1e-14)
