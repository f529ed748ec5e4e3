"""The plain arrays say the same as the system: gaps, normals and tangents by the formulas of their documentation."""

import numpy as np
import pytest

from klapper.bodies import Planar, Spatial, inertia, turned
from klapper.mechanics import Anisotropic, Ramp, Stribeck

from .test_search import heap
from .workshop import some_state


def mixed(dimension):
    """Listed contacts of every compiled kind, a ball on the ground, and a search."""
    if dimension == 2:
        model = Planar(gravity=(0.0, -9.81))
        block = model.body("block", mass=2.0, inertia=0.4, at=(5.0, 4.0), angle=0.3)
        discs = [model.body(f"d{i}", mass=1.0 + i, inertia=0.1, at=(i, 1.0), angle=i) for i in range(3)]
        floor = model.wall("floor", normal=(0.1, 2.0))
        side = model.wall("side", point=(-2.0, 0.0), normal=(1.0, 0.0))
        model.contact(block.corners(0.5, 0.3), floor, friction=0.4)
        model.contact(discs[0].disc(0.2, at=(0.1, 0.0)), block.disc(0.1), friction=0.1, restitution=0.5)
        model.contact(discs[1].disc(0.2), model.ground.disc(0.3, at=(2.0, -3.0), name="peg"), friction=0.2)
        model.search(
            [d.disc(0.3) for d in discs], [side, floor], friction=0.3, wall_friction=0.6, restitution=0.1
        )
        return model.build()
    model = Spatial(gravity=(0.0, 0.0, -9.81))
    box = model.body(
        "box", mass=2.0, inertia=(0.4, 0.3, 0.2), at=(5.0, 0.0, 4.0), orientation=turned((1, 2, 3), 0.3)
    )
    balls = [model.body(f"d{i}", mass=1.0, inertia=inertia.sphere(1, 0.3), at=(i, 0, 1.0)) for i in range(3)]
    floor = model.wall("floor", normal=(0.1, -0.3, 2.0))
    side = model.wall("side", point=(-2.0, 0.0, 0.0), normal=(1.0, 0.0, 0.0))
    model.contact(box.corners(0.5, 0.3, 0.2), floor, friction=0.4)
    model.contact(balls[0].sphere(0.2, at=(0.1, 0.0, 0.1)), box.sphere(0.1), friction=0.1, restitution=0.5)
    model.contact(
        balls[1].sphere(0.2), model.ground.sphere(0.3, at=(2.0, 0.0, -3.0), name="peg"), friction=0.2
    )
    model.search(
        [b.sphere(0.3) for b in balls], [side, floor], friction=0.3, wall_friction=0.6, restitution=0.1
    )
    return model.build()


def poses(form, q):
    """Centres and rotations of all bodies, the ground last."""
    size = 3 if form.dimension == 2 else 7
    centre, rotation = [], []
    for row in q.reshape(-1, size):
        if form.dimension == 2:
            c, s = np.cos(row[2]), np.sin(row[2])
            centre.append([row[0], row[1], 0.0])
            rotation.append([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        else:
            w, i, j, k = row[3:]
            centre.append(row[:3])
            u = np.array([[0, -k, j], [k, 0, -i], [-j, i, 0]])
            rotation.append(np.eye(3) + 2 * w * u + 2 * u @ u)
    return np.array([*centre, np.zeros(3)]), np.array([*rotation, np.eye(3)])


def pairs(form):
    """Number, ball, other, with plane, friction and restitution of every contact, by the rules of RigidForm."""
    k, ng = len(form.pair_ball), len(form.group_ball)
    for c in range(k):
        law = form.pair_friction[c], form.pair_restitution[c]
        yield c, form.pair_ball[c], form.pair_other[c], form.pair_with_plane[c], *law
    for a in range(ng):
        for b in range(a + 1, ng):
            law = form.group_friction[0], form.group_restitution[0]
            yield k + a * ng + b, form.group_ball[a], form.group_ball[b], False, *law
    for p, plane in enumerate(form.group_plane):
        for a in range(ng):
            law = form.group_friction[1], form.group_restitution[1]
            yield k + ng * ng + p * ng + a, form.group_ball[a], plane, True, *law


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("build", [mixed, heap])
def test_gaps_and_directions_follow_the_documented_formulas(build, dimension):
    system = build(dimension)
    form = system.rigid_form()
    assert system.why_no_heap == ""
    assert form.dimension == dimension
    _, q, v = some_state(system, 1)
    centre, rotation = poses(form, q)
    which = np.array([row[0] for row in pairs(form)])
    gaps, directions = system.gaps(0.0, q, which), system.directions(0.0, q, which)
    laws = system.contacts.laws(which)
    slip = directions.tangential_velocity(v).reshape(len(which), -1)
    speed = directions.normal_velocity(v)
    twist = np.zeros((len(centre), 6))
    columns = [0, 1, 5] if dimension == 2 else range(6)
    twist[:-1, columns] = v.reshape(len(centre) - 1, -1)
    for row, (_, ball, other, with_plane, friction, restitution) in enumerate(pairs(form)):
        body = form.ball_body[ball]
        c = centre[body] + rotation[body] @ form.ball_place[ball]
        r = form.ball_radius[ball]
        if with_plane:
            n = form.plane_normal[other]
            gap, velocity = n @ (c - form.plane_point[other]) - r, 0.0
        else:
            second = form.ball_body[other]
            there = centre[second] + rotation[second] @ form.ball_place[other]
            n = (c - there) / np.linalg.norm(c - there)
            gap = np.linalg.norm(c - there) - r - form.ball_radius[other]
            arm = there + form.ball_radius[other] * n - centre[second]
            velocity = twist[second, :3] + np.cross(rotation[second] @ twist[second, 3:], arm)
        arm = c - r * n - centre[body]
        velocity = twist[body, :3] + np.cross(rotation[body] @ twist[body, 3:], arm) - velocity
        if dimension == 2:
            tangents = [[n[1], -n[0], 0.0]]
        else:
            first = np.cross(np.eye(3)[np.argmin(np.abs(n) + np.array([0.0, 0.1, 0.2]))], n)
            first /= np.linalg.norm(first)
            tangents = [first, np.cross(n, first)]
        assert gaps[row] == pytest.approx(gap, abs=1e-12)
        assert speed[row] == pytest.approx(n @ velocity, abs=1e-12)
        np.testing.assert_allclose(slip[row], np.array(tangents) @ velocity, atol=1e-12)
        assert laws.friction[row] == friction
        assert laws.restitution[row] == restitution


@pytest.mark.parametrize("dimension", [2, 3])
def test_masses_and_weight_are_those_of_the_system(dimension):
    system = mixed(dimension)
    form = system.rigid_form()
    diagonal = np.diag(system.mass(system.start.position)).reshape(4, -1)
    np.testing.assert_array_equal(diagonal[:, :dimension], np.repeat(form.mass[:, None], dimension, axis=1))
    np.testing.assert_array_equal(
        diagonal[:, dimension:], form.inertia[:, 2:] if dimension == 2 else form.inertia
    )
    force = system.force(0.0, system.start.position, 0.0 * system.start.velocity).reshape(4, -1)
    np.testing.assert_array_equal(force[:, :dimension], form.mass[:, None] * form.gravity[:dimension])
    assert all(array.flags.c_contiguous for array in form[1:])


def with_part(add):
    model = Planar()
    a = model.body("a", mass=1.0, inertia=0.1)
    b = model.body("b", mass=1.0, inertia=0.1, at=(2.0, 0.0))
    add(model, a, b, model.wall("w", point=(0.0, -1.0), normal=(0.0, 1.0)))
    return model.build()


@pytest.mark.parametrize(
    ("add", "reason"),
    [
        (lambda m, a, b, w: m.spring(a, b, stiffness=1.0), "springs"),
        (lambda m, a, b, w: m.torsion_spring(a, b, stiffness=1.0), "springs"),
        (lambda m, a, b, w: m.force(a, (1.0, 0.0)), "forces"),
        (lambda m, a, b, w: m.rod(a, b), "joints"),
        (lambda m, a, b, w: m.particle("p", mass=1.0), "particles"),
        (lambda m, a, b, w: m.contact(a.disc(0.1), b.wall((-1.0, 0.0), (-1.0, 0.0))), "fixed to a body"),
        (lambda m, a, b, w: m.clearance(a.disc(0.1), m.ground.ring(0.2)), "clearances"),
        (lambda m, a, b, w: m.contact(a.disc(0.1), w, friction=Stribeck(0.3, 0.2, 1.0)), "friction laws"),
        (lambda m, a, b, w: [m.search([x.disc(0.1)], [w]) for x in (a, b)], "more than one search"),
        (lambda m, a, b, w: m.search([a.disc(0.1), a.disc(0.2)]), "on a body"),
        (
            lambda m, a, b, w: m.contact(
                a.disc(0.1), m.wall("m", point=(0, -1), normal=(0, 1), motion=Ramp(0, 1))
            ),
            "moved walls",
        ),
    ],
)
def test_what_the_compiled_loop_does_not_know_is_named(add, reason):
    system = with_part(add)
    assert reason in system.why_no_heap
    assert system.rigid_form() is None


def test_anisotropic_friction_is_not_compiled():
    model = Spatial()
    ball = model.body("ball", mass=1.0, inertia=0.1, at=(0, 0, 1))
    model.contact(ball.sphere(0.5), model.wall("floor", normal=(0, 0, 1)), friction=Anisotropic(0.2, 0.4))
    system = model.build()
    assert system.rigid_form() is None
    assert system.contacts.laws(np.array([0])).ratio == 2.0


def test_speed_dependent_friction_is_taken_at_the_speed():
    law = Stribeck(static=0.5, dynamic=0.3, speed=0.1)
    system = with_part(
        lambda m, a, b, w: (m.contact(a.disc(0.1), w, friction=law), m.contact(b.disc(0.1), w, friction=0.4))
    )
    assert not system.contacts.constant
    at_rest, sliding = (
        system.contacts.laws(np.array([1, 0]), speed) for speed in (None, np.array([0.1, 0.1]))
    )
    np.testing.assert_allclose(at_rest.friction, [0.4, 0.5])
    np.testing.assert_allclose(sliding.friction, [0.4, 0.4])
