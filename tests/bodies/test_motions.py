"""Bodies in motion, against closed forms: the room, the scheme and the loop together."""

import numpy as np
import pytest
from scipy.special import ellipk

from klapper.bodies import Planar, Spatial, inertia, turned
from klapper.mechanics import Ramp
from klapper.schemes import Moreau
from klapper.simulation import simulate

from .test_rigid_form import mixed

GRAVITY = 9.81


def run_for(system, until, step, **options):
    """The general path; the compiled one is compared with it elsewhere."""
    run = simulate(system, until, Moreau(step, compiled=False, **options), progress=False)
    assert run.ledger.closes(1e-9)
    return run


def disc_on_incline(angle, friction, radius=0.1, mass=2.0):
    model = Planar(gravity=(GRAVITY * np.sin(angle), -GRAVITY * np.cos(angle)))
    disc = model.body("disc", mass=mass, inertia=inertia.disc(mass, radius), at=(0.0, radius))
    model.contact(disc.disc(radius), model.wall("incline", normal=(0.0, 1.0)), friction=friction)
    return model.build()


def test_a_disc_rolls_down_an_incline():
    """ẍ = ⅔ g sin α, φ = −x/r, with the friction ⅓ m g sin α below its limit."""
    angle, until = np.radians(20.0), 0.4
    run = run_for(disc_on_incline(angle, 0.3), until, 5e-3)
    path = GRAVITY * np.sin(angle) * until**2 / 3.0
    _, q, v = run.final
    np.testing.assert_allclose(q, [path, 0.1, -path / 0.1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(v, [2.0 * path / until, 0.0, -2.0 * path / until / 0.1], rtol=1e-9, atol=1e-9)
    friction = 2.0 * GRAVITY * np.sin(angle) / 3.0
    np.testing.assert_allclose(np.abs(run.force[1:, 0, 1]), friction, rtol=1e-6)


def test_a_disc_slips_down_a_steep_incline():
    """Above tan α = 3 μ: ẍ = g (sin α − μ cos α), r φ̈ = −2 μ g cos α."""
    angle, friction, until = np.radians(50.0), 0.2, 0.3
    _, _, v = run_for(disc_on_incline(angle, friction), until, 5e-3).final
    down = GRAVITY * (np.sin(angle) - friction * np.cos(angle)) * until
    turn = -2.0 * friction * GRAVITY * np.cos(angle) * until / 0.1
    np.testing.assert_allclose(v, [down, 0.0, turn], rtol=1e-9, atol=1e-9)


def test_a_sphere_rolls_along_the_fall_line_of_a_plane_in_space():
    """ẍ = 5/7 of the weight along the plane, in its direction; ω = n × v / r."""
    model = Spatial(gravity=(1.0, 2.0, -9.0))
    radius, mass, until = 0.05, 0.3, 0.3
    ball = model.body(
        "ball",
        mass=mass,
        inertia=inertia.sphere(mass, radius),
        at=(0, 0, radius),
        orientation=turned((1, 2, 3), 1.0),
    )
    model.contact(ball.sphere(radius), model.wall("plane", normal=(0, 0, 1)), friction=0.5)
    system = model.build()
    _, q, v = run_for(system, until, 5e-3).final
    velocity = 5.0 / 7.0 * until * np.array([1.0, 2.0, 0.0])
    np.testing.assert_allclose(v[:3], velocity, atol=1e-9)
    spin = np.cross([0, 0, 1], velocity) / radius
    np.testing.assert_allclose(system.axes(ball, q) @ v[3:], spin, atol=1e-7)


def two_discs(offset):
    model = Planar()
    a = model.body("a", mass=1.0, inertia=0.01, velocity=(2.0, 0.0))
    b = model.body("b", mass=3.0, inertia=0.05, at=(0.32, offset))
    model.contact(a.disc(0.1), b.disc(0.2), restitution=1.0)
    return model.build()


def test_a_central_elastic_impact_exchanges_velocities_by_the_masses():
    """v_a = (m_a − m_b)/(m_a + m_b) v, v_b = 2 m_a/(m_a + m_b) v."""
    _, _, v = run_for(two_discs(0.0), 0.05, 1e-3).final
    np.testing.assert_allclose(v, [-1.0, 0.0, 0.0, 1.0, 0.0, 0.0], atol=1e-12)


def test_an_oblique_elastic_impact_keeps_energy_and_pushes_along_the_line_of_centres():
    """Momentum and energy are kept; b leaves along the line of centres, whose angle is known to the step's error."""
    run = run_for(two_discs(0.12), 0.05, 2e-4)
    _, _, v = run.final
    np.testing.assert_allclose(v[:2] + 3.0 * v[3:5], [2.0, 0.0], atol=1e-12)
    assert 0.5 * (v[0] ** 2 + v[1] ** 2) + 1.5 * (v[3] ** 2 + v[4] ** 2) == pytest.approx(2.0, rel=1e-12)
    sine = 0.12 / 0.3
    speed = 2.0 * 2.0 * np.sqrt(1.0 - sine**2) / 4.0
    np.testing.assert_allclose(v[3:5], speed * np.array([np.sqrt(1.0 - sine**2), sine]), atol=2e-3)
    assert v[2] == v[5] == 0.0


def test_a_box_at_rest_stays_at_rest():
    """Four corners on a plane in space carry the weight, however it is shared, and nothing moves."""
    model = Spatial(gravity=(0.0, 0.0, -GRAVITY))
    box = model.body("box", mass=3.0, inertia=inertia.box(3.0, 0.4, 0.3, 0.2), at=(0.0, 0.0, 0.1))
    model.contact(box.corners(0.4, 0.3, 0.2), model.wall("floor", normal=(0, 0, 1)), friction=0.4)
    system = model.build()
    run = run_for(system, 0.05, 1e-3)
    np.testing.assert_allclose(run.final[1], system.start.position, atol=1e-14)
    assert abs(run.ledger.balance["impact"]) < 1e-12
    assert run.impulse[:, :, 0].sum() == pytest.approx(3.0 * GRAVITY * 0.05, rel=1e-6)


def test_a_sliding_box_stops_where_friction_says():
    """After v²/(2 μ g), without turning, up to what a step can move."""
    model = Planar(gravity=(0.0, -GRAVITY))
    size = inertia.rectangle(3.0, 0.4, 0.1)
    box = model.body("box", mass=3.0, inertia=size, at=(0.0, 0.05), velocity=(1.0, 0.0))
    model.contact(box.corners(0.4, 0.1), model.wall("floor", normal=(0, 1)), friction=0.3)
    step = 2e-3
    _, q, v = run_for(model.build(), 0.4, step).final
    np.testing.assert_allclose(
        q, [1.0 / (2.0 * 0.3 * GRAVITY), 0.05, 0.0], atol=2.0 * GRAVITY * step**2 / 0.4
    )
    np.testing.assert_allclose(v, 0.0, atol=GRAVITY * step)


def test_a_belt_carries_a_block():
    """Its speed is reached after v/(μ g), on the way ½ v²/(μ g) behind the belt."""
    model = Planar(gravity=(0.0, -GRAVITY))
    block = model.particle("block", mass=1.0)
    belt = model.wall("belt", normal=(0.0, 1.0), sliding=(0.8, 0.0))
    model.contact(block.point(), belt, friction=0.4)
    until = 0.3
    run = run_for(model.build(), until, 1e-3)
    _, q, v = run.final
    np.testing.assert_allclose(v, [0.8, 0.0], atol=1e-12)
    assert q[0] == pytest.approx(0.8 * until - 0.5 * 0.8**2 / (0.4 * GRAVITY), abs=1e-4)
    slipping = 0.8 / (0.4 * GRAVITY)
    assert run.ledger.balance["friction"] == pytest.approx(0.5 * 0.8**2, rel=1e-2)
    np.testing.assert_allclose(run.speed("block x")[run.time > slipping + 2e-3], 0.8, atol=1e-12)


def test_a_rising_table_lifts_what_lies_on_it():
    model = Planar(gravity=(0.0, -GRAVITY))
    load = model.particle("load", mass=1.0, velocity=(0.0, 0.2))
    model.contact(load.point(), model.wall("table", normal=(0.0, 1.0), motion=Ramp(0.0, 0.2)))
    step = 1e-3
    run = run_for(model.build(), 0.1, step)
    np.testing.assert_allclose(run.final[1], [0.0, 0.02], atol=2.0 * GRAVITY * step**2)
    assert run.ledger.balance["loads"] == pytest.approx(GRAVITY * 0.02, abs=0.2 * GRAVITY * 2.0 * step)


def rod_on_a_pin(angle, length=0.6, mass=1.2):
    model = Planar(gravity=(0.0, -GRAVITY))
    rod = model.body(
        "rod",
        mass=mass,
        inertia=inertia.rod(mass, length),
        at=0.5 * length * np.array([np.sin(angle), -np.cos(angle)]),
        angle=angle,
    )
    model.hinge(rod.point(0.0, 0.5 * length), model.ground)
    return model.build()


def test_a_pendulum_swings_in_the_time_of_the_elliptic_integral():
    """T = 4 K(sin² ½φ₀) √(J/(m g s)) at an amplitude of 1.5 rad, to second order."""
    amplitude, length = 1.5, 0.6
    frequency = np.sqrt(1.5 * GRAVITY / length)
    period = 4.0 * ellipk(np.sin(0.5 * amplitude) ** 2) / frequency
    errors = []
    for steps in (50, 100, 200):
        run = run_for(rod_on_a_pin(amplitude, length), 0.25 * period, 0.25 * period / steps)
        errors.append(abs(run.final[1][2]))
    assert np.all(np.log2(np.array(errors[:-1]) / errors[1:]) > 1.95)
    assert errors[-1] < 1e-4 * amplitude


def test_a_door_on_two_hinges_falls_like_on_one():
    """Redundant joints: the motion is that of one hinge, and the finding is told."""

    def door(hinges):
        model = Spatial(gravity=(0.0, -3.0, -GRAVITY))
        wing = model.body("wing", mass=10.0, inertia=(2.0, 2.5, 1.0), at=(0.5, 0.0, 1.0))
        for height in hinges:
            model.hinge(
                wing.point(-0.5, 0.0, height - 1.0),
                model.ground.point(0.0, 0.0, height),
                axis=(0, 0, 1),
                name=f"{height}",
            )
        return model.build()

    one, two = (run_for(door(hinges), 0.3, 2e-3).final for hinges in ((1.0,), (0.3, 1.7)))
    np.testing.assert_allclose(two[1], one[1], atol=1e-9)
    np.testing.assert_allclose(two[2], one[2], atol=1e-9)
    assert abs(one[2][5]) > 0.3


def test_a_pin_with_play_stays_in_its_ring():
    """A loose pin falls and bounces; it leaves the ring by less than it moves in a step."""
    model = Planar(gravity=(0.0, -GRAVITY))
    pin = model.body("pin", mass=1.0, inertia=inertia.disc(1.0, 0.1), at=(0.005, 0.0))
    model.clearance(pin.disc(0.1), model.ground.ring(0.11), restitution=0.3, friction=0.2)
    run = run_for(model.build(), 0.3, 1e-3)
    gap = 0.01 - np.hypot(run.position[:, 0], run.position[:, 1])
    assert gap.min() > -1e-3 * np.sqrt(2.0 * GRAVITY * 0.02)
    assert run.ledger.balance["impact"] > 0.0


def test_a_disc_rolls_to_and_fro_in_a_ring():
    """Small oscillations with ω² = 2 g / (3 (R − r)): the play is in the normal, the radius in the friction."""
    play, amplitude = 0.05, 0.05
    model = Planar(gravity=(0.0, -GRAVITY))
    place = play * np.array([np.sin(amplitude), -np.cos(amplitude)])
    disc = model.body("disc", mass=1.0, inertia=inertia.disc(1.0, 0.1), at=place)
    model.clearance(disc.disc(0.1), model.ground.ring(0.1 + play), friction=1.0)
    quarter = 0.5 * np.pi / np.sqrt(2.0 * GRAVITY / (3.0 * play))
    run = run_for(model.build(), 1.1 * quarter, quarter / 200)
    swing = np.arctan2(run.position[:, 0], -run.position[:, 1])
    assert np.interp(0.0, -swing, run.time) == pytest.approx(quarter, rel=5e-3)
    rolled = -run.final[1][2] * 0.1
    assert rolled == pytest.approx(play * (run.final[1][0] / play - amplitude), rel=2e-2)


def test_a_ball_in_a_moving_box_shares_its_momentum():
    """Walls fixed to a body: a ball bounces in a free box; momentum is kept, energy too with ε = 1."""
    model = Planar()
    box = model.particle("box", mass=2.0)
    ball = model.body("ball", mass=1.0, inertia=0.01, velocity=(1.0, 0.3))
    for side, (x, y) in {"left": (-1, 0), "right": (1, 0), "low": (0, -1), "high": (0, 1)}.items():
        wall = box.wall((0.2 * x, 0.2 * y), (-x, -y), name=side)
        model.contact(ball.disc(0.1), wall, restitution=1.0)
    run = run_for(model.build(), 1.5, 5e-3)
    v = run.velocity
    np.testing.assert_allclose(2.0 * v[:, 0] + v[:, 2], 1.0, atol=1e-12)
    np.testing.assert_allclose(2.0 * v[:, 1] + v[:, 3], 0.3, atol=1e-12)
    energy = 0.5 * (2.0 * np.sum(v[:, :2] ** 2, axis=1) + np.sum(v[:, 2:4] ** 2, axis=1))
    np.testing.assert_allclose(energy, energy[0], rtol=1e-12)
    assert len(run.impacts()) > 5


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_compiled_loop_gives_the_same_motion(dimension):
    """Corners, discs, spheres, a peg and a search, through their first impacts."""
    system = mixed(dimension)
    slow = run_for(system, 0.9, 2e-3)
    fast = simulate(system, 0.9, Moreau(2e-3), progress=False)
    assert len(slow.impacts()) > 3
    np.testing.assert_allclose(fast.position, slow.position, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(fast.velocity, slow.velocity, rtol=1e-9, atol=1e-9)
