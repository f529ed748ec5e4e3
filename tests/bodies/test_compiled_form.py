"""The compiled form of bodies: every function says what the method of the system says, on random models."""

import subprocess
import sys
from itertools import chain

import numpy as np
import pytest
from tests.bodies.random_models import random_model
from tests.bodies.workshop import some_state
from tests.mechanics.form_agreement import assert_form_agrees, nearby_states

from klapper.bodies import Planar, Spatial
from klapper.bodies.joints import AngleRow, AxisRow, DistanceRow, PointRow
from klapper.mechanics import ExponentialFriction, Harmonic, Stribeck
from klapper.mechanics.compiled_form import NotCompiled

MODELS = 200


@pytest.mark.parametrize("first", range(0, MODELS, 20))
def test_every_function_agrees_on_random_models(first):
    for seed in range(first, first + 20):
        system = random_model(seed)
        try:
            assert_form_agrees(system, nearby_states(system, 2, seed=seed))
        except AssertionError as error:
            raise AssertionError(f"random model {seed}: {error}") from error


@pytest.mark.parametrize("dimension", [2, 3])
def test_random_models_have_every_kind_of_part(dimension):
    """The comparison above is worth as much as its models are different."""
    found = set(chain.from_iterable(parts_of(random_model(s)) for s in range(dimension - 2, MODELS, 2)))
    wanted = {"particle", "hollow", "wall moved", "belt", "wall on body", "ball on ground", "ball and ball"}
    wanted |= {"two searches", "two balls on a body", "spring at rest length zero", "damper", "moved support"}
    wanted |= {"torsion", "force", "moment", "motor", PointRow, (PointRow, "turns"), DistanceRow, AngleRow}
    wanted |= {Stribeck, ExponentialFriction, "spring alone", "torsion alone", "weight alone"}
    if dimension == 3:
        wanted |= {AxisRow, "anisotropic", "gyroscopic"}
    assert wanted - found == set()


def parts_of(system):
    parts = system.parts
    geometry, contacts, pairs = parts.geometry, parts.contacts, parts.contacts.pairs
    yield from (type(row) for row in parts.joints.rows)
    yield from (type(law) for law in contacts.friction_laws)
    yield from ((PointRow, "turns") for row in parts.joints.rows if isinstance(row, PointRow) and row.turns)
    springs, torsion, loads = parts.springs, parts.torsion, parts.loads
    alone = not (springs.count or torsion.count or loads.count)
    kinds = {
        "particle": not np.all(parts.layout.rotates[:-1]),
        "hollow": np.any(geometry.balls.radius < 0.0),
        "wall moved": geometry.planes.motions,
        "belt": geometry.planes.slidings,
        "wall on body": np.any(geometry.planes.body >= 0),
        "ball on ground": np.any(geometry.balls.body < 0),
        "ball and ball": np.any(~pairs.with_plane),
        "two searches": len(contacts.groups) > 1,
        "two balls on a body": any(
            len(set(geometry.balls.body[group.balls])) < len(group.balls) for group in contacts.groups
        ),
        "spring at rest length zero": np.any((springs.length == 0.0) & (springs.stiffness > 0.0)),
        "damper": np.any(springs.stiffness == 0.0),
        "moved support": np.any(springs.pairs.moved),
        "torsion": torsion.count,
        "force": any(load.force is not None for load in loads.loads),
        "moment": any(load.moment is not None for load in loads.loads),
        "motor": any(isinstance(row, AngleRow) and row.motion is not None for row in parts.joints.rows),
        "spring alone": springs.count and not torsion.count,
        "torsion alone": torsion.count and not springs.count,
        "weight alone": alone,
        "anisotropic": any(law.ratio != 1.0 for law in contacts.friction_laws),
        "gyroscopic": parts.gyroscopic,
    }
    yield from (kind for kind, there in kinds.items() if there)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("count", [20, 90])
def test_searches_find_what_the_tree_finds(dimension, count):
    """Few balls are compared pair by pair, many are sorted into cubes; one far away, one much larger than the rest."""
    system = scattered(dimension, count)
    form = system.compiled_form()
    for seed in range(3):
        t, q, _ = some_state(system, seed)
        form.bring(form.index, form.data, t)
        expected = system.near(t, q)
        room = np.zeros(form.contacts, dtype=np.int64)
        found = form.near(form.index, form.data, t, q, room)
        assert len(expected) > count
        np.testing.assert_array_equal(room[:found], expected)
        assert form.near(form.index, form.data, t, q, room[: found - 1]) == -1
        assert form.near(form.index, form.data, t, q, room[:found]) == found


def scattered(dimension, count):
    draw = np.random.default_rng(count)
    model = (Planar if dimension == 2 else Spatial)(gravity=np.eye(dimension)[0])
    balls = []
    for i in range(count):
        at = draw.uniform(0.0, count ** (1.0 / dimension), dimension) + (1e15 if i == 7 else 0.0)
        body = model.body(f"body {i}", mass=1.0, inertia=0.1, at=at)
        ball = body.disc if dimension == 2 else body.sphere
        balls += [ball(3.0 if i == 5 else draw.uniform(0.3, 0.6), at=0.3 * draw.normal(size=dimension))]
    balls.append(ball(0.4))
    low = model.wall("low", normal=np.eye(dimension)[0], motion=Harmonic(0.3, 2.0))
    plate = model.wall("side", normal=np.ones(dimension))
    model.search(balls, [low, plate], friction=0.3)
    model.search(balls[:9], [low], friction=0.1, margin=0.7)
    return model.build(penetration=1e9)


def test_there_is_room_for_the_near_contacts_of_a_dense_heap():
    for dimension in (2, 3):
        system = scattered(dimension, 90)
        assert system.compiled_form().most_near >= len(system.near(0.0, system.start.position))


@pytest.mark.parametrize("what", ["centred", "off", "on a body that turns", "on a particle"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_straight_contacts_are_those_whose_directions_stay(dimension, what):
    """A disc that rolls keeps its direction in the plane; in space the axes of a sphere turn under its arm."""
    model = (Planar if dimension == 2 else Spatial)()
    body = model.body("body", mass=1.0, inertia=0.1, at=np.ones(dimension))
    particle = model.particle("particle", mass=1.0)
    wall = {
        "on a body that turns": body.wall(np.zeros(dimension), np.ones(dimension)),
        "on a particle": particle.wall(np.zeros(dimension), np.ones(dimension)),
    }.get(what, model.wall("wall", normal=np.eye(dimension)[0], motion=Harmonic(0.3, 2.0)))
    radius = 0.3 if dimension == 2 else 0.0
    shape = (body.disc if dimension == 2 else body.sphere)(radius, at=np.eye(dimension)[0] * (what == "off"))
    model.contact(particle.point() if what == "on a body that turns" else shape, wall, friction=0.1)
    system = model.build(penetration=1e9)
    assert system.compiled_form().straight == (what in ("centred", "on a particle"))
    assert_form_agrees(system, nearby_states(system, 3))
    if dimension == 3:
        model.contact(body.sphere(0.2), model.wall("other", normal=(0.0, 0.0, 1.0)), name="with an arm")
        assert not model.build(penetration=1e9).compiled_form().straight


def test_functions_of_the_user_are_compiled():
    model = Planar(gravity=(0.0, -9.81))
    disc = model.body("disc", mass=1.0, inertia=0.1, at=(0.0, 0.2))
    model.contact(
        disc.disc(0.2), model.wall("floor", normal=(0.0, 1.0)), friction=lambda speed: 0.3 / (1.0 + speed)
    )
    model.force(disc.point(0.1, 0.0), lambda t: np.array([np.sin(5.0 * t), 0.0]))
    system = model.build()
    assert_form_agrees(system, nearby_states(system, 3))


def test_functions_that_cannot_be_compiled_are_named():
    model, seen = Planar(), []
    disc = model.body("disc", mass=1.0, inertia=0.1, at=(0.0, 1.0))

    def push(t):
        seen.append(t)
        return np.array([0.0, 1.0])

    model.force(disc.point(0.0, 0.0), push)
    with pytest.raises(NotCompiled, match=r"push.*seen"):
        model.build().compiled_form()


def test_a_form_of_its_own_for_every_system():
    """Tables are not shared: bringing one form to a time leaves another as it is."""
    system = random_model(1)
    first, second = system.compiled_form(), system.compiled_form()
    assert not np.shares_memory(first.data, second.data)


def test_nothing_is_compiled_or_imported_before_a_form_is_asked_for():
    code = (
        "import sys, klapper.bodies as b; m = b.Planar(); m.body('a', mass=1.0, inertia=1.0); m.build();"
        "sys.exit('numba' in sys.modules or any('bodies.kernels.' in name for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
