"""Leapfrog: its exact recursion, its limit of stability, and rigid contact that does not lower it."""

import numpy as np
import pytest

from klapper.continuum import Continuum, SaintVenantKirchhoff, Solid, Wall, block
from klapper.mechanics import Contact, InvalidModel, LinearSystem
from klapper.mechanics.impact import Poisson
from klapper.schemes import CentralDifference, Leapfrog, Moreau, stable_step
from klapper.simulation import simulate


def bar(cells: int, speed: float) -> Continuum:
    """Length 1 m, E = 4 N/m², ρ = 1 kg/m³: waves of 2 m/s; it flies against a wall at x = 0."""
    solid = Solid("bar", block((1.0, 0.05), (cells, 1)), SaintVenantKirchhoff(4.0, 0.0), density=1.0)
    wall = Wall("bar", "left", (0.0, 0.0), (1.0, 0.0))
    return Continuum([solid], walls=[wall], velocity={"bar": (-speed, 0.0)}, lumped=True)


def test_an_oscillator_follows_the_recursion_of_verlet() -> None:
    """cos φ = 1 − (ωh)²/2 per step; from rest the amplitude stays 1 for ever."""
    h, steps = 0.3, 400
    run = simulate(LinearSystem([1.0], stiffness=[4.0], position=[1.0]), steps * h, Leapfrog(h))
    phase = np.arccos(1.0 - 0.5 * (2.0 * h) ** 2)
    np.testing.assert_allclose(run.position[:, 0], np.cos(phase * np.arange(steps + 1)), atol=1e-9)


def test_free_motion_from_rest_is_that_of_central_differences() -> None:
    """Drift-kick-drift here, kick-drift-kick there: the same recursion of positions."""
    system = LinearSystem([1.0, 2.0], stiffness=[[5.0, -2.0], [-2.0, 3.0]], position=[1.0, -0.5])
    one, other = (simulate(system, 3.0, scheme(0.1)) for scheme in (Leapfrog, CentralDifference))
    np.testing.assert_allclose(one.position, other.position, atol=1e-13)


def test_a_step_beyond_the_limit_is_refused_and_contacts_do_not_lower_it() -> None:
    free = LinearSystem([1.0], stiffness=[4.0])
    stopped = LinearSystem([1.0], stiffness=[4.0], position=[0.5], contacts=[Contact("stop", normal=[1.0])])
    for system in (free, stopped):
        assert stable_step(system) == pytest.approx(1.0)
        simulate(system, 5.0, Leapfrog(0.99))
        with pytest.raises(
            InvalidModel, match=r"leapfrog steps of .* are stable up to 1 s: use a smaller step"
        ):
            simulate(system, 5.0, Leapfrog(1.01))


def test_with_forces_that_do_not_depend_on_motion_it_is_moreau() -> None:
    ball = LinearSystem(
        [1.0], force=[-9.81], position=[1.0], contacts=[Contact("floor", normal=[1.0], restitution=0.7)]
    )
    for law in (None, Poisson()):
        one, other = (simulate(ball, 2.0, scheme(1e-2, impact=law)) for scheme in (Leapfrog, Moreau))
        np.testing.assert_allclose(one.position, other.position, atol=1e-13)
        assert one.ledger.closes(1e-12)


def test_damping_without_tangents_is_of_second_order() -> None:
    system = LinearSystem([1.0], stiffness=[4.0], damping=[1.0], position=[1.0])
    turn = np.sqrt(4.0 - 0.25)
    exact = np.exp(-0.5) * (np.cos(turn) + 0.5 / turn * np.sin(turn))
    errors = [abs(simulate(system, 1.0, Leapfrog(1.0 / n)).position[-1, 0] - exact) for n in (50, 100)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_an_elastic_bar_leaves_the_wall_after_the_wave_has_run_twice() -> None:
    """Closed form of the thin bar: contact for 2 L/c = 1 s, then it flies back as fast as it came."""
    speed = 0.01
    world = bar(40, speed)
    step = 0.8 * stable_step(world)
    run = simulate(world, 1.6, Leapfrog(step))
    pressed = run.time[np.any(run.impulse[:, :, 0] > 0.0, axis=1)]
    assert pressed[-1] == pytest.approx(1.0, abs=0.06)
    mass = world.mass(run.position[0]).diagonal()[0::2]
    back = float(mass @ run.velocity[-1][0::2] / mass.sum())
    assert back == pytest.approx(speed, rel=0.03)
    assert run.ledger.closes(1e-9)
    assert np.nanmin(run.gap) > -0.501 * step * speed  # what it flies on before the contact is seen
