"""Event-driven integration against closed forms: impacts, friction, constraints, and the books of a run."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import brentq

from klapper.contact_states import IMPACT
from klapper.mechanics import (
    Anisotropic,
    Constant,
    Constraint,
    Contact,
    FrictionElement,
    FunctionSystem,
    Harmonic,
    InvalidModel,
    LinearSystem,
    Ramp,
    Stribeck,
)
from klapper.mechanics.impact import Sequential
from klapper.results import Run
from klapper.schemes import Moreau, StepFailed
from klapper.schemes.event_driven import EventDriven
from klapper.simulation import SimulationFailed, simulate

G = 9.81


def ball(restitution: float, height: float = 1.0) -> LinearSystem:
    return LinearSystem(
        [1.0],
        force=[-G],
        position=[height],
        contacts=[Contact("floor", normal=[1.0], restitution=restitution)],
    )


def block(force, *, speed: float = 0.0, friction=0.3, **floor) -> LinearSystem:
    """A mass of 1 kg on a floor: coordinates along and across."""
    return LinearSystem(
        [1.0, 1.0],
        force=force,
        velocity=[speed, 0.0],
        contacts=[Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=friction, **floor)],
    )


def impact_times(run: Run) -> np.ndarray:
    return run.time[np.any(run.samples.state == IMPACT, axis=1)]


@pytest.mark.parametrize("restitution", [0.5, 0.8])
def test_bouncing_ball_hits_at_the_exact_times_and_comes_to_rest(restitution: float) -> None:
    """t_n = t₁ (1 + 2 Σ ε^k), all of them until the flights are shorter than the guard, and the end of the series."""
    run = simulate(ball(restitution), 5.0, EventDriven())
    fall = np.sqrt(2.0 / G)
    found = impact_times(run)
    count = int(np.floor(np.log(1e-9 / (2.0 * fall)) / np.log(restitution))) + 1  # flights of at least 1 ns
    powers = restitution ** np.arange(1, len(found))
    expected = fall * (1.0 + 2.0 * np.concatenate([[0.0], np.cumsum(powers)]))
    assert abs(len(found) - count) <= 1
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert found[-1] == pytest.approx(fall * (1.0 + 2.0 * restitution / (1.0 - restitution)), abs=1e-8)
    assert "closed without restitution" in run.about["audit"]["impacts accumulate"]
    assert np.all(run.position[run.time > found[-1]] == run.position[-1])
    assert run.velocity[-1, 0] == 0.0
    highest = [run.position[(run.time >= a) & (run.time <= b), 0].max() for a, b in pairwise(found[:4])]
    tops = restitution ** (2.0 * np.arange(1, 4))
    assert all(h <= top * (1 + 1e-12) for h, top in zip(highest, tops, strict=True))


def test_height_between_impacts_is_the_parabola() -> None:
    run = simulate(ball(0.5), 1.2, EventDriven(sample=0.01))
    first, second = impact_times(run)[:2]
    flight = (run.time > first) & (run.time < second)
    speed = 0.5 * np.sqrt(2.0 * G)
    t = run.time[flight] - first
    assert flight.sum() > 40
    np.testing.assert_allclose(run.position[flight, 0], speed * t - 0.5 * G * t**2, atol=1e-13)


def test_sliding_mass_stops_where_coulomb_says() -> None:
    """v₀ = 1 m/s, μ = 0.3: after 0.339789 s and 0.169894 m."""
    run = simulate(block([0.0, -G], speed=1.0), 1.0, EventDriven())
    stop = run.time[np.argmax(run.velocity[:, 0] < 1e-9)]
    assert stop == pytest.approx(1.0 / (0.3 * G), abs=1e-10)
    assert run.position[-1, 0] == pytest.approx(0.5 / (0.3 * G), abs=1e-10)
    assert run.velocity[-1, 0] == 0.0
    assert run.samples.energy[-1, 4] == pytest.approx(0.5, abs=1e-12)  # the friction entry of the ledger


@pytest.mark.parametrize(("degrees", "slides"), [(16.69, False), (16.71, True)])
def test_block_on_an_incline_slides_from_the_friction_angle_on(degrees: float, slides: bool) -> None:
    """atan 0.3 = 16.699°."""
    angle = np.deg2rad(degrees)
    run = simulate(block([G * np.sin(angle), -G * np.cos(angle)]), 1.0, EventDriven())
    expected = 0.5 * G * (np.sin(angle) - 0.3 * np.cos(angle)) if slides else 0.0
    assert run.position[-1, 0] == pytest.approx(expected, abs=1e-12)
    if not slides:
        assert np.all(run.position == 0.0)
        assert np.all(run.velocity == 0.0)


def test_pushed_block_sticks_and_slips_as_in_closed_form() -> None:
    """P sin ωt against μ m g = P sin ωt₀: slip begins at t₀ and ends where the integral of the rest vanishes."""
    push, omega = 4.0, 2.0 * np.pi
    limit = 0.3 * G
    system = block(Harmonic([push, 0.0], omega, -0.5 * np.pi) + Constant([0.0, -G]))
    run = simulate(system, 0.9, EventDriven())
    begin = np.arcsin(limit / push) / omega

    def speed(t):
        return push / omega * (np.cos(omega * begin) - np.cos(omega * t)) - limit * (t - begin)

    end = brentq(speed, 0.3, 0.6, xtol=1e-15)
    state = run.samples.state[:, 0]
    slipping = np.flatnonzero(state == 2)
    assert run.time[slipping[0] - 1] == pytest.approx(begin, abs=1e-10)
    stops = [i for i in slipping if i + 1 < len(state) and state[i + 1] == 1]
    assert run.time[stops[0]] == pytest.approx(end, abs=1e-10)
    way = push / omega * (np.cos(omega * begin) * (end - begin)) - limit * (end - begin) ** 2 / 2
    way -= push / omega**2 * (np.sin(omega * end) - np.sin(omega * begin))
    assert run.position[stops[0], 0] == pytest.approx(way, abs=1e-10)


def test_sliding_in_the_plane_with_a_side_force_does_not_stop() -> None:
    """C29: v₀ along x, a steady force μ m g/2 along y: the velocity turns by 90° and never vanishes.

    In the direction of the force e, u = |v| + v·e satisfies d/dt (v·e) …: with F = k μ m g the hodograph is
    |v| = c (tan θ/2)^(1/k) / sin θ, θ the angle from e.
    """
    mu, k = 0.3, 0.5
    system = LinearSystem(
        [1.0, 1.0, 1.0],
        force=[0.0, k * mu * G, -G],
        velocity=[1.0, 0.0, 0.0],
        contacts=[Contact("floor", normal=[0, 0, 1.0], tangents=[[1.0, 0, 0], [0, 1.0, 0]], friction=mu)],
    )
    run = simulate(system, 0.4, EventDriven(1e-11))
    v = run.velocity[1:, :2]
    size, angle = np.linalg.norm(v, axis=1), np.arctan2(v[:, 0], v[:, 1])
    moving = size > 1e-6
    hodograph = np.tan(angle[moving] / 2) ** (1 / k) / np.sin(angle[moving])
    np.testing.assert_allclose(size[moving], hodograph, rtol=0, atol=1e-9)
    assert moving.sum() > 10


def test_two_directions_of_sliding_stop_together_and_not_before() -> None:
    """Straight sliding at 30° to the axes: stops after v₀/(μ g) with both components below the slip speed (4.69)."""
    direction = np.array([np.cos(np.pi / 6), np.sin(np.pi / 6)])
    system = LinearSystem(
        [1.0, 1.0, 1.0],
        force=[0.0, 0.0, -G],
        velocity=[*direction, 0.0],
        contacts=[Contact("floor", normal=[0, 0, 1.0], tangents=[[1.0, 0, 0], [0, 1.0, 0]], friction=0.3)],
    )
    run = simulate(system, 1.0, EventDriven())
    stop = int(np.argmax(np.linalg.norm(run.velocity, axis=1) < 2e-9))
    assert run.time[stop] == pytest.approx(1.0 / (0.3 * G), abs=2e-9)
    assert np.all(np.abs(run.velocity[stop]) <= 1.001e-9)
    np.testing.assert_allclose(run.position[-1, :2], 0.5 / (0.3 * G) * direction, atol=1e-10)
    assert np.all(run.velocity[-1] == 0.0)


def test_a_spring_turns_the_velocity_round_without_a_stop() -> None:
    """C29: circular motion against friction balanced by a tangential drive: both components change sign, |v| stays."""
    radius, omega = 0.5, 3.0

    def force(t, q, v):
        drive = 0.3 * G * v[:2] / np.linalg.norm(v[:2])
        return np.array([*(-(omega**2) * q[:2] + drive), -G])

    system = FunctionSystem(
        [radius, 0.0, 0.0],
        [0.0, radius * omega, 0.0],
        mass=np.eye(3),
        force=force,
        contacts=[Contact("floor", normal=[0, 0, 1.0], tangents=[[1.0, 0, 0], [0, 1.0, 0]], friction=0.3)],
    )
    run = simulate(system, 3.0, EventDriven())
    assert np.all(run.samples.state[1:, 0] == 2)
    np.testing.assert_allclose(np.linalg.norm(run.velocity, axis=1), radius * omega, atol=1e-8)
    np.testing.assert_allclose(run.position[-1, :2], radius * np.array([np.cos(9.0), np.sin(9.0)]), atol=1e-8)


def test_slip_in_space_begins_against_the_friction_force() -> None:
    """A slowly growing force at 40° to the axes: starts at F = μ m g, moves along the force."""
    direction = np.array([np.cos(0.7), np.sin(0.7), 0.0])
    rate = 2.0
    system = LinearSystem(
        [1.0, 1.0, 1.0],
        force=Ramp([0.0, 0.0, -G], rate * direction),
        contacts=[Contact("floor", normal=[0, 0, 1.0], tangents=[[1.0, 0, 0], [0, 1.0, 0]], friction=0.3)],
    )
    begin = 0.3 * G / rate
    run = simulate(system, begin + 0.5, EventDriven())
    np.testing.assert_allclose(run.position[-1], rate / 6 * 0.5**3 * direction, atol=1e-9)


def test_mass_on_a_belt_sticks_until_the_spring_is_stretched_and_slips_back() -> None:
    """Constant friction, spring, belt: after the first sticking the slip is harmonic about μ m g / c (Vielsack)."""
    stiffness, belt, mu = 100.0, 0.1, 0.3
    system = LinearSystem(
        [1.0, 1.0],
        stiffness=np.diag([stiffness, 0.0]),
        force=[0.0, -G],
        position=[0.01, 0.0],
        velocity=[belt, 0.0],
        contacts=[
            Contact("belt", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=mu, tangential_rate=-belt)
        ],
    )
    run = simulate(system, 3.0, EventDriven())
    middle, omega = mu * G / stiffness, np.sqrt(stiffness)
    leave = (middle - 0.01) / belt
    assert np.min(np.abs(run.time - leave)) < 1e-11
    slip = run.time > leave + 1e-9
    phase = omega * (run.time[slip] - leave)
    np.testing.assert_allclose(run.position[slip, 0], middle + belt / omega * np.sin(phase), atol=2e-9)


def test_stribeck_friction_follows_the_speed() -> None:
    """m v̇ = −m g μ(v), μ = d + (s − d)/(1 + v/w): the time to stop is ∫ dv / (g μ(v)), in closed form."""
    static, dynamic, w = 0.5, 0.2, 0.4
    system = block([0.0, -G], speed=1.0, friction=Stribeck(static, dynamic, w))
    run = simulate(system, 1.0, EventDriven())
    # 1/μ = (1 + v/w)/(s + d v/w) = 1/d − (s/d − 1)/(s + d v/w)
    expected = (
        1.0 / dynamic - (static / dynamic - 1.0) * w / dynamic * np.log(1 + dynamic / (w * static))
    ) / G
    stop = run.time[np.argmax(run.velocity[:, 0] < 1e-9)]
    assert stop == pytest.approx(expected, abs=1e-9)


def test_each_axis_of_anisotropic_friction_has_its_own_stopping_time() -> None:
    """μ₁ along x, μ₂ along y: each axis has its own stopping time."""
    for axis, mu in ((0, 0.4), (1, 0.1)):
        velocity = np.zeros(3)
        velocity[axis] = 0.5
        system = LinearSystem(
            [1.0, 1.0, 1.0],
            force=[0.0, 0.0, -G],
            velocity=velocity,
            contacts=[
                Contact(
                    "floor",
                    normal=[0, 0, 1.0],
                    tangents=[[1.0, 0, 0], [0, 1.0, 0]],
                    friction=Anisotropic(0.4, 0.1),
                )
            ],
        )
        run = simulate(system, 1.0, EventDriven())
        assert run.position[-1, axis] == pytest.approx(0.5**2 / (2 * mu * G), abs=1e-9)


def test_a_given_limit_and_a_share_of_the_normal_force_brake_together() -> None:
    """One patch limited by 2 N, one by 0.1 λ_N of the floor: deceleration (2 + 0.1 m g)/m."""
    system = LinearSystem(
        [1.0, 1.0],
        force=[0.0, -G],
        velocity=[1.0, 0.0],
        contacts=[
            Contact("floor", normal=[0.0, 1.0]),
            FrictionElement("preloaded", tangents=[1.0, 0.0], limit=2.0),
            FrictionElement("patch", tangents=[1.0, 0.0], shares={"floor": 0.1}),
        ],
    )
    run = simulate(system, 1.0, EventDriven())
    assert run.position[-1, 0] == pytest.approx(0.5 / (2.0 + 0.1 * G), abs=1e-10)
    assert run.velocity[-1, 0] == 0.0


def test_ball_between_two_walls_keeps_every_impact() -> None:
    """Speed 3 m/s in a slit of 0.01 m, elastic: an impact every 1/300 s although nothing bends the motion between."""
    system = LinearSystem(
        [1.0],
        velocity=[3.0],
        position=[0.0025],
        contacts=[
            Contact("left", normal=[1.0], restitution=1.0),
            Contact("right", normal=[-1.0], gap=0.01, restitution=1.0),
        ],
    )
    run = simulate(system, 1.0, EventDriven())
    found = impact_times(run)
    assert len(found) == 300
    np.testing.assert_allclose(found, (0.0075 + 0.01 * np.arange(300)) / 3.0, atol=1e-12)
    assert abs(run.velocity[-1, 0]) == 3.0


def test_a_moving_wall_throws_the_ball() -> None:
    """A wall that moves with 0.5 m/s into a ball at rest, ε = 0.6: the ball leaves with (1 + ε) 0.5 m/s."""
    system = LinearSystem(
        [2.0],
        position=[0.1],
        contacts=[Contact("wall", normal=[1.0], gap=Ramp(0.0, -0.5), restitution=0.6)],
    )
    run = simulate(system, 1.0, EventDriven())
    assert impact_times(run) == pytest.approx([0.2], abs=1e-13)
    assert run.velocity[-1, 0] == pytest.approx(0.8, abs=1e-14)
    assert run.ledger.closes(1e-12)


@pytest.mark.parametrize("clearance", [1e-7, -1e-7, 0.0])
def test_a_grazing_mass_hits_weakly_or_not_at_all_and_goes_on(clearance: float) -> None:
    """x = −A cos ωt against a stop at A + clearance: no impact above, a weak one below, and it goes on."""
    omega, amplitude = 2.0, 0.1
    system = LinearSystem(
        [1.0],
        stiffness=[[omega**2]],
        position=[-amplitude],
        contacts=[Contact("stop", normal=[-1.0], gap=amplitude + clearance, restitution=1.0)],
    )
    run = simulate(system, 2.0, EventDriven(1e-11))
    hits = impact_times(run)
    if clearance < 0.0:
        expected = np.arccos(-(amplitude + clearance) / amplitude) / omega
        assert hits == pytest.approx([expected], abs=1e-9)
    elif clearance > 0.0:
        assert len(hits) == 0
        assert run.position[-1, 0] == pytest.approx(-amplitude * np.cos(omega * 2.0), abs=1e-9)
    assert run.samples.gap.min() > -1e-12


def test_symmetric_impacts_are_one_event() -> None:
    """A bar that falls flat on two feet: both hit at the same instant and the bar does not turn."""
    half = 0.5
    feet = [
        Contact(name, normal=[1.0, sign * half], restitution=0.7)
        for name, sign in (("left", -1), ("right", 1))
    ]
    system = LinearSystem([1.0, 1.0 / 12], force=[-G, 0.0], position=[1.0, 0.0], contacts=feet)
    run = simulate(system, 1.0, EventDriven())
    hits = run.samples.state == IMPACT
    assert np.any(hits)
    assert np.array_equal(hits[:, 0], hits[:, 1])
    assert np.abs(run.position[:, 1]).max() < 1e-12
    assert impact_times(run)[0] == pytest.approx(np.sqrt(2 / G), abs=1e-14)


def test_an_impact_law_decides_where_newton_would_share() -> None:
    """Newton's cradle: impacts in sequence hand the speed to the last ball, Newton's law splits it."""
    system = LinearSystem(
        [1.0, 1.0, 1.0],
        position=[-0.1, 0.0, 0.0],
        velocity=[1.0, 0.0, 0.0],
        contacts=[
            Contact("first and second", normal=[-1.0, 1.0, 0.0], restitution=1.0),
            Contact("second and third", normal=[0.0, -1.0, 1.0], restitution=1.0),
        ],
    )
    handed = simulate(system, 0.2, EventDriven(impact=Sequential()))
    np.testing.assert_allclose(handed.velocity[-1], [0.0, 0.0, 1.0], atol=1e-12)
    assert handed.position[-1, 2] == pytest.approx(0.1, abs=1e-12)
    shared = simulate(system, 0.2, EventDriven())
    np.testing.assert_allclose(shared.velocity[-1], [-1 / 3, 2 / 3, 2 / 3], atol=1e-12)


@pytest.mark.parametrize("copies", [1, 2, 5])
def test_copies_of_a_contact_leave_the_motion_unchanged(copies: int) -> None:
    """C18."""
    contacts = [
        Contact(f"floor {i}", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.3) for i in range(copies)
    ]
    push = Harmonic([4.0, 0.0], 6.0) + Constant([0.0, -G])
    system = LinearSystem([1.0, 1.0], force=push, velocity=[0.5, 0.0], contacts=contacts)
    alone = LinearSystem([1.0, 1.0], force=push, velocity=[0.5, 0.0], contacts=contacts[:1])
    run, reference = simulate(system, 2.0, EventDriven()), simulate(alone, 2.0, EventDriven())
    np.testing.assert_allclose(run.position[-1], reference.position[-1], atol=1e-9)
    np.testing.assert_allclose(run.velocity[-1], reference.velocity[-1], atol=1e-9)


def pendulum(redundant: bool = False) -> FunctionSystem:
    """Two masses on rods of 1 m, in Cartesian coordinates, rods horizontal at the start."""

    def rod(a: int, b: int | None):
        def residual(t, q):
            other = q[2 * b : 2 * b + 2] if b is not None else np.zeros(2)
            return 0.5 * float(np.sum((q[2 * a : 2 * a + 2] - other) ** 2) - 1.0)

        def direction(t, q):
            row = np.zeros(4)
            other = q[2 * b : 2 * b + 2] if b is not None else np.zeros(2)
            row[2 * a : 2 * a + 2] = q[2 * a : 2 * a + 2] - other
            if b is not None:
                row[2 * b : 2 * b + 2] = -row[2 * a : 2 * a + 2]
            return row

        return residual, direction

    parts = [("upper", *rod(0, None)), ("lower", *rod(1, 0))]
    if redundant:
        parts.append(("upper again", *rod(0, None)))
    weight = np.array([0.0, -G, 0.0, -G])
    return FunctionSystem(
        [1.0, 0.0, 2.0, 0.0],
        np.zeros(4),
        mass=np.eye(4),
        force=lambda t, q, v: weight,
        potential=lambda q: -float(weight @ q),
        constraints=[Constraint(name, direction=d, offset=r) for name, r, d in parts],
    )


@pytest.mark.parametrize("redundant", [False, True])
def test_double_pendulum_keeps_its_rods_and_its_energy(redundant: bool) -> None:
    run = simulate(pendulum(redundant), 1.5, EventDriven())
    system = pendulum(redundant)
    residual = [np.abs(system.constraint_residuals(0.0, q)).max() for q in run.position]
    assert max(residual) < 1e-12
    energy = run.samples.energy[:, 0] + run.samples.energy[:, 1]
    ends = np.append(
        np.diff(run.samples.step) > 0, True
    )  # samples inside steps are as good as the dense output
    for where, error in ((ends, 1e-9), (~ends, 1e-8)):
        assert np.abs(energy - energy[0])[where].max() < error
        assert np.abs(run.samples.energy[where, 6]).max() < error  # the numerical entry says so, too


def painleve_rod(friction: float, **start) -> FunctionSystem:
    """A slender rod of 1 m sliding on its lower end, at 1 rad to the floor, its tip in front."""
    half, inertia = 0.5, 1.0 / 12.0
    return FunctionSystem(
        [0.0, half * np.sin(1.0), 1.0],
        [-1.0, 0.0, 0.0],
        mass=np.diag([1.0, 1.0, inertia]),
        force=lambda t, q, v: np.array([0.0, -G, 0.0]),
        contacts=[
            Contact(
                "tip",
                gap=lambda t, q: q[1] - half * np.sin(q[2]),
                normal=lambda t, q: np.array([0.0, 1.0, -half * np.cos(q[2])]),
                tangents=lambda t, q: np.array([[1.0, 0.0, half * np.sin(q[2])]]),
                friction=friction,
            )
        ],
        **start,
    )


def test_painleve_rod_is_refused_in_words() -> None:
    """1/m + (l²/4J) cos φ (cos φ − μ sin φ) = 1 + 3 cos φ (cos φ − μ sin φ) is negative for large μ."""
    critical = (1.0 + 3.0 * np.cos(1.0) ** 2) / (3.0 * np.cos(1.0) * np.sin(1.0))
    with pytest.raises(SimulationFailed, match=r"(?s)Painlevé.*sliding stops abruptly"):
        simulate(painleve_rod(1.05 * critical), 0.01, EventDriven())
    simulate(painleve_rod(0.9 * critical), 0.001, EventDriven())


def test_painleve_rod_can_jump_as_time_stepping_does() -> None:
    system = painleve_rod(1.9)
    run = simulate(system, 1e-4, EventDriven(painleve="jump"))
    assert "Painlevé" in run.about["audit"]["impact without collision"]
    stepped = simulate(system, 1e-4, Moreau(1e-6))
    np.testing.assert_allclose(run.velocity[-1], stepped.velocity[-1], atol=2e-3)
    assert run.ledger.closes(1e-9)


def test_time_stepping_converges_to_event_driven() -> None:
    """C28: a block pushed back and forth that sticks and slips; Moreau with θ = ½ comes closer at least as h."""
    system = block(Harmonic([4.0, 0.0], 6.0) + Constant([0.0, -G]), speed=0.5)
    exact = simulate(system, 2.0, EventDriven()).position[-1, 0]
    sizes = np.array([4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4])
    errors = [abs(simulate(system, 2.0, Moreau(h)).position[-1, 0] - exact) for h in sizes]
    order = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert order > 0.9
    assert errors[-1] < 1e-4


def test_the_ledger_closes_and_says_how_large_the_errors_are() -> None:
    system = LinearSystem(
        [1.0, 1.0],
        damping=np.diag([0.3, 0.0]),
        stiffness=np.diag([100.0, 0.0]),
        force=Harmonic([8.0, 0.0], 7.0) + Constant([0.0, -G]),
        position=[0.0, 0.2],
        contacts=[
            Contact(
                "floor",
                normal=[0.0, 1.0],
                tangents=[1.0, 0.0],
                friction=0.3,
                restitution=0.4,
                tangential_rate=-0.2,
            )
        ],
    )
    run = simulate(system, 3.0, EventDriven())
    assert run.ledger.closes(1e-12)
    loose = simulate(system, 3.0, EventDriven(1e-6))
    assert np.abs(run.samples.energy[:, 6]).max() < 1e-8
    assert np.abs(loose.samples.energy[:, 6]).max() < 1e-3


@pytest.mark.parametrize("method", ["dop853", "rk45", "radau"])
def test_methods_agree(method: str) -> None:
    system = block(Harmonic([4.0, 0.0], 6.0) + Constant([0.0, -G]), speed=0.5)
    exact = simulate(system, 1.0, EventDriven(1e-12)).position[-1]
    found = simulate(system, 1.0, EventDriven(1e-8, method=method)).position[-1]
    np.testing.assert_allclose(found, exact, atol=1e-6)


def test_samples_lie_at_multiples_of_the_interval() -> None:
    run = simulate(ball(0.5), 1.0, EventDriven(sample=0.125))
    for k in range(9):
        assert np.min(np.abs(run.time - 0.125 * k)) == 0.0


class _Interrupted(EventDriven):
    """Ctrl-C in the sixth step."""

    def step(self, system, snapshot, until=np.inf, work=None):
        if snapshot.step == 5:
            raise KeyboardInterrupt
        return super().step(system, snapshot, until, work)


def test_a_resumed_run_ends_in_the_same_bits(tmp_path) -> None:
    system = block(Harmonic([4.0, 0.0], 6.0) + Constant([0.0, -G]), speed=0.5)
    whole = simulate(system, 2.0, EventDriven())
    begun = simulate(system, 2.0, _Interrupted(), store=tmp_path / "run", on_interrupt="return")
    assert begun.about["status"] == "interrupted"
    assert begun.samples.step[-1] == 5
    resumed = simulate(system, 2.0, EventDriven(), store=tmp_path / "run")
    for name in ("time", "position", "velocity", "impulse", "state", "energy"):
        assert np.array_equal(getattr(resumed.samples, name), getattr(whole.samples, name))


def test_refusals_name_the_reason() -> None:
    with pytest.raises(InvalidModel, match="method is 'euler'; allowed are dop853, rk45, radau"):
        EventDriven(method="euler")
    with pytest.raises(InvalidModel, match=r"tolerance is 0\.0; allowed are numbers above 0"):
        EventDriven(0.0)
    with pytest.raises(InvalidModel, match="impact is 'hard'"):
        EventDriven(impact="hard")
    soft = LinearSystem([1.0], contacts=[Contact("floor", normal=[1.0])], compliance=[[1e-6]])
    with pytest.raises(InvalidModel, match=r"contact compliance.*Moreau"):
        EventDriven().init(soft)


def test_collapsing_walls_end_in_words() -> None:
    """A ball between walls that close in: infinitely many elastic impacts, and no law that ends them."""
    system = LinearSystem(
        [1.0],
        position=[0.5],
        velocity=[1.0],
        contacts=[
            Contact("left", normal=[1.0], gap=Ramp(0.0, -0.5), restitution=1.0),
            Contact("right", normal=[-1.0], gap=Ramp(1.0, -0.5), restitution=1.0),
        ],
    )
    with pytest.raises((SimulationFailed, StepFailed), match=r"does not get on: .* Contacts switch"):
        simulate(system, 2.0, EventDriven(shortest_flight=1e-4))
