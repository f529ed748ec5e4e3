"""Friction in space and bodies that turn, from event to event: closed forms, and time stepping beside them."""

import numpy as np
import pytest

from klapper.bodies import Planar, Spatial, inertia
from klapper.contact_states import IMPACT, SLIP, STICK
from klapper.mechanics import (
    Anisotropic,
    Contact,
    FunctionSystem,
    Harmonic,
    LinearSystem,
    Stribeck,
)
from klapper.schemes import EventDriven, Moreau
from klapper.simulation import simulate

G = 9.81
NUMERICAL = 6  # column of the energies


def puck(velocity, friction, **options) -> LinearSystem:
    """A mass on a table in space."""
    unit = np.eye(3)
    rate = options.pop("tangential_rate", 0.0)
    table = Contact("table", normal=unit[2], tangents=unit[:2], friction=friction, tangential_rate=rate)
    return LinearSystem(
        np.ones(3), force=[0.0, 0.0, -G], velocity=[*velocity, 0.0], contacts=[table], **options
    )


class TestFrictionInSpace:
    def test_a_thrown_puck_stops_on_its_line(self):
        run = simulate(puck((3.0, 4.0), 0.3), 3.0, EventDriven())
        np.testing.assert_allclose(run.position[-1], 25.0 / (0.6 * G) * np.array([0.6, 0.8, 0.0]), atol=1e-12)
        assert np.abs(run.time - 5.0 / (0.3 * G)).min() <= 1e-9
        assert run.state[-1, 0] == STICK

    def test_on_a_belt_the_line_is_that_of_the_relative_motion(self):
        run = simulate(puck((0.0, 2.0), 0.3, tangential_rate=[-1.0, 0.0]), 3.0, EventDriven())
        relative = np.array([-1.0, 2.0, 0.0])
        place = np.array([3.0, 0.0, 0.0]) + relative * np.sqrt(5.0) / (0.6 * G)
        np.testing.assert_allclose(run.position[-1], place, atol=1e-11)

    def test_a_drive_against_friction_keeps_circular_sliding_a_circle(self):
        """A central spring turns the velocity, a drive along it balances friction: the circle stays a circle."""
        radius, omega, mu = 0.5, 2.0, 0.3

        def force(t, q, v):
            drive = mu * G * v[:2] / np.hypot(*v[:2])
            return np.array([*(drive - omega**2 * q[:2]), -G])

        system = FunctionSystem(
            [radius, 0.0, 0.0],
            [0.0, radius * omega, 0.0],
            mass=np.eye(3),
            force=force,
            contacts=[Contact("table", normal=[0.0, 0.0, 1.0], tangents=np.eye(3)[:2], friction=mu)],
        )
        run = simulate(system, 4.0, EventDriven())
        angle = omega * run.time
        circle = radius * np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
        np.testing.assert_allclose(run.position, circle, atol=1e-9)

    @pytest.mark.parametrize(
        "friction", [Anisotropic(0.3, 0.1), Anisotropic(0.1, 0.3), Stribeck(0.3, 0.1, 0.5)]
    )
    def test_time_stepping_converges_to_it(self, friction):
        system = puck((3.0, 2.0), friction, stiffness=np.diag([2.0, 1.0, 0.0]))
        goal = simulate(system, 1.0, EventDriven()).position[-1]
        errors = [np.abs(simulate(system, 1.0, Moreau(h)).position[-1] - goal).max() for h in (8e-3, 2e-3)]
        assert errors[1] < 0.35 * errors[0] < 1e-2

    def test_a_belt_that_turns_carries_the_puck_only_as_fast_as_friction_can(self):
        """Steady motion on a belt of velocity u (cos ωt, sin ωt): sticks if u ω ≤ μ g, else circles at speed μ g/ω."""
        mu, speed = 0.3, 1.0
        for omega in (2.0, 6.0):
            belt = Harmonic([-speed, 0.0], omega) + Harmonic([0.0, -speed], omega, -np.pi / 2)
            run = simulate(puck((0.0, 0.0), mu, tangential_rate=belt), 6.0, EventDriven(1e-8))
            own = np.hypot(*run.velocity[-1, :2])
            if omega * speed <= mu * G:
                assert run.state[-1, 0] == STICK
                assert own == pytest.approx(speed, abs=1e-9)
            else:
                assert run.state[-1, 0] == SLIP
                drift = run.velocity[run.time > 2.0]
                assert np.hypot(drift[:, 0], drift[:, 1]).max() < speed


class TestBodies:
    @pytest.mark.parametrize("share", [0.2, 0.999, 1.001, 3.0])
    def test_a_disc_on_an_incline_rolls_from_a_third_of_the_slope_on(self, share):
        slope, radius = np.radians(20.0), 0.1
        mu = share * np.tan(slope) / 3.0
        model = Planar(gravity=(G * np.sin(slope), -G * np.cos(slope)))
        disc = model.body("disc", mass=2.0, inertia=inertia.disc(2.0, radius), at=(0.0, radius))
        model.contact(disc.disc(radius), model.wall("slope", normal=(0.0, 1.0)), friction=mu)
        run = simulate(model.build(), 1.0, EventDriven())
        rolls = share > 1.0
        acceleration = G * np.sin(slope) * 2.0 / 3.0 if rolls else G * (np.sin(slope) - mu * np.cos(slope))
        assert run.position[-1, 0] == pytest.approx(acceleration / 2.0, abs=1e-10)
        assert run.state[-1, 0] == (STICK if rolls else SLIP)
        if rolls:
            assert run.position[-1, 0] == pytest.approx(-radius * run.position[-1, 2], abs=1e-10)

    def test_a_bowling_ball_with_side_spin_ends_rolling(self):
        """Angular momentum about the floor is kept: 7/5 v = v₀ + 2/5 r × spin, here along both directions."""
        radius, speed, spin = 0.1, 3.0, -30.0
        model = Spatial(gravity=(0.0, 0.0, -G))
        ball = model.body(
            "ball",
            mass=1.0,
            inertia=inertia.sphere(1.0, radius),
            at=(0.0, 0.0, radius),
            velocity=(speed, 0.0, 0.0),
            spin=(spin, 0.0, 0.0),
        )
        model.contact(ball.sphere(radius), model.wall("floor", normal=(0.0, 0.0, 1.0)), friction=0.5)
        run = simulate(model.build(), 0.6, EventDriven(1e-8))
        np.testing.assert_allclose(
            run.velocity[-1, :3], [5 / 7 * speed, -2 / 7 * radius * spin, 0.0], atol=1e-6
        )

    def test_a_pendulum_hits_a_wall_with_the_speed_of_its_fall(self):
        length = 0.5
        model = Planar(gravity=(0.0, -G))
        rod = model.body("rod", mass=1.0, inertia=inertia.rod(1.0, length), at=(length / 2, 0.0))
        model.hinge(rod.point(-length / 2, 0.0), model.ground.point(0.0, 0.0))
        model.contact(rod.point(length / 2, 0.0), model.wall("wall", normal=(1.0, 0.0)), restitution=0.6)
        run = simulate(model.build(), 0.8, EventDriven())
        hit = int(np.argmax(run.state[:, 0] == IMPACT))
        assert run.velocity[hit - 1, 2] == pytest.approx(-np.sqrt(3.0 * G / length), abs=1e-8)
        assert run.velocity[hit, 2] == pytest.approx(0.6 * np.sqrt(3.0 * G / length), abs=1e-8)
        assert np.abs(run.samples.energy[:, NUMERICAL]).max() < 1e-8

    @pytest.mark.parametrize("friction", [0.2, 1.0])
    def test_a_disc_in_a_groove_rests_with_forces_that_are_not_unique(self, friction):
        half, radius = np.radians(30.0), 0.1
        model = Planar(gravity=(0.0, -G))
        disc = model.body(
            "disc", mass=1.0, inertia=inertia.disc(1.0, radius), at=(0.0, radius / np.sin(half))
        )
        for side, sign in (("left", 1.0), ("right", -1.0)):
            wall = model.wall(side, normal=(sign * np.cos(half), np.sin(half)))
            model.contact(disc.disc(radius), wall, friction=friction)
        run = simulate(model.build(), 0.5, EventDriven())
        assert np.abs(run.velocity).max() < 1e-12
        assert "not unique" in run.about["audit"]["forces at the end"]
