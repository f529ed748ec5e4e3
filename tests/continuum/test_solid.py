"""Hyperelastic bodies: forces and stiffness are derivatives, forces between two configurations are exact."""

import numpy as np
import pytest

from klapper.continuum import (
    MooneyRivlin,
    NeoHooke,
    SaintVenantKirchhoff,
    Solid,
    block,
)
from klapper.continuum.elements import ELEMENTS, SOLIDS
from klapper.continuum.pattern import Pattern
from klapper.mechanics import InvalidModel

CELLS = {(2, 1): (3, 2), (2, 2): (2, 1), (3, 1): (2, 2, 1), (3, 2): (1, 1, 1)}  # by dimension and order
MESHES = {
    name: block(
        (2.0, 1.0, 0.5)[: ELEMENTS[name].dimension],
        CELLS[ELEMENTS[name].dimension, ELEMENTS[name].order],
        element=name,
    )
    for name in SOLIDS
}
LAWS = [SaintVenantKirchhoff(100.0, 0.3), NeoHooke(100.0, 0.3), MooneyRivlin(100.0, 0.3, share=0.2)]


def turned(d: int) -> np.ndarray:
    rotation = np.eye(d)
    rotation[:2, :2] = [[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]]
    return rotation


def scattered(mesh, seed: int) -> np.ndarray:
    return mesh.nodes @ turned(mesh.dimension).T + 0.03 * np.random.default_rng(seed).standard_normal(
        mesh.nodes.shape
    )


def cases():
    for name, mesh in MESHES.items():
        for law in LAWS:
            yield pytest.param(Solid("body", mesh, law, density=2.0), id=f"{name} {type(law).__name__}")
    yield pytest.param(Solid("plate", MESHES["quad4"], LAWS[1], density=2.0, plane="stress"), id="plate")


@pytest.mark.parametrize("solid", [*cases()])
def test_forces_and_stiffness_are_derivatives(solid: Solid) -> None:
    q = scattered(solid.mesh, 1)
    pattern = Pattern.of(q.size, [solid.places])
    pull = solid.pull(q, stiffness=True)
    force, stiffness = pattern.vector([pull.force]), pattern.matrix([pull.stiffness])
    along, h = np.random.default_rng(2).standard_normal(q.shape), 1e-5
    energy = (solid.energy(q + h * along) - solid.energy(q - h * along)) / (2 * h)
    assert force @ along.ravel() == pytest.approx(energy, rel=1e-6)
    ahead, behind = (pattern.vector([solid.pull(q + s * h * along).force]) for s in (1, -1))
    np.testing.assert_allclose(stiffness @ along.ravel(), (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-5)
    assert abs(stiffness - stiffness.T).max() < 1e-11 * abs(stiffness).max()


@pytest.mark.parametrize("solid", [*cases()])
def test_forces_between_do_exact_work_and_have_no_resultant(solid: Solid) -> None:
    before, after = scattered(solid.mesh, 3), scattered(solid.mesh, 4)
    pattern = Pattern.of(before.size, [solid.places])
    pull = solid.pull_between(before, after, stiffness=True)
    force = pattern.vector([pull.force])
    gained = solid.energy(after) - solid.energy(before)
    assert force @ (after - before).ravel() == pytest.approx(gained, abs=1e-12 * solid.energy(after))
    rows, middle = force.reshape(before.shape), 0.5 * (before + after)
    np.testing.assert_allclose(rows.sum(axis=0), 0.0, atol=1e-12 * np.abs(force).max() * len(rows))
    moment = (
        np.cross(middle, rows)
        if solid.dimension == 3
        else middle[:, 0] * rows[:, 1] - middle[:, 1] * rows[:, 0]
    )
    np.testing.assert_allclose(moment.sum(axis=0), 0.0, atol=1e-12 * np.abs(moment).sum())
    along, h = np.random.default_rng(5).standard_normal(before.shape), 1e-5
    ahead, behind = (
        pattern.vector([solid.pull_between(before, after + s * h * along).force]) for s in (1, -1)
    )
    slope = pattern.matrix([pull.stiffness]) @ along.ravel()
    np.testing.assert_allclose(slope, (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-5)


def test_forces_between_equal_configurations_are_the_ordinary_ones() -> None:
    solid = Solid("body", MESHES["quad4"], LAWS[1], density=1.0)
    q = scattered(solid.mesh, 6)
    np.testing.assert_allclose(solid.pull_between(q, q).force, solid.pull(q).force, atol=1e-12)


def test_between_two_configurations_saint_venant_takes_the_mean_strain() -> None:
    """Simo & Tarnow (1992): for a law linear in C the correction vanishes."""
    law = SaintVenantKirchhoff(100.0, 0.3)
    solid = Solid("body", MESHES["quad4"], law, density=1.0)
    before, after = scattered(solid.mesh, 3), scattered(solid.mesh, 4)
    metrics = [np.einsum("egki,egkj->egij", f, f) for f in map(solid.deformation, (before, after))]
    mean = 0.5 * (0.5 * (metrics[0] + metrics[1]) - np.eye(2))
    stress = law.lame * np.trace(mean, axis1=2, axis2=3)[..., None, None] * np.eye(2) + 2 * law.shear * mean
    gradient = solid.deformation(0.5 * (before + after))
    force = np.einsum("egij,egjk,egak,eg->eai", gradient, stress, solid._gradients, solid._weights)
    np.testing.assert_allclose(
        solid.pull_between(before, after).force, force.reshape(len(force), -1), rtol=1e-9
    )


@pytest.mark.parametrize("element", MESHES)
@pytest.mark.parametrize("lumped", [False, True])
def test_the_mass_matrix_is_positive_and_has_the_mass_and_inertia_of_the_body(
    element: str, lumped: bool
) -> None:
    solid = Solid("body", MESHES[element], LAWS[0], density=7.0, thickness=0.5)
    n, d = solid.mesh.nodes.shape
    matrix = Pattern.of(n * d, [solid.places]).matrix([solid.mass(lumped=lumped)]).toarray()
    assert matrix.sum() == pytest.approx(d * solid.total_mass, rel=1e-12)
    assert np.linalg.eigvalsh(matrix).min() > 0.0
    assert solid.total_mass == pytest.approx(7.0 * (2.0 * 0.5 if d == 2 else 1.0))
    if lumped:
        assert np.count_nonzero(matrix) == n * d
    else:
        arm = solid.mesh.nodes[:, 0]
        assert arm @ matrix[::d, ::d] @ arm == pytest.approx(solid.total_mass * 4.0 / 3.0, rel=1e-12)


@pytest.mark.parametrize(
    ("law", "plane", "stretches"),
    [
        # Hesch's patch test (A.2) in closed form: St. Venant–Kirchhoff, E = 1000, ν = 0.4, 100 per area, free sides
        (SaintVenantKirchhoff(1000.0, 0.4), "strain", (1.060262, 0.902090)),
    ],
)
def test_homogeneous_strain_has_the_stress_of_the_closed_form(law, plane: str, stretches) -> None:
    solid = Solid("body", MESHES["quad4"], law, density=1.0, plane=plane)
    q = solid.mesh.nodes * np.array(stretches)
    stress = solid.cauchy_stress(q)
    np.testing.assert_allclose(stress[..., 1, 1], -94.3163, atol=1e-3)
    np.testing.assert_allclose(stress[..., 2, 2], -46.3604, atol=1e-3)
    np.testing.assert_allclose(stress[..., 0, 0], 0.0, atol=2e-3)
    np.testing.assert_allclose(solid.von_mises(q), 81.6842, atol=2e-3)
    np.testing.assert_allclose(solid.at_nodes(solid.von_mises(q)), 81.6842, atol=2e-3)


def test_plane_stress_has_no_stress_across() -> None:
    solid = Solid("plate", MESHES["quad4"], LAWS[1], density=1.0, plane="stress")
    stress = solid.cauchy_stress(solid.mesh.nodes * [1.3, 0.9])
    np.testing.assert_allclose(stress[..., 2, :], 0.0, atol=1e-10)


def test_least_volume_tells_a_cell_turned_inside_out() -> None:
    solid = Solid("body", MESHES["tri3"], LAWS[1], density=1.0)
    q = solid.mesh.nodes.copy()
    q[:, 0] *= -1.0
    assert solid.least_volume(solid.mesh.nodes * 1.1) == pytest.approx(1.21)
    assert solid.least_volume(q) == pytest.approx(-1.0)


def test_bad_bodies_are_refused() -> None:
    with pytest.raises(InvalidModel, match="the law of 'b' is 5"):
        Solid("b", MESHES["quad4"], 5, density=1.0)
    with pytest.raises(InvalidModel, match="density is -1"):
        Solid("b", MESHES["quad4"], LAWS[0], density=-1.0)
    with pytest.raises(InvalidModel, match="'strain' and 'stress'"):
        Solid("b", MESHES["quad4"], LAWS[0], density=1.0, plane="flat")
