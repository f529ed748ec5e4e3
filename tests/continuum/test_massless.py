"""Surfaces without mass: what stays of the mass, and contact forces that do not oscillate."""

import numpy as np
import pytest

from klapper.continuum import Continuum, SaintVenantKirchhoff, Solid, Wall, annulus, block
from klapper.mechanics import InvalidModel
from klapper.schemes import EnergyMomentum, HardContact
from klapper.simulation import simulate

LAW = SaintVenantKirchhoff(1e4, 0.0)


@pytest.mark.parametrize("mesh", [annulus(0.7, 1.0, (4, 20)), annulus(0.7, 1.0, (3, 12), element="quad9")])
def test_mass_centre_and_inertia_stay(mesh):
    body = Solid("ring", mesh, LAW, density=2.0)
    whole = Continuum([body])
    less = Continuum([body], massless=[("ring", "outer")])
    x = whole.start.position
    one = np.tile([1.0, 0.0], len(mesh.nodes))
    turned = np.column_stack([-mesh.nodes[:, 1], mesh.nodes[:, 0]]).ravel()
    for a in (one, turned, x):
        for b in (one, turned, x):
            assert a @ (less.mass_matrix @ b) == pytest.approx(
                a @ (whole.mass_matrix @ b), rel=1e-12, abs=1e-12
            )
    surface = mesh.surface_nodes("outer")
    assert abs(less.mass_matrix[2 * surface]).max() == 0.0
    assert np.linalg.eigvalsh(less.mass_matrix.toarray()).min() > -1e-12


def bar(massless: bool) -> tuple[Continuum, float, float]:
    """A bar that flies at a wall with 1 m/s, the exact force ρ c v A and the time 2 L/c of its contact."""
    body = Solid("bar", block((1.0, 0.1), (40, 1)), LAW, density=1.0)
    wall = Wall("bar", "left", point=(-1e-4, 0.0), normal=(1.0, 0.0))
    world = Continuum(
        [body],
        walls=[wall],
        velocity={"bar": (-1.0, 0.0)},
        massless=[("bar", "left")] if massless else [],
    )
    speed = np.sqrt(1e4 / 1.0)
    return world, 1.0 * speed * 1.0 * 0.1, 2.0 / speed


def test_contact_forces_of_an_impacting_bar_oscillate_only_with_mass_on_the_boundary():
    spread = {}
    for massless in (False, True):
        world, exact, duration = bar(massless)
        run = simulate(
            world, 1e-4 + 0.9 * duration, EnergyMomentum(1e-4, contact=HardContact("none")), progress=False
        )
        force = run.impulse[1:, :, 0].sum(axis=1) / 1e-4
        steady = force[(run.time[1:] > 0.25 * duration) & (run.time[1:] < 0.75 * duration)]
        assert steady.mean() == pytest.approx(exact, rel=0.02)
        spread[massless] = steady.std() / exact
    assert spread[True] < 0.15 * spread[False]
    assert spread[True] < 0.1


def test_energy_and_momenta_are_kept_without_mass_on_the_boundary():
    body = Solid("ring", annulus(0.7, 1.0, (4, 20)), LAW, density=2.0)
    spin = np.column_stack([-body.mesh.nodes[:, 1], body.mesh.nodes[:, 0]]) * 5.0 + [0.5, 0.2]
    world = Continuum([body], massless=[("ring", "outer")], velocity={"ring": spin})
    run = simulate(world, 0.1, EnergyMomentum(5e-3), progress=False)
    total = run.samples.energy[:, 0] + run.samples.energy[:, 1]
    turn = [world.angular_momentum(q, v)[0] for q, v in zip(run.position, run.velocity, strict=True)]
    assert np.ptp(total) < 1e-9 * total[0]
    assert np.ptp(turn) < 1e-9 * abs(turn[0])


def test_what_cannot_be_without_mass_is_refused():
    thin = Solid("thin", annulus(0.9, 1.0, (1, 12)), LAW, density=1.0)
    with pytest.raises(InvalidModel, match="too few nodes behind it"):
        Continuum([Solid("cell", block((1.0, 1.0), (1, 1)), LAW, density=1.0)], massless=[("cell", "top")])
    with pytest.raises(InvalidModel, match="leave lumped or massless out"):
        Continuum([thin], lumped=True, massless=[("thin", "outer")])
