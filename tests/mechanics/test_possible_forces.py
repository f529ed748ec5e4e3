"""Possible forces of systems at a state: bounds by hand."""

import numpy as np
import pytest

from klapper.bodies import Planar, Spatial, inertia
from klapper.complementarity import FrictionalContact, solve, uniqueness
from klapper.complementarity.selection import ForceSet, LargestMargin
from klapper.gallery.rough_table import Table
from klapper.mechanics import Anisotropic, Contact, InvalidModel, LinearSystem, possible_forces
from klapper.mechanics.force_sets import closed_forces


def beam_between_walls():
    world = Planar(gravity=(0, -9.81))
    beam = world.body("beam", mass=4.0, inertia=inertia.rod(4.0, 2.0), at=(0, 0), velocity=(0.0, -1.0))
    for name, x in (("L", -1.0), ("R", 1.0)):
        wall = world.wall(name, point=(x, 0), normal=(-x, 0))
        world.contact(beam.point(x, 0), wall, friction=0.5, name=name)
    return world.build()


def door(mass=25.0, push=30.0, mu=0.4):
    world = Spatial(gravity=(0, 0, -9.81))
    leaf = world.body("door", mass=mass, inertia=inertia.box(mass, 1.0, 0.05, 1.2), at=(0.5, 0, 0))
    for k, z in enumerate((-0.4, 0.1, 0.45)):
        world.hinge(leaf.point(-0.5, 0, z), world.ground.point(0, 0, z), axis=(0, 0, 1), name=f"h{k}")
    seal = world.wall("seal", point=(0, -0.025, 0), normal=(0, 1, 0))
    world.contact(leaf.point(0.5, -0.025, 0.3), seal, friction=mu, name="latch")
    world.force(leaf.point(0.5, 0, 0), (0, -push, 0))
    return world.build()


def test_pushed_table_slides_with_normal_forces_from_moments():
    """N = W/4 ± moments of friction, plus any part of the alternating combination that keeps all legs pressed."""
    table = Table(weight=100.0, spacing=1.0, height=0.7, mu=0.3)
    found = possible_forces(table.system((60.0, 10.0, 0.0)))
    carried = 0.3 * 100.0 * np.array([60.0, 10.0, 0.0]) / np.hypot(60.0, 10.0)
    low, high = table.normal_bounds(carried)
    np.testing.assert_allclose(found.lower[:4], low, atol=1e-6)
    np.testing.assert_allclose(found.upper[:4], high, atol=1e-6)
    assert LargestMargin().select(found.set).exact
    assert found.set.violation(found.set.forces) < 1e-9


def test_latch_of_a_door_on_three_hinges():
    """Moment about the hinges, arm 1 m: N − 0.025 T = 30 with |T| ≤ 0.4 N bounds N = 30/(1 ∓ 0.01)."""
    low, high = possible_forces(door()).between("latch normal")
    np.testing.assert_allclose([low, high], [30.0 / 1.01, 30.0 / 0.99], rtol=1e-7)


def test_motion_of_a_beam_between_rough_walls_depends_on_its_forces():
    system = beam_between_walls()
    force, contact = np.zeros((2, 2)), np.arange(2)
    forces = closed_forces(system, 0.0, system.start.position, system.start.velocity, contact, force).set
    assert not forces.motion_unique and np.isinf(forces.upper[:2]).all()
    found = possible_forces(system)
    assert not found.motion_unique


def test_largest_margin_of_a_set_without_bounds_is_small_and_says_so():
    jammed = ForceSet.from_arrays([10.0, 10.0, 0.0, 0.0], [[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]],
        normal=[0, 1], patches=[[2], [3]], friction=0.5)  # fmt: skip
    picked = LargestMargin().select(jammed)
    assert picked.exact and "no bound" in picked.note
    assert np.abs(picked.forces).max() < 50.0


def test_velocities_of_round_off_are_rest():
    feet = [Contact(name, normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.5) for name in ("A", "B")]
    system = LinearSystem([1.0, 1.0], force=[1.0, -10.0], contacts=feet)
    for noise in (0.0, 1e-17):
        velocity = np.array([noise, -noise])
        forces = closed_forces(
            system, 0.0, np.zeros(2), velocity, np.arange(2), np.array([[5.0, -0.5], [5.0, -0.5]])
        ).set
        assert not forces.sliding.any() and forces.dimension == 2
        np.testing.assert_allclose(forces.upper[:2], 10.0)


@pytest.mark.parametrize("seed", [16, 17, 32, 33, 37])
def test_answers_of_admm_leave_open_what_other_answers_leave_open(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(4, 2))
    problem = FrictionalContact(matrix @ matrix.T, matrix @ rng.normal(size=2), 1.0, dimension=2)
    first, second = uniqueness(solve(problem, "admm")), uniqueness(solve(problem))
    assert not first.forces.any()
    np.testing.assert_array_equal(np.isinf(first.upper), np.isinf(second.upper))
    finite = np.isfinite(first.upper) & np.isfinite(second.upper)
    np.testing.assert_allclose(first.upper[finite], second.upper[finite], rtol=1e-6, atol=1e-6)


def test_anisotropic_friction_is_bounded_in_newton():
    """The second direction has half the friction: its sum is 0, each foot holds 0.25 · 5 N at most."""
    feet = [
        Contact(name, normal=[0.0, 0.0, 1.0], tangents=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            friction=Anisotropic(0.5, 0.25))
        for name in ("A", "B")
    ]  # fmt: skip
    system = LinearSystem(np.ones(3), force=[0.0, 0.0, -10.0], contacts=feet)
    assert possible_forces(system).between("A tangential 2")[1] == pytest.approx(1.25, rel=1e-6)


def test_an_impact_has_no_forces():
    ball = LinearSystem([1.0], velocity=[-1.0], contacts=[Contact("floor", normal=[1.0])])
    with pytest.raises(InvalidModel, match="approaches with 1 m/s"):
        possible_forces(ball)
