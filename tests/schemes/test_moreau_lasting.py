"""Contacts that last where directions turn: gaps stay O(h²), states do not flicker, forces are those of events."""

import numpy as np
import pytest

from klapper.bodies import Planar, inertia
from klapper.contact_states import OPEN
from klapper.mechanics import CompliantNormal, Contact, FunctionSystem, Harmonic, InvalidModel, LinearSystem
from klapper.report.verdict import verdict
from klapper.schemes import EventDriven, Moreau, Regularised
from klapper.simulation import simulate

G = 9.81
QUICK, FULL = range(30), range(30, 120)


def rubbing_rotor() -> FunctionSystem:
    """A Jeffcott rotor of 1 kg near resonance in a rough ring of 1 mm."""
    stiffness, damping, clearance, speed = 4e4, 8.0, 1e-3, 190.0
    rub = Contact(
        "rub",
        gap=lambda t, q: clearance - np.hypot(*q),
        normal=lambda t, q: -q / np.hypot(*q),
        tangents=lambda t, q: np.array([[-q[1], q[0]]]) / np.hypot(*q),
        tangential_rate=0.02 * speed,
        friction=0.1,
    )

    def force(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        turning = np.array([np.cos(speed * t), np.sin(speed * t)])
        return 2e-4 * speed**2 * turning - stiffness * q - damping * v

    return FunctionSystem([1e-6, 0.0], [0.0, 0.0], mass=np.eye(2), force=force, contacts=[rub])


def bowl(rng: np.random.Generator, restitution: float) -> FunctionSystem:
    """A mass point in an ellipse (a circle one time in two), let go inside or on the wall."""
    a = rng.uniform(0.5, 2.0)
    b = a if rng.random() < 0.5 else rng.uniform(0.5, 2.0)
    power = np.array([a, b]) ** -2

    def gap(t: float, q: np.ndarray) -> float:
        return 0.5 * min(a, b) * (1.0 - q @ (power * q))

    place = rng.uniform(0.3, 1.0) * np.array([a * np.cos(phi := rng.uniform(-2.8, -0.3)), b * np.sin(phi)])
    given = {"normal": lambda t, q: -min(a, b) * power * q} if rng.random() < 0.5 else {}
    return FunctionSystem(
        place,
        rng.uniform(-1.0, 1.0, 2),
        mass=np.eye(2) * rng.uniform(0.5, 2.0),
        force=lambda t, q, v: np.array([0.0, -G]),
        contacts=[Contact("bowl", gap=gap, restitution=restitution, **given)],
        potential=lambda q: G * q[1],
    )


def pendulum_at_a_wall(rng: np.random.Generator, restitution: float) -> FunctionSystem:
    """A pendulum by its angle; the tip must not pass a wall."""
    wall = rng.uniform(0.1, 0.6)
    stop = Contact("wall", gap=lambda t, q: np.sin(q[0]) + wall, restitution=restitution)
    return FunctionSystem(
        [rng.uniform(-0.05, 1.2)],
        [0.0],
        mass=[[1.0]],
        force=lambda t, q, v: np.array([-G * np.sin(q[0]) - 4.0]),
        potential=lambda q: -G * np.cos(q[0]) + 4.0 * q[0],
        contacts=[stop],
    )


def disc_over_disc(rng: np.random.Generator, restitution: float):
    """A disc falls beside the top of a fixed one and slides off; a compiled loop steps it."""
    model = Planar(gravity=(0.0, -G))
    radius, angle = rng.uniform(0.1, 0.4), rng.uniform(0.1, 0.5) * rng.choice([-1, 1])
    far = 0.5 + radius + rng.choice([0.0, rng.uniform(0.01, 0.1)])
    at = (far * np.sin(angle), far * np.cos(angle))
    top = model.body("disc", mass=1.0, inertia=inertia.cylinder(1.0, radius, 1.0)[2], at=at)
    model.contact(
        top.disc(radius), model.ground.disc(0.5), friction=rng.choice([0.0, 0.3]), restitution=restitution
    )
    return model.build()


def tumbling_box(rng: np.random.Generator, restitution: float):
    """A box falls on its corners."""
    model = Planar(gravity=(0.0, -G))
    width, height = rng.uniform(0.1, 0.4, 2)
    box = model.body(
        "box",
        mass=1.0,
        inertia=inertia.rectangle(1.0, width, height),
        at=(0.0, 0.35),
        angle=rng.uniform(-1.0, 1.0),
        velocity=(rng.uniform(-1.0, 1.0), 0.0),
        spin=rng.uniform(-3.0, 3.0),
    )
    floor = model.wall("floor", normal=(0.0, 1.0))
    model.contact(box.corners(width, height), floor, friction=rng.choice([0.0, 0.4]), restitution=restitution)
    return model.build()


KINDS = (bowl, pendulum_at_a_wall, bowl, disc_over_disc, tumbling_box)


def stays_out(seed: int) -> None:
    """Penetration is at most h² |b|, however long the contact lasts, and the ledger closes.

    Rigid bodies are not projected: they may be as deep as an approach takes them in one step.
    """
    for h in (2e-3, 1e-3):
        rng = np.random.default_rng(seed)
        system = KINDS[seed % len(KINDS)](rng, rng.choice([0.0, 0.6]))
        theta = 0.5 if seed % 3 else 1.0
        run = simulate(system, 0.6, Moreau(h, theta=theta))
        every = np.arange(system.contacts.count)
        b = max(
            np.abs(system.curvature(t, q, v, every)[0]).max()
            for t, q, v in zip(run.time, run.position, run.velocity, strict=True)
        )
        deep = 1.1 * h**2 * b + 1e-11  # b between samples is a little larger than at them
        if system.rigid_bodies:
            deep += h * max(
                -system.directions(t, q, every).normal_velocity(v).min()
                for t, q, v in zip(run.time, run.position, run.velocity, strict=True)
            )
        else:
            assert "penetration" not in run.about["audit"]
        assert -run.gap.min() <= deep
        assert "energy gain" not in run.about["audit"]


@pytest.mark.parametrize("seed", QUICK)
def test_penetration_of_curved_gaps_stays_of_second_order(seed: int) -> None:
    stays_out(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", FULL)
def test_penetration_of_many_curved_gaps_stays_of_second_order(seed: int) -> None:
    stays_out(seed)


def test_a_rotor_stays_in_its_ring() -> None:
    """It slides along the ring with v²/r ≤ 40 m/s²; friction takes what the event-driven motion says, to O(h)."""
    h = 2e-4
    run = simulate(rubbing_rotor(), 0.3, Moreau(h))
    assert np.hypot(*run.position.T).max() - 1e-3 < 40.0 * h**2
    exact = simulate(rubbing_rotor(), 0.3, EventDriven())
    assert run.ledger.friction[-1] == pytest.approx(exact.ledger.friction[-1], rel=5e-3)
    assert abs(run.ledger.numerical[-1]) < 1e-3 * run.ledger.friction[-1]


def puck(speed: float) -> FunctionSystem:
    ring = Contact("ring", gap=lambda t, q: 1.0 - np.hypot(*q), normal=lambda t, q: -q / np.hypot(*q))
    return FunctionSystem(
        [1.0, 0.0], [0.0, speed], mass=np.eye(2), force=lambda t, q, v: np.zeros(2), contacts=[ring]
    )


@pytest.mark.parametrize("theta", [0.5, 1.0])
def test_a_puck_keeps_its_speed_in_a_ring(theta: float) -> None:
    """m v²/r presses it; it loses nothing, and its gap is the ½ h² v²/r of the law after any number of turns."""
    h, speed = 5e-3, 3.0
    run = simulate(puck(speed), 10.0, Moreau(h, theta=theta))
    assert np.all(run.state[3:] != OPEN)  # θ = 1 does not see the turning of the first step
    assert run.ledger.kinetic[-1] == pytest.approx(4.5, rel=1e-3)
    depth = -run.gap[:, 0]
    assert depth.max() < h**2 * speed**2
    assert depth[-200:].max() == pytest.approx(depth[200:400].max(), rel=0.05)
    np.testing.assert_allclose(run.impulse[10:, 0, 0] / h, speed**2, rtol=0.02)


def rod(rng: np.random.Generator):
    """A rod that slides down with its tip on a smooth or rough floor, with its force by the equations of motion."""
    length, angle = rng.uniform(0.5, 2.0), rng.uniform(0.5, 1.3)
    model = Planar(gravity=(0.0, -G))
    body = model.body(
        "rod",
        mass=rng.uniform(0.5, 2.0),
        inertia=inertia.rod(1.0, length),
        at=(0.0, 0.5 * length * np.sin(angle)),
        angle=angle,
    )
    floor = model.wall("floor", normal=(0.0, 1.0))
    model.contact(body.point(-0.5 * length, 0.0), floor, friction=rng.choice([0.0, 0.2]))
    return model.build()


def on_a_table(rng: np.random.Generator):
    """A mass on a table that shakes with less than g."""
    omega, part = rng.uniform(5.0, 30.0), rng.uniform(0.2, 0.9)
    table = Contact("table", normal=[1.0], gap=Harmonic(-part * G / omega**2, omega, -np.pi / 2))
    return LinearSystem([1.0], force=[-G], velocity=[part * G / omega], contacts=[table])


def over_a_hill(rng: np.random.Generator):
    """A mass slides over a wave too slowly to leave it."""
    height, k, speed = rng.uniform(0.02, 0.1), rng.uniform(1.0, 4.0), rng.uniform(0.2, 1.0)
    wave = Contact("wave", gap=lambda t, q: q[1] - height * np.cos(k * q[0]))
    return FunctionSystem(
        [0.0, height],
        [speed, 0.0],
        mass=np.eye(2),
        force=lambda t, q, v: np.array([0.0, -G]),
        potential=lambda q: G * q[1],
        contacts=[wave],
    )


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("seed", range(18))
def test_lasting_contacts_do_not_flicker(seed: int, compiled: bool) -> None:
    """Events say closed throughout; so does Moreau, with their force to O(h)."""
    until, errors = 0.2, []
    for h in (2e-3, 1e-3):
        system = (rod, on_a_table, over_a_hill)[seed % 3](np.random.default_rng(seed))
        exact = simulate(system, until, EventDriven(largest_step=5e-3))
        assert np.all(exact.gap[:, 0] < 1e-8)
        run = simulate(system, until, Moreau(h, compiled=compiled))
        assert np.all(run.state[1:, 0] != OPEN)
        assert np.all(run.impulse[1:, 0, 0] > 0.0)
        total = np.interp(run.time, exact.time, np.cumsum(exact.impulse[:, 0, 0]))
        errors.append(np.abs(np.cumsum(run.impulse[:, 0, 0]) - total).max())
        force = np.diff(total) / h
        settled = slice(4, None)
        assert np.abs(run.impulse[1:, 0, 0] / h - force)[settled].max() < 0.05 * np.abs(force).max()
    assert errors[1] < 0.7 * errors[0] + 1e-4


def test_a_falling_rod_keeps_its_tip_on_the_floor() -> None:
    model = Planar(gravity=(0.0, -G))
    body = model.body("rod", mass=1.0, inertia=inertia.rod(1.0, 1.0), at=(0.0, 0.5 * np.sin(1.0)), angle=1.0)
    model.contact(body.point(-0.5, 0.0), model.wall("floor", normal=(0.0, 1.0)))
    run = simulate(model.build(), 0.35, Moreau(5e-4))
    assert np.all(run.state[1:] != OPEN)
    angle, rate = run.position[:, 2], run.velocity[:, 2]
    # energy: ½ (1/12 + ¼ cos² φ) φ̇² = g/2 (sin φ₀ − sin φ)
    expected = G * (np.sin(1.0) - np.sin(angle)) / (1 / 12 + 0.25 * np.cos(angle) ** 2)
    np.testing.assert_allclose(rate**2, expected, atol=1e-4 * expected.max())


def test_a_contact_with_a_real_gap_feels_no_force() -> None:
    """A puck that leaves the end of a hill faster than it falls is not held back."""
    hill = Contact("hill", gap=lambda t, q: q[1] - 0.1 * np.cos(3.0 * q[0]))
    system = FunctionSystem(
        [0.0, 0.1],
        [6.0, 0.0],
        mass=np.eye(2),
        force=lambda t, q, v: np.array([0.0, -G]),
        contacts=[hill],
    )
    run = simulate(system, 0.1, Moreau(1e-3))
    assert np.all(run.impulse == 0.0)  # 0.9 · 36 > g: it flies from the start
    np.testing.assert_allclose(run.position[:, 1], 0.1 - G * run.time**2 / 2, atol=1e-9)


def test_projection_is_none_true_or_false() -> None:
    with pytest.raises(InvalidModel, match="projection is 'always'"):
        Moreau(1e-3, projection="always")
    assert Moreau(1e-3).projects(rubbing_rotor())
    assert not Moreau(1e-3, projection=False).projects(rubbing_rotor())
    ball = LinearSystem([1.0], contacts=[Contact("floor", normal=[1.0])])
    assert not Moreau(1e-3).projects(ball)
    assert Moreau(1e-3, projection=True).projects(ball)


def test_penetration_is_told_in_words() -> None:
    """A ball that falls by 1 m in steps of 20 ms sinks in by up to v h = 9 cm."""
    ball = LinearSystem([1.0], force=[-G], position=[1.0], contacts=[Contact("floor", normal=[1.0])])
    run = simulate(ball, 0.6, Moreau(2e-2))
    said = run.about["audit"]["penetration"]
    assert "contact 'floor' overlaps by" in said and "%" in said
    assert any(said in warning for warning in verdict(run).warnings)
    assert "overlaps by" in " ".join(str(run.summary()).split())
    fine = simulate(ball, 0.6, Moreau(1e-4))
    assert "penetration" not in fine.about["audit"]
    rest = simulate(
        LinearSystem([1.0], force=[-G], contacts=[Contact("floor", normal=[1.0])]), 0.1, Moreau(1e-2)
    )
    assert "penetration" not in rest.about["audit"]


def rotor_in_a_bore(clearance: float):
    """Its journal lies 5 mm beside the centre of mass; it makes 10 turns a second."""
    model = Planar(gravity=(0.0, -G))
    rotor = model.body("rotor", mass=1.0, inertia=1e-2, at=(-5e-3, 0.0), spin=60.0)
    model.clearance(
        rotor.disc(0.02, (5e-3, 0.0)), model.ground.ring(0.02 + clearance), friction=0.1, restitution=0.0
    )
    return model.build()


def test_turns_of_a_body_do_not_hide_its_penetration() -> None:
    """The angle grows to 24 rad, at an arm of 5 mm: the play is 1 mm all the same."""
    clearance = 1e-3
    for h in (1e-3, 2e-5):
        run = simulate(rotor_in_a_bore(clearance), 0.4 if h == 1e-3 else 0.02, Moreau(h))
        told = "penetration" in run.about["audit"]
        assert told == (-run.gap.min() > 0.01 * np.ptp(run.gap)) == (h == 1e-3)
        assert told == ("overlaps by" in " ".join(str(run.summary()).split()))


def slider_crank(spin: float):
    """A crank of 0.2 m drives a slider through a rod of 0.6 m; nothing rubs, nothing is driven."""
    model = Planar(gravity=(0.0, -G))
    crank = model.body(
        "crank", mass=1.0, inertia=inertia.rod(1.0, 0.2), at=(0.1, 0.0), velocity=(0.0, 0.1 * spin), spin=spin
    )
    rod = model.body(
        "rod",
        mass=1.0,
        inertia=inertia.rod(1.0, 0.6),
        at=(0.5, 0.0),
        velocity=(0.0, 0.1 * spin),
        spin=-spin / 3,
    )
    slider = model.body("slider", mass=1.0, inertia=0.01, at=(0.8, 0.0))
    model.hinge(crank.point(-0.1, 0.0), model.ground.point(0.0, 0.0))
    model.hinge(crank.point(0.1, 0.0), rod.point(-0.3, 0.0))
    model.hinge(rod.point(0.3, 0.0), slider.point(0.0, 0.0))
    model.slot(slider.point(0.0, 0.0), model.ground.point(0.0, 0.0), along=(1.0, 0.0))
    return model.build(velocity="consistent")


def test_joints_of_mechanisms_do_not_drift() -> None:
    """Without projection they come apart further with every turn; the energy keeps the order of the step."""
    lost = []
    for h in (5e-4, 2.5e-4):
        system = slider_crank(100.0)
        run = simulate(system, 0.2, Moreau(h))
        apart = [system.constraint_residuals(t, q) for t, q in zip(run.time, run.position, strict=True)]
        assert np.abs(apart).max() < 1e-11
        lost.append(np.abs(run.ledger.numerical).max())
    assert lost[1] < 0.3 * lost[0] < 0.3e-3 * run.ledger.kinetic[0]


def test_springs_are_pressed_in_and_do_not_overlap() -> None:
    ball = LinearSystem([1.0], force=[-G], position=[0.1], contacts=[Contact("floor", normal=[1.0])])
    run = simulate(ball, 0.3, Regularised(CompliantNormal(1e3, 0.0)))
    assert "penetration" not in run.about["audit"]
    assert "pressed in" in run.about["audit"]["indentation"]


@pytest.mark.parametrize("every", [1, 5])
def test_compliance_is_no_penetration(every: int) -> None:
    """A load on a contact of 1 mm/N: the gap is −C λ, and the law is met to round-off."""
    soft = LinearSystem(
        [1.0], damping=[20.0], force=[-2.0], contacts=[Contact("pad", normal=[1.0])], compliance=[[1e-3]]
    )
    run = simulate(soft, 2.0, Moreau(1e-2, theta=1.0, level="position"), every=every)
    assert run.gap[-1, 0] == pytest.approx(-2e-3, rel=1e-6)
    assert run.about["audit"]["largest penetration"] < 1e-12
