"""Directions of contacts and joints against differences of what they are derivatives of (contract 7-9)."""

import numpy as np
import pytest

from klapper.bodies import Planar, Spatial, turned
from klapper.bodies.contact_geometry import smallest_axis
from klapper.mechanics import System
from klapper.mechanics.system import check_start

from . import workshop
from .workshop import some_state

CONTACTS = {"planar": workshop.planar_contacts, "spatial": workshop.spatial_contacts}
JOINTS = {"planar": workshop.planar_joints, "spatial": workshop.spatial_joints}
SEEDS = range(6)


def along(system, t, q, v, s, value):
    """``value(t, q)`` at the time s later on a motion of constant v, exact for constant ω."""
    return value(t + s, system.advance(q, s * v))


@pytest.mark.parametrize("kind", CONTACTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_gap_rates_are_the_derivatives_of_gaps(kind, seed):
    system = CONTACTS[kind]()
    t, q, v = some_state(system, seed)
    which = np.arange(system.contacts.count)
    d = 1e-6

    def gaps(t, q):
        return system.gaps(t, q, which)

    rate = (along(system, t, q, v, d, gaps) - along(system, t, q, v, -d, gaps)) / (2 * d)
    np.testing.assert_allclose(system.directions(t, q, which).normal_velocity(v), rate, atol=2e-8)


@pytest.mark.parametrize("kind", CONTACTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_curvature_is_the_second_derivative_of_gaps(kind, seed):
    system = CONTACTS[kind]()
    t, q, v = some_state(system, seed)
    which = np.arange(system.contacts.count)
    d = 2e-4

    def gaps(t, q):
        return system.gaps(t, q, which)

    far, near, here = (
        (along(system, t, q, v, s, gaps) + along(system, t, q, v, -s, gaps)) for s in (2 * d, d, 0.0)
    )
    second = (16.0 * near - far - 15.0 * here) / (12.0 * d * d)
    normal, _ = system.curvature(t, q, v, which)
    np.testing.assert_allclose(normal, second, rtol=1e-6, atol=3e-6)


@pytest.mark.parametrize("kind", CONTACTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_tangential_velocities_are_those_of_the_material_points(kind, seed):
    """The points of both bodies that touch now are followed as fixed places of their bodies."""
    system = CONTACTS[kind]()
    t, q, v = some_state(system, seed)
    which = np.arange(system.contacts.count)
    geometry, layout = system.parts.geometry, system.parts.layout
    poses = layout.poses(q)
    touch = geometry.touch(t, poses, system.contacts.decode(which))
    places = np.einsum("kbji,kbj->kbi", poses.rotation[touch.bodies], touch.arms)
    d = 1e-6
    ahead, behind = (layout.poses(system.advance(q, s * v)) for s in (d, -d))
    points = (ahead.place(touch.bodies, places) - behind.place(touch.bodies, places)) / (2 * d)
    slip = points[:, 0] - points[:, 1] - touch.sliding
    directions = system.directions(t, q, which)
    found = directions.tangential_velocity(v).reshape(len(which), -1)
    n = touch.normal
    if kind == "planar":
        expected = slip[:, :1] * n[:, 1:2] - slip[:, 1:2] * n[:, :1]
        np.testing.assert_allclose(found, expected, atol=1e-8)
    else:
        tangential = slip - np.sum(slip * n, axis=1)[:, None] * n
        np.testing.assert_allclose(
            np.linalg.norm(found, axis=1), np.linalg.norm(tangential, axis=1), atol=1e-8
        )
        for k in range(len(which)):
            e = np.eye(3)[np.argmin(np.abs(n[k]) + np.array([0.0, 0.1, 0.2]))]
            first = np.cross(e, n[k]) / np.linalg.norm(np.cross(e, n[k]))
            expected = [first @ slip[k], np.cross(n[k], first) @ slip[k]]
            np.testing.assert_allclose(found[k], expected, atol=1e-8)


@pytest.mark.parametrize("kind", CONTACTS)
def test_contact_points_lie_on_both_surfaces_and_are_a_gap_apart(kind):
    system = CONTACTS[kind]()
    t, q, _ = some_state(system, 3)
    which = np.arange(system.contacts.count)
    touch = system.parts.geometry.touch(t, system.parts.layout.poses(q), system.contacts.decode(which))
    points = touch.arms + system.parts.layout.poses(q).centre[touch.bodies]
    np.testing.assert_allclose(points[:, 0] - points[:, 1], touch.gap[:, None] * touch.normal, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(touch.normal, axis=1), 1.0, rtol=1e-14)


@pytest.mark.parametrize("kind", CONTACTS)
def test_curvature_is_the_derivative_of_the_contact_velocities(kind):
    """Away from a switch of the tangents: b_N and b_T by differences of v_N and v_T of fourth order."""
    system = CONTACTS[kind]()
    which = np.arange(system.contacts.count)
    for seed in SEEDS:
        t, q, v = some_state(system, seed)

        def velocities(s, t=t, q=q, v=v):
            directions = system.directions(t + s, system.advance(q, s * v), which)
            return np.concatenate((directions.normal_velocity(v), directions.tangential_velocity(v)))

        normal, tangential = system.curvature(t, q, v, which)
        expected = slope(velocities)
        np.testing.assert_allclose(normal, expected[: len(which)], rtol=1e-8, atol=1e-8)
        axes = [
            smallest_axis(
                system.parts.geometry.touch(
                    t + s, system.parts.layout.poses(system.advance(q, s * v)), system.contacts.decode(which)
                ).normal
            )
            for s in (-2e-3, 2e-3)
        ]
        kept = (axes[0] == axes[1]) | (kind == "planar")
        assert np.count_nonzero(kept) > 0.8 * len(which)
        d = system.contacts.tangential
        found, expected = tangential.reshape(-1, d), expected[len(which) :].reshape(-1, d)
        np.testing.assert_allclose(found[kept], expected[kept], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", JOINTS)
def test_curvature_of_joints_is_the_derivative_of_their_rate(kind):
    system = JOINTS[kind]()
    for seed in SEEDS:
        t, q, v = some_state(system, seed)

        def rate(s, t=t, q=q, v=v):
            directions, given = system.constraint_directions(t + s, system.advance(q, s * v))
            return directions.T @ v + given

        np.testing.assert_allclose(system.constraint_curvature(t, q, v), slope(rate), rtol=1e-8, atol=1e-8)


def slope(function, d=1e-3):
    """Derivative at zero by central differences, of fourth order."""
    near, far = function(d) - function(-d), function(2 * d) - function(-2 * d)
    return (8.0 * near - far) / (12.0 * d)


def test_tangential_curvature_does_not_jump_where_the_tangents_switch():
    """n_x = n_y + 0.1 and turning: a difference across the switch would see a jump of the basis."""
    model = Spatial()
    x, y = 0.55 - 1e-9, 0.45  # the axis of the smallest |n_i| + i/10
    ball = model.body("ball", mass=1.0, inertia=0.1, at=(x, y, np.sqrt(1.0 - x * x - y * y)))
    model.contact(ball.sphere(0.3), model.ground.sphere(0.3))
    system = model.build()
    q, which = system.start.position, np.array([0])
    v = np.array([1.0, -1.0, 0.0, 0.0, 0.0, 0.0])
    here = system.curvature(0.0, q, v, which)[1]
    beside = system.curvature(0.0, system.advance(q, -1e-4 * v), v, which)[1]  # the same axis
    np.testing.assert_allclose(here, beside, atol=1e-3)
    across = System.curvature(system, 0.0, q, v, which)[1]
    assert np.abs(across).max() > 1e3


@pytest.mark.parametrize("kind", JOINTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_joint_rates_and_curvatures_are_derivatives_of_residuals(kind, seed):
    system = JOINTS[kind]()
    t, q, v = some_state(system, seed)
    d = 1e-6
    rate = (
        along(system, t, q, v, d, system.constraint_residuals)
        - along(system, t, q, v, -d, system.constraint_residuals)
    ) / (2 * d)
    directions, given = system.constraint_directions(t, q)
    np.testing.assert_allclose(directions.T @ v + given, rate, atol=3e-8)

    d = 2e-4
    far, near, here = (
        along(system, t, q, v, s, system.constraint_residuals)
        + along(system, t, q, v, -s, system.constraint_residuals)
        for s in (2 * d, d, 0.0)
    )
    second = (16.0 * near - far - 15.0 * here) / (12.0 * d * d)
    np.testing.assert_allclose(system.constraint_curvature(t, q, v), second, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("kind", JOINTS)
def test_joint_names_are_unique_and_the_start_fits(kind):
    system = JOINTS[kind]()
    assert len(set(system.constraints)) == len(system.constraints)
    assert len(system.constraint_residuals(0.0, system.start.position)) == len(system.constraints)
    check_start(system)


@pytest.mark.parametrize(
    ("add", "left"),
    [
        (lambda m, a, b: m.ball_joint(a, b), 9),
        (lambda m, a, b: m.hinge(a, b, axis=(1, 2, 3)), 7),
        (lambda m, a, b: m.slider(a, b, along=(1, 2, 3)), 7),
        (lambda m, a, b: m.slot(a, b, along=(1, 2, 3)), 10),
        (lambda m, a, b: m.weld(m.bodies_of_test[0], m.bodies_of_test[1]), 6),
        (lambda m, a, b: m.rod(a, m.bodies_of_test[1].point(1, 0, 0)), 11),
    ],
    ids=["ball joint", "hinge", "slider", "slot", "weld", "rod"],
)
def test_joints_in_space_leave_the_right_freedom(add, left):
    """Two free bodies have 12 velocities; the rank of J_B is what a joint takes."""
    model = Spatial()
    a = model.body("a", mass=1.0, inertia=1.0, at=(0.3, 0.1, 0.2), orientation=turned((1, 0, 2), 0.3))
    b = model.body("b", mass=1.0, inertia=1.0, at=(0.3, 0.1, 0.2), orientation=turned((0, 1, 1), 1.1))
    model.bodies_of_test = (a, b)
    add(model, a.point(), b.point())
    system = model.build()
    directions, _ = system.constraint_directions(0.0, system.start.position)
    assert np.linalg.matrix_rank(directions) == 12 - left


def test_a_hinge_in_space_turns_about_its_axis_only():
    """The free relative motion of a body hinged to the ground is ω along the axis and the velocity ω × r."""
    model = Spatial()
    door = model.body(
        "door", mass=1.0, inertia=(0.2, 0.3, 0.15), at=(0.4, 0.1, 0.0), orientation=turned((1, 1, 1), 2.0)
    )
    axis = np.array([0.0, 0.6, 0.8])
    start = Spatial.build(model).start.position
    edge = np.array([-0.3, 0.2, 0.1])
    world = model.build().place(door.point(edge), start)
    model.hinge(door.point(edge), model.ground.point(world), axis=axis)
    system = model.build()
    directions, _ = system.constraint_directions(0.0, start)
    free = np.linalg.svd(directions.T)[2][-1]
    omega = system.axes(door, start) @ free[3:]
    np.testing.assert_allclose(np.cross(omega, axis), 0.0, atol=1e-14)
    np.testing.assert_allclose(free[:3], np.cross(omega, np.array([0.4, 0.1, 0.0]) - world), atol=1e-14)


def test_redundant_joints_are_allowed():
    """A door on two hinges of the same axis: ten rows, of rank five."""
    model = Spatial(gravity=(0.0, 0.0, -9.81))
    door = model.body("door", mass=10.0, inertia=(2.0, 2.0, 1.0), at=(0.5, 0.0, 1.0))
    for height, name in ((0.3, "lower"), (1.7, "upper")):
        model.hinge(
            door.point(-0.5, 0.0, height - 1.0),
            model.ground.point(0.0, 0.0, height),
            axis=(0, 0, 1),
            name=name,
        )
    system = model.build()
    directions, _ = system.constraint_directions(0.0, system.start.position)
    assert directions.shape == (6, 10)
    assert np.linalg.matrix_rank(directions) == 5


def test_a_disc_in_the_middle_of_its_ring_has_all_its_play():
    model = Planar()
    pin = model.body("pin", mass=1.0, inertia=1.0, at=(1.0, 2.0))
    model.clearance(pin.disc(0.1), model.ground.ring(0.12, at=(1.0, 2.0)))
    system = model.build()
    which = np.array([0])
    np.testing.assert_allclose(system.gaps(0.0, system.start.position, which), 0.02, rtol=1e-12)
    normal = system.directions(0.0, system.start.position, which).normal
    np.testing.assert_allclose(np.linalg.norm(normal[:2]), 1.0)
    off = system.gaps(0.0, np.array([1.0 + 0.02 * 0.6, 2.0 - 0.02 * 0.8, 0.3]), which)
    np.testing.assert_allclose(off, 0.0, atol=1e-15)


def test_the_wedged_disc_has_the_printed_gaps():
    """Waltersberger (5.20)-(5.21): a disc between a wall and an inclined plane, both touched at once."""
    alpha, radius = np.radians(35.0), 0.3
    model = Planar()
    disc = model.body("disc", mass=1.0, inertia=1.0)
    model.contact(disc.disc(radius), model.wall("wall", point=(-radius, 0.0), normal=(1.0, 0.0)))
    slope = (-np.cos(alpha), np.sin(alpha))
    model.contact(
        disc.disc(radius),
        model.wall("slope", point=(radius * np.cos(alpha), -radius * np.sin(alpha)), normal=slope),
    )
    system = model.build()
    x, y = 0.02, -0.05
    gaps = system.gaps(0.0, np.array([x, y, 0.7]), np.arange(2))
    np.testing.assert_allclose(gaps, [x, -x * np.cos(alpha) + y * np.sin(alpha)], atol=1e-15)


def test_directions_are_sparse_for_many_bodies_and_the_same():
    """21 bodies have 63 velocities; one of them alone gives the dense columns."""

    def build(count):
        model = Planar()
        floor = model.wall("floor", point=(0.0, -1.0), normal=(0.1, 1.0))
        bodies = [model.body(f"b{i}", mass=1.0, inertia=0.1, at=(i, 0.2 * i), angle=i) for i in range(count)]
        for body in bodies:
            model.contact(body.disc(0.1, at=(0.05, 0.02)), floor, friction=0.2)
        model.contact(bodies[1].disc(0.1), bodies[0].disc(0.2))
        return model.build()

    large, small = build(21), build(2)
    many = large.directions(0.0, large.start.position, np.array([0, 1, 21]))
    few = small.directions(0.0, small.start.position, np.arange(3))
    assert many.normal.format == "csc"
    assert many.normal.has_sorted_indices
    np.testing.assert_array_equal(many.normal.toarray()[:6], few.normal)
    np.testing.assert_array_equal(many.tangential.toarray()[:6], few.tangential)
    assert many.normal.nnz == 3 + 3 + 6
