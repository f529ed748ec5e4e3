"""Ties: what they conserve, the patch test, meshes that fit, dual multipliers."""

import numpy as np
import pytest

from klapper.continuum import (
    Continuum,
    NeoHooke,
    SaintVenantKirchhoff,
    Solid,
    Support,
    Tie,
    Traction,
    annulus,
    block,
    fitted,
    rigid_velocity,
)
from klapper.continuum.contact.interface import typical_length
from klapper.continuum.elements import ELEMENTS, SOLIDS
from klapper.mechanics import InvalidModel
from klapper.schemes import EnergyMomentum, Multipliers, QuasiStatic
from klapper.simulation import simulate

METHODS = ["mortar", "node-to-segment"]


def rings(method: str, *, fit: bool, dual: bool = False) -> Continuum:
    """Two rings, one in the other, whose meshes do not match; they turn and fly."""
    outer, inner = annulus(1.0, 1.3, (1, 12)), annulus(0.6, 1.0, (2, 9))
    if fit:
        inner = fitted(inner, "outer", onto=(outer, "inner"), method=method, dual=dual)
    law = NeoHooke(1e3, 0.3)
    bodies = [Solid("outer", outer, law, density=1.0), Solid("inner", inner, law, density=2.0)]
    spin = {body.name: rigid_velocity(body, (0.3, -0.2), 8.0) for body in bodies}
    ties = [Tie(("inner", "outer"), ("outer", "inner"), method=method, dual=dual)]
    return Continuum(bodies, ties=ties, velocity=spin, penetration=0.1)


def drifts(world: Continuum, run) -> tuple[float, float, float]:
    """Largest changes of energy, momentum and angular momentum, relative."""
    energy = run.samples.energy[:, 0] + run.samples.energy[:, 1]
    momentum = np.array([world.linear_momentum(v) for v in run.velocity])
    turn = np.array([world.angular_momentum(q, v) for q, v in zip(run.position, run.velocity, strict=True)])
    return (
        float(np.ptp(energy) / energy[0]),
        float(np.ptp(momentum, axis=0).max() / np.abs(momentum[0]).max()),
        float(np.ptp(turn) / abs(turn[0, 0])),
    )


@pytest.mark.parametrize("method", METHODS)
def test_tied_rings_keep_energy_momentum_and_angular_momentum(method):
    world = rings(method, fit=True)
    run = simulate(world, 0.4, EnergyMomentum(0.02), progress=False)
    assert max(drifts(world, run)) < 1e-9
    assert np.abs(world.constraint_residuals(0.4, run.position[-1])).max() < 1e-10


@pytest.mark.parametrize("method", METHODS)
def test_without_fitted_meshes_angular_momentum_is_lost(method):
    world = rings(method, fit=False)
    # the mismatch stays as it is: constraints hold relative to the start
    mismatch = np.abs(world.constraint_residuals(0.0, world.start.position)).max()
    assert mismatch > 1e-3
    run = simulate(world, 0.2, EnergyMomentum(0.02), progress=False)
    _energy, momentum, turn = drifts(world, run)
    assert momentum < 1e-9
    assert turn > 1e-6


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dual", [False, True])
def test_fitted_meshes_meet_the_constraints_at_the_start(method, dual):
    world = rings(method, fit=True, dual=dual)
    assert np.abs(world.constraint_residuals(0.0, world.start.position)).max() < 1e-12


def patch(tie: Tie, element: str) -> tuple[Continuum, list[Solid]]:
    law = SaintVenantKirchhoff(1000.0, 0.4)
    low = Solid("low", block((2.0, 1.0), (5, 2), element=element), law, density=1.0)
    up = Solid("up", block((2.0, 1.0), (3, 2), corner=(0.0, 1.0), element=element), law, density=1.0)
    supports = [Support("low", "bottom", [1]), Support("low", [0], [0])]
    world = Continuum([low, up], loads=[Traction("up", "top", (0.0, -100.0))], supports=supports, ties=[tie])
    return world, [low, up]


@pytest.mark.parametrize("element", [name for name in SOLIDS if ELEMENTS[name].dimension == 2])
@pytest.mark.parametrize("dual", [False, True])
def test_mortar_tie_passes_the_patch_test(element, dual):
    world, bodies = patch(Tie(("up", "bottom"), ("low", "top"), dual=dual), element)
    run = simulate(world, 1.0, QuasiStatic(1.0), progress=False)
    for body in bodies:
        stress = body.cauchy_stress(world.positions(run.position[-1], body.name))[..., 1, 1]
        assert np.allclose(
            stress, -94.3163, rtol=0, atol=5e-5
        )  # Hesch A.2, homogeneous solution, plane strain
        assert np.ptp(stress) < 1e-8


def test_nodes_on_segments_fail_the_patch_test():
    world, bodies = patch(Tie(("up", "bottom"), ("low", "top"), method="node-to-segment"), "quad4")
    run = simulate(world, 1.0, QuasiStatic(1.0), progress=False)
    stress = bodies[0].cauchy_stress(world.positions(run.position[-1], "low"))[..., 1, 1]
    assert np.ptp(stress) > 1.0


def test_a_mesh_that_is_too_fine_to_be_moved_says_which_one_to_move():
    coarse, fine = annulus(1.0, 1.3, (1, 10)), annulus(0.6, 1.0, (1, 64))
    with pytest.raises(InvalidModel, match="move the nodes of the coarser mesh instead"):
        fitted(fine, "outer", onto=(coarse, "inner"))


def test_dual_multipliers_make_the_matrix_of_the_tied_side_diagonal():
    low = Solid("low", block((2.0, 1.0), (5, 1)), NeoHooke(1.0, 0.3), density=1.0)
    up = Solid("up", block((2.0, 1.0), (4, 1), corner=(0.0, 1.0)), NeoHooke(1.0, 0.3), density=1.0)
    offsets, places = {"low": 0, "up": len(low.mesh.nodes)}, np.concatenate([low.mesh.nodes, up.mesh.nodes])
    for dual in (False, True):
        tied = Tie(("up", "bottom"), ("low", "top"), dual=dual).rows([low, up], offsets, places)
        own = tied.coefficients[:, tied.nodes].toarray()
        aside = np.abs(own - np.diag(np.diag(own))).max()
        assert aside < 1e-12 if dual else aside > 0.1
        assert np.allclose(tied.coefficients.sum(axis=1), 0.0, atol=1e-13)


@pytest.mark.parametrize("reduction", ["null-space", "condensed"])
def test_reduced_equations_give_the_same_step(reduction):
    world = rings("mortar", fit=True, dual=True)
    whole = simulate(world, 0.06, EnergyMomentum(0.02), progress=False)
    scheme = EnergyMomentum(0.02, enforcement=Multipliers(reduction))
    less = simulate(world, 0.06, scheme, progress=False)
    assert np.allclose(less.position, whole.position, rtol=0, atol=1e-10)


def test_surfaces_that_do_not_face_each_other_are_refused():
    low = Solid("low", block((1.0, 1.0), (1, 1)), NeoHooke(1.0, 0.3), density=1.0)
    up = Solid("up", block((1.0, 1.0), (1, 1), corner=(5.0, 5.0)), NeoHooke(1.0, 0.3), density=1.0)
    with pytest.raises(InvalidModel, match="'up bottom' and 'low top' do not face each other"):
        Continuum([low, up], ties=[Tie(("up", "bottom"), ("low", "top"))])
    with pytest.raises(InvalidModel, match="method is 'glue'; allowed are mortar and node-to-segment"):
        Tie(("up", "bottom"), ("low", "top"), method="glue")


def test_a_tie_that_does_not_fit_is_refused_at_the_start():
    law = NeoHooke(1e3, 0.3)
    outer = Solid("outer", annulus(1.0, 1.3, (1, 12)), law, density=1.0)
    inner = Solid("inner", annulus(0.6, 1.0, (2, 9)), law, density=2.0)
    with pytest.raises(InvalidModel, match=r"tied.*violated at the start"):
        Continuum([outer, inner], ties=[Tie(("inner", "outer"), ("outer", "inner"))])


def test_typical_length_is_a_mean():
    assert typical_length(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 3.0]]), np.array([[0, 1], [1, 2]])) == 2.0
