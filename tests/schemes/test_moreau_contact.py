"""Moreau's scheme with normal contact: bouncing, resting, penetration, moving walls."""

import numpy as np
import pytest

from klapper.contact_states import IMPACT, OPEN, SLIP
from klapper.mechanics import Contact, FunctionSystem, Harmonic, LinearSystem, Ramp
from klapper.schemes import Moreau
from klapper.simulation import simulate

G = 9.81
FALL = np.sqrt(2.0 / G)  # time to fall 1 m


def ball(restitution: float, mass: float = 2.0, **floor) -> LinearSystem:
    """A ball dropped from 1 m."""
    return LinearSystem(
        [mass],
        force=[-mass * G],
        position=[1.0],
        contacts=[Contact("floor", normal=[1.0], restitution=restitution, **floor)],
    )


def same_ball_by_functions(restitution: float) -> FunctionSystem:
    return FunctionSystem(
        [1.0],
        [0.0],
        mass=[[2.0]],
        force=lambda t, q, v: np.array([-2.0 * G]),
        potential=lambda q: 2.0 * G * q[0],
        contacts=[Contact("floor", gap=lambda t, q: q[0], normal=[1.0], restitution=restitution)],
    )


def bounce(time: np.ndarray, e: float) -> np.ndarray:
    """Height of the ball until the end of its first bounce."""
    after = time - FALL
    return np.where(time < FALL, 1.0 - G * time**2 / 2, e * G * FALL * after - G * after**2 / 2)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("theta", [0.5, 1.0])
@pytest.mark.parametrize("e", [0.0, 0.8])
def test_first_bounce_is_met_to_first_order(e: float, theta: float, compiled: bool) -> None:
    """The impact is at most a step late or early: the height is off by at most (1 + e) v h, plus θ = 1's own error."""
    for h in (4e-3, 1e-3) if compiled else (4e-3,):
        until = FALL * (1.0 + 2 * e) if e else 2 * FALL
        run = simulate(ball(e), until, Moreau(h, theta=theta, compiled=compiled))
        speed, inside = G * FALL, run.time <= FALL * (1.0 + 2 * e) if e else run.time <= 2 * FALL
        exact = np.where(run.time < FALL, bounce(run.time, e), 0.0) if e == 0.0 else bounce(run.time, e)
        error = np.abs(run.position[inside, 0] - exact[inside]).max()
        assert error <= (1.1 * (1 + e) * speed + (theta - 0.5) * 2 * speed) * h
        assert run.about["audit"]["largest penetration"] <= 1.5 * speed * h
        impacts = run.impacts()
        assert len(impacts) == 1
        assert impacts.time[0] == pytest.approx(FALL, abs=2 * h)
        np.testing.assert_allclose(
            impacts.impulse[0, 0], 2.0 * (1 + e) * speed, atol=2.0 * (1 + e) * 2 * G * h
        )


def test_before_the_impact_the_midpoint_rule_is_exact() -> None:
    """A constant force: the parabola is met to round-off, so all error comes from the time of impact."""
    run = simulate(ball(0.5), 0.9 * FALL, Moreau(1e-3))
    np.testing.assert_allclose(run.position[:, 0], 1.0 - G * run.time**2 / 2, atol=1e-12)


def test_impact_speeds_form_a_geometric_series() -> None:
    """Each impact reverses v to −e v exactly as the law says; the series of speeds follows to O(h)."""
    e, h = 0.8, 1e-4
    rest = FALL * (1 + e) / (1 - e)
    run = simulate(ball(e), 0.9 * rest, Moreau(h))
    impacts = run.impacts()
    hits = np.flatnonzero(run.state[:, 0] == IMPACT)
    before, after = run.velocity[hits - 1, 0], run.velocity[hits, 0]
    np.testing.assert_allclose(after, -e * before, atol=1e-12)
    number = np.arange(8)
    np.testing.assert_allclose(-before[:8], G * FALL * e**number, atol=40 * G * h)
    times = FALL * (1 + 2 * np.cumsum(e**number) - 2)
    np.testing.assert_allclose(impacts.time[:8], times, atol=40 * h)


def test_elastic_ball_returns_to_its_height() -> None:
    run = simulate(ball(1.0), 20 * FALL, Moreau(1e-3))
    assert run.position[run.time > 18 * FALL, 0].max() == pytest.approx(1.0, abs=0.05)
    assert abs(run.ledger.impact[-1]) < 1e-9  # nothing is lost at e = 1


@pytest.mark.parametrize("theta", [0.5, 1.0])
@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_ball_comes_to_rest_exactly(e: float, theta: float) -> None:
    """No chatter: after the bounces the velocity is 0.0 and the position does not move, bit for bit."""
    run = simulate(ball(e), 4.0, Moreau(1e-3, theta=theta))
    late = run.time > 3.0
    assert np.all(run.velocity[late] == 0.0)
    assert np.ptp(run.position[late]) == 0.0
    assert not np.any(run.state[late] == OPEN)
    np.testing.assert_allclose(run.impulse[late, 0, 0], 2.0 * G * 1e-3, rtol=1e-12)
    np.testing.assert_allclose(run.contact("floor").force[late, 0], 2.0 * G, rtol=1e-9)


def test_penetration_vanishes_with_the_step() -> None:
    """At most the way of one step, so halving the step halves the bound; sixteen steps smaller is always better."""
    found = [
        simulate(ball(0.0), 1.0, Moreau(h)).about["audit"]["largest penetration"]
        for h in (8e-3, 5e-4, 3.125e-5)
    ]
    assert found[0] > found[1] > found[2]
    for depth, h in zip(found, (8e-3, 5e-4, 3.125e-5), strict=True):
        assert depth <= 1.5 * G * FALL * h


def test_a_ball_from_functions_bounces_the_same_way() -> None:
    one = simulate(ball(0.7), 2.0, Moreau(5e-3, compiled=False))
    other = simulate(same_ball_by_functions(0.7), 2.0, Moreau(5e-3))
    np.testing.assert_allclose(one.position, other.position, atol=1e-9)
    np.testing.assert_allclose(one.impulse, other.impulse, atol=1e-8)
    np.testing.assert_array_equal(one.state, other.state)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("e", [0.0, 0.6])
def test_a_moving_wall_hits_a_resting_mass(e: float, compiled: bool) -> None:
    """Speed w: v = (1 + e) w; the wall puts in m (1 + e) w², ½ m (1 − e²) w² is lost."""
    m, w = 3.0, 0.4
    system = LinearSystem(
        [m], contacts=[Contact("wall", normal=[1.0], gap=Ramp(0.1, -w), restitution=e)]
    )  # gap q + 0.1 − w t: the wall comes from below
    run = simulate(system, 0.5, Moreau(1e-3, compiled=compiled))
    assert run.velocity[-1, 0] == pytest.approx((1 + e) * w, rel=1e-12)
    assert run.ledger.loads[-1] == pytest.approx(m * (1 + e) * w**2, rel=1e-12)
    assert run.ledger.impact[-1] == pytest.approx(0.5 * m * (1 - e**2) * w**2, rel=1e-12)
    assert np.count_nonzero(run.state == IMPACT) == 1
    np.testing.assert_allclose(run.ledger.residual, 0.0, atol=1e-12)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_mass_on_a_shaking_table_follows_it(compiled: bool) -> None:
    """Table acceleration below g: the mass stays on it. Above: it is thrown where the table's acceleration is −g."""
    omega, h = 20.0, 1e-4 if compiled else 1e-3
    quiet = 0.8 * G / omega**2
    table = Harmonic(-quiet, omega, -np.pi / 2)  # table height quiet · sin ω t
    start = {"velocity": [quiet * omega]}
    system = LinearSystem([1.0], force=[-G], contacts=[Contact("table", normal=[1.0], gap=table)], **start)
    run = simulate(system, 1.0, Moreau(h, compiled=compiled))
    height = quiet * np.sin(omega * run.time)
    np.testing.assert_allclose(run.position[:, 0], height, atol=5 * quiet * omega**2 * h)
    # the wall's speed changes within a step, which is no impact: all is smooth but the first step, m (h ẅ)² at most
    assert np.all(run.state[1:] == SLIP)
    assert abs(run.ledger.impact[-1]) < (0.8 * G * h) ** 2
    assert np.abs(run.gap).max() < 0.8 * G * h**2
    # the force between mass and table is m (g + table acceleration)
    force = run.impulse[1:, 0, 0] / h
    middle = run.time[1:] - h / 2
    np.testing.assert_allclose(
        force[2:], G * (1.0 - 0.8 * np.sin(omega * middle))[2:], atol=0.8 * G * omega * h
    )
    impulse = np.cumsum(run.impulse[:, 0, 0])
    expected = G * run.time - 0.8 * G / omega * (1.0 - np.cos(omega * run.time))
    np.testing.assert_allclose(impulse, expected, atol=4 * G * h)

    strong = 1.5 * G / omega**2
    thrown = LinearSystem(
        [1.0],
        force=[-G],
        velocity=[strong * omega],
        contacts=[Contact("table", normal=[1.0], gap=Harmonic(-strong, omega, -np.pi / 2))],
    )
    run = simulate(thrown, 0.1, Moreau(h, compiled=compiled))
    leaves = np.arcsin(1 / 1.5) / omega
    flight = run.time - leaves
    free = strong / 1.5 + strong * omega * np.cos(omega * leaves) * flight - G * flight**2 / 2
    exact = np.where(flight < 0, strong * np.sin(omega * run.time), free)
    assert np.all(free[flight > 0.01] > strong * np.sin(omega * run.time[flight > 0.01]))  # still in the air
    np.testing.assert_allclose(run.position[:, 0], exact, atol=0.5 * strong * omega * h)


def test_elastic_stops_keep_the_energy_and_give_the_momentum() -> None:
    """Momentum and energy of elastic impacts inside a vibrating system: nothing is lost but to the stops."""
    system = LinearSystem(
        [1.0, 2.0],
        stiffness=[[50.0, -50.0], [-50.0, 50.0]],
        velocity=[2.0, 0.0],
        contacts=[
            Contact("left", normal=[1.0, 0.0], gap=0.3, restitution=1.0),
            Contact("right", normal=[0.0, -1.0], gap=0.3, restitution=1.0),
        ],
    )
    run = simulate(system, 5.0, Moreau(1e-3))
    total = run.ledger.kinetic + run.ledger.potential
    np.testing.assert_allclose(total, total[0], rtol=1e-3)
    assert len(run.impacts()) > 4
    momentum = run.velocity @ [1.0, 2.0]
    given = np.cumsum(run.impulse[:, 0, 0] - run.impulse[:, 1, 0])
    np.testing.assert_allclose(momentum - momentum[0], given, atol=1e-10)
    assert np.all(run.impulse >= 0.0)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_beam_rests_on_two_supports(compiled: bool) -> None:
    """Height and rotation of a rigid beam: no support is ever lost, nothing moves, the forces are those of statics."""
    system = LinearSystem(
        [1.0, 0.5],
        force=[-G, 0.0],
        contacts=[Contact("left", normal=[1.0, -0.3]), Contact("right", normal=[1.0, 0.7])],
    )
    run = simulate(system, 0.5, Moreau(1e-3, compiled=compiled))
    assert np.all(run.state[1:] != OPEN)
    assert np.all(run.position == 0.0)
    np.testing.assert_allclose(
        run.impulse[1:, :, 0], np.outer(np.ones(500), [0.7, 0.3]) * G * 1e-3, rtol=1e-12
    )


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("arms", [(-0.3, 0.7), (-0.2, 0.9)])
def test_a_structure_at_rest_is_no_failure(arms: tuple[float, float], compiled: bool) -> None:
    """Whatever rounding leaves of a rest, it is no energy that could be missing."""
    system = LinearSystem(
        [1.0, 0.5],
        force=[-G, 0.0],
        contacts=[Contact("left", normal=[1.0, arms[0]]), Contact("right", normal=[1.0, arms[1]])],
    )
    run = simulate(system, 0.5, Moreau(1e-3, compiled=compiled))
    assert np.abs(run.position).max() < 1e-12
