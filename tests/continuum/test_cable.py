"""Cables: derivatives, exact work, momentum, mass, and the contract with a continuum."""

import numpy as np
import pytest

from klapper.continuum import (
    Cable,
    Continuum,
    Gravity,
    LineMesh,
    NeoHooke,
    Pressure,
    Solid,
    Support,
    block,
    circle,
    polyline,
)
from klapper.mechanics import InvalidModel
from klapper.schemes import EnergyMomentum
from klapper.simulation import simulate

NET = np.array([[0.0, 0, 0], [1, 0, 0.2], [1, 1, 0], [0, 1, 0.3], [0.4, 0.5, 1.0]])
BARS = [[0, 4], [1, 4], [2, 4], [3, 4], [0, 1], [2, 3]]


def cable(dimension: int) -> Cable:
    mesh = circle(1.0, 7) if dimension == 2 else LineMesh(NET, BARS)
    area = np.linspace(0.01, 0.02, len(mesh.cells))
    return Cable("cable", mesh, young=2e3, area=area, density=300.0, pretension=3.0)


def disturbed(body: Cable, seed: int) -> np.ndarray:
    return body.mesh.nodes + 0.2 * np.random.default_rng(seed).standard_normal(body.mesh.nodes.shape)


def summed(body: Cable, parts: np.ndarray) -> np.ndarray:
    return np.bincount(body.places.ravel(), parts.ravel(), minlength=body.mesh.nodes.size)


@pytest.mark.parametrize("dimension", [2, 3])
def test_forces_and_stiffness_are_derivatives_of_the_energy(dimension: int) -> None:
    body = cable(dimension)
    q, h = disturbed(body, 1), 1e-6
    along = np.random.default_rng(2).standard_normal(q.shape)
    slope = (body.energy(q + h * along) - body.energy(q - h * along)) / (2 * h)
    found = body.pull(q, stiffness=True)
    assert summed(body, found.force) @ along.ravel() == pytest.approx(slope, rel=1e-8)
    ahead, behind = (body.pull(q + s * h * along).force for s in (1, -1))
    moved = along.ravel()[body.places]
    np.testing.assert_allclose(
        np.einsum("eab,eb->ea", found.stiffness, moved), (ahead - behind) / (2 * h), atol=1e-6
    )


@pytest.mark.parametrize("dimension", [2, 3])
def test_forces_between_do_exact_work_and_keep_momentum(dimension: int) -> None:
    body = cable(dimension)
    before, after, h = disturbed(body, 3), disturbed(body, 4), 1e-6
    found = body.pull_between(before, after, stiffness=True)
    force = summed(body, found.force).reshape(before.shape)
    work = body.energy(after) - body.energy(before)
    assert np.sum(force * (after - before)) == pytest.approx(work, rel=1e-12)
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-12)
    middle = 0.5 * (before + after)
    moment = np.cross(middle, force) if dimension == 3 else np.linalg.det(np.stack([middle, force], axis=1))
    np.testing.assert_allclose(moment.sum(axis=0), 0.0, atol=1e-12)
    along = np.random.default_rng(5).standard_normal(before.shape)
    ahead, behind = (body.pull_between(before, after + s * h * along).force for s in (1, -1))
    moved = along.ravel()[body.places]
    np.testing.assert_allclose(
        np.einsum("eab,eb->ea", found.stiffness, moved), (ahead - behind) / (2 * h), atol=1e-6
    )


def test_the_tension_of_a_stretched_line_is_the_closed_form() -> None:
    """N = dV/dl: with E = ½ (λ² − 1), N = (N₀ + EA E) λ; a rotation changes nothing."""
    rope = Cable(
        "rope", polyline([(0, 0), (2, 0)], cells=4), young=50.0, area=0.2, density=1.0, pretension=4.0
    )
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    stretched = 1.3 * rope.mesh.nodes @ turn.T
    np.testing.assert_allclose(rope.stretch(stretched), 1.3)
    np.testing.assert_allclose(rope.tension(stretched), (4.0 + 10.0 * 0.5 * 0.69) * 1.3)
    np.testing.assert_allclose(rope.tension(rope.mesh.nodes), 4.0)


def test_mass_and_weight_are_density_times_area_times_length() -> None:
    body = cable(3)
    total = 300.0 * np.linspace(0.01, 0.02, 6) @ body.mesh.lengths
    assert body.total_mass == pytest.approx(total)
    for lumped in (False, True):
        assert body.mass(lumped=lumped).sum() == pytest.approx(3 * total)
    assert body.volume_load().sum() * body.density == pytest.approx(total)


def test_pressure_inside_a_polygon_has_its_resultants() -> None:
    """Σ f = 0 and Σ x · f = 2 p A t for the pressure in a closed line of any shape that encloses A."""
    body = Cable("ring", circle(1.0, 9), young=1.0, area=1.0, density=1.0, thickness=0.1)
    world = Continuum([body], loads=[Pressure("ring", "inner", 5.0)])
    q = disturbed(body, 6)
    force = world.load_at(0.0, q.ravel()).force.reshape(-1, 2)
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-12)
    after = np.roll(q, -1, axis=0)
    area = 0.5 * np.sum(q[:, 0] * after[:, 1] - q[:, 1] * after[:, 0])
    assert np.sum(q * force) == pytest.approx(2.0 * 5.0 * area * 0.1, rel=1e-12)


def test_the_load_of_a_continuum_has_its_derivative() -> None:
    solid = Solid("block", block((1.0, 0.5), (2, 1), corner=(3.0, 0.0)), NeoHooke(1e3, 0.3), density=1.0)
    world = Continuum(
        [cable(2), solid],
        loads=[Pressure("cable", "inner", 4.0), Pressure("block", "top", 2.0), Gravity((0.0, -9.81))],
    )
    q = world.start.position + 0.1 * np.random.default_rng(7).standard_normal(world.size)
    along, h = np.random.default_rng(8).standard_normal(world.size), 1e-6
    ahead, behind = (world.load_at(0.0, q + s * h * along).force for s in (1, -1))
    np.testing.assert_allclose(world.load_at(0.0, q).slope @ along, (ahead - behind) / (2 * h), atol=1e-7)
    tangents = world.tangents(0.0, q, world.start.velocity).position
    ahead, behind = (world.force(0.0, q + s * h * along, 0 * q) for s in (1, -1))
    np.testing.assert_allclose(tangents @ along, (ahead - behind) / (2 * h), atol=1e-4)


def test_a_free_ring_beside_a_solid_keeps_energy_and_momentum() -> None:
    ring = cable(2)
    solid = Solid("block", block((1.0, 0.5), (2, 1), corner=(3.0, 0.0)), NeoHooke(1e4, 0.3), density=100.0)
    speed = np.random.default_rng(9).standard_normal(ring.mesh.nodes.shape)
    world = Continuum([ring, solid], velocity={"cable": speed, "block": (0.3, -0.1)})
    run = simulate(world, 0.5, EnergyMomentum(0.02))
    energy = [
        world.potential(q) + 0.5 * v @ world.mass_matrix @ v
        for q, v in zip(run.position, run.velocity, strict=True)
    ]
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)
    spin = [world.angular_momentum(q, v)[0] for q, v in zip(run.position, run.velocity, strict=True)]
    np.testing.assert_allclose(spin, spin[0], rtol=1e-9)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: LineMesh([[0, 0], [1, 0]], [[0, 2]]), "node 2; there are 2"),
        (lambda: LineMesh([[0, 0], [0, 0]], [[0, 1]]), "line 0 has no length"),
        (lambda: LineMesh([[0, 0], [1, 0], [2, 0]], [[0, 1]]), "node 2 belongs to no cell"),
        (lambda: LineMesh([[0], [1]], [[0, 1]]), r"\(n, 2\) or \(n, 3\)"),
        (lambda: LineMesh([[0, 0], [1, 0]], [[0, 1, 1]]), r"lines need \(e, 2\)"),
        (lambda: circle(1.0, 2), "from 3 on"),
        (lambda: polyline([(0, 0), (1, 0)], cells=0), "from 1 on"),
        (lambda: polyline([(0, 0)]), "k from 2 on"),
        (lambda: Cable("c", block((1.0, 1.0), (1, 1)), young=1.0, area=1.0, density=1.0), "expected a LineMesh"),
        (lambda: Cable("c", circle(1.0, 5), young=1.0, area=0.0, density=1.0), "area is 0"),
        (lambda: Cable("c", circle(1.0, 5), young=1.0, area=[1.0, 2.0], density=1.0), "one or 5 of them"),
        (
            lambda: Continuum([cable(3)], loads=[Pressure("cable", "left", 1.0)]),
            "no surface 'left'; it has none, since lines in space",
        ),
        (lambda: Continuum([cable(2)], supports=[Support("cable", "top")]), "it has left, right, inner, outer"),
    ],
)  # fmt: skip
def test_bad_cables_are_refused(make: object, words: str) -> None:
    with pytest.raises(InvalidModel, match=words):
        make()
