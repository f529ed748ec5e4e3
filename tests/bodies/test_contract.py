"""The contract of the waist for bodies: mass, force, tangents, motion of positions, energy."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.bodies import Planar, Spatial, inertia, turned
from klapper.mechanics import Harmonic

from . import workshop
from .workshop import some_state

EVERYTHING = {
    "planar contacts": workshop.planar_contacts,
    "planar joints": workshop.planar_joints,
    "planar springs": workshop.planar_springs,
    "spatial contacts": workshop.spatial_contacts,
    "spatial joints": workshop.spatial_joints,
    "spatial springs": workshop.spatial_springs,
}
SPRINGS = {"planar": workshop.planar_springs, "spatial": workshop.spatial_springs}


@pytest.mark.parametrize("kind", EVERYTHING)
@pytest.mark.parametrize("seed", range(4))
def test_power_of_forces_is_accounted_for(kind, seed):
    """Contract 10: v · f = −dV/dt + load − damping."""
    system = EVERYTHING[kind]()
    t, q, v = some_state(system, seed)
    d = 1e-6
    change = (system.potential(system.advance(q, d * v)) - system.potential(system.advance(q, -d * v))) / (
        2 * d
    )
    load, damping = system.powers(t, q, v)
    assert damping >= 0.0
    power = v @ system.force(t, q, v)
    assert power == pytest.approx(-change + load - damping, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("kind", EVERYTHING)
def test_mass_is_constant_symmetric_and_positive(kind):
    system = EVERYTHING[kind]()
    mass = system.mass(system.start.position)
    assert mass is system.mass(some_state(system, 1)[1])
    np.testing.assert_array_equal(mass, np.diag(np.diag(mass)))
    assert np.all(np.diag(mass) > 0.0)


def test_kinetic_energy_is_that_of_its_material_points():
    """½ vᵀ M v of a box against the sum over eight equal masses at ±a, which have the same moments of inertia."""
    arms = np.array([0.3, 0.2, 0.1])
    moments = np.array(
        [arms[1] ** 2 + arms[2] ** 2, arms[0] ** 2 + arms[2] ** 2, arms[0] ** 2 + arms[1] ** 2]
    )
    model = Spatial()
    body = model.body("body", mass=8.0, inertia=8.0 * moments)
    corners = body.corners(*(2.0 * arms))
    system = model.build()
    q = system.advance(system.start.position, np.array([1.0, 2.0, 3.0, 0.4, -0.7, 0.5]))
    v = np.array([0.3, -0.2, 0.5, 1.0, 2.0, -1.5])
    d = 1e-6
    energy = 0.0
    for corner in corners:
        ahead, behind = (system.place(corner, system.advance(q, s * v)) for s in (d, -d))
        energy += 0.5 * np.sum(((ahead - behind) / (2 * d)) ** 2)
    assert 0.5 * v @ system.mass(q) @ v == pytest.approx(energy, rel=1e-9)


@pytest.mark.parametrize("kind", SPRINGS)
@pytest.mark.parametrize("seed", range(4))
def test_tangents_are_derivatives_of_springs_and_dampers(kind, seed):
    """G_v in full; G_q at rest, where dampers are silent, as the symmetric part of ∂f/∂q B."""
    system = SPRINGS[kind](loads=False)
    t, q, v = some_state(system, seed)
    tangents = system.tangents(t, q, v)
    by_velocity = by_differences(lambda u: system.force(t, q, v + u), v.size)
    if kind == "spatial":
        by_velocity -= by_differences(lambda u: gyroscopic(v + u), v.size)
    np.testing.assert_allclose(tangents.velocity, by_velocity, atol=1e-8)
    by_position = by_differences(lambda u: system.force(t, system.advance(q, u), 0.0 * v), v.size)
    np.testing.assert_allclose(tangents.position, 0.5 * (by_position + by_position.T), atol=2e-7)
    np.testing.assert_array_equal(tangents.position, tangents.position.T)
    assert tangents.complete == (kind == "planar")


def by_differences(function, size, d=1e-5):
    """Derivative (n, n) of a function of a small displacement."""
    columns = [(function(d * unit) - function(-d * unit)) / (2 * d) for unit in np.eye(size)]
    return np.array(columns).T


def gyroscopic(v):
    """−ω × I ω of the two bodies of the spatial workshop, by the textbook."""
    force = np.zeros_like(v)
    for first, moments in ((3, (0.1, 0.2, 0.15)), (9, (0.2, 0.3, 0.25))):
        omega = v[first : first + 3]
        force[first : first + 3] = -np.cross(omega, np.array(moments) * omega)
    return force


def test_in_the_plane_the_whole_derivative_is_symmetric():
    """φ is a coordinate, so that −∂²V/∂q² is all of it."""
    system = workshop.planar_springs(loads=False)
    t, q, v = some_state(system, 7)
    exact = by_differences(lambda u: system.force(t, q + u, 0.0 * v), v.size)
    np.testing.assert_allclose(system.tangents(t, q, v).position, exact, atol=2e-7)


def test_nothing_stiff_has_no_tangents():
    for build, complete in ((workshop.planar_contacts, True), (workshop.spatial_contacts, False)):
        system = build()
        tangents = system.tangents(*some_state(system, 0))
        assert tangents.position is None
        assert tangents.velocity is None
        assert tangents.complete is complete


def test_spheres_have_no_gyroscopic_force():
    model = Spatial()
    model.body("ball", mass=1.0, inertia=inertia.sphere(1.0, 0.1), spin=(3.0, -2.0, 5.0))
    system = model.build()
    state = system.start
    assert system.tangents(0.0, state.position, state.velocity).complete
    np.testing.assert_array_equal(system.force(0.0, state.position, state.velocity), 0.0)


def test_positions_advance_along_their_rate_to_second_order():
    """advance(q, h v) of a constant v is the flow of q' = B(q) v; of v(t), with the mean of v, up to O(h³)."""
    system = workshop.spatial_joints()
    _, q, v = some_state(system, 2)
    np.testing.assert_allclose(
        (system.advance(q, 1e-6 * v) - system.advance(q, -1e-6 * v)) / 2e-6, system.rate(q, v), atol=1e-9
    )
    np.testing.assert_allclose(
        system.advance(system.advance(q, 0.3 * v), 0.2 * v),
        system.advance(q, 0.5 * v),
        rtol=1e-13,
        atol=1e-13,
    )
    other = np.random.default_rng(5).normal(size=v.size)

    def error(h):
        exact, steps = q, 400
        for k in range(steps):
            middle = v + (k + 0.5) * h / steps * other
            exact = system.advance(exact, h / steps * middle)
        return np.abs(system.advance(q, h * (v + 0.5 * h * other)) - exact).max()

    assert np.log2(error(0.2) / error(0.1)) > 2.7


def test_quaternions_keep_their_length():
    system = workshop.spatial_joints()
    _, q, v = some_state(system, 2)
    for _ in range(1000):
        q = system.advance(q, 0.1 * v)
    for start in (3, 10):
        assert np.linalg.norm(q[start : start + 4]) == pytest.approx(1.0, abs=1e-14)


def test_the_free_top_precesses_as_the_closed_form_says():
    """ω of a symmetric top in body axes turns about the third with (I₃ − I₁) ω₃ / I₁; energy and momentum stay."""
    system, top = _free_body((0.2, 0.2, 0.3), (1.0, 0.0, 4.0))
    state, momentum, energy = _integrate(system, top, 1.0, 2000)
    rate = (0.3 - 0.2) / 0.2 * 4.0
    np.testing.assert_allclose(state[3:6], [np.cos(rate), np.sin(rate), 4.0], atol=1e-9)
    np.testing.assert_allclose(momentum[1], momentum[0], rtol=1e-10)
    assert energy[1] == pytest.approx(energy[0], rel=1e-11)


def test_a_tumbling_body_keeps_energy_and_angular_momentum():
    """About the middle axis, where the motion is least tame."""
    system, body = _free_body((0.1, 0.2, 0.28), (0.01, 5.0, 0.02))
    _, momentum, energy = _integrate(system, body, 4.0, 4000)
    np.testing.assert_allclose(momentum[1], momentum[0], atol=1e-9)
    assert energy[1] == pytest.approx(energy[0], rel=1e-10)


def _free_body(moments, spin):
    model = Spatial()
    body = model.body(
        "body", mass=1.0, inertia=moments, spin=spin, velocity=(1, 2, 3), orientation=turned((1, 2, 0), 0.7)
    )
    return model.build(), body


def _integrate(system, body, duration, steps):
    """Classical Runge–Kutta on q' = B(q) v and M v' = f, with angular momentum (world) and energy before and after."""
    mass = np.diag(system.mass(system.start.position))

    def slope(t, q, v):
        return system.rate(q, v), system.force(t, q, v) / mass

    def invariants(q, v):
        return system.axes(body, q) @ (mass[3:] * v[3:]), 0.5 * v @ (mass * v)

    q, v, h = system.start.position, system.start.velocity, duration / steps
    before = invariants(q, v)
    for k in range(steps):
        t = k * h
        q1, v1 = slope(t, q, v)
        q2, v2 = slope(t + h / 2, q + h / 2 * q1, v + h / 2 * v1)
        q3, v3 = slope(t + h / 2, q + h / 2 * q2, v + h / 2 * v2)
        q4, v4 = slope(t + h, q + h * q3, v + h * v3)
        q = q + h / 6 * (q1 + 2 * q2 + 2 * q3 + q4)
        v = v + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
    after = invariants(q, v)
    return v, (before[0], after[0]), (before[1], after[1])


def test_a_spring_pendulum_has_the_textbook_force():
    model = Planar(gravity=(0.0, -9.81))
    bob = model.particle("bob", mass=2.0, at=(3.0, -4.0), velocity=(1.0, 2.0))
    model.spring(bob, model.ground.point(), stiffness=10.0, length=4.5, damping=0.5)
    system = model.build()
    unit, pull = np.array([0.6, -0.8]), 10.0 * 0.5 + 0.5 * (0.6 - 1.6)
    expected = [0.0, -2.0 * 9.81] - pull * unit
    np.testing.assert_allclose(system.force(0.0, system.start.position, system.start.velocity), expected)
    assert system.potential(system.start.position) == pytest.approx(-2.0 * 9.81 * 4.0 + 0.5 * 10.0 * 0.25)


def test_a_spring_without_length_is_linear_through_zero():
    """Force −k x and G_q = −k I, also at x = 0, and so in every direction."""
    model = Planar()
    model.spring(model.particle("m", mass=1.0), model.ground, stiffness=7.0, length=0.0)
    system = model.build()
    for x in ([0.0, 0.0], [0.3, -0.2]):
        q = np.array(x)
        np.testing.assert_allclose(system.force(0.0, q, np.zeros(2)), -7.0 * q, atol=1e-15)
        np.testing.assert_allclose(
            system.tangents(0.0, q, np.zeros(2)).position, -7.0 * np.eye(2), atol=1e-13
        )


def test_springs_as_placed_pull_nothing():
    for build in (workshop.planar_springs, workshop.spatial_springs):
        system = build(loads=False)
        springs = system.parts.springs
        placed = system.parts.layout.poses(system.start.position)
        np.testing.assert_allclose(springs._stretch(0.0, placed)[1], 0.0, atol=1e-15)


def test_the_torsion_angle_of_a_hinge_in_space_is_the_angle_turned():
    model = Spatial()
    axis = np.array([1.0, 2.0, 2.0]) / 3.0
    arm = model.body("arm", mass=1.0, inertia=(0.1, 0.2, 0.25), orientation=turned((0, 1, 0), 0.5))
    base = model.body("base", mass=1.0, inertia=0.3, orientation=turned((1, 0, 1), -0.9))
    model.hinge(arm, base, axis=axis)
    model.torsion_spring(arm, base, axis=axis, stiffness=4.0, angle=0.2)
    system = model.build()
    q = system.start.position
    omega = system.axes(arm, q).T @ axis  # the axis as the arm sees it
    for angle in (-2.5, -0.3, 0.9, 3.0):
        turned_q = system.advance(q, angle * np.concatenate((np.zeros(3), omega, np.zeros(6))))
        assert system.potential(turned_q) == pytest.approx(2.0 * (angle - 0.2) ** 2, rel=1e-12)
        force = system.force(0.0, turned_q, np.zeros(12))
        np.testing.assert_allclose(force[3:6], -4.0 * (angle - 0.2) * omega, atol=1e-12)


def test_internal_forces_have_no_resultant():
    """Springs and dampers between bodies: the sum of forces vanishes, and so does the sum of moments (world)."""
    model = Spatial()
    a = model.body("a", mass=1.0, inertia=0.1, at=(1, 0.5, 0.2), orientation=turned((1, 1, 0), 0.4))
    b = model.body("b", mass=1.2, inertia=0.2, at=(2, -0.5, 0), orientation=turned((0, 1, -1), 0.7))
    model.spring(a.point(0.1, 0.2, 0.3), b.point(-0.3, 0.1, 0.2), stiffness=30.0, length=0.2, damping=0.7)
    model.torsion_spring(a, b, axis=(1.0, 0.5, 0.2), stiffness=3.0, angle=0.1, damping=0.05)
    system = model.build()
    t, q, v = some_state(system, 4)
    f = system.force(t, q, v)
    np.testing.assert_allclose(f[0:3] + f[6:9], 0.0, atol=1e-12)
    moment = np.cross(q[0:3], f[0:3]) + np.cross(q[7:10], f[6:9])
    moment += system.axes(a, q) @ f[3:6] + system.axes(b, q) @ f[9:12]
    np.testing.assert_allclose(moment, 0.0, atol=1e-12)


@pytest.mark.parametrize("dimension", [2, 3])
def test_applied_forces_do_work_at_their_points_and_moments_on_the_turn(dimension):
    """v · f = F · ṗ + M · ω with the velocity of the point by differences, and ω in the world."""
    if dimension == 2:
        model = Planar()
        body = model.body("body", mass=1.0, inertia=0.1, at=(1.0, 2.0), angle=0.7)
        force, moment = np.array([3.0, -1.0]), 0.4
    else:
        model = Spatial()
        body = model.body("body", mass=1.0, inertia=0.1, at=(1, 2, 3), orientation=turned((1, 2, 0), 0.7))
        force, moment = np.array([3.0, -1.0, 2.0]), np.array([0.4, -0.3, 0.6])
    point = body.point(np.arange(1.0, dimension + 1.0))
    model.force(point, force)
    model.moment(body, moment)
    system = model.build()
    t, q, v = some_state(system, 3)
    d = 1e-6
    ahead, behind = (system.place(point, system.advance(q, s * v)) for s in (d, -d))
    spin = v[2] if dimension == 2 else system.axes(body, q) @ v[3:]
    expected = force @ (ahead - behind) / (2 * d) + np.dot(moment, spin)
    assert v @ system.force(t, q, v) == pytest.approx(expected, rel=1e-8)
    assert system.powers(t, q, v) == pytest.approx((expected, 0.0), rel=1e-8)


def test_matrices_are_sparse_for_many_bodies():
    model = Planar()
    bodies = [model.body(f"b{i}", mass=1.0, inertia=0.1, at=(i, 0.0)) for i in range(11)]
    for left, right in itertools.pairwise(bodies):
        model.spring(left.point(0.1, 0.1), right.point(-0.1, 0.2), stiffness=3.0, damping=0.1)
    system = model.build()
    t, q, v = some_state(system, 1)
    tangents = system.tangents(t, q, v)
    assert all(sparse.issparse(m) for m in (system.mass(q), tangents.position, tangents.velocity))
    exact = by_differences(lambda u: system.force(t, q + u, 0.0 * v), v.size)
    np.testing.assert_allclose(tangents.position.toarray(), exact, atol=2e-7)


def test_a_moved_support_does_work():
    """A mass held at rest while its spring's support oscillates: load + stored vanish, and f follows the support."""
    model = Planar()
    mass = model.particle("mass", mass=1.0)
    support = model.ground.point(0.0, 2.0, motion=Harmonic((0.0, 0.1), 3.0))
    model.spring(mass, support, stiffness=50.0, length=2.0)
    system = model.build()
    t = 0.7
    np.testing.assert_allclose(
        system.force(t, np.zeros(2), np.zeros(2)), [0.0, 50.0 * 0.1 * np.cos(3.0 * t)], atol=1e-13
    )
    assert system.powers(t, np.zeros(2), np.zeros(2))[0] == pytest.approx(0.0, abs=1e-13)


def test_no_contacts_is_a_fair_question():
    for build in (workshop.planar_contacts, workshop.spatial_contacts):
        system = build()
        t, q, v = some_state(system, 0)
        none, n = np.zeros(0, dtype=int), len(v)
        directions = system.directions(t, q, none)
        assert directions.normal.shape == directions.tangential.shape == (n, 0)
        assert system.gaps(t, q, none).shape == system.curvature(t, q, v, none)[1].shape == (0,)


def test_calls_change_nothing_and_repeat_bit_for_bit():
    system = workshop.spatial_springs()
    t, q, v = some_state(system, 9)
    kept = q.copy(), v.copy()
    first = system.force(t, q, v), system.powers(t, q, v), system.potential(q)
    second = system.force(t, q, v), system.powers(t, q, v), system.potential(q)
    np.testing.assert_array_equal(first[0], second[0])
    assert first[1:] == second[1:]
    np.testing.assert_array_equal(kept[0], q)
    np.testing.assert_array_equal(kept[1], v)
