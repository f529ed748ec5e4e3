"""Central differences: the recurrence itself, its stability limit, constraints, contacts, and what it keeps."""

import numpy as np
import pytest
from pendulum import G, rod, swung

from klapper.continuum import Continuum, NeoHooke, Solid, Support, block, rigid_velocity
from klapper.mechanics import Constraint, Contact, FunctionSystem, InvalidModel, LinearSystem
from klapper.schemes import CentralDifference, PenaltyContact, stable_step
from klapper.simulation import simulate


def test_its_steps_satisfy_the_recurrence_of_central_differences() -> None:
    """(q₊ − 2 q + q₋)/h² = M⁻¹ f and v = (q₊ − q₋)/2h, for a nonlinear spring."""
    h = 0.05
    system = FunctionSystem(
        [1.0, -0.3], [0.2, 0.1], mass=np.diag([2.0, 1.0]), force=lambda t, q, v: -(q**3) - q + q[::-1]
    )
    run = simulate(system, 1.0, CentralDifference(h))
    q = run.position
    second = (q[2:] - 2.0 * q[1:-1] + q[:-2]) / h**2
    np.testing.assert_allclose(second, (-(q**3) - q + q[:, ::-1])[1:-1] / [2.0, 1.0], atol=1e-11)
    np.testing.assert_allclose(run.velocity[1:-1], (q[2:] - q[:-2]) / (2.0 * h), atol=1e-12)


def test_with_damping_the_error_is_of_second_order() -> None:
    """q̈ + 0.4 q̇ + 9 q = 0 in closed form."""
    damping, omega = 0.2, np.sqrt(9.0 - 0.04)
    system = LinearSystem([1.0], damping=[0.4], stiffness=[9.0], position=[1.0])
    exact = np.exp(-damping * 2.0) * (np.cos(omega * 2.0) + damping / omega * np.sin(omega * 2.0))
    errors = [abs(simulate(system, 2.0, CentralDifference(h)).position[-1, 0] - exact) for h in (0.02, 0.01)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_with_constraints_that_hold_the_error_is_of_second_order() -> None:
    errors = []
    for h in (0.01, 0.005):
        run = simulate(rod(), 1.0, CentralDifference(h))
        errors.append(np.abs(run.position[-1] - swung(1.0)).max())
        assert max(abs(q @ q - 1.0) for q in run.position) < 1e-12
        assert max(abs(q @ v) for q, v in zip(run.position, run.velocity, strict=True)) < 1e-12
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_the_longest_stable_step_of_a_row_of_masses_is_the_closed_form() -> None:
    """n masses between springs: ω_max = 2 √(k/m) sin(n π/(2 (n + 1)))."""
    for n in (5, 200):
        k = 50.0 * (2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
        system = LinearSystem(np.full(n, 0.1), stiffness=k, position=np.zeros(n))
        exact = 1.0 / (np.sqrt(500.0) * np.sin(n * np.pi / (2.0 * (n + 1))))
        assert stable_step(system) == pytest.approx(exact, rel=2e-3)


def test_constraints_and_contacts_change_the_limit() -> None:
    """Two masses on a spring: ω² = k (1/m₁ + 1/m₂), k/m₁ with m₂ held, and ε/m with a stop alone."""
    k = [[8.0, -8.0], [-8.0, 8.0]]
    assert stable_step(LinearSystem([1.0, 1.0], stiffness=k)) == pytest.approx(2.0 / 4.0)
    held = LinearSystem([1.0, 1.0], stiffness=k, constraints=[Constraint("held", [0.0, 1.0])])
    assert stable_step(held) == pytest.approx(2.0 / np.sqrt(8.0))
    ball = LinearSystem([1.0], force=[-G], position=[1.0], contacts=[Contact("floor", normal=[1.0])])
    assert stable_step(ball) == np.inf
    assert stable_step(ball, contact=PenaltyContact(1e4)) == pytest.approx(0.02)


def test_at_the_limit_it_is_stable_and_beyond_it_is_refused() -> None:
    system = LinearSystem([1.0], stiffness=[100.0], position=[0.0], velocity=[1.0])
    run = simulate(system, 100.0, CentralDifference(0.199))
    assert np.abs(run.position).max() < 1.1 / np.sqrt(100.0 * (1.0 - 0.995**2))  # amplitude of the recurrence
    with pytest.raises(InvalidModel, match=r"step_size is 0.201 s; .* stable up to 0.2 s"):
        simulate(system, 1.0, CentralDifference(0.201))


def test_what_it_cannot_treat_is_refused() -> None:
    solid = Solid("bar", block((1.0, 0.2), (3, 1)), NeoHooke(1e3, 0.3), density=1000.0)
    with pytest.raises(InvalidModel, match="not diagonal"):
        simulate(Continuum([solid]), 1.0, CentralDifference(1e-4))
    stop = LinearSystem([1.0], stiffness=[1.0], contacts=[Contact("stop", normal=[1.0], gap=1.0)])
    with pytest.raises(InvalidModel, match="PenaltyContact"):
        simulate(stop, 1.0, CentralDifference(0.1))


def test_a_ball_bounces_on_a_spring_and_the_books_close() -> None:
    ball = LinearSystem([1.0], force=[-G], position=[0.1], contacts=[Contact("floor", normal=[1.0])])
    run = simulate(ball, 1.0, CentralDifference(5e-4, PenaltyContact(1e3)))
    assert run.position.max() == pytest.approx(0.1, rel=1e-3)  # no energy is lost over several bounces
    assert run.ledger.closes(1e-9)
    change = np.diff(run.velocity[:, 0]) + G * np.diff(run.time)
    np.testing.assert_allclose(run.impulse[1:, 0, 0], change, atol=1e-12)


def test_momenta_are_kept_and_energy_is_not() -> None:
    """Like every partitioned Runge–Kutta method of its kind it keeps what is bilinear in q and p (Hairer, Lubich &
    Wanner, Geometric numerical integration, IV.2.3), so angular momentum too; Hesch Fig. 6.21 says it does not."""
    solid = Solid("bar", block((1.0, 0.2), (3, 1)), NeoHooke(1e5, 0.3), density=1000.0)
    world = Continuum([solid], velocity={"bar": rigid_velocity(solid, (1.0, 0.5), 8.0)}, lumped=True)
    run = simulate(world, 0.2, CentralDifference(0.5 * stable_step(world)))
    assert run.conservation.matrix == {"energy": False, "momentum": True, "angular momentum": True}


def test_supports_hold_and_let_go() -> None:
    solid = Solid("bar", block((1.0, 0.2), (3, 1)), NeoHooke(1e4, 0.3), density=1000.0)
    swung_up = rigid_velocity(solid, (0.0, 0.0), 2.0)
    nodes = solid.mesh.nodes
    swung_up = swung_up - swung_up[np.argmin(np.abs(nodes).sum(axis=1))]
    corner = int(np.argmin(np.abs(nodes).sum(axis=1)))
    world = Continuum(
        [solid], supports=[Support("bar", [corner], until=0.1)], velocity={"bar": swung_up}, lumped=True
    )
    run = simulate(world, 0.3, CentralDifference(1e-3))
    place = run.position.reshape(len(run), -1, 2)[:, corner]
    held = run.time < 0.099
    assert np.abs(place[held] - nodes[corner]).max() < 1e-12
    assert np.abs(place[-1] - nodes[corner]).max() > 1e-3
    momentum = np.array([world.linear_momentum(v) for v in run.velocity])
    free = run.time > 0.101
    assert np.abs(momentum[free] - momentum[free][0]).max() < 1e-9 * np.abs(momentum).max()
