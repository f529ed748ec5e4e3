"""Elements: shape functions, quadrature, facets."""

import numpy as np
import pytest

from klapper.continuum.elements import ELEMENTS, SOLIDS as NAMES, element_named
from klapper.mechanics import InvalidModel

SOLIDS = [ELEMENTS[name] for name in NAMES]


@pytest.mark.parametrize("element", ELEMENTS.values(), ids=lambda e: e.name)
def test_shape_functions_are_one_at_their_node_and_sum_to_one(element) -> None:
    np.testing.assert_allclose(element.values(element.nodes), np.eye(element.size), atol=1e-13)
    points = np.random.default_rng(1).uniform(0.0, 0.3, (7, element.dimension))
    np.testing.assert_allclose(element.values(points).sum(axis=1), 1.0, atol=1e-13)
    np.testing.assert_allclose(element.gradients(points).sum(axis=1), 0.0, atol=1e-12)


@pytest.mark.parametrize("element", ELEMENTS.values(), ids=lambda e: e.name)
def test_gradients_are_those_of_the_values(element) -> None:
    points = np.random.default_rng(2).uniform(0.0, 0.3, (5, element.dimension))
    found = element.gradients(points)
    for i, unit in enumerate(np.eye(element.dimension)):
        difference = (element.values(points + 1e-6 * unit) - element.values(points - 1e-6 * unit)) / 2e-6
        np.testing.assert_allclose(found[:, :, i], difference, atol=1e-8)


def monomial_integral(name: str, exponents: np.ndarray) -> float:
    """Over the reference cell: [−1, 1]^d, or the corner of the unit cube cut off by Σ ξ = 1."""
    from math import factorial, prod

    if name.startswith("t"):
        return prod(factorial(int(a)) for a in exponents) / factorial(int(exponents.sum()) + len(exponents))
    return prod(0.0 if a % 2 else 2.0 / (a + 1) for a in exponents)


@pytest.mark.parametrize("element", SOLIDS, ids=lambda e: e.name)
def test_the_mass_rule_integrates_products_of_shape_functions(element) -> None:
    points, weights = element.mass
    for first in element.exponents:
        for second in element.exponents:
            total = first + second
            found = weights @ np.prod(points**total, axis=1)
            assert found == pytest.approx(monomial_integral(element.name, total), abs=1e-12)


@pytest.mark.parametrize("element", SOLIDS, ids=lambda e: e.name)
def test_facets_enclose_the_cell(element) -> None:
    """∮ x · n da = d · volume: only with all facets running outwards."""
    facet = element_named(element.facet)
    points, weights = facet.mass
    total = 0.0
    for nodes in element.facets:
        corners = element.nodes[nodes]
        place = facet.values(points) @ corners
        along = np.einsum("ki,gka->gia", corners, facet.gradients(points))
        if element.dimension == 2:
            normal = np.column_stack([along[:, 1, 0], -along[:, 0, 0]])
        else:
            normal = np.cross(along[..., 0], along[..., 1])
        total += weights @ np.einsum("gi,gi->g", place, normal)
    assert total == pytest.approx(element.dimension * element.mass[1].sum(), rel=1e-12)


def test_an_unknown_element_is_refused() -> None:
    with pytest.raises(InvalidModel, match="'wedge6'; allowed are line2"):
        element_named("wedge6")


@pytest.mark.parametrize("element", SOLIDS, ids=lambda e: e.name)
def test_corners_come_first_and_lie_in_the_corners(element) -> None:
    """All coordinates at the ends of the reference cell; the other nodes of a facet are where its corners say."""
    corners = element.nodes[: element.corners]
    ends = (0.0, 1.0) if element.simplex else (-1.0, 1.0)
    assert np.all(np.isin(corners, ends))
    assert element.corners == (element.dimension + 1 if element.simplex else 2**element.dimension)
    facet = element_named(element.facet)
    flat = next(e for e in ELEMENTS.values() if (e.dimension, e.corners) == (facet.dimension, facet.corners))
    for nodes in element.facets:
        wanted = flat.values(facet.nodes) @ element.nodes[nodes[: facet.corners]]
        np.testing.assert_allclose(element.nodes[nodes], wanted, atol=1e-13)


@pytest.mark.parametrize("element", SOLIDS, ids=lambda e: e.name)
def test_polynomials_of_the_order_of_the_element_are_met(element) -> None:
    """Completeness, on which the order of convergence rests: all monomials up to the order, at any point."""
    points = np.random.default_rng(3).uniform(0.0, 0.3, (6, element.dimension))
    for exponents in np.ndindex(*(element.order + 1,) * element.dimension):
        if sum(exponents) <= element.order:
            at_nodes, wanted = (np.prod(x ** np.array(exponents), axis=1) for x in (element.nodes, points))
            np.testing.assert_allclose(element.values(points) @ at_nodes, wanted, atol=1e-13)


@pytest.mark.parametrize("element", SOLIDS, ids=lambda e: e.name)
def test_numbers_in_files_are_those_of_meshio(element) -> None:
    from meshio._vtk_common import meshio_to_vtk_type
    from meshio.xdmf.common import meshio_to_xdmf_type, xdmf_idx_to_meshio_type

    assert meshio_to_vtk_type[element.in_files] == element.vtk
    assert meshio_to_xdmf_type[element.in_files]
    assert xdmf_idx_to_meshio_type[element.xdmf] == element.in_files
