"""Every element in a body: its order of convergence, and what is seen of it. New elements join by being listed."""

import numpy as np
import pytest
import scipy.linalg

from klapper.continuum import SaintVenantKirchhoff, Solid, block
from klapper.continuum.elements import ELEMENTS, SOLIDS
from klapper.continuum.pattern import Pattern
from klapper.view.surfaces import mesh_faces

every_element = pytest.mark.parametrize("name", SOLIDS)


def bar(name: str, cells: int, sides: tuple[float, float, float] = (1.0, 0.1, 0.1)) -> Solid:
    d = ELEMENTS[name].dimension
    mesh = block(sides[:d], (cells, 1, 1)[:d], element=name)
    return Solid("bar", mesh, SaintVenantKirchhoff(4.0, 0.0), density=1.0)


def lowest(solid: Solid) -> float:
    """ω² [1/s²] of the motion along the bar, clamped at its left end."""
    d, rest = solid.dimension, solid.mesh.nodes
    pattern = Pattern.of(rest.size, [solid.places])
    stiffness = pattern.matrix([solid.pull(rest, stiffness=True).stiffness]).toarray()
    mass = pattern.matrix([solid.mass()]).toarray()
    along = np.setdiff1d(np.arange(len(rest)), solid.mesh.surface_nodes("left")) * d
    part = np.ix_(along, along)
    return float(scipy.linalg.eigh(stiffness[part], mass[part], eigvals_only=True)[0])


@every_element
def test_the_frequency_of_a_bar_converges_with_twice_the_order(name: str) -> None:
    """ω² = (π/2)² E/(ρ L²) without lateral contraction; errors fall with h^(2p) and are from above."""
    exact = (0.5 * np.pi) ** 2 * 4.0
    errors = [lowest(bar(name, cells)) - exact for cells in (8, 16)]
    assert min(errors) > 0.0
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2 * ELEMENTS[name].order, abs=0.15)


@every_element
def test_the_faces_that_are_seen_cover_the_body(name: str) -> None:
    """Of a plane body its cells, of one in space its boundary."""
    solid = bar(name, 3, (2.0, 1.0, 0.5))
    faces, owner = mesh_faces(solid.part(0))
    places = np.column_stack([solid.mesh.nodes, np.zeros((len(solid.mesh.nodes), 3 - solid.dimension))])
    corners = places[faces]
    spans = corners[:, 1:] - corners[:, :1]
    area = 0.5 * np.linalg.norm(np.cross(spans[:, :-1], spans[:, 1:]).sum(axis=1), axis=1).sum()
    assert area == pytest.approx(2.0 if solid.dimension == 2 else 2 * (2.0 + 1.0 + 0.5))
    assert owner.max() < len(solid.mesh.cells)
