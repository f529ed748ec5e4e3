"""Meshes: volumes, boundaries, surfaces, and what is refused."""

import numpy as np
import pytest

from klapper.continuum import Mesh, annulus, block
from klapper.continuum.elements import ELEMENTS, SOLIDS
from klapper.mechanics import InvalidModel

BLOCKS = [(name, (3, 2, 4)[: ELEMENTS[name].dimension]) for name in SOLIDS]
FLAT = [name for name in SOLIDS if ELEMENTS[name].dimension == 2]


def enclosed(mesh: Mesh, facets: np.ndarray) -> float:
    """Area inside a closed polygon of facets with the inside to the left."""
    a, b = mesh.nodes[facets[:, 0]], mesh.nodes[facets[:, 1]]
    return 0.5 * float(np.sum(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]))


@pytest.mark.parametrize(("element", "cells"), BLOCKS)
def test_a_block_has_its_volume_and_its_surfaces(element: str, cells: tuple[int, ...]) -> None:
    sides = (2.0, 1.5, 0.5)[: len(cells)]
    mesh = block(sides, cells, element=element, corner=(1.0, -1.0, 3.0)[: len(cells)])
    assert mesh.volume == pytest.approx(np.prod(sides), rel=1e-12)
    assert sum(len(facets) for facets in mesh.surfaces.values()) == len(mesh.boundary)
    right = mesh.nodes[mesh.surface_nodes("right")]
    np.testing.assert_allclose(right[:, 0], 3.0)


def test_the_boundary_of_a_plane_block_runs_anticlockwise() -> None:
    mesh = block((2.0, 1.5), (4, 3))
    assert enclosed(mesh, mesh.boundary) == pytest.approx(3.0)


def test_a_ring_has_two_surfaces_with_the_body_to_the_left() -> None:
    """The outer polygon runs anticlockwise, the inner one clockwise; areas of regular polygons."""
    mesh = annulus(0.8, 1.0, (2, 32), centre=(3.0, 1.0))
    polygon = 16.0 * np.sin(2 * np.pi / 32)
    assert enclosed(mesh, mesh.surface("outer")) == pytest.approx(polygon, rel=1e-12)
    assert enclosed(mesh, mesh.surface("inner")) == pytest.approx(-0.64 * polygon, rel=1e-12)
    assert mesh.volume == pytest.approx(0.36 * polygon, rel=1e-12)
    assert len(mesh.nodes) == 3 * 32


@pytest.mark.parametrize("element", FLAT)
def test_rings_tend_to_the_circle_with_the_order_of_their_edges(element: str) -> None:
    """Straight edges with the second power, parabolas with the fourth."""
    wanted = np.pi * 0.36
    errors = [abs(annulus(0.8, 1.0, (1, n), element=element).volume - wanted) for n in (16, 32)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0 * ELEMENTS[element].order, abs=0.1)


def test_moving_keeps_the_shape() -> None:
    mesh = block((2.0, 1.0), (2, 2)).moved((1.0, 2.0), turn=0.3)
    assert mesh.volume == pytest.approx(2.0)
    np.testing.assert_allclose(mesh.nodes[0], (1.0, 2.0))


SQUARE = [[0, 0], [1, 0], [1, 1], [0, 1]]


@pytest.mark.parametrize(
    ("nodes", "cells", "element", "words"),
    [
        (SQUARE, [[0, 3, 2, 1]], "quad4", "cell 0 is turned inside out"),
        (SQUARE, [[0, 1, 2, 4]], "quad4", "node 4; there are 4"),
        (SQUARE, [[0, 1, 2]], "tri3", "node 3 belongs to no cell"),
        ([[0, 0, 0]], [[0, 1, 2]], "tri3", r"\(n, 2\)"),
        (SQUARE, [[0, 1]], "tri3", r"needs \(e, 3\)"),
    ],
)
def test_bad_meshes_are_refused(nodes: list, cells: list, element: str, words: str) -> None:
    with pytest.raises(InvalidModel, match=words):
        Mesh(nodes, cells, element)


def test_bad_shapes_and_surfaces_are_refused() -> None:
    mesh = block((1.0, 1.0), (1, 1))
    with pytest.raises(InvalidModel, match="no surface 'roof'; it has boundary, left"):
        mesh.surface("roof")
    with pytest.raises(InvalidModel, match="would be empty"):
        mesh.with_surface("far", lambda x: x[:, 0] > 9.0)
    with pytest.raises(InvalidModel, match="numbers above inner_radius"):
        annulus(1.0, 0.5, (1, 8))
    with pytest.raises(InvalidModel, match="at least 3"):
        annulus(0.5, 1.0, (1, 2))
    with pytest.raises(InvalidModel, match="'hex8' needs 3"):
        block((1.0, 1.0), (2, 2), element="hex8")
