"""Event-driven and exact integration: dependent contacts, late starts, starts below zero, contacts of a search."""

import numpy as np
import pytest

from klapper.bodies import Planar, inertia
from klapper.mechanics import Constant, Contact, FrictionElement, Harmonic, LinearSystem, Ramp
from klapper.schemes import EventDriven, Moreau, Ordinary, PiecewiseExact
from klapper.simulation import simulate

BOTH = pytest.mark.parametrize("scheme", [EventDriven(), PiecewiseExact()], ids=lambda scheme: scheme.name)


def test_parts_of_a_search_do_not_fly_through_each_other():
    model, balls = Planar(), []
    for i, x in enumerate((-1.0, 1.0)):
        ball = model.body(f"b{i}", mass=1.0, inertia=inertia.disc(1.0, 0.01), at=(x, 0), velocity=(-5 * x, 0))
        balls.append(ball.disc(0.01))
    model.search(balls, restitution=1.0)
    system = model.build()
    assert simulate(system, 1.0, Moreau(1e-4)).velocity[-1, 0] == -5.0
    run = simulate(system, 1.0, EventDriven())
    assert run.velocity[-1, 0] == pytest.approx(-5.0, abs=1e-12)
    assert run.impacts().time == pytest.approx([0.198], abs=1e-12)


@BOTH
@pytest.mark.parametrize("depth", [9e-10, 1e-3])
def test_a_start_below_zero_hits_at_zero(scheme, depth):
    system = LinearSystem(
        [1.0],
        force=[-9.81],
        position=[-depth],
        velocity=[-1.0],
        penetration=1e-2,
        contacts=[Contact("floor", normal=[1.0], restitution=0.5)],
    )
    hit = (0.5 + (0.25 - 2 * 9.81 * depth) ** 0.5) / 9.81
    run = simulate(system, 0.15, scheme)
    assert run.contact("floor").impacts.time[1] == pytest.approx(hit, abs=1e-12)


@BOTH
@pytest.mark.parametrize("speed", [1.0, 100.0])
def test_the_work_of_a_moving_table_is_a_load(scheme, speed):
    """Where the last bounces are left out, what the table does on the mass is no numerical error."""
    system = LinearSystem(
        [1.0],
        force=[-9.81],
        position=[1.0],
        velocity=[speed],
        contacts=[Contact("table", normal=[1.0], gap=Ramp(0.0, -speed), restitution=0.5)],
    )
    energy = simulate(system, 1.5, scheme).samples.energy
    assert np.abs(energy[:, 6]).max() < 1e-9 * np.abs(energy).max()


@BOTH
def test_a_late_start_is_not_lost_in_the_rounding_of_time(scheme):
    floor = Contact("floor", normal=[1.0], restitution=0.5)
    system = LinearSystem([1.0], force=[-9.81], time=1e6, position=[0.1], contacts=[floor])
    assert simulate(system, 1e6 + 2, scheme).position[-1, 0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    "scheme", [EventDriven(), PiecewiseExact(), Ordinary()], ids=lambda scheme: scheme.name
)
def test_a_stop_and_friction_along_the_same_line_let_go_together(scheme):
    """The stop opens at the instant at which friction reaches its limit, since their forces are not unique."""
    system = LinearSystem(
        [1.0],
        force=Harmonic([3.0], 2.0),
        contacts=[Contact("stop", normal=[1.0]), FrictionElement("rub", tangents=[1.0], limit=2.0)],
    )
    fine = simulate(system, 6.0, Moreau(2e-5)).position[-1, 0]
    assert simulate(system, 6.0, scheme).position[-1, 0] == pytest.approx(fine, abs=1e-6)


@BOTH
def test_nothing_moves_between_closed_stops(scheme):
    system = LinearSystem(
        [1.0],
        force=Harmonic([-3.0], 2.0),
        contacts=[
            Contact("left", normal=[1.0]),
            Contact("left again", normal=[2.0]),
            Contact("right", normal=[-1.0], restitution=0.7),
            FrictionElement("rub", tangents=[1.0], limit=2.0),
        ],
    )
    assert simulate(system, 6.0, scheme).position[-1, 0] == pytest.approx(0.0, abs=1e-12)


@BOTH
@pytest.mark.parametrize("friction", [0.8, 2.0])
def test_a_particle_jammed_in_a_wedge_rests(scheme, friction):
    """Rest is admissible at all times; the forces are not unique, and one distribution after the other runs out."""
    normals = [np.array([np.cos(0.4), np.sin(0.4)]), np.array([-np.cos(0.4), np.sin(0.4)])]
    system = LinearSystem(
        [1.0, 1.0],
        force=Harmonic([3.0, 0.0], 5.0) + Constant([0.0, -5.0]),
        contacts=[
            Contact(name, normal=normal, tangents=[-normal[1], normal[0]], friction=friction)
            for name, normal in zip("ab", normals, strict=True)
        ],
    )
    run = simulate(system, 3.0, scheme)
    assert np.abs(run.position).max() < 1e-10
