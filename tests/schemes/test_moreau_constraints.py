"""Moreau's scheme with two-sided constraints: the pendulum as a point mass, redundancy, drift, contradiction."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from klapper.contact_states import IMPACT
from klapper.mechanics import (
    Constraint,
    Contact,
    FunctionOfTime,
    FunctionSystem,
    Harmonic,
    LinearSystem,
    Ramp,
)
from klapper.schemes import Moreau
from klapper.simulation import SimulationFailed, simulate

G = 9.81


def rod(name: str) -> Constraint:
    return Constraint(name, offset=lambda t, q: 0.5 * (q @ q - 1.0), direction=lambda t, q: q)


def pendulum(rods: int = 1) -> FunctionSystem:
    """A point mass on a massless rod of 1 m, released from the horizontal; Waltersberger (2.8)."""
    return FunctionSystem(
        [1.0, 0.0],
        [0.0, 0.0],
        mass=np.eye(2),
        force=lambda t, q, v: np.array([0.0, -G]),
        potential=lambda q: G * q[1],
        constraints=[rod(f"rod {i}") for i in range(rods)],
    )


@pytest.fixture(scope="module")
def swing() -> np.ndarray:
    """Place after 0.6 s, by an ODE solver in the angle."""
    way = solve_ivp(
        lambda t, y: [y[1], -G * np.sin(y[0])], (0, 0.6), [np.pi / 2, 0.0], rtol=1e-11, atol=1e-12
    )
    return np.array([np.sin(way.y[0, -1]), -np.cos(way.y[0, -1])])


@pytest.mark.parametrize("projection", [False, True])
@pytest.mark.parametrize("theta", [0.5, 1.0])
def test_pendulum_converges_to_the_motion_in_the_angle(
    theta: float, projection: bool, swing: np.ndarray
) -> None:
    """Order and drift: second with the middle step, first with the implicit one; the projection removes the drift."""
    order = 1.8 if theta == 0.5 else 0.85
    errors, drifts = [], []
    for h in (8e-3, 4e-3, 2e-3):
        run = simulate(pendulum(), 0.6, Moreau(h, theta=theta, projection=projection))
        assert run.time[-1] == pytest.approx(0.6)
        errors.append(np.abs(run.position[-1] - swing).max())
        drifts.append(np.abs(np.hypot(*run.position.T) - 1.0).max())
        assert np.abs(run.ledger.residual).max() <= 1e-10 * run.ledger.scale
    assert np.all(np.log2(np.array(errors[:-1]) / errors[1:]) > (order if not projection else 0.85))
    if projection:
        assert max(drifts) <= 2e-12
    else:
        assert np.all(np.log2(np.array(drifts[:-1]) / drifts[1:]) > order)
        assert drifts[-1] > 1e-7  # the drift is there, and the projection is what removes it


def test_joints_do_no_work_with_the_middle_step() -> None:
    """The energy of the pendulum is kept up to the drift of its length."""
    run = simulate(pendulum(), 2.0, Moreau(5e-3))
    total = run.ledger.kinetic + run.ledger.potential
    np.testing.assert_allclose(total, total[0], atol=1e-3 * G)


def test_rod_force_is_that_of_the_pendulum() -> None:
    """S = 3 m g sin φ below the start: the impulses of the constraint give it (direction q has length 1)."""
    run = simulate(pendulum(), 0.4, Moreau(1e-3, projection=True))
    force = run.constraint_force[1:, 0]
    depth = -0.5 * (run.position[1:, 1] + run.position[:-1, 1])
    np.testing.assert_allclose(force, -3 * G * depth, atol=0.15)


def test_a_second_rod_changes_nothing_but_the_forces() -> None:
    """Redundant: same motion, the force shared equally (smallest impulses), told in the audit."""
    one, two = simulate(pendulum(1), 0.5, Moreau(5e-3)), simulate(pendulum(2), 0.5, Moreau(5e-3))
    np.testing.assert_allclose(two.position, one.position, atol=1e-12)
    np.testing.assert_allclose(two.velocity, one.velocity, atol=1e-12)
    share = one.samples.constraint_impulse / 2
    np.testing.assert_allclose(two.samples.constraint_impulse, np.repeat(share, 2, axis=1), atol=1e-12)
    assert "unique" in one.about["audit"]["forces at the end"]
    assert "not" not in one.about["audit"]["forces at the end"]
    assert "not unique: 1 free" in two.about["audit"]["forces at the end"]
    assert "rank 1" in two.about["audit"]["constraint forces"]
    assert "constraint forces" not in one.about["audit"]


def test_three_parallel_rods_turn_as_one_pendulum() -> None:
    """Three parallel rods hold a platform (x, y, rotation): they turn as one, of three forces only two count."""
    places = (-1.0, 0.2, 1.0)

    def length(x: float):
        def residual(t: float, q: np.ndarray) -> float:
            tip = np.array([q[0] + x * np.cos(q[2]) - x, q[1] + x * np.sin(q[2])])
            return 0.5 * (tip @ tip - 1.0)

        return residual

    platform = FunctionSystem(
        [np.sin(1.0), -np.cos(1.0), 0.0],
        [0.0, 0.0, 0.0],
        mass=np.diag([2.0, 2.0, 0.7]),
        force=lambda t, q, v: np.array([0.0, -2.0 * G, 0.0]),
        constraints=[Constraint(f"rod {i}", offset=length(x)) for i, x in enumerate(places)],
    )
    run = simulate(platform, 0.5, Moreau(5e-3, projection=True))
    np.testing.assert_allclose(run.position[:, 2], 0.0, atol=1e-9)
    way = solve_ivp(lambda t, y: [y[1], -G * np.sin(y[0])], (0, 0.5), [1.0, 0.0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(np.arctan2(run.position[-1, 0], -run.position[-1, 1]), way.y[0, -1], atol=0.02)
    assert "rank 2" in run.about["audit"]["constraint forces"]


def test_affine_constraints_keep_second_order_and_do_not_drift() -> None:
    """Two masses on a rigid bar along x, coupled by springs: the same as one mass with both springs."""
    system = LinearSystem(
        [1.0, 2.0],
        stiffness=[30.0, 15.0],
        position=[0.1, 0.1],
        constraints=[Constraint("bar", direction=[1.0, -1.0])],
    )
    run = simulate(system, 1.0, Moreau(1e-2))
    np.testing.assert_allclose(run.position[:, 0] - run.position[:, 1], 0.0, atol=1e-14)
    single = simulate(LinearSystem([3.0], stiffness=[45.0], position=[0.1]), 1.0, Moreau(1e-2))
    np.testing.assert_allclose(run.position[:, 0], single.position[:, 0], atol=1e-12)
    force = run.samples.constraint_impulse[1:, 0] / 1e-2  # the bar carries what mass 1 lacks
    acceleration = np.diff(run.velocity[:, 0]) / 1e-2
    middle = 0.5 * (run.position[1:, 0] + run.position[:-1, 0])
    np.testing.assert_allclose(force, acceleration + 30.0 * middle, atol=1e-9)


def test_a_guided_mass_is_moved_by_its_guide() -> None:
    """Φ = q − A sin ω t: the mass follows to O(h), the guide's work is the change of kinetic energy."""
    a, omega, m, h = 0.3, 4.0, 2.0, 1e-3
    system = LinearSystem(
        [m],
        velocity=[a * omega],
        constraints=[Constraint("guide", direction=[1.0], offset=Harmonic(-a, omega, -np.pi / 2))],
    )
    run = simulate(system, 1.0, Moreau(h))
    np.testing.assert_allclose(run.position[:, 0], a * np.sin(omega * run.time), atol=a * omega**2 * h)
    np.testing.assert_allclose(
        run.ledger.loads - run.ledger.numerical, run.ledger.kinetic - run.ledger.kinetic[0], atol=1e-12
    )
    assert np.abs(run.ledger.numerical).max() < m * (a * omega) ** 2 * omega * h
    force = m * np.diff(run.velocity[:, 0]) / h
    np.testing.assert_allclose(run.constraint_force[1:, 0], force, atol=1e-9)


def test_a_pendulum_rebounds_from_a_wall_by_the_restitution() -> None:
    """A pendulum swings against a wall: the speed along the circle is reversed by e, the rod takes the rest."""
    e = 0.5
    system = FunctionSystem(
        [np.sin(0.5), -np.cos(0.5)],
        [0.0, 0.0],
        mass=np.eye(2),
        force=lambda t, q, v: np.array([0.0, -G]),
        potential=lambda q: G * q[1],
        constraints=[rod("rod")],
        contacts=[Contact("wall", normal=[1.0, 0.0], restitution=e)],
    )
    run = simulate(system, 0.7, Moreau(1e-3, projection=True))
    hit = np.flatnonzero(run.state[:, 0] == IMPACT)
    assert len(hit) == 1
    before, after = run.velocity[hit[0] - 1], run.velocity[hit[0]]
    assert after[0] == pytest.approx(-e * before[0], rel=1e-9)
    assert before[0] == pytest.approx(-np.sqrt(2 * G * (1 - np.cos(0.5))), rel=2e-3)
    lost = 0.5 * (1 - e**2) * before[0] ** 2
    assert run.ledger.impact[-1] == pytest.approx(lost, rel=2e-3)


@pytest.mark.parametrize("place", ["first", "second"])
def test_contradicting_constraints_are_told_in_a_sentence(place: str) -> None:
    still, moving = (
        Constraint("still", direction=[1.0, 0.0]),
        Constraint("moving", direction=[1.0, 0.0], offset=Ramp(0.0, 1.0)),
    )
    order = [still, moving] if place == "first" else [moving, still]
    system = LinearSystem([1.0, 1.0], constraints=order)
    with pytest.raises(SimulationFailed) as caught:
        simulate(system, 1.0, Moreau(0.01))
    assert "contradicts" in str(caught.value)
    assert "'still'" in str(caught.value) or "'moving'" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(caught.value.run) == 1


def test_a_wall_that_moves_into_a_held_mass_is_told_in_a_sentence() -> None:
    system = LinearSystem(
        [1.0],
        constraints=[Constraint("hold", direction=[1.0])],
        contacts=[Contact("press", normal=[1.0], gap=Ramp(0.05, -1.0))],
    )
    with pytest.raises(SimulationFailed) as caught:
        simulate(system, 1.0, Moreau(0.01))
    assert "press" in str(caught.value)
    assert caught.value.run.time[-1] == pytest.approx(0.05, abs=0.011)
    assert caught.value.run.about["status"] == "failed"


def test_a_start_against_a_constraint_is_an_impact_or_refused() -> None:
    system = LinearSystem([1.0], velocity=[1.0], constraints=[Constraint("hold", direction=[1.0])])
    run = simulate(system, 0.1, Moreau(0.01))
    assert run.ledger.impact[-1] == pytest.approx(0.5)


def test_light_and_heavy_masses_are_held_alike() -> None:
    system = LinearSystem(
        [1e-6, 1e6],
        force=[0.0, -G * 1e6],
        constraints=[Constraint("light", direction=[1.0, 0.0]), Constraint("heavy", direction=[0.0, 1.0])],
    )
    run = simulate(system, 0.1, Moreau(0.01))
    assert np.abs(run.position).max() <= 1e-12


@pytest.mark.parametrize(
    "theta",
    [
        1.0,
        pytest.param(0.5),
    ],
)
def test_a_guide_that_starts_to_move_takes_the_mass_along(theta: float) -> None:
    """At rest until 0.1 s, then 1 m/s: so does the mass, and its kinetic energy is ½ m w²."""
    way = FunctionOfTime(lambda t: -max(t - 0.1, 0.0), rate=lambda t: -float(t > 0.1))
    system = LinearSystem([2.0], constraints=[Constraint("guide", direction=[1.0], offset=way)])
    run = simulate(system, 0.2, Moreau(0.01, theta=theta))
    assert run.position[-1, 0] == pytest.approx(0.1, abs=0.011)
    np.testing.assert_allclose(run.velocity[run.time > 0.125, 0], 1.0, rtol=1e-12)
    np.testing.assert_allclose(run.ledger.kinetic[run.time > 0.125], 1.0, rtol=1e-12)
