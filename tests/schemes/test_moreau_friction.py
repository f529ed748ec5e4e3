"""Moreau's scheme with friction: stop of sliding, incline, curved paths, anisotropy, stick-slip, hysteresis, belts."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from klapper.contact_states import SLIP, STICK
from klapper.mechanics import (
    Anisotropic,
    Constraint,
    Contact,
    FrictionElement,
    Harmonic,
    LinearSystem,
    Stribeck,
)
from klapper.schemes import Moreau
from klapper.simulation import simulate

G = 9.81


def particle(velocity, *, friction=0.3, force=(0.0, 0.0), mass: float = 1.0, **more) -> LinearSystem:
    """A particle on a horizontal plane, coordinates x, y in the plane and z upwards."""
    return LinearSystem(
        [mass] * 3,
        force=[*force, -mass * G],
        velocity=[*velocity, 0.0],
        contacts=[
            Contact(
                "plane", normal=[0, 0, 1.0], tangents=[[1.0, 0, 0], [0, 1.0, 0]], friction=friction, **more
            )
        ],
    )


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("theta", [0.5, 1.0])
def test_sliding_particle_stops_in_time(theta: float, compiled: bool) -> None:
    """C27: v₀ = 1, μ = 0.3: stops at 0.33979 s after 0.16989 m, with an error of O(h); then it does not move at all."""
    stop, way = 1.0 / (0.3 * G), 1.0 / (2 * 0.3 * G)
    assert (round(stop, 5), round(way, 5)) == (0.33979, 0.16989)
    for h in (1e-2, 1e-3) if compiled else (1e-2,):
        run = simulate(particle([1.0, 0.0]), 0.5, Moreau(h, theta=theta, compiled=compiled))
        moving = np.flatnonzero(run.velocity[:, 0] > 0.0)[-1]
        assert run.time[moving + 1] == pytest.approx(stop, abs=1.01 * h)
        assert run.position[-1, 0] == pytest.approx(way, abs=0.6 * h)
        assert np.all(run.velocity[moving + 1 :] == 0.0)
        assert np.ptp(run.position[moving + 1 :, 0]) == 0.0
        assert set(run.state[1 : moving + 1, 0]) == {SLIP}
        assert set(run.state[moving + 2 :, 0]) == {STICK}
        np.testing.assert_allclose(run.impulse[1:moving, 0, 1], -0.3 * G * h, rtol=1e-9)
        assert run.ledger.friction[-1] == pytest.approx(
            0.5, rel=1e-9
        )  # all kinetic energy goes into friction


@pytest.mark.parametrize("tilted", [False, True])
@pytest.mark.parametrize("mu", [0.1, 0.3, 1.0])
def test_block_on_an_incline_starts_to_slide_at_the_friction_angle(mu: float, tilted: bool) -> None:
    """C27: rests below tan α = μ, accelerates with g (sin α − μ cos α) above."""
    for factor in (0.99, 1.01):
        alpha = np.arctan(mu) * factor
        down, up = np.array([np.cos(alpha), -np.sin(alpha)]), np.array([np.sin(alpha), np.cos(alpha)])
        if not tilted:
            weight, down, up = G * np.array([np.sin(alpha), -np.cos(alpha)]), np.eye(2)[0], np.eye(2)[1]
        else:
            weight = np.array([0.0, -G])
        system = LinearSystem(
            [1.0, 1.0], force=weight, contacts=[Contact("slope", normal=up, tangents=down, friction=mu)]
        )
        run = simulate(system, 1.0, Moreau(1e-3))
        if factor < 1.0:
            assert np.abs(run.position).max() <= 1e-15
            assert np.abs(run.velocity).max() <= 1e-15
            assert set(run.state[1:, 0]) == {STICK}
        else:
            a = G * (np.sin(alpha) - mu * np.cos(alpha))
            assert run.velocity[-1] @ down == pytest.approx(a, abs=2 * mu * G * 1e-3)
            assert run.position[-1] @ down == pytest.approx(a / 2, abs=2 * mu * G * 1e-3)


def test_a_block_does_not_creep_in_a_million_steps() -> None:
    """C27: displacement exactly 0.0, in coordinates that are not those of the slope."""
    alpha = np.radians(16.6)
    system = LinearSystem(
        [1.0, 1.0],
        force=[0.0, -G],
        contacts=[
            Contact(
                "slope",
                normal=[np.sin(alpha), np.cos(alpha)],
                tangents=[np.cos(alpha), -np.sin(alpha)],
                friction=0.3,
            )
        ],
    )
    run = simulate(system, 1000.0, Moreau(1e-3), every=10_000)
    assert run.about["steps"] == 1_000_000
    assert run.about["audit"]["path"] == "compiled"
    assert np.all(run.position == 0.0)
    assert np.all(run.velocity == 0.0)


@pytest.mark.parametrize(("mu", "factor"), [(0.1, 0.99), (0.3, 0.9), (0.3, 0.5)])
def test_a_block_does_not_creep_on_any_incline(mu: float, factor: float) -> None:
    """The contact force cancels across the weight: what is left of that is no motion."""
    alpha = np.arctan(mu) * factor
    up, down = [np.sin(alpha), np.cos(alpha)], [np.cos(alpha), -np.sin(alpha)]
    system = LinearSystem(
        [1.0, 1.0], force=[0.0, -G], contacts=[Contact("slope", normal=up, tangents=down, friction=mu)]
    )
    run = simulate(system, 100.0, Moreau(1e-3), every=1000)
    assert np.all(run.position == 0.0)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_block_on_two_corners_does_not_creep(compiled: bool) -> None:
    """A rigid block (x, y, rotation) on an incline below the friction angle."""
    alpha, half, high = np.radians(16.6), 0.2, 0.1
    up, down = np.array([np.sin(alpha), np.cos(alpha)]), np.array([np.cos(alpha), -np.sin(alpha)])

    def corner(name: str, place: float) -> Contact:
        arm = place * down - high * up
        turned = np.array([-arm[1], arm[0]])
        return Contact(name, normal=[*up, up @ turned], tangents=[*down, down @ turned], friction=0.31)

    system = LinearSystem(
        [1.0, 1.0, (half**2 + high**2) / 3.0],
        force=[0.0, -G, 0.0],
        contacts=[corner("upper", -half), corner("lower", half)],
    )
    run = simulate(system, 20.0 if compiled else 0.2, Moreau(1e-3, compiled=compiled), every=100)
    assert np.all(run.position == 0.0)


def test_sliding_sideways_on_an_incline_turns_downhill() -> None:
    """Spatial friction opposes the velocity: the path bends; the reference is an ODE solver."""
    alpha, mu = np.radians(15.0), 0.3
    system = LinearSystem(
        [1.0] * 3,
        force=[G * np.sin(alpha), 0.0, -G * np.cos(alpha)],
        velocity=[0.0, 0.8, 0.0],
        contacts=[Contact("slope", normal=[0, 0, 1.0], tangents=[[1.0, 0, 0], [0, 1.0, 0]], friction=mu)],
    )

    def right(t: float, y: np.ndarray) -> list[float]:
        speed = np.hypot(y[2], y[3])
        return [
            y[2],
            y[3],
            G * np.sin(alpha) - mu * G * np.cos(alpha) * y[2] / speed,
            -mu * G * np.cos(alpha) * y[3] / speed,
        ]

    exact = solve_ivp(right, (0.0, 0.25), [0.0, 0.0, 0.0, 0.8], rtol=1e-10, atol=1e-12).y[:, -1]
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        run = simulate(system, 0.25, Moreau(h))
        errors.append(np.abs(np.concatenate([run.position[-1, :2], run.velocity[-1, :2]]) - exact).max())
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 1.0, atol=0.15)
    assert errors[-1] < 1e-3
    assert run.velocity[-1, 0] > 0.3  # it has turned
    friction = run.impulse[5:-1, 0, 1:]
    after = run.velocity[5:-1, :2]
    cosine = (
        np.sum(friction * after, axis=1) / np.linalg.norm(friction, axis=1) / np.linalg.norm(after, axis=1)
    )
    np.testing.assert_allclose(cosine, -1.0, atol=1e-9)


@pytest.mark.parametrize("compiled", [True, False])
def test_anisotropic_sliding_follows_the_elliptic_law(compiled: bool) -> None:
    """λ = −N (μ₁² v₁, μ₂² v₂)/√(μ₁² v₁² + μ₂² v₂²) while sliding, by an ODE solver; error of first order."""
    mu = np.array([0.15, 0.45])

    def right(t: float, y: np.ndarray) -> np.ndarray:
        v = y[2:]
        return np.concatenate([v, -G * mu**2 * v / np.linalg.norm(mu * v)])

    exact = solve_ivp(right, (0.0, 0.2), [0.0, 0.0, 1.0, 1.0], rtol=1e-10, atol=1e-12).y[:, -1]
    errors = []
    for h in (2e-3, 1e-3, 5e-4) if compiled else (4e-3, 2e-3):
        run = simulate(particle([1.0, 1.0], friction=Anisotropic(*mu)), 0.2, Moreau(h, compiled=compiled))
        errors.append(np.abs(np.concatenate([run.position[-1, :2], run.velocity[-1, :2]]) - exact).max())
        inside = run.impulse[1:, 0, 1:] / (mu * run.impulse[1:, 0, :1])
        np.testing.assert_allclose(np.linalg.norm(inside, axis=1), 1.0, rtol=1e-9)  # on the ellipse
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 1.0, atol=0.15)
    assert errors[-1] < 3e-3


def test_anisotropic_contact_holds_in_its_strong_direction_only() -> None:
    for direction, holds in (([2.0, 0.0], False), ([0.0, 2.0], True)):
        system = particle([0.0, 0.0], friction=Anisotropic(0.15, 0.45), force=direction)
        run = simulate(system, 0.1, Moreau(1e-3))
        assert (np.abs(run.position).max() < 1e-18) == holds
        assert set(run.state[1:, 0]) == {STICK if holds else SLIP}


def test_anisotropic_contact_does_not_creep_across_its_load() -> None:
    run = simulate(
        particle([0.0, 0.0], friction=Anisotropic(0.15, 0.45), force=[0.0, 2.0]), 0.1, Moreau(1e-3)
    )
    assert np.all(run.position == 0.0)


class StickSlip:
    """A mass on a belt with a spring: sticks until k x = μ_s N, then slips with a falling coefficient."""

    k, belt, load = 200.0, 0.2, 10.0
    law = Stribeck(0.4, 0.2, speed=0.2)

    def system(self) -> LinearSystem:
        return LinearSystem(
            [1.0, 1.0],
            stiffness=[self.k, 0.0],
            force=[0.0, -self.load],
            contacts=[
                Contact(
                    "belt",
                    normal=[0.0, 1.0],
                    tangents=[1.0, 0.0],
                    friction=self.law,
                    tangential_rate=-self.belt,
                )
            ],
        )

    def period(self) -> tuple[float, float, float]:
        """Period, smallest and largest position of the limit cycle, by an ODE solver between events."""

        def slip(t: float, y: np.ndarray) -> list[float]:
            return [y[1], -self.k * y[0] + self.load * self.law.coefficient(self.belt - y[1])]

        def caught(t: float, y: np.ndarray) -> float:
            return y[1] - self.belt if t > 1e-3 else -1.0

        caught.terminal, caught.direction = True, 1  # type: ignore[attr-defined]
        breakaway = self.law.static * self.load / self.k
        way = solve_ivp(
            slip, (0.0, 10.0), [breakaway, self.belt - 1e-12], events=caught, rtol=1e-10, atol=1e-12
        )
        back = way.y_events[0][0][0]
        sticking = (breakaway - back) / self.belt
        return float(way.t_events[0][0] + sticking), float(way.y[0].min()), float(way.y[0].max())


def test_a_stribeck_oscillator_sticks_and_slips_with_the_period_of_the_closed_form() -> None:
    case = StickSlip()
    period, lowest, highest = case.period()
    run = simulate(case.system(), 4 * period, Moreau(1e-3))
    x, late = run.position[:, 0], run.time > 1.5 * period
    sticks = run.state[:, 0] == STICK
    begins = run.time[1:][sticks[1:] & ~sticks[:-1] & late[1:]]
    np.testing.assert_allclose(np.diff(begins), period, rtol=5e-3)
    assert x[late].min() == pytest.approx(lowest, rel=2e-2)
    assert x[late].max() == pytest.approx(highest, rel=2e-2)
    np.testing.assert_allclose(run.velocity[sticks, 0], case.belt, rtol=1e-9)
    assert np.abs(run.ledger.residual).max() <= 1e-10 * run.ledger.scale


def test_speed_dependent_sliding_follows_its_own_ode() -> None:
    """A particle slowed down by a Stribeck law, against quadrature of dv/μ(v)."""
    law = Stribeck(0.5, 0.1, speed=0.5, exponent=2.0)
    run = simulate(particle([2.0, 0.0], friction=law), 0.8, Moreau(2e-3))
    for k in (100, 300):
        v = run.velocity[k, 0]
        time = quad(lambda u: 1.0 / (G * law.coefficient(u)), v, 2.0)[0]
        assert time == pytest.approx(run.time[k], abs=2e-3)


@pytest.mark.parametrize("driven", ["load", "constraint"])
def test_a_jenkins_element_loses_the_area_of_its_hysteresis(driven: str) -> None:
    """A slider with limit F behind a spring k, moved to and fro by A: 4 F (A − F/k) are lost per cycle."""
    k, limit, amplitude, omega, tiny = 1000.0, 5.0, 0.02, 2 * np.pi, 1e-6
    way = Harmonic([amplitude], omega, -np.pi / 2)
    if driven == "load":  # the driven end is eliminated: it is a force k u(t) on the slider
        system = LinearSystem(
            [tiny],
            stiffness=[k],
            force=Harmonic([k * amplitude], omega, -np.pi / 2),
            contacts=[FrictionElement("slider", tangents=[1.0], limit=limit)],
        )
    else:  # the driven end is a coordinate of its own, held by a moving constraint
        system = LinearSystem(
            [tiny, tiny],
            stiffness=[[k, -k], [-k, k]],
            velocity=[0.0, amplitude * omega],
            contacts=[FrictionElement("slider", tangents=[1.0, 0.0], limit=limit)],
            constraints=[
                Constraint("drive", direction=[0.0, 1.0], offset=Harmonic(-amplitude, omega, -np.pi / 2))
            ],
        )
    per_cycle = 1000 if driven == "load" else 250
    run = simulate(system, 3.0, Moreau(1.0 / per_cycle, theta=1.0))
    lost = 4 * limit * (amplitude - limit / k)
    cycle = run.ledger.friction[3 * per_cycle] - run.ledger.friction[2 * per_cycle]
    assert cycle == pytest.approx(lost, rel=2e-3 if driven == "load" else 1e-2)
    # the force on the drive stays within ±F and reaches both, the work put in over a cycle is what is lost
    moved = way.value(run.time)[:, 0] if driven == "load" else run.position[:, 1]
    drive = k * (moved - run.position[:, 0])
    assert np.abs(drive).max() == pytest.approx(limit, rel=1e-3)
    net = run.ledger.loads - run.ledger.numerical  # θ = 1 loses a little by itself
    assert net[3 * per_cycle] - net[2 * per_cycle] == pytest.approx(
        lost, rel=2e-3 if driven == "load" else 1e-2
    )
    assert np.abs(run.ledger.residual).max() <= 1e-10 * run.ledger.scale


@pytest.mark.parametrize("compiled", [True, False])
def test_a_belt_takes_a_mass_along(compiled: bool) -> None:
    """Put on a belt of speed w: slides for w/(μ g); the belt puts in m w², half of it is lost, half is kinetic."""
    m, w, mu, h = 2.0, 0.6, 0.2, 1e-3
    system = particle([0.0, 0.0], friction=mu, mass=m, tangential_rate=[0.0, -w])
    run = simulate(system, 0.5, Moreau(h, compiled=compiled))
    assert run.velocity[-1, 1] == pytest.approx(w, rel=1e-12)
    assert run.velocity[-1, 0] == 0.0
    sliding = run.time[run.state[:, 0] == SLIP]
    assert sliding[-1] == pytest.approx(w / (mu * G), abs=2 * h)
    assert run.ledger.friction[-1] == pytest.approx(0.5 * m * w**2, rel=1e-9)
    assert run.ledger.loads[-1] == pytest.approx(m * w**2, rel=1e-9)
    assert run.ledger.kinetic[-1] == pytest.approx(0.5 * m * w**2, rel=1e-9)


def test_shares_one_to_one_are_plain_friction() -> None:
    """(3.74) with μ_ij = μ δ_ij: a patch whose limit is μ λ_N of one contact is that contact's friction."""
    rng = np.random.default_rng(4)
    normals, tangents = np.abs(rng.standard_normal((3, 5))), rng.standard_normal((3, 5))
    common = {
        "stiffness": np.diag(rng.uniform(20, 50, 5)),
        "force": Harmonic(20 * rng.standard_normal(5), 6.0),
        "velocity": rng.standard_normal(5),
    }
    plain = LinearSystem(
        np.ones(5),
        contacts=[
            Contact(f"c{i}", normal=normals[i], tangents=tangents[i], friction=0.3, gap=0.02)
            for i in range(3)
        ],
        **common,
    )
    shared = LinearSystem(
        np.ones(5),
        contacts=[
            *(Contact(f"c{i}", normal=n, gap=0.02) for i, n in enumerate(normals)),
            *(FrictionElement(f"f{i}", tangents=t, shares={f"c{i}": 0.3}) for i, t in enumerate(tangents)),
        ],
        **common,
    )
    one = simulate(plain, 2.0, Moreau(4e-3, compiled=False))
    other = simulate(shared, 2.0, Moreau(4e-3))
    assert np.any(one.state == STICK) and np.any(one.state == SLIP)
    np.testing.assert_allclose(other.position, one.position, atol=1e-9)
    np.testing.assert_allclose(other.velocity, one.velocity, atol=1e-8)
    np.testing.assert_allclose(other.impulse[:, :3, 0], one.impulse[:, :, 0], atol=1e-8)
    np.testing.assert_allclose(other.impulse[:, 3:, 1], one.impulse[:, :, 1], atol=1e-8)
    assert np.all(other.impulse[:, 3:, 0] == 0.0)


def test_a_patch_pressed_by_two_contacts_has_the_sum_of_their_limits() -> None:
    """Weight mg carried by two contacts, the patch has μ = (0.2, 0.4) of them: the limit is Σ μ_j λ_j."""
    system = LinearSystem(
        [1.0, 1.0, 0.5],
        force=[5.0, -G, 0.0],
        contacts=[
            Contact("left", normal=[0.0, 1.0, -1.0]),
            Contact("right", normal=[0.0, 1.0, 1.0]),
            FrictionElement("patch", tangents=[1.0, 0.0, 0.0], shares={"left": 0.2, "right": 0.4}),
        ],
    )
    run = simulate(system, 0.5, Moreau(2e-3))
    loads = np.sum(run.impulse[1:, :2, 0], axis=0)
    np.testing.assert_allclose(loads, G / 2 * 0.5, rtol=1e-3)
    acceleration = 5.0 - (0.2 + 0.4) * G / 2
    assert run.velocity[-1, 0] == pytest.approx(acceleration * 0.5, rel=1e-3)


@pytest.mark.parametrize(
    "compiled",
    [
        False,
        pytest.param(True),
    ],
)
def test_given_limit_acts_without_normal_force(compiled: bool) -> None:
    """A preloaded, closed contact (limit 2 N): it brakes a sliding mass although nothing presses it from outside."""
    system = LinearSystem(
        [1.0, 1.0],
        velocity=[1.0, 0.0],
        contacts=[Contact("preloaded", normal=[0.0, 1.0], tangents=[1.0, 0.0], limit=2.0)],
    )
    run = simulate(system, 0.3, Moreau(1e-2, compiled=compiled))
    assert run.velocity[-1, 0] == pytest.approx(1.0 - 2.0 * 0.3, rel=1e-9)


@pytest.mark.parametrize("compiled", [True, False])
def test_contacts_of_different_kind_brake_side_by_side_each_by_its_friction(compiled: bool) -> None:
    """A spatial, a planar and a frictionless contact in one table, each on its own particle."""

    def row(*places: int) -> np.ndarray:
        return np.eye(7)[list(places)]

    system = LinearSystem(
        np.ones(7),
        force=[0, 0, -G, 0, -G, 0, -G],
        velocity=[0.6, 0.8, 0, 1.0, 0, 1.0, 0],
        contacts=[
            Contact("spatial", normal=row(2)[0], tangents=row(0, 1), friction=0.3),
            Contact("planar", normal=row(4)[0], tangents=row(3), friction=0.2),
            Contact("smooth", normal=row(6)[0]),
        ],
    )
    run = simulate(system, 0.3, Moreau(1e-3 if compiled else 1e-2, compiled=compiled))
    assert run.about["audit"]["path"] == ("compiled" if compiled else "general")
    _, position, velocity = run.final
    assert np.hypot(*velocity[:2]) == pytest.approx(1.0 - 0.3 * 0.3 * G, rel=1e-6)
    assert velocity[0] / velocity[1] == pytest.approx(0.75, rel=1e-6)
    assert velocity[3] == pytest.approx(1.0 - 0.2 * 0.3 * G, rel=1e-6)
    assert velocity[5] == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_allclose(position[[2, 4, 6]], 0.0, atol=1e-12)
