"""The quality functional with a weight P: each ansatz is one, z = v̇ᵀ P v̇ with M v̇ = W x + f."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

from klapper.complementarity import InvalidProblem
from klapper.complementarity.selection import ForceSet, QualityFunctional

MASS = np.array([[2.0, 0.5, 0.0], [0.5, 3.0, 0.2], [0.0, 0.2, 1.5]])


@pytest.mark.parametrize(
    ("ansatz", "weight"),
    [
        (QualityFunctional(1), np.eye(3)),
        (QualityFunctional(2), MASS @ MASS),
        (QualityFunctional(3), None),
    ],
    ids=["accelerations", "forces", "accelerations of contacts"],
)
def test_an_ansatz_is_a_weight(ansatz: QualityFunctional, weight: np.ndarray | None) -> None:
    rng = np.random.default_rng(4)
    directions, load, x = rng.standard_normal((3, 5)), rng.standard_normal(3), rng.standard_normal(5)
    if weight is None:  # of all tangential accelerations
        weight = directions @ directions.T
    forces = ForceSet.from_arrays(
        np.zeros(5), directions, patches=np.arange(5)[:, None], limit=np.ones(5), mass=MASS, load=load
    )
    acceleration = np.linalg.solve(MASS, directions @ x + load)
    expected = acceleration @ weight @ acceleration
    for rule in (ansatz, QualityFunctional(weight=weight)):
        matrix, offset = rule.residual(forces)
        assert np.sum((matrix @ x + offset) ** 2) == pytest.approx(expected, rel=1e-10)


def test_contact_accelerations_do_not_depend_on_coordinates() -> None:
    """The same bodies in other velocities u, v = B u: directions Bᵀ W, mass Bᵀ M B, load Bᵀ h, the same forces."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        n, p = int(rng.integers(3, 8)), int(rng.integers(2, 4))
        directions, load = rng.standard_normal((p, n)), 4.0 * rng.standard_normal(p)
        mass, limits = np.diag(rng.uniform(0.5, 4.0, p)), rng.uniform(0.2, 2.0, n)
        change = rng.standard_normal((p, p)) + 2.0 * np.eye(p)
        found = []
        for b in (np.eye(p), change):
            forces = ForceSet.from_arrays(
                np.zeros(n), b.T @ directions, patches=np.arange(n)[:, None], limit=limits, held=np.zeros((0, n)),
                mass=b.T @ mass @ b, load=b.T @ load,
            )  # fmt: skip
            found.append(QualityFunctional(3).select(forces).forces)
        assert found[1] == pytest.approx(found[0], abs=1e-7)
        best = lsq_linear(
            directions.T @ np.linalg.solve(mass, directions),
            -directions.T @ np.linalg.solve(mass, load),
            (-limits, limits),
            method="bvls",
        )
        assert np.linalg.norm(directions @ (found[0] - best.x)) <= 1e-6


def test_weights_and_linear_terms_of_contacts_are_those_of_a_general_minimiser() -> None:
    """z = Σ w a² + 2 l a over the box of friction limits, against scipy's bounded minimiser; forces by name."""
    rng = np.random.default_rng(8)
    for _ in range(15):
        n, p = int(rng.integers(2, 6)), 3
        directions, load = rng.standard_normal((p, n)), 4.0 * rng.standard_normal(p)
        limits, weights, linear = rng.uniform(0.2, 2.0, n), rng.uniform(0.1, 3.0, n), rng.standard_normal(n)
        names = [f"{letter} tangential" for letter in "ABCDE"[:n]]
        forces = ForceSet.from_arrays(
            np.zeros(n), directions, patches=np.arange(n)[:, None], limit=limits, held=np.zeros((0, n)),
            mass=MASS, load=load, names=names,
        )  # fmt: skip
        rule = QualityFunctional(
            3,
            contact_weights={name[0]: w for name, w in zip(names, weights, strict=True)},
            contact_linear=linear,
        )

        def functional(x, directions=directions, load=load, weights=weights, linear=linear):
            a = directions.T @ np.linalg.solve(MASS, directions @ x + load)
            return np.sum(weights * a**2 + 2.0 * linear * a)

        best = minimize(
            functional, np.zeros(n), bounds=list(zip(-limits, limits, strict=True)), options={"ftol": 1e-15}
        )
        chosen = rule.select(forces)
        assert chosen.exact
        assert functional(chosen.forces) <= best.fun + 1e-9 * (1.0 + abs(best.fun))


def test_a_linear_term_without_weight_has_no_least_value() -> None:
    forces = ForceSet.from_arrays(
        [0.0], [[1.0]], patches=[[0]], limit=[1.0], held=np.zeros((0, 1)), mass=[[1.0]], load=[2.0]
    )
    with pytest.raises(InvalidProblem, match="contact_weights is 0 and contact_linear is not"):
        QualityFunctional(3, contact_weights=0.0, contact_linear=1.0).select(forces)
