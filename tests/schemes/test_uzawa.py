"""Uzawa's iteration converges below 2/ρ of the Schur complement and not beyond; augmentation always."""

import numpy as np
import pytest
from uzawa import largest_relaxation, uzawa

from klapper.mechanics import Constraint, LinearSystem
from klapper.schemes import AugmentedLagrange, EnergyMomentum
from klapper.schemes.saddle_point import saddle_point
from klapper.simulation import SimulationFailed, simulate

RANDOM = np.random.default_rng(3)
FACTOR = RANDOM.standard_normal((8, 8))
A = FACTOR @ FACTOR.T + 8.0 * np.eye(8)
B = RANDOM.standard_normal((8, 3))
R, S = RANDOM.standard_normal(8), RANDOM.standard_normal(3)


def test_it_tends_to_the_solution_of_the_whole_below_the_limit() -> None:
    exact = saddle_point(A, B, B, np.ones(3, dtype=bool))(np.concatenate([R, S]))
    found = uzawa(A, B, B, R, S, relaxation=0.5 * largest_relaxation(A, B, B), rounds=400)
    np.testing.assert_allclose(found.x, exact[:8], atol=1e-9)
    np.testing.assert_allclose(found.multipliers, exact[8:], atol=1e-9)


def test_the_limit_is_sharp() -> None:
    limit = largest_relaxation(A, B, B)
    assert limit == pytest.approx(2.0 / np.linalg.eigvalsh(B.T @ np.linalg.solve(A, B)).max())
    below, beyond = (uzawa(A, B, B, R, S, relaxation=f * limit, rounds=600).violations for f in (0.99, 1.01))
    assert below[-1] < 1e-2 * below[100]
    assert beyond[-1] > 1e2 * beyond[100]


def test_augmentation_converges_beyond_with_the_rate_of_theory() -> None:
    """One mass held by one constraint: σ = h/(2/h m) per unit of λ, each round leaves 1/(1 + ε h²/(2 m))."""
    mass, h, stiffness = 2.0, 0.1, 100.0
    system = LinearSystem([mass, 1.0], force=[3.0, 0.0], constraints=[Constraint("held", [1.0, 0.0])])
    factor = 1.0 / (1.0 + stiffness * h * h / (2.0 * mass))
    first = 3.0 * h * h / (2.0 * mass) * factor  # violation after the first round
    rounds = int(np.ceil(np.log(1e-9 / first) / np.log(factor))) + 1
    simulate(system, h, EnergyMomentum(h, enforcement=AugmentedLagrange(stiffness, 1e-9, most=rounds)))
    with pytest.raises(SimulationFailed, match="augmentations"):
        simulate(
            system, h, EnergyMomentum(h, enforcement=AugmentedLagrange(stiffness, 1e-9, most=rounds - 1))
        )
