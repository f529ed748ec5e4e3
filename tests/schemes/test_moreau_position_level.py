"""Constraints on positions, Waltersberger (5.70): contact compliance, and no penetration without it."""

import numpy as np
import pytest

from klapper.complementarity import LinearComplementarity, solve
from klapper.contact_states import SLIP, STICK
from klapper.mechanics import Contact, FrictionElement, Harmonic, InvalidModel, LinearSystem
from klapper.schemes import Moreau
from klapper.simulation import simulate

G = 9.81


def on_a_layer(compliance: float, height: float = 0.01) -> LinearSystem:
    return LinearSystem(
        [1.0],
        force=[-G],
        position=[height],
        contacts=[Contact("layer", normal=[1.0])],
        compliance=[[compliance]],
    )


@pytest.mark.parametrize("theta", [1.0])
@pytest.mark.parametrize("h", [1e-3, 2e-4])
def test_gap_and_force_are_complementary(theta: float, h: float) -> None:
    """0 ≤ λ ⟂ g + C λ ≥ 0 at the end of every step."""
    c = 1e-4
    run = simulate(on_a_layer(c), 0.25, Moreau(h, theta=theta, level="position"))
    force, gap = run.impulse[1:, 0, 0] / h, run.gap[1:, 0]
    slack = gap + c * force
    assert slack.min() >= -1e-15
    assert np.all(force >= 0.0)
    assert np.abs(slack * force).max() <= 1e-12
    assert np.any(force > 0.0) and np.any(force == 0.0)
    assert np.abs(run.ledger.residual).max() <= 1e-12


def test_a_step_is_the_problem_of_the_thesis() -> None:
    """(5.70) in its implementation form: W = h² Jᵀ M̂⁻¹ J + C, b = h² Jᵀ M̂⁻¹ r + h Jᵀ q + h a, for θ = 1."""
    rng = np.random.default_rng(5)
    n, m, h = 6, 3, 5e-3
    j = np.abs(rng.standard_normal((n, m)))
    flexible = rng.standard_normal((m, m))
    c = 1e-4 * flexible @ flexible.T
    k, d = np.diag(rng.uniform(50, 500, n)), np.diag(rng.uniform(0.1, 1.0, n))
    offset = np.full(m, 0.02)
    system = LinearSystem(
        np.ones(n),
        stiffness=k,
        damping=d,
        force=-30 * rng.uniform(0.5, 1.0, n),
        velocity=-rng.uniform(0, 1, n),
        contacts=[Contact(f"c{i}", normal=j[:, i], gap=offset[i]) for i in range(m)],
        compliance=c,
    )
    q, v = system.start.position, system.start.velocity
    f = system.load.value(0.0)
    hat = np.linalg.inv(np.eye(n) + h * d + h**2 * k)
    steps = 60
    positions, impulses = [q], []
    for _ in range(steps):
        r = v + h * (f - k @ q)
        w = h**2 * j.T @ hat @ j + c
        b = h**2 * j.T @ hat @ r + h * (j.T @ q + offset)
        impulse = solve(LinearComplementarity(w, b)).x
        v = hat @ (r + j @ impulse)
        q = q + h * v
        positions.append(q)
        impulses.append(impulse)
    run = simulate(system, steps * h, Moreau(h, theta=1.0, level="position"))
    np.testing.assert_allclose(run.position, positions, atol=1e-11)
    np.testing.assert_allclose(run.impulse[1:, :, 0], impulses, atol=1e-10)
    assert np.count_nonzero(np.array(impulses)) > 30


def test_a_damped_mass_rests_where_the_layer_carries_it() -> None:
    """q = −C m g."""
    c = 1e-4
    system = LinearSystem(
        [1.0], damping=[100.0], force=[-G], contacts=[Contact("layer", normal=[1.0])], compliance=[[c]]
    )
    run = simulate(system, 1.0, Moreau(1e-3, theta=1.0, level="position"))
    assert run.position[-1, 0] == pytest.approx(-c * G, rel=1e-6)
    assert run.contact("layer").force[-1, 0] == pytest.approx(G, rel=1e-6)


@pytest.mark.parametrize("theta", [1.0])
def test_without_compliance_nothing_penetrates(theta: float) -> None:
    rng = np.random.default_rng(2)
    n = 5
    system = LinearSystem(
        np.ones(n),
        stiffness=np.diag(rng.uniform(100, 1000, n)),
        force=Harmonic(20 * rng.standard_normal(n), 9.0),
        velocity=rng.standard_normal(n),
        contacts=[Contact(f"c{i}", normal=rng.standard_normal(n), gap=0.01) for i in range(3)],
    )
    run = simulate(system, 1.0, Moreau(2e-3, theta=theta, level="position"))
    assert run.gap.min() >= -1e-12
    assert np.count_nonzero(run.impulse[:, :, 0]) > 20
    velocity = simulate(system, 1.0, Moreau(2e-3, theta=theta))
    assert velocity.gap.min() < -1e-6  # on velocity level it does, as documented


def test_a_ball_comes_to_rest_exactly_on_position_level() -> None:
    run = simulate(
        LinearSystem([1.0], force=[-G], position=[0.1], contacts=[Contact("floor", normal=[1.0])]),
        0.5,
        Moreau(1e-3, theta=1.0, level="position"),
    )
    assert np.all(run.velocity[-50:] == 0.0)
    assert np.abs(run.position[-50:]).max() < 1e-15


def test_the_midpoint_step_does_not_hold_positions() -> None:
    """q⁺ = q + h (v + v⁺)/2 with q⁺ held would give v⁺ = −v for ever."""
    with pytest.raises(InvalidModel, match="theta must be 1"):
        Moreau(1e-3, level="position")


@pytest.mark.parametrize(("theta", "bound"), [(1.0, 40.0)])
def test_a_moving_wall_is_penetrated_by_an_error_of_second_order_only(theta: float, bound: float) -> None:
    """The wall's way over a step is taken from its speed: the error is of third order in the middle, else of second."""
    system = LinearSystem(
        [1.0], force=[-G], position=[0.1], contacts=[Contact("wall", normal=[1.0], gap=Harmonic(0.05, 30.0))]
    )
    run = simulate(system, 0.5, Moreau(1e-3, theta=theta, level="position"))
    assert run.gap.min() >= -bound * 0.05 * 30.0**2 * 1e-6


def test_a_sliding_particle_stops_after_the_same_way_on_position_level() -> None:
    """v²/(2 μ g)."""
    system = LinearSystem(
        [1.0, 1.0],
        force=[0.0, -G],
        velocity=[1.0, 0.0],
        contacts=[Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.3)],
    )
    run = simulate(system, 0.5, Moreau(2e-3, theta=1.0, level="position"))
    assert run.position[-1, 0] == pytest.approx(1 / (2 * 0.3 * G), abs=2e-3)
    assert np.all(run.velocity[-10:] == 0.0)
    assert run.state[50, 0] == SLIP and run.state[-1, 0] == STICK


def test_a_brake_leaves_a_compliant_contact_alone() -> None:
    c = 1e-4
    both = LinearSystem(
        [1.0, 1.0],
        force=[0.0, -G],
        velocity=[1.0, 0.0],
        contacts=[
            Contact("layer", normal=[0.0, 1.0]),
            FrictionElement("brake", tangents=[1.0, 0.0], limit=4.0),
        ],
        compliance=[[c, 0.0], [0.0, 0.0]],
    )
    run = simulate(both, 0.4, Moreau(1e-3, theta=1.0, level="position"))
    alone = simulate(on_a_layer(c, height=0.0), 0.4, Moreau(1e-3, theta=1.0, level="position"))
    np.testing.assert_allclose(run.position[:, 1], alone.position[:, 0], atol=1e-12)
    assert run.position[-1, 0] == pytest.approx(1.0 / 8.0, abs=2e-3)


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(InvalidModel, match="level='position'"):
        simulate(on_a_layer(1e-4), 0.1, Moreau(1e-3))
    bouncing = LinearSystem([1.0], contacts=[Contact("floor", normal=[1.0], restitution=0.5)])
    with pytest.raises(InvalidModel, match="'floor'"):
        simulate(bouncing, 0.1, Moreau(1e-3, theta=1.0, level="position"))


def test_an_impact_law_on_position_level_is_refused_or_acts_on_closed_contacts() -> None:
    from klapper.mechanics.impact import Newton

    system = LinearSystem([1.0], velocity=[-1.0], position=[1.0], contacts=[Contact("floor", normal=[1.0])])
    try:
        run = simulate(system, 0.1, Moreau(1e-2, theta=1.0, level="position", impact=Newton()))
    except InvalidModel:
        return
    assert run.velocity[-1, 0] == -1.0
