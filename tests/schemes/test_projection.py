"""Penetration and drift taken out of a position: the nearest admissible one in the metric of the mass."""

import numpy as np
import pytest
from scipy.optimize import minimize

from klapper.mechanics import Constraint, Contact, FrictionElement, FunctionSystem, LinearSystem
from klapper.schemes.projection import project_position


def test_a_good_position_is_not_touched() -> None:
    system = LinearSystem([1.0, 1.0], contacts=[Contact("floor", normal=[0.0, 1.0])])
    q = np.array([0.3, 0.2])
    assert project_position(system, 0.0, q) is q


@pytest.mark.parametrize("seed", range(5))
def test_affine_gaps_are_projected_to_the_nearest_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 4
    a = rng.standard_normal((n, n))
    mass = a @ a.T + np.eye(n)
    normals, bar = rng.standard_normal((3, n)), rng.standard_normal(n)
    system = LinearSystem(
        mass,
        contacts=[
            *(Contact(f"c{i}", normal=row, gap=0.1) for i, row in enumerate(normals)),
            FrictionElement("brake", tangents=np.eye(n)[0], limit=1.0),
        ],
        constraints=[Constraint("bar", direction=bar)],
    )
    q = rng.standard_normal(n)
    found = project_position(system, 0.0, q)
    assert (normals @ found + 0.1).min() >= -1e-9
    assert abs(bar @ found) <= 1e-9
    best = minimize(
        lambda x: 0.5 * (x - q) @ mass @ (x - q),
        q,
        jac=lambda x: mass @ (x - q),
        constraints=[
            {"type": "ineq", "fun": lambda x: normals @ x + 0.1, "jac": lambda x: normals},
            {"type": "eq", "fun": lambda x: bar @ x, "jac": lambda x: bar},
        ],
        options={"ftol": 1e-14, "maxiter": 200},
    )
    # several rounds project onto what was violated, so the nearest point is met where one round is enough
    violated = normals @ q + 0.1 < 0
    if np.all((normals @ found + 0.1)[~violated] > 1e-6):
        np.testing.assert_allclose(found, best.x, atol=1e-6)


def test_a_point_goes_out_of_a_disc_along_its_radius_and_back_onto_a_circle() -> None:
    disc = FunctionSystem(
        [2.0, 0.0],
        [0.0, 0.0],
        mass=np.eye(2),
        force=lambda t, q, v: np.zeros(2),
        contacts=[Contact("disc", gap=lambda t, q: np.hypot(*q) - 1.0)],
    )
    np.testing.assert_allclose(project_position(disc, 0.0, np.array([0.3, 0.4])), [0.6, 0.8], atol=1e-9)
    circle = FunctionSystem(
        [1.0, 0.0],
        [0.0, 0.0],
        mass=np.diag([1.0, 4.0]),
        force=lambda t, q, v: np.zeros(2),
        constraints=[Constraint("circle", offset=lambda t, q: 0.5 * (q @ q - 1.0))],
    )
    found = project_position(circle, 0.0, np.array([1.1, 0.2]))
    assert np.hypot(*found) == pytest.approx(1.0, abs=1e-12)


def test_redundant_constraints_are_projected_once() -> None:
    system = FunctionSystem(
        [1.0, 0.0],
        [0.0, 0.0],
        mass=np.eye(2),
        force=lambda t, q, v: np.zeros(2),
        constraints=[Constraint(f"rod {i}", offset=lambda t, q: 0.5 * (q @ q - 1.0)) for i in range(3)],
    )
    assert np.hypot(*project_position(system, 0.0, np.array([0.9, 0.3]))) == pytest.approx(1.0, abs=1e-12)


def test_penetration_of_a_bouncing_ball_is_removed() -> None:
    from klapper.schemes import Moreau
    from klapper.simulation import simulate

    system = LinearSystem(
        [1.0], force=[-9.81], position=[0.2], contacts=[Contact("floor", normal=[1.0], restitution=0.4)]
    )
    plain = simulate(system, 1.0, Moreau(5e-3))
    clean = simulate(system, 1.0, Moreau(5e-3, projection=True))
    assert plain.gap.min() < -1e-4
    assert clean.gap.min() >= -1e-12
    assert np.abs(clean.ledger.residual).max() <= 1e-10 * clean.ledger.scale
    # the lift costs potential energy, which is booked as numerical
    assert clean.ledger.numerical[-1] < 0.0
