"""Bodies as a system: the contract of the waist, loads, supports, walls, and momentum."""

import numpy as np
import pytest

from klapper.continuum import (
    Continuum,
    Gravity,
    NeoHooke,
    NodeForce,
    Pressure,
    SaintVenantKirchhoff,
    Solid,
    Support,
    Torque,
    Traction,
    Wall,
    annulus,
    block,
    rigid_velocity,
)
from klapper.mechanics import Harmonic, InvalidModel, Ramp
from klapper.schemes import Moreau
from klapper.simulation import simulate

RING = Solid("ring", annulus(0.8, 1.0, (1, 12)), NeoHooke(1e4, 0.3), density=1000.0)
CUBE = Solid("cube", block((1.0, 1.0, 1.0), (2, 2, 2), element="hex8"), NeoHooke(1e4, 0.3), density=1000.0)


def loaded() -> Continuum:
    block_ = Solid(
        "block", block((1.0, 0.5), (2, 2), corner=(3.0, 0.0)), SaintVenantKirchhoff(1e4, 0.2), density=500.0
    )
    return Continuum(
        [RING, block_],
        loads=[
            Gravity((0.0, -9.81)),
            Pressure("ring", "inner", Harmonic(50.0, 3.0)),
            Torque("ring", "outer", 20.0),
            Traction("block", "right", Ramp((0.0, 0.0), (5.0, 1.0))),
            NodeForce("block", [0, 1], (1.0, -2.0)),
        ],
        supports=[Support("block", "left", displacement=Harmonic((0.01, 0.0), 2.0, -np.pi / 2))],
        velocity={"ring": rigid_velocity(RING, (0.5, 0.1), 3.0)},
    )


def disturbed(world: Continuum, seed: int) -> np.ndarray:
    return world.start.position + 0.01 * np.random.default_rng(seed).standard_normal(world.size)


def test_tangents_are_derivatives_of_the_force() -> None:
    world = loaded()
    q, v = disturbed(world, 1), world.start.velocity
    tangents = world.tangents(0.4, q, v)
    along, h = np.random.default_rng(2).standard_normal(world.size), 1e-6
    difference = (world.force(0.4, q + h * along, v) - world.force(0.4, q - h * along, v)) / (2 * h)
    np.testing.assert_allclose(tangents.position @ along, difference, rtol=1e-6, atol=1e-4)
    rate = (world.force(0.4 + h, q, v) - world.force(0.4 - h, q, v)) / (2 * h)
    np.testing.assert_allclose(tangents.time, rate, atol=1e-6)


def test_power_of_the_force_is_that_of_potential_and_loads() -> None:
    """Point 10 of the contract."""
    world = loaded()
    q, v = disturbed(world, 3), np.random.default_rng(4).standard_normal(world.size)
    h = 1e-6
    stored = (world.potential(q + h * v) - world.potential(q - h * v)) / (2 * h)
    load, damping = world.powers(0.4, q, v)
    assert v @ world.force(0.4, q, v) == pytest.approx(load - damping - stored, rel=1e-7)
    np.testing.assert_allclose(world.potential_gradient(q) @ v, stored, rtol=1e-7)


def test_force_between_has_its_derivative_and_exact_work() -> None:
    world = loaded()
    before, after = disturbed(world, 5), disturbed(world, 6)
    found = world.force_between(0.4, before, after, slope=True)
    along, h = np.random.default_rng(7).standard_normal(world.size), 1e-6
    ahead, behind = (world.force_between(0.4, before, after + s * h * along).force for s in (1, -1))
    np.testing.assert_allclose(found.slope @ along, (ahead - behind) / (2 * h), rtol=1e-6, atol=1e-4)
    change = after - before
    load = world.powers(0.4, 0.5 * (before + after), change)[0]
    gained = world.potential(after) - world.potential(before)
    assert found.force @ change == pytest.approx(load - gained, rel=1e-10)


def test_constraints_are_those_of_the_supports() -> None:
    world = loaded()
    q, h = disturbed(world, 8), 1e-6
    columns, rate = world.constraint_directions(0.4, q)
    along = np.random.default_rng(9).standard_normal(world.size)
    ahead, behind = (world.constraint_residuals(0.4, q + s * h * along) for s in (1, -1))
    np.testing.assert_allclose(columns.T @ along, (ahead - behind) / (2 * h), atol=1e-8)
    later, earlier = (world.constraint_residuals(0.4 + s * h, q) for s in (1, -1))
    np.testing.assert_allclose(rate, (later - earlier) / (2 * h), atol=1e-8)
    assert world.constraints[0] == "block 0 x"


def test_gravity_and_pressure_have_their_resultants() -> None:
    ring = Continuum([RING], loads=[Gravity((0.0, -9.81))])
    force = ring.force(0.0, ring.start.position, ring.start.velocity).reshape(-1, 2).sum(axis=0)
    np.testing.assert_allclose(force, (0.0, -9.81 * RING.total_mass), atol=1e-9)
    opened = Solid("half", block((2.0, 1.0), (4, 1)), NeoHooke(1e4, 0.3), density=1.0, thickness=0.1)
    pressed = Continuum([opened], loads=[Pressure("half", "top", 30.0)])
    turned = opened.mesh.moved(turn=0.5).nodes
    total = pressed.load_at(0.0, turned.ravel()).force.reshape(-1, 2).sum(axis=0)
    np.testing.assert_allclose(total, 30.0 * 2.0 * 0.1 * np.array([np.sin(0.5), -np.cos(0.5)]), atol=1e-12)


@pytest.mark.parametrize("solid", [RING, CUBE], ids=["ring", "cube"])
def test_pressure_all_around_pushes_nothing_away(solid: Solid) -> None:
    """Σ f = 0 and Σ x · f = −p d V, whatever the shape: the divergence theorem on the deformed body."""
    world = Continuum([solid], loads=[Pressure(solid.name, "boundary", 5.0)])
    q = disturbed(world, 10)
    force, d = world.load_at(0.0, q).force.reshape(-1, solid.dimension), solid.dimension
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-12)
    deformed = solid.deformation(q.reshape(-1, d))
    volume = float(np.sum(np.linalg.det(deformed) * solid._weights))
    assert np.sum(q * force.ravel()) == pytest.approx(-5.0 * d * volume, rel=1e-12)


def test_a_torque_has_its_moment_and_no_resultant() -> None:
    world = Continuum([RING], loads=[Torque("ring", "inner", 7.0)])
    q = disturbed(world, 11)
    force, place = world.load_at(0.0, q).force.reshape(-1, 2), q.reshape(-1, 2)
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-12)
    assert np.sum(place[:, 0] * force[:, 1] - place[:, 1] * force[:, 0]) == pytest.approx(7.0, rel=1e-12)


def test_a_rigid_motion_has_the_momentum_of_a_rigid_body() -> None:
    """L = m v, J = m (r × v) + θ ω with the polar inertia of the polygonal ring by its own mass matrix."""
    velocity = rigid_velocity(RING, (0.5, 0.1), 3.0)
    world = Continuum([RING], velocity={"ring": velocity})
    q, v = world.start.position, world.start.velocity
    np.testing.assert_allclose(world.linear_momentum(v), RING.total_mass * np.array([0.5, 0.1]), rtol=1e-12)
    spin_only = rigid_velocity(RING, (0.0, 0.0), 1.0).ravel()
    inertia = spin_only @ world.mass_matrix @ spin_only
    assert world.angular_momentum(q, v)[0] == pytest.approx(3.0 * inertia, rel=1e-12)
    assert inertia == pytest.approx(0.5 * 1000.0 * np.pi * (1.0 - 0.8**4), rel=0.1)  # a polygon of 12 sides


def test_moreau_steps_a_body_against_a_wall_and_closes_its_books() -> None:
    solid = Solid("block", block((0.4, 0.2), (2, 1)), NeoHooke(1e5, 0.3), density=1000.0)
    world = Continuum(
        [solid],
        loads=[Gravity((0.0, -9.81))],
        walls=[Wall("block", "bottom", (0.0, -0.01), (0.0, 1.0), friction=0.4)],
        velocity={"block": (1.0, 0.0)},
    )
    run = simulate(world, 0.3, Moreau(1e-3, theta=1.0))
    assert run.about["status"] == "complete"
    assert run.ledger.closes(1e-9)
    assert np.min(run.gap) > -np.sqrt(2 * 9.81 * 0.01) * 1e-3  # speed of the fall times the step
    normal, along = run.impulse[:, :, 0].sum(), run.impulse[:, :, 1].sum()
    gained = world.linear_momentum(run.velocity[-1]) - world.linear_momentum(run.velocity[0])
    assert normal == pytest.approx(gained[1] + solid.total_mass * 9.81 * 0.3, rel=1e-9)
    assert along == pytest.approx(gained[0], rel=1e-9)
    assert 0.5 * 0.4 * normal < -along <= 0.4 * normal * (1 + 1e-9)  # it slides most of the time


def test_supports_can_be_let_go() -> None:
    world = Continuum([RING], supports=[Support("ring", "inner", until=0.5)])
    assert np.any(world.constraint_residuals(0.4, world.start.position + 1.0))
    assert not np.any(world.constraint_residuals(0.6, world.start.position + 1.0))
    assert abs(world.constraint_directions(0.6, world.start.position)[0]).sum() == 0.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"bodies": []}, "at least one Solid"),
        ({"bodies": [RING, RING]}, "two bodies are called 'ring'"),
        ({"bodies": [RING, CUBE]}, "some bodies lie in the plane"),
        ({"bodies": [RING], "loads": [Gravity((0.0, 0.0, -9.81))]}, r"expected \(2,\)"),
        (
            {"bodies": [RING], "loads": [Traction("wheel", "outer", (0.0, 1.0))]},
            "no body 'wheel'; there are ring",
        ),
        ({"bodies": [RING], "loads": [Pressure("ring", "top", 1.0)]}, "no surface 'top'"),
        ({"bodies": [RING], "supports": [Support("ring", [999])]}, "numbers from 0 to 23"),
        ({"bodies": [RING], "supports": [Support("ring", "outer", [2])]}, "allowed are 0 to 1"),
        (
            {"bodies": [RING], "supports": [Support("ring", "outer"), Support("ring", "boundary")]},
            "hold the same node",
        ),
        ({"bodies": [RING], "velocity": {"ring": (1.0, 2.0, 3.0)}}, r"expected \(24, 2\) or \(2,\)\."),
        ({"bodies": [RING], "position": {"ring": (1.0, 2.0)}}, r"expected \(24, 2\)\."),
        ({"bodies": [RING], "walls": [Wall("ring", "outer", (0.0, 0.0), (0.0, 1.0))]}, "gap of"),
        ({"bodies": [RING], "walls": [Wall("ring", "outer", (0.0, -2.0), (0.0, 0.0))]}, "is zero"),
    ],
)
def test_bad_models_are_refused(given: dict, words: str) -> None:
    with pytest.raises(InvalidModel, match=words):
        Continuum(**given)
