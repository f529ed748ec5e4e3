"""Self-contact: parts of one surface meet, by node-to-segment with the same surface on both sides."""

from dataclasses import replace

import numpy as np
import pytest

from klapper.continuum import Continuum, Mesh, NeoHooke, NodeToSegment, Solid, Support, Wall, annulus, block
from klapper.mechanics import Ramp
from klapper.schemes import EnergyMomentum, QuasiStatic
from klapper.simulation import simulate

LAW = NeoHooke(100.0, 0.3)
PINCH = 0.3  # [m] by which top and bottom of the flat ring are moved towards each other, each


def bent(inner: float, outer: float, first: float, last: float, cells: tuple[int, int]) -> Mesh:
    """A block around the origin between two angles; "top" is its inside, "ends" are both cuts."""
    mesh = block((1.0, 1.0), cells)
    along, across = mesh.nodes.T
    radius, angle = outer + (inner - outer) * across, first + (last - first) * along
    ends = np.concatenate([mesh.surface("left"), mesh.surface("right")])
    nodes = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return replace(mesh, nodes=nodes, surfaces={**mesh.surfaces, "ends": ends})


def flattened(mesh: Mesh) -> Mesh:
    """A ring of inner radius 0.8 m, its inside an ellipse with half axes 1.0 m and 0.25 m, of the same thickness."""
    radius = np.linalg.norm(mesh.nodes, axis=1, keepdims=True)
    outward = mesh.nodes / radius
    return replace(mesh, nodes=outward * (1.0, 0.25) + (radius - 0.8) * outward)


def gaps(world: Continuum, run) -> np.ndarray:
    every = np.arange(world.contacts.count)
    return np.array([np.nanmin(world.gaps(t, q, every)) for t, q in zip(run.time, run.position, strict=True)])


@pytest.fixture(scope="module")
def clap():
    """An open ring that flies and turns, while its ends are thrown at each other."""
    mesh = bent(0.8, 1.0, 0.1, 2.0 * np.pi - 0.1, (24, 2))
    x, y = mesh.nodes.T
    velocity = np.column_stack([0.5 - y, x - np.sign(y) * np.maximum(x, 0.0) ** 2])
    world = Continuum(
        [Solid("ring", mesh, LAW, density=1.0)],
        interfaces=[NodeToSegment(secondary=("ring", "ends"), primary=("ring", "ends"))],
        velocity={"ring": velocity},
    )
    return world, simulate(world, 0.4, EnergyMomentum(0.02))


def test_ends_of_an_open_ring_meet_and_do_not_pass(clap) -> None:
    world, run = clap
    force = np.nan_to_num(run.force[:, :, 0])
    assert force.max() > 0.0
    assert force.min() >= -1e-9 * force.max()
    assert gaps(world, run).min() >= -1e-9


def test_without_the_interface_the_ends_pass_through_each_other(clap) -> None:
    world, start = clap[0], clap[0].start
    free = Continuum(
        [Solid("ring", world.bodies[0].mesh, LAW, density=1.0)],
        velocity={"ring": start.velocity.reshape(-1, 2)},
    )
    through = simulate(free, 0.4, EnergyMomentum(0.02))
    every = np.arange(world.contacts.count)
    assert min(np.nanmin(world.gaps(0.0, q, every)) for q in through.position) < -1e-3


def test_what_hits_itself_keeps_energy_and_momenta(clap) -> None:
    assert all(clap[1].conservation.matrix.values())
    mass = clap[0].mass(clap[0].start.position)
    first, last = (np.asarray(mass @ v).reshape(-1, 2).sum(axis=0) for v in clap[1].velocity[[0, -1]])
    np.testing.assert_allclose(last, first, rtol=0.0, atol=1e-9 * np.abs(first).max())


@pytest.fixture(scope="module")
def pinched():
    """A flat ring whose top and bottom are pressed together until its inside meets itself."""
    mesh = flattened(annulus(0.8, 1.0, (2, 32)))
    top, low = (int(pick(mesh.nodes[:, 1])) for pick in (np.argmax, np.argmin))
    supports = [
        Support("ring", [node], displacement=Ramp(np.zeros(2), np.array([0.0, sign * PINCH])))
        for node, sign in ((top, -1.0), (low, 1.0))
    ]
    world = Continuum(
        [Solid("ring", mesh, LAW, density=1.0)],
        supports=supports,
        interfaces=[NodeToSegment(secondary=("ring", "inner"), primary=("ring", "inner"))],
    )
    return world, simulate(world, 1.0, QuasiStatic(0.25))


def test_the_inside_of_a_ring_presses_against_itself(pinched) -> None:
    world, run = pinched
    force = run.force[-1][:, 0]
    assert np.count_nonzero(force > 1e-9 * force.max()) >= 2
    assert force.min() >= -1e-9 * force.max()
    assert gaps(world, run).min() >= -1e-9
    held = run.constraint_force[-1]
    np.testing.assert_allclose(held[:2] + held[2:], 0.0, atol=1e-9 * np.abs(held).max())


def test_a_pinched_ring_is_the_half_ring_on_a_wall(pinched) -> None:
    """By symmetry; what a node of the wall carries is shared by the two that meet there.

    Where nodes meet nodes, forces lean as a facet beside them does, and differ by the square of its slope.
    """
    mesh = flattened(bent(0.8, 1.0, 0.0, np.pi, (16, 2)))
    inside = mesh.surface_nodes("top")
    touching = inside[mesh.nodes[inside, 1] > 1e-9]
    top = int(np.argmax(mesh.nodes[:, 1]))
    half = Continuum(
        [Solid("half", mesh, LAW, density=1.0)],
        supports=[
            Support("half", [top], displacement=Ramp(np.zeros(2), np.array([0.0, -PINCH]))),
            Support("half", "ends", [1]),
        ],
        walls=[Wall("half", touching, (0.0, 0.0), (0.0, 1.0))],
    )
    run = simulate(half, 1.0, QuasiStatic(0.25))
    whole = pinched[1]
    force, place = run.force[-1][:, 0], half.positions(run.position[-1], "half")
    facets = mesh.surface("top")
    along = place[facets[:, 1]] - place[facets[:, 0]]
    slope = np.abs(along[:, 1] / along[:, 0])
    lean = np.array([slope[(facets == node).any(axis=1)].max() for node in touching])
    small = force @ lean**2 / force.sum()
    assert small < 0.01
    assert whole.force[-1][:, 0].sum() == pytest.approx(force.sum(), rel=small)
    assert whole.constraint_force[-1][1] == pytest.approx(run.constraint_force[-1][1], rel=small)
