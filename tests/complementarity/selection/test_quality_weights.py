"""The quality functional with a weight P: each ansatz is one, z = v̇ᵀ P v̇ with M v̇ = W x + f."""

import numpy as np
import pytest

from klapper.complementarity.selection import ForceSet, QualityFunctional

MASS = np.array([[2.0, 0.5, 0.0], [0.5, 3.0, 0.2], [0.0, 0.2, 1.5]])


@pytest.mark.parametrize(
    ("ansatz", "weight"),
    [
        (QualityFunctional(1), np.eye(3)),
        (QualityFunctional(2), MASS @ MASS),
        (QualityFunctional(3, coordinate=2), np.diag([0.0, 0.0, 1.0])),
    ],
    ids=["accelerations", "forces", "one acceleration"],
)
def test_an_ansatz_is_a_weight(ansatz: QualityFunctional, weight: np.ndarray) -> None:
    rng = np.random.default_rng(4)
    directions, load, x = rng.standard_normal((3, 5)), rng.standard_normal(3), rng.standard_normal(5)
    forces = ForceSet.from_arrays(
        np.zeros(5), directions, patches=np.arange(5), limit=np.ones(5), mass=MASS, load=load
    )
    acceleration = np.linalg.solve(MASS, directions @ x + load)
    expected = acceleration @ weight @ acceleration
    for rule in (ansatz, QualityFunctional(weight=weight)):
        matrix, offset = rule.residual(forces)
        assert np.sum((matrix @ x + offset) ** 2) == pytest.approx(expected, rel=1e-10)
