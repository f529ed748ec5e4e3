"""Badly posed models are refused when they are written down or built, by the name of the part."""

import numpy as np
import pytest

from klapper.bodies import Planar, Spatial, turned
from klapper.mechanics import Anisotropic, Harmonic, InvalidModel, Ramp


@pytest.fixture
def plane():
    model = Planar()
    a = model.body("a", mass=1.0, inertia=0.1)
    b = model.body("b", mass=1.0, inertia=0.1, at=(3.0, 0.0))
    return model, a, b, model.wall("floor", point=(0.0, -1.0), normal=(0.0, 1.0))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mass": 0.0}, "body 'x': mass is 0 kg; allowed are numbers above 0"),
        ({"mass": -1.0}, "body 'x': mass is -1 kg"),
        ({"mass": "heavy"}, "body 'x': mass is 'heavy'"),
        ({"mass": np.nan}, "body 'x': mass is nan"),
        ({"inertia": 0.0}, "body 'x': inertia is 0"),
        ({"at": (0.0, 0.0, 0.0)}, r"body 'x': at has shape \(3,\), expected \(2,\)"),
        ({"velocity": (np.inf, 0.0)}, "body 'x': velocity"),
        ({"angle": None}, "body 'x': angle is None"),
    ],
)
def test_wrong_planar_bodies_are_refused_by_name(given, said):
    with pytest.raises(InvalidModel, match=said):
        Planar().body("x", **{"mass": 1.0, "inertia": 0.1, **given})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"inertia": (1.0, 1.0, 3.0)}, "body 'x': inertia is .* above the sum of the other two"),
        ({"inertia": (1.0, -1.0, 1.0)}, "body 'x': inertia is -1"),
        ({"inertia": np.eye(3)}, "body 'x': inertia has shape"),
        ({"orientation": (0.0, 0.0, 0.0, 0.0)}, "body 'x': orientation"),
        ({"orientation": (1.0, 0.0, 0.0)}, "body 'x': orientation"),
        ({"spin": 3.0}, "body 'x': spin has shape"),
    ],
)
def test_wrong_spatial_bodies_are_refused_by_name(given, said):
    with pytest.raises(InvalidModel, match=said):
        Spatial().body("x", **{"mass": 1.0, "inertia": 0.1, **given})


def test_a_flat_body_is_allowed():
    """A thin disc: I₃ = I₁ + I₂ exactly."""
    assert Spatial().body("plate", mass=1.0, inertia=(0.1, 0.2, 0.1 + 0.2)).rotates


def test_directions_of_another_length_are_normalised():
    model = Spatial()
    floor = model.wall("floor", normal=(0.0, 0.0, 5.0))
    np.testing.assert_array_equal(floor.normal, [0.0, 0.0, 1.0])
    model.body("x", mass=1.0, inertia=1.0, orientation=(2.0, 0.0, 0.0, 0.0))
    np.testing.assert_array_equal(model.build().start.position[3:], [1.0, 0.0, 0.0, 0.0])


REFUSED = [
    (lambda m, a, b, w: m.body("a", mass=1.0, inertia=1.0), "body 'a': the name is already taken"),
    (lambda m, a, b, w: m.wall("a", normal=(0, 1)), "wall 'a': the name is already taken"),
    (lambda m, a, b, w: m.body("", mass=1.0, inertia=1.0), "expected a text"),
    (lambda m, a, b, w: m.body("ground", mass=1.0, inertia=1.0), "already taken"),
    (lambda m, a, b, w: m.wall("w", normal=(0, 0)), "wall 'w': normal has no length"),
    (lambda m, a, b, w: a.wall((0, 0), (0, 0)), "wall 'a wall': normal has no length"),
    (lambda m, a, b, w: m.ground.wall((0, 0), (0, 1)), "made by model.wall"),
    (
        lambda m, a, b, w: m.wall("w", normal=(0, 1), motion=(1.0, 2.0)),
        "wall 'w': motion has values of shape",
    ),
    (lambda m, a, b, w: m.wall("w", normal=(0, 1), sliding=1.0), "wall 'w': sliding has values of shape"),
    (
        lambda m, a, b, w: m.wall("w", normal=(0, 1), sliding=(1, 1)),
        "wall 'w': sliding has 1 m/s along the normal",
    ),
    (lambda m, a, b, w: a.disc(-0.1), "disc on 'a': radius is -0.1 m"),
    (lambda m, a, b, w: a.ring(0.0), "ring on 'a': radius is 0 m"),
    (lambda m, a, b, w: a.corners(1.0, 0.0), "corners of 'a': height is 0 m"),
    (lambda m, a, b, w: a.point(1.0, 2.0, 3.0), "point on 'a': place has shape"),
    (lambda m, a, b, w: a.point(motion=Ramp((0, 0), (1, 1))), "only points on the ground can be moved"),
    (lambda m, a, b, w: m.contact(a.disc(0.1), a.disc(0.2)), "both shapes are fixed to body 'a'"),
    (lambda m, a, b, w: m.contact(m.ground.disc(0.1), w), "both shapes are fixed to the ground"),
    (lambda m, a, b, w: m.contact(w, w), "two walls cannot touch"),
    (lambda m, a, b, w: m.contact(a, w), "'a' cannot touch here; give a disc"),
    (lambda m, a, b, w: m.contact("a", w), "'a' is neither a body nor a shape"),
    (lambda m, a, b, w: m.contact(a.point(), b.point()), "two points have no normal direction"),
    (lambda m, a, b, w: m.contact(a.disc(0.1), b.ring(5.0)), "'b' is hollow; use model.clearance"),
    (
        lambda m, a, b, w: [m.contact(a.disc(0.1), w) for _ in "12"],
        "contact 'a – floor': there is one of this name",
    ),
    (
        lambda m, a, b, w: m.contact(a.disc(0.1), w, restitution=1.2),
        "contact 'a – floor': restitution is 1.2",
    ),
    (lambda m, a, b, w: m.contact(a.disc(0.1), w, friction=-0.1), "contact 'a – floor': mu is -0.1"),
    (lambda m, a, b, w: m.contact(a.disc(0.1), w, friction=Anisotropic(0.1, 0.2)), "one direction only"),
    (lambda m, a, b, w: m.clearance(a.ring(0.1), b.disc(0.1)), "give a disc or sphere first"),
    (lambda m, a, b, w: m.clearance(a.disc(0.2), b.ring(0.1)), "the inner one must not be the larger"),
    (lambda m, a, b, w: m.search([]), "search: no balls"),
    (lambda m, a, b, w: m.search([a.disc(0.0)]), "search: 'a' has radius 0 m"),
    (lambda m, a, b, w: m.search([a.disc(0.1), a.disc(0.1)]), "a ball was given twice"),
    (lambda m, a, b, w: m.search([a.disc(0.1)], [b.disc(0.2)]), "'b' is not a wall"),
    (lambda m, a, b, w: m.search([a.disc(0.1)], [a.wall((0, 1), (0, 1))]), "on the same body"),
    (lambda m, a, b, w: m.search([a.disc(0.1)], margin=0.0), "search: margin is 0 m"),
    (lambda m, a, b, w: m.spring(a, b, stiffness=0.0), "spring 'a – b': stiffness is 0 N/m"),
    (lambda m, a, b, w: m.spring(a, a.point(0, 1), stiffness=1.0), "both points are fixed to body 'a'"),
    (lambda m, a, b, w: m.spring(a, b, stiffness=1.0, length=-1.0), "spring 'a – b': length is -1 m"),
    (lambda m, a, b, w: m.spring(a.disc(0.1), b, stiffness=1.0), "'a' is not a point"),
    (lambda m, a, b, w: m.damper(a, b, damping=-1.0, name="d"), "damper 'd': damping is -1 N s/m"),
    (lambda m, a, b, w: m.torsion_spring(a, a, stiffness=1.0), "both are 'a'"),
    (lambda m, a, b, w: m.torsion_spring(a.point(), b, stiffness=1.0), "is a shape; give the body itself"),
    (lambda m, a, b, w: m.force(m.ground, (1.0, 0.0)), "acts on the ground"),
    (lambda m, a, b, w: m.force(a, (1.0, 0.0, 0.0)), "force on 'a': value has values of shape"),
    (lambda m, a, b, w: m.moment(m.ground, 1.0), "'ground' does not turn"),
    (lambda m, a, b, w: m.moment(m.particle("p", mass=1.0), 1.0), "moment on 'p': 'p' does not turn"),
    (lambda m, a, b, w: m.hinge(m.ground.point(), m.ground.point()), "both points are fixed to the ground"),
    (
        lambda m, a, b, w: [m.hinge(a, m.ground) for _ in "12"],
        "joint 'hinge a – ground': there is one of this name",
    ),
    (lambda m, a, b, w: m.slot(a, b, along=(0.0, 0.0)), "slot 'a – b': along has no length"),
    (lambda m, a, b, w: m.rod(a, b, length=0.0), "rod 'a – b': length is 0 m"),
]


@pytest.mark.parametrize(("add", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_parts_are_refused_by_name(plane, add, said):
    with pytest.raises(InvalidModel, match=said):
        add(*plane)


BUILD_REFUSED = [
    (lambda m, a, b, w: m.contact(a.disc(1.1), w), "contact 'a – floor' starts with a gap of -0.1 m"),
    (lambda m, a, b, w: m.contact(a.disc(2.0), b.disc(1.5)), "contact 'a – b' starts with a gap of -0.5 m"),
    (lambda m, a, b, w: m.search([a.disc(2.0), b.disc(1.5)]), "contact 'a – b' starts with a gap of -0.5 m"),
    (lambda m, a, b, w: m.hinge(a, b), "constraint 'hinge a – b x' is violated at the start by -3"),
    (
        lambda m, a, b, w: m.rod(a, b, length=2.0, name="link"),
        "constraint 'link' is violated at the start by 1",
    ),
    (lambda m, a, b, w: m.rod(a.point(1, 0), m.ground.point(1, 0)), "two points that coincide"),
    (
        lambda m, a, b, w: m.motor(a, m.ground, angle=Harmonic(0.5, 1.0)),
        "constraint 'motor a – ground' is violated",
    ),
]


@pytest.mark.parametrize(("add", "said"), BUILD_REFUSED, ids=[said for _, said in BUILD_REFUSED])
def test_starts_are_refused_by_name(plane, add, said):
    add(*plane)
    with pytest.raises(InvalidModel, match=said):
        plane[0].build()


def test_parts_of_another_model_are_refused(plane):
    model, a, _, floor = plane
    stranger = Planar().body("stranger", mass=1.0, inertia=1.0)
    for use in (
        lambda: model.contact(stranger.disc(0.1), floor),
        lambda: model.spring(a, stranger, stiffness=1.0),
        lambda: model.moment(stranger, 1.0),
        lambda: model.weld(a, stranger),
    ):
        with pytest.raises(InvalidModel, match="'stranger' belongs to another model"):
            use()


def test_empty_models_and_unknown_options_are_refused(plane):
    with pytest.raises(InvalidModel, match="has no bodies"):
        Planar().build()
    with pytest.raises(InvalidModel, match="velocity is 'zero'; allowed are 'given' and 'consistent'"):
        plane[0].build(velocity="zero")
    with pytest.raises(InvalidModel, match="there is no contact 'a – flor'"):
        plane[0].build().contacts.number("a – flor")


def test_consistent_velocities_are_the_nearest_that_joints_allow():
    """A rod pinned at its end and given a pure spin keeps the part of it that turns about the pin."""
    model = Planar()
    length, mass = 0.8, 1.5
    moment = mass * length**2 / 12.0
    rod = model.body("rod", mass=mass, inertia=moment, at=(0.5 * length, 0.0), spin=3.0)
    model.hinge(rod.point(-0.5 * length, 0.0), model.ground)
    velocity = model.build(velocity="consistent").start.velocity
    spin = moment * 3.0 / (moment + mass * (0.5 * length) ** 2)  # angular momentum about the pin stays
    np.testing.assert_allclose(velocity, [0.0, 0.5 * length * spin, spin], atol=1e-14)
    np.testing.assert_array_equal(model.build().start.velocity, [0.0, 0.0, 3.0])


def test_a_motor_drives_consistent_velocities_and_contradictions_are_named():
    model = Planar()
    crank = model.body("crank", mass=1.0, inertia=0.1, at=(0.3, 0.0))
    model.hinge(crank.point(-0.3, 0.0), model.ground)
    model.motor(crank, model.ground, angle=Ramp(0.0, 20.0))
    np.testing.assert_allclose(
        model.build(velocity="consistent").start.velocity, [0.0, 6.0, 20.0], atol=1e-12
    )
    model.weld(crank, model.ground)
    with pytest.raises(InvalidModel, match="no velocity agrees with all joints"):
        model.build(velocity="consistent")


def test_coordinates_and_velocities_are_named_after_their_body():
    model = Spatial()
    model.body("top", mass=1.0, inertia=1.0, orientation=turned((1, 0, 0), 0.1))
    model.particle("dust", mass=1.0)
    system = model.build()
    top = ("top x", "top y", "top z")
    dust = ("dust x", "dust y", "dust z")
    assert system.coordinates == (*top, "top w", "top i", "top j", "top k", *dust)
    assert system.velocities == (*top, "top ω1", "top ω2", "top ω3", *dust)
